"""
Which loaded modules are in the way when a driver container swaps the RDMA stack. Pure.

Known ones are told apart by what unloads them; any other module that uses the stack, by the kernel's own list of users,
is in the way as well, whatever it is called.
"""

from railwright.facts.model import NodeHardware
from railwright.facts.rdma_modules import STORAGE

OTHER_MAKERS = frozenset(
    {"irdma", "i40iw", "bnxt_re", "qedr", "efa", "siw", "iw_cxgb4", "hns_roce", "ocrdma", "erdma", "mana_ib"}
)
PEER = frozenset({"nvidia_peermem", "nv_peer_mem"})
_ROOTS = ("ib_core", "ib_cm", "rdma_cm", "ib_uverbs", "mlx5_core", "mlx5_ib")
_DRIVERS_OWN = frozenset(
    {
        *(
            "ib_core",
            "ib_cm",
            "iw_cm",
            "ib_uverbs",
            "ib_ucm",
            "ib_umad",
            "rdma_cm",
            "rdma_ucm",
            "ib_ipoib",
            "mlx_compat",
        ),
        *("mlx5_core", "mlx5_ib", "mlx5_dpll", "mlx5_fwctl", "mlx5_vdpa", "mlx5_vfio_pci", "mlxdevm", "mlxfw"),
        *("mlx4_core", "mlx4_en", "mlx4_ib", "macsec"),
    }
)
"""Parts of the stack itself, unloaded with it. Source: inferred from the modules of Linux v6.12 and of DOCA-OFED 3.2."""
UNLOADED_BY = {"UNLOAD_STORAGE_MODULES": STORAGE, "UNLOAD_THIRD_PARTY_RDMA_MODULES": OTHER_MAKERS}
"""Variables of the driver container, and the modules that it unloads by them."""


def holders(hardware: NodeHardware, unload: set[str]) -> frozenset[str]:
    """Name the modules that keep the stack in place; `unload` are the variables that are set."""
    loaded = set(hardware.modules)
    found = loaded & PEER
    for variable, modules in UNLOADED_BY.items():
        # What the container unloads by itself is in its way all the same while somebody uses it.
        found |= {name for name in loaded & modules if variable not in unload or hardware.modules[name]}
    known = STORAGE | OTHER_MAKERS | PEER | _DRIVERS_OWN
    return frozenset(found | (_users(hardware) & loaded) - known)


def _users(hardware: NodeHardware) -> set[str]:
    """Modules that use the stack, directly or by way of others."""
    found: set[str] = set()
    waiting = list(_ROOTS)
    while waiting:
        for user in hardware.module_users.get(waiting.pop(), ()):
            if user not in found:
                found.add(user)
                waiting.append(user)
    return found
