"""The doctor as a person meets it: causes first, exit codes, what a failed apply shows, and what --fix dares."""

import json

import pytest
from support.scenarios import applied, intents_for, open_for, rails

from railwright import api
from railwright.cli.app import main
from railwright.core.kinds import OPERATOR_GROUP
from railwright.core.objects import Ref, dig
from railwright.pipeline.prepare import read_ledger


def told(capsys, *arguments: str) -> tuple[int, dict]:
    code = main(["doctor", "-q", "-o", "json", *arguments])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--cluster", "sim:adopt"], 0),
        (["--cluster", "sim:adopt", "--fail-on", "warning"], 5),
        (["--cluster", "sim:adopt+nodes-tainted"], 5),
        (["--cluster", "sim:adopt+nodes-tainted", "--fail-on", "never"], 0),
        (["--cluster", "sim:adopt+nodes-tainted", "--only", "operator-controller-down"], 0),
        (["--cluster", "sim:adopt+node-unreadable"], 6),
        (["--cluster", "sim:adopt+node-unreadable+second-gpu-policy"], 5),
    ],
)
def test_the_exit_code_says_how_bad_it_is(capsys, arguments: list[str], code: int) -> None:
    seen, document = told(capsys, *arguments)
    assert (seen, document["exit_code"]) == (code, code)


def test_an_unknown_names_rule_fact_and_how_to_get_it(capsys) -> None:
    _, document = told(capsys, "--cluster", "sim:adopt+node-unreadable", "--only", "hardware-not-labelled")
    unknown = document["unknown"][0]
    assert (unknown["rule"], unknown["missing"]) == ("hardware-not-labelled", "inside of nodes")
    assert unknown["why"]
    assert unknown["how"]
    assert document["passed"] == 0


def test_twelve_symptoms_of_one_taint_read_as_one_cause(capsys) -> None:
    _, document = told(capsys, "--cluster", "sim:adopt+nodes-tainted", "--skip", "container-memlock-limited")
    errors = [item for item in document["findings"] if item["severity"] == "error"]
    causes = [item for item in errors if not item["explained_by"]]
    assert [item["rule"] for item in causes] == ["selector-fits-no-node"]
    assert "dedicated=training:NoSchedule" in causes[0]["cause"]
    assert len(errors) > 1
    assert causes[0]["explains"]


def test_a_node_keeps_what_concerns_it_and_the_cause_of_that(capsys) -> None:
    _, document = told(capsys, "--cluster", "sim:adopt+nodes-tainted", "--node", "worker-1")
    assert {node for item in document["findings"] for node in item["nodes"]} >= {"worker-1"}
    keys = {item["key"] for item in document["findings"]}
    assert all(item["explained_by"] in {None, *keys} for item in document["findings"])


def test_without_a_wanted_state_it_says_that_none_was_judged_by(capsys, tmp_path) -> None:
    main(["doctor", "-q", "--cluster", "sim:h200-roce"])
    assert "judged by no wanted state" in capsys.readouterr().out
    (tmp_path / "rails.yaml").write_text(rails("shared", "roce"))
    main(["doctor", "-q", "--cluster", "sim:h200-roce", "-f", str(tmp_path / "rails.yaml")])
    assert "judged by no wanted state" not in capsys.readouterr().out


@pytest.mark.parametrize("fault", [name for name, text in api.faults() if "doctor -f" in text])
def test_a_fault_that_is_listed_with_f_shows_against_a_wanted_state_alone(capsys, tmp_path, fault: str) -> None:
    (tmp_path / "rails.yaml").write_text(rails("shared", "roce"))
    by_file = ("-f", str(tmp_path / "rails.yaml"))
    assert told(capsys, "--cluster", f"sim:h200-roce+{fault}")[1]["findings"] == []
    found, healthy = (
        [(item["rule"], item["evidence"]) for item in told(capsys, "--cluster", world, *by_file)[1]["findings"]]
        for world in (f"sim:h200-roce+{fault}", "sim:h200-roce")
    )
    assert [item for item in found if item not in healthy]


