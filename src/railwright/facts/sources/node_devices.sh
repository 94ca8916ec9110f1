
# --- PCI: devices that matter, then every bridge above one of them -----------------------------------------------------

describe() { # folder of a PCI device, which leads to $path: its row into $row
  row=${1##*/}
  for key in vendor device class subsystem_vendor subsystem_device; do
    if get "$1/$key"; then row="$row$TAB$key=${value#0x}"; fi
  done
  field numa "$1/numa_node"
  if real "$1/driver"; then row="$row${TAB}driver=${value##*/}"; fi
  row="$row${TAB}path=$path"
  field link_speed "$1/current_link_speed"
  field link_width "$1/current_link_width"
  field max_link_speed "$1/max_link_speed"
  field max_link_width "$1/max_link_width"
  if real "$1/iommu_group"; then row="$row${TAB}iommu_group=${value##*/}"; fi
}

windows() { # folder of a PCI device: sizes of its memory windows into $value
  value=''
  count=0
  while [ "$count" -lt 6 ] && read -r first last flags; do
    count=$((count + 1))
    if [ "$((flags & 0x200))" -ne 0 ]; then value="${value:+$value,}$((last - first + 1))"; fi
  done <"$1/resource"
}

section pci
above=' '
endpoints=''
if [ ! -d "$sys/bus/pci/devices" ]; then problem pci "no $sys/bus/pci/devices"; fi
for folder in "$sys"/bus/pci/devices/*; do
  get "$folder/class" || continue
  class=${value#0x}
  get "$folder/vendor"
  case $class:$value in
    0604*) continue ;;
    02* | 03* | 12* | *:0x10de | *:0x15b3) ;;
    *) [ -e "$folder/sriov_totalvfs" ] || continue ;;
  esac
  real "$folder" || continue
  path=pci${value#*/pci}
  if late; then break; fi
  describe "$folder"
  field sriov_totalvfs "$folder/sriov_totalvfs"
  field sriov_numvfs "$folder/sriov_numvfs"
  case $class in
    03* | 12*)
      if [ -r "$folder/resource" ]; then
        windows "$folder"
        if [ -n "$value" ]; then row="$row${TAB}bars=$value"; fi
      fi
      ;;
  esac
  if real "$folder/physfn"; then
    row="$row${TAB}physfn=${value##*/}"
  else
    endpoints="$endpoints ${folder##*/}"
  fi
  out "$row"
  rest=${path#*/}
  while [ "$rest" != "${rest#*/}" ]; do
    step=${rest%%/*}
    rest=${rest#*/}
    case $above in *" $step "*) ;; *) above="$above$step " ;; esac
  done
done
for step in $above; do
  folder=$sys/bus/pci/devices/$step
  real "$folder" || continue
  path=pci${value#*/pci}
  describe "$folder"
  out "$row"
done

# Registers as 32-bit words. The first 64 bytes are open to everybody, the rest to root, unless the kernel is locked down.
dump=''
if have od; then
  dump='od'
elif have hexdump; then
  dump='hexdump'
fi

registers() { # address, file: a line with the capabilities that matter
  row=$1
  word=0
  next=0
  case $dump in
    od) words=$(limited od -An -v -t x4 "$2") ;;
    *) words=$(limited hexdump -v -e '1/4 "%08x\n"' "$2") ;;
  esac
  # shellcheck disable=SC2086 # one word, one parameter
  set -- $words
  row="$row${TAB}size=$(($# * 4))"
  if [ "$#" -lt 16 ]; then return; fi
  at=$((0x${14} & 0xfc))
  count=0
  while [ "$at" -ge 64 ] && [ "$((at / 4 + 5))" -le "$#" ] && [ "$count" -lt 48 ]; do
    count=$((count + 1))
    eval "word=\${$((at / 4 + 1))}"
    if [ "$((0x$word & 0xff))" -eq 16 ]; then
      i=$((at / 4 + 1))
      eval "row=\"\$row\${TAB}exp=\${$i},\${$((i + 1))},\${$((i + 2))},\${$((i + 3))},\${$((i + 4))}\""
      break
    fi
    at=$((0x$word / 256 & 0xfc))
  done
  at=256
  count=0
  while [ "$at" -ge 256 ] && [ "$((at / 4 + 2))" -le "$#" ] && [ "$count" -lt 96 ]; do
    count=$((count + 1))
    eval "word=\${$((at / 4 + 1))} next=\${$((at / 4 + 2))}"
    case $((0x$word & 0xffff)) in
      13) row="$row${TAB}acs=$word,$next" ;;
      15) row="$row${TAB}ats=$word,$next" ;;
      0 | 65535) break ;;
    esac
    at=$((0x$word / 1048576 & 0xffc))
  done
}

