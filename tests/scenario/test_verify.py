"""verify on a simulated cluster: through its pods, what it leaves, whom it spares, and what it finds."""

import asyncio
import json
from dataclasses import replace

import pytest
from support.scenarios import SIX, Yes, applied, intents_for, open_for, rails

from railwright import api
from railwright.apply.lease import HEAD, HOLDER_ANNOTATION, LEASE_S
from railwright.apply.ledger import LedgerStore
from railwright.cli.app import main
from railwright.core import kinds
from railwright.core.errors import ObjectRefused, WriteConflict
from railwright.core.ids import NodeName
from railwright.core.objects import Ref
from railwright.core.verdicts import Verdict
from railwright.manifests.verifiers import RUN_LABEL, Run, Verifier, access_of
from railwright.pipeline.verifier_pods import VerifierPods
from railwright.ports.cluster import Selection
from railwright.ports.progress import Wrote
from railwright.simulator.cluster import SimCluster
from railwright.verify.layout import layout_of_plan
from railwright.verify.partitions import kept_apart

QUICK = api.Wish(api.Options(quick=True))


class No:
    def approve(self, question):
        del question
        return False


class Looking:
    """Progress that looks at the cluster's verification pods whenever cells were measured."""

    def __init__(self, world):
        self.world, self.pods, self.policies, self.names = world, [], [], []

    def emit(self, event):
        self.names.append(type(event).__name__)
        if type(event).__name__ == "Measuring" and not self.pods:
            store = self.world.cluster.engine.store.objects
            self.pods = [obj for ref, obj in store.items() if ref.kind == kinds.POD and "railwright-verify" in ref.name]
            policies = [obj for ref, obj in store.items() if ref.kind == kinds.NETWORK_POLICY]
            self.policies = [
                (obj["spec"]["podSelector"]["matchLabels"][RUN_LABEL], obj["metadata"]["namespace"]) for obj in policies
            ]


async def ready(fabric="roce", *faults, method="shared"):
    """Open a world in which a fabric was applied."""
    world, intents = await open_for(fabric, *faults), intents_for(method, fabric)
    record = await applied(world, intents, verify=False)
    assert record.exit_code == 0
    return world, intents


def busy_pod(name):
    """Give a pod of somebody else that holds every GPU of worker-1."""
    all_gpus = {"nvidia.com/gpu": "8"}
    container = {"name": "main", "image": "x", "resources": {"requests": all_gpus, "limits": all_gpus}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "training"},
        "spec": {"nodeName": "worker-1", "containers": [container]},
    }


async def verified(world, intents, wish=QUICK, **options):
    return await api.verify(world, intents, wish, approval=Yes(), **options)


async def test_the_file_s_mirror_takes_the_place_of_the_registry_of_the_image_that_pods_run():
    world, intents = await open_for("roce"), intents_for("shared", "roce")
    mirrored = tuple(replace(intent, image_registry="mirror.test:5000") for intent in intents)
    assert (await applied(world, mirrored, verify=False)).exit_code == 0
    looking = Looking(world)
    await verified(world, mirrored, progress=looking)
    images = {container["image"] for pod in looking.pods for container in pod["spec"]["containers"]}
    assert images == {"mirror.test:5000/edge-infrastructure/nvidia-tools:0.1.5"}


async def left(world):
    """Name everything of verify that is on the cluster or in the ledger."""
    found = []
    for kind in (
        kinds.POD,
        kinds.SERVICE_ACCOUNT,
        kinds.SECURITY_CONTEXT_CONSTRAINTS,
        kinds.PRIORITY_CLASS,
        kinds.NETWORK_POLICY,
        kinds.ROLE,
    ):
        found += [
            obj["metadata"]["name"]
            async for obj in world.cluster.list(Selection(kind))
            if "railwright-verify" in obj["metadata"]["name"]
        ]
    ledger = await LedgerStore(world.cluster, world.clock).load()
    return found + [str(ref) for ref in ledger.entries if "railwright-verify" in ref.name]


@pytest.mark.parametrize(("method", "fabric"), SIX)
async def test_each_configuration_is_shown_to_be_direct_and_fast_and_nothing_is_left(method, fabric):
    world, intents = await ready(fabric, method=method)
    record = await verified(world, intents)
    assert (record.summary.verdict, record.summary.direct, record.summary.fast) == (Verdict.PASS,) * 3
    assert record.coverage.ways == record.coverage.ways_possible == 16
    assert await left(world) == []
    verified_stage = (await api.status(world)).stages[-1]
    assert (verified_stage.verdict, verified_stage.since != "") == (Verdict.PASS, True)