UNTIL_PREPARED = "railwright apply --until nodes-prepared --cluster sim:adopt"


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (
            (),
            f"{UNTIL_PREPARED} -f rails.yaml   # write rails.yaml first (docs/rails-yaml.md)",
        ),
        (("-f", "my rails.yaml"), f"{UNTIL_PREPARED} -f 'my rails.yaml'"),
        (("-f", "rails.yaml"), f"{UNTIL_PREPARED} -f rails.yaml"),
        (("found",), UNTIL_PREPARED),
    ],
)
def test_commands_of_ours_are_printed_as_the_person_must_type_them(
    capsys, tmp_path, monkeypatch, arguments: tuple[str, ...], command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if arguments:
        (tmp_path / (arguments[-1] if len(arguments) > 1 else "rails.yaml")).write_text(rails("shared", "roce"))
    given = arguments if len(arguments) > 1 else ()
    _, document = told(capsys, "--cluster", "sim:adopt", "--only", "container-memlock-limited", *given)
    assert document["findings"][0]["remedy"]["commands"] == [command]


def test_text_names_the_exact_command(capsys) -> None:
    main(["doctor", "-q", "--cluster", "sim:adopt+pool-paused-for-good"])
    text = capsys.readouterr().out
    assert "oc patch machineconfigpool.machineconfiguration.openshift.io worker" in text
    assert "risk    reboot" in text


def test_a_log_is_diagnosed_without_a_cluster(capsys, tmp_path) -> None:
    log = tmp_path / "driver.log"
    log.write_text("modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument\n")
    code, document = told(capsys, "--log", str(log))
    assert code == 5
    assert document["cluster"] == ""
    assert document["findings"][0]["evidence"][0]["field"].startswith("line 1")


def test_a_log_that_is_not_there_is_wrong_use(capsys) -> None:
    assert main(["doctor", "--log", "nowhere.log"]) == 2
    assert "nowhere.log" in capsys.readouterr().err


async def test_a_failed_stage_brings_the_causes_along() -> None:
    async with await open_for("roce", "image-pull-fails") as world:
        record = await applied(world, intents_for("shared", "roce"))
    assert record.exit_code == 4
    assert record.findings[0].rule == "operand-image-not-pulled"
    assert not record.findings[0].explained_by
    text = api.apply_document(record).text
    assert "A node cannot pull an image" in text
    assert "railwright explain operand-image-not-pulled" in text


async def test_what_does_not_bear_on_the_failed_stage_is_left_out() -> None:
    async with await open_for("roce", "csv-stuck", "link-flaps") as world:
        record = await applied(world, intents_for("shared", "roce"))
    assert {finding.layer.value for finding in record.findings} <= {"cluster", "operators"}
    assert record.findings


def test_a_failed_apply_prints_our_commands_with_its_own_options(capsys, tmp_path, monkeypatch) -> None:
    (tmp_path / "rails.yaml").write_text(rails("shared", "roce"))
    cluster, file = "sim:h200-roce+no-nfd-labels", str(tmp_path / "rails.yaml")
    asked: list[tuple[str, api.Typed]] = []

    def spelled(findings, typed):
        asked.extend((str(item.rule), typed) for item in findings)
        return tuple(findings)

    monkeypatch.setattr(api, "as_typed", spelled)
    assert main(["apply", "-q", "-y", "--cluster", cluster, "-f", file]) == 4
    assert capsys.readouterr().out
    assert {typed for _, typed in asked} == {api.Typed(cluster, file, has_file=True)}


async def test_an_apply_that_passes_asks_no_doctor() -> None:
    async with await open_for("roce", "link-flaps") as world:
        record = await applied(world, intents_for("shared", "roce"))
    assert record.findings == ()


GROUP = Ref(OPERATOR_GROUP, "nvidia-gpu-operator", "nvidia-gpu-operator-group")


async def test_fix_mends_what_has_no_risk_and_the_operator_comes() -> None:
    async with await api.open_cluster("sim:adopt+group-for-all") as world:
        record = await api.diagnose(world, asked=api.Asked(fix=True))
        assert record.fixed == ("operator-not-installed/operator:nvidia-gpu",)
        assert record.fix_record.verdict is api.Verdict.PASS
        group = await world.cluster.get(GROUP)
        assert dig(group, "spec", "targetNamespaces") == ["nvidia-gpu-operator"]
        await world.clock.sleep(300)
        assert (await api.diagnose(world)).exit_code == 0


async def test_what_fix_did_is_in_the_ledger() -> None:
    async with await api.open_cluster("sim:adopt+group-for-all") as world:
        await api.diagnose(world, asked=api.Asked(fix=True))
        ledger, _ = await read_ledger(world)
        entry = ledger.entries[GROUP]
        assert not entry.created
        assert "nvidia-gpu-operator" in [item.ours for item in entry.fields]


async def test_fix_leaves_alone_what_restarts_nodes() -> None:
    async with await api.open_cluster("sim:adopt+pool-paused-for-good") as world:
        record = await api.diagnose(world, asked=api.Asked(fix=True))
    assert record.fixed == ()
    assert record.fix_record is None


async def test_what_verify_has_shown_wrong_stands_until_it_passes() -> None:
    async with await open_for("roce", "gpu-staged") as world:
        await applied(world, intents_for("shared", "roce"))
        record = await api.diagnose(world)
        told_by_status = await api.status(world)
    findings = [item for item in record.diagnosis.findings if item.rule == "verification-failed"]
    assert [item.title for item in findings] == ["The last verify of a fabric failed"]
    assert "GPU memory" in findings[0].cause
    assert (record.exit_code, told_by_status.exit_code) == (5, 4)


def test_a_file_that_was_only_found_is_named_and_why_its_plan_is_refused(capsys, monkeypatch, tmp_path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rails.yaml").write_text(rails("shared", "infiniband"))
    code, document = told(capsys, "--cluster", "sim:h200-roce")
    assert (code, document["exit_code"]) == (5, 5)
    assert "rails.yaml (found here, no -f was given)" in document["wanted"]
    assert document["refusals"]
    assert main(["doctor", "-q", "--cluster", "sim:h200-roce", "--fail-on", "never"]) == 0
    text = capsys.readouterr().out
    assert "the plan is refused" in text
    assert document["refusals"][0]["code"] in text
