"""Rights as the roles that grant them: a ClusterRole, a Role for each namespace, and bindings where it is said for whom."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from railwright.core.errors import UsageError
from railwright.core.kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING
from railwright.core.needs import Need, least
from railwright.core.objects import Kind, KubeObject
from railwright.manifests.yamltext import to_yaml
from railwright.report.model import Document

_GROUP = ROLE.group
Rule = dict[str, list[str]]


@dataclass(frozen=True)
class Grant:
    """
    What to write roles for.

    Attributes:
        command: whose rights they are.
        made: namespaces that have to be there before Roles can be in them; they come first.
        subject: "User:NAME", "Group:NAME" or "ServiceAccount:NAMESPACE/NAME"; "" for no bindings.
        notes: what a reader should know, a line each.
    """

    command: str
    needs: tuple[Need, ...]
    made: tuple[KubeObject, ...] = ()
    subject: str = ""
    notes: tuple[str, ...] = ()
    cluster: str = ""
    simulated: bool = False


def rbac_document(grant: Grant) -> Document:
    """
    Write the roles; the text is what `oc apply -f -` takes.

    Raises:
        UsageError: the subject is spelt otherwise.
    """
    objects = roles_of(grant)
    powers = powers_of(grant.needs)
    lines = [f"What railwright {grant.command} needs, and nothing more.", *grant.notes]
    lines += [f"As good as root: {need}: {why}" for need, why in powers]
    comment = "".join(f"# {line}\n" for line in lines)
    payload: Mapping[str, Any] = {
        "command": grant.command,
        "objects": list(objects),
        "powers": [{"right": need, "why": why} for need, why in powers],
        "notes": list(grant.notes),
    }
    text = comment + "---\n".join(["", *(to_yaml(obj) for obj in objects)])
    return Document("rbac/v1alpha1", grant.cluster, grant.simulated, payload, text, is_yaml=True)


def roles_of(grant: Grant) -> tuple[KubeObject, ...]:
    """Give namespaces, roles and bindings, in the order in which they have to be made."""
    name = f"railwright-{grant.command}"
    by_namespace: dict[str, list[Need]] = defaultdict(list)
    for need in least(grant.needs):
        by_namespace[need.namespace].append(need)
    objects = [_without_owner(obj) for obj in grant.made if obj["metadata"]["name"] in by_namespace]
    for namespace, needs in sorted(by_namespace.items()):
        kind, binding = (ROLE, ROLE_BINDING) if namespace else (CLUSTER_ROLE, CLUSTER_ROLE_BINDING)
        metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
        objects.append(_typed(kind, metadata, rules=rules_of(needs)))
        if grant.subject:
            reference = {"apiGroup": _GROUP, "kind": kind.kind, "name": name}
            objects.append(_typed(binding, metadata, roleRef=reference, subjects=[_subject(grant.subject)]))
    return tuple(objects)


def rules_of(needs: Iterable[Need]) -> list[Rule]:
    """Put rights of one namespace into as few rules as say no more than they do."""
    verbs: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for need in needs:
        verbs[need.group, need.resource, need.name].add(need.verb)
    names: dict[tuple[str, str, tuple[str, ...]], set[str]] = defaultdict(set)
    for (group, resource, name), some in verbs.items():
        names[group, resource, tuple(sorted(some))].add(name)
    resources: dict[tuple[str, bool, tuple[str, ...], tuple[str, ...]], set[str]] = defaultdict(set)
    for (group, resource, some_verbs), several in names.items():
        for part in ({""} & several, several - {""}):
            if part:
                resources[group, resource.startswith("/"), tuple(sorted(part - {""})), some_verbs].add(resource)
    return [
        _rule(group, sorted(some), list(named), list(words))
        for (group, _, named, words), some in sorted(resources.items())
    ]


def _rule(group: str, resources: list[str], names: list[str], verbs: list[str]) -> Rule:
    if resources[0].startswith("/"):
        return {"nonResourceURLs": resources, "verbs": verbs}
    rule: Rule = {"apiGroups": [group], "resources": resources}
    if names:
        rule["resourceNames"] = names
    return {**rule, "verbs": verbs}


def _typed(kind: Kind, metadata: Mapping[str, str], **rest: Any) -> KubeObject:
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": dict(metadata), **rest}


def _without_owner(obj: KubeObject) -> KubeObject:
    """Leave out that railwright manages it: it does not, when somebody else makes it, and clean leaves it."""
    labels = {
        key: value for key, value in obj["metadata"].get("labels", {}).items() if key != "app.kubernetes.io/managed-by"
    }
    metadata = {key: value for key, value in obj["metadata"].items() if key != "labels"}
    return {**obj, "metadata": {**metadata, **({"labels": labels} if labels else {})}}


def _subject(text: str) -> dict[str, str]:
    kind, _, name = text.partition(":")
    namespace, _, account = name.partition("/")
    if kind in {"User", "Group"} and name:
        return {"apiGroup": _GROUP, "kind": kind, "name": name}
    if kind == "ServiceAccount" and namespace and account:
        return {"kind": kind, "namespace": namespace, "name": account}
    message = f"--subject {text!r} names nobody"
    raise UsageError(message, hint="User:NAME, Group:NAME or ServiceAccount:NAMESPACE/NAME")


# --- what equals root -------------------------------------------------------------------------------------------------

_READS = frozenset({"get", "list", "watch"})
_POWERS: Mapping[tuple[str, str], str] = {
    ("", "pods/exec"): "a command in a privileged pod runs as root on its node",
    ("", "secrets"): "credentials of whoever has them there can be read",
    ("machineconfiguration.openshift.io", "machineconfigs"): "writes files, units and kernel arguments of nodes",
    ("machineconfiguration.openshift.io", "kubeletconfigs"): "configures the kubelet of nodes",
    ("security.openshift.io", "securitycontextconstraints"): "decides which pods may be privileged",
    ("mellanox.com", "nicclusterpolicies"): "names the images of privileged DaemonSets",
    ("nvidia.com", "clusterpolicies"): "names the images of privileged DaemonSets",
    ("nfd.openshift.io", "nodefeaturediscoveries"): "names the image of a DaemonSet that mounts the host",
    ("operators.coreos.com", "subscriptions"): "installs operators with the rights that they bring",
    ("operators.coreos.com", "installplans"): "installs operators with the rights that they bring",
    ("nmstate.io", "nodenetworkconfigurationpolicies"): "configures the network of nodes",
    ("k8s.cni.cncf.io", "network-attachment-definitions"): "CNI plugins run with it, as root on nodes",
}
"""Resources on which more than reading (of Secrets: reading) makes somebody as mighty as root on nodes."""


def powers_of(needs: Iterable[Need]) -> tuple[tuple[str, str], ...]:
    """Name the rights that equal root on nodes or come near it, each resource once, with why."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for need in needs:
        key = need.group, need.resource
        if key in _POWERS and (need.verb not in _READS or key[1] in {"secrets", "pods/exec"}):
            found[key].add(need.verb)
    return tuple(
        (f"{' '.join(sorted(verbs))} {'.'.join(part for part in (resource, group) if part)}", _POWERS[group, resource])
        for (group, resource), verbs in sorted(found.items())
    )
