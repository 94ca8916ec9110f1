from dataclasses import replace

import pytest
import yaml
from unit.manifests.plans import CONFIGURATIONS, FABRIC, a_plan, stages

from railwright.core.errors import UsageError
from railwright.core.ids import FabricName
from railwright.facts.model import Platform
from railwright.intent.model import Fabric, Ipam, Method
from railwright.manifests.workload import PLACEHOLDER_IMAGE, Workload, workload, workload_text
from railwright.plan import model as m


def made(plan: m.Plan, **asked: object) -> Workload:
    return workload(plan, FABRIC, **{"namespace": "training", "gpus": None, "image": None, **asked})  # type: ignore[arg-type] - by keyword


def container_of(result: Workload, kind: str):
    obj = next(obj for obj in result.objects if obj["kind"] == kind)
    spec = obj["spec"] if kind == "Pod" else obj["spec"]["template"]["spec"]
    return spec["containers"][0]


def notes(result: Workload) -> str:
    return "\n".join(result.notes)


@pytest.mark.parametrize(("method", "fabric"), CONFIGURATIONS)
def test_pod_and_job_ask_for_every_rail_and_gpu_of_a_node(method: Method, fabric: Fabric) -> None:
    plan = a_plan(method, fabric)
    result = made(plan)
    for kind in ("Pod", "Job"):
        resources = container_of(result, kind)["resources"]
        assert resources["requests"] == resources["limits"]
        assert resources["limits"] == {"nvidia.com/gpu": "2", **{rail.resource: "1" for rail in plan.rails}}


@pytest.mark.parametrize(("method", "fabric"), CONFIGURATIONS)
def test_networks_are_the_nads_that_the_plan_makes_in_that_namespace(method: Method, fabric: Fabric) -> None:
    plan = a_plan(method, fabric)
    pod = next(obj for obj in made(plan).objects if obj["kind"] == "Pod")
    nads = [share.nad for share in plan.shares if isinstance(share, m.NetworkShare)]
    assert pod["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"].split(",") == nads


