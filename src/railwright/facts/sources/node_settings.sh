
# --- single values ---------------------------------------------------------------------------------------------------

section values
mode=''
if have rdma; then
  case $(limited rdma system show) in
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
      for byte in $(limited od -An -t u1 "$file"); do last=$byte; done
      case $last in 1) out "secure_boot${TAB}true" ;; 0) out "secure_boot${TAB}false" ;; esac
    fi
    break
  done
fi
if get "$sys/module/mlx5_core/version"; then out "mlx5_version$TAB$value"; fi
if [ -d "$sys/module/nvidia_peermem" ]; then out "nvidia_peermem${TAB}loaded"; else out "nvidia_peermem${TAB}absent"; fi
if get "$proc_files/uptime"; then out "uptime_s$TAB${value%% *}"; fi

# --- container runtime: the limit that a new container gets is the runtime's own setting, else its own limit ------------

memlock=''
origin=''
runtime_lines=''

take() { # line, and $file where it stands: one setting of the runtime
  key=${1%%=*}
  key=${key%"${key##*[![:blank:]]}"}
  key=${key#"${key%%[![:blank:]]*}"}
  case $key in
    '#'*) return ;;
    default_ulimits | default_capabilities | default_runtime | default_runtime_name | plugin_dirs | plugin_dir) ;;
    bin_dir | bin_dirs | conf_dir | network_dir | hooks_dir | enable_cdi | cdi_spec_dirs | LimitMEMLOCK) ;;
    '"memlock' | "'memlock") ;;
    *) return ;;
  esac
  runtime_lines="${runtime_lines}setting$TAB${file#"$root"}: $1
"
  case $1 in
    *memlock=*)
      value=${1#*memlock=}
      value=${value%%[!0-9:-]*}
      value=${value%%:*}
      origin=${file#"$root"}
      case $value in
        -1) memlock=unlimited ;;
        '' | *[!0-9]*) ;;
        *) memlock=$((value / 1024)) ;;
      esac
      ;;
  esac
}

for file in "$root"/etc/crio/crio.conf "$root"/usr/lib/crio/crio.conf.d/* "$root"/etc/crio/crio.conf.d/* \
  "$root"/etc/containerd/config.toml "$root"/etc/containerd/conf.d/* "$root"/usr/lib/systemd/system/crio.service \
  "$root"/usr/lib/systemd/system/containerd.service "$root"/etc/systemd/system/crio.service.d/* \
  "$root"/etc/systemd/system/containerd.service.d/* "$root"/etc/systemd/system/containerd.service; do
  [ -f "$file" ] && [ -r "$file" ] || continue
  while IFS= read -r line; do
    case $line in *=*) take "$line" ;; esac
  done <"$file"
done

section runtime
if [ -n "$runtime" ] && get "$runtime/comm"; then
  comm=$value
  case $comm in crio) out "name${TAB}cri-o" ;; *) out "name$TAB$comm" ;; esac
  program "$comm"
  if [ -n "$value" ] && text=$(limited "$value" --version); then
    out "version$TAB${text%%
*}"
  fi
  limits=$runtime/limits
  if [ ! -r "$limits" ]; then limits=/dev/null; fi
  while read -r first second third soft hard _; do
    case "$first $second $third" in
      'Max locked memory') ;;
      'Max open files' | 'Max processes '*) ;;
      *) continue ;;
    esac
    out "limit$TAB$first $second $third$TAB$soft $hard"
    if [ -z "$memlock" ] && [ "$third" = memory ]; then
      origin="limits of $comm"
      case $soft in unlimited) memlock=unlimited ;; *[!0-9]*) ;; *) memlock=$((soft / 1024)) ;; esac
    fi
  done <"$limits"
fi
print_lines "$runtime_lines"
if [ -n "$memlock" ]; then
  out "memlock$TAB$memlock"
  out "memlock_origin$TAB$origin"
fi

# --- kernel: how it was built and set up -------------------------------------------------------------------------------

kernel=$(uname -r)
options='DMA_SHARED_BUFFER|PCI_P2PDMA|DMABUF_MOVE_NOTIFY|ZONE_DEVICE|DEVICE_PRIVATE|HMM_MIRROR|PREEMPT_RT|MODULE_SIG_FORCE'
options="$options|INFINIBAND_USER_MEM|INFINIBAND_ON_DEMAND_PAGING|IOMMU_DEFAULT_PASSTHROUGH|IOMMU_DEFAULT_DMA_LAZY"
options="$options|INTEL_IOMMU_DEFAULT_ON|PCIEASPM_PERFORMANCE"
section kernel-config
text=''
for file in "$root/lib/modules/$kernel/config" "$root/usr/lib/modules/$kernel/config" "$root/boot/config-$kernel"; do
  if [ -r "$file" ] && have grep; then
    text=$(limited grep -E "^(# )?CONFIG_($options)[= ]" "$file")
    break
  fi
done
if [ -z "$text" ] && [ -r "$proc_files/config.gz" ] && have zcat && have grep; then
  text=$(limited zcat "$proc_files/config.gz" | grep -E "^(# )?CONFIG_($options)[= ]")
fi
print_lines "$text"
if [ -z "$text" ]; then problem kernel-config "the kernel's configuration is not here"; fi

section module-parameters
for module in ib_core ib_ipoib mlx5_core mlx5_ib nvidia nvidia_peermem vfio_pci; do
  for file in "$sys/module/$module/parameters"/*; do
    if get "$file"; then out "$module$TAB${file##*/}$TAB$value"; fi
  done
