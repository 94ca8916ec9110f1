"""Wishes of the file that reach their objects: a subnet with every rail, proxies of the driver containers."""

from unit.plan.clusters import an_intent, two_nodes

from railwright.catalog.load import load_catalog
from railwright.core import kinds
from railwright.core.objects import dig
from railwright.intent.model import ProxyIntent, RailSelector
from railwright.manifests.render import render
from railwright.plan.plan import plan

CATALOG = load_catalog()


def planned(**intent):
    return plan((an_intent(**intent),), two_nodes(), CATALOG)


def spec_of(made, kind):
    return next(item.obj["spec"] for item in render(made).items if item.ref.kind == kind)


def test_a_subnet_that_stands_with_its_rail_is_the_rails():
    rails = tuple(
        RailSelector(f"rail{number}", netdev=f"ens{number}f0np0", subnet=f"10.50.{number}.0/24") for number in (1, 0)
    )
    made = planned(rails=rails)
    assert [(rail.name, rail.subnets) for rail in made.rails] == [
        ("rail1", ("10.50.1.0/24",)),
        ("rail0", ("10.50.0.0/24",)),
    ]
    assert not any(item.key.endswith("spec.network.subnets") for item in made.decisions)


def test_a_proxy_reaches_both_driver_containers():
    made = planned(proxy=ProxyIntent(https="http://proxy:3128", no_proxy=(".svc", "10.0.0.0/16")))
    wanted = [{"name": "HTTPS_PROXY", "value": "http://proxy:3128"}, {"name": "NO_PROXY", "value": ".svc,10.0.0.0/16"}]
    nic = dig(spec_of(made, kinds.NIC_CLUSTER_POLICY), "ofedDriver", "env")
    assert [item for item in nic if "PROXY" in item["name"]] == wanted
    assert dig(spec_of(made, kinds.CLUSTER_POLICY), "driver", "env") == wanted


def test_without_a_proxy_nothing_is_said_of_one():
    assert "env" not in spec_of(planned(), kinds.CLUSTER_POLICY)["driver"]


def test_fabrics_that_want_different_proxies_contradict():
    first, second = an_intent(), an_intent(proxy=ProxyIntent(http="http://a"))
    made = plan((first, second), two_nodes(), CATALOG)
    assert "spec.proxy" in {
        item.message.rpartition(" ")[2] for item in made.refusals if item.code == "fabrics-contradict"
    }
