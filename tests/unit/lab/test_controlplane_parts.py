"""What the control plane decides before anything is started."""

import asyncio
import os
import select
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from railwright.core.errors import ClusterUnreachable
from railwright.core.kinds import CLUSTER_POLICY, CONFIG_MAP, NETWORK_ATTACHMENT_DEFINITION, NODE
from railwright.core.objects import dig
from railwright.lab.controlplane import leash, programs
from railwright.lab.controlplane.definitions import (
    MARK,
    named_kinds,
    newest_folders,
    published_definitions,
    small_definition,
)
from railwright.lab.controlplane.faster_time import FasterTime
from railwright.lab.controlplane.processes import free_ports, must_run, start, stop
from railwright.lab.controlplane.programs import PROGRAMS, RECIPE, Files, Unavailable, cache_folder, ensure_programs
from railwright.lab.controlplane.seed import without_servers_own
from railwright.ports.progress import Silent

ENDS_WITHIN_S = 10


def test_the_cache_is_named_by_the_recipe_and_follows_the_environment() -> None:
    home = Path("/home/x")
    default = cache_folder({}, home)
    assert default.parent == home / ".cache" / "railwright" / "controlplane"
    assert cache_folder({"XDG_CACHE_HOME": "/c"}, home) == Path("/c/railwright/controlplane") / default.name
    assert cache_folder({"RAILWRIGHT_CACHE": "/r"}, home) == Path("/r/controlplane") / default.name


def test_every_program_has_its_module_in_the_recipe() -> None:
    for program in PROGRAMS:
        assert (RECIPE / program.module / "go.mod").is_file()
        assert (RECIPE / program.module / "go.sum").is_file()


async def test_without_go_the_answer_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAILWRIGHT_CACHE", str(tmp_path))
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert await ensure_programs(Silent()) == Unavailable("Go is not installed, and the programs are not in the cache")


async def test_a_build_that_fails_says_what_go_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go = tmp_path / "go"
    go.write_text("#!/bin/sh\necho no such module >&2; exit 1\n")
    go.chmod(0o755)
    monkeypatch.setenv("RAILWRIGHT_CACHE", str(tmp_path))
    monkeypatch.setattr(shutil, "which", lambda _: str(go))
    assert await ensure_programs(Silent()) == Unavailable("etcd could not be built: no such module")


