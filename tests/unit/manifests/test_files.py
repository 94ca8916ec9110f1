import subprocess
from dataclasses import replace

import pytest
import yaml
from unit.manifests.plans import CONFIGURATIONS, FABRIC, LABELS, NODES, a_plan, stages

from railwright.facts.model import Platform
from railwright.intent.model import Fabric, Method
from railwright.manifests.files import SIMULATED_MARK, UNCHECKED_MARK, to_files
from railwright.manifests.gates import gate_job
from railwright.manifests.render import render
from railwright.plan import model as m


def files_of(plan: m.Plan, *, unchecked: bool = False) -> dict[str, str]:
    return {file.path: file.text for file in to_files(plan, render(plan), unchecked=unchecked)}


def folders(files: dict[str, str]) -> list[str]:
    return sorted({path.partition("/")[0] for path in files if "/" in path})


@pytest.mark.parametrize(("method", "fabric"), CONFIGURATIONS)
def test_every_listed_file_is_there_and_every_file_is_listed(method: Method, fabric: Fabric) -> None:
    files = files_of(a_plan(method, fabric))
    listed = {"README.txt", "kustomization.yaml"}
    for folder in yaml.safe_load(files["kustomization.yaml"])["resources"]:
        listed.add(f"{folder}/kustomization.yaml")
        listed |= {f"{folder}/{name}" for name in yaml.safe_load(files[f"{folder}/kustomization.yaml"])["resources"]}
    assert listed == set(files)


@pytest.mark.parametrize(("method", "fabric"), CONFIGURATIONS)
def test_every_file_holds_one_object_and_ends_in_a_newline(method: Method, fabric: Fabric) -> None:
    for path, text in files_of(a_plan(method, fabric)).items():
        assert text.endswith("\n")
        if path.endswith(".yaml"):
            assert yaml.safe_load(text)["kind"]


def test_the_same_plan_gives_the_same_bytes() -> None:
    assert files_of(a_plan()) == files_of(a_plan())


def test_resources_of_an_operators_kinds_wait_for_its_gate() -> None:
    files = files_of(a_plan())
    assert "02-operators-installed/gate.yaml" in files
    settings = "02-operators-installed-settings/sriovoperatorconfig-openshift-sriov-network-operator-default.yaml"
    waves = [
        int(yaml.safe_load(files[path])["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"])
        for path in (
            "02-operators-installed/subscription-openshift-nfd-nfd.yaml",
            "02-operators-installed/gate.yaml",
            settings,
        )
    ]
    assert waves == sorted(set(waves))
    options = yaml.safe_load(files[settings])["metadata"]["annotations"]["argocd.argoproj.io/sync-options"]
    assert options == "SkipDryRunOnMissingResource=true"


def test_annotations_of_argo_cd_stay_on_the_files() -> None:
    plan = a_plan()
    manifests = render(plan)
    to_files(plan, manifests)
    assert not any("argocd" in key for item in manifests.items for key in item.obj["metadata"].get("annotations", {}))


def test_an_annotation_of_our_own_stays_beside_those_of_argo_cd() -> None:
    text = files_of(a_plan())["02-operators-installed/namespace-openshift-sriov-network-operator.yaml"]
    assert yaml.safe_load(text)["metadata"]["annotations"] == {
        "argocd.argoproj.io/sync-wave": "20",
        "workload.openshift.io/allowed": "management",
    }


def test_nodes_are_admitted_by_a_person_and_never_by_a_file() -> None:
    files = files_of(a_plan())
    assert not any(path.rpartition("/")[2].startswith("node-") for path in files)
    assert "oc label node worker-1 --overwrite railwright.dev/fabric.east-west=admitted" in files["README.txt"]


def test_without_nodes_the_command_that_admits_one_is_shown() -> None:
    plan = a_plan(facts_known=False)
    plan = replace(plan, shares=tuple(s for s in plan.shares if not isinstance(s, m.NodeLabelShare)))
    assert "oc label node NODE --overwrite railwright.dev/fabric.east-west=admitted" in files_of(plan)["README.txt"]


