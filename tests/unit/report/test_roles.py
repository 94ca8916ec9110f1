"""Rights written as roles: as few rules as say no more, a Role a namespace, and what equals root named in front."""

import pytest
import yaml

from railwright.core.errors import UsageError
from railwright.core.needs import Need
from railwright.report.rbac import Grant, powers_of, rbac_document, roles_of, rules_of

LIST_PODS = Need("", "pods", "list")
EXEC = Need("", "pods/exec", "get", "openshift-multus")
URL = Need("", "/version", "get")
SPACE = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": "here", "labels": {"app.kubernetes.io/managed-by": "railwright", "a": "b"}},
}


@pytest.mark.parametrize(
    ("needs", "rules"),
    [
        (
            (LIST_PODS, Need("", "nodes", "list")),
            [{"apiGroups": [""], "resources": ["nodes", "pods"], "verbs": ["list"]}],
        ),
        (
            (Need("g", "as", "get", "", "one"), Need("g", "as", "get", "", "two"), Need("g", "as", "patch", "", "one")),
            [
                {"apiGroups": ["g"], "resources": ["as"], "resourceNames": ["one"], "verbs": ["get", "patch"]},
                {"apiGroups": ["g"], "resources": ["as"], "resourceNames": ["two"], "verbs": ["get"]},
            ],
        ),
        (
            (Need("g", "as", "get"), Need("g", "as", "get", "", "one")),
            [
                {"apiGroups": ["g"], "resources": ["as"], "verbs": ["get"]},
                {"apiGroups": ["g"], "resources": ["as"], "resourceNames": ["one"], "verbs": ["get"]},
            ],
        ),
        (
            (URL, Need("", "pods/log", "get")),
            [
                {"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]},
                {"nonResourceURLs": ["/version"], "verbs": ["get"]},
            ],
        ),
    ],
)
def test_rules_say_what_is_needed_and_no_more(needs: tuple[Need, ...], rules: list[object]) -> None:
    assert rules_of(needs) == rules


def test_namespaces_come_first_then_a_cluster_role_and_a_role_for_each_namespace() -> None:
    needs = (LIST_PODS, EXEC, Need("", "configmaps", "patch", "here"))
    objects = roles_of(Grant("apply", needs, made=(SPACE,), subject="ServiceAccount:ci/runner"))
    assert [(obj["kind"], obj["metadata"].get("namespace", "")) for obj in objects] == [
        ("Namespace", ""),
        ("ClusterRole", ""),
        ("ClusterRoleBinding", ""),
        ("Role", "here"),
        ("RoleBinding", "here"),
        ("Role", "openshift-multus"),
        ("RoleBinding", "openshift-multus"),
    ]
    assert objects[0]["metadata"]["labels"] == {"a": "b"}, "whoever makes it owns it, and clean leaves it"
    assert objects[2]["subjects"] == [{"kind": "ServiceAccount", "namespace": "ci", "name": "runner"}]


@pytest.mark.parametrize("subject", ["alice", "User:", "ServiceAccount:only-a-name", "Robot:x"])
def test_a_subject_that_is_spelt_otherwise_is_refused(subject: str) -> None:
    with pytest.raises(UsageError, match="names nobody"):
        roles_of(Grant("plan", (LIST_PODS,), subject=subject))


def test_the_text_is_yaml_that_can_be_applied_and_names_what_equals_root() -> None:
    document = rbac_document(Grant("discover", (LIST_PODS, EXEC)))
    assert [obj["kind"] for obj in yaml.safe_load_all(document.text)] == ["ClusterRole", "Role"]
    assert "# As good as root: get pods/exec: a command in a privileged pod runs as root on its node" in document.text


@pytest.mark.parametrize(
    ("need", "is_power"),
    [
        (EXEC, True),
        (Need("", "secrets", "list", "here"), True),
        (Need("machineconfiguration.openshift.io", "machineconfigs", "patch"), True),
        (Need("machineconfiguration.openshift.io", "machineconfigs", "list"), False),
        (Need("security.openshift.io", "securitycontextconstraints", "use", held=True), True),
        (LIST_PODS, False),
    ],
)
def test_what_equals_root_is_told_from_reading(need: Need, *, is_power: bool) -> None:
    assert bool(powers_of((need,))) is is_power
