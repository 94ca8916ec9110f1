"""
The machine's second file system, appended to the first: our own code that runs inside.

It is apart from image.py, whose text is part of what names an image: a changed probe needs no new image.
"""

from pathlib import Path

from railwright.lab.rdma.cpio import Archive

_PARTS = (
    "__init__.py",
    "core/__init__.py",
    "core/ids.py",
    "core/version.py",
    "dataplane",
    "lab/__init__.py",
    "lab/rdma/__init__.py",
    "lab/rdma/guest",
)
"""The probes, the agent and what they import, and nothing more: any change makes a machine useless that was kept."""
_PLACE = "usr/lib/railwright/railwright"


def own_file_system(package: Path) -> bytes:
    """Put it together from the folder of our package."""
    archive = Archive()
    for part in _PARTS:
        path = package / part
        for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
            archive.file(f"{_PLACE}/{file.relative_to(package).as_posix()}", file.read_bytes())
    return archive.close()
