#!/bin/sh
# Print what a node is made of, as a node record (its format: __init__.py beside this file).
#
# Read-only. POSIX sh (dash, busybox ash, bash); no jq, Python or lspci; ip, rdma, nsenter and od only where they are.
# Runs as root or not, on the node itself, in a chroot of its root, or in a privileged pod that sees its processes.
# What can't be read is said in the section "problems": silence there means that everything was read.

set -u
LC_ALL=C
export LC_ALL
PATH=${PATH:-/usr/bin}:/usr/sbin:/usr/bin:/sbin:/bin
BLANKS=' 	
'
IFS=$BLANKS
TAB='	'
LIMIT=8192 # lines a section: 1,000 virtual functions with their netdevs and GIDs stay well below
problems=''
value=''
lines=0

section() {
  current=$1
  lines=0
  printf '=== railwright %s\n' "$1"
}

problem() { # section, why
  problems="$problems$1$TAB$2
"
}

out() { # one line, unless the section is full
  lines=$((lines + 1))
  if [ "$lines" -le "$LIMIT" ]; then
    printf '%s\n' "$1"
  elif [ "$lines" -eq $((LIMIT + 1)) ]; then
    problem "$current" "more than $LIMIT lines"
  fi
}

get() { # first line of a file into $value; empty when it can't be read
  value=''
  [ -r "$1" ] || return 1
  { IFS= read -r value <"$1"; } 2>/dev/null
  [ -n "$value" ]
}

field() { # key, file: append "key=first line" to $row, when there is one
  if get "$2"; then row="$row$TAB$1=$value"; fi
}

real() { # physical path of a folder into $value
  value=$(cd -P "$1" 2>/dev/null && pwd -P)
  [ -n "$value" ]
}

have() { command -v "$1" >/dev/null 2>&1; }

program() { # full path of a program into $value: a busybox shell would run its own, lesser one by the same name
  value=''
  IFS=:
  for folder in $PATH; do
    if [ -x "$folder/$1" ]; then
      value=$folder/$1
      break
    fi
  done
  IFS=$BLANKS
}

is_pci() { # DDDD:BB:DD.F
  case $1 in
    [0-9a-f][0-9a-f][0-9a-f][0-9a-f]*:[0-9a-f][0-9a-f]:[0-9a-f][0-9a-f].[0-7]) return 0 ;;
  esac
  return 1
}

last_pci() { # the last PCI address in a path into $value
  value=''
  rest=$1/
  while [ -n "$rest" ]; do
    step=${rest%%/*}
    rest=${rest#*/}
    if is_pci "$step"; then value=$step; fi
  done
}

whole() { # section, file: the file as it is, first lines of it
  section "$1"
  if [ ! -r "$2" ]; then
    problem "$1" "$2 can't be read"
    return
  fi
  { while IFS= read -r line || [ -n "$line" ]; do out "$line"; done <"$2"; } 2>/dev/null
}

optional() { # like whole, but the file's absence is an answer
  if [ -e "$2" ]; then whole "$1" "$2"; else section "$1"; fi
}

# --- where the node's own view is ------------------------------------------------------------------------------------

# Process 1 is the node's only where kernel threads are seen; a container has a process 1 of its own.
proc=''
for candidate in /proc /host/proc /rootfs/proc; do
  if get "$candidate/2/comm" && [ "$value" = kthreadd ]; then
    proc=$candidate
    break
  fi
done
root=''
if [ -n "$proc" ] && [ -r "$proc/1/root/etc/os-release" ]; then
  root=$proc/1/root
else
  for candidate in /host /rootfs; do
    if [ -r "$candidate/etc/os-release" ]; then root=$candidate && break; fi
  done
fi
sys=$root/sys
[ -d "$sys/class/net" ] || sys=/sys

netns=unknown
enter=''
if [ -n "$proc" ]; then
  own=$(readlink "$proc/self/ns/net" 2>/dev/null)
  node=$(readlink "$proc/1/ns/net" 2>/dev/null)
  if [ -n "$own" ] && [ -n "$node" ]; then
    if [ "$own" = "$node" ]; then
      netns=host
    elif [ "$sys" = "$proc/1/root/sys" ] && have nsenter && nsenter "--net=$proc/1/ns/net" true 2>/dev/null; then
      # sysfs shows the devices of the namespace that it was mounted in: below process 1's root that is the node's.
      netns=host
      enter=nsenter
    else
      netns=other
    fi
  fi
