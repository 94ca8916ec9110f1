"""An NFD of others that names labels otherwise: its configuration stays, and a rule of ours gives what operators need."""

from support.others import change, now_is
from support.scenarios import Yes, applied, intents_for, open_for

from railwright import api
from railwright.core import kinds
from railwright.core.ids import NodeName
from railwright.core.objects import Ref, dig, labels_of
from railwright.manifests.kinds.nfd import LABEL_PREFIX

NFD = Ref(kinds.NODE_FEATURE_DISCOVERY, "openshift-nfd", "cluster-nfd")
RULE = Ref(kinds.NODE_FEATURE_RULE, "openshift-nfd", "railwright")
THEIRS = "sources:\n  pci:\n    deviceClassWhitelist: ['0200', '03']\n    deviceLabelFields: [class, vendor]\n"
NODES = [Ref(kinds.NODE, "", NodeName(f"worker-{number}")) for number in range(2)]


async def test_labels_come_by_a_rule_and_go_to_nobody_elses_configuration():
    world = await open_for("roce", world="adopt")
    await world.clock.sleep(1800.0)
    change(world, NFD, {"spec": {"workerConfig": {"configData": THEIRS}}})
    for node in NODES:
        gone = {f"{LABEL_PREFIX}pci-{vendor}.present": None for vendor in ("15b3", "10de")}
        change(world, node, {"metadata": {"labels": gone}})
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