def test_a_node_that_is_held_back_has_its_command_before_the_admissions() -> None:
    plan = a_plan()
    held = m.NodeLabelShare(NODES[0], {"nvidia.com/gpu.deploy.operands": "false"}, FABRIC, m.GPU_DRIVER_READY, True)  # noqa: FBT003 - held_back
    shares = [share for share in plan.shares if not isinstance(share, m.NodeLabelShare) or share.node != NODES[0]]
    readme = files_of(replace(plan, shares=(*shares, held)))["README.txt"]
    assert readme.index("gpu.deploy.operands=false") < readme.index("fabric.east-west=admitted")


def test_without_facts_nothing_that_can_harm_is_written() -> None:
    files = files_of(a_plan(facts_known=False))
    assert folders(files) == [
        "00-gates",
        "02-operators-installed",
        "02-operators-installed-settings",
        "03-hardware-labelled",
        "07-devices-allocatable",
        "08-networks-attached",
    ]
    assert "nodes-prepared: reboot" in files["README.txt"]
    assert "reboots the nodes" not in files["README.txt"]


def test_unchecked_writes_it_and_marks_every_file() -> None:
    files = files_of(a_plan(facts_known=False), unchecked=True)
    assert "01-nodes-prepared" in folders(files)
    for path, text in files.items():
        assert text.startswith(UNCHECKED_MARK if path == "README.txt" else f"# {UNCHECKED_MARK}")


def test_with_facts_unchecked_marks_nothing() -> None:
    assert not any(UNCHECKED_MARK in text for text in files_of(a_plan(), unchecked=True).values())


def test_what_comes_from_a_simulated_cluster_says_so_in_every_file() -> None:
    assert all(SIMULATED_MARK in text for text in files_of(a_plan(simulated=True)).values())


def test_a_stage_that_does_not_apply_has_no_folder() -> None:
    plan = a_plan()
    skipped = replace(plan.stages[0], applies=False, skip_reason="nothing to do")
    assert "01-nodes-prepared" not in folders(files_of(replace(plan, stages=(skipped, *plan.stages[1:]))))


def test_plain_kubernetes_has_no_gate_jobs_because_it_has_no_image_for_them() -> None:
    files = files_of(a_plan(platform=Platform.KUBERNETES))
    assert not any("gate" in path for path in files)


def test_partial_objects_say_that_they_are_not_to_be_created() -> None:
    plan = a_plan()
    shares = tuple(replace(s, adopted=True) if isinstance(s, m.GpuPolicyShare) else s for s in plan.shares)
    text = files_of(replace(plan, shares=shares))["06-gpu-driver-ready/clusterpolicy-gpu-cluster-policy.yaml"]
    assert "never create it" in text


# --- gates -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "fabric"), CONFIGURATIONS)
def test_every_gate_ends_once_the_cluster_answers_as_it_hopes(method: Method, fabric: Fabric) -> None:
    """Run each script in a real shell, with an `oc` that gives the hoped-for answer."""
    for path, text in files_of(a_plan(method, fabric)).items():
        if path.endswith("/gate.yaml"):
            container = yaml.safe_load(text)["spec"]["template"]["spec"]["containers"][0]
            done = _shell(_HOPED_FOR + container["command"][2])
            assert done.returncode == 0, done.stderr
            assert done.stdout.strip().endswith(f"{path.partition('/')[0]} is ready")