fi
net=${proc:-/proc}/self/net
if [ -n "$enter" ]; then net=$proc/1/net; fi

in_node_net() {
  if [ -n "$enter" ]; then nsenter "--net=$proc/1/ns/net" "$@"; else "$@"; fi
}

proc_files=${proc:-/proc}
program ip
ip=$value

# --- the system ------------------------------------------------------------------------------------------------------

section meta
out "record_version${TAB}1"
get "$proc_files/sys/kernel/hostname" || value=$(uname -n)
out "hostname$TAB$value"
out "kernel$TAB$(uname -r)"
out "architecture$TAB$(uname -m)"
value=$(getconf PAGESIZE 2>/dev/null || getconf PAGE_SIZE 2>/dev/null)
if [ -z "$value" ] && [ -r "$proc_files/self/smaps" ]; then
  while read -r key size _; do
    if [ "$key" = KernelPageSize: ]; then value=$((size * 1024)) && break; fi
  done <"$proc_files/self/smaps"
fi
if [ -n "$value" ]; then out "page_size_bytes$TAB$value"; else problem meta "page size is not known"; fi
out "netns$TAB$netns"

if [ -r "$root/etc/os-release" ]; then whole os-release "$root/etc/os-release"; else whole os-release "$root/usr/lib/os-release"; fi
whole cmdline "$proc_files/cmdline"
whole modules "$proc_files/modules"
optional lockdown "$sys/kernel/security/lockdown"
optional nvidia-version "$proc_files/driver/nvidia/version"

# --- mounts: without the kinds that need neither disk nor network, of which every container adds a dozen --------------

section mounts
if [ -n "$proc" ] && [ -r "$proc/1/mounts" ]; then
  while IFS= read -r line; do
    kind=${line#* }
    kind=${kind#* }
    case ${kind%% *} in
      overlay | tmpfs | proc | sysfs | devtmpfs | devpts | mqueue | cgroup | cgroup2 | securityfs | debugfs | tracefs) ;;
      configfs | fusectl | bpf | pstore | efivarfs | hugetlbfs | autofs | nsfs | ramfs | selinuxfs | binfmt_misc) ;;
      *) out "$line" ;;
    esac
  done <"$proc/1/mounts"
else
  problem mounts "the mounts of process 1 of the node can't be read"
fi

# --- routes and network devices --------------------------------------------------------------------------------------

whole route4 "$net/route"
if [ -e "$net/ipv6_route" ] || [ -e "$net/if_inet6" ]; then
  whole route6 "$net/ipv6_route"
else
  section route6 # IPv6 is switched off
fi
if [ -n "$ip" ] && [ "$netns" = host ]; then
  section route4_tables
  text=$(in_node_net "$ip" -o -4 route show table all 2>/dev/null)
  while IFS= read -r line; do
    case $line in '' | local* | broadcast*) ;; *) out "$line" ;; esac
  done <<EOT
$text
EOT
fi

