"""
perftest in an image without Python: one POSIX shell script a half, its words in named sections.

It finds the RDMA device whose netdev is the pod's own and its RoCE v2 GID, or on InfiniBand the port whose GUID the pod's
IPoIB device has, and its partition; reads the port's counters, and runs the program under `timeout`. It checks no bytes,
forbids no emulation and withholds nothing: witness 4 and the counters are all that it can give.
"""

from railwright.core.foreign_text import whole_number
from railwright.core.ids import NetDevice, RdmaDevice
from railwright.dataplane.model import Counter, PerftestRequest, Problem, Reply, Used
from railwright.dataplane.perftest import gpu_arguments
from railwright.ports.cluster import ExecResult

_MARK = "=== verify "
_COUNTERS = ("port_xmit_data", "port_rcv_data")
_TIMED_OUT = 124
_USED = 6
"""Fields of the section `used`."""
_PROBLEMS = {
    "no-device": "no RDMA device goes with {rail} in this pod",
    "no-pkey": "the port of {rail} is not in the partition that is meant, or in none",
    "pkeys-unread": "the partition keys of the port of {rail} cannot be read: nobody knows whom it may talk to",
}

_SCRIPT = """
sys={sys}; netdev={netdev}; device={device}; port={port}; index=; kind=; gid=; wanted={partition}; entry=; key=
mark() {{ printf '{mark}%s\\n' "$1"; }}
give_up() {{ mark problem; echo "$1"; exit 0; }}
for table in "$sys"/class/infiniband/*/ports/*/gid_attrs; do
  [ -d "$table" ] || continue
  one=${{table#"$sys"/class/infiniband/}}; one=${{one%%/*}}
  [ -n "$device" ] && [ "$device" != "$one" ] && continue
  for each in "$table"/ndevs/*; do
    number=${{each##*/}}
    [ "$(cat "$each" 2>/dev/null)" = "$netdev" ] || continue
    [ "$(cat "$table/types/$number" 2>/dev/null)" = "RoCE v2" ] || continue
    value=$(cat "$table/../gids/$number" 2>/dev/null)
    case "$value" in fe80:*) [ -n "$index" ] && continue ;; esac
    device=$one; index=$number; kind="RoCE v2"; gid=$value
    case "$value" in 0000:0000:0000:0000:0000:ffff:*) break 2 ;; esac
  done
done
own=$(cut -d: -f13- "$sys/class/net/$netdev/address" 2>/dev/null | tr -d :)
if [ -z "$device" ] && [ "${{#own}}" -eq 16 ] && [ "$own" != 0000000000000000 ]; then
  for each in "$sys"/class/infiniband/*/ports/"$port"/gids/0; do
    [ "$(cut -d: -f5- "$each" 2>/dev/null | tr -d :)" = "$own" ] || continue
    device=${{each#"$sys"/class/infiniband/}}; device=${{device%%/*}}
    break
  done
fi
[ -n "$device" ] || give_up no-device
here=$sys/class/infiniband/$device/ports/$port
if [ "$(cat "$here/link_layer" 2>/dev/null)" = InfiniBand ]; then
  value=$(cat "$sys/class/net/$netdev/pkey" 2>/dev/null)
  [ -n "$wanted" ] || [ -z "$value" ] || wanted=$((value & 0x7fff))
  first=
  for each in "$here"/pkeys/*; do
    value=$(cat "$each" 2>/dev/null) || give_up pkeys-unread
    number=$((value & 0x7fff))
    [ "$number" -ne 0 ] && [ "${{wanted:-$number}}" -eq "$number" ] || continue
    order=$((${{each##*/}} + (value & 0x8000 ? 0 : 65536)))
    [ -n "$first" ] && [ "$first" -lt "$order" ] && continue
    first=$order; entry=${{each##*/}}; key=$value
  done
  [ -n "$first" ] || give_up no-pkey
fi
mark used; printf '%s\\t%s\\t%s\\t%s\\t%s\\t%s\\n' "$device" "$index" "$gid" "$kind" "$entry" "$key"
counters() {{ for name in port_xmit_data port_rcv_data; do
  value=$(cat "$here/counters/$name" 2>/dev/null) && printf '%s\\t%s\\n' "$name" "$value"
done; }}
mark before; counters
mark words
tries=0
while :; do
  timeout -k 2 {limit} {program} -d "$device" -i "$port" ${{index:+-x "$index"}} ${{entry:+--pkey_index="$entry"}} \\
    {arguments} > /tmp/verify.$$ 2>&1; code=$?
  tries=$((tries + 1))
  {again}break
done
cat /tmp/verify.$$; rm -f /tmp/verify.$$
mark after; counters
mark code; echo "$code"
"""
_AGAIN = (
    '[ $code -ne 0 ] && [ $tries -lt 20 ] && grep -q "Couldn\'t connect" /tmp/verify.$$ && { sleep 1; continue; }\n  '
)