async def test_pods_are_as_poor_as_they_can_be_and_pinned():
    world, intents = await ready()
    looking = Looking(world)
    await verified(world, intents, progress=looking)
    assert {pod["spec"]["nodeName"] for pod in looking.pods} == {"worker-0", "worker-1"}
    for pod in looking.pods:
        spec, (container,) = pod["spec"], pod["spec"]["containers"]
        security = container["securityContext"]
        assert security["runAsUser"] == 0, "IPC_LOCK has no effect for other users"
        assert security["capabilities"] == {"drop": ["ALL"], "add": ["IPC_LOCK"]}
        assert security["allowPrivilegeEscalation"] is False
        assert spec["automountServiceAccountToken"] is False
        assert not any("hostPath" in volume for volume in spec["volumes"])
        assert not {"hostNetwork", "hostPID", "hostIPC"} & set(spec)
        assert spec["activeDeadlineSeconds"] > 0
        assert container["resources"]["limits"]["nvidia.com/gpu"] == "8"
        assert sum(name.startswith("rdma/") for name in container["resources"]["limits"]) == 8
        assert pod["metadata"]["namespace"] == "training"
    names = {pod["spec"]["priorityClassName"] for pod in looking.pods}
    assert len(names) == 1
    assert names.pop().startswith("railwright-verify-")


async def test_what_a_killed_run_left_goes_with_the_next_one():
    world, intents = await ready()
    run = Run("killed", "training", api.FabricName("east-west"), "image", 60.0, has_scc=True)
    pods = VerifierPods(world, run, (), (), {}, api.Silent())
    await pods.start()
    assert len(access_of(run)) == 6
    assert await left(world) != []
    await verified(world, intents)
    assert await left(world) == []


async def test_what_a_killed_run_left_goes_with_clean_as_well_and_its_pods_first(monkeypatch):
    world, _ = await ready()
    run = Run("killed", "training", api.FabricName("east-west"), "image", 3600.0, has_scc=True)
    pods = VerifierPods(world, run, (Verifier(NodeName("worker-0"), (), {}),), (), {}, api.Silent())
    await pods.start()
    await world.clock.sleep(LEASE_S)
    real, gone = SimCluster.delete, []

    async def delete(self, ref, **options):
        gone.append(ref.kind)
        return await real(self, ref, **options)

    monkeypatch.setattr(SimCluster, "delete", delete)
    record = await api.clean(world, approval=Yes())
    assert record.exit_code == 0
    assert await left(world) == []
    assert gone[0] == kinds.POD, "it holds rails, and the others are what it runs with"


async def test_the_plan_says_what_the_pods_may_reach_before_any_of_them_is_there():
    world, intents = await ready()
    said = []

    def shown(planned):
        store = world.cluster.engine.store.objects
        assert not [ref for ref in store if "railwright-verify" in ref.name]
        said.append(api.planned_run_text(planned))

    looking = Looking(world)
    await verified(world, intents, shown=shown, progress=looking)
    assert "pods in namespace training; on the cluster network a NetworkPolicy of this run" in said[0]
    assert "pods of others are not selected" in said[0]
    assert looking.policies == [(looking.pods[0]["metadata"]["labels"][RUN_LABEL], "training")]


async def test_an_apply_that_starts_while_verify_measures_is_refused_and_harms_nothing():
    """
    A whole run, because it measures for minutes: an apply looks around for some time, and waits for the ledger as long as a
    holder may be silent. A quick run is over by then, and the apply rightly comes after it.
    """
    world, intents = await ready()
    others, refused_at_s, measured_at_s = [], [], []

    async def apply():
        try:
            await applied(world, intents, verify=False)
        except WriteConflict as error:
            refused_at_s.append(world.clock.monotonic_s())
            return error
        return None

    class Meddling:
        def emit(self, event):
            if type(event).__name__ == "Measuring":
                measured_at_s.append(world.clock.monotonic_s())
                if not others:
                    others.append(asyncio.ensure_future(apply()))

    record = await verified(world, intents, replace(QUICK, options=api.Options()), progress=Meddling())
    (refused,) = await asyncio.gather(*others)
    assert measured_at_s[-1] - measured_at_s[0] > 2 * LEASE_S, "else nothing here says that verify holds the ledger"
    assert "another railwright is writing to this cluster" in str(refused)
    assert refused_at_s[0] < measured_at_s[-1]
    assert record.summary.verdict is Verdict.PASS
    assert await left(world) == []


