"""Names of kernel modules that people and rules go by where the RDMA stack is swapped."""

STORAGE = frozenset({"ib_iser", "ib_isert", "ib_srp", "ib_srpt", "nvme_rdma", "nvmet_rdma", "rpcrdma", "xprtrdma"})
"""
What the DOCA driver container unloads with UNLOAD_STORAGE_MODULES, whichever NIC they work over.
Source: Mellanox/network-operator b06827e0, docs/mofed-container-env-vars.md (STORAGE_MODULES, 2026-08-19).
"""
