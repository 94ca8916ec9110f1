"""`railwright demo`."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from railwright import api
from railwright.cli.consent import Consent
from railwright.cli.edge import run, show
from railwright.cli.keep import check_folder, keep_run, kept_in
from railwright.cli.options import Common, refuse_cluster
from railwright.cli.progress import progress
from railwright.cli.streams import write_result

_BROKEN = "acs-redirect"
"""What is wrong in the second cluster: a switch setting that every operator is content with."""
_NOT_FOUND = 1
_RAILS = """apiVersion: railwright.dev/v1alpha1
kind: RailFabric
metadata: {{name: east-west}}
spec:
  method: {method}
  fabric: {fabric}
  workloadNamespaces: [training]
"""


def demo(
    *,
    method: Literal["shared", "host-device", "sriov"] = "shared",
    fabric: Literal["roce", "infiniband"] = "roce",
    world: str | None = None,
    fault: list[str] | None = None,
    all_: Annotated[bool, Parameter(name="--all")] = False,
    list_: Annotated[bool, Parameter(name="--list")] = False,
    to: Path | None = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> int:
    """Show the whole job on a simulated cluster: discover, plan, apply with its gates, verify, status, clean.

    Ends with a cluster that is broken, and what verify says of it; exit code 0 when that is found.

    Args:
        method: how pods get their RDMA device.
        fabric: the link type.
        world: another simulated cluster; --list names them.
        fault: something that is broken in it; --list names them. May be given several times.
        all_: all six configurations, one line each; exit code 0 only if all end as they should.
        list_: name the worlds and faults.
        to: keep the run of verify in this folder; its report.html opens offline.
        common: output; no cluster is asked.
    """

    async def action() -> int:
        refuse_cluster("demo", common)
        if list_:
            return show(api.worlds_document(), common)
        faults = "".join(f"+{name}" for name in fault or ())
        if all_:
            runs = [
                await _quietly(api.Method(m), api.Fabric(f), _world(world, f) + faults)
                for f in ("roce", "infiniband")
                for m in ("shared", "host-device", "sriov")
            ]
            return show(api.rehearsals_document(tuple(runs)), common)
        chosen = _world(world, fabric) + faults
        if common.output != "text":
            return show(
                api.rehearsals_document((await _quietly(api.Method(method), api.Fabric(fabric), chosen),)), common
            )
        check_folder(to)
        text = _RAILS.format(method=method, fabric=fabric)
        code = await _aloud(text, chosen, common, to)
        if code == 0 and not fault and world is None:
            code = await _broken(text, f"{chosen}+{_BROKEN}", common)
        _title("that was a simulation", "next: railwright discover, on your cluster; railwright lab moves real bytes")
        return code

    return run(action, common)


def _world(world: str | None, fabric: str) -> str:
    return "sim:" + (world or ("h200-roce" if fabric == "roce" else "h200-ib"))


async def _quietly(method: api.Method, fabric: api.Fabric, cluster: str) -> api.Rehearsal:
    rails = _RAILS.format(method=method.value, fabric=fabric.value)
    return await api.rehearse(api.parse_intents(rails, "demo"), cluster)


async def _aloud(rails: str, cluster: str, common: Common, to: Path | None) -> int:
    seen = progress(quiet=common.quiet)
    async with await api.open_cluster(cluster) as world:
        intents = api.parse_intents(rails, "demo")
        _title("rails.yaml", "what a person writes")
        write_result(rails)
        _title("railwright discover", "what is there; changes nothing")
        show(api.snapshot_document(await api.discover(world, progress=seen)), common)
        _title("railwright plan", "what would be done, why, at what risk")
        prepared = await api.plan(world, intents)
        code = show(api.plan_document(prepared.plan, prepared.manifests, prepared.changes), common)
        if code:
            return code
        _title("railwright apply --yes", "do it: stage by stage, each with a gate")
        record = await api.apply(
            world, intents, approval=Consent(yes=True, take_over=False), verify=False, progress=seen
        )
        code = show(api.apply_document(record), common)
        if code == 0:
            _title("railwright verify --quick --yes", "prove it: bytes between GPU memories, on every rail")
            code = await _verify(world, intents, common, to)
        _title("railwright status", "where each stage stands")
        show(api.status_document(await api.status(world)), common)
        _title("railwright clean --yes", "remove what we made, put back what we changed")
        cleaned = await api.clean(world, approval=Consent(yes=True, take_over=False), progress=seen)
        return show(api.clean_document(cleaned), common) or code


class _Agreed:
    """Consent to everything that has no owner, without a word: nothing of it is real."""

    def approve(self, question: api.Question) -> bool:
        """Answer."""
        return not question.takes_over


async def _verify(world: api.World, intents: tuple[api.Intent, ...], common: Common, to: Path | None) -> int:
    wish = api.Wish(api.Options(quick=True))
    approval = Consent(yes=True, take_over=False)
    record = await api.verify(world, intents, wish, approval=approval, progress=progress(quiet=common.quiet))
    code = show(api.verify_document(record), common)
    if to is not None:
        keep_run(to, record)
        write_result(f"\n{kept_in(to)}")
    return code


async def _broken(rails: str, cluster: str, common: Common) -> int:
    """Verify a cluster whose every stage is ready, and in which one thing is wrong: the answer is 0 when it is found."""
    _title(f"railwright verify --quick --yes --cluster {cluster}", "another one: every stage is ready there too")
    yes = _Agreed()
    async with await api.open_cluster(cluster) as world:
        intents = api.parse_intents(rails, "demo")
        applied = await api.apply(world, intents, approval=yes, verify=False)
        if applied.exit_code:
            return show(api.apply_document(applied), common)
        record = await api.verify(world, intents, api.Wish(api.Options(quick=True)), approval=yes)
        write_result(api.verify_findings_text(record))
        return 0 if record.culprits else _NOT_FOUND


def _title(command: str, meaning: str) -> None:
    write_result(f"\n=== {command} === {meaning}\n\n")
