"""Faults inside nodes: PCI tree, kernel, firmware, links, switches. Each changes what is in the machines."""

from collections.abc import Callable
from dataclasses import replace

from railwright.simulator.faults.uplinks import on_gpu_nodes
from railwright.simulator.hardware import BRIDGE, Gpu, Machine, Nic, PciRegisters
from railwright.simulator.settings import Settings
from railwright.simulator.worlds.model import Draft

Change = Callable[[Draft], Draft]
_REDIRECT = 0x1D
"""Source validation, request and completion redirect, upstream forwarding: what firmware with virtualization on sets."""


def _on_last(draft: Draft, change: Callable[[Machine], Machine]) -> Draft:
    """Change the last machine that has GPUs."""
    last = [machine for machine in draft.machines if machine.gpus][-1]
    return replace(draft, machines=tuple(change(item) if item is last else item for item in draft.machines))


def _rails(machine: Machine, change: Callable[[int, Nic], Nic]) -> Machine:
    """Change the rails of a machine, numbered from 0."""
    numbers = {nic.pci: number for number, nic in enumerate(nic for nic in machine.nics if nic.is_rail)}
    nics = tuple(change(numbers[nic.pci], nic) if nic.pci in numbers else nic for nic in machine.nics)
    return replace(machine, nics=nics)


def _one_rail(machine: Machine, change: Callable[[Nic], Nic], number: int = 2) -> Machine:
    return _rails(machine, lambda index, nic: change(nic) if index == number else nic)


def settings(**values: object) -> Change:
    """Give a fault that changes how GPU nodes are set up."""

    def change(machine: Machine) -> Machine:
        fields = {**{name: getattr(machine.settings, name) for name in Settings.__dataclass_fields__}, **values}
        return replace(machine, settings=Settings(**fields))

    return lambda draft: on_gpu_nodes(draft, change)


def every_rail(**values: object) -> Change:
    """Give a fault that changes every rail of every GPU node."""
    return lambda draft: on_gpu_nodes(draft, lambda item: _rails(item, lambda _, nic: _with(nic, values)))


def one_rail(**values: object) -> Change:
    """Give a fault that changes one rail of the last GPU node."""
    return lambda draft: _on_last(draft, lambda item: _one_rail(item, lambda nic: _with(nic, values)))


def last_node_rails(**values: object) -> Change:
    """Give a fault that changes every rail of the last GPU node."""
    return lambda draft: _on_last(draft, lambda item: _rails(item, lambda _, nic: _with(nic, values)))


def _with(nic: Nic, values: dict[str, object]) -> Nic:
    fields = {**{name: getattr(nic, name) for name in Nic.__dataclass_fields__}, **values}
    return Nic(**fields)


def modules(*names: str, without: tuple[str, ...] = ()) -> Change:
    """Give a fault that loads modules on GPU nodes, and leaves others out."""

    def change(machine: Machine) -> Machine:
        kept = tuple(item for item in machine.modules if item not in without and item not in names)
        return replace(machine, modules=(*kept, *names))

    return lambda draft: on_gpu_nodes(draft, change)


def storage_over_rdma(draft: Draft) -> Draft:
    """Mount storage over RDMA: the container of the NIC driver cannot unload what is in use, and ends with an error."""
    loaded = modules("nvme_rdma", "rpcrdma")(draft)
    users = (("nvme_rdma", 2), ("rpcrdma", 1))
    used = on_gpu_nodes(loaded, lambda machine: replace(machine, module_users=users))
    return replace(used, troubles=used.troubles | {"driver-crashes"})


def acs_redirect(draft: Draft) -> Draft:
    """Switch ACS on in every bridge, as firmware does with virtualization on."""
    return on_gpu_nodes(draft, lambda machine: _every_bridge(machine, replace(BRIDGE, acs_control=_REDIRECT)))


def config_unreadable(draft: Draft) -> Draft:
    """Hide the upper part of config space, as from a process without the right capability."""
    return on_gpu_nodes(draft, lambda machine: _every_bridge(machine, replace(BRIDGE, readable=False)))


def _every_bridge(machine: Machine, registers: PciRegisters) -> Machine:
    return replace(machine, bridges=tuple((path.rpartition("/")[2], registers) for path in machine.bridge_paths))


def iommu_translates(draft: Draft) -> Draft:
    """Run the IOMMU with translation: the kernel's default where nothing asks for passthrough."""
    return on_gpu_nodes(draft, lambda machine: replace(machine, iommu="DMA-FQ"))


