"""What the command line says on top of the file: a flag wins over the file, which wins over hardware and catalog."""

from dataclasses import replace

from railwright.core.errors import IntentError
from railwright.intent.model import Fabric, GpuMemory, Intent, Method, NicDriver, Place
from railwright.intent.parse import parse_intents
from railwright.intent.write import to_yaml

FLAGS = "command line"
"""The file name that places of flags carry."""


def with_flags(
    intent: Intent,
    *,
    method: Method | None = None,
    fabric: Fabric | None = None,
    nic_driver: NicDriver | None = None,
    memory: GpuMemory | None = None,
    workload_namespaces: tuple[str, ...] | None = None,
) -> Intent:
    """
    Put flags over an intent; None leaves a key as the file has it.

    Returns:
        The same intent when no flag says anything else; else one whose `places` name the command line for the
        keys that flags set.

    Raises:
        IntentError: what the file says does not fit the flags.
    """
    flagged = {
        "spec.method": method,
        "spec.fabric": fabric,
        "spec.driver.nic": nic_driver,
        "spec.driver.memory": memory,
        "spec.workloadNamespaces": workload_namespaces,
    }
    changed = replace(
        intent,
        method=method or intent.method,
        fabric=fabric or intent.fabric,
        driver=replace(intent.driver, nic=nic_driver or intent.driver.nic, memory=memory or intent.driver.memory),
        workload_namespaces=intent.workload_namespaces if workload_namespaces is None else workload_namespaces,
    )
    if changed == intent:
        return intent
    places = {**intent.places, **{key: Place(FLAGS, 1, 1) for key, value in flagged.items() if value is not None}}
    try:
        (checked,) = parse_intents(to_yaml(changed), FLAGS)
    except IntentError as error:
        raise IntentError(
            f"the flags do not fit the RailFabric {intent.name}:\n{error.message}",
            hint="line and column count in the document with the flags put in; change the file, or the flags",
            context=error.context,
        ) from error
    return replace(checked, places=places)
