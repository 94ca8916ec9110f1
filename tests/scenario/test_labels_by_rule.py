"""An NFD of others that names labels otherwise: its configuration stays, and a rule of ours gives what operators need."""

from dataclasses import replace

from support.others import change, now_is, open_changed, store
from support.scenarios import Heard, Yes, applied, intents_for, open_for

from railwright import api
from railwright.core import kinds
from railwright.core.ids import NodeName, StageName
from railwright.core.objects import Ref, dig, labels_of
from railwright.manifests.kinds.nfd import LABEL_PREFIX
from railwright.standins.workloads import definition

NFD = Ref(kinds.NODE_FEATURE_DISCOVERY, "openshift-nfd", "cluster-nfd")
HELM_NFD = Ref(kinds.NODE_FEATURE_DISCOVERY, "node-feature-discovery", "nfd")
RULE = Ref(kinds.NODE_FEATURE_RULE, "openshift-nfd", "railwright")
THEIRS = "sources:\n  pci:\n    deviceClassWhitelist: ['0200', '03']\n    deviceLabelFields: [class, vendor]\n"
NODES = [Ref(kinds.NODE, "", NodeName(f"worker-{number}")) for number in range(2)]


async def test_labels_come_by_a_rule_and_go_to_nobody_elses_configuration():
    world = await open_for("roce", world="adopt")
    await world.clock.sleep(1800.0)
    name_otherwise(world, NFD)
    await world.clock.sleep(60.0)
    assert not any(f"{LABEL_PREFIX}pci-15b3.present" in labels_of(now_is(world, node)) for node in NODES)

    record = await applied(world, intents_for("shared", "roce"))
    assert record.exit_code == 0
    assert dig(now_is(world, NFD), "spec", "workerConfig", "configData") == THEIRS
    assert all(labels_of(now_is(world, node))[f"{LABEL_PREFIX}pci-15b3.present"] == "true" for node in NODES)
    assert len(now_is(world, RULE)["spec"]["rules"]) == 2

    removed = await api.clean(world, approval=Yes())
    assert removed.exit_code == 0
    assert RULE in {item.ref for item in removed.objects}


async def test_a_rule_on_plain_kubernetes_outlives_every_apply_and_goes_with_the_last_fabric():
    world = open_changed("vanilla", with_the_rule_of_upstream)
    await world.clock.sleep(1800.0)
    name_otherwise(world, HELM_NFD)
    await world.clock.sleep(60.0)
    intents = intents_for("shared", "roce", more="  network: {mtu: 1500}\n")
    assert (await applied(world, intents, until=StageName("networks-attached"))).exit_code == 0
    made = rules(world)
    assert made

    heard = Heard()
    assert (await applied(world, intents, until=StageName("networks-attached"), progress=heard)).exit_code == 0
    assert heard.writes == []
    await world.clock.sleep(1800.0)
    assert rules(world) == made
    assert all(labels_of(now_is(world, node))[f"{LABEL_PREFIX}pci-15b3.present"] == "true" for node in NODES)

    assert (await api.clean(world, approval=Yes())).exit_code == 0
    assert rules(world) == []


def with_the_rule_of_upstream(draft):
    """Serve the kind of rule that upstream NFD brings, of the whole cluster."""
    kind = kinds.NODE_FEATURE_RULE_UPSTREAM
    upstream = definition(*kind.api_version.split("/"), kind.kind, "nodefeaturerules", namespaced=False)
    first, *others = draft.phases
    return replace(draft, phases=(replace(first, objects=(*first.objects, upstream)), *others))


def name_otherwise(world, discovery):
    """Let an NFD name labels after class and vendor, and drop the ones that it wrote before."""
    change(world, discovery, {"spec": {"workerConfig": {"configData": THEIRS}}})
    for node in NODES:
        gone = {f"{LABEL_PREFIX}pci-{vendor}.present": None for vendor in ("15b3", "10de")}
        change(world, node, {"metadata": {"labels": gone}})


def rules(world):
    wanted = {kinds.NODE_FEATURE_RULE, kinds.NODE_FEATURE_RULE_UPSTREAM}
    return sorted(ref for ref in store(world).objects if ref.kind in wanted)