# What made each virtual device, as " name=kind name=kind ", from one call: a node may have a thousand of them.
kinds=' '
link_text=''
[ -n "$ip" ] && link_text=$(in_node_net "$ip" -o -d link show 2>/dev/null)
while IFS= read -r line; do
  case $line in
    *' veth '*) kind=veth ;;
    *' vlan protocol '*) kind=vlan ;;
    *' macvlan mode '*) kind=macvlan ;;
    *' macvtap mode '*) kind=macvtap ;;
    *' ipvlan '*) kind=ipvlan ;;
    *'\    openvswitch '*) kind=openvswitch ;;
    *'\    team '*) kind=team ;;
    *' vxlan '*) kind=vxlan ;;
    *' geneve '*) kind=geneve ;;
    *' vrf table '*) kind=vrf ;;
    *'\    ipoib '*) kind=ipoib ;;
    *'\    tun '*) kind=tun ;;
    *'\    dummy '*) kind=dummy ;;
    *'\    wireguard '*) kind=wireguard ;;
    *) continue ;;
  esac
  name=${line#*: }
  name=${name%%:*}
  kinds="$kinds${name%%@*}=$kind "
done <<EOT
$link_text
EOT

kind_of_link() { # name, folder: what made a virtual device, into $value; empty for hardware
  value=''
  if [ -d "$2/bonding" ]; then value=bond && return; fi
  if [ -d "$2/bridge" ]; then value=bridge && return; fi
  for kind in veth openvswitch vlan macvlan macvtap ipvlan team vxlan geneve vrf ipoib tun dummy wireguard; do
    case $kinds in *" $1=$kind "*) value=$kind && return ;; esac
  done
  if [ -d "$2/device" ]; then return; fi
  if [ -r "$2/uevent" ]; then
    while IFS= read -r line; do
      case $line in DEVTYPE=*) value=${line#DEVTYPE=} ;; esac
    done <"$2/uevent"
  fi
  if [ -z "$value" ]; then
    if [ "$1" = ovs-system ]; then
      value=openvswitch
    elif real "$2"; then
      case $value in */devices/virtual/*) value=virtual ;; *) value='' ;; esac
    fi
  fi
}

section net
found=0
for folder in "$sys"/class/net/*; do
  [ -r "$folder/type" ] || continue
  found=1
  name=${folder##*/}
  row=$name
  field type "$folder/type"
  field mtu "$folder/mtu"
  field address "$folder/address"
  field operstate "$folder/operstate"
  field carrier "$folder/carrier"
  field speed "$folder/speed"
  field port_name "$folder/phys_port_name"
  if real "$folder/master"; then row="$row${TAB}master=${value##*/}"; fi
  if [ -d "$folder/device" ] && real "$folder/device"; then
    last_pci "$value"
    if [ -n "$value" ]; then row="$row${TAB}pci=$value"; fi
  fi
  lowers=''
  for lower in "$folder"/lower_*; do
    [ -d "$lower" ] && lowers="${lowers:+$lowers,}${lower##*/lower_}"
  done
  if [ -n "$lowers" ]; then row="$row${TAB}lowers=$lowers"; fi
  kind_of_link "$name" "$folder"
  if [ -n "$value" ]; then row="$row${TAB}kind=$value"; fi
  out "$row"
done
if [ "$found" -eq 0 ]; then problem net "no network device in $sys/class/net"; fi

section addr
if [ -z "$ip" ]; then
  problem addr "the ip command is not here"
elif ! text=$(in_node_net "$ip" -o addr show 2>/dev/null); then
  problem addr "ip -o addr show failed"
else
  while IFS= read -r line; do
    if [ -n "$line" ]; then out "$line"; fi
  done <<EOT
$text
EOT
fi

# --- PCI -------------------------------------------------------------------------------------------------------------

section pci
if [ ! -d "$sys/bus/pci/devices" ]; then problem pci "no $sys/bus/pci/devices"; fi
for folder in "$sys"/bus/pci/devices/*; do
  get "$folder/class" || continue
  class=${value#0x}
  case $class in
    02* | 03* | 12*) ;;
    *) [ -e "$folder/sriov_totalvfs" ] || continue ;;
  esac
  real "$folder" || continue
  path=pci${value#*/pci}
  row=${folder##*/}
  for key in vendor device; do
    if get "$folder/$key"; then row="$row$TAB$key=${value#0x}"; fi
  done
  row="$row${TAB}class=$class"
  for key in subsystem_vendor subsystem_device; do
    if get "$folder/$key"; then row="$row$TAB$key=${value#0x}"; fi
  done
  field numa "$folder/numa_node"
  if real "$folder/driver"; then row="$row${TAB}driver=${value##*/}"; fi
  row="$row${TAB}path=$path"
  field link_speed "$folder/current_link_speed"
  field link_width "$folder/current_link_width"
  field max_link_speed "$folder/max_link_speed"
  field max_link_width "$folder/max_link_width"
  field sriov_totalvfs "$folder/sriov_totalvfs"
  field sriov_numvfs "$folder/sriov_numvfs"
  if real "$folder/physfn"; then row="$row${TAB}physfn=${value##*/}"; fi
  out "$row"
done

# --- RDMA ------------------------------------------------------------------------------------------------------------

section infiniband
for folder in "$sys"/class/infiniband/*; do
  [ -d "$folder/ports" ] || continue
  pci=''
  if real "$folder/device"; then last_pci "$value" && pci=$value; fi
  for port in "$folder"/ports/*; do
    [ -d "$port" ] || continue
    row="${folder##*/}$TAB${port##*/}"
    if [ -n "$pci" ]; then row="$row${TAB}pci=$pci"; fi
    field link_layer "$port/link_layer"
    field state "$port/state"
    field phys_state "$port/phys_state"
    field rate "$port/rate"
    field node_guid "$folder/node_guid"
    field lid "$port/lid"
    field sm_lid "$port/sm_lid"
    field fw_ver "$folder/fw_ver"
    field board_id "$folder/board_id"
    out "$row"
  done
done

section gids
for folder in "$sys"/class/infiniband/*; do
  # Each port has 256 entries; a thousand virtual functions would take longer than a node may take to answer.
  if [ -e "$folder/device/physfn" ]; then continue; fi
  for file in "$folder"/ports/*/gids/*; do
    get "$file" || continue
    if [ "$value" = 0000:0000:0000:0000:0000:0000:0000:0000 ]; then continue; fi
    gid=$value
    index=${file##*/}
    port=${file%/gids/*}
    get "$port/gid_attrs/types/$index"
    type=$value
    get "$port/gid_attrs/ndevs/$index"
    out "${folder##*/}$TAB${port##*/}$TAB$index$TAB$type$TAB$value$TAB$gid"
  done
done

# --- storage over a network ------------------------------------------------------------------------------------------

section nvme
for folder in "$sys"/class/nvme/*; do
  get "$folder/transport" || continue
  row="${folder##*/}$TAB$value"
  get "$folder/address"
  out "$row$TAB$value"
