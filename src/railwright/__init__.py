"""railwright takes a cluster with NVIDIA GPUs and ConnectX NICs to proven GPUDirect RDMA."""

from railwright.core.version import __version__

__all__ = ["__version__"]
