"""What is rendered without a cluster: nothing is missing in silence, and every gate can pass."""

import subprocess
from fnmatch import fnmatch

import pytest
import yaml
from unit.manifests.plans import CONFIGURATIONS

from railwright import api
from railwright.intent.model import Fabric, Method

_FILE = """apiVersion: railwright.dev/v1alpha1
kind: RailFabric
metadata: {{name: east-west}}
spec:
  method: {method}
  fabric: {fabric}
  rails: [{{name: rail0, netdev: ens1f0np0}}, {{name: rail1, netdev: ens2f0np0}}]
  workloadNamespaces: [training]
"""
_SHARED_POLICY = ("04-*/nicclusterpolicy-*", "rdmaSharedDevicePlugin:")
_HOST_POLICY = ("04-*/nicclusterpolicy-*", "sriovDevicePlugin:")
_VFS = ("05-*/sriovnetworknodepolicy-*-rail1.yaml", "ens2f0np0#0-7")
_DRAIN = ("05-*/sriovnetworkpoolconfig-*", "maxUnavailable: 1")
_DEVICES = {Method.SHARED: (_SHARED_POLICY,), Method.HOST_DEVICE: (_HOST_POLICY,), Method.SRIOV: (_VFS, _DRAIN)}
_NETWORKS = {
    (Method.SHARED, Fabric.ROCE): "macvlannetwork",
    (Method.SHARED, Fabric.INFINIBAND): "ipoibnetwork",
    (Method.HOST_DEVICE, Fabric.ROCE): "hostdevicenetwork",
    (Method.HOST_DEVICE, Fabric.INFINIBAND): "hostdevicenetwork",
    (Method.SRIOV, Fabric.ROCE): "sriovnetwork",
    (Method.SRIOV, Fabric.INFINIBAND): "sriovibnetwork",
}


def rendered(
    method: Method, fabric: Fabric, *, unchecked: bool = False, more: str = ""
) -> tuple[api.Plan, dict[str, str]]:
    intents = api.parse_intents(_FILE.format(method=method.value, fabric=fabric.value) + more)
    plan, files = api.render_offline(intents, "4.20", unchecked=unchecked)
    return plan, {file.path: file.text for file in files}


@pytest.mark.parametrize(("method", "fabric"), CONFIGURATIONS)
def test_what_networks_ask_for_is_made_by_an_object_beside_them(method: Method, fabric: Fabric) -> None:
    _, files = rendered(method, fabric, unchecked=True)
    for pattern, text in _DEVICES[method]:
        assert any(fnmatch(path, pattern) and text in content for path, content in files.items()), pattern
    networks = [path for path in files if path.startswith(f"08-networks-attached/{_NETWORKS[method, fabric]}-")]
    assert len(networks) == 2


def test_a_port_without_address_is_selected_by_its_name_alone() -> None:
    _, files = rendered(Method.SRIOV, Fabric.ROCE, unchecked=True)
    (policy,) = (text for path, text in files.items() if fnmatch(path, "05-*/*policy-*-rail0.yaml"))
    assert yaml.safe_load(policy)["spec"]["nicSelector"] == {"vendor": "15b3", "pfNames": ["ens1f0np0#0-7"]}


def test_no_batch_has_a_node_that_nobody_looked_at() -> None:
    plan, _ = rendered(Method.SRIOV, Fabric.ROCE)
    assert plan.batches == ()
    assert plan.admitted == ()


def test_a_subscription_names_no_version_rather_than_an_empty_one() -> None:
    _, files = rendered(Method.SHARED, Fabric.ROCE)
    specs = [yaml.safe_load(text)["spec"] for path, text in files.items() if "/subscription-" in path]
    assert len(specs) == 4
    assert not any("startingCSV" in spec for spec in specs)
    assert "startingCSV" not in files["README.txt"]
    assert "oc get installplan -n nvidia-gpu-operator" in files["README.txt"]


