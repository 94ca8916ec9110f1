"""
What each way of giving addresses takes, as far as the file alone shows: a key that it would ignore is a mistake.

Source: Mellanox/nvidia-k8s-ipam 3ce4a34, api/v1alpha1 (cidrpool_validate.go, helpers.go) and README (poolName);
containernetworking/plugins 8f32968f, plugins/ipam/static (addresses come from the pod, not from a pool).
"""

from collections.abc import Iterator

from railwright.intent.rules import SPEC, Broken
from railwright.intent.shape import NetworkShape, SpecShape
from railwright.intent.subnets import LONGEST_PREFIX, subnets_of

_NETWORK = (*SPEC, "network")
_BY_NODE = "nv-ipam-cidr"


def check_ipam(spec: SpecShape) -> Iterator[Broken]:
    """Check the keys that only some ways of giving addresses take."""
    network = spec.network or NetworkShape()
    if network.ipam == _BY_NODE:
        yield from _by_node(spec, network)
    elif network.per_node_prefix is not None:
        seen = f"ipam: {network.ipam}" if network.ipam else "no ipam, which is nv-ipam"
        yield Broken((*_NETWORK, "perNodePrefix"), "does not apply", f"only with ipam {_BY_NODE}", seen, at_key=True)
    if network.ipam == "static":
        yield from _static(network)
    if not subnets_of(spec):
        yield from _needs_subnets(network)


def _by_node(spec: SpecShape, network: NetworkShape) -> Iterator[Broken]:
    """A subnet a node: nodes reach each other through their routers only."""
    if spec.fabric == "infiniband":
        hint = "an InfiniBand fabric is one IP subnet: ipam nv-ipam"
        yield Broken((*_NETWORK, "ipam"), "does not apply", "only with fabric roce", "fabric infiniband", hint)
    if network.gateway is False:
        problem = "nodes in subnets of their own reach each other through a router only"
        hint = "leave gateway out: the first address of each node's subnet is its router"
        yield Broken((*_NETWORK, "gateway"), problem, f"true, or left out, with ipam {_BY_NODE}", "false", hint)
    for index, route in enumerate(network.routes or []):
        if route.gateway is not None:
            path = (*_NETWORK, "routes", index, "gateway")
            yield Broken(path, "does not apply", "the first address of each node's subnet", route.gateway, at_key=True)
    placed = subnets_of(spec)
    if len({net.version for _, net in placed}) > 1:
        yield Broken((*_NETWORK, "ipam"), "takes one address family", "IPv4 or IPv6 subnets", "both")
        return
    wanted = network.per_node_prefix
    for _, net in placed:
        longest = LONGEST_PREFIX[net.version]
        if wanted is not None and not net.prefixlen <= wanted <= longest:
            allowed = f"{net.prefixlen} to {longest} within {net}"
            yield Broken((*_NETWORK, "perNodePrefix"), "does not fit the subnets", allowed, str(wanted))
            return


def _static(network: NetworkShape) -> Iterator[Broken]:
    """Addresses stand in the pod's annotation: there is no pool that could leave any out."""
    expected, seen = "a pool that gives addresses (ipam nv-ipam or whereabouts)", "ipam: static"
    if network.exclude:
        yield Broken((*_NETWORK, "exclude"), "does not apply", expected, seen, at_key=True)
    if network.gateway and not network.routes:
        yield Broken((*_NETWORK, "gateway"), "does nothing without routes", "routes beside it", seen, at_key=True)


def _needs_subnets(network: NetworkShape) -> Iterator[Broken]:
    """An address can only be meant inside a subnet that the file names; the plan may choose another tomorrow."""
    hint = "name the subnets too: the plan's own choice depends on the cluster"
    if network.exclude:
        yield Broken((*_NETWORK, "exclude"), "needs subnets", "spec.network.subnets beside it", hint=hint, at_key=True)
    for index, route in enumerate(network.routes or []):
        if route.gateway is not None:
            path = (*_NETWORK, "routes", index, "gateway")
            yield Broken(path, "needs subnets", "spec.network.subnets beside it", hint=hint, at_key=True)
