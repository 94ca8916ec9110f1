"""What virtual nodes are made of: images, settings, command lines, and what is ours on their disk."""

import io
import json
import subprocess
import tarfile
from pathlib import Path

import pytest

from railwright.lab.cluster import machine, programs, recipe
from railwright.lab.cluster.disk import Disk
from railwright.lab.cluster.images import ImageFiles, write_image
from railwright.lab.cluster.root import short_pci_ids
from railwright.lab.cluster.shape import Shape, kubelet_address, segments, settings_text
from railwright.lab.rdma.cpio import Archive
from railwright.lab.rdma.tools import Emulator

GUEST = Path(machine.__file__).parent / "guest"
PCI_IDS = """# a comment
10de  NVIDIA Corporation
\t2330  GH100 [H100 SXM5 80GB]
\t\t10de 16c1  a board
1022  Advanced Micro Devices
\t1480  Starship Root Complex
C 02  Network controller
\t00  Ethernet controller
"""


def settings(number: int, shape: Shape) -> dict[str, str]:
    lines = settings_text(shape, number).splitlines()
    return {key: value.strip('"') for key, _, value in (line.partition("=") for line in lines)}


def a_disk(folder: Path) -> Disk:
    first = Archive()
    first.file("init", b"first")
    (folder / "first").write_bytes(first.close())
    return Disk(folder / "kernel", folder / "first", folder / "disk")


def test_an_image_reads_back_as_containerd_reads_it(tmp_path: Path) -> None:
    (tmp_path / "program").write_text("#!/bin/sh\n")
    write_image(ImageFiles("localhost/a:1", {"bin/a": tmp_path / "program"}, ("/bin/a",)), tmp_path / "image.tar")
    with tarfile.open(tmp_path / "image.tar") as archive:
        blobs = {name: member.read() for name in archive.getnames() if (member := archive.extractfile(name))}
    entry = json.loads(blobs["index.json"])["manifests"][0]
    manifest = json.loads(blobs[f"blobs/sha256/{entry['digest'].removeprefix('sha256:')}"])
    config = json.loads(blobs[f"blobs/sha256/{manifest['config']['digest'].removeprefix('sha256:')}"])
    layer = blobs[f"blobs/sha256/{manifest['layers'][0]['digest'].removeprefix('sha256:')}"]
    assert entry["annotations"] == {"io.containerd.image.name": "localhost/a:1"}
    assert config["config"]["Entrypoint"] == ["/bin/a"]
    with tarfile.open(fileobj=io.BytesIO(layer)) as inside:
        assert inside.getmember("bin/a").uid == 0
        assert inside.getmember("tmp").mode == 0o1777


def test_an_image_stands_for_another_under_its_name(tmp_path: Path) -> None:
    (tmp_path / "program").write_text("#!/bin/sh\n")
    image = ImageFiles("localhost/a:1", {"bin/a": tmp_path / "program"}, stands_for=("example.com/a:2",))
    write_image(image, tmp_path / "image.tar")
    with tarfile.open(tmp_path / "image.tar") as archive:
        index = archive.extractfile("index.json")
        entries = json.loads(index.read())["manifests"] if index else []
    names = [entry["annotations"]["io.containerd.image.name"] for entry in entries]
    assert names == ["localhost/a:1", "example.com/a:2"]
    assert len({entry["digest"] for entry in entries}) == 1


def test_the_same_files_give_the_same_image(tmp_path: Path) -> None:
    (tmp_path / "program").write_text("#!/bin/sh\n")
    for name in ("one.tar", "two.tar"):
        write_image(ImageFiles("localhost/a:1", {"bin/a": tmp_path / "program"}), tmp_path / name)
        (tmp_path / "program").touch()
    assert (tmp_path / "one.tar").read_bytes() == (tmp_path / "two.tar").read_bytes()


def test_nodes_differ_in_what_they_are_told_and_know_each_other() -> None:
    shape = Shape(nodes=3)
    told = [settings(number, shape) for number in shape.numbers()]
    assert [each["NODE"] for each in told] == ["node-1", "node-2", "node-3"]
    assert told[1]["PEERS"] == "1:10.88.0.11 3:10.88.0.13"
    assert len({each["ADDRESS"] for each in told}) == 3


def test_a_node_has_one_nic_a_rail_and_its_kubelet_is_reached_from_here(tmp_path: Path) -> None:
    shape = Shape(nodes=2, rails=2, network=7)
    argv = machine.command(Emulator(("qemu",), (10, 0)), a_disk(tmp_path), shape, 2, tmp_path)
    rails = [word for word in argv if word.startswith("igb,")]
    assert [word.rpartition("=")[2] for word in rails] == ["52:54:00:00:10:02", "52:54:00:00:11:02"]
    assert f"hostfwd=tcp:{kubelet_address(shape, 2)}:10250-:10250" in " ".join(argv)
    for socket in segments(shape, tmp_path):
        assert sum(f"addr.path={socket}" in word for word in argv) == 1


def test_what_is_ours_follows_what_finds_the_disk(tmp_path: Path) -> None:
    disk = a_disk(tmp_path)
    data = machine.first_file_system(disk, Shape(), 1, '{"kind": "Config"}')
    assert data.startswith(disk.first.read_bytes())
    for name in (
        b"own/usr/lib/railwright/init\0",
        b"own/etc/railwright/kubeconfig\0",
        b"own/usr/lib/railwright/agent.py\0",
    ):
        assert name in data


def test_pci_ids_are_cut_to_vendors_of_a_node_and_to_classes(tmp_path: Path) -> None:
    folder = tmp_path / "usr/share/misc"
    folder.mkdir(parents=True)
    (folder / "pci.ids").write_text(PCI_IDS)
    kept = short_pci_ids(tmp_path).decode()
    assert "GH100" in kept
    assert "Ethernet controller" in kept
    assert "Starship" not in kept
    assert "a board" not in kept


def test_every_script_of_a_node_is_one_that_its_shell_takes() -> None:
    for name in ("init", "init-first", "dress-rails", "cni-rail", "runtime"):
        subprocess.run(["sh", "-n", str(GUEST / name)], check=True)


def test_another_recipe_is_another_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    before = recipe.recipe_hash()
    monkeypatch.setattr(recipe, "GROUPS", programs.GROUPS[:-1])
    assert recipe.recipe_hash() != before
