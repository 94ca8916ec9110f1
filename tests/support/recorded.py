"""Operators of a simulated world that say what real ones were recorded to say."""

from contextlib import contextmanager

from railwright.simulator.ownership import Manager


@contextmanager
def said_by(world, case):
    """
    Let the status of a case's object be the recorded one, whoever writes it, and their own again at the end.

    What a case `keeps` of a status stays the writer's own: what names the devices of that world.
    """
    engine, recorded = world.cluster.engine, case["status"]
    written, held_back = engine.store.merge, {}

    def is_meant(ref):
        return ref.kind.kind == case["kind"] and ref.name.startswith(case["starts"])

    def as_recorded(ref, change, manager, now, *, dry_run=False, status=False):
        if status and is_meant(ref):
            held_back[ref] = change.get("status", {}), manager
            own = change.get("status", {})
            kept = {key: own[key] for key in case.get("keeps", ()) if key in own}
            change = {"status": {**dict.fromkeys(own), **kept, **recorded}}
        return written(ref, change, manager, now, dry_run=dry_run, status=status)

    engine.store.merge = as_recorded
    for ref, obj in list(engine.store.objects.items()):
        if is_meant(ref) and "status" in obj:
            as_recorded(
                ref, {"status": obj["status"]}, Manager("recorded", "Update", "status"), engine.now, status=True
            )
    try:
        yield
    finally:
        engine.store.merge = written
        for ref, (own, manager) in held_back.items():
            healed = {"status": {**dict.fromkeys(recorded), **own}}
            written(ref, healed, manager, engine.now, status=True)