def test_pods_of_the_job_are_never_on_one_node() -> None:
    job = next(obj for obj in made(a_plan()).objects if obj["kind"] == "Job")
    (term,) = job["spec"]["template"]["spec"]["affinity"]["podAntiAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    assert term["topologyKey"] == "kubernetes.io/hostname"
    assert term["labelSelector"]["matchLabels"].items() <= job["spec"]["template"]["metadata"]["labels"].items()
    assert (job["spec"]["completions"], job["spec"]["completionMode"]) == (2, "Indexed")


def test_pods_land_on_admitted_nodes_only() -> None:
    pod = next(obj for obj in made(a_plan()).objects if obj["kind"] == "Pod")
    assert pod["spec"]["nodeSelector"] == {"railwright.dev/fabric.east-west": "admitted"}


def test_memory_may_be_locked_and_nothing_else() -> None:
    security = container_of(made(a_plan()), "Pod")["securityContext"]
    assert security["capabilities"] == {"drop": ["ALL"], "add": ["IPC_LOCK"]}
    assert security["runAsUser"] == 0


def test_what_a_pod_may_do_comes_along_but_not_the_namespace() -> None:
    kinds = [obj["kind"] for obj in made(a_plan()).objects]
    assert kinds == ["ServiceAccount", "SecurityContextConstraints", "Role", "RoleBinding", "Pod", "Job"]


def test_plain_kubernetes_has_no_scc() -> None:
    plan = a_plan(platform=Platform.KUBERNETES)
    plan = replace(plan, shares=tuple(s for s in plan.shares if not isinstance(s, m.AccessShare)))
    assert [obj["kind"] for obj in made(plan).objects] == ["ServiceAccount", "Pod", "Job"]


def test_every_variable_has_its_reason_above_it() -> None:
    text = workload_text(made(a_plan())).splitlines()
    places = [index for index, line in enumerate(text) if line.strip() == "- name: NCCL_IB_HCA"]
    assert len(places) == 2
    assert all(text[index - 1].strip() == "# only the rails, not the management port" for index in places)


def test_a_source_stands_beside_the_reason() -> None:
    plan = a_plan()
    sourced = m.Decision("UCX_TLS", "rc", "default", "verbs only", "a document, section 1")
    fabric = replace(plan.fabrics[0], environment=(sourced,))
    text = workload_text(made(replace(plan, fabrics=(fabric,))))
    assert "# verbs only (a document, section 1)" in text


def test_the_text_is_a_stream_of_the_objects() -> None:
    result = made(a_plan(), image="registry.test/train:1")
    assert list(yaml.safe_load_all(workload_text(result))) == [dict(obj) for obj in result.objects]


def test_each_group_of_documents_says_once_what_it_is_for() -> None:
    documents = workload_text(made(a_plan())).split("---\n")[1:]
    said = [document.splitlines()[0] if document.startswith("# ") else "" for document in documents]
    assert said[0].startswith("# what pods may do: apply has made the same")
    assert said[1:4] == ["", "", ""]
    assert said[4].startswith("# one pod on one node")
    assert said[5].startswith("# 2 pods on as many nodes")


def test_a_missing_image_is_a_placeholder_and_said() -> None:
    result = made(a_plan())
    assert container_of(result, "Pod")["image"] == PLACEHOLDER_IMAGE
    assert "--image" in notes(result)
    assert "--image" not in notes(made(a_plan(), image="registry.test/train:1"))


@pytest.mark.parametrize(
    ("method", "said"), [(Method.SHARED, "not even by NUMA node"), (Method.SRIOV, "by NUMA node at best")]
)
def test_fewer_gpus_get_fewer_rails_and_a_warning(method: Method, said: str) -> None:
    plan = a_plan(method)
    result = made(plan, gpus=1)
    assert container_of(result, "Pod")["resources"]["limits"] == {"nvidia.com/gpu": "1", plan.rails[0].resource: "1"}
    assert said in notes(result)
    assert said not in notes(made(plan))


@pytest.mark.parametrize("gpus", [0, -1, 3])
def test_gpus_that_no_node_has_are_refused(gpus: int) -> None:
    with pytest.raises(UsageError, match=rf"--gpus {gpus}: a pod can have 1 to 2"):
        made(a_plan(), gpus=gpus)


def test_gpus_are_counted_by_what_nodes_are_expected_to_offer() -> None:
    """Four rails for eight GPUs is common: pairs say less than allocatable does."""
    plan = replace(a_plan(), stages=stages(gpus=8))
    assert container_of(made(plan), "Pod")["resources"]["limits"]["nvidia.com/gpu"] == "8"
    two_of_eight = container_of(made(plan, gpus=5), "Pod")["resources"]["limits"]
    assert sum(1 for name in two_of_eight if name != "nvidia.com/gpu") == 2


def test_gpus_are_counted_by_pairs_when_no_stage_expects_any() -> None:
    plan = replace(a_plan(), stages=())
    assert container_of(made(plan), "Pod")["resources"]["limits"]["nvidia.com/gpu"] == "2"


def test_without_nodes_one_gpu_a_rail_is_taken() -> None:
    plan = replace(a_plan(), stages=())
    fabric = plan.fabrics[0]
    bare = replace(fabric, rails=tuple(replace(rail, ports=()) for rail in fabric.rails))
    assert container_of(made(replace(plan, fabrics=(bare,))), "Pod")["resources"]["limits"]["nvidia.com/gpu"] == "2"


def test_a_namespace_without_networks_is_refused_with_those_that_have_them() -> None:
    with pytest.raises(UsageError, match="'default' has no networks") as caught:
        made(a_plan(), namespace="default")
    assert "training" in caught.value.hint


def test_an_unknown_fabric_is_refused_with_those_that_are_there() -> None:
    with pytest.raises(UsageError, match="no fabric 'north'") as caught:
        workload(a_plan(), FabricName("north"), namespace="training", gpus=None, image=None)
    assert "east-west" in caught.value.hint


def test_static_addresses_and_simulated_plans_are_said() -> None:
    plan = a_plan(simulated=True)
    fabric = plan.fabrics[0]
    network = replace(fabric.intent.network, ipam=Ipam.STATIC)
    plan = replace(plan, fabrics=(replace(fabric, intent=replace(fabric.intent, network=network)),))
    result = made(plan)
    assert result.notes[0].startswith("simulated")
    assert "static" in notes(result)