done

section modprobe
if ! have grep; then
  problem modprobe "the grep command is not here"
else
  names='ib_|mlx|rdma|iw_|nvidia|nouveau|gdrdrv|nvme|vfio|irdma|bnxt_re|siw|qedr|efa|i40iw|isert|knem'
  set --
  for file in "$root"/etc/modprobe.d/* "$root"/run/modprobe.d/* "$root"/usr/lib/modprobe.d/*; do
    if [ -f "$file" ]; then set -- "$@" "$file"; fi
  done
  if [ "$#" -gt 0 ]; then
    text=$(limited grep -HE "^[[:blank:]]*(options|blacklist|install|softdep)[[:blank:]].*($names)" "$@")
    while IFS=: read -r file line; do
      if [ -n "$file" ]; then out "${file#"$root"}: $line"; fi
    done <<EOT
$text
EOT
  fi
fi

optional nvidia-params "$proc_files/driver/nvidia/params"

section nvidia-gpus # the GPU's UUID, which stands there too, is not printed
for folder in "$proc_files"/driver/nvidia/gpus/*; do
  is_pci "${folder##*/}" && [ -r "$folder/information" ] || continue
  if late; then break; fi
  row=${folder##*/}
  { while IFS= read -r line; do
    value=${line#*:}
    value=${value#"${value%%[![:blank:]]*}"}
    case $line in
      Model:*) row="$row${TAB}model=$value" ;;
      'Video BIOS:'*) row="$row${TAB}vbios=$value" ;;
      'GPU Firmware:'*) row="$row${TAB}firmware=$value" ;;
    esac
  done <"$folder/information"; } 2>/dev/null
  out "$row"
done

# --- what is there for containers -------------------------------------------------------------------------------------

section devices
if [ -z "$proc$root" ]; then
  problem devices "the node's /dev can't be seen from here"
else
  for file in "$root"/dev/infiniband/*; do
    if [ -e "$file" ]; then out "rdma$TAB${file##*/}"; fi
  done
  for file in "$root"/dev/nvidia* "$root"/dev/gdrdrv; do
    if [ -e "$file" ]; then out "gpu$TAB${file##*/}"; fi
  done
fi

section memory-peers
for file in "$sys"/kernel/mm/memory_peers/*; do
  if [ -e "$file" ]; then out "${file##*/}"; fi
done

section cni
for folder in /opt/cni/bin /var/lib/cni/bin /usr/libexec/cni; do
  for file in "$root$folder"/*; do
    if [ -f "$file" ]; then out "$folder$TAB${file##*/}"; fi
  done
