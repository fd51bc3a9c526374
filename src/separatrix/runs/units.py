"""Carrying out a plan, unit by unit: what is done is kept, what is lost is computed anew, the order is the plan's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import perf_counter

from separatrix.checks import described, require
from separatrix.runs.environment import hardware, versions
from separatrix.runs.manifest import Session, State, now
from separatrix.runs.parts import Part, Record, Unit, forget_broken, keep, standing
from separatrix.runs.plan import extend_plan
from separatrix.runs.store import Run, counted, read_run, save

Work = Callable[[Unit], Part]
"""What computes one unit: a function of the unit alone."""

Engine = Callable[[Callable[[Unit], Record], Sequence[Unit]], Iterable[Record]]
"""What applies a function to every unit, as ``map`` and the ``map`` of an executor do, in any order."""


@dataclass(frozen=True)
class Progress:
    """How far a call of ``carry_out`` has come.

    Args:
        done: Units done, those found done included.
        found: Units that were done before.
        units: Units asked for.
        seconds: Time since the call began.
    """

    done: int
    found: int
    units: int
    seconds: float


def one_by_one(carry: Callable[[Unit], Record], units: Sequence[Unit]) -> Iterator[Record]:
    """The plainest engine: one unit after the other, in this process."""
    return map(carry, units)


def carry_out(
    run: Run,
    units: Sequence[Unit],
    work: Work,
    *,
    plan: Sequence[Unit] | None = None,
    engine: Engine = one_by_one,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Do every unit that is not done yet, and give the run with what all of them have left.

    A unit is done when its record is there and every file that the record names has the content it had: each is
    hashed before work begins, and what was lost or changed is computed anew. An interruption, of whatever kind, loses
    the unit at work at most; the same call continues. The tables are the same, byte for byte, as if nothing had
    happened.

    Args:
        run: Where results go, as ``open_run`` gave it.
        units: What to do, all different; the tables keep this order.
        work: Computes one unit. An engine of several processes needs one that can be pickled.
        plan: All units of these questions, where ``units`` are a share of them and others do the rest. A question's
            plan is fixed by the first call that names it; a later call may bring other questions.
        engine: How the units are gone through.
        progress: Called before the first unit and after each.
    """
    asked, whole = tuple(units), tuple(units if plan is None else plan)
    _require_units(asked, whole)
    extend_plan(run.folder, whole)
    waiting = [unit for unit in asked if standing(run.folder, unit) is None]
    tell = progress or _keep_quiet
    found = Progress(len(asked) - len(waiting), len(asked) - len(waiting), len(asked), 0.0)
    tell(found)
    if not waiting:
        return _settle(read_run(run.folder))
    carry = partial(carry_out_one, run.folder.resolve(), work)
    return _go_through(_begin(run, waiting), partial(engine, carry, waiting), found, tell)


def carry_out_one(folder: Path, work: Work, unit: Unit) -> Record:
    """Do one unit and store it, or find that it is done: what a worker calls, on any machine that sees the folder."""
    record = standing(folder, unit)
    if record is not None:
        return record
    start = perf_counter()
    part = work(unit)
    require(isinstance(part, Part), "work", "give a Part", described(part))
    return keep(folder, unit, part, perf_counter() - start)


def _require_units(asked: Sequence[Unit], whole: Sequence[Unit]) -> None:
    for name, units in (("units", asked), ("plan", whole)):
        require(len(units) > 0, name, "hold at least one unit", "none")
        stray = [unit for unit in units if not isinstance(unit, Unit)]
        require(not stray, name, "hold units", f"{type(stray[0]).__name__} among them" if stray else "")
        unit, times = Counter(units).most_common(1)[0]
        require(times == 1, name, "all differ", f"{unit} {times} times")
    planned = set(whole)
    missing = [str(unit) for unit in asked if unit not in planned]
    require(not missing, "units", "be among those of `plan`", ", ".join(missing[:1]))


def _begin(run: Run, waiting: Sequence[Unit]) -> Run:
    lost = sum(forget_broken(run.folder, unit) for unit in waiting)
    manifest = counted(read_run(run.folder))
    sessions = (*manifest.sessions, Session(now(), None, versions(), hardware()))
    manifest = replace(manifest, state="running", recomputed=manifest.recomputed + lost, sessions=sessions)
    return save(run.folder, manifest)


def _go_through(
    run: Run, records: Callable[[], Iterable[Record]], found: Progress, tell: Callable[[Progress], None]
) -> Run:
    start = perf_counter()
    try:
        for done, _ in enumerate(records(), start=found.done + 1):
            tell(replace(found, done=done, seconds=perf_counter() - start))
    except BaseException:
        with suppress(OSError, ValueError):  # a full disk must not hide what has happened
            _settle(_timed(run, perf_counter() - start), "interrupted")
        raise
    return _settle(_timed(run, perf_counter() - start))


def _timed(run: Run, seconds: float) -> Run:
    *before, session = run.manifest.sessions
    return replace(run, manifest=replace(run.manifest, sessions=(*before, replace(session, seconds=seconds))))


def _settle(run: Run, state: State | None = None) -> Run:
    """Count what there is, and declare the run interrupted, partial or complete."""
    manifest = counted(run)
    finished: State = "complete" if manifest.done == manifest.planned else "partial"
    manifest = replace(manifest, state=state or finished)
    return run if manifest == read_run(run.folder).manifest else save(run.folder, manifest)


def _keep_quiet(_: Progress) -> None:
    """Tell nobody."""
