"""Kernel, operating system and settings of a simulated node, as the node script prints them."""

from railwright.simulator.hardware import Machine
from railwright.simulator.running import Running
from railwright.simulator.sections.rdma import char_devices

_CNI = (
    "bandwidth",
    "bridge",
    "host-device",
    "host-local",
    "ib-sriov",
    "ipoib",
    "macvlan",
    "multus-shim",
    "nv-ipam",
    "rdma",
    "sbr",
    "sriov",
    "static",
    "tuning",
    "whereabouts",
)
_USERS = {"ib_core": 6, "ib_uverbs": 2, "nvidia": 40}


def meta(machine: Machine) -> list[str]:
    """Print the `meta` section."""
    return [
        "record_version\t2",
        f"hostname\t{machine.name}",
        f"kernel\t{machine.kernel}",
        f"architecture\t{machine.architecture}",
        f"page_size_bytes\t{machine.page_size_bytes}",
        f"netns\t{'host' if machine.netns_is_host else 'other'}",
        "kubelet\tseen",
    ]


def loaded(machine: Machine, running: Running) -> set[str]:
    """Name the modules that are loaded."""
    names = set(machine.modules)
    names |= {name for _, line in running.lines_of(("/etc/modules-load.d/",)) for name in line.split()}
    for argument in running.kernel_arguments.split():
        if argument.startswith("module_blacklist="):
            names -= set(argument.partition("=")[2].split(","))
    if running.gpu_driver:
        names |= {"nvidia", "nvidia_uvm", "nvidia_modeset"}
    if running.peermem:
        names.add("nvidia_peermem")
    if running.mlx5_version:
        names |= {"mlx_compat", "ib_umad", "rdma_ucm", "ib_ipoib"}
    return names


def modules(machine: Machine, running: Running) -> list[str]:
    """Print the `modules` section."""
    users = {**_USERS, **dict(machine.module_users)}
    return [f"{name} 1000 {users.get(name, 0)} - Live 0x0000000000000000" for name in sorted(loaded(machine, running))]


def nvidia_version(running: Running) -> list[str]:
    """Print the `nvidia-version` section."""
    if not running.gpu_driver:
        return []
    kind, version = running.gpu_driver.split()
    text = "NVIDIA UNIX Open Kernel Module for x86_64" if kind == "open" else "NVIDIA UNIX x86_64 Kernel Module"
    return [
        f"NVRM version: {text}  {version}  Release Build  (dvs-builder@U22-I3)",
        "GCC version:  gcc version 11.5.0 (GCC)",
    ]


def values(machine: Machine, running: Running) -> list[str]:
    """Print the `values` section."""
    return [
        f"rdma_netns_mode\t{running.rdma_mode}",
        f"secure_boot\t{int(machine.secure_boot)}",
        f"memlock\t{_memlock(machine, running)}",
        f"mlx5_version\t{running.mlx5_version}",
        f"nvidia_peermem\t{int(running.peermem)}",
        f"uptime_s\t{machine.settings.uptime_s:.2f}",
    ]


def _memlock(machine: Machine, running: Running) -> str:
    return running.memlock or machine.settings.memlock


def runtime(machine: Machine, running: Running) -> list[str]:
    """Print the `runtime` section."""
    settings = machine.settings
    program = {"cri-o": "crio"}.get(settings.runtime, settings.runtime)
    own = settings.memlock if settings.memlock == "unlimited" else str(int(settings.memlock) * 1024)
    lines = [f"{path}: {line}" for path, line in running.lines_of(("/etc/crio/", "/etc/containerd/"))]
    return [
        f"name\t{settings.runtime}",
        f"version\t{settings.runtime_version}",
        *(f"setting\t{line}" for line in (*settings.runtime_settings, *lines) if "=" in line),
        f"limit\tMax locked memory\t{own} {own}",
        f"memlock\t{_memlock(machine, running)}",
        f"memlock_origin\t{'/etc/crio/crio.conf.d' if running.memlock else f'limits of {program}'}",
    ]


