"""
ClusterPolicy of the GPU Operator: driver, memory path, and every operand that the definition requires.

An image repository alone is not set anywhere: the operator builds REPOSITORY/IMAGE:VERSION from the three fields as
soon as one of them is there, so they come together or not at all; mirrors redirect what is left to the defaults.
"""

from typing import Any

from railwright.core.kinds import CLUSTER_POLICY
from railwright.manifests.assemble import a_manifest, an_object, plain, without_empty
from railwright.manifests.model import Manifest
from railwright.plan.model import GpuPolicyShare

VENDOR_REGISTRY = "nvcr.io"

TOOLKIT_DIRECTORY = "/usr/local/nvidia"
"""RHCOS has a read-only root; this is the writable place. Source: default of the ClusterPolicy definition, 26.7.0."""


def gpu_policy(share: GpuPolicyShare) -> tuple[Manifest, ...]:
    """Render the whole policy, or of an existing one only what decides over the memory path."""
    spec = _taken(share) if share.adopted else _whole(share)
    obj = an_object(CLUSTER_POLICY, share.name, ours=not share.adopted, spec=spec)
    return (a_manifest(obj, share.stage, partial=share.adopted),)


def _whole(share: GpuPolicyShare) -> dict[str, Any]:
    return {
        "operator": _operator(share),
        "daemonsets": without_empty(
            {
                "updateStrategy": "RollingUpdate",
                "rollingUpdate": {"maxUnavailable": "1"},
                "tolerations": plain(share.tolerations),
            }
        ),
        "driver": _driver(share),
        "cdi": {"enabled": True},
        "gdrcopy": {"enabled": share.gdrcopy},
        "gds": _gds(share),
        "toolkit": {"enabled": True, "installDir": TOOLKIT_DIRECTORY},
        "devicePlugin": {"enabled": True},
        "gfd": {"enabled": True},
        "dcgm": {"enabled": True},
        "dcgmExporter": {"enabled": True},
        "nodeStatusExporter": {"enabled": True},
        "mig": {"strategy": "single"},
        "sandboxWorkloads": {"enabled": False},
    }


def _operator(share: GpuPolicyShare) -> dict[str, Any]:
    """Say how containers run and drivers are built; the operator finds the runtime itself where it can."""
    if share.on_openshift:
        return {"defaultRuntime": "crio", "use_ocp_driver_toolkit": True}
    return {"defaultRuntime": "containerd"}


def _taken(share: GpuPolicyShare) -> dict[str, Any]:
    """Of somebody's policy only what is wrong there for us, and extras where a fabric asks for them."""
    driver = {"kernelModuleType": share.kernel_module_type, "rdma": plain(share.rdma_taken)}
    return without_empty(
        {
            "daemonsets": without_empty({"tolerations": plain(share.tolerations)}),
            "driver": without_empty(driver),
            "gdrcopy": {"enabled": True} if share.gdrcopy else None,
            "gds": _gds(share) if share.gds else None,
        }
    )


def _gds(share: GpuPolicyShare) -> dict[str, Any]:
    """The operator's bundle has no default image for it, so its version is written out where the plan knows it."""
    if not (share.gds and share.gds_version):
        return {"enabled": share.gds}
    return {
        "enabled": True,
        "repository": f"{share.registry or VENDOR_REGISTRY}/nvidia/cloud-native",
        "image": "nvidia-fs",
        "version": share.gds_version,
    }


def _driver(share: GpuPolicyShare) -> dict[str, Any]:
    image = {"repository": f"{share.registry or VENDOR_REGISTRY}/nvidia", "image": "driver"}
    return without_empty(
        {
            "enabled": True,
            "kernelModuleType": share.kernel_module_type,
            **({**image, "version": share.driver_version} if share.driver_version else {}),
            "imagePullSecrets": plain(share.pull_secrets),
            "env": [{"name": name, "value": share.environment[name]} for name in sorted(share.environment)],
            "rdma": {"enabled": share.peermem, "useHostMofed": share.use_host_mofed},
            "upgradePolicy": {
                "autoUpgrade": share.auto_upgrade,
                "maxParallelUpgrades": share.max_parallel,
                "maxUnavailable": "25%",
                "podDeletion": {"force": False, "deleteEmptyDir": False, "timeoutSeconds": share.drain_timeout_s},
                "drain": {
                    "enable": False,
                    "force": False,
                    "deleteEmptyDir": False,
                    "timeoutSeconds": share.drain_timeout_s,
                },
                "waitForCompletion": {"timeoutSeconds": 0},
            },
        }
    )
