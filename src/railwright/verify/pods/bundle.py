"""
Our probes as one line of text that any Python 3.11 can run: an image needs the tools, and nothing of ours.

The package is read from where it is installed, packed, and kept in memory on the other side: nothing is written to
the pod's file system.
"""

import base64
import io
import zipfile
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

START = "import sys;exec(sys.stdin.readline())"
"""What `python3 -c` is given; the rest comes on stdin, the program first and then the request, a line each."""

_NEEDED = ("dataplane", "core")
_FIRST_LINE = (
    "import os,sys,base64\n"
    "memory=os.memfd_create('railwright')\n"
    "os.write(memory,base64.b64decode({packed!r}))\n"
    "path=f'/proc/{{os.getpid()}}/fd/{{memory}}'\n"
    "sys.path.insert(0,path)\n"
    "os.environ['PYTHONPATH']=path\n"
    "from railwright.dataplane.__main__ import main\n"
    "sys.exit(main(sys.argv[1:]))\n"
)
"""
An archive in memory, which Python imports from like from any other; programs that a half starts find it there too.

Source: memfd_create(2), proc_pid_fd(5); Python's zipimport.
"""


@cache
def program() -> str:
    """Give the first line of stdin."""
    root = files("railwright")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("railwright/__init__.py", "")
        for package in _NEEDED:
            _add(archive, root / package, f"railwright/{package}")
    text = _FIRST_LINE.format(packed=base64.b64encode(packed.getvalue()).decode())
    return f"exec({text!r})\n"


def _add(archive: zipfile.ZipFile, folder: Traversable, path: str) -> None:
    for item in sorted(folder.iterdir(), key=lambda one: one.name):
        if item.is_dir() and item.name != "__pycache__":
            _add(archive, item, f"{path}/{item.name}")
        elif item.name.endswith(".py"):
            archive.writestr(f"{path}/{item.name}", item.read_text(encoding="utf-8"))
