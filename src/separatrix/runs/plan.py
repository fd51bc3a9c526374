"""Which units a run is made of, and in which order its tables show them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path

from separatrix.checks import require
from separatrix.runs.files import read_sealed, write_sealed
from separatrix.runs.parts import Unit

_NAMES = tuple(entry.name for entry in fields(Unit))


def plan_path(folder: Path) -> Path:
    """Where a run keeps its plan."""
    return folder / "plan.json"


def read_plan(folder: Path) -> tuple[Unit, ...] | None:
    """The units planned in a folder; None where no plan can be read."""
    found = read_sealed(plan_path(folder))
    try:
        return None if found is None else tuple(_unit(*entry) for entry in found["units"])
    except (KeyError, TypeError):
        return None


def extend_plan(folder: Path, units: Sequence[Unit]) -> None:
    """Add the questions that are new to a folder's plan; those it has must be cut, and stand, as they did."""
    known = read_plan(folder) or ()
    before, after = _by_name(known), _by_name(units)
    for name in before.keys() & after.keys():
        changed = set(before[name]) ^ set(after[name])
        got = f"{len(changed)} others" if changed else "another order"
        rule = f"be those planned for {name} in {folder}"
        require(before[name] == after[name], "units", rule, got, "Use another folder.")
    new = tuple(unit for unit in units if unit.name not in before)
    if new:
        _save(folder, known + new)


def _save(folder: Path, units: Sequence[Unit]) -> None:
    write_sealed(plan_path(folder), {"units": [[getattr(unit, name) for name in _NAMES] for unit in units]})


def _unit(name: str, model: str, config: str, ids: Sequence[int]) -> Unit:
    return Unit(name, model, config, tuple(ids))


def _by_name(units: Iterable[Unit]) -> dict[str, list[Unit]]:
    named: dict[str, list[Unit]] = {}
    for unit in units:
        named.setdefault(unit.name, []).append(unit)
    return named
