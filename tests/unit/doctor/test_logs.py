"""Rules on text over logs, events and kernel logs of a snapshot: what counts now, and what only was."""

from dataclasses import replace

import pytest
from support.doctoring import CATALOG, asked, inside, snapshot_of

from railwright.core.ids import NodeName
from railwright.doctor.diagnose import diagnose
from railwright.doctor.model import Severity
from railwright.doctor.text import lines
from railwright.doctor.text.diagnose import diagnose_text
from railwright.facts.model import EventFacts, LogRef, PodFacts, Snapshot, Unseen

RULE = "log-module-does-not-fit"
OTHER = "log-drain-does-not-end"
LINE = "modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument"


def a_pod(ready: str) -> PodFacts:
    return PodFacts(
        namespace="nvidia-gpu-operator",
        name="nvidia-driver-x",
        node=NodeName("worker-0"),
        phase="Running",
        owner="DaemonSet/nvidia-driver",
        requests={},
        networks="",
        conditions={"Ready": ready},
    )


def with_log(ready: str) -> Snapshot:
    snapshot = snapshot_of("h200-roce")
    logs = {LogRef("nvidia-gpu-operator", "nvidia-driver-x", "nvidia-peermem-ctr", previous=True): f"a\n{LINE}\n"}
    return replace(snapshot, cluster=replace(snapshot.cluster, pods=(a_pod(ready),), logs=logs))


def an_event(kind: str, last_at: str) -> EventFacts:
    return EventFacts(
        namespace="nvidia-gpu-operator",
        kind=kind,
        name="nvidia-driver-x",
        reason="BackOff",
        message=LINE,
        type="Warning",
        count=3,
        last_at=last_at,
        component="kubelet",
        node=NodeName("worker-0"),
    )


def with_event(event: EventFacts, ready: str = "False") -> Snapshot:
    snapshot = snapshot_of("h200-roce")
    return replace(snapshot, cluster=replace(snapshot.cluster, pods=(a_pod(ready),), events=(event,)))


def test_a_log_of_a_pod_that_fails_counts_with_its_node() -> None:
    found = asked(with_log("False (ContainersNotReady: x)"), RULE).findings
    assert [(item.severity, item.nodes) for item in found] == [(Severity.ERROR, ("worker-0",))]
    assert (
        found[0].evidence[0].object.startswith("log of nvidia-gpu-operator/nvidia-driver-x nvidia-peermem-ctr before")
    )


def test_what_a_pod_wrote_that_works_now_is_only_remarked() -> None:
    found = asked(with_log("True"), RULE).findings
    assert [item.severity for item in found] == [Severity.INFO]
    assert found[0].leads_to == ()


def test_an_event_of_a_pod_that_fails_counts() -> None:
    found = asked(with_event(an_event("Pod", "2026-03-02T08:00:00Z")), RULE).findings
    assert [item.severity for item in found] == [Severity.ERROR]


def test_an_event_of_a_pod_that_works_now_does_not_count() -> None:
    said = asked(with_event(an_event("Pod", "2026-03-02T08:00:00Z"), ready="True"), RULE)
    assert said.findings == ()


@pytest.mark.parametrize(("last_at", "is_found"), [("2026-03-01T08:00:00Z", False), ("2026-03-02T08:00:00Z", True)])
def test_old_events_on_other_things_say_what_was(last_at: str, is_found: bool) -> None:
    said = asked(with_event(an_event("DaemonSet", last_at)), RULE)
    assert bool(said.findings) is is_found


def test_a_kernel_log_is_only_remarked_and_names_its_node() -> None:
    def logged(hardware):
        return replace(hardware, system=replace(hardware.system, dmesg=(f"[ 12.5] {LINE}",)))

    found = asked(inside(snapshot_of("h200-roce"), logged, "worker-1"), RULE).findings
    assert [(item.severity, item.nodes) for item in found] == [(Severity.INFO, ("worker-1",))]
    assert found[0].cause.startswith("The kernel wrote this at some time since the node started, so it may be over: ")


@pytest.mark.parametrize("nodes", [("worker-1",), ("worker-0", "worker-1")])
def test_commands_name_the_nodes_where_the_text_was_met(nodes: tuple[str, ...]) -> None:
    def logged(hardware):
        line = "[ 12.5] mlx5_core 0000:4b:00.0 enp75s0np0: Link down"
        return replace(hardware, system=replace(hardware.system, dmesg=(line,)))

    snapshot = snapshot_of("h200-roce")
    for node in nodes:
        snapshot = inside(snapshot, logged, node)
    found = asked(snapshot, "log-port-lost").findings
    assert found[0].remedy.commands == tuple(f"railwright discover --node {node} -o json" for node in nodes)


def test_pasted_text_names_no_node_so_the_command_leaves_it_open() -> None:
    found = diagnose_text("mlx5_core 0000:4b:00.0 enp75s0np0: Link down").findings
    assert found[0].remedy.commands == ("railwright discover --node NODE -o json",)


def unread(snapshot: Snapshot) -> Snapshot:
    """As read without events, logs and nodes."""
    return replace(snapshot, nodes=(), cluster=replace(snapshot.cluster, whole_in=frozenset(), events=(), logs={}))


@pytest.mark.parametrize(
    ("what", "missing"),
    [
        ("log of nvidia-gpu-operator/nvidia-driver-x ctr", "log of nvidia-gpu-operator/nvidia-driver-x ctr"),
        ("Event in nvidia-gpu-operator", "events"),
        ("Event", "events"),
    ],
)
def test_a_rule_on_text_does_not_pass_on_what_was_not_read(what: str, missing: str) -> None:
    snapshot = with_log("True")
    hidden = replace(snapshot.cluster, unseen=(Unseen(what, "permission-missing: cannot read"),))
    said = asked(replace(snapshot, cluster=hidden), OTHER)
    assert ([item.missing for item in said.unknown], said.passed) == ([missing], ())
    assert asked(snapshot, OTHER).passed == (OTHER,)


def test_a_rule_on_text_does_not_pass_for_a_node_whose_kernel_log_was_not_read() -> None:
    def silent(hardware):
        return replace(hardware, system=replace(hardware.system, dmesg=None))

    said = asked(inside(with_log("True"), silent, "worker-1"), OTHER)
    assert [(item.missing, item.nodes) for item in said.unknown] == [("kernel logs", ("worker-1",))]
    assert said.passed == ()


def test_what_stands_in_the_first_of_many_long_texts_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_CHARACTERS", 400)
    snapshot = with_log("False")
    logs = {
        **snapshot.cluster.logs,
        **{LogRef("z", f"pod-{number}", "c"): "all is well\n" * 20 for number in range(5)},
    }
    said = asked(replace(snapshot, cluster=replace(snapshot.cluster, logs=logs)), RULE)
    assert [str(item.rule) for item in said.findings] == [RULE]


def test_a_rule_on_text_that_was_asked_for_is_unknown_without_any_text() -> None:
    said = asked(unread(snapshot_of("h200-roce")), RULE)
    assert [(item.missing, item.why) for item in said.unknown] == [("logs and events", "none were read")]


def test_rules_on_text_are_not_counted_as_passed_where_there_was_no_text() -> None:
    said = diagnose(unread(snapshot_of("h200-roce")), CATALOG)
    assert [name for name in said.passed if name.startswith("log-")] == []
