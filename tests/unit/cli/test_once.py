"""What is printed, is printed once, and only what was asked for."""

from pathlib import Path

import pytest
import yaml
from support.scenarios import rails

from railwright.cli.app import main
from railwright.cli.consent import Consent
from railwright.core.risk import Risk
from railwright.ports.approval import Question

_OBJECT = "  delete Namespace training"
_QUESTION = Question(Risk.REBOOT, "undo of all", details=("the whole of it: 1 delete", _OBJECT), again=(_OBJECT,))


@pytest.mark.parametrize(("yes", "quiet", "shown"), [(True, False, 0), (True, True, 1), (False, False, 1)])
def test_objects_that_progress_names_are_not_listed_before_a_run_that_nobody_is_asked_about(
    yes: bool, quiet: bool, shown: int, capsys: pytest.CaptureFixture[str]
) -> None:
    Consent(yes=yes, take_over=False, quiet=quiet).approve(_QUESTION)
    said = capsys.readouterr().err
    assert said.count("delete Namespace training") == shown
    assert "the whole of it: 1 delete" in said


@pytest.mark.parametrize(("option", "kind"), [("--pod", "Pod"), ("--job", "Job")])
def test_only_the_one_that_was_asked_for_is_printed(
    option: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "rails.yaml"
    file.write_text(rails("shared", "roce"))
    assert main(["workload", "-f", str(file), option, "--cluster", "sim:h200-roce", "--quiet"]) == 0
    printed = [obj["kind"] for obj in yaml.safe_load_all(capsys.readouterr().out) if obj]
    assert printed == [kind]
