"""Every command, in process: output that keeps its published schema, exit codes, errors on stderr, no traceback."""

import json
import shutil

import jsonschema
import pytest
import yaml
from support.scenarios import rails

from railwright.cli.app import main
from railwright.report.schemas import payload_schema

BARE = {
    # what is run on a bare cluster: its arguments, its schema, its exit code
    "discover": (["discover"], "snapshot", 0),
    "discover-one": (["discover", "--node", "worker-1"], "snapshot", 0),
    "plan": (["plan", "-f", "RAILS"], "plan", 0),
    "render": (["render", "-f", "RAILS", "--to", "FOLDER"], "files", 0),
    "apply-dry": (["apply", "-f", "RAILS", "--yes", "--dry-run"], "apply", 0),
    "apply-until": (["apply", "-f", "RAILS", "--yes", "--until", "hardware-labelled"], "apply", 0),
    "status": (["status"], "status", 0),
    "status-of": (["status", "-f", "RAILS"], "status", 0),
    "doctor": (["doctor"], "doctor", 0),
    "doctor-of": (["doctor", "-f", "RAILS"], "doctor", 0),
    "collect": (["collect", "--to", "ARCHIVE"], "collect", 0),
    "clean": (["clean", "--yes"], "clean", 0),
    "workload": (["workload", "-f", "RAILS", "-n", "training", "--gpus", "4"], "workload", 0),
    "workload-pod": (["workload", "-f", "RAILS", "--pod"], "workload", 0),
    "images": (["images", "-f", "RAILS"], "images", 0),
    "explain-key": (["explain", "spec.network.mtu", "-f", "RAILS"], "explanation", 0),
    "explain-error": (["explain", "gate-timeout"], "explanation", 0),
    "explain-rule": (["explain", "hardware-not-labelled"], "explanation", 0),
    "explain-rbac": (["explain", "--rbac", "apply", "-f", "RAILS", "--subject", "User:ci"], "rbac", 0),
    "demo-list": (["demo", "--list"], "worlds", 0),
    "demo": (["demo", "--method", "sriov"], "demo", 0),
    "demo-fault": (["demo", "--fault", "image-pull-fails"], "demo", 4),
}
APPLIED = {
    "plan": (["plan", "-f", "RAILS"], "plan", 0),
    "apply": (["apply", "-f", "RAILS"], "apply", 0),
    "status": (["status"], "status", 0),
    "doctor": (["doctor"], "doctor", 0),
    "workload": (["workload"], "workload", 0),
    "verify": (["verify", "--quick", "--yes", "--rails", "rail0,rail1"], "verify", 0),
    "clean-dry": (["clean", "--yes", "--dry-run"], "clean", 0),
    "clean": (["clean", "--yes"], "clean", 0),
}
BROKEN = {
    # what is run on a cluster that is broken: fault, arguments, schema, exit code
    "plan-refused": ("mlx5-uplink", ["plan", "-f", "RAILS"], "plan", 7),
    "apply-stopped": ("image-pull-fails", ["apply", "-f", "RAILS", "--yes"], "apply", 4),
    "plan-of-one-node": ("node-unreadable", ["plan", "-f", "RAILS"], "plan", 0),
    "discover-unread": ("node-unreadable", ["discover"], "snapshot", 6),
}
ERRORS = {
    # arguments, exit code, and what stderr must hold
    "no-file": (["plan", "--cluster", "sim:h200-roce", "-f", "nowhere.yaml"], 2, ["nowhere.yaml"]),
    "no-wanted-state": (["plan", "--cluster", "sim:h200-roce"], 2, ["rails.yaml", "railwright demo"]),
    "unknown-world": (["discover", "--cluster", "sim:h200-rice"], 2, ["h200-rice", "h200-roce"]),
    "unknown-fault": (["discover", "--cluster", "sim:h200-roce+mlx5-uplnk"], 2, ["mlx5-uplink"]),
    "unknown-stage": (["apply", "-f", "RAILS", "--yes", "--until", "vfs-redy"], 2, ["vfs-redy", "vfs-ready"]),
    "unknown-command": (["aply"], 2, ["aply"]),
    "unknown-rule": (["doctor", "--only", "hardware-not-labeled"], 2, ["hardware-not-labelled"]),
    "unknown-key": (["explain", "spec.metod"], 2, ["spec.metod"]),
    "unknown-fabric": (["plan", "-f", "RAILS", "--name", "north"], 2, ["north"]),
    "bad-file": (["plan", "-f", "BAD"], 2, ["bad.yaml:5:3", "metod", "method"]),
    "not-confirmed": (["apply", "-f", "RAILS"], 7, ["--yes"]),
    "refused": (
        ["apply", "-f", "RAILS", "--yes", "--cluster", "sim:h200-roce+mlx5-uplink"],
        7,
        ["uplink-would-be-cut", "br-ex > eno1"],
    ),
    "read-only": (
        ["apply", "-f", "RAILS", "--yes", "--cluster", "sim:h200-roce+api-forbidden"],
        3,
        ["permission-missing", "patch nodes worker-0"],
    ),
    "pod-and-job": (
        ["workload", "-f", "RAILS", "--pod", "--job", "--cluster", "sim:h200-roce"],
        2,
        ["leave each other out"],
    ),
    "no-names": (["verify", "--yes", "--nodes", ",", "--cluster", "sim:h200-roce"], 2, ["--nodes names nothing"]),
    "rbac-no-stage": (["explain", "--rbac", "apply", "--until", "nope"], 2, ["no stage is named 'nope'", "vfs-ready"]),
    "rbac-unused": (["explain", "--rbac", "discover", "--skip-verify"], 2, ["has no use for --skip-verify"]),
    "unchecked-unused": (["render", "-f", "RAILS", "--to", "FOLDER", "--unchecked"], 2, ["no use without --openshift"]),
    "cluster-unused": (["render", "-f", "RAILS", "--to", "FOLDER", "--openshift", "4.20"], 2, ["no use for --cluster"]),
    "key-unused": (["explain", "spec.mtu", "--subject", "User:x"], 2, ["has no use for --subject"]),
    "log-without-end": (["doctor", "--log", "/dev/zero"], 2, ["is a device"]),
    "collect-nowhere": (["collect", "--cluster", "sim:h200-roce"], 2, ["--to"]),
    "collect-over-a-file": (["collect", "--cluster", "sim:h200-roce", "--to", "RAILS"], 2, ["exists already"]),
    "collect-with-no-time": (
        ["collect", "--cluster", "sim:h200-roce", "--to", "ARCHIVE", "--node-timeout-s", "0"],
        2,
        ["--node-timeout-s"],
    ),
    "collect-nobody": (
        ["collect", "--cluster", "sim:h200-roce", "--to", "ARCHIVE", "--parallel", "0"],
        2,
        ["--parallel"],
    ),
    "no-archive": (["discover", "--cluster", "bundle:nowhere.tgz"], 2, ["nowhere.tgz", "cannot be read"]),
    "no-archive-at-all": (["discover", "--cluster", "bundle:kept/rails.yaml"], 2, ["nothing in it is known"]),
    "archive-without-a-name": (["discover", "--cluster", "bundle:"], 2, ["names no file"]),
    "archive-given-bare": (["doctor", "kept"], 2, ["next  railwright doctor --cluster bundle:kept"]),
    "file-given-bare": (["plan", "kept/rails.yaml"], 2, ["next  railwright plan -f kept/rails.yaml"]),
    "word-given-bare": (["doctor", "nowhere.tgz"], 2, ["next  railwright doctor --help"]),
    "hosted": (["apply", "-f", "RAILS", "--yes", "--cluster", "sim:hcp"], 7, ["hosted"]),
}


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run one command line; RAILS, BAD, FOLDER and ARCHIVE in it are paths."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kept").mkdir()
    files = {
        "RAILS": tmp_path / "kept" / "rails.yaml",
        "BAD": tmp_path / "kept" / "bad.yaml",
        "FOLDER": tmp_path / "out",
        "ARCHIVE": tmp_path / "collected.tgz",
    }
    files["RAILS"].write_text(rails("shared", "roce"))
    files["BAD"].write_text(rails("shared", "roce").replace("method:", "metod:"))

    def run_one(arguments, cluster="sim:h200-roce"):
        full = [str(files.get(word, word)) for word in arguments]
        if "--cluster" not in full and full[0] not in {"demo", "aply"}:
            full += ["--cluster", cluster]
        code = main(full)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.out + captured.err
        return code, captured.out, captured.err

    return run_one


