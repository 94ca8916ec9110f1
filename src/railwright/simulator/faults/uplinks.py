"""Faults of wiring: what else the fast NICs carry. Each changes what is in the machines."""

from collections.abc import Callable
from dataclasses import replace

from railwright.simulator.hardware import Machine, Nic, Virtual
from railwright.simulator.worlds.model import Draft


def on_gpu_nodes(draft: Draft, change: Callable[[Machine], Machine]) -> Draft:
    """Change every machine that has GPUs."""
    return replace(draft, machines=tuple(change(item) if item.gpus else item for item in draft.machines))


def management_nic(machine: Machine) -> Nic:
    """Give the NIC below br-ex."""
    return next(nic for nic in machine.nics if nic.netdev == "eno1")


def _swap(machine: Machine, old: Nic, new: Nic) -> Machine:
    return replace(machine, nics=tuple(new if nic is old else nic for nic in machine.nics))


def as_connectx(nic: Nic, index: int) -> Nic:
    """Make a NIC another ConnectX-7."""
    return replace(
        nic, vendor_id="15b3", device_id="1021", driver="mlx5_core", rdma=f"mlx5_{index}", rate_gbps=200, total_vfs=16
    )


def uplink_is_connectx(draft: Draft) -> Draft:
    """Make the management NIC another ConnectX-7: the DOCA driver restarts it too."""

    def change(machine: Machine) -> Machine:
        old = management_nic(machine)
        return _swap(machine, old, as_connectx(old, 8))

    return on_gpu_nodes(draft, change)


def storage_is_connectx(draft: Draft) -> Draft:
    """Make the NIC that carries the NFS mount another ConnectX-7."""

    def change(machine: Machine) -> Machine:
        old = next((nic for nic in machine.nics if nic.netdev == "eno2np0"), None)
        return machine if old is None else _swap(machine, old, as_connectx(old, 9))

    return on_gpu_nodes(draft, change)


def uplink_on_rail_card(draft: Draft) -> Draft:
    """Put br-ex on the second function of the first rail's card."""

    def change(machine: Machine) -> Machine:
        old, rail = management_nic(machine), machine.nics[0]
        pci = rail.pci.removesuffix("0") + "1"
        moved = replace(
            as_connectx(old, 8),
            pci=pci,
            path=rail.path.removesuffix(rail.pci) + pci,
            numa=rail.numa,
            netdev=rail.netdev.replace("s0np0", "s0f1np1").replace("ibp", "enp"),
        )
        bridges = tuple(
            replace(item, lowers=tuple(moved.netdev if lower == old.netdev else lower for lower in item.lowers))
            for item in machine.virtuals
        )
        return replace(_swap(machine, old, moved), virtuals=bridges)

    return on_gpu_nodes(draft, change)


def uplink_on_other_half(draft: Draft) -> Draft:
    """Make the first rail's card a socket-direct one: br-ex lies on its function on another PCI bus."""

    def change(machine: Machine) -> Machine:
        old = management_nic(machine)
        return _swap(machine, old, replace(as_connectx(old, 8), same_card_as=machine.nics[0].pci))

    return on_gpu_nodes(draft, change)


def uplink_is_bond(draft: Draft) -> Draft:
    """Bond two ConnectX ports, the first rail's and one more, under br-ex."""
    return on_gpu_nodes(draft, lambda machine: _bonded(machine, ("bond0",)))


def uplink_is_vlan(draft: Draft) -> Draft:
    """Put a VLAN on the first rail's port under br-ex."""

    def change(machine: Machine) -> Machine:
        rail, old = machine.nics[0], management_nic(machine)
        vlan = Virtual(f"{rail.netdev[:11]}.120", "vlan", lowers=(rail.netdev,), master="ovs-system")
        bridges = tuple(
            replace(item, lowers=(vlan.name,)) if item.name == "ovs-system" else item for item in machine.virtuals
        )
        free = replace(old, master="")
        return replace(_swap(machine, old, free), virtuals=(*bridges, vlan))

    return on_gpu_nodes(draft, change)


def _bonded(machine: Machine, names: tuple[str, ...]) -> Machine:
    first, old, bond = machine.nics[0], management_nic(machine), names[0]
    lowers = (first.netdev, "eno1")
    members = (replace(first, master=bond), *machine.nics[1:])
    nics = tuple(replace(as_connectx(nic, 8), master=bond) if nic is old else nic for nic in members)
    virtual = Virtual(bond, "bond", lowers=lowers, master="ovs-system")
    bridges = tuple(replace(item, lowers=(bond,)) if item.name == "ovs-system" else item for item in machine.virtuals)
    return replace(machine, nics=nics, virtuals=(*bridges, virtual))


def uplink_is_unknown(draft: Draft) -> Draft:
    """Make the routes of nodes unreadable: nobody can say which port carries them."""
    return on_gpu_nodes(draft, lambda machine: replace(machine, routes_readable=False))


def rail_without_carrier(draft: Draft) -> Draft:
    """Pull the cable of the third rail of the last GPU node."""
    last = [machine for machine in draft.machines if machine.gpus][-1]

    def change(machine: Machine) -> Machine:
        if machine is not last:
            return machine
        old = [nic for nic in machine.nics if nic.is_rail][2]
        return _swap(machine, old, replace(old, carrier=False, lid=0))

    return on_gpu_nodes(draft, change)


def no_subnet_manager(draft: Draft) -> Draft:
    """Stop the subnet manager: InfiniBand ports stay in INIT without a LID."""

    def change(machine: Machine) -> Machine:
        nics = tuple(replace(nic, sm_lid=0, lid=0) if nic.is_ib else nic for nic in machine.nics)
        return replace(machine, nics=nics)

    return on_gpu_nodes(draft, change)


def no_virtual_functions(draft: Draft) -> Draft:
    """Switch SR-IOV off in the BIOS: no port can have VFs."""

    def change(machine: Machine) -> Machine:
        return replace(machine, nics=tuple(replace(nic, total_vfs=0) for nic in machine.nics))

    return on_gpu_nodes(draft, change)


def secure_boot(draft: Draft) -> Draft:
    """Switch Secure Boot on: the kernel is locked down, and modules built in the cluster are not signed."""
    locked = on_gpu_nodes(draft, lambda machine: replace(machine, secure_boot=True))
    return replace(locked, troubles=locked.troubles | {"vf-lockdown", "driver-crashes", "gpu-driver-pod-fails"})


def irdma_loaded(draft: Draft) -> Draft:
    """Load the in-tree irdma of the management NIC, which holds ib_core."""

    def change(machine: Machine) -> Machine:
        return replace(machine, modules=(*(item for item in machine.modules if item != "irdma"), "irdma"))

    return on_gpu_nodes(draft, change)


def node_unreadable(draft: Draft) -> Draft:
    """Let nobody into the last GPU node."""
    last = [machine for machine in draft.machines if machine.gpus][-1]
    return on_gpu_nodes(draft, lambda machine: replace(machine, readable=False) if machine is last else machine)
