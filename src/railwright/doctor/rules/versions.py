"""Versions that are in use: against each other, against the platform, against known defects."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, auto

from railwright.catalog.model import DefectEntry
from railwright.core import kinds
from railwright.core.ids import NodeName, RuleId
from railwright.core.objects import Ref, dig, ref_of
from railwright.core.risk import Risk
from railwright.doctor import nic_policy
from railwright.doctor.commands import oc
from railwright.doctor.marks import MARKS, marks_of
from railwright.doctor.model import (
    Condition,
    Evidence,
    Finding,
    Layer,
    Remedy,
    Rule,
    RuleInfo,
    Severity,
    Unknown,
    conclude,
)
from railwright.doctor.needs import BY_OPERATORS, NODES, objects, single
from railwright.doctor.operators import GPU, NETWORK, Installed, version_number
from railwright.doctor.seen import Seen
from railwright.doctor.subjects import DRIVER_CONTAINERS

VERSION_FAILS_HERE = RuleInfo(
    name=RuleId("version-known-to-fail-here"),
    title="A version in use has a defect that matters here, or was not made to run here",
    layer=Layer.CLUSTER,
    severity=Severity.WARNING,
    text="The catalog lists defects of operators, of their components and of OpenShift: from which version to which, and what "
    "of a cluster must be so for them to matter. It also knows which OpenShift releases an operator's bundle was made for. "
    "Components of NicClusterPolicy do not follow an update of the operator by themselves; that is only remarked. A version "
    "that is not known is not judged; where only the minor release is known to have a defect, the newest z-stream may be free "
    "of it.",
    source="the catalog's list of defects, each with its own source and date; redhat-openshift-ecosystem/certified-operators "
    "3b7b563a, bundle annotations; Mellanox/network-operator-docs 0c0ecad, platform support",
    needs=(BY_OPERATORS, *MARKS, single(Ref(kinds.CLUSTER_VERSION, "", "version"))),
    covers=("B010", "B017", "B022", "B030", "B051", "B054", "B080", "B083", "B160", "B162", "B164", "B177"),
    leads_to=(
        Condition.NIC_DRIVER_NOT_READY,
        Condition.GPU_DRIVER_NOT_READY,
        Condition.VFS_MISSING,
        Condition.RESOURCE_MISSING,
        Condition.POD_CRASHES,
    ),
)


def judge_versions(seen: Seen) -> Iterator[Finding | Unknown]:
    """Look every version in use up among the known defects, then compare it with the platform."""
    yield from _defects(seen)
    yield from _ranges(seen)


def _defects(seen: Seen) -> Iterator[Finding | Unknown]:
    """Look every version in use up among the known defects."""
    marks = marks_of(seen)
    for thing, component, version in _versions(seen):
        for defect in seen.catalog.defects:
            if defect.component == component and set(defect.when) <= marks and _has(defect, version):
                yield conclude(
                    VERSION_FAILS_HERE,
                    f"{thing} {version}: {defect.what}.",
                    evidence=(
                        Evidence(thing, "version", f"{version}, mended in {defect.fixed_in or 'no release yet'}"),
                        *(Evidence("cluster", "mark", mark) for mark in defect.when),
                    ),
                    remedy=Remedy(
                        defect.remedy, risk=Risk.DRIVER_RELOAD, disrupts="an update rolls drivers and plugins out anew"
                    ),
                    about=(f"operator:{component}",),
                    severity=Severity(defect.severity),
                )


def _versions(seen: Seen) -> Iterator[tuple[str, str, str]]:
    """What is in use: how people call it, the catalog's component, its version."""
    for operator in (item for items in seen.operators.values() for item in items):
        if operator.number is not None:
            yield operator.package, operator.key, operator.version
    if seen.openshift_version:
        yield "OpenShift", "openshift", seen.openshift_version
    policy = seen.get(kinds.NIC_CLUSTER_POLICY, nic_policy.NAME)
    for path in (("rdmaSharedDevicePlugin",), ("sriovDevicePlugin",), ("nvIpam",), ("secondaryNetwork", "ipoib")):
        version = str(dig(policy, "spec", *path, "version", default=""))
        if version.startswith("v") and version_number(version) is not None:
            yield f"{'.'.join(path)} of NicClusterPolicy", ".".join(path), version


def _has(defect: DefectEntry, version: str) -> bool:
    number, first, fixed = (version_number(text) for text in (version, defect.from_version, defect.fixed_in))
    if number is None:
        return False
    return (first is None or number >= first) and (fixed is None or number < fixed)


