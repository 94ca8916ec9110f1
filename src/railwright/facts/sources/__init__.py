r"""
One pure parser a source, the only parsers of any tool's output, and the node script that feeds most of them.

The node record, as `node.sh` (with the other node_*.sh, one after the other, as script.py has them) prints it
and a simulator writes it: sections, each a header line, then its lines; fields of a line are separated by one TAB; the
last line is the `end` header. A record without it was cut short. Format 1 had the sections marked with a star only.

    === railwright SECTION
    ...

    *meta        key<TAB>value lines: record_version, hostname, kernel, architecture, page_size_bytes,
                 netns (host | other | unknown: this process' network namespace against that of process 1),
                 kubelet (seen | none: whether a process runs it, whose mounts are read too)
    *os-release, *cmdline, *modules, *lockdown, *mounts, *nvidia-version, *route4, *route6, nvidia-params
                 the file as it is (/etc/os-release, /proc/cmdline, /proc/modules, /sys/kernel/security/lockdown,
                 /proc/1/mounts with those of kubelet and container runtime where they differ,
                 /proc/driver/nvidia/version, /proc/net/route, /proc/net/ipv6_route, /proc/driver/nvidia/params)
    route4_tables, route6_tables  output of `ip -o -4 route show table all`, and of -6
    rules        4 or 6, then a line of `ip rule show`
    *net         a line a netdev: name, then key=value: type, mtu, address, operstate, carrier, carrier_changes, speed,
                 port_name, alias, pkey, master, pci, lowers (comma separated), kind; of tunnels: local, over
    *addr        output of `ip -o addr show`
    vf-links     lines of `ip -o -d link show` that list virtual functions
    qos          device, pfc | app | apptrust (lines of `dcb -N`) | traffic_class | roce_tos (sysfs, configfs), text
    ethtool      netdev, then key=value: statistics on pauses, discards, errors
    sysctl       key, value
    *pci         a line a device of class 02xx, 03xx, 12xx, of NVIDIA or with SR-IOV, and every bridge above one:
                 address, then key=value: vendor, device, class, subsystem_vendor, subsystem_device, numa, driver, path
                 (sysfs path from pciDDDD:BB on, "/"), link_speed, link_width, max_link_speed, max_link_width,
                 iommu_group, sriov_totalvfs, sriov_numvfs, bars (sizes in bytes), physfn
    pci-config   address, then key=value: size (bytes that could be read); exp, acs, ats (registers, 32-bit words in hex)
    vpd          address, then key=value: name, part, revision, as hex digits; of NVIDIA's NICs only, without serial numbers
    iommu        unit, name; or group, number, type
    eswitch      lines of `devlink dev eswitch show`
    *infiniband  a line a port: device, port, then key=value: pci, link_layer, state, phys_state, rate, node_guid,
                 sys_image_guid, lid, sm_lid, fw_ver, board_id
    *gids        a line a non-zero GID: device, port, index, type, netdev, gid
    pkeys        device, port, non-zero partition keys (comma separated)
    counters     device, port, port | hw, then key=value
    sriov        only with DOCA-OFED: address of the port, number, nothing, then key=value: node, port, policy, mac
    *nvme        a line an NVMe controller: name, transport, address
    *iscsi       a line an iSCSI session: name, address, driver of its host, PCI function that the host lies below
    storage      rbd | nbd | drbd | srp | nvmet | iscsi-target | srp-target | nfsd, name, addresses or RDMA device
    sockets      own address and port of TCP connections of API server, etcd and network storage
    ovs          ovn-encap-ip, addresses: only where Open vSwitch runs
    *values      key, value: rdma_netns_mode, secure_boot, memlock (format 1), mlx5_version, nvidia_peermem, uptime_s
    runtime      key, value: name, version, setting (FILE: line), limit (name, soft and hard), memlock, memlock_origin
    kernel-config, modprobe   lines of the kernel's configuration; FILE: line of modprobe.d
    module-parameters         module, parameter, value
    devices      rdma | gpu, name in /dev/infiniband or /dev
    memory-peers, mofed       names in /sys/kernel/mm/memory_peers and of driver inventories
    cni          folder, name of a plugin; or config, file name
    nvidia-gpus  address, then key=value: model, vbios, firmware; from /proc/driver/nvidia/gpus, without UUID
    cpu, dmi     key, value: vendor, model, count, hypervisor; sys_vendor, product_name, product_version, product_sku,
                 board_vendor, board_name, board_version, bios_vendor, bios_version, bios_date, ec_firmware_release
    numa         number, then key=value: cpus, memory_kib, distances
    hugepages    KiB, total, free
    dmesg        the last lines of the kernel log on NICs, GPUs, IOMMU and PCIe
    *problems    section, why, for what could not be read
    end
"""