async def test_a_result_that_the_ledger_does_not_take_is_shown_all_the_same(monkeypatch):
    world, intents = await ready()

    async def busy(*_):
        raise WriteConflict("another railwright is writing to this cluster")

    monkeypatch.setattr(LedgerStore, "note_stage", busy)
    record = await verified(world, intents)
    assert record.summary.verdict is Verdict.PASS
    assert any("the result is not in the ledger, so status does not show it" in note for note in record.summary.notes)


async def test_an_interrupt_while_the_result_is_written_down_loses_neither_it_nor_the_record(monkeypatch):
    world, intents = await ready()
    note_stage = LedgerStore.note_stage

    async def interrupted(*given):
        task.cancel()
        await asyncio.gather(note_stage(*given))

    monkeypatch.setattr(LedgerStore, "note_stage", interrupted)
    task = asyncio.ensure_future(verified(world, intents))
    record = await task
    assert record.summary.verdict is Verdict.PASS
    assert any("interrupted after the last measurement" in note for note in record.summary.notes)
    (note,) = (item for item in (await api.status(world)).stages if item.name == "verified")
    assert note.verdict is Verdict.PASS


async def test_a_run_that_lost_the_ledger_to_another_ends_and_says_so():
    world, intents = await ready()

    class Stealing:
        def emit(self, event):
            if type(event).__name__ == "Measuring":
                head = world.cluster.engine.store.objects[HEAD]
                head["metadata"]["annotations"][HOLDER_ANNOTATION] = "somebody"
                world.cluster.engine.elapsed_s += LEASE_S

    record = await verified(world, intents, progress=Stealing())
    assert (record.summary.interrupted, record.exit_code) == (True, WriteConflict.exit_code)
    assert "another railwright is writing" in record.summary.claim
    assert any(cell.evidence for cell in record.cells), "what was measured until then is kept"


async def test_an_apply_whose_verify_loses_the_ledger_to_another_ends_as_it_does_anywhere_else():
    world, intents = await ready()

    class Stealing:
        """Takes the ledger when the first pod of verify was written, and another is about to be."""

        def emit(self, event):
            if isinstance(event, Wrote) and event.ref.kind == kinds.POD:
                head = world.cluster.engine.store.objects[HEAD]
                head["metadata"]["annotations"][HOLDER_ANNOTATION] = "somebody"
                world.cluster.engine.elapsed_s += LEASE_S

    with pytest.raises(WriteConflict, match="another railwright is writing"):
        await applied(world, intents, progress=Stealing())


async def test_what_a_killed_run_left_is_nothing_that_an_apply_has_to_remove():
    world, intents = await ready()
    run = Run("killed", "training", api.FabricName("east-west"), "image", 60.0, has_scc=True)
    await VerifierPods(world, run, (), (), {}, api.Silent()).start()
    await world.clock.sleep(LEASE_S)
    await applied(world, intents, verify=False)
    assert await left(world) != []


async def test_a_pod_is_not_ours_because_of_its_name():
    world, intents = await ready()
    await world.cluster.apply(busy_pod("railwright-verify-mine"), field_manager="somebody")
    await world.clock.sleep(30)
    with pytest.raises(api.Refused, match=r"busy: pod training/railwright-verify-mine uses"):
        await verified(world, intents)


async def test_an_interrupt_gives_a_record_and_leaves_nothing():
    world, intents = await ready()

    class Stopping:
        def emit(self, event):
            if type(event).__name__ == "Measuring":
                task.cancel()

    task = asyncio.ensure_future(verified(world, intents, progress=Stopping()))
    record = await task
    assert (record.summary.interrupted, record.exit_code) == (True, 130)
    assert "interrupted before it was run" in {cell.reason for cell in record.cells}
    assert len(record.cells) == record.schedule.cells
    assert await left(world) == []


async def test_nodes_in_use_are_spared_unless_asked_for():
    world, intents = await ready()
    await world.cluster.apply(busy_pod("train-0"), field_manager="somebody")
    await world.clock.sleep(30)
    with pytest.raises(api.Refused, match=r"busy: pod training/train-0 uses 8 nvidia\.com/gpu"):
        await verified(world, intents)
    record = await verified(world, intents, replace(QUICK, include_busy=True))
    assert record.coverage.nodes == 2
    gpu = [cell for cell in record.cells if cell.memory == "gpu"]
    assert {cell.verdict for cell in gpu} == {Verdict.SKIP}, "no GPU is free on worker-1"


