"""Nodes over ssh, with a program that stands in for the OpenSSH client."""

import json
import sys
from pathlib import Path

import pytest

from railwright.adapters.programs import say
from railwright.adapters.ssh import SshNodes
from railwright.core.errors import NotFound
from railwright.core.ids import NodeName
from railwright.core.objects import KubeObject, Ref
from railwright.ports.access import NodeAccess

CLIENT = """
import json, sys
words = sys.argv[1:]
place = words[words.index("--") + 1]
if "down" in place:
    sys.exit(print("ssh: connect to host down port 22: No route to host", file=sys.stderr) or 255)
if "weak" in place:
    sys.exit(print("sudo: a password is required", file=sys.stderr) or 1)
print(json.dumps({"words": words, "stdin": sys.stdin.read()}))
"""


class Nodes:
    """Node objects by name."""

    def __init__(self, **addresses: str) -> None:
        self.addresses = addresses

    async def get(self, ref: Ref) -> KubeObject:
        if ref.name not in self.addresses:
            raise NotFound(f"{ref} does not exist")
        return {"status": {"addresses": [{"type": "InternalIP", "address": self.addresses[ref.name]}]}}


@pytest.fixture
def client(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "ssh.py").write_text(CLIENT)
    return sys.executable, str(tmp_path / "ssh.py")


async def test_a_node_is_reached_at_its_address_without_questions(client):
    nodes = SshNodes(Nodes(w1="10.0.0.20"), NodeAccess(via="ssh"), client=client)
    answer = await nodes.read(NodeName("w1"), "echo hello", timeout_s=10)
    assert (answer.via, answer.problem) == ("ssh core@10.0.0.20", "")
    told = json.loads(answer.text)
    assert told["stdin"] == "echo hello"
    assert "BatchMode=yes" in told["words"]
    assert told["words"][told["words"].index("--") + 1] == "core@10.0.0.20"


async def test_a_person_says_where_a_node_is(client):
    access = NodeAccess(via="ssh", ssh_user="admin", ssh_hosts={NodeName("w1"): "gw.example", NodeName("w2"): "me@h"})
    nodes = SshNodes(Nodes(), access, client=client)
    assert (await nodes.read(NodeName("w1"), "", timeout_s=10)).via == "ssh admin@gw.example"
    assert (await nodes.read(NodeName("w2"), "", timeout_s=10)).via == "ssh me@h"


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("down", "ssh core@down: ssh: connect to host down port 22: No route to host"),
        ("weak", "ssh core@weak: the script ended with 1 and said: sudo: a password is required"),
        ("-oProxyCommand=reboot", "not a host to log in to"),
        ("a b", "not a host to log in to"),
    ],
)
async def test_a_node_that_cannot_be_reached_says_why(client, place, said):
    access = NodeAccess(via="ssh", ssh_hosts={NodeName("w1"): place})
    answer = await SshNodes(Nodes(), access, client=client).read(NodeName("w1"), "", timeout_s=10)
    assert answer.text == ""
    assert said in answer.problem


async def test_a_node_that_is_not_there_says_so(client):
    answer = await SshNodes(Nodes(), NodeAccess(via="ssh"), client=client).read(NodeName("w9"), "", timeout_s=10)
    assert "Node w9 does not exist" in answer.problem


async def test_a_missing_client_is_told():
    access = NodeAccess(via="ssh", ssh_hosts={NodeName("w1"): "h"})
    nodes = SshNodes(Nodes(), access, client=("/nowhere/ssh",))
    assert "/nowhere/ssh cannot be run" in (await nodes.read(NodeName("w1"), "", timeout_s=10)).problem


async def test_a_program_that_never_stops_printing_is_ended(monkeypatch):
    monkeypatch.setattr("railwright.adapters.programs.MOST_BYTES", 1 << 20)
    said = await say(("sh", "-c", "while :; do printf '%01048576d' 0; done"), "", timeout_s=30)
    assert said.problem == "it printed more than 1 MiB"


async def test_a_program_that_never_ends_is_ended_with_all_that_it_started():
    said = await say(("sh", "-c", "tail -f /dev/null & tail -f /dev/null"), "", timeout_s=0.05)
    assert said.problem == "the script did not end within 0.05 s"
