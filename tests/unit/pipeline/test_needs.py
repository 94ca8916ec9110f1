"""What commands say that they need, held to what is rendered and asked; and the question before the first write."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml
from support.scenarios import applied, intents_for, open_for

from railwright import api
from railwright.apply.ledger import LedgerStore
from railwright.cli.overview import COMMANDS as ALL
from railwright.core.errors import PermissionMissing
from railwright.core.ids import NodeName
from railwright.core.needs import Need, least, plural_of
from railwright.core.objects import kind_of
from railwright.manifests.verifiers import Run, Verifier
from railwright.pipeline.needs import COMMANDS, Extent, apply_needs, clean_needs, undoing_needs
from railwright.pipeline.rights import check_rights
from railwright.pipeline.verifier_pods import VerifierPods
from railwright.ports.world import World

GOLDEN = sorted((Path(__file__).parents[2] / "golden" / "manifests").glob("*.yaml"))
OFFLINE = {"report", "explain", "lab", "demo"}
NEEDS = (
    Need("", "configmaps", "patch", "railwright", "a"),
    Need("", "configmaps", "patch", "railwright", "b"),
    Need("nvidia.com", "clusterpolicies", "create", "", "gpu-cluster-policy"),
    Need("security.openshift.io", "securitycontextconstraints", "use", "", "ours", held=True),
)


@dataclass
class Asked:
    """A cluster that is only asked what may be done."""

    denied: frozenset[tuple[str, str]]
    by_name_only: bool = False
    escalates: bool = False
    questions: list[tuple[str, str, str]] = field(default_factory=list)

    async def may(self, verb: str, group: str, plural: str, namespace: str = "", name: str = "") -> bool:
        del group, namespace
        self.questions.append((verb, plural, name))
        if verb == "escalate":
            return self.escalates
        return (verb, plural) not in self.denied and bool(name or not self.by_name_only)


async def asked(cluster: Asked) -> Asked:
    world = await api.open_cluster("sim:h200-roce")
    await check_rights(World(cluster, world.node, world.clock), "apply", NEEDS)  # type: ignore[arg-type]  # asked nothing else
    return cluster


def test_every_command_that_talks_to_a_cluster_says_what_it_needs() -> None:
    assert set(COMMANDS) == set(ALL) - OFFLINE


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_every_kind_that_is_rendered_is_in_what_any_apply_needs(file: Path) -> None:
    needs = least(apply_needs(Extent()))
    for obj in yaml.safe_load_all(file.read_text()):
        verbs = ("get", "patch") if obj["kind"] == "Node" else ("get", "patch", "create")
        for verb in verbs:
            wanted = Need(kind_of(obj).group, plural_of(kind_of(obj)), verb)
            assert any(need.holds(wanted) for need in needs), wanted


def test_a_node_is_never_made() -> None:
    assert not any((need.resource, need.verb) == ("nodes", "create") for need in apply_needs(Extent()))


@pytest.mark.parametrize(("method", "fabric"), [("shared", "roce"), ("sriov", "infiniband"), ("host-device", "roce")])
async def test_with_a_plan_nothing_is_needed_that_no_plan_would_need(method: str, fabric: str) -> None:
    text = f"apiVersion: railwright.dev/v1alpha1\nkind: RailFabric\nmetadata: {{name: a}}\nspec: {{method: {method}, fabric: {fabric}}}\n"
    async with await api.open_cluster("sim:h200-roce" if fabric == "roce" else "sim:h200-ib") as world:
        prepared = await api.plan(world, api.parse_intents(text))
    wide = least(apply_needs(Extent()))
    exact = least(apply_needs(Extent(prepared)))
    beyond = [str(need) for need in exact if not any(other.holds(need) for other in wide)]
    assert beyond == []


async def test_any_clean_may_remove_what_a_killed_verify_left() -> None:
    world = await api.open_cluster("sim:h200-roce")
    run = Run("killed", "default", api.FabricName("east-west"), "image", 60.0, has_scc=True)
    await VerifierPods(world, run, (Verifier(NodeName("worker-0"), (), {}),), (), {}, api.Silent()).start()
    left = (await LedgerStore(world.cluster, world.clock).load()).entries
    needs = least(clean_needs(Extent()))
    assert {ref.kind.kind for ref in left} > {"Pod", "NetworkPolicy", "PriorityClass"}
    for ref in left:
        wanted = Need(ref.kind.group, plural_of(ref.kind), "delete", ref.namespace, ref.name)
        assert any(need.holds(wanted) for need in needs), wanted


async def test_only_a_clean_of_everything_asks_for_rights_on_the_ledgers_namespace() -> None:
    world = await open_for("roce")
    assert (await applied(world, intents_for("shared", "roce"), verify=False)).exit_code == 0
    prepared = await api.plan(world, intents_for("shared", "roce"))
    removes = Need("", "namespaces", "delete", "", "railwright")
    asked_for = {
        whole: any(need.holds(removes) for need in undoing_needs(Extent(prepared, whole=whole)))
        for whole in (True, False)
    }
    assert asked_for == {True: True, False: False}


async def test_rights_that_are_there_are_asked_for_once_a_kind() -> None:
    cluster = await asked(Asked(frozenset()))
    assert sorted(cluster.questions) == [
        ("create", "clusterpolicies", ""),
        ("patch", "configmaps", ""),
        ("use", "securitycontextconstraints", ""),
    ]


async def test_a_role_that_names_objects_is_asked_for_each() -> None:
    cluster = await asked(Asked(frozenset(), by_name_only=True, escalates=True))
    assert ("patch", "configmaps", "b") in cluster.questions


async def test_every_missing_right_is_named_in_one_error() -> None:
    with pytest.raises(PermissionMissing) as told:
        await asked(Asked(frozenset({("patch", "configmaps"), ("use", "securitycontextconstraints")})))
    assert "apply needs 3 rights that this login lacks; nothing was written" in told.value.message
    assert "patch configmaps a in namespace railwright" in told.value.message
    assert "use securitycontextconstraints.security.openshift.io ours" in told.value.message
    assert told.value.hint == "railwright explain --rbac apply prints a role that holds them"


async def test_who_may_escalate_need_not_hold_what_a_role_grants() -> None:
    await asked(Asked(frozenset({("use", "securitycontextconstraints")}), escalates=True))