async def test_a_folder_that_a_program_reads_is_copied_out_of_its_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "module"
    (module / "bindata").mkdir(parents=True)
    (module / "bindata" / "manifest.yaml").write_text("kind: DaemonSet\n")
    go = tmp_path / "go"
    go.write_text(f'#!/bin/sh\necho downloading >&2; echo \'{{"Dir": "{module}"}}\'\n')
    go.chmod(0o755)
    monkeypatch.setenv("RAILWRIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(shutil, "which", lambda _: str(go))
    folder = await ensure_programs(Silent(), (Files("etcd", "bindata", "example.org/operator"),))
    assert isinstance(folder, Path)
    assert (folder / "bindata" / "manifest.yaml").read_text() == "kind: DaemonSet\n"


async def test_two_that_want_the_same_programs_build_them_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go = tmp_path / "go"
    go.write_text(f'#!/bin/sh\necho built >> {tmp_path}/builds; while [ "$1" != -o ]; do shift; done; : >"$2"\n')
    go.chmod(0o755)
    monkeypatch.setenv("RAILWRIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(shutil, "which", lambda _: str(go))
    monkeypatch.setattr(programs, "LOOK_AGAIN_S", 0.01)
    first, second = await asyncio.gather(ensure_programs(Silent()), ensure_programs(Silent()))
    assert first == second
    assert (tmp_path / "builds").read_text().count("built") == len(PROGRAMS)


async def test_programs_that_are_there_are_not_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAILWRIGHT_CACHE", str(tmp_path))
    folder = cache_folder({"RAILWRIGHT_CACHE": str(tmp_path)}, tmp_path)
    folder.mkdir(parents=True)
    for program in PROGRAMS:
        (folder / program.name).touch()
    monkeypatch.setattr(shutil, "which", lambda _: pytest.fail("asked for Go"))
    assert await programs.ensure_programs(Silent()) == folder


async def test_a_process_that_ended_is_reported_with_its_last_words(tmp_path: Path) -> None:
    ended = await start("short", ["sh", "-c", "echo cannot bind; exit 7"], tmp_path)
    await ended.process.wait()
    with pytest.raises(ClusterUnreachable, match="short ended with 7: cannot bind"):
        must_run(ended)


async def test_stopping_ends_what_runs_and_nothing_else(tmp_path: Path) -> None:
    running = [await start(name, ["sleep", "600"], tmp_path) for name in ("a", "b")]
    await stop(running[:1])
    assert running[0].process.returncode is not None
    assert running[1].process.returncode is None
    await stop(running)
    assert running[1].process.returncode is not None


STARTS_AND_WAITS = """
import asyncio, pathlib, sys
from railwright.lab.controlplane.processes import start
async def main():
    started = await start("sleeper", ["sleep", "600"], pathlib.Path(sys.argv[1]))
    print(started.process.pid, flush=True)
    await started.process.wait()
asyncio.run(main())
"""
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process at its parent's death")


@linux_only
def test_a_process_does_not_outlive_a_parent_that_is_killed(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", STARTS_AND_WAITS, str(tmp_path)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        started = os.pidfd_open(int(parent.stdout.readline()))
        parent.kill()
    try:
        assert select.select([started], [], [], ENDS_WITHIN_S)[0] == [started]
    finally:
        os.close(started)


@linux_only
def test_a_program_whose_parent_has_ended_already_is_not_begun() -> None:
    nobody = "0"
    ended = subprocess.run(
        [sys.executable, leash.__file__, nobody, "echo", "begun"], check=True, capture_output=True, text=True
    )
    assert ended.stdout == ""


async def test_a_process_sees_what_it_is_given_and_where_it_is(tmp_path: Path) -> None:
    script = ["sh", "-c", "echo $GIVEN $(pwd)"]
    started = await start("says", script, tmp_path, cwd=tmp_path, environment={"GIVEN": "this"})
    assert await started.process.wait() == 0
    assert started.tail() == f"this {tmp_path}"


def test_free_ports_differ() -> None:
    assert len(set(free_ports(5))) == 5


def test_the_newest_of_each_name_is_taken_and_openshift_s_come_first() -> None:
    names = ["gpu-operator-26.3.3", "gpu-operator-26.10.0", "openshift-api-4.18", "openshift-api-4.22"]
    assert newest_folders(names) == ("openshift-api-4.22", "gpu-operator-26.10.0")


def test_published_definitions_are_read_without_status_and_the_first_of_a_name_wins(tmp_path: Path) -> None:
    for folder, scope in (("openshift-nfd-4.22", "Namespaced"), ("nfd-0.18", "Cluster")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "crd.yaml").write_text(
            f"kind: CustomResourceDefinition\nmetadata: {{name: x.y}}\nspec: {{scope: {scope}}}\nstatus: {{}}\n"
            "---\nkind: Other\n"
        )
    assert published_definitions(tmp_path) == (
        {"kind": "CustomResourceDefinition", "metadata": {"name": "x.y"}, "spec": {"scope": "Namespaced"}},
    )


def test_small_definitions_are_marked_and_named_as_upstream_names_them() -> None:
    policy, attachment = small_definition(CLUSTER_POLICY), small_definition(NETWORK_ATTACHMENT_DEFINITION)
    assert policy["metadata"]["name"] == "clusterpolicies.nvidia.com"
    assert policy["spec"]["scope"] == "Cluster"
    assert attachment["metadata"]["name"] == "network-attachment-definitions.k8s.cni.cncf.io"
    assert attachment["spec"]["scope"] == "Namespaced"
    assert dig(policy, "metadata", "annotations", MARK) == "accepts-anything"


def test_every_kind_that_core_names_is_known() -> None:
    assert {CONFIG_MAP, NODE, CLUSTER_POLICY} <= set(named_kinds())


def test_seeded_objects_lose_what_their_former_server_wrote() -> None:
    obj = {"metadata": {"name": "a", "uid": "u", "resourceVersion": "1", "labels": {"x": "y"}}, "data": {}}
    assert without_servers_own(obj) == {"metadata": {"name": "a", "labels": {"x": "y"}}, "data": {}}


def test_faster_time_runs_ahead_by_its_factor() -> None:
    walls = iter([datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 0, 0, 2, tzinfo=UTC)])
    time = FasterTime(60, wall=lambda: next(walls))
    assert time.now() - datetime(2026, 1, 1, tzinfo=UTC) == timedelta(minutes=2)
