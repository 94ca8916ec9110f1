"""Network devices, addresses and routes of a simulated node, as the node script prints them."""

from collections.abc import Mapping
from ipaddress import ip_interface
from typing import Any

from railwright.simulator.addresses import guid_bytes
from railwright.simulator.hardware import Machine, Nic
from railwright.simulator.running import Running

_FOREVER = "\\       valid_lft forever preferred_lft forever"
_LEASED = "\\       valid_lft 3412sec preferred_lft 3412sec"
_LO = "lo\ttype=772\tmtu=65536\taddress=00:00:00:00:00:00\toperstate=unknown\tcarrier=1"


def routes(machine: Machine) -> list[str]:
    """Print the `route4` section."""
    lines = ["Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT"]
    if machine.default_route:
        gateway = _hexadecimal(machine.gateway.split("."))
        lines.append(f"{machine.default_route}\t00000000\t{gateway}\t0003\t0\t0\t48\t00000000\t0\t0\t0")
    devices = [(item.name, item.ips, 48) for item in machine.virtuals]
    devices += [(nic.netdev, nic.ips, 100) for nic in machine.nics]
    for name, own, metric in devices:
        for address in own:
            network = _hexadecimal([*address.partition("/")[0].split(".")[:3], "0"])
            lines.append(f"{name}\t{network}\t00000000\t0001\t0\t0\t{metric}\t00FFFFFF\t0\t0\t0")
    return lines


def _hexadecimal(octets: list[str]) -> str:
    """Write an IPv4 address as /proc/net/route does on a little-endian machine."""
    return "".join(f"{int(part):02X}" for part in reversed(octets))


def routes6(machine: Machine) -> list[str]:
    """Print the `route6` section."""
    nowhere = "0" * 32
    router = "fe80".ljust(31, "0") + "1"
    left = f"{nowhere} 00 {nowhere} 00 {router} 00000400 00000001 00000000 00000003 {machine.default_route6:>8}"
    return [left] if machine.default_route6 else []


def route_tables6(machine: Machine) -> list[str]:
    """Print the `route6_tables` section."""
    return [f"default via fe80::1 dev {machine.default_route6} proto ra metric 1024"] if machine.default_route6 else []


def route_tables(machine: Machine) -> list[str]:
    """Print the `route4_tables` section."""
    left = f"default via {machine.gateway} dev {machine.default_route} proto dhcp metric 48"
    lines = [left] if machine.default_route else []
    for nic in machine.nics:
        lines += [f"{ip_interface(own).network} dev {nic.netdev} proto kernel metric 100" for own in nic.ips]
    return [*lines, *machine.other_routes]


def tunnels(machine: Machine) -> list[str]:
    """Print the `ovs` section."""
    if all(item.name != "ovs-system" for item in machine.virtuals):
        return []
    return [f"ovn-encap-ip\t{machine.tunnel_address or machine.address}"]


def net(machine: Machine, running: Running) -> list[str]:
    """Print the `net` section."""
    lines = [_LO]
    for nic in machine.nics:
        lines.append(_port(nic, running))
        lines += [_vf(nic, vf) for vf in running.vfs.get(nic.pci, ())]
    lines += [
        "\t".join(
            [
                item.name,
                "type=1",
                f"mtu={item.mtu}",
                "address=0c:42:a1:00:00:01",
                "operstate=up",
                "carrier=1",
                f"master={item.master}",
                f"lowers={','.join(item.lowers)}",
                f"kind={item.kind}",
            ]
        )
        for item in machine.virtuals
    ]
    return lines


def _port(nic: Nic, running: Running) -> str:
    fields = [
        nic.netdev,
        f"type={32 if nic.is_ib else 1}",
        f"mtu={running.mtu.get(nic.netdev, nic.mtu)}",
        f"address={_hardware_address(nic)}",
        f"operstate={'up' if nic.carrier else 'down'}",
        f"carrier={int(nic.carrier)}",
        f"carrier_changes={nic.carrier_changes}",
        f"speed={nic.rate_gbps * 1000 if nic.carrier else -1}",
        f"master={nic.master}",
        f"pci={nic.pci}",
        f"kind={'ipoib' if nic.is_ib else ''}",
    ]
    if nic.alias:
        fields.append(f"alias={nic.alias}")
    if nic.is_ib:
        fields.append(f"pkey=0x{nic.pkeys[0] if nic.pkeys else 0:04x}")
    return "\t".join(fields)


def _vf(nic: Nic, vf: Mapping[str, Any]) -> str:
    return "\t".join(
        [
            str(vf["name"]),
            f"type={32 if nic.is_ib else 1}",
            f"mtu={vf['mtu']}",
            f"address={vf['mac']}",
            "operstate=down",
            "carrier=0",
            "carrier_changes=1",
            "speed=-1",
            f"pci={vf['pciAddress']}",
        ]
    )


def _hardware_address(nic: Nic) -> str:
    if not nic.is_ib:
        return nic.mac
    return f"00:00:10:49:fe:80:00:00:00:00:00:00:{guid_bytes(nic)}"


def addresses(machine: Machine, running: Running) -> list[str]:
    """Print the `addr` section."""
    lines = [f"1: lo    inet 127.0.0.1/8 scope host lo{_FOREVER}"]
    devices = [(nic.netdev, nic.ips, nic.dynamic_ips) for nic in machine.nics]
    devices += [
        (str(vf["name"]), nic.vf_leases, nic.vf_leases)
        for nic in machine.nics
        for vf in running.vfs.get(nic.pci, ())[:1]
    ]
    devices += [(item.name, item.ips, ()) for item in machine.virtuals]
    for number, (name, static, dynamic) in enumerate(devices, start=2):
        for address in static:
            end = f"dynamic {name}{_LEASED}" if address in dynamic else f"{name}{_FOREVER}"
            lines.append(f"{number}: {name}    inet {address} brd + scope global {end}")
    return lines


def qos(machine: Machine) -> list[str]:
    """Print the `qos` section: what `dcb` and sysfs show of Ethernet ports that have an RDMA device."""
    lines = []
    for nic in machine.nics:
        if not nic.rdma or nic.is_ib:
            continue
        states = " ".join(f"{number}:{'on' if number in nic.pfc_priorities else 'off'}" for number in range(8))
        lines += [f"{nic.netdev}\tpfc\tpfc-cap 8 macsec-bypass off delay 0", f"{nic.netdev}\tpfc\tprio-pfc {states}"]
        table = " ".join(f"{point}:{point >> 3}" for point in range(64)) if nic.trust == "dscp" else ""
        lines.append(f"{nic.netdev}\tapp\t{f'dscp-prio {table}' if table else 'default-prio'}")
        lines.append(f"{nic.rdma}\troce_tos\t0")
        if nic.traffic_class is not None:
            lines.append(f"{nic.rdma}\ttraffic_class\tGlobal tclass={nic.traffic_class}")
    return lines


def ethtool(machine: Machine) -> list[str]:
    """Print the `ethtool` section."""
    return [
        "\t".join([nic.netdev, *(f"{name}={value}" for name, value in nic.ethtool)])
        for nic in machine.nics
        if nic.rdma and not nic.is_ib
    ]
