"""Intent -> its YAML document, in one canonical form: only what was written, in the order of the documentation."""

from collections.abc import Mapping
from typing import Any

import yaml

from railwright.intent.key_doc import API_VERSION, KIND
from railwright.intent.model import Intent, NetworkIntent, NodeSelection, RailSelector
from railwright.intent.read_yaml import scalar_value


class _Dumper(yaml.SafeDumper):
    """Quotes every string that YAML 1.1 or 1.2 would read as something else."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write equal values out each time."""
        del data
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None if isinstance(scalar_value(text), str) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def to_yaml(intent: Intent) -> str:
    """Write one RailFabric; reading it again gives an equal Intent."""
    return yaml.dump(to_data(intent), Dumper=_Dumper, sort_keys=False, default_flow_style=False, width=4096)


def to_data(intent: Intent) -> dict[str, Any]:
    """Give the document as plain data; keys that were left out are left out."""
    spec = _written(
        method=str(intent.method),
        fabric=str(intent.fabric),
        nodes=_nodes(intent.nodes),
        rails=_rails(intent.rails) if intent.rails is not None else None,
        groups=[{"nodes": _nodes(group.nodes), "rails": _rails(group.rails)} for group in intent.groups] or None,
        network=_network(intent.network) or None,
        driver=_written(
            nic=intent.driver.nic and str(intent.driver.nic),
            nicVersion=intent.driver.nic_version,
            gpu=intent.driver.gpu and str(intent.driver.gpu),
            gpuVersion=intent.driver.gpu_version,
            memory=intent.driver.memory and str(intent.driver.memory),
            gdrcopy=intent.driver.gdrcopy,
            gds=intent.driver.gds,
        )
        or None,
        operators=_written(
            approval=intent.operators.approval,
            upgrade=intent.operators.upgrade,
            channels=_sorted(intent.operators.channels),
            catalogs=_sorted(intent.operators.catalogs),
        )
        or None,
        upgrade=_written(
            auto=intent.upgrade.auto,
            maxParallel=intent.upgrade.max_parallel,
            drainTimeoutSeconds=intent.upgrade.drain_timeout_s,
        )
        or None,
        workloadNamespaces=list(intent.workload_namespaces) or None,
        vfsPerRail=intent.vfs_per_rail,
        podsPerRail=intent.pods_per_rail,
        rdmaIsolation=intent.rdma_isolation,
        trafficClass=intent.traffic_class,
        pathMtu=intent.path_mtu_bytes,
        resourcePrefix=intent.resource_prefix,
        tolerations=[dict(toleration) for toleration in intent.tolerations] or None,
        pullSecret=intent.pull_secret,
        imageRegistry=intent.image_registry,
        proxy=_written(http=intent.proxy.http, https=intent.proxy.https, noProxy=list(intent.proxy.no_proxy) or None)
        or None,
        numaAligned=intent.numa_aligned,
    )
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": str(intent.name)}, "spec": spec}


def written(intent: Intent, path: str, entry: str = "") -> str:
    """
    Give what the file says of one key, as it could stand there; "" where it was left out.

    Args:
        path: "spec.network.mtu"; "spec.rails[].netdev" gives what each rail says.
        entry: one entry of the map at `path`.
    """
    found: list[Any] = [to_data(intent)]
    for part in path.split("."):
        name = part.removesuffix("[]")
        found = [item[name] for item in found if isinstance(item, Mapping) and name in item]
        if part.endswith("[]"):
            found = [item for each in found for item in each]
    if entry:
        found = [item[entry] for item in found if entry in item]
    return ", ".join(_in_line(item) for item in found)


def _in_line(value: Any) -> str:
    text = yaml.dump(value, Dumper=_Dumper, sort_keys=False, default_flow_style=True, width=4096)
    return text.removesuffix("\n").removesuffix("\n...")


def _written(**keys: Any) -> dict[str, Any]:
    """Keep the keys that were written."""
    return {name: value for name, value in keys.items() if value is not None}


def _sorted(mapping: Mapping[str, str]) -> dict[str, str] | None:
    return dict(sorted(mapping.items())) or None


def _nodes(nodes: NodeSelection) -> dict[str, Any] | None:
    names = list(nodes.names) if nodes.names is not None else None
    labels = _sorted(nodes.labels) if nodes.labels is not None else None
    return _written(names=names, labels=labels) or None


def _rails(rails: tuple[RailSelector, ...]) -> list[dict[str, Any]]:
    return [
        _written(
            name=rail.name,
            pciAddress=rail.pci_address,
            netdev=rail.netdev,
            deviceId=rail.device_id,
            gpu=rail.gpu,
            subnet=rail.subnet,
        )
        for rail in rails
    ]


def _network(network: NetworkIntent) -> dict[str, Any]:
    return _written(
        subnets=list(network.subnets) if network.subnets is not None else None,
        mtu=network.mtu_bytes,
        ipam=network.ipam and str(network.ipam),
        perNodePrefix=network.per_node_prefix,
        gateway=network.gateway,
        routes=[_written(destination=route.destination, gateway=route.gateway) for route in network.routes] or None,
        pkey=network.pkey,
        guid=network.guid,
        vlan=network.vlan,
        exclude=list(network.exclude) or None,
    )