async def test_nothing_is_started_without_a_yes():
    world, intents = await ready()
    with pytest.raises(api.Refused, match="not confirmed"):
        await api.verify(world, intents, QUICK, approval=No())
    assert await left(world) == []


async def test_a_fabric_that_was_never_applied_is_refused():
    world, intents = await open_for("roce"), intents_for("shared", "roce")
    with pytest.raises(api.Refused, match="no node is admitted to fabric east-west"):
        await verified(world, intents)


async def test_pods_in_which_nothing_can_be_run_make_every_cell_unknown():
    world, intents = await ready()
    deaf = replace(world, cluster=replace(world.cluster, execution=None))
    record = await verified(deaf, intents)
    assert {cell.verdict for cell in record.cells} == {Verdict.UNKNOWN}
    assert record.exit_code == 6
    assert "nothing can be run in its pod" in record.cells[0].reason
    assert await left(world) == []


async def test_acs_redirect_is_direct_and_slow_and_its_place_is_named():
    world, intents = await ready("roce", "acs-redirect")
    record = await verified(world, intents)
    assert (record.summary.direct, record.summary.fast, record.exit_code) == (Verdict.PASS, Verdict.FAIL, 5)
    assert "ACS sends requests between GPU and NIC up to the root complex" in record.culprits[0].text
    assert "only GPU memory" in record.culprits[0].text


async def test_gpu_memory_that_is_staged_through_host_memory_is_not_direct():
    world, intents = await ready("roce", "gpu-staged")
    record = await verified(world, intents)
    assert (record.summary.direct, record.exit_code) == (Verdict.FAIL, 5)
    assert {cell.direct for cell in record.cells if cell.memory == "gpu" and cell.family == "nixl"} == {Verdict.FAIL}
    assert {cell.verdict for cell in record.cells if cell.memory == "host"} == {Verdict.PASS}


async def test_bridges_that_cannot_be_read_are_not_witnessed_to_be_free_of_acs():
    world, intents = await ready("roce", "config-unreadable")
    record = await verified(world, intents)
    said = {item.says for item in record.witnesses if item.witness == "capability"}
    assert said == {"unclear"}
    assert record.summary.direct is Verdict.PASS, "what moved bytes has shown it"


async def test_limited_members_of_a_partition_are_left_out_and_said_so():
    world, intents = await ready("infiniband", "limited-partition")
    record = await verified(world, intents)
    assert {cell.verdict for cell in record.cells} == {Verdict.SKIP}
    assert record.exit_code == 6, "nothing looked at is nothing known"
    assert "limited members of 0x7fff only" in record.cells[0].reason


@pytest.mark.parametrize(
    ("fabric", "pkey", "keys", "said"),
    [
        ("infiniband", "  network: {pkey: '0x8001'}\n", (0xFFFF,), "is not in partition 0x0001: its port has 0xffff"),
        ("infiniband", "  network: {pkey: '0x7fff'}\n", (0xFFFF,), ""),
        ("infiniband", "", (0xFFFF,), ""),
        ("roce", "", (), ""),
    ],
    ids=["another", "the-default-one", "none-asked-for", "ethernet"],
)
async def test_the_partition_of_the_file_is_held_against_the_keys_of_the_ports(fabric, pkey, keys, said):
    world = await open_for(fabric)
    prepared = await api.plan(world, intents_for("sriov", fabric, more=pkey))
    nodes = (NodeName("worker-0"), NodeName("worker-1"))
    made = layout_of_plan(prepared.plan.fabrics[0], prepared.snapshot, nodes=nodes, bed="")
    source, target = (seat for seat in made.seats if seat.rail == "rail0")
    assert source.pkeys == target.pkeys == keys
    own = keys[0] & 0x7FFF if keys else None
    assert source.ipoib_partition == target.ipoib_partition == own
    why = kept_apart(source, target, made.partition)
    assert (said in why, bool(why)) == (True, bool(said))


async def test_a_link_that_trained_badly_is_slow_and_does_not_lower_its_own_floor():
    world, intents = await ready("roce", "pcie-half-width")
    record = await verified(world, intents)
    assert record.summary.fast is Verdict.FAIL
    assert "runs at 32 GT/s x8, and could at 32 GT/s x16" in record.culprits[0].text


