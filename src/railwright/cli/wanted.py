"""rails.yaml and flags -> intents, for the commands that need them."""

import sys
from pathlib import Path

from railwright import api
from railwright.cli.options import DEFAULT_FILE, Common, Wanted

_STDIN = Path("-")


def intents_in(wanted: Wanted) -> tuple[api.Intent, ...] | None:
    """
    Read the wanted state.

    Returns:
        None when no file was named and there is no ./rails.yaml.

    Raises:
        UsageError: no such file, or no such fabric in it.
        IntentError: mistakes in it.
    """
    file = _file(wanted)
    if file is None:
        return None
    intents = tuple(
        api.with_flags(
            intent,
            method=api.Method(wanted.method) if wanted.method else None,
            fabric=api.Fabric(wanted.fabric) if wanted.fabric else None,
        )
        for intent in _read(file)
        if wanted.name in {None, intent.name}
    )
    if not intents:
        message = f"{file}: no RailFabric is named {wanted.name!r}"
        raise api.UsageError(message, hint="leave --name out to take all of them")
    return intents


def required_intents(wanted: Wanted) -> tuple[api.Intent, ...]:
    """Read the wanted state. Raises UsageError when there is none."""
    intents = intents_in(wanted)
    if intents is None:
        message = f"no wanted state: there is no ./{DEFAULT_FILE}, and no -f FILE was given"
        raise api.UsageError(
            message, hint="write one (docs/rails-yaml.md shows ten lines), or start with: railwright demo"
        )
    return intents


def typed(wanted: Wanted, common: Common) -> api.Typed:
    """Give the options with which the person's next commands are to be called."""
    return api.Typed(
        cluster=common.cluster or "",
        file=str(wanted.file) if wanted.file is not None else "",
        has_file=_file(wanted) is not None,
    )


def names_in(file: Path | None, name: str | None) -> tuple[api.FabricName, ...] | None:
    """Name the fabrics that are meant; None for every one that the ledger knows. Raises what `intents_in` does."""
    if file is None:
        return (api.FabricName(name),) if name else None
    intents = intents_in(Wanted(file=file, name=name))
    return tuple(intent.name for intent in intents) if intents else None


def _read(file: Path) -> tuple[api.Intent, ...]:
    if file == _STDIN:
        return api.read_intents_from(sys.stdin.buffer)
    if str(file).startswith("-") and not file.exists():
        message = f"-f needs a file, and {file} is an option"
        raise api.UsageError(message, hint="-f FILE, or -f - for stdin")
    return api.read_intents(file)


def _file(wanted: Wanted) -> Path | None:
    if wanted.file is not None:
        return wanted.file
    return DEFAULT_FILE if DEFAULT_FILE.exists() else None