def half_width(draft: Draft) -> Draft:
    """Let one NIC come up with 8 of its 16 lanes."""

    def narrow(nic: Nic) -> Nic:
        return replace(nic, registers=replace(nic.registers, link_width_lanes=8))

    return _on_last(draft, lambda machine: _one_rail(machine, narrow))


def nic_in_wrong_slot(draft: Draft) -> Draft:
    """Put one NIC below a root port of its own, away from its GPU's switch."""

    def moved(nic: Nic) -> Nic:
        pci = "0000:f8:00.0"
        return replace(nic, pci=pci, path=f"pci0000:f7/0000:f7:01.0/{pci}", numa=1)

    return _on_last(draft, lambda machine: _one_rail(machine, moved))


def virtual_machine(draft: Draft) -> Draft:
    """Run the GPU nodes as virtual machines, whose PCI tree shows nothing of what is near to what."""

    def change(machine: Machine) -> Machine:
        gpus = tuple(replace(gpu, path=f"pci0000:00/{gpu.pci}") for gpu in machine.gpus)
        nics = tuple(replace(nic, path=f"pci0000:00/{nic.pci}") if nic.is_rail else nic for nic in machine.nics)
        below = replace(machine.settings, under_hypervisor=True)
        return replace(machine, gpus=gpus, nics=nics, settings=below)

    return on_gpu_nodes(draft, change)


def host_ofed(draft: Draft) -> Draft:
    """Let nodes bring an OFED of their own along, which the driver's container finds in its way."""
    brought = settings(mlx5_version="24.10-2.1.8")(draft)
    return replace(brought, troubles=brought.troubles | {"driver-crashes"})


def weak_ordering_off(draft: Draft) -> Draft:
    """Leave relaxed ordering off and read requests small, as some BIOS versions do."""

    def change(_: int, nic: Nic) -> Nic:
        registers = replace(nic.registers, relaxed_ordering=False, max_read_request_bytes=512)
        return replace(nic, registers=registers)

    return on_gpu_nodes(draft, lambda machine: _rails(machine, change))


def realtime_kernel(draft: Draft) -> Draft:
    """Run the real-time kernel of a performance profile."""
    kernel = "5.14.0-570.62.1.rt14.347.el9_6.x86_64"
    booted = on_gpu_nodes(draft, lambda machine: replace(machine, kernel=kernel))
    return replace(booted, troubles=booted.troubles | {"driver-crashes", "gpu-driver-pod-fails"})


def kernel_upgraded_under_builds(draft: Draft) -> Draft:
    """Keep a driver build of the kernel that ran before the last upgrade."""
    kept = settings(mofed_inventories=("5.14.0-427.72.1.el9_4.x86_64",))(draft)
    return replace(kept, troubles=kept.troubles | {"driver-crashes"})


def gdrdrv_in_use(draft: Draft) -> Draft:
    """Let gdrdrv keep a GPU driver of the host in use, so that the driver's container cannot unload it."""
    held = settings(gpu_driver="open 570.86.15", gpu_char_devices=("gdrdrv",))(modules("gdrdrv")(draft))
    return replace(held, troubles=held.troubles | {"gpu-driver-pod-fails"})


def rdma_stack_absent(draft: Draft) -> Draft:
    """Leave out the RDMA half of the mlx5 driver, as minimal images do."""
    without = modules(without=("mlx5_ib", "ib_uverbs", "ib_umad", "rdma_cm", "rdma_ucm"))(draft)
    return every_rail(has_char_device=False)(without)


def link_flaps(draft: Draft) -> Draft:
    """Let one cable of the last GPU node lose its link now and then; it is up when somebody looks."""

    def flapping(nic: Nic) -> Nic:
        counters = tuple(
            (name, {"link_downed": 37, "symbol_error": 4211}.get(name, value)) for name, value in nic.counters
        )
        return replace(nic, counters=counters, carrier_changes=76)

    def change(machine: Machine) -> Machine:
        changed = _one_rail(machine, flapping)
        rail = [nic for nic in changed.nics if nic.is_rail][2]
        lines = tuple(
            f"[{4000 + number}.{number:06d}] mlx5_core {rail.pci} {rail.netdev}: Link {'down' if number % 2 else 'up'}"
            for number in range(8)
        )
        return replace(changed, settings=replace(changed.settings, dmesg=(*(changed.settings.dmesg or ()), *lines)))

    return _on_last(draft, change)