@pytest.fixture(scope="module")
def applied_state(tmp_path_factory):
    """Give a simulated cluster that shared roce was applied to, as a file."""
    folder = tmp_path_factory.mktemp("applied")
    (folder / "rails.yaml").write_text(rails("shared", "roce"))
    state = folder / "state.json"
    assert main(["apply", "-f", str(folder / "rails.yaml"), "--yes", "-q", "--cluster", f"sim:h200-roce@{state}"]) == 0
    return state


def _check(output, text, schema):
    """Hold a document to its schema; all but explanations without a cluster are marked as simulated."""
    document = json.loads(text) if output == "json" else yaml.safe_load(text)
    jsonschema.validate(document, payload_schema(schema), cls=jsonschema.Draft202012Validator)
    assert document["simulated"] is (schema != "explanation")


@pytest.mark.parametrize("output", ["json", "yaml"])
@pytest.mark.parametrize("case", BARE)
def test_a_command_on_a_bare_cluster_keeps_its_schema(run, case, output):
    arguments, schema, expected = BARE[case]
    code, out, _ = run([*arguments, "-o", output])
    assert code == expected
    _check(output, out, schema)


@pytest.mark.parametrize("output", ["json", "yaml"])
@pytest.mark.parametrize("case", APPLIED)
def test_a_command_on_an_applied_cluster_keeps_its_schema(run, applied_state, tmp_path, case, output):
    arguments, schema, expected = APPLIED[case]
    state = shutil.copy(applied_state, tmp_path / "state.json")
    code, out, _ = run([*arguments, "-o", output], f"sim:h200-roce@{state}")
    assert code == expected
    _check(output, out, schema)


