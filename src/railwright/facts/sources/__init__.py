r"""
One pure parser a source, the only parsers of any tool's output, and the node script that feeds most of them.

The node record, as `node.sh` prints it and a simulator writes it: sections, each a header line, then its lines;
fields of a line are separated by one TAB; the last line is the `end` header. A record without it was cut short.

    === railwright SECTION
    ...

    meta        key<TAB>value lines: record_version, hostname, kernel, architecture, page_size_bytes,
                netns (host | other | unknown: this process' network namespace against that of process 1)
    os-release, cmdline, modules, lockdown, mounts, nvidia-version, route4, route6    the file as it is
                (/etc/os-release, /proc/cmdline, /proc/modules, /sys/kernel/security/lockdown, /proc/1/mounts,
                 /proc/driver/nvidia/version, /proc/net/route, /proc/net/ipv6_route)
    pci         a line a device of class 02xx, 03xx, 12xx or with SR-IOV: address, then key=value fields: vendor, device,
                class, subsystem_vendor, subsystem_device, numa, driver, path (sysfs path from pciDDDD:BB on, "/"),
                link_speed, link_width, max_link_speed, max_link_width, sriov_totalvfs, sriov_numvfs, physfn
    net         a line a netdev: name, then key=value: type, mtu, address, operstate, carrier, speed, master, pci,
                lowers (comma separated), kind
    addr        output of `ip -o addr show`
    infiniband  a line a port: device, port, then key=value: pci, link_layer, state, phys_state, rate, node_guid, lid,
                sm_lid, fw_ver, board_id
    gids        a line a non-zero GID: device, port, index, type, netdev, gid
    nvme        a line an NVMe controller: name, transport, address
    iscsi       a line an iSCSI session: name, address
    values      key<TAB>value: rdma_netns_mode, secure_boot, memlock, mlx5_version, nvidia_peermem
    problems    section<TAB>why, for what could not be read
    end
"""