def kernel_config(machine: Machine) -> list[str]:
    """Print the `kernel-config` section."""
    return [f"{key}={value}" for key, value in machine.settings.kernel_config]


def module_parameters(machine: Machine, running: Running) -> list[str]:
    """Print the `module-parameters` section."""
    mode = "N" if running.rdma_mode == "exclusive" else "Y"
    rows = [("ib_core", "netns_mode", mode), *machine.settings.module_parameters]
    return ["\t".join(row) for row in rows]


def modprobe(machine: Machine, running: Running) -> list[str]:
    """Print the `modprobe` section."""
    return [*machine.settings.modprobe, *running.modprobe]


def sysctls(machine: Machine) -> list[str]:
    """Print the `sysctl` section: the general ones, and those of every RDMA netdev unless the world sets them."""
    known = dict(machine.settings.sysctls)
    for nic in machine.nics:
        if nic.rdma:
            for key in ("accept_local", "arp_announce", "arp_ignore", "rp_filter"):
                known.setdefault(f"net.ipv4.conf.{nic.netdev}.{key}", "0")
    return [f"{key}\t{value}" for key, value in sorted(known.items())]


def devices(machine: Machine, running: Running) -> list[str]:
    """Print the `devices` section."""
    gpu = list(machine.settings.gpu_char_devices)
    if running.gpu_driver:
        gpu += [*(f"nvidia{number}" for number, _ in enumerate(machine.gpus)), "nvidiactl", "nvidia-uvm"]
    has_umad = "ib_umad" in loaded(machine, running)
    rdma = char_devices(machine, has_umad=has_umad)
    return [*(f"rdma\t{name}" for name in rdma), *(f"gpu\t{name}" for name in sorted(gpu))]


def cni(machine: Machine) -> list[str]:
    """Print the `cni` section."""
    settings = machine.settings
    return [f"/var/lib/cni/bin\t{name}" for name in _CNI if name not in settings.missing_cni] + [
        f"config\t{name}" for name in settings.cni_configs
    ]


def nvidia_parameters(machine: Machine, running: Running) -> list[str]:
    """Print the `nvidia-params` section."""
    return [f"{key}: {value}" for key, value in machine.settings.nvidia_parameters] if running.gpu_driver else []


def processor(machine: Machine) -> list[str]:
    """Print the `cpu` section."""
    settings = machine.settings
    arm = machine.architecture == "aarch64"
    return [
        f"vendor\t{'ARM' if arm else settings.cpu_vendor}",
        f"model\t{'Neoverse-V2' if arm else settings.cpu_model}",
        f"count\t{settings.cpus}",
        *([] if arm else [f"hypervisor\t{'true' if settings.under_hypervisor else 'false'}"]),
    ]


def numa(machine: Machine) -> list[str]:
    """Print the `numa` section: two sockets, each of as many nodes as the firmware was told."""
    settings = machine.settings
    nodes = 2 * settings.nps
    each = settings.cpus // nodes
    return [
        "\t".join(
            [
                str(number),
                f"cpus={number * each}-{(number + 1) * each - 1}",
                f"memory_kib={settings.memory_kib // nodes}",
                "distances=" + " ".join(str(_distance(number, other, settings.nps)) for other in range(nodes)),
            ]
        )
        for number in range(nodes)
    ]


def _distance(one: int, other: int, nps: int) -> int:
    return 10 if one == other else 12 if one // nps == other // nps else 21


def huge_pages(machine: Machine) -> list[str]:
    """Print the `hugepages` section."""
    return ["\t".join(map(str, row)) for row in machine.settings.hugepages]


def chassis(machine: Machine) -> list[str]:
    """Print the `dmi` section."""
    return [f"{key}\t{value}" for key, value in machine.settings.chassis]
