"""Every stand-in, in the order in which a world steps them."""

from railwright.standins.kinds import (
    daemonsets,
    gpu_operator,
    kubelet,
    mco,
    multus,
    network_operator,
    networks,
    nfd,
    nv_ipam,
    olm,
    sriov_operator,
)
from railwright.standins.model import React

STANDINS: tuple[tuple[str, React], ...] = (
    ("catalog-operator", olm.react),
    ("machine-config-controller", mco.react),
    ("nfd", nfd.react),
    ("network-operator", network_operator.react),
    ("network-operator-upgrade", network_operator.react_driver_upgrade),
    ("network-operator-networks", networks.react_nvidia),
    ("nv-ipam-controller", nv_ipam.react),
    ("sriov-network-operator", sriov_operator.react),
    ("sriov-network-operator-networks", networks.react_sriov),
    ("gpu-operator", gpu_operator.react),
    ("deployment-controller", daemonsets.react_deployments),
    ("daemon-set-controller", daemonsets.react_daemon_sets),
    ("kubelet", kubelet.react),
    ("multus", multus.react),
)
"""Field manager -> what it does."""
