"""Options that several commands share, and how they become arguments of railwright.api."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from railwright import api

Output = Literal["text", "json", "yaml"]

DEFAULT_FILE = Path("rails.yaml")
_SHARED = Group("Common options", sort_key=90)


@Parameter(name="*")
@dataclass(frozen=True)
class Common:
    """What every command takes."""

    cluster: Annotated[str | None, Parameter(group=_SHARED)] = None
    """Kubeconfig context (default: the current one), sim:WORLD[+FAULT...][@STATE.json], or bundle:PATH."""
    output: Annotated[Output, Parameter(name=["--output", "-o"], group=_SHARED)] = "text"
    """Format of the result on stdout; progress goes to stderr."""
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], group=_SHARED)] = False
    """No progress on stderr."""


@Parameter(name="*")
@dataclass(frozen=True)
class Wanted:
    """Where the wanted state comes from."""

    file: Annotated[Path | None, Parameter(name=["--file", "-f"], allow_leading_hyphen=True)] = None
    """The wanted state; "-" is stdin. Default: ./rails.yaml, where there is one."""
    name: str | None = None
    """One fabric of several in the file or on the cluster."""
    method: Literal["shared", "host-device", "sriov"] | None = None
    """Overrides spec.method."""
    fabric: Literal["roce", "infiniband"] | None = None
    """Link type; overrides spec.fabric."""


def names(option: str, values: list[str] | None) -> tuple[str, ...]:
    """
    Read names of which one argument may hold several.

    Raises:
        UsageError: the option was given, and no name is in it: a variable that is not set would mean everything.
    """
    found = tuple(part.strip() for value in values or () for part in value.split(",") if part.strip())
    if values is not None and not found:
        raise api.UsageError(f"{option} names nothing", hint=f"name some, or leave {option} out to mean all")
    return found


def refuse_cluster(command: str, common: Common) -> None:
    """Refuse --cluster where no cluster is asked. Raises UsageError."""
    if common.cluster is not None:
        message = f"{command} has no use for --cluster: it asks no cluster"
        raise api.UsageError(message, hint=f"railwright {command} --help")


def check_image(image: str | None) -> None:
    """Refuse what cannot be the reference of a container image. Raises UsageError."""
    if image is not None and (not image or any(char.isspace() or not char.isprintable() for char in image)):
        message = f"--image {image!r}: expected the reference of a container image"
        raise api.UsageError(message, hint="for instance registry.example.com/team/training:1.0")
