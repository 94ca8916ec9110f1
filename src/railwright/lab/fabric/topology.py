"""A small fat tree in ibnetdiscover's format, which is what ibsim reads."""

HOSTS_A_LEAF = 4
_UPLINKS = 2


def host_name(number: int) -> str:
    """Name a host's HCA: "H-0001"; SIM_HOST takes it."""
    return f"H-{number:04d}"


def fat_tree(hosts: int) -> str:
    """Write the topology: leaves of four hosts, each with two cables to one spine."""
    leaves = -(-hosts // HOSTS_A_LEAF)
    lines: list[str] = []
    for number in range(1, hosts + 1):
        leaf, slot = divmod(number - 1, HOSTS_A_LEAF)
        lines += [f'Hca\t1 "{host_name(number)}"\t\t# "node-{number} mlx5_0"', f'[1]\t"S-leaf{leaf}"[{slot + 1}]', ""]
    for leaf in range(leaves):
        lines.append(f'Switch\t{HOSTS_A_LEAF + _UPLINKS} "S-leaf{leaf}"\t\t# "leaf{leaf}"')
        for number in range(leaf * HOSTS_A_LEAF + 1, min(hosts, (leaf + 1) * HOSTS_A_LEAF) + 1):
            lines.append(f'[{(number - 1) % HOSTS_A_LEAF + 1}]\t"{host_name(number)}"[1]')
        for cable in range(_UPLINKS):
            lines.append(f'[{HOSTS_A_LEAF + cable + 1}]\t"S-spine"[{leaf * _UPLINKS + cable + 1}]')
        lines.append("")
    lines.append(f'Switch\t{leaves * _UPLINKS} "S-spine"\t\t# "spine"')
    for leaf in range(leaves):
        for cable in range(_UPLINKS):
            lines.append(f'[{leaf * _UPLINKS + cable + 1}]\t"S-leaf{leaf}"[{HOSTS_A_LEAF + cable + 1}]')
    return "\n".join(lines) + "\n"
