"""A run: a folder that says what it was made from, and holds what its units found out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from separatrix.checks import described, require
from separatrix.runs.canonical import plain
from separatrix.runs.files import read_sealed, sweep, unfinished, write_sealed
from separatrix.runs.manifest import FORMAT, Manifest, from_json, now, require_same, to_json
from separatrix.runs.parts import Record, Unit, as_table, as_tensors, content, recorded
from separatrix.runs.plan import plan_path, read_plan

if TYPE_CHECKING:
    import pyarrow
    from _typeshed import DataclassInstance

_MANIFEST = "manifest.json"
_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Run:
    """A folder of results.

    Tables and tensors are joined from the parts of all units that are done, in the order of the plan: whatever order
    they were computed in, whoever computed them, however often that was interrupted.

    Args:
        folder: Where it is.
        manifest: What it was made from, and how far it had come when it was opened.
    """

    folder: Path
    manifest: Manifest

    def units(self) -> tuple[Unit, ...]:
        """The units planned, in their order; none before work has begun."""
        plan, path = read_plan(self.folder), plan_path(self.folder)
        fix = "Run the same command again: it is written anew."
        require(plan is not None or not path.exists(), "folder", "hold its plan", f"a changed {path}", fix)
        return plan or ()

    def records(self) -> dict[Unit, Record]:
        """What the units that are done have left, in the order of the plan."""
        found = {unit: recorded(self.folder, unit) for unit in self.units()}
        return {unit: record for unit, record in found.items() if record is not None}

    def tables(self) -> tuple[str, ...]:
        """Names of the tables."""
        return _names(self.records(), "tables")

    def table(self, name: str) -> pyarrow.Table:
        """All rows of a table; each part is checked against its hash as it is read."""
        from pyarrow import concat_tables

        parts = {unit: as_table(held) for unit, held in self._contents("tables", name).items()}
        first = next(iter(parts.values())).schema
        for unit, part in parts.items():
            same = part.schema.equals(first, check_metadata=True)
            require(same, "name", "be a table whose parts have the same columns", f"others in {unit}")
        return concat_tables(parts.values()).combine_chunks()

    def tensors(self, name: str) -> dict[str, Tensor]:
        """A collection of tensors, the units' own joined along the first axis; checked as they are read."""
        parts = [as_tensors(held) for held in self._contents("tensors", name).values()]
        return {key: torch.cat([part[key] for part in parts]) for key in parts[0]}

    def _contents(self, kind: str, name: str) -> dict[Unit, bytes]:
        records = self.records()
        known = _names(records, kind)
        rule = f"be one of {', '.join(map(repr, known))}" if known else f"wait for {kind}: no unit has left any"
        require(name in known, "name", rule, repr(name))
        file = f"{kind}/{name}"
        return {unit: content(self.folder, record, file) for unit, record in records.items() if file in record.files}


def open_run(
    folder: Path | str,
    config: DataclassInstance | Mapping[str, Any],
    *,
    inputs: Mapping[str, str] = _NOTHING,
    seeds: Sequence[int] = (),
) -> Run:
    """The run in a folder: created where there is none, continued where it has the same settings.

    What interrupted writes have left is removed. Two processes may work on one folder at once: every file appears
    whole or not at all, so that they repeat some work and spoil none.

    Args:
        folder: A run's own, or one that is empty or not there yet.
        config: The resolved settings: frozen dataclasses and mappings of numbers and texts, in any depth.
        inputs: Hashes of what else the results depend on, by name: weights, data.
        seeds: The seeds drawn from.
    """
    folder = Path(folder)
    _require_free(folder)
    manifest = Manifest(_settings(config), dict(inputs), tuple(seeds), created=now())
    sweep(folder)
    if not (folder / _MANIFEST).exists():
        return save(folder, manifest)
    run = read_run(folder)
    require_same(run.manifest, manifest, folder)
    return run


def read_run(folder: Path | str) -> Run:
    """The run in a folder, as it stands; nothing is written."""
    path = Path(folder) / _MANIFEST
    require(path.exists(), "folder", "hold a run", f"{folder} without {_MANIFEST}")
    found = read_sealed(path) or {}
    version = found.get("format", FORMAT)
    require(version == FORMAT, "folder", f"hold a run of format {FORMAT}", f"format {version} in {path}")
    manifest = from_json(found)
    fix = f"Delete {path} and run the same command again: what is done is kept."
    require(manifest is not None, "folder", "hold its manifest", f"a changed {path}", fix)
    assert manifest is not None
    return Run(Path(folder), manifest)


def save(folder: Path, manifest: Manifest) -> Run:
    """Write a manifest, and give the run it belongs to."""
    manifest = replace(manifest, updated=now())
    write_sealed(folder / _MANIFEST, to_json(manifest), indent=2)
    return Run(folder, manifest)


def counted(run: Run) -> Manifest:
    """The run's manifest with its units, rows and counts as they stand in the folder."""
    units, records = run.units(), run.records().values()
    rows, counts = _sum(record.rows for record in records), _sum(record.counts for record in records)
    return replace(run.manifest, planned=len(units), done=len(records), rows=rows, counts=counts)


def _sum(counts: Iterable[Mapping[str, float]]) -> dict[str, Any]:
    total: Counter[str] = Counter()
    for count in counts:
        total.update(count)
    return dict(total)


def _names(records: Mapping[Unit, Record], kind: str) -> tuple[str, ...]:
    files = dict.fromkeys(file for record in records.values() for file in record.files)
    return tuple(file.removeprefix(f"{kind}/") for file in files if file.startswith(f"{kind}/"))


def _settings(config: object) -> Mapping[str, Any]:
    known = isinstance(config, Mapping) or (is_dataclass(config) and not isinstance(config, type))
    require(known, "config", "be a dataclass or a mapping of settings", described(config))
    settings = plain(config)
    assert isinstance(settings, dict)
    return settings


def _require_free(folder: Path) -> None:
    """Refuse a folder that holds something, and no run."""
    require(not folder.exists() or folder.is_dir(), "folder", "be a folder", f"the file {folder}")
    if (folder / _MANIFEST).exists() or (folder / "units").exists() or not folder.exists():
        return
    others = sorted(path.name for path in folder.iterdir() if not unfinished(path))
    fix = "Use an empty folder, or a new one."
    require(not others, "folder", "hold a run or nothing", f"{folder} with {', '.join(others[:3])}", fix)