async def test_apply_fails_at_its_last_stage_when_bytes_do_not_move():
    world, intents = await open_for("roce", "rail-drops"), intents_for("shared", "roce")
    record = await applied(world, intents)
    assert (record.stages[-1].stage, record.stages[-1].verdict) == ("verified", Verdict.FAIL)
    assert "rail0 between worker-0 and worker-1" in record.stages[-1].reason
    assert record.exit_code == 4
    shown = (await api.status(world)).stages[-1]
    assert (shown.name, shown.verdict) == ("verified", Verdict.FAIL)


async def test_an_apply_that_is_interrupted_in_its_last_stage_says_so_and_leaves_no_pod():
    world, intents = await open_for("roce"), intents_for("shared", "roce")

    class Stopping:
        def emit(self, event):
            if type(event).__name__ == "Measuring":
                task.cancel()

    task = asyncio.ensure_future(applied(world, intents, progress=Stopping()))
    record = await task
    assert (record.interrupted, record.exit_code) == (True, 130)
    assert await left(world) == []
    assert (await api.status(world)).stages[-1].verdict is Verdict.SKIP


async def test_an_apply_that_writes_nothing_does_not_verify_again():
    world, intents = await open_for("roce"), intents_for("shared", "roce")
    first = await applied(world, intents)
    again = await applied(world, intents)
    assert [item.stages[-1].verdict for item in (first, again)] == [Verdict.PASS, Verdict.PASS]
    assert again.stages[-1].reason.startswith("as of ")


async def test_what_was_verified_before_a_change_does_not_stand_for_what_came_after():
    world = await open_for("roce")
    await applied(world, intents_for("shared", "roce"))
    changed = api.parse_intents(rails("shared", "roce").replace("[training]", "[training, more]"))
    unproven = await api.apply(world, changed, approval=Yes(), verify=False)
    assert unproven.stages[-1].verdict is Verdict.SKIP
    assert (await api.status(world)).stages[-1].verdict is not Verdict.PASS
    again = await applied(world, changed)
    assert (again.stages[-1].verdict, again.stages[-1].reason.startswith("as of ")) == (Verdict.PASS, False)


async def test_a_pod_security_level_that_forbids_ipc_lock_is_a_refusal_with_a_hint(monkeypatch):
    world, intents = await ready()
    real = SimCluster.apply

    async def apply(self, obj, **options):
        if obj["kind"] == "Pod":
            raise ObjectRefused('violates PodSecurity "baseline:latest": non-default capabilities')
        return await real(self, obj, **options)

    monkeypatch.setattr(SimCluster, "apply", apply)
    with pytest.raises(api.Refused, match="not admitted to namespace training") as refused:
        await verified(world, intents)
    assert "privileged" in refused.value.hint
    monkeypatch.undo()
    assert await left(world) == []
    assert (await world.cluster.get(Ref(kinds.NAMESPACE, "", "training")))["metadata"]["name"] == "training"


def test_the_command_keeps_a_run_shows_it_again_and_compares(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rails.yaml").write_text(rails("shared", "roce"))
    cluster = ["--cluster", "sim:h200-roce@state.json", "-q"]
    assert main(["apply", "--yes", "--skip-verify", *cluster]) == 0
    assert main(["verify", "--quick", "--yes", "--to", "one", *cluster]) == 0
    capsys.readouterr()
    assert main(["report", "show", "one", "-o", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["summary"]["verdict"] == "PASS"
    assert (
        main(
            [
                "verify",
                "--quick",
                "--yes",
                "--rails",
                "rail0",
                "--baseline",
                "one",
                "--to",
                "two",
                "-o",
                "json",
                *cluster,
            ]
        )
        == 0
    )
    assert json.loads(capsys.readouterr().out)["coverage"]["shrunk"]
    assert main(["report", "diff", "one", "two"]) == 0
    assert main(["report", "diff", "one"]) == 2
    assert main(["report", "show", "nowhere"]) == 2
    assert main(["verify", "--budget", "soon", *cluster]) == 2
    capsys.readouterr()
    assert main(["verify", "--budget", "1s", *cluster]) == 2
    said = capsys.readouterr().err
    assert "has no room for anything" in said
    assert "held" not in said
    assert main(["verify", "--families", "magic", *cluster]) == 2
    assert main(["verify", "--yes", "--nodes", "worker-9", *cluster]) == 2
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    assert main(["verify", "--quick", "--yes", "--to", "other", *cluster]) == 2