def packets_lost(draft: Draft) -> Draft:
    """Let the fabric drop RDMA packets under load: no flow control, on NICs or switches."""

    def lossy(_: int, nic: Nic) -> Nic:
        seen = {"out_of_sequence": 248_113, "packet_seq_err": 91_442, "local_ack_timeout_err": 1_204}
        hw_counters = tuple((name, seen.get(name, value)) for name, value in nic.hw_counters)
        return replace(nic, hw_counters=hw_counters, pfc_priorities=())

    return on_gpu_nodes(draft, lambda machine: _rails(machine, lossy))


def rails_in_one_subnet(draft: Draft) -> Draft:
    """Address all rails of a node out of one subnet."""
    numbers = {machine.name: number for number, machine in enumerate(draft.machines)}

    def change(machine: Machine) -> Machine:
        base = 10 * numbers[machine.name]
        return _rails(machine, lambda index, nic: replace(nic, ips=(f"192.168.7.{base + index + 1}/24",)))

    return on_gpu_nodes(draft, change)


def cables_swapped(draft: Draft) -> Draft:
    """Give each rail its subnet, and swap two of them on the last GPU node."""
    numbers = {machine.name: number for number, machine in enumerate(draft.machines)}
    last = [machine for machine in draft.machines if machine.gpus][-1].name

    def change(machine: Machine) -> Machine:
        swap = {0: 1, 1: 0} if machine.name == last else {}
        host = numbers[machine.name] + 1
        return _rails(
            machine, lambda index, nic: replace(nic, ips=(f"192.168.{10 + swap.get(index, index)}.{host}/24",))
        )

    return on_gpu_nodes(draft, change)


def left_in_pod_name(draft: Draft) -> Draft:
    """Let one rail come back from a pod that was deleted by force, under the pod's name."""

    def renamed(nic: Nic) -> Nic:
        return replace(nic, alias=nic.netdev, netdev="net1")

    return _on_last(draft, lambda machine: _one_rail(machine, renamed))


def narrow_gpu(draft: Draft) -> Draft:
    """Let one GPU of the last node come up with half of its lanes."""

    def change(machine: Machine) -> Machine:
        first: Gpu = machine.gpus[0]
        narrow = replace(first, registers=replace(first.registers, link_width_lanes=8))
        return replace(machine, gpus=(narrow, *machine.gpus[1:]))

    return _on_last(draft, change)


def odd_node(draft: Draft) -> Draft:
    """Leave the last GPU node with older NIC firmware, VBIOS and BIOS than the others, and with NICs of another order number."""
    older = last_node_rails(firmware="28.39.3560", part_number="MCX75310AAS-HEAT")(draft)

    def change(machine: Machine) -> Machine:
        gpus = tuple(replace(gpu, vbios="96.00.99.00.01") for gpu in machine.gpus)
        return replace(_with_chassis(machine, bios_version="1.9.1"), gpus=gpus)

    return _on_last(older, change)


def odd_chassis(draft: Draft) -> Draft:
    """Let the last GPU node be of another maker, with the BIOS of that one."""
    return _on_last(
        draft,
        lambda machine: _with_chassis(
            machine, sys_vendor="Supermicro", product_name="SYS-821GE-TNHR", board_name="X13DEG-OAD", bios_version="2.4"
        ),
    )


def _with_chassis(machine: Machine, **words: str) -> Machine:
    chassis = tuple((key, words.get(key, value)) for key, value in machine.settings.chassis)
    return replace(machine, settings=replace(machine.settings, chassis=chassis))


_BLUEFIELD = {
    "device_id": "a2dc",
    "psid": "MT_0000001069",
    "part_number": "900-9D3D4-00EN-HA0",
    "card": "Nvidia BlueField-3 B3140H E-series HHHL SuperNIC",
    "firmware": "32.43.1014",
}
"""Card and firmware of one order number. Source: Lenovo Press lp1809 (part number), mlxconfig's description of the card."""


def one_dpu(draft: Draft) -> Draft:
    """Let one card of the last GPU node be a BlueField-3 whose own processors own its switch: DPU mode."""
    return one_rail(**_BLUEFIELD, eswitch_mode="")(draft)


def supernics(draft: Draft) -> Draft:
    """Let every rail be a BlueField-3 SuperNIC in NIC mode."""
    return every_rail(**_BLUEFIELD)(draft)