@pytest.mark.parametrize(
    ("answers", "passes"),
    [
        ({"installedCSV": "nfd.v1", "phase": "Succeeded"}, True),
        ({"installedCSV": "nfd.v1", "phase": "Installing"}, False),
        ({"installedCSV": "", "phase": "Succeeded"}, False),
    ],
)
def test_the_gate_of_the_operators_asks_for_the_version_that_olm_installed(
    answers: dict[str, str], passes: bool
) -> None:
    _, files = rendered(Method.SHARED, Fabric.ROCE)
    gate = yaml.safe_load(files["02-operators-installed/gate.yaml"])
    script = gate["spec"]["template"]["spec"]["containers"][0]["command"][2]
    cases = "".join(f"*{asked}*) echo '{said}';;\n" for asked, said in answers.items())
    oc = f'sleep() {{ exit 9; }}\noc() {{ case "$*" in\n{cases}esac\n}}\n'
    done = subprocess.run(["sh", "-c", oc + script], capture_output=True, text=True, timeout=10, check=False)
    assert done.returncode == (0 if passes else 9), done.stderr


def test_the_gates_may_read_what_they_ask_for() -> None:
    _, files = rendered(Method.SHARED, Fabric.ROCE)
    (role,) = (yaml.safe_load(text) for path, text in files.items() if "/clusterrole-" in path)
    assert "subscriptions" in {name for rule in role["rules"] for name in rule["resources"]}


@pytest.mark.parametrize(
    ("method", "fabric", "more", "needed", "not_needed"),
    [
        (Method.SHARED, Fabric.ROCE, "", ("irdma", "MTU of 9000"), ("ib_umad",)),
        (Method.SHARED, Fabric.ROCE, "  driver: {nic: in-box}\n", ("ib_umad", "MTU of 9000"), ("irdma",)),
        (Method.SHARED, Fabric.INFINIBAND, "", ("irdma",), ("MTU",)),
        (Method.SRIOV, Fabric.ROCE, "", ("irdma",), ("MTU",)),
    ],
)
def test_what_nodes_must_have_is_said_where_nothing_can_be_planned_for_them(
    method: Method, fabric: Fabric, more: str, needed: tuple[str, ...], not_needed: tuple[str, ...]
) -> None:
    plan, files = rendered(method, fabric, more=more)
    (said,) = (warning for warning in plan.warnings if warning.code == "nodes-not-prepared")
    assert all(word in said.message for word in needed)
    assert not any(word in said.message for word in not_needed)
    assert str(said) in files["README.txt"]


def test_nodes_that_need_nothing_from_a_person_give_no_warning() -> None:
    plan, _ = rendered(Method.SRIOV, Fabric.ROCE, more="  driver: {nic: in-box}\n")
    assert "nodes-not-prepared" not in {warning.code for warning in plan.warnings}


@pytest.mark.parametrize("unchecked", [False, True])
@pytest.mark.parametrize(("method", "fabric"), CONFIGURATIONS)
def test_every_stage_has_a_folder_or_a_reason(method: Method, fabric: Fabric, unchecked: bool) -> None:
    plan, files = rendered(method, fabric, unchecked=unchecked)
    for stage in plan.stages:
        in_folder = any(path.partition("/")[0].endswith(stage.name) for path in files if "/" in path)
        assert in_folder != (f"\n  {stage.name}: " in files["README.txt"]), stage.name
    assert "the nodes need nothing" not in files["README.txt"]


def test_warnings_stand_in_the_readme_and_in_what_render_prints() -> None:
    plan, files = rendered(Method.SHARED, Fabric.ROCE)
    said = [str(warning) for warning in plan.warnings]
    assert sum(text.startswith("catalog-not-read") for text in said) == 4
    document = api.files_document(plan, tuple(api.File(*item) for item in files.items()), "out")
    assert [warning["code"] for warning in document.payload["warnings"]] == [item.code for item in plan.warnings]
    for text in said:
        assert text in files["README.txt"]
        assert text in document.text


def test_what_is_left_out_is_said_only_where_it_is_left_out() -> None:
    plan, files = rendered(Method.SHARED, Fabric.ROCE)
    made = tuple(api.File(*item) for item in files.items())
    assert "left out (--unchecked writes them)" in api.files_document(plan, made, "out").text
    told = api.files_document(plan, made, "out", unchecked=True).text
    assert "left out" not in told
    assert "each file marked" in told
