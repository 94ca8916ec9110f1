"""Names of the stages, in order."""

from railwright.core.ids import StageName

NODES_PREPARED = StageName("nodes-prepared")
OPERATORS_INSTALLED = StageName("operators-installed")
HARDWARE_LABELLED = StageName("hardware-labelled")
NIC_DRIVER_READY = StageName("nic-driver-ready")
VFS_READY = StageName("vfs-ready")
GPU_DRIVER_READY = StageName("gpu-driver-ready")
DEVICES_ALLOCATABLE = StageName("devices-allocatable")
NETWORKS_ATTACHED = StageName("networks-attached")
VERIFIED = StageName("verified")