done
for file in "$root"/etc/cni/net.d/* "$root"/etc/kubernetes/cni/net.d/* "$root"/run/multus/cni/net.d/*; do
  if [ -f "$file" ]; then out "config$TAB${file##*/}"; fi
done

section mofed
for folder in "$root"/var/opt/mofed-container/inventory/*; do
  if [ -d "$folder" ]; then out "${folder##*/}"; fi
done

# --- the machine ------------------------------------------------------------------------------------------------------

section cpu
vendor=''
model=''
hypervisor=''
cpuinfo=$proc_files/cpuinfo
if [ ! -r "$cpuinfo" ]; then
  problem cpu "$cpuinfo can't be read"
  cpuinfo=/dev/null
fi
while IFS=: read -r key line; do
  line=${line# }
  case $key in
    '') break ;;
    vendor_id*) vendor=$line ;;
    'model name'*) model=$line ;;
    'CPU implementer'*) case $line in 0x41) vendor=ARM ;; 0x4e) vendor=NVIDIA ;; *) vendor=$line ;; esac ;;
    'CPU part'*) model=$line ;;
    flags*) case " $line " in *' hypervisor '*) hypervisor=true ;; *) hypervisor=false ;; esac ;;
  esac
done <"$cpuinfo"
if [ -n "$vendor" ]; then out "vendor$TAB$vendor"; fi
if [ -n "$model" ]; then out "model$TAB$model"; fi
if [ -n "$hypervisor" ]; then out "hypervisor$TAB$hypervisor"; fi
if get "$sys/devices/system/cpu/online"; then
  count=0
  rest=$value,
  while [ -n "$rest" ]; do
    range=${rest%%,*}
    rest=${rest#*,}
    count=$((count + ${range##*-} - ${range%%-*} + 1))
  done
  out "count$TAB$count"
fi

section numa
for folder in "$sys"/devices/system/node/node[0-9]*; do
  [ -d "$folder" ] || continue
  row=${folder##*/node}
  if [ -r "$folder/cpulist" ]; then
    # Some kernels give this file only to who asks for all of it at once, which the shell's own read does not.
    value=$(limited cat "$folder/cpulist")
    if [ -n "$value" ]; then row="$row${TAB}cpus=$value"; fi
  fi
  if [ -r "$folder/meminfo" ]; then
    while read -r _ _ key size _; do
      if [ "$key" = MemTotal: ]; then row="$row${TAB}memory_kib=$size" && break; fi
    done <"$folder/meminfo"
  fi
  field distances "$folder/distance"
  out "$row"
done

section hugepages
for folder in "$sys"/kernel/mm/hugepages/hugepages-*kB; do
  get "$folder/nr_hugepages" || continue
  size=${folder##*/hugepages-}
  total=$value
  get "$folder/free_hugepages"
  out "${size%kB}$TAB$total$TAB$value"
done

section dmi
for key in sys_vendor product_name product_version product_sku board_vendor board_name board_version \
  bios_vendor bios_version bios_date ec_firmware_release; do
  if get "$sys/class/dmi/id/$key"; then out "$key$TAB$value"; fi
done

# --- the end of the kernel log, as far as it speaks of these things -----------------------------------------------------

section dmesg
program dmesg
dmesg=$value
if [ -z "$dmesg" ] || ! limited "$dmesg" >/dev/null; then
  problem dmesg "the kernel log can't be read"
elif ! have grep || ! have tail; then
  problem dmesg "grep or tail is not here"
else
  names='mlx5|mlx4|nvidia|NVRM|Xid|DMAR|AMD-Vi|IOMMU|iommu|arm-smmu|AER:|pcieport|PCIe|BadTLP|infiniband|ib_core|rdma|rtnl_'
  print_lines "$(limited "$dmesg" | grep -aE "$names" | grep -av "ommand line:" | tail -n 200)"
fi

section problems
printf '%s' "$problems"
printf '=== railwright end\n'
