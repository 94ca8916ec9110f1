"""When two values of a field are the same to the API server, though they are written differently."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from railwright.changes.model import FieldPath

_QUANTITY = re.compile(r"^([+-]?[0-9.]+)(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$")
_SCALE: Mapping[str, Decimal] = {
    "m": Decimal("0.001"),
    "": Decimal(1),
    **{unit: Decimal(10) ** (3 * power) for power, unit in enumerate("kMGTPE", start=1)},
    **{f"{unit}i": Decimal(1024) ** power for power, unit in enumerate("KMGTPE", start=1)},
}
"""Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/ (read 2026-11-30)."""

_QUANTITY_PARENTS = frozenset({"resources", "limits", "requests", "capacity", "allocatable", "hard", "sizeLimit"})


def same(path: FieldPath, left: Any, right: Any) -> bool:
    """Compare two values of a field; under `resources` and the like "1000m" is 1, elsewhere "8" is not 8."""
    if isinstance(left, bool) != isinstance(right, bool):
        return False
    if left == right:
        return True
    if _QUANTITY_PARENTS.isdisjoint(path):
        return False
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same(path, left[key], right[key]) for key in left)
    amounts = (_amount(left), _amount(right))
    return None not in amounts and amounts[0] == amounts[1]


def _amount(value: Any) -> Decimal | None:
    match = _QUANTITY.match(str(value)) if isinstance(value, str | int | float) else None
    if match is None or match[1].count(".") > 1 or match[1].strip("+-") == ".":
        return None
    return Decimal(match[1]) * _SCALE[match[2] or ""]