@pytest.mark.parametrize(
    ("what", "answer"),
    [
        ("deviceplugins are not there on one node", "2\\n\\n"),
        ("one GPU is missing on one node", "2\\n1\\n"),
        ("no node is admitted", ""),
    ],
)
def test_a_gate_waits_while_a_node_offers_too_little(what: str, answer: str) -> None:
    plan = a_plan()
    job = gate_job("07-devices-allocatable", plan.stage(m.DEVICES_ALLOCATABLE), (), plan)
    assert job is not None
    script = job["spec"]["template"]["spec"]["containers"][0]["command"][2]
    waits = 'sleep() { echo "still waiting"; exit 9; }\n'
    assert _shell(f"oc() {{ printf '{answer}'; }}\n{waits}{script}").returncode == 9, what


@pytest.mark.parametrize(
    ("what", "selected", "second", "code"),
    [
        ("every selected node has its VFs", "worker-1 worker-2", "Succeeded 8", 0),
        ("a node of ours says Succeeded from before, without VFs", "worker-1 worker-2", "Succeeded ", 9),
        ("a node of ours has fewer VFs", "worker-1 worker-2", "Succeeded 4", 9),
        ("a node of ours is at work", "worker-1 worker-2", "InProgress 8", 9),
        ("a node of ours has no state yet", "worker-1 worker-2", "", 9),
        ("a node that is not ours failed", "worker-1", "Failed ", 0),
        ("no node is admitted", "", "Succeeded 8", 9),
    ],
)
def test_a_gate_counts_the_vfs_of_the_nodes_that_a_policy_selects(
    what: str, selected: str, second: str, code: int
) -> None:
    plan = a_plan(Method.SRIOV, Fabric.ROCE)
    job = gate_job("05-vfs-ready", plan.stage(m.VFS_READY), render(plan).of_stage(m.VFS_READY), plan)
    assert job is not None
    script = job["spec"]["template"]["spec"]["containers"][0]["command"][2]
    answers = (
        f'*"-l {next(iter(LABELS))}=admitted "*) echo "{selected}";;\n'
        f'*" worker-2 "*) echo "{second}";;\n'
        '*" worker-1 "*) echo "Succeeded 8";;\n'
    )
    oc = f'sleep() {{ exit 9; }}\noc() {{ case "$*" in\n{answers}esac\n}}\n'
    assert _shell(oc + script).returncode == code, what


def test_what_changes_a_kubelet_or_an_mtu_is_waited_for() -> None:
    plan = a_plan()
    shares = (
        m.KubeletShare("numa", "worker", "restricted"),
        m.HostNetworkShare("mtu", {"a": "b"}, {"x": 9000}, FABRIC),
    )
    items = render(replace(plan, shares=shares)).items
    job = gate_job("01-nodes-prepared", plan.stage(m.NODES_PREPARED), items, plan)
    assert job is not None
    script = job["spec"]["template"]["spec"]["containers"][0]["command"][2]
    for answer, code in (("True", 0), ("False", 9)):
        assert _shell(f"oc() {{ echo {answer}; }}\nsleep() {{ exit 9; }}\n{script}").returncode == code


def test_another_script_is_another_job() -> None:
    plan = a_plan()
    fewer = replace(plan, stages=stages(gpus=1))
    names = [
        gate_job("07-devices-allocatable", p.stage(m.DEVICES_ALLOCATABLE), (), p)["metadata"]["name"]  # type: ignore[index] - there is one
        for p in (plan, fewer)
    ]
    assert len(set(names)) == 2


_HOPED_FOR = """
sleep() { echo "waited for: $*" >&2; exit 9; }
oc() {
  case "$*" in
    *clusterserviceversion*) echo Succeeded;;
    *sriovnetworknodestates*) echo "Succeeded 8";;
    *metadata.name*) echo "worker-1 worker-2";;
    *configuration.source*) echo 99-worker-railwright;;
    *machineconfigpool*) echo True;;
    *allocatable*) printf '2\\n8\\n';;
    *"-o name") echo node/worker-1;;
    *status.state*) echo ready;;
    *) echo "an oc nobody taught: $*" >&2; return 1;;
  esac
}
"""


def _shell(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=10, check=False)
