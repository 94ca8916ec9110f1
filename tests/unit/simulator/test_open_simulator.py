"""Specifications, worlds, state files."""

import pytest
from unit.simulator.walk import allocatable, an_object, install_operators

from railwright.core.errors import KindNotServed, UsageError
from railwright.core.ids import NodeName
from railwright.core.kinds import (
    CONFIG_MAP,
    MACHINE_CONFIG_POOL,
    NIC_CLUSTER_POLICY,
    NODE,
    PACKAGE_MANIFEST,
)
from railwright.core.objects import Ref, dig
from railwright.ports.cluster import Selection
from railwright.simulator.faults.table import FAULTS
from railwright.simulator.open import open_simulator, parse_specification
from railwright.simulator.worlds.table import WORLDS


def test_an_unknown_world_is_refused_with_a_guess_and_the_list():
    with pytest.raises(UsageError, match="did you mean 'h200-roce'") as refused:
        open_simulator("h200-rose")
    assert "gb200" in refused.value.hint


def test_an_unknown_fault_is_refused_with_a_guess_and_the_list():
    with pytest.raises(UsageError, match="did you mean 'mlx5-uplink'") as refused:
        open_simulator("h200-roce+mlx5-uplnk")
    assert "no-sm" in refused.value.hint


@pytest.mark.parametrize(("part", "whole"), [("acs", "'acs-redirect'"), ("half", "'.*half.*' or '.*half.*'")])
def test_a_part_of_a_fault_s_name_is_guessed_too(part, whole):
    with pytest.raises(UsageError, match=f"did you mean {whole}"):
        open_simulator(f"h200-roce+{part}")


def test_a_fault_without_a_name_is_no_guess():
    with pytest.raises(UsageError) as refused:
        open_simulator("h200-roce+")
    assert "did you mean" not in refused.value.message


def test_a_specification_is_taken_apart():
    parsed = parse_specification("h200-ib+no-sm+pool-paused@/some/where@odd.json")
    assert (parsed.world, parsed.faults) == ("h200-ib", ("no-sm", "pool-paused"))
    assert str(parsed.state) == "/some/where@odd.json"


@pytest.mark.parametrize("world", [item.name for item in WORLDS if item.name != "mixed"])
async def test_every_world_opens_with_ready_nodes_that_can_be_read(world):
    opened = open_simulator(world)
    assert opened.cluster.simulated
    async for node in opened.cluster.list(Selection(NODE)):
        answer = await opened.node.read(NodeName(node["metadata"]["name"]), "# railwright", timeout_s=5)
        assert answer.text.rstrip().endswith("=== railwright end"), answer.problem


async def test_the_mixed_world_has_two_unlike_groups():
    nodes = [node async for node in open_simulator("mixed").cluster.list(Selection(NODE))]
    assert len(nodes) == 67


@pytest.mark.parametrize("fault", FAULTS, ids=lambda item: item.name)
def test_every_fault_opens_in_a_world_where_it_matters(fault):
    world = next((item.name for item in WORLDS if item.name in fault.matters), "h200-roce")
    open_simulator(f"{world}+{fault.name}")


@pytest.mark.parametrize("fault", ["channel-gone", "approval-forgotten", "pool-old-names", "no-sm"])
def test_a_fault_that_finds_nothing_to_break_is_refused_with_the_worlds_where_it_does(fault):
    with pytest.raises(UsageError, match=f"{fault} finds nothing to break in sim:h200-roce") as refused:
        open_simulator(f"h200-roce+{fault}")
    world = "h200-ib" if fault == "no-sm" else "adopt"
    assert f"sim:{world}+{fault}" in refused.value.hint
    assert refused.value.exit_code == 2


def test_names_of_worlds_and_faults_are_there_once_with_a_line_each():
    for table in (WORLDS, FAULTS):
        assert len({item.name for item in table}) == len(table)
        assert all(item.description for item in table)
    assert len(FAULTS) >= 14


def test_a_world_that_cannot_be_is_refused():
    with pytest.raises(UsageError, match="cannot lie on InfiniBand"):
        open_simulator("h200-ib+bond-uplink")


async def test_a_hosted_control_plane_serves_no_machine_config_pools():
    with pytest.raises(KindNotServed):
        await open_simulator("hcp").cluster.get(Ref(MACHINE_CONFIG_POOL, "", "worker"))


async def test_plain_kubernetes_has_operators_and_no_olm():
    world = open_simulator("vanilla")
    with pytest.raises(KindNotServed):
        [item async for item in world.cluster.list(Selection(PACKAGE_MANIFEST))]
    node = await world.cluster.get(Ref(NODE, "", "worker-0"))
    assert node["metadata"]["labels"]["feature.node.kubernetes.io/system-os_release.ID"] == "ubuntu"


