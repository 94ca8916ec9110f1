"""What reading a cluster takes, from the same tables that are read by. The inside of nodes is the Node port's."""

from collections.abc import Iterable

from railwright.core import kinds
from railwright.core.needs import Need, of_kind, of_ref
from railwright.facts.cluster import EVERYWHERE, IN_OPERATOR_NAMESPACES, INSTALL_CONFIG, LEDGER, SINGLES

_ALSO = (kinds.MACHINE_CONFIG_POOL, kinds.NODE, kinds.POD, kinds.PACKAGE_MANIFEST)


def discovery_needs(namespaces: Iterable[str]) -> tuple[Need, ...]:
    """
    Give what `discover` asks for without events and logs.

    Args:
        namespaces: where the operators live.
    """
    needs = [need for ref in (*SINGLES, INSTALL_CONFIG) for need in of_ref("get", ref)]
    needs += [need for kind in (*EVERYWHERE, *_ALSO) for need in of_kind("list", kind)]
    needs += of_kind("list", LEDGER.kind, LEDGER.namespace)
    for namespace in namespaces:
        needs += [need for kind in IN_OPERATOR_NAMESPACES for need in of_kind("list", kind, namespace)]
    return tuple(needs)


def trouble_needs() -> tuple[Need, ...]:
    """Give what events and logs take: they are read wherever pods that matter are, which no list of ours can know."""
    return (*of_kind("list", kinds.EVENT), Need("", "pods/log", "get"))
