"""The outer shape of a node record, for who writes, cuts, redacts or parses one (its contents: railwright.facts.sources)."""

HEADER = "=== railwright "
"""Begins the line above each section; the name of the section follows."""

SECTIONS = (
    "meta",
    "os-release",
    "cmdline",
    "modules",
    "lockdown",
    "mounts",
    "nvidia-version",
    "route4",
    "route6",
    "pci",
    "net",
    "addr",
    "infiniband",
    "gids",
    "nvme",
    "iscsi",
    "values",
)
"""Sections of every record, since format 1."""
