"""How findings are ordered: causes first, each followed by what it explains."""

from dataclasses import replace

import pytest

from railwright.core.ids import NodeName, RuleId
from railwright.doctor.causes import by_cause
from railwright.doctor.model import Condition, Evidence, Finding, Layer, Remedy, Severity

WORKER_0, WORKER_1 = NodeName("worker-0"), NodeName("worker-1")


def a_finding(name: str, layer: Layer = Layer.LABELS, **changes: object) -> Finding:
    finding = Finding(
        RuleId(name), name, Severity.ERROR, layer, (), (), "because", Remedy("mend it"), "a source", key=name
    )
    return replace(finding, **changes)


def shape(findings: tuple[Finding, ...]) -> list[tuple[str, str]]:
    return [(finding.key, finding.explained_by) for finding in findings]


LABELS = a_finding("labels", leads_to=(Condition.LABELS_MISSING,))
DRIVER = a_finding(
    "driver",
    Layer.DRIVERS,
    shows=(Condition.LABELS_MISSING,),
    leads_to=(Condition.NIC_DRIVER_NOT_READY,),
    nodes=(WORKER_0,),
)
RESOURCE = a_finding("resource", Layer.DEVICES, shows=(Condition.NIC_DRIVER_NOT_READY,), nodes=(WORKER_0, WORKER_1))


def test_a_chain_of_effects_stands_under_its_one_cause() -> None:
    found = by_cause((RESOURCE, DRIVER, LABELS))
    assert shape(found) == [("labels", ""), ("driver", "labels"), ("resource", "driver")]
    assert found[0].explains == ("driver",)


def test_an_effect_on_another_node_stands_by_itself() -> None:
    elsewhere = replace(RESOURCE, nodes=(WORKER_1,))
    assert dict(shape(by_cause((elsewhere, DRIVER, LABELS))))["resource"] == ""


def test_an_effect_about_another_thing_of_the_same_kind_stands_by_itself() -> None:
    driver = replace(DRIVER, about=("resource:rdma/a",))
    other = replace(RESOURCE, about=("resource:rdma/b",))
    same = replace(RESOURCE, about=("resource:rdma/a", "pod:x"))
    assert dict(shape(by_cause((other, driver))))["resource"] == ""
    assert dict(shape(by_cause((same, driver))))["resource"] == "driver"


def test_things_of_unlike_kinds_do_not_part_cause_and_effect() -> None:
    driver = replace(DRIVER, about=("operator:nvidia-network",))
    assert dict(shape(by_cause((replace(RESOURCE, about=("resource:rdma/b",)), driver))))["resource"] == "driver"


def test_two_findings_that_explain_each_other_are_both_shown_once() -> None:
    ring = (Condition.POD_CRASHES,)
    one, two = (a_finding(name, shows=ring, leads_to=ring) for name in ("one", "two"))
    found = by_cause((one, two))
    assert sorted(finding.key for finding in found) == ["one", "two"]
    assert sum(not finding.explained_by for finding in found) == 1


def test_a_grave_cause_comes_before_a_mild_one_and_a_low_layer_before_a_high_one() -> None:
    mild = a_finding("mild", Layer.HARDWARE, severity=Severity.WARNING)
    high = a_finding("high", Layer.WORKLOADS)
    low = a_finding("low", Layer.KERNEL)
    assert [finding.key for finding in by_cause((mild, high, low))] == ["low", "high", "mild"]


def test_a_remark_explains_nothing() -> None:
    remark = replace(LABELS, severity=Severity.INFO)
    assert dict(shape(by_cause((DRIVER, remark))))["driver"] == ""


def test_what_one_rule_says_twice_stands_side_by_side() -> None:
    twice = (Condition.LABELS_MISSING,)
    one = a_finding("same", shows=twice, leads_to=twice, key="same/1")
    found = by_cause((one, replace(one, key="same/2")))
    assert shape(found) == [("same/1", ""), ("same/2", "")]


def test_the_nearest_cause_is_taken() -> None:
    far = a_finding("far", Layer.HARDWARE, leads_to=(Condition.NIC_DRIVER_NOT_READY,))
    found = dict(shape(by_cause((far, DRIVER, RESOURCE, LABELS))))
    assert found["resource"] == "driver"


LINE = "[4007.0] mlx5_core 0000:4b:00.0 enp75s0np0: Link down"
FLAPS = a_finding(
    "flaps",
    Layer.LINK,
    severity=Severity.WARNING,
    nodes=(WORKER_1,),
    evidence=(Evidence("node worker-1", "kernel log", f"4 times: {LINE}", WORKER_1),),
)
REMARK = replace(FLAPS, key="remark", severity=Severity.INFO, evidence=(Evidence("log", "line 8", LINE, WORKER_1),))


@pytest.mark.parametrize(
    ("remark", "stands_under"),
    [
        (REMARK, "flaps"),
        (replace(REMARK, severity=Severity.WARNING), ""),
        (replace(REMARK, evidence=(replace(REMARK.evidence[0], node=WORKER_0),)), ""),
        (replace(REMARK, evidence=(*REMARK.evidence, replace(REMARK.evidence[0], value="another line"))), ""),
        (replace(REMARK, evidence=()), ""),
    ],
)
def test_a_remark_stands_under_the_finding_whose_lines_it_repeats(remark: Finding, stands_under: str) -> None:
    assert dict(shape(by_cause((remark, FLAPS))))["remark"] == stands_under
