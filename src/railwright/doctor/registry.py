"""The table of rules; a rule that is not in it does not exist."""

import difflib
from collections.abc import Iterable

from railwright.core.errors import UsageError
from railwright.core.ids import RuleId
from railwright.doctor.model import Rule, RuleInfo
from railwright.doctor.rules.addresses import RULES as ADDRESSES
from railwright.doctor.rules.devices import RULES as DEVICES
from railwright.doctor.rules.gpu_driver import RULES as GPU_DRIVER
from railwright.doctor.rules.hosts import RULES as HOSTS
from railwright.doctor.rules.instances import RULES as INSTANCES
from railwright.doctor.rules.kernel import RULES as KERNEL
from railwright.doctor.rules.labels import RULES as LABELS
from railwright.doctor.rules.link import RULES as LINK
from railwright.doctor.rules.networks import RULES as NETWORKS
from railwright.doctor.rules.olm import RULES as OLM
from railwright.doctor.rules.operands import RULES as OPERANDS
from railwright.doctor.rules.pci import RULES as PCI
from railwright.doctor.rules.placement import RULES as PLACEMENT
from railwright.doctor.rules.pod_settings import RULES as POD_SETTINGS
from railwright.doctor.rules.policies import RULES as POLICIES
from railwright.doctor.rules.proof import RULES as PROOF
from railwright.doctor.rules.roce import RULES as ROCE
from railwright.doctor.rules.rollouts import RULES as ROLLOUTS
from railwright.doctor.rules.settings import RULES as SETTINGS
from railwright.doctor.rules.subnets import RULES as SUBNETS
from railwright.doctor.rules.versions import RULES as VERSIONS
from railwright.doctor.rules.workloads import RULES as WORKLOADS

RULES: tuple[Rule, ...] = (
    *OLM,
    *INSTANCES,
    *LABELS,
    *POLICIES,
    *SETTINGS,
    *VERSIONS,
    *OPERANDS,
    *DEVICES,
    *NETWORKS,
    *ADDRESSES,
    *WORKLOADS,
    *POD_SETTINGS,
    *ROLLOUTS,
    *PCI,
    *PLACEMENT,
    *KERNEL,
    *GPU_DRIVER,
    *LINK,
    *ROCE,
    *SUBNETS,
    *HOSTS,
    *PROOF,
)


def rule_infos() -> tuple[RuleInfo, ...]:
    """Every rule, those on pasted text too, by name."""
    # Tables of words: only explain and the pages need them all.
    from railwright.doctor.text.table import TEXT_RULES

    infos = (*(item.info for item in RULES), *(item.info for item in TEXT_RULES))
    found = {info.name: info for info in infos}
    return tuple(found[name] for name in sorted(found))


def rule(name: str) -> RuleInfo | None:
    """Find a rule by its name."""
    return next((info for info in rule_infos() if info.name == RuleId(name)), None)


def known_rules(names: Iterable[str]) -> frozenset[RuleId]:
    """Check names of rules. Raises UsageError for one that there is not."""
    known = [info.name for info in rule_infos()]
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            meant = f"; did you mean {near[0]}?" if near else ""
            message = f"there is no rule {name!r}{meant}"
            raise UsageError(message, hint="railwright explain all lists every rule")
    return frozenset(RuleId(name) for name in names)