section pci-config
if [ -z "$dump" ]; then problem pci-config "neither od nor hexdump is here"; fi
for step in $above $endpoints; do
  if [ -z "$dump" ] || late; then break; fi
  [ -r "$sys/bus/pci/devices/$step/config" ] || continue
  registers "$step" "$sys/bus/pci/devices/$step/config"
  out "$row"
done

# What a card calls itself. Only NICs of mlx5 are asked, for some other devices answer late or never; the kernel waits
# 125 ms for each word and gives up at the first that does not come. Letters stay hex digits: making them letters takes a
# process each. Serial numbers stand between these fields, and are not printed.
letters() { # how many, bytes: so many of them into $value
  count=$1
  value=''
  shift
  while [ "$count" -gt 0 ] && [ "$#" -gt 0 ]; do
    value=$value$1
    count=$((count - 1))
    shift
  done
}

identity() { # address, file: a line with name, part number and revision
  row=$1
  case $dump in
    od) words=$(limited od -An -v -t x1 -N 1024 "$2") ;;
    *) words=$(limited hexdump -v -n 1024 -e '1/1 "%02x\n"' "$2") ;;
  esac
  # shellcheck disable=SC2086 # one byte, one parameter
  set -- $words
  if [ "$#" -lt 3 ]; then
    problem vpd "nothing could be read of $row"
    return
  fi
  fields=''
  while [ "$#" -ge 3 ]; do
    key=''
    size=$((0x$3))
    case $fields,$1,$2 in
      ,82,*)
        key=name
        size=$((0x$3$2))
        ;;
      ,90,*)
        fields=begun
        size=0
        ;;
      ,*) break ;;
      *,50,4e) key=part ;;
      *,45,43) key=revision ;;
      *,52,56) break ;;
    esac
    shift 3
    if [ "$size" -gt "$#" ]; then break; fi
    if [ -n "$key" ]; then
      letters "$size" "$@"
      row="$row$TAB$key=$value"
    fi
    shift "$size"
  done
  out "$row"
}

section vpd
for step in $endpoints; do
  file=$sys/bus/pci/devices/$step/vpd
  get "$sys/bus/pci/devices/$step/vendor"
  if [ "$value" != 0x15b3 ] || [ ! -e "$file" ]; then continue; fi
  if [ -z "$dump" ] || [ -z "$timeout" ]; then
    problem vpd "od or hexdump, or timeout, is not here"
    break
  elif [ ! -r "$file" ]; then
    problem vpd "$file can't be read"
    break
  elif late; then
    break
  fi
  identity "$step" "$file"
done

section iommu
for folder in "$sys"/class/iommu/*; do
  if [ -e "$folder" ]; then out "unit$TAB${folder##*/}"; fi
done
for folder in "$sys"/kernel/iommu_groups/*; do
  get "$folder/type" || continue
  out "group$TAB${folder##*/}$TAB$value"
done
if [ ! -d "$sys/kernel" ]; then problem iommu "no $sys/kernel"; fi

