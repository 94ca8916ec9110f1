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
  row=$name$TAB$value
  # A session's host lies below the device that carries it: a NIC's PCI function for iSER, none (platform) for TCP.
  real "$folder"
  host=${value%/session*/iscsi_session/*}
  carrier=${host%/*}
  carrier=${carrier##*/}
  is_pci "$carrier" || carrier=''
  get "$sys/class/scsi_host/${host##*/}/proc_name"
  out "$row$TAB$value$TAB$carrier"
done

config=$sys/kernel/config

hidden() { # module, folder of configfs: name a server that is there and does not show whom it serves
  if [ -d "$sys/module/$1" ] && [ ! -d "$config/$2" ]; then problem storage "$1 is loaded, and $config/$2 can't be seen"; fi
}

failed_grep() { # section, status, file: 1 is an answer, that nothing was found; above it grep or its deadline failed
  if [ "$2" -gt 1 ]; then problem "$1" "grep of $3 failed with status $2"; fi
}

section storage
for folder in "$sys"/bus/rbd/devices/*; do
  [ -d "$folder" ] || continue
  get "$folder/config_info"
  out "rbd${TAB}rbd${folder##*/}$TAB${value%% *}"
done
for file in "$sys"/block/nbd*/pid; do
  [ -e "$file" ] || continue
  folder=${file%/pid}
  out "nbd$TAB${folder##*/}$TAB"
done
for folder in "$sys"/block/drbd*; do
  if [ -e "$folder" ]; then out "drbd$TAB${folder##*/}$TAB"; fi
done
for folder in "$sys"/class/scsi_host/*; do
  if get "$folder/local_ib_device"; then out "srp$TAB${folder##*/}$TAB$value"; fi
done
for folder in "$config"/nvmet/ports/*; do
  get "$folder/addr_trtype" || continue
  case $value in rdma | tcp) ;; *) continue ;; esac
  get "$folder/addr_traddr"
  out "nvmet$TAB${folder##*/}$TAB$value"
done
for folder in "$config"/target/iscsi/iqn*/tpgt_*/np/*; do
  if [ -d "$folder" ]; then out "iscsi-target$TAB${folder##*/}$TAB${folder##*/}"; fi
done
for folder in "$config"/target/srpt/*/*; do
  if [ -d "$folder/acls" ]; then out "srp-target$TAB${folder##*/}$TAB"; fi
done
hidden nvmet nvmet
# LIO makes target/ when it is loaded, and target/iscsi and target/srpt only for who serves something there.
hidden iscsi_target_mod target
hidden ib_srpt target
if have grep && [ -r "$proc_files/fs/nfsd/portlist" ]; then
  text=$(limited grep '^rdma' "$proc_files/fs/nfsd/portlist")
  failed_grep storage $? "$proc_files/fs/nfsd/portlist"
  if [ -n "$text" ]; then out "nfsd${TAB}rdma$TAB"; fi
elif [ -e "$proc_files/fs/nfsd/portlist" ]; then
  problem storage "$proc_files/fs/nfsd/portlist can't be read"
fi

# --- sockets of the API server, etcd, routers and network storage: their own end says which address is used for them ----

# 6443, 2379, 2380; Ceph 3300, 6789, 6800 to 7568; iSCSI 3260; NVMe-oF 4420, 8009; NFS 2049; Lustre 988; GPFS 1191; BGP 179
ports='192B|094B|094C|0CE4|1A85|1A[9A-F][0-9A-F]|1[BC][0-9A-F][0-9A-F]|1D[0-8][0-9A-F]|1D90|0CBC|1144|1F49|0801|03DC|04A7|00B3'

is_watched() { # port, four hex digits
  case $1 in
    192B | 094B | 094C | 0CE4 | 1A85 | 1A[9A-F]? | 1[BC]?? | 1D[0-8]? | 1D90 | 0CBC | 1144 | 1F49 | 0801 | 03DC | 04A7 | 00B3) ;;
    *) return 1 ;;
  esac
}

swapped() { # eight hex digits, as a little-endian machine writes four bytes: the bytes into $b1 to $b4
  b1=${1#??????}
  b2=${1#????} && b2=${b2%??}
  b3=${1#??} && b3=${b3%????}
  b4=${1%??????}
}

spell() { # address in hex digits: as people write it into $value
  value=''
  rest=$1
  case ${#1} in
    8)
      swapped "$1"
      value=$((0x$b1)).$((0x$b2)).$((0x$b3)).$((0x$b4))
      ;;
    32)
      while [ -n "$rest" ]; do
        swapped "${rest%"${rest#????????}"}"
        rest=${rest#????????}
        value="${value:+$value:}$b1$b2:$b3$b4"
      done
      ;;
  esac
}

section sockets
if [ "$netns" != host ]; then
  problem sockets "this is not, or not known to be, the node's own network namespace"
elif ! have grep; then
  problem sockets "the grep command is not here"
else
  known=' '
  for file in "$net/tcp" "$net/tcp6"; do
    if [ ! -r "$file" ]; then
      if [ "$file" = "$net/tcp" ]; then problem sockets "$file can't be read"; fi
      continue
    fi
    text=$(limited grep -aE ":($ports) ([0-9A-F]+:[0-9A-F]+ (01|0A)|01) " "$file")
    failed_grep sockets $? "$file"
    while read -r _ near far state _; do
      case $near in '' | 00000000:* | 00000000000000000000000000000000:* | ??????7F:*) continue ;; esac
      port=${near##*:}
      if ! is_watched "$port"; then
        port=${far##*:}
        if [ "$state" != 01 ] || ! is_watched "$port"; then continue; fi
      fi
      case $known in *" ${near%:*}:$port "*) continue ;; esac
      known="$known${near%:*}:$port "
      spell "${near%:*}"
      out "$value$TAB$((0x$port))"
    done <<EOT
$text
EOT
  done
fi

# --- the address that Open vSwitch's tunnels start at, from its database, the last word on it ---------------------------

section ovs
if [ -d "$sys/class/net/ovs-system" ]; then
  database=''
  for file in etc/openvswitch var/lib/openvswitch var/lib/openvswitch/etc; do
    if [ -r "$root/$file/conf.db" ]; then database=$root/$file/conf.db && break; fi
  done
  if [ -z "$root" ] || [ -z "$database" ]; then
    problem ovs "the database of Open vSwitch can't be read"
  elif ! have grep; then
    problem ovs "the grep command is not here"
  else
    text=$(limited grep -aoE '"ovn-encap-ip","[^"]*"' "$database")
    failed_grep ovs $? "$database"
    value=${text##*'","'}
    if [ -n "$value" ]; then out "ovn-encap-ip$TAB${value%'"'}"; fi
  fi
fi
