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
    "{then}"
)
"""
An archive in memory, which Python imports from like from any other; programs that a half starts find it there too.

Source: memfd_create(2), proc_pid_fd(5); Python's zipimport.
"""
_RUN_ONE = "from railwright.dataplane.__main__ import main\nsys.exit(main(sys.argv[1:]))\n"
_SERVE = "from railwright.dataplane.serving import serve\nserve({name!r})\nos._exit(0)\n"
_ASK = (
    "import _socket,os,sys,time\n"
    "request,serving,program=sys.stdin.readline(),sys.stdin.readline(),sys.stdin.readline()\n"
    "line=_socket.socket(_socket.AF_UNIX,_socket.SOCK_STREAM)\n"
    "child=ended=0\n"
    "while True:\n"
    "    try:\n"
    "        line.connect('\\0'+{name!r})\n"
    "        break\n"
    "    except OSError:\n"
    "        if ended:\n"
    "            import io\n"
    "            sys.stdin=io.StringIO(request)\n"
    "            exec(program)\n"
    "    if not child:\n"
    "        child=os.fork()\n"
    "        if not child:\n"
    "            exec(serving)\n"
    "    ended=os.waitpid(child,os.WNOHANG)[0]\n"
    "    time.sleep(0.02)\n"
    "line.sendall(sys.argv[-1].encode()+b' '+request.encode())\n"
    "while data:=line.recv(65536):\n"
    "    os.write(1,data)\n"
)
"""
Asks whoever has our probes loaded in this pod; makes somebody be there when nobody is, and runs alone where that fails.

It loads next to nothing: that is all that it is for.
"""


@cache
def program() -> str:
    """Give the first line of stdin; the request is the second."""
    return _line(_FIRST_LINE.format(packed=_packed(), then=_RUN_ONE))


@cache
def program_kept(name: str) -> tuple[str, str]:
    """
    Give what is before the request on stdin and what is after it, where our probes stay loaded between requests.

    Args:
        name: of whoever keeps them, in the pod's network namespace.
    """
    serving = _FIRST_LINE.format(packed=_packed(), then=_SERVE.format(name=name))
    return _line(_ASK.format(name=name)), _line(serving) + program()


def _line(text: str) -> str:
    return f"exec({text!r})\n"


@cache
def _packed() -> str:
    root = files("railwright")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("railwright/__init__.py", "")
        for package in _NEEDED:
            _add(archive, root / package, f"railwright/{package}")
    return base64.b64encode(packed.getvalue()).decode()


def _add(archive: zipfile.ZipFile, folder: Traversable, path: str) -> None:
    for item in sorted(folder.iterdir(), key=lambda one: one.name):
        if item.is_dir() and item.name != "__pycache__":
            _add(archive, item, f"{path}/{item.name}")
        elif item.name.endswith(".py"):
            archive.writestr(f"{path}/{item.name}", item.read_text(encoding="utf-8"))
