#!/bin/sh
# Print what a node is made of, as a node record (its format: __init__.py beside this file).
#
# Read-only. POSIX sh (dash, busybox ash, bash); no jq, Python or lspci; ip, rdma, ethtool, dcb, devlink, dmesg, grep,
# nsenter and od or hexdump only where they are. Every program has 10 seconds, every section 8192 lines and 15 seconds.
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
PROGRAM_S=10
SECTION_S=15
problems=''
value=''
lines=0

section() {
  current=$1
  lines=0
  clock
  began=$value
  printf '=== railwright %s\n' "$1"
}

clock() { # whole seconds since the machine started into $value
  value=0
  { read -r value _ </proc/uptime; } 2>/dev/null
  value=${value%%.*}
}

late() { # whether this section has had its time; asked between devices
  clock
  [ "$((value - began))" -ge "$SECTION_S" ] || return 1
  problem "$current" "not done within $SECTION_S s"
}

problem() { # section, why
  problems="$problems$1$TAB$2
"
}

out() { # one line, unless the section is full
  lines=$((lines + 1))
  if [ "$lines" -le "$LIMIT" ]; then
    printf '%.65536s\n' "$1"
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

real() { # physical path of a folder into $value; by going there, since a subshell for each takes seconds on a large node
  value=''
  cd -P "$1" 2>/dev/null || return 1
  value=$PWD
}

have() { command -v "$1" >/dev/null 2>&1; }

limited() { # a program with a deadline, without our input, which is this script
  if [ -n "$timeout" ]; then
    "$timeout" "$PROGRAM_S" "$@" </dev/null 2>/dev/null
  else
    "$@" </dev/null 2>/dev/null
  fi
}

filter() { # pattern: the lines that hold it; all of them where there is no grep
  if have grep; then grep -aE "$1"; else while IFS= read -r line; do printf '%s\n' "$line"; done; fi
}

print_lines() { # text: every line of it that is not blank
  while IFS= read -r line; do
    if [ -n "$line" ]; then out "$line"; fi
  done <<EOT
$1
EOT
}

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

timeout=''
program timeout
if [ -n "$value" ] && "$value" 5 true </dev/null >/dev/null 2>&1; then timeout=$value; fi

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
    elif [ "$sys" = "$proc/1/root/sys" ] && have nsenter && limited nsenter "--net=$proc/1/ns/net" true; then
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
  if [ -n "$enter" ]; then limited nsenter "--net=$proc/1/ns/net" "$@"; else limited "$@"; fi
}

proc_files=${proc:-/proc}
program ip
ip=$value

# The kubelet, whatever process runs it (k3s, MicroK8s, MicroShift), and the container runtime.
kubelet=''
runtime=''
for file in ${proc:+"$proc"/[0-9]*/comm}; do
  get "$file" || continue
  case $value in
    kubelet | kubelite | k3s* | k0s | microshift | hyperkube) kubelet="$kubelet ${file%/comm}" ;;
    crio | containerd) runtime=${runtime:-${file%/comm}} ;;
  esac
done

# --- the system ------------------------------------------------------------------------------------------------------

section meta
out "record_version${TAB}2"
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
if [ -n "$kubelet" ]; then out "kubelet${TAB}seen"; elif [ -n "$proc" ]; then out "kubelet${TAB}none"; fi

if [ -r "$root/etc/os-release" ]; then whole os-release "$root/etc/os-release"; else whole os-release "$root/usr/lib/os-release"; fi
whole cmdline "$proc_files/cmdline"
whole modules "$proc_files/modules"
optional lockdown "$sys/kernel/security/lockdown"
optional nvidia-version "$proc_files/driver/nvidia/version"

# --- mounts: without the kinds that need neither disk nor network, of which every container adds a dozen --------------

print_mounts() { # /proc/N/mounts
  while IFS= read -r line; do
    kind=${line#* }
    kind=${kind#* }
    case ${kind%% *} in
      overlay | tmpfs | proc | sysfs | devtmpfs | devpts | mqueue | cgroup | cgroup2 | securityfs | debugfs | tracefs) ;;
      configfs | fusectl | bpf | pstore | efivarfs | hugetlbfs | autofs | nsfs | ramfs | selinuxfs | binfmt_misc) ;;
      *) out "$line" ;;
    esac
  done <"$1"
}

# Volumes are mounted where the kubelet runs, which may be a mount namespace of its own (OpenShift's kubens.service).
section mounts
namespaces=' '
for process in ${proc:+"$proc/1"} $kubelet $runtime; do
  namespace=$(readlink "$process/ns/mnt" 2>/dev/null)
  case $namespaces in *" ${namespace:-none} "*) continue ;; esac
  namespaces="$namespaces$namespace "
  if [ -r "$process/mounts" ]; then
    print_mounts "$process/mounts"
  elif [ -d "$process" ]; then
    problem mounts "$process/mounts can't be read"
  fi
done
if [ -z "$proc" ]; then problem mounts "the mounts of process 1 of the node can't be read"; fi