def _ranges(seen: Seen) -> Iterator[Finding | Unknown]:
    """Compare operators with the platform, with each other, and with the components that they run."""
    gpu, network = seen.operator(GPU), seen.operator(NETWORK)
    openshift = version_number(seen.openshift_version)
    entry = seen.catalog.gpu_operator(gpu.version) if gpu is not None and gpu.version else None
    if gpu is not None and entry is not None and openshift is not None:
        first, last = version_number(entry.openshift_from), version_number(entry.openshift_to)
        outside = (first and openshift[:2] < first[:2]) or (last and openshift[:2] > last[:2])
        if outside:
            yield _range(
                gpu,
                f"{gpu.package} {gpu.version} is made for OpenShift {entry.openshift_from} to {entry.openshift_to}, and this "
                f"is {seen.openshift_version}",
                Severity.WARNING,
            )
    if (
        network is not None
        and gpu is not None
        and network.number
        and gpu.number
        and network.number >= (25, 0, 0) > gpu.number
    ):
        yield _range(
            gpu,
            f"{gpu.package} {gpu.version} beside {network.package} {network.version}: the vendor lists GPU Operator 25.3 "
            "or later with it",
            Severity.WARNING,
        )
    if network is not None and network.number is not None:
        yield from _components(seen, network)


def _components(seen: Seen, network: Installed) -> Iterator[Finding]:
    policy = seen.get(kinds.NIC_CLUSTER_POLICY, nic_policy.NAME)
    old: list[Evidence] = []
    for path in (("rdmaSharedDevicePlugin",), ("sriovDevicePlugin",), ("nvIpam",), ("secondaryNetwork", "ipoib")):
        version = str(dig(policy, "spec", *path, "version", default=""))
        number = version_number(version) if version.startswith("network-operator-") else None
        if number is not None and network.number is not None and number[:2] != network.number[:2]:
            old.append(Evidence(f"NicClusterPolicy {nic_policy.NAME}", f"spec.{'.'.join(path)}.version", version))
    if old and policy is not None:
        yield conclude(
            VERSION_FAILS_HERE,
            f"{len(old)} components of NicClusterPolicy are of another release than {network.package} {network.version}.",
            evidence=old,
            remedy=Remedy(
                f"Set their versions to network-operator-v{network.version}, one after the other.",
                (oc(ref_of(policy), "edit"),),
                risk=Risk.DRIVER_RELOAD,
                disrupts="device plugins and CNI pods restart; a changed driver version is rolled out node by node",
            ),
            about=(network.thing,),
            severity=Severity.INFO,
        )


def _range(operator: Installed, said: str, severity: Severity) -> Finding:
    return conclude(
        VERSION_FAILS_HERE,
        f"{said}.",
        evidence=(Evidence(operator.package, "version", operator.csv or operator.version),),
        remedy=Remedy(
            "Move the operator to a release that the vendor lists for this platform.",
            (f"oc get packagemanifests {operator.package} -o yaml | grep 'name: v\\|currentCSV'",),
            risk=Risk.DRIVER_RELOAD,
            disrupts="an update rolls drivers out node by node",
        ),
        about=(operator.thing,),
        severity=severity,
    )


_TOOLKIT_STREAM = Ref(kinds.IMAGE_STREAM, "openshift", "driver-toolkit")

DRIVER_NOT_AVAILABLE = RuleInfo(
    name=RuleId("driver-not-available-for-node"),
    title="No driver can be had for the system that a node runs",
    layer=Layer.DRIVERS,
    severity=Severity.ERROR,
    text="Which driver image a node gets, and what it is built with, comes of labels: operating system and version, kernel, "
    "and on OpenShift the release of the node's image, for which the cluster must have a driver toolkit. A missing label "
    "leaves the node out in silence (upstream NFD writes no OSTREE_VERSION), a toolkit without the node's release makes "
    "the operator build without it and fail, an operating system without a published image ends in ImagePullBackOff.",
    source="openshift/node-feature-discovery e43aa39b, source/system/system.go:38-40; Mellanox/doca-driver-build 445df1e, "
    "release_manifests; Measured: Network Operator 26.4.1 and GPU Operator 26.7.0, 2026-11",
    needs=(NODES, objects(kinds.NIC_CLUSTER_POLICY, kinds.CLUSTER_POLICY), single(_TOOLKIT_STREAM)),
    covers=("B006", "B031"),
    leads_to=(Condition.NIC_DRIVER_NOT_READY, Condition.GPU_DRIVER_NOT_READY, Condition.POD_NOT_STARTED),
    shows=(Condition.LABELS_MISSING,),
    subject=DRIVER_CONTAINERS,
)


class _Lack(Enum):
    """What a node's driver lacks."""

    LABEL = auto()
    TOOLKIT = auto()
    IMAGE = auto()


_PREFIX = "feature.node.kubernetes.io/"
_SYSTEM = ("system-os_release.ID", "system-os_release.VERSION_ID", "kernel-version.full")
_OSTREE = "system-os_release.OSTREE_VERSION"


