"""Joining runs of one plan that were carried out apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from separatrix.checks import require
from separatrix.runs.manifest import require_same
from separatrix.runs.parts import Record, Unit, content, keep_file, keep_record, standing
from separatrix.runs.plan import extend_plan
from separatrix.runs.store import Run, counted, open_run, read_run, save


def merge_runs(sources: Sequence[Path | str], folder: Path | str) -> Run:
    """One run from several that did shares of the same plan with the same settings.

    Its tables are those of a run that did the whole plan by itself. A unit that several have done alike is taken
    once. Everything is checked before the first file is written: units that none has done, or that a part was lost
    or changed of in each, and units that sources disagree about are refused by name.

    Args:
        sources: Folders of runs, each with the whole plan (``carry_out(…, plan=…)``).
        folder: Where the whole goes: new, empty, or an earlier attempt at the same.
    """
    runs = [read_run(source) for source in sources]
    require(len(runs) > 0, "sources", "hold at least one run", "none")
    plan = _common_plan(runs)
    holders = {unit: _holders(runs, unit) for unit in plan}
    _require_no_gaps(holders)
    _require_agreement(holders)
    first = runs[0].manifest
    merged = open_run(folder, first.config, inputs=first.inputs, seeds=first.seeds)
    extend_plan(merged.folder, plan)
    for unit, found in holders.items():
        _copy(unit, found, merged.folder)
    return _finish(merged, runs)


def _common_plan(runs: Sequence[Run]) -> tuple[Unit, ...]:
    first = runs[0]
    plan = first.units()
    for run in runs[1:]:
        require_same(first.manifest, run.manifest, first.folder)
        theirs = run.units()
        got = f"{len(set(plan) ^ set(theirs))} units planned in {first.folder} or {run.folder} alone"
        require(set(plan) == set(theirs), "sources", "share one plan", got)
        require(plan == theirs, "sources", "share one plan", f"another order in {run.folder}")
    return plan


def _holders(runs: Sequence[Run], unit: Unit) -> dict[Path, Record]:
    found = {run.folder: standing(run.folder, unit) for run in runs}
    return {folder: record for folder, record in found.items() if record is not None}


def _require_no_gaps(holders: Mapping[Unit, Mapping[Path, Record]]) -> None:
    missing = [str(unit) for unit, found in holders.items() if not found]
    rest = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
    rule = "hold every unit of their plan between them"
    require(not missing, "sources", rule, f"no sound {missing[0]}{rest}" if missing else "")


def _require_agreement(holders: Mapping[Unit, Mapping[Path, Record]]) -> None:
    for unit, found in holders.items():
        (where, record), *others = found.items()
        for folder, other in others:
            got = f"different contents of {unit} in {where} and {folder}"
            require(record.files == other.files, "sources", "agree on the units they share", got)


def _copy(unit: Unit, found: Mapping[Path, Record], folder: Path) -> None:
    if standing(folder, unit) is not None:
        return
    source, record = next(iter(found.items()))
    for file in record.files:
        keep_file(folder, record, file, content(source, record, file))
    keep_record(folder, record)


def _finish(merged: Run, runs: Sequence[Run]) -> Run:
    """Declare the whole complete; the calls that worked on the parts are those that worked on it."""
    sessions = tuple(chain.from_iterable(run.manifest.sessions for run in runs))
    recomputed = sum(run.manifest.recomputed for run in runs)
    return save(merged.folder, replace(counted(merged), state="complete", sessions=sessions, recomputed=recomputed))