async def test_an_adopted_cluster_works_and_belongs_to_others():
    world = open_simulator("adopt")
    policy = await world.cluster.get(Ref(NIC_CLUSTER_POLICY, "", "nic-cluster-policy"))
    assert policy["status"]["state"] == "ready"
    managers = {line["manager"] for line in policy["metadata"]["managedFields"]}
    assert managers == {"kubectl-client-side-apply", "network-operator"}
    assert await allocatable(world, "rdma/team_a_storage") == "10"
    assert await allocatable(world, "nvidia.com/gpu") == "8"


# --- time ------------------------------------------------------------------------------------------------------------


async def test_waiting_costs_no_time_and_moves_the_world():
    world = open_simulator("h200-roce")
    began = world.clock.now()
    await world.clock.sleep(3600)
    assert (world.clock.now() - began).total_seconds() == 3600


async def test_a_watch_sees_what_others_do_and_gives_up_in_time():
    world = open_simulator("h200-roce")
    selection = Selection(CONFIG_MAP, "default")
    async with world.cluster.watch([selection]) as watch:
        assert await watch.next(10) == ()
        assert world.clock.monotonic_s() == 10
        await world.cluster.apply(an_object("v1", "ConfigMap", "x", "default", data={"a": "1"}))
        (seen,) = await watch.next(10)
        assert (seen.obj["metadata"]["name"], seen.gone) == ("x", False)
        await world.cluster.delete(Ref(CONFIG_MAP, "default", "x"))
        (seen,) = await watch.next(10)
        assert seen.gone


async def test_a_watch_sees_an_object_leave_a_label_selection():
    world = open_simulator("h200-roce")
    body = an_object("v1", "ConfigMap", "x", "default", data={})
    body["metadata"]["labels"] = {"team": "a"}
    await world.cluster.apply(body)
    async with world.cluster.watch([Selection(CONFIG_MAP, labels="team=a")]) as watch:
        await world.cluster.patch(Ref(CONFIG_MAP, "default", "x"), {"metadata": {"labels": {"team": "b"}}})
        (seen,) = await watch.next(10)
        assert seen.gone


# --- state -----------------------------------------------------------------------------------------------------------


async def test_a_state_file_keeps_objects_and_time(tmp_path):
    file = tmp_path / "state.json"
    world = open_simulator(f"h200-roce@{file}")
    await install_operators(world)
    ended = world.clock.now()
    again = open_simulator(f"h200-roce@{file}")
    assert again.clock.now() == ended
    assert dig(
        await again.cluster.get(Ref(NODE, "", "worker-0")),
        "metadata",
        "labels",
        "feature.node.kubernetes.io/pci-10de.present",
    )
    assert [path.name for path in tmp_path.iterdir()] == ["state.json"]


async def test_every_write_is_saved_at_once(tmp_path):
    file = tmp_path / "state.json"
    world = open_simulator(f"h200-roce@{file}")
    await world.cluster.apply(an_object("v1", "ConfigMap", "x", "default", data={}))
    assert await open_simulator(f"h200-roce@{file}").cluster.get(Ref(CONFIG_MAP, "default", "x"))


DAMAGED = (
    "",
    "{",
    "[]",
    "[" * 100_000,
    '{"format": "something/9"}',
    '{"format": "railwright-simulated-world/1"}',
    (
        '{"format": "railwright-simulated-world/1", "world": "h200-roce", "now": "2026-11-30T00:00:00+00:00", '
        '"elapsed_s": 0, "version": 1, "objects": [{"apiVersion": "v1", "kind": "Pod", "metadata": 5}]}'
    ),
)


@pytest.mark.parametrize("text", DAMAGED, ids=range(len(DAMAGED)))
def test_a_file_that_is_no_saved_world_is_refused(tmp_path, text):
    file = tmp_path / "state.json"
    file.write_text(text)
    with pytest.raises(UsageError):
        open_simulator(f"h200-roce@{file}")
    assert file.read_text() == text


@pytest.mark.parametrize("file", ["/dev/full", "/dev/null"])
def test_what_has_no_end_or_keeps_nothing_is_refused_before_it_is_read(file):
    with pytest.raises(UsageError, match="no regular file"):
        open_simulator(f"h200-roce@{file}")


def test_a_saved_world_of_another_name_is_refused(tmp_path):
    open_simulator(f"h200-roce@{tmp_path / 's'}")
    with pytest.raises(UsageError, match="holds world h200-roce, not sno"):
        open_simulator(f"sno@{tmp_path / 's'}")


def test_a_state_file_that_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(UsageError, match="cannot be written"):
        open_simulator(f"h200-roce@{tmp_path / 'missing' / 'state.json'}")
