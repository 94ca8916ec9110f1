"""
Read the catalog's YAML files, which come with the package, into frozen entries.

A file that does not hold what model.py says is a bug of ours: it raises at once, with the file's name.
"""

from dataclasses import fields
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

import msgspec
import yaml

from railwright.catalog.model import (
    Catalog,
    DefaultEntry,
    DefectEntry,
    DriverCombination,
    FloorEntry,
    GpuEntry,
    GpuOperatorEntry,
    ImageEntry,
    NetworkOperatorEntry,
    NicEntry,
    OpenshiftEntry,
    OperatorEntry,
    RateEntry,
    StageTiming,
)

Entry = TypeVar("Entry")


@cache
def load_catalog() -> Catalog:
    """Read every file; the same frozen value at every call."""
    return Catalog(
        operators=_read("operators.yaml", OperatorEntry),
        network_operators=_read("network-operator.yaml", NetworkOperatorEntry),
        gpu_operators=_read("gpu-operator.yaml", GpuOperatorEntry),
        openshift_minors=_read("openshift.yaml", OpenshiftEntry),
        nics=_read("nics.yaml", NicEntry),
        gpus=_read("gpus.yaml", GpuEntry),
        combinations=_read("combinations.yaml", DriverCombination),
        images=_read("images.yaml", ImageEntry),
        stages=_read("stages.yaml", StageTiming),
        defaults=_read("defaults.yaml", DefaultEntry),
        rates=_read("rates.yaml", RateEntry),
        floors=_read("floors.yaml", FloorEntry),
        defects=_read("defects.yaml", DefectEntry),
    )


def _read(name: str, entry_type: type[Entry]) -> tuple[Entry, ...]:
    """Read one file: a list of entries, each with exactly the fields of `entry_type`."""
    text = files("railwright.catalog").joinpath(name).read_text(encoding="utf-8")
    return read_entries(text, name, entry_type)


def read_entries(text: str, name: str, entry_type: type[Entry]) -> tuple[Entry, ...]:
    """
    Read entries from YAML text.

    Raises:
        ValueError: an unknown field, a wrong type, or an entry without source or date.
    """
    data: list[dict[str, Any]] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are safe loaders
    known = {field.name for field in fields(entry_type)}  # type: ignore[arg-type]  # every entry type is a dataclass
    for number, entry in enumerate(data or [], start=1):
        unknown = sorted(set(entry) - known)
        if unknown:
            message = f"catalog file {name}, entry {number}: unknown fields {', '.join(unknown)}"
            raise ValueError(message)
        if not (entry.get("source") and entry.get("date")):
            message = f"catalog file {name}, entry {number}: no source or no date"
            raise ValueError(message)
    try:
        return msgspec.convert(data or [], type=tuple[entry_type, ...])  # type: ignore[valid-type]  # a type as a value
    except msgspec.ValidationError as error:
        message = f"catalog file {name}: {error}"
        raise ValueError(message) from error
