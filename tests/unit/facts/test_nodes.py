"""Pools, selectors, quantities and pods, as the API server writes them."""

import pytest

from railwright.facts.nodes import node_of, pools_of, quantity, selects
from railwright.facts.pods import pod_of

ROLE = "node-role.kubernetes.io/"


def a_node(name, *roles):
    labels = {f"{ROLE}{role}": "" for role in roles}
    return node_of({"metadata": {"name": name, "labels": labels}}, has_worker_label=True)


def a_pool(name, selector, **rest):
    return {"metadata": {"name": name}, "spec": {"nodeSelector": selector, **rest.pop("spec", {})}, **rest}


@pytest.mark.parametrize(
    ("text", "expected"),
    [("8", 8), ("1k", 1000), ("2Ki", 2048), ("1.5k", 1500), ("1M", 10**6), ("100m", None), ("", None), ("-1", None)],
)
def test_a_quantity_is_a_whole_number_or_nothing(text, expected):
    assert quantity(text) == expected


def test_a_node_is_ruled_by_one_pool_master_before_custom_before_worker():
    pools = pools_of(
        [
            a_pool("worker", {"matchLabels": {f"{ROLE}worker": ""}}),
            a_pool("gpu", {"matchExpressions": [{"key": f"{ROLE}gpu", "operator": "Exists"}]}),
            a_pool("master", {"matchLabels": {f"{ROLE}master": ""}}),
            a_pool("nobody", {}),
        ],
        (a_node("a", "worker"), a_node("b", "worker", "gpu"), a_node("c", "master", "worker"), a_node("d")),
    )
    assert {pool.name: pool.nodes for pool in pools} == {
        "gpu": ("b",),
        "master": ("c",),
        "nobody": (),
        "worker": ("a",),
    }


def test_a_pool_says_how_it_is_and_why():
    conditions = [
        {"type": "Updated", "status": "False"},
        {"type": "Updating", "status": "True", "message": "rolling"},
        {"type": "NodeDegraded", "status": "True", "message": "node w0 is stuck"},
        {"type": "Degraded", "status": "True", "message": ""},
    ]
    (pool,) = pools_of([a_pool("worker", {}, spec={"paused": True}, status={"conditions": conditions})], ())
    assert (pool.updated, pool.updating, pool.degraded, pool.paused) == (False, True, True, True)
    assert pool.message == "node w0 is stuck"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ({"key": "a", "operator": "In", "values": ["1"]}, True),
        ({"key": "a", "operator": "In", "values": ["2"]}, False),
        ({"key": "a", "operator": "NotIn", "values": ["1"]}, False),
        ({"key": "b", "operator": "NotIn", "values": ["1"]}, True),
        ({"key": "a", "operator": "Exists"}, True),
        ({"key": "a", "operator": "DoesNotExist"}, False),
        ({"key": "a", "operator": "Later"}, False),
    ],
)
def test_selectors_judge_as_kubernetes_does(expression, expected):
    assert selects({"matchExpressions": [expression]}, {"a": "1"}) is expected


def test_a_pod_needs_the_sum_of_its_containers_or_its_largest_init_container():
    def container(count):
        return {"resources": {"limits": {"nvidia.com/gpu": count}}}

    spec = {"containers": [container("2"), container("1")], "initContainers": [container("4")]}
    owners = [{"kind": "Job", "name": "train", "controller": True}]
    obj = {
        "metadata": {
            "namespace": "t",
            "name": "p",
            "ownerReferences": owners,
            "annotations": {"k8s.v1.cni.cncf.io/networks": "rail0"},
        },
        "spec": spec,
    }
    pod = pod_of(obj, frozenset())
    assert pod is not None
    assert (pod.requests, pod.owner, pod.networks, pod.node) == ({"nvidia.com/gpu": 4}, "Job/train", "rail0", None)


def test_tolerating_no_schedule_decides_who_is_a_worker_where_no_label_does():
    closed = [{"key": f"{ROLE}control-plane", "effect": "NoSchedule"}]
    labels = {f"{ROLE}control-plane": ""}

    def worker(taints):
        obj = {"metadata": {"name": "n", "labels": labels}, "spec": {"taints": taints}}
        return node_of(obj, has_worker_label=False).is_worker

    assert (worker(closed), worker([])) == (False, True)
