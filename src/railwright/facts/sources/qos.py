r"""
The `qos` section: how Ethernet ports sort their traffic, from `dcb` and sysfs.

Samples, each line behind the device and where it comes from:
"ens3f0np0\tpfc\tprio-pfc 0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off", "ens3f0np0\tapp\tdscp-prio 24:3 26:3",
"ens3f0np0\tapptrust\torder: dscp pcp", "mlx5_0\ttraffic_class\tGlobal tclass=106", "mlx5_0\troce_tos\t106".

Source of the words: iproute2 6.12 dcb/dcb_pfc.c, dcb_app.c, dcb_apptrust.c; Linux configfs-rdma_cm; DOCA-OFED's tc.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from railwright.core.ids import NetDevice, RdmaDevice
from railwright.facts.model import Unseen
from railwright.facts.node_model import QosState
from railwright.facts.record import Record, whole_number, wrong_line

_PRIORITY = re.compile(r"\b([0-7]):(on|off)\b")
_POINT = re.compile(r"\b(\d{1,2}):([0-7])\b")
_CLASS = re.compile(r"\bGlobal tclass=(\d{1,9})")
_KNOWN = frozenset({"pfc", "app", "apptrust", "traffic_class", "roce_tos"})


def parse_qos(record: Record) -> tuple[Mapping[NetDevice | RdmaDevice, QosState], tuple[Unseen, ...]]:
    """Read what is said, by network device and by RDMA device; a line that can't be read is named and left out."""
    states: dict[NetDevice | RdmaDevice, QosState] = {}
    with_table: set[NetDevice] = set()
    unseen: list[Unseen] = []
    for line in record.lines("qos"):
        name, _, rest = line.partition("\t")
        origin, found, text = rest.partition("\t")
        if not name.strip() or not found or origin not in _KNOWN:
            unseen.append(wrong_line("qos", line, "not device, origin, text"))
            continue
        device = NetDevice(name.strip())
        states[device] = _with(states.get(device, QosState()), origin, text)
        if origin == "app":
            with_table.add(device)
    for device in with_table:
        # A port of mlx5 trusts DSCP as soon as a table of it is there, and PCP without one; its lines come in any order.
        # Source: Linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, mlx5e_dcbnl_ieee_setapp.
        state = states[device]
        states[device] = replace(state, trust=state.trust or ("dscp" if state.dscp_to_priority else "pcp"))
    return states, tuple(unseen)


def _with(state: QosState, origin: str, text: str) -> QosState:
    if origin == "pfc" and (pairs := _PRIORITY.findall(text)):
        return replace(state, pfc_priorities=tuple(int(number) for number, word in pairs if word == "on"))
    if origin == "app":
        points = {int(point): int(number) for point, number in _POINT.findall(text)} if "dscp-prio" in text else {}
        return replace(state, dscp_to_priority={**state.dscp_to_priority, **points})
    if origin == "apptrust":
        order = text.partition("order:")[2].split()
        return replace(state, trust=order[0] if order else state.trust)
    if origin == "traffic_class":
        forced = _CLASS.search(text)
        return replace(state, traffic_class=int(forced[1]) if forced else None)
    if origin == "roce_tos":
        return replace(state, default_roce_tos=whole_number(text))
    return state