done

section iscsi
for folder in "$sys"/class/iscsi_session/*; do
  [ -d "$folder" ] || continue
  name=${folder##*/}
  connection=$sys/class/iscsi_connection/connection${name#session}:0
  get "$connection/address" || get "$connection/persistent_address"
  out "$name$TAB$value"
done

# --- single values ---------------------------------------------------------------------------------------------------

section values
mode=''
if have rdma; then
  case $(rdma system show 2>/dev/null) in
    *'netns shared'*) mode=shared ;;
    *'netns exclusive'*) mode=exclusive ;;
  esac
fi
if [ -z "$mode" ] && get "$sys/module/ib_core/parameters/netns_mode"; then
  case $value in Y) mode=shared ;; N) mode=exclusive ;; esac
fi
if [ -n "$mode" ]; then out "rdma_netns_mode$TAB$mode"; fi

efi=$sys/firmware/efi
if [ ! -d "$efi" ]; then
  out "secure_boot${TAB}false"
else
  for file in "$efi"/efivars/SecureBoot-*; do
    if [ ! -r "$file" ]; then
      problem values "secure_boot: EFI variables can't be read"
    elif have od; then
      # four bytes of attributes, then the value
      last=''
      for byte in $(od -An -t u1 "$file" 2>/dev/null); do last=$byte; done
      case $last in 1) out "secure_boot${TAB}true" ;; 0) out "secure_boot${TAB}false" ;; esac
    fi
    break
  done
fi

# The limit that a new container gets: the runtime's own setting, else what the runtime itself runs under.
memlock=''
for file in "$root"/etc/crio/crio.conf "$root"/etc/crio/crio.conf.d/*; do
  [ -r "$file" ] || continue
  while IFS= read -r line; do
    case $line in
      '#'*) ;;
      *memlock=*)
        value=${line#*memlock=}
        value=${value%%[!0-9:-]*}
        value=${value%%:*}
        case $value in
          -1) memlock=unlimited ;;
          '' | *[!0-9]*) ;;
          *) memlock=$((value / 1024)) ;;
        esac
        ;;
    esac
  done <"$file"
done
if [ -z "$memlock" ] && [ -n "$proc" ]; then
  for file in "$proc"/[0-9]*/comm; do
    get "$file" || continue
    case $value in
      crio | containerd)
        limits=${file%/comm}/limits
        [ -r "$limits" ] || break
        while read -r first second third soft _; do
          if [ "$first $second $third" = 'Max locked memory' ]; then
            case $soft in unlimited) memlock=unlimited ;; *[!0-9]*) ;; *) memlock=$((soft / 1024)) ;; esac
          fi
        done <"$limits"
        break
        ;;
    esac
  done
fi
if [ -n "$memlock" ]; then out "memlock$TAB$memlock"; fi
if get "$sys/module/mlx5_core/version"; then out "mlx5_version$TAB$value"; fi
if [ -d "$sys/module/nvidia_peermem" ]; then out "nvidia_peermem${TAB}loaded"; else out "nvidia_peermem${TAB}absent"; fi

section problems
printf '%s' "$problems"
printf '=== railwright end\n'