def judge_driver_available(seen: Seen) -> Iterator[Finding | Unknown]:
    """Follow each node's labels to the driver image and the toolkit that come of them."""
    policy = seen.get(kinds.NIC_CLUSTER_POLICY, nic_policy.NAME)
    driver = dig(policy, "spec", "ofedDriver")
    groups: dict[tuple[str, _Lack, bool], list[tuple[NodeName, Evidence]]] = defaultdict(list)
    tags = _toolkit_tags(seen)
    for node in seen.nodes:
        wants_nic = driver is not None and policy is not None and nic_policy.reaches(policy, node)
        wants_gpu = node.labels.get("nvidia.com/gpu.deploy.driver") == "true"
        if not (wants_nic or wants_gpu):
            continue
        missing = [label for label in _SYSTEM if not node.labels.get(f"{_PREFIX}{label}")]
        ostree = node.labels.get(f"{_PREFIX}{_OSTREE}", "")
        builds = wants_nic or (seen.is_whole(kinds.CLUSTER_POLICY) and not _is_precompiled(seen))
        if missing:
            why = f"nodes lack {', '.join(missing)}, so the driver leaves them out without a word"
            groups[why, _Lack.LABEL, wants_nic].append(
                (node.name, Evidence(f"node {node.name}", "labels", f"no {missing[0]}", node.name))
            )
        elif tags is not None and builds and not ostree:
            why = "nodes lack OSTREE_VERSION, which only OpenShift's own Node Feature Discovery writes: the driver has no toolkit"
            groups[why, _Lack.LABEL, wants_nic].append(
                (node.name, Evidence(f"node {node.name}", "labels", f"no {_OSTREE}", node.name))
            )
        elif tags and builds and ostree not in tags:
            why = f"the cluster's driver toolkit has no tag {ostree}, so there is nothing to build the driver with"
            evidence = Evidence("ImageStream openshift/driver-toolkit", "tags", ", ".join(sorted(tags)[-3:]), node.name)
            groups[why, _Lack.TOOLKIT, wants_nic].append((node.name, evidence))
        elif wants_nic and _has_no_image(seen, str(dig(driver, "version", default="")), node.labels):
            tag = _os_tag(node.labels)
            why = f"DOCA driver {dig(driver, 'version')} has no image for {tag}"
            groups[why, _Lack.IMAGE, True].append((node.name, Evidence(f"node {node.name}", "system", tag, node.name)))
    for (why, lack, is_nic), places in groups.items():
        yield _unavailable(why, lack, places, NETWORK if is_nic else GPU)


def _toolkit_tags(seen: Seen) -> frozenset[str] | None:
    """Tags of the driver toolkit; None where there is none: plain Kubernetes, or not seen."""
    stream = seen.get(_TOOLKIT_STREAM.kind, _TOOLKIT_STREAM.name, _TOOLKIT_STREAM.namespace)
    if stream is None:
        return None
    spec = {str(item.get("name")) for item in dig(stream, "spec", "tags", default=())}
    return frozenset(spec | {str(item.get("tag")) for item in dig(stream, "status", "tags", default=())})


def _is_precompiled(seen: Seen) -> bool:
    return any(dig(item, "spec", "driver", "usePrecompiled") is True for item in seen.of_kind(kinds.CLUSTER_POLICY))


def _os_tag(labels: Mapping[str, str]) -> str:
    """Spell a node's system as driver images do: "rhel9.6"."""
    return "".join(labels.get(f"{_PREFIX}{label}", "") for label in _SYSTEM[:2])


def _has_no_image(seen: Seen, version: str, labels: Mapping[str, str]) -> bool:
    return bool(version) and seen.catalog.doca_image_exists(version, _os_tag(labels)) is False


def _unavailable(why: str, lack: _Lack, places: Iterable[tuple[NodeName, Evidence]], key: str) -> Finding:
    found = list(places)
    if lack is _Lack.LABEL:
        remedy = Remedy(
            "Let OpenShift's Node Feature Discovery label the nodes (the certified nfd operator, not the upstream chart).",
            ("oc get nodefeaturediscoveries.nfd.openshift.io -A -o yaml", "railwright apply --until hardware-labelled"),
        )
    elif lack is _Lack.TOOLKIT:
        remedy = Remedy(
            "Take an OpenShift release whose driver toolkit fits its nodes, or finish the update that is under way.",
            ("oc -n openshift get imagestream driver-toolkit -o yaml", "oc adm upgrade"),
            risk=Risk.REBOOT,
            disrupts="an update of the cluster restarts every node",
        )
    else:
        remedy = Remedy(
            "Set a driver version that is published for this system, or leave ofedDriver out and use the kernel's own driver.",
            ("railwright images", "oc edit nicclusterpolicy.mellanox.com nic-cluster-policy"),
            risk=Risk.DRIVER_RELOAD,
            disrupts="the NIC driver is rolled out anew, node by node",
        )
    return conclude(
        DRIVER_NOT_AVAILABLE,
        f"{why[0].upper()}{why[1:]}.",
        evidence=[evidence for _, evidence in found],
        remedy=remedy,
        nodes=(node for node, _ in found),
        about=(f"operator:{key}",),
    )


RULES = (
    Rule(VERSION_FAILS_HERE, judge_versions),
    Rule(DRIVER_NOT_AVAILABLE, judge_driver_available),
)
