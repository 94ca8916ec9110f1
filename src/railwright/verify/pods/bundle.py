"""
Our probes as one line of text that any Python 3.11 can run: an image needs the tools, and nothing of ours.

The package is read from where it is installed, packed, and unpacked in memory on the other side; nothing is written
to the pod's file system.
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
    "import sys,io,zipfile,base64,types,importlib.abc,importlib.util as u\n"
    "z=zipfile.ZipFile(io.BytesIO(base64.b64decode({packed!r})))\n"
    "n=set(z.namelist())\n"
    "class F(importlib.abc.MetaPathFinder,importlib.abc.InspectLoader):\n"
    " def p(s,m):\n"
    "  b=m.replace('.','/')\n"
    "  return next((f for f in (b+'/__init__.py',b+'.py') if f in n),None)\n"
    " def find_spec(s,m,path=None,target=None):\n"
    "  f=s.p(m)\n"
    "  return u.spec_from_loader(m,s,is_package=f.endswith('__init__.py')) if f else None\n"
    " def is_package(s,m):return s.p(m).endswith('__init__.py')\n"
    " def get_source(s,m):return z.read(s.p(m)).decode()\n"
    "sys.meta_path.insert(0,F())\n"
    "from railwright.dataplane.__main__ import main\n"
    "sys.exit(main(sys.argv[1:]))\n"
)


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
