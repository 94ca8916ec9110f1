# --- routes and network devices --------------------------------------------------------------------------------------

whole route4 "$net/route"
if [ -e "$net/ipv6_route" ] || [ -e "$net/if_inet6" ]; then
  whole route6 "$net/ipv6_route"
else
  section route6 # IPv6 is switched off
fi

# The files above know the first next hop of a route only, and the one for IPv4 only the main table.
for family in 4 6; do
  section "route${family}_tables"
  if [ "$family" = 6 ] && [ ! -e "$net/if_inet6" ]; then continue; fi
  if [ -z "$ip" ]; then
    problem "$current" "the ip command is not here"
  elif [ "$netns" != host ]; then
    problem "$current" "this is not, or not known to be, the node's own network namespace"
  elif ! text=$(in_node_net "$ip" -o "-$family" route show table all); then
    problem "$current" "ip -o -$family route show table all failed"
  else
    while IFS= read -r line; do
      case $line in '' | local* | broadcast* | multicast* | anycast*) ;; *) out "$line" ;; esac
    done <<EOT
$text
EOT
  fi
done

section rules
if [ -z "$ip" ]; then
  problem rules "the ip command is not here"
elif [ "$netns" != host ]; then
  problem rules "this is not, or not known to be, the node's own network namespace"
else
  for family in 4 6; do
    if [ "$family" = 6 ] && [ ! -e "$net/if_inet6" ]; then continue; fi
    if ! text=$(in_node_net "$ip" "-$family" rule show); then problem rules "ip -$family rule show failed"; fi
    while IFS= read -r line; do
      if [ -n "$line" ]; then out "$family$TAB$line"; fi
    done <<EOT
$text
EOT
  done
fi

# What made each virtual device, as " name=kind name=kind ", from one call: a node may have a thousand of them.
kinds=' '
tunnels=' '
link_text=''
link_failed=''
[ -n "$ip" ] && link_text=$(in_node_net "$ip" -o -d link show) || link_failed=1
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
    *'\    ipip '*) kind=ipip ;;
    *'\    gre '*) kind=gre ;;
    *'\    gretap '*) kind=gretap ;;
    *'\    sit '*) kind=sit ;;
    *'\    ip6tnl '*) kind=ip6tnl ;;
    *) continue ;;
  esac
  name=${line#*: }
  name=${name%%:*}
  name=${name%%@*}
  kinds="$kinds$name=$kind "
  case $kind in
    vxlan | geneve | ipip | gre | gretap | sit | ip6tnl)
      rest="${line#*" $kind "} "
      case $rest in *'local '*) value=${rest#*local } && tunnels="$tunnels$name:local=${value%% *} " ;; esac
      case $rest in *'dev '*) value=${rest#*dev } && tunnels="$tunnels$name:over=${value%% *} " ;; esac
      ;;
  esac
done <<EOT
$link_text
EOT

end_of_tunnel() { # name, local | over: where a tunnel's packets start, onto $row
  case $tunnels in *" $1:$2="*) value=${tunnels#*" $1:$2="} && row="$row$TAB$2=${value%% *}" ;; esac
}

kind_of_link() { # name, folder: what made a virtual device, into $value; empty for hardware
  value=''
  if [ -d "$2/bonding" ]; then value=bond && return; fi
  if [ -d "$2/bridge" ]; then value=bridge && return; fi
  for kind in veth openvswitch vlan macvlan macvtap ipvlan team vxlan geneve vrf ipoib tun dummy wireguard \
    ipip gre gretap sit ip6tnl; do
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
rdma_netdevs=''
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
  field carrier_changes "$folder/carrier_changes"
  field speed "$folder/speed"
  field port_name "$folder/phys_port_name"
  field alias "$folder/ifalias"
  field pkey "$folder/pkey"
  if [ -d "$folder/device/infiniband" ] && [ ! -e "$folder/device/physfn" ]; then
    rdma_netdevs="$rdma_netdevs $name"
  fi
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
  end_of_tunnel "$name" local
  end_of_tunnel "$name" over
  out "$row"
done
if [ "$found" -eq 0 ]; then problem net "no network device in $sys/class/net"; fi

section addr
if [ -z "$ip" ]; then
  problem addr "the ip command is not here"
elif ! text=$(in_node_net "$ip" -o addr show); then
  problem addr "ip -o addr show failed"
else
  print_lines "$text"
fi

section vf-links
if [ -z "$ip" ]; then
  problem vf-links "the ip command is not here"
elif [ -n "$link_failed" ]; then
  # With many InfiniBand functions the kernel's answer does not fit into one message.
  problem vf-links "ip -o -d link show failed"
else
  while IFS= read -r line; do
    case $line in *'    vf 0 '*) out "$line" ;; esac
  done <<EOT
$link_text
EOT
fi

# --- how Ethernet ports with RDMA sort their traffic, and what they counted --------------------------------------------

configfs=$sys/kernel/config/rdma_cm
program dcb
dcb=$value
section qos
for name in $rdma_netdevs; do
  if late; then break; fi
  if [ -n "$dcb" ]; then
    for what in pfc app apptrust; do
      text=$(in_node_net "$dcb" -N "$what" show dev "$name")
      while IFS= read -r line; do
        if [ -n "$line" ]; then out "$name$TAB$what$TAB$line"; fi
      done <<EOT
$text
EOT
    done
  fi
done
for folder in "$sys"/class/infiniband/*; do
  if [ -e "$folder/device/physfn" ]; then continue; fi
  name=${folder##*/}
  if get "$folder/tc/1/traffic_class"; then out "$name${TAB}traffic_class$TAB$value"; fi
  if get "$configfs/$name/ports/1/default_roce_tos"; then out "$name${TAB}roce_tos$TAB$value"; fi
done
if [ -n "$rdma_netdevs" ] && [ -z "$dcb" ]; then problem qos "the dcb command is not here"; fi

program ethtool
ethtool=$value
section ethtool
if [ -n "$rdma_netdevs" ] && [ -z "$ethtool" ]; then problem ethtool "the ethtool command is not here"; fi
for name in $rdma_netdevs; do
  if [ -z "$ethtool" ] || late; then break; fi
  text=$(in_node_net "$ethtool" -S "$name" | filter 'pause|discard|drop|err|out_of|ecn|cnp|link_down|corrected|symbol')
  row=$name
  while IFS=' :' read -r key number; do
    case $key in
      '' | [rt]x[0-9]* | ch[0-9]*) ;; # one line a queue
      *) row="$row$TAB$key=$number" ;;
    esac
  done <<EOT
$text
EOT
  out "$row"
done

section sysctl
if ! have grep; then
  problem sysctl "the grep command is not here"
else
  conf=$proc_files/sys/net/ipv4/conf
  set --
  for name in all default $rdma_netdevs; do
    for key in accept_local arp_announce arp_ignore rp_filter; do set -- "$@" "$conf/$name/$key"; done
  done
  text=$(in_node_net grep -H '' "$@")
  while IFS=: read -r file value; do
    file=${file#"$conf"/}
    if [ -n "$file" ]; then out "net.ipv4.conf.${file%/*}.${file##*/}$TAB$value"; fi
  done <<EOT
$text
EOT
fi
