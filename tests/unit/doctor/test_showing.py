"""Evidence and commands of many nodes: what is shown, what is kept, and how many there were."""

from dataclasses import replace

import pytest
from support.doctoring import asked, snapshot_of

from railwright.core.ids import NodeName
from railwright.doctor.showing import MAX_EVIDENCE, capped, on_node, one_a_node
from railwright.report.doctor import cause_text, finding_data

ACS = "pcie-acs-redirects-gpu-nic-path"


@pytest.mark.parametrize(
    ("seen", "listed", "says"),
    [
        (6, 6, ""),
        (128, 128, "and 122 more like these (-o json lists all)"),
        (
            MAX_EVIDENCE + 5,
            MAX_EVIDENCE,
            f"and {MAX_EVIDENCE - 1} more like these (-o json lists the first {MAX_EVIDENCE})",
        ),
    ],
)
def test_what_is_not_shown_is_counted_and_json_has_it(seen: int, listed: int, says: str) -> None:
    diagnosis = asked(snapshot_of("h200-roce+acs-redirect"), ACS)
    evidence = capped(on_node(NodeName("worker-0"), "bridge", number) for number in range(seen))
    finding = replace(diagnosis.findings[0], evidence=evidence)
    data, text = finding_data(finding), cause_text(finding, diagnosis)
    assert (len(data["evidence"]), data["evidence_total"]) == (listed, seen)
    assert all(item["object"] == "node worker-0" for item in data["evidence"])
    assert says in text
    assert ("more like these" in text) == bool(says)


def test_redirection_is_switched_off_on_every_node_that_has_it() -> None:
    (finding,) = asked(snapshot_of("h200-roce+acs-redirect"), ACS).findings
    until_boot = [command for command in finding.remedy.commands if "setpci" in command]
    assert [command.split()[2] for command in until_boot] == [f"node/{name}" for name in finding.nodes]
    assert len(finding.nodes) == 2


def test_of_many_nodes_the_others_are_named() -> None:
    nodes = [NodeName(f"worker-{number}") for number in range(7)]
    *whole, rest = one_a_node([(node, f"mend {node}") for node in nodes])
    assert whole == [f"mend worker-{number}" for number in range(4)]
    assert rest == "# the same on 3 more, with what was seen there: worker-4, worker-5, worker-6"


def test_a_command_for_a_whole_pool_is_there_once() -> None:
    assert one_a_node([(NodeName("a"), "same"), (NodeName("b"), "same")]) == ("same",)