program devlink
devlink=$value
section eswitch
for step in $endpoints; do
  [ -e "$sys/bus/pci/devices/$step/sriov_totalvfs" ] || continue
  get "$sys/bus/pci/devices/$step/vendor"
  if [ "$value" != 0x15b3 ] || late; then continue; fi
  if [ -z "$devlink" ]; then problem eswitch "the devlink command is not here" && break; fi
  print_lines "$(in_node_net "$devlink" dev eswitch show "pci/$step")"
done

# --- RDMA ------------------------------------------------------------------------------------------------------------

section infiniband
# The folder is ib_core's: that it is not there says something only where sysfs is there to say it.
if [ ! -d "$sys/class/infiniband" ] && { [ -d "$sys/module/ib_core" ] || [ ! -d "$sys/class/net" ]; }; then
  problem infiniband "no $sys/class/infiniband"
fi
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
    field sys_image_guid "$folder/sys_image_guid"
    field lid "$port/lid"
    field sm_lid "$port/sm_lid"
    field fw_ver "$folder/fw_ver"
    field board_id "$folder/board_id"
    out "$row"
  done
done

gids_in() { # folder of a port's GIDs: a line FILE:GID for each that is set; one program for all, for a port has hundreds
  if have grep; then
    limited grep -Hv '^0000:0000:0000:0000:0000:0000:0000:0000$' "$1"/*
  else
    for file in "$1"/*; do
      if get "$file"; then printf '%s:%s\n' "$file" "$value"; fi
    done
  fi
}

section gids
for folder in "$sys"/class/infiniband/*; do
  # Each port has 256 entries; a thousand virtual functions would take longer than a node may take to answer.
  if [ -e "$folder/device/physfn" ]; then continue; fi
  if late; then break; fi
  for port in "$folder"/ports/*; do
    [ -d "$port/gids" ] || continue
    while IFS=: read -r file gid; do
      if [ "$gid" = 0000:0000:0000:0000:0000:0000:0000:0000 ] || [ -z "$gid" ]; then continue; fi
      index=${file##*/}
      get "$port/gid_attrs/types/$index"
      type=$value
      get "$port/gid_attrs/ndevs/$index"
      out "${folder##*/}$TAB${port##*/}$TAB$index$TAB$type$TAB$value$TAB$gid"
    done <<EOT
$(gids_in "$port/gids")
EOT
  done
done

section pkeys
for folder in "$sys"/class/infiniband/*; do
  if late; then break; fi
  for port in "$folder"/ports/*; do
    keys=''
    for file in "$port"/pkeys/*; do
      get "$file" || continue
      if [ "$value" != 0x0000 ]; then keys="${keys:+$keys,}$value"; fi
      # Functions of a port may have 128 each; nearly all of them are empty, and the first ones are filled.
      if [ -e "$folder/device/physfn" ] && [ "${file##*/}" -ge 7 ]; then break; fi
    done
    if [ -n "$keys" ]; then out "${folder##*/}$TAB${port##*/}$TAB$keys"; fi
  done
done

section counters
for folder in "$sys"/class/infiniband/*; do
  if [ -e "$folder/device/physfn" ]; then continue; fi
  if late; then break; fi
  for port in "$folder"/ports/*; do
    for kind in port hw; do
      row="${folder##*/}$TAB${port##*/}$TAB$kind"
      set -- "$port/counters"/*
      if [ "$kind" = hw ]; then set -- "$port/hw_counters"/*; fi
      for file; do
        if [ -f "$file" ]; then field "${file##*/}" "$file"; fi
      done
      if [ -e "$1" ]; then out "$row"; fi
    done
  done
done

section sriov # only the driver of DOCA-OFED shows this
for folder in "$sys"/class/infiniband/*; do
  if late; then break; fi
  pci=''
  if real "$folder/device"; then last_pci "$value" && pci=$value; fi
  for function in "$folder"/device/sriov/[0-9]*; do
    [ -d "$function" ] || continue
    row="$pci$TAB${function##*/}$TAB"
    for key in node port policy mac; do field "$key" "$function/$key"; done
    out "$row"
  done
done
