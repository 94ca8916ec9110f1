"""What is taken of policies that are there already: only what is wrong there for us; the rest is their owner's choice."""

from collections.abc import Mapping
from typing import Any

from railwright.core.objects import KubeObject, dig
from railwright.intent.model import GpuMemory, NicDriver
from railwright.plan.notes import Notes
from railwright.plan.settings import Settings

_SECTIONS = ("rdmaSharedDevicePlugin", "sriovDevicePlugin", "secondaryNetwork.ipoib", "nvIpam", "ibKubernetes")
_OPERATOR_CHOOSES = ("", "auto")
"""Values of kernelModuleType with which the operator takes what fits GPU and driver. Source: NVIDIA/gpu-operator a22dbf67."""


def kept_sections(live: KubeObject | None) -> tuple[str, ...]:
    """Name the sections of a NicClusterPolicy that are there: their images and versions stay."""
    return tuple(name for name in _SECTIONS if dig(live, "spec", *name.split(".")) is not None)


def tolerations_beside(
    live: KubeObject | None, ours: tuple[Mapping[str, str], ...], *path: str
) -> tuple[Mapping[str, str], ...]:
    """
    Put our tolerations beside those of a policy: the list is one field, so it is written whole or not at all.

    Args:
        path: of the list below the policy's spec.

    Returns:
        Empty when every one of ours is there already.
    """
    theirs: list[Any] = dig(live, "spec", *path, default=[])
    missing = [item for item in ours if item not in theirs]
    return (*theirs, *missing) if missing else ()


def module_type_taken(live: KubeObject | None, settings: Settings, notes: Notes) -> str:
    """
    Choose the kind of the GPU's kernel module.

    Returns:
        "" where a policy that is there has the wanted one, or lets its operator choose and nothing was asked for.
    """
    wanted = settings.gpu_driver.value
    if live is None:
        return wanted
    seen = str(dig(live, "spec", "driver", "kernelModuleType", default=""))
    asked = settings.intent.driver.gpu is not None
    if seen == wanted or (seen in _OPERATOR_CHOOSES and not asked):
        return ""
    notes.decide(
        "ClusterPolicy kernelModuleType",
        wanted,
        "file" if asked else "catalog",
        f"the policy that is there has {seen or 'none'}; the GPU driver is loaded anew with the other module",
    )
    return wanted


def warn_of_old_pods(live: KubeObject | None, notes: Notes) -> None:
    """
    Warn where the change of a driver waits for somebody to delete its pods.

    Measured: GPU Operator 26.7.0 controllers, 2026-11: without autoUpgrade the DaemonSet is updated and its pods stay.
    """
    if dig(live, "spec", "driver", "upgradePolicy", "autoUpgrade") is not True:
        notes.warn(
            "driver-pods-stay-old",
            "the ClusterPolicy that is there does not upgrade drivers by itself: the GPU driver's pods keep their old form"
            " until somebody deletes them, node by node",
            "ClusterPolicy spec.driver.upgradePolicy.autoUpgrade",
        )


def rdma_taken(live: KubeObject | None, settings: Settings) -> Mapping[str, bool]:
    """
    Name the fields of `driver.rdma` that a policy has wrong for us.

    Only nvidia-peermem needs them: it must be on, and waits for a driver on the host unless it is told that the driver
    comes in a container. With dma-buf either value does no harm, and stays.
    """
    if live is None or settings.memory is not GpuMemory.PEERMEM:
        return {}
    taken = {} if dig(live, "spec", "driver", "rdma", "enabled") is True else {"enabled": True}
    uses_host = dig(live, "spec", "driver", "rdma", "useHostMofed") is True
    return taken | ({"useHostMofed": False} if uses_host and settings.nic_driver is NicDriver.DOCA else {})
