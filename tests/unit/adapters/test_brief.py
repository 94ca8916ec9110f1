"""Lists in brief: facts read the same from them as from whole objects."""

import json
from pathlib import Path

import msgspec
import pytest

from railwright.adapters.brief import decode_brief, has_brief_form
from railwright.core.kinds import CONFIG_MAP, NODE, POD
from railwright.facts.nodes import node_of
from railwright.facts.pods import pod_of

CASES = Path(__file__).parents[2] / "cases" / "facts" / "pods"
A_NODE = {
    "metadata": {
        "name": "worker-0",
        "labels": {"node-role.kubernetes.io/worker": ""},
        "annotations": {"a": "b"},
        "managedFields": [{"manager": "kubelet", "fieldsV1": {"f:status": {}}}],
    },
    "spec": {"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}], "unschedulable": True},
    "status": {
        "allocatable": {"cpu": "128", "nvidia.com/gpu": "8"},
        "conditions": [{"type": "Ready", "status": "True"}],
        "addresses": [{"type": "InternalIP", "address": "10.0.0.20"}],
        "nodeInfo": {"architecture": "amd64", "kernelVersion": "5.14.0", "osImage": "RHCOS"},
        "images": [{"names": ["registry.invalid/image"], "sizeBytes": 1}],
    },
}


def page(*items: object, token: str = "") -> bytes:
    return json.dumps({"metadata": {"continue": token, "resourceVersion": "7"}, "items": items}).encode()


def test_a_node_in_brief_says_the_same_and_has_no_images():
    (brief,), token = decode_brief(NODE, page(A_NODE, token="next"))
    assert token == "next"
    assert node_of(brief, has_worker_label=True) == node_of(A_NODE, has_worker_label=True)
    assert "images" not in brief["status"]
    assert "managedFields" not in brief["metadata"]


@pytest.mark.parametrize("path", sorted(CASES.glob("*.json")), ids=lambda path: path.stem)
def test_a_pod_in_brief_says_the_same(path):
    whole = json.loads(path.read_text())["pod"]
    (brief,), token = decode_brief(POD, page(whole))
    assert (pod_of(brief, frozenset()), token) == (pod_of(whole, frozenset()), "")


def test_other_kinds_have_no_brief_form():
    assert not has_brief_form(CONFIG_MAP)


@pytest.mark.parametrize("content", [b"[]", b'{"items": 3}', b'{"items": [{"metadata": {}}]}', b"<html>"])
def test_what_is_no_list_is_refused(content):
    with pytest.raises(msgspec.DecodeError):
        decode_brief(POD, content)
