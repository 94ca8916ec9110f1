"""Commands of railwright in remedies: with the person's own options, and nothing else touched."""

import pytest

from railwright.core.ids import RuleId
from railwright.doctor.commands import Typed, as_typed
from railwright.doctor.model import Finding, Layer, Remedy, Severity

WITH_FILE = Typed("sim:adopt", "a.yaml", has_file=True)
FIRST = "# write rails.yaml first (docs/rails-yaml.md)"


@pytest.mark.parametrize(
    ("command", "typed", "spelled"),
    [
        ("railwright plan", WITH_FILE, "railwright plan --cluster sim:adopt -f a.yaml"),
        ("railwright plan", Typed(), f"railwright plan -f rails.yaml   {FIRST}"),
        ("railwright plan", Typed(has_file=True), "railwright plan"),
        ("railwright plan   # shows it", WITH_FILE, "railwright plan --cluster sim:adopt -f a.yaml   # shows it"),
        ("railwright workload  # a pod", Typed("bundle:x y"), "railwright workload --cluster 'bundle:x y'   # a pod"),
        ("railwright images   # all", Typed(), f"railwright images -f rails.yaml   {FIRST}; all"),
        ("railwright verify --name a", WITH_FILE, "railwright verify --name a --cluster sim:adopt -f a.yaml"),
        ("railwright verify --name a", Typed("c"), "railwright verify --name a --cluster c"),
        ("railwright discover --node a", WITH_FILE, "railwright discover --node a --cluster sim:adopt"),
        ("railwright explain --rbac doctor", WITH_FILE, "railwright explain --rbac doctor"),
        ("oc logs x | railwright doctor --log -", WITH_FILE, "oc logs x | railwright doctor --log -"),
        ("oc get nodes # all", WITH_FILE, "oc get nodes # all"),
    ],
)
def test_a_command_is_spelled_as_it_must_be_typed(command: str, typed: Typed, spelled: str) -> None:
    finding = Finding(
        RuleId("x"), "x", Severity.ERROR, Layer.LINK, (), (), "because", Remedy("do", (command,)), "a source"
    )
    assert as_typed([finding], typed)[0].remedy.commands == (spelled,)
