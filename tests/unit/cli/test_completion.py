"""Completion, as kubectl and oc ask for it."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from support.uncovered import record

from railwright.cli.completion import complete

_CASES = {
    "a command": (["pl"], ["plan"], ":4"),
    "nothing yet": ([""], ["discover", "plan", "apply"], ":4"),
    "an option": (["plan", "--met"], ["--method"], ":4"),
    "a choice": (["plan", "--method", "s"], ["shared", "sriov"], ":4"),
    "a choice behind its option": (["plan", "--method=s"], ["--method=shared", "--method=sriov"], ":4"),
    "a file": (["plan", "-f", ""], [], ":0"),
    "a command below": (["lab", "cluster", "kube"], ["kubeconfig"], ":4"),
    "a word that is none": (["plam", "--method", ""], [], ":4"),
}


@pytest.mark.parametrize("case", _CASES)
def test_candidates_come_a_line_each_with_the_directive_last(case: str) -> None:
    words, expected, directive = _CASES[case]
    *found, last = complete(words).splitlines()
    assert last == directive
    values = [line.partition("\t")[0] for line in found]
    if case == "nothing yet":
        assert set(expected) <= set(values)
    else:
        assert values == expected


def test_every_way_to_be_called_has_its_completion() -> None:
    scripts = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]["scripts"]
    plugins = {name for name in scripts if name.startswith(("kubectl-", "oc-"))}
    assert {name.replace("-", "_complete-", 1) for name in plugins} == {
        name for name, target in scripts.items() if target == "railwright.__main__:complete"
    }


def test_kubectl_itself_completes(tmp_path: Path) -> None:
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        record("completion by kubectl", "kubectl is not on the PATH")
        pytest.skip("kubectl is not on the PATH")
    for name, called in (("kubectl-railwright", "main"), ("kubectl_complete-railwright", "complete")):
        script = tmp_path / name
        script.write_text(f"#!{sys.executable}\nfrom railwright.__main__ import {called}\n{called}()\n")
        script.chmod(0o755)
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    asked = subprocess.run(
        [kubectl, "__complete", "railwright", "plan", "--method", "s"],
        env={**os.environ, "PATH": path, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert asked.stdout.splitlines()[:3] == ["shared", "sriov", ":4"]
