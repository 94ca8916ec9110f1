"""Rights as values: plurals, what holds what, and the least of many."""

import pytest

from railwright.core import kinds
from railwright.core.needs import Need, least, of_kind, plural_of
from railwright.core.objects import Kind
from railwright.ports.cluster import ServedKind
from railwright.simulator.kinds import KUBERNETES, OPENSHIFT

PODS = Need("", "pods", "list")
ONE = Need("", "pods", "list", "a", "web")


@pytest.mark.parametrize(
    ("kind", "plural"),
    [
        (kinds.CLUSTER_POLICY, "clusterpolicies"),
        (kinds.NODE_FEATURE_DISCOVERY, "nodefeaturediscoveries"),
        (kinds.NETWORK_ATTACHMENT_DEFINITION, "network-attachment-definitions"),
        (kinds.SECURITY_CONTEXT_CONSTRAINTS, "securitycontextconstraints"),
        (kinds.PROXY, "proxies"),
        (Kind("v1", "Gateway"), "gateways"),
    ],
)
def test_a_kind_has_the_plural_that_the_api_server_uses(kind: Kind, plural: str) -> None:
    assert plural_of(kind) == plural


@pytest.mark.parametrize(
    ("wide", "narrow", "holds"),
    [
        (PODS, ONE, True),
        (ONE, PODS, False),
        (Need("", "pods", "list", "a"), ONE, True),
        (Need("", "pods", "list", "b"), ONE, False),
        (Need("", "pods", "list", "", "web"), ONE, True),
        (Need("", "pods", "get"), ONE, False),
        (Need("", "pods/exec", "list"), ONE, False),
    ],
)
def test_a_wider_right_holds_a_narrower_one_of_the_same_verb(wide: Need, narrow: Need, *, holds: bool) -> None:
    assert wide.holds(narrow) is holds


def test_the_least_of_many_leaves_out_what_a_wider_one_holds() -> None:
    named = of_kind("get", kinds.POD, "a", "web")
    assert set(least((ONE, PODS, ONE, *named))) == {PODS, *named}


def test_what_is_asked_for_need_not_be_held_besides() -> None:
    asked = Need("g", "things", "use", "", "one")
    held = Need("g", "things", "use", "", "one", held=True)
    assert least((held, asked)) == (asked,)
    assert least((held,)) == (held,)


def test_a_right_is_said_as_people_say_it() -> None:
    need = Need("nvidia.com", "clusterpolicies", "patch", "here", "gpu-cluster-policy")
    assert str(need) == "patch clusterpolicies.nvidia.com gpu-cluster-policy in namespace here"
    assert str(PODS) == "list pods"


@pytest.mark.parametrize("served", [*KUBERNETES, *OPENSHIFT], ids=lambda served: served.plural)
def test_a_kind_is_named_as_an_api_server_serves_it(served: ServedKind) -> None:
    assert plural_of(served.kind) == served.plural
