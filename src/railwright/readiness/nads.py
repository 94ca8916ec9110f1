"""
NetworkAttachmentDefinitions: reading their config, and comparing one with the network object that it comes from.

Measured: Network Operator 26.4.1 and SR-IOV network operator 1.6.0 against kube-apiserver 1.36.3, 2026-11.
"""

from collections.abc import Mapping
from typing import Any

from railwright.core.foreign_text import parse_json
from railwright.core.multus import RESOURCE_NAME
from railwright.core.objects import KubeObject, annotations_of, dig, kind_of, ref_of
from railwright.readiness.answers import failed, progressing, ready
from railwright.readiness.model import Judgement

_CNI_TYPE: Mapping[str, str] = {
    "MacvlanNetwork": "macvlan",
    "IPoIBNetwork": "ipoib",
    "HostDeviceNetwork": "host-device",
    "SriovNetwork": "sriov",
    "SriovIBNetwork": "ib-sriov",
}
_HOST_DEVICE_PREFIX = "nvidia.com/"
"""Put before resourceName by the operator; it cannot be changed."""


def judge_nad(nad: KubeObject, network: KubeObject) -> Judgement:
    """Judge the NAD of a network object: config, CNI type, master and resource as the network wants them."""
    config, problem = read_config(nad)
    if problem:
        return failed(problem)
    wanted_type = _CNI_TYPE[kind_of(network).kind]
    if cni_type(config) != wanted_type:
        return failed(
            f"{ref_of(nad)} is of type {cni_type(config)}, {wanted_type} is wanted: another network has its name"
        )
    ipam = str(dig(network, "spec", "ipam", default=""))
    if ipam.strip() and not _same_json(ipam, config.get("ipam", dig(config, "plugins", 0, "ipam"))):
        return progressing(f"{ref_of(nad)} has another ipam than {ref_of(network)}; an edited NAD is not repaired")
    mtu = dig(network, "spec", "mtu", default=0)
    if mtu and config.get("mtu") != mtu:
        return progressing(f"{ref_of(nad)} has mtu {config.get('mtu')}, {mtu} is wanted")
    master = dig(network, "spec", "master")
    if master and config.get("master") != master:
        return progressing(f"{ref_of(nad)} has master {config.get('master')}, {master} is wanted")
    resource = dig(network, "spec", "resourceName")
    seen = annotations_of(nad).get(RESOURCE_NAME, "")
    if wanted_type == "host-device" and resource and seen != f"{_HOST_DEVICE_PREFIX}{resource}":
        return progressing(f"{ref_of(nad)} names resource {seen or 'none'}, {_HOST_DEVICE_PREFIX}{resource} is wanted")
    if resource and not seen.endswith(f"/{resource}"):
        return progressing(f"{ref_of(nad)} names resource {seen or 'none'}, one ending in /{resource} is wanted")
    return ready(f"NAD of type {wanted_type} is there")


def read_config(nad: KubeObject) -> tuple[Mapping[str, Any], str]:
    """Read a NAD's config; the text says what is wrong with it, empty when nothing is."""
    text = str(dig(nad, "spec", "config", default=""))
    try:
        config = parse_json(text)
    except ValueError as error:
        return {}, f"{ref_of(nad)}: its config is no JSON ({error}): {text[:200]!r}"
    if not isinstance(config, dict) or not cni_type(config):
        return {}, f"{ref_of(nad)}: its config names no CNI type"
    return config, ""


def cni_type(config: Mapping[str, Any]) -> str:
    """CNI type of a config; of a list of plugins the first one's."""
    return str(config.get("type") or dig(config, "plugins", 0, "type", default=""))


def is_json(text: str) -> bool:
    """Whether text can be read as JSON."""
    try:
        parse_json(text)
    except ValueError:
        return False
    return True


def _same_json(text: str, value: Any) -> bool:
    return is_json(text) and bool(parse_json(text) == value)