def perftest_script(request: PerftestRequest, timeout_s: float, *, sysfs: str = "/sys") -> str:
    """
    Write the script of one half.

    On InfiniBand it takes the partition that `dataplane.partition.find_key` would, or none.
    """
    arguments = ["-p", str(request.meeting.port), "-F", "-s", str(request.size_bytes), "--report_gbits"]
    arguments += ["-q", str(request.qps)]
    arguments += (
        ["-n", str(request.iterations)]
        if request.duration_s is None
        else ["-D", f"{max(1, round(request.duration_s))}"]
    )
    if request.bidirectional:
        arguments.append("-b")
    if request.wire.path_mtu_bytes is not None:
        arguments += ["-m", str(request.wire.path_mtu_bytes)]
    if request.wire.traffic_class is not None:
        arguments.append(f"--tclass={request.wire.traffic_class}")
    if request.memory.kind == "gpu":
        arguments += gpu_arguments(request)
    connects = request.meeting.role == "connect"
    if connects:
        arguments.append(request.meeting.address)
    return _SCRIPT.format(
        mark=_MARK,
        sys=_word(sysfs),
        partition="" if request.wire.partition is None else request.wire.partition,
        netdev=_word(request.rail.netdev),
        device=_word(request.rail.device),
        port=request.rail.port,
        program=_word(request.program),
        arguments=" ".join(_word(item) for item in arguments),
        limit=max(1, int(timeout_s) - 3),
        again=_AGAIN if connects else "",
    )


def _word(text: str) -> str:
    """Quote for a shell: names come from a cluster."""
    return "'" + text.replace("'", "'\\''") + "'"


def perftest_reply(request: PerftestRequest, done: ExecResult) -> Reply:
    """Read the sections back; what is missing is a problem, never a result."""
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for line in done.stdout.splitlines():
        if line.startswith(_MARK):
            current = sections.setdefault(line.removeprefix(_MARK).strip(), [])
        else:
            current.append(line)
    role = request.meeting.role
    stopped = "".join(sections.get("problem", [])).strip()
    if stopped in _PROBLEMS:
        text = _PROBLEMS[stopped].format(rail=request.rail.netdev or request.rail.device)
        return Reply("perftest", Problem(stopped, text), role)
    code = whole_number("".join(sections.get("code", [])).strip())
    words = "\n".join(sections.get("words", [])) + "\n"
    if code is None:
        text = f"the script did not come to its end (exit code {done.exit_code})"
        return Reply("perftest", Problem("died", text), role, raw=words, raw_errors=done.stderr)
    problem = None
    if code == _TIMED_OUT:
        problem = Problem("timed-out", f"{request.program} did not end in time, and was ended")
    elif code:
        problem = Problem("transfer-failed", f"{request.program} ended with exit code {code}")
    device = _used(sections, request)
    return Reply(
        "perftest",
        problem,
        role,
        device,
        raw=words,
        raw_errors=done.stderr,
        command=f"{request.program} (by shell)",
        exit_code=code,
        before=_counters(sections.get("before", []), device.device, request.rail.port),
        after=_counters(sections.get("after", []), device.device, request.rail.port),
    )


def _used(sections: dict[str, list[str]], request: PerftestRequest) -> Used:
    parts = ([*"".join(sections.get("used", [])).split("\t"), *[""] * _USED])[:_USED]
    return Used(
        device=RdmaDevice(parts[0]),
        port=request.rail.port,
        netdev=NetDevice(request.rail.netdev),
        gid_index=whole_number(parts[1]),
        gid=parts[2],
        gid_type=parts[3],
        pkey_index=whole_number(parts[4]),
        pkey=parts[5],
    )


def _counters(lines: list[str], device: RdmaDevice, port: int) -> tuple[Counter, ...]:
    found = []
    for line in lines:
        name, _, value = line.partition("\t")
        number = whole_number(value.strip())
        if name in _COUNTERS and number is not None:
            found.append(Counter(f"sysfs counters {device}/{port}", name, number, "4 bytes"))
    return tuple(found)
