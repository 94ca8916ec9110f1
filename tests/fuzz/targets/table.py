"""Every reader of foreign text, once."""

from fuzz.model import Target
from fuzz.targets import answers, archives, files, node_records, objects, tools

TARGETS: dict[str, Target] = {
    target.name: target
    for group in (node_records, tools, objects, files, archives, answers)
    for target in group.TARGETS
}