@pytest.mark.parametrize("output", ["json", "yaml"])
@pytest.mark.parametrize("case", BROKEN)
def test_a_command_on_a_broken_cluster_keeps_its_schema(run, case, output):
    fault, arguments, schema, expected = BROKEN[case]
    code, out, _ = run([*arguments, "-o", output], f"sim:h200-roce+{fault}")
    assert code == expected
    _check(output, out, schema)


@pytest.mark.parametrize("case", BARE)
def test_text_is_on_stdout_and_progress_is_not(run, case):
    arguments, _, expected = BARE[case]
    code, out, _ = run(arguments)
    assert code == expected
    assert out.strip()
    assert "waiting " not in out


def test_a_workload_of_a_fabric_that_was_never_applied_comes_with_a_warning(run, applied_state, tmp_path):
    arguments = ["workload", "-f", "RAILS", "-n", "training"]
    assert "warning: fabric east-west was never applied to this cluster" in run(arguments)[2]
    state = shutil.copy(applied_state, tmp_path / "state.json")
    assert "never applied" not in run(arguments, f"sim:h200-roce@{state}")[2]


@pytest.mark.parametrize("output", ["text", "json", "yaml"])
@pytest.mark.parametrize("case", ERRORS)
def test_an_error_is_on_stderr_with_its_exit_code(run, case, output):
    arguments, expected, words = ERRORS[case]
    code, out, err = run([*arguments, "-o", output] if case != "unknown-command" else arguments)
    assert code == expected
    assert out == ""
    assert [word for word in words if word not in err] == []


def test_an_error_as_json_has_the_fields_of_the_error(run):
    _, _, err = run(["explain", "spec.metod", "-o", "json"])
    error = json.loads(err)["error"]
    assert set(error) == {"code", "exit_code", "transient", "message", "hint", "context"}
    assert error["exit_code"] == 2


def test_collect_ends_with_the_command_that_judges_what_was_collected(run, tmp_path):
    _, out, _ = run(["collect", "--to", "ARCHIVE"])
    assert out.splitlines()[-1] == f"read it: railwright doctor --cluster bundle:{tmp_path / 'collected.tgz'}"


def test_apply_again_asks_nothing_and_writes_nothing(run, applied_state, tmp_path):
    state = shutil.copy(applied_state, tmp_path / "state.json")
    code, out, _ = run(["apply", "-f", "RAILS", "-o", "json"], f"sim:h200-roce@{state}")
    assert code == 0
    assert [stage["writes"] for stage in json.loads(out)["stages"] if stage["writes"]] == []


def test_render_writes_the_same_bytes_twice(run, tmp_path):
    def files():
        return {
            path.relative_to(tmp_path / "out"): path.read_bytes()
            for path in (tmp_path / "out").rglob("*")
            if path.is_file()
        }

    run(["render", "-f", "RAILS", "--to", "FOLDER"])
    first = files()
    run(["render", "-f", "RAILS", "--to", "FOLDER"])
    assert first
    assert files() == first
