"""Rails that are routed between nodes: each node gets a subnet and a router of its own, and all goes again."""

from support.others import store
from support.scenarios import Heard, Yes, applied, intents_for, open_for

from railwright import api
from railwright.core import kinds

ROUTED = "  network: {ipam: nv-ipam-cidr, subnets: 10.64.0.0/13}\n"


def pools(world):
    return [item for ref, item in store(world).objects.items() if ref.kind == kinds.NV_IPAM_CIDR_POOL]


async def test_a_subnet_a_node_is_given_kept_and_taken_back():
    world = await open_for("roce")
    intents = intents_for("sriov", "roce", more=ROUTED)
    record = await applied(world, intents)
    assert record.exit_code == 0
    given = pools(world)[0]["status"]["allocations"]
    assert given == [
        {"nodeName": "worker-0", "prefix": "10.64.0.0/26", "gateway": "10.64.0.1"},
        {"nodeName": "worker-1", "prefix": "10.64.0.64/26", "gateway": "10.64.0.65"},
    ]

    heard = Heard()
    await applied(world, intents, progress=heard)
    assert heard.writes == []

    removed = await api.clean(world, approval=Yes())
    assert removed.exit_code == 0
    assert pools(world) == []
