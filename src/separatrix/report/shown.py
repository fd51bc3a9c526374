"""A run as the report sees it: its tables as arrays, its tensors part by part, its settings as far as known."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from separatrix.checks import require
from separatrix.runs import Record, Run, Unit
from separatrix.runs.parts import as_tensors, content
from separatrix.tables import Column, Rows, column_of

if TYPE_CHECKING:
    import pyarrow

Numbers = NDArray[np.float64]
Whole = NDArray[np.int64]

NORMS = {"l2": "ℓ2", "linf": "ℓ∞"}
"""Norms as columns call them, and as they are written."""

_LARGE = 500_000  # rows of a table that is not held beside another one


@dataclass(frozen=True, eq=False)
class Shown:
    """One run, under the name that the page calls it by.

    Args:
        run: The run.
        letter: ``"A"`` or ``"B"`` where there are two; empty otherwise.
        place: 0 or 1: which colour it has.
    """

    run: Run
    letter: str = ""
    place: int = 0
    _rows: dict[str, Rows | None] = field(default_factory=dict, repr=False)
    _columns: dict[str, tuple[Column, ...]] = field(default_factory=dict, repr=False)

    @property
    def config(self) -> Mapping[str, Any]:
        """The settings, as the manifest keeps them."""
        return self.run.manifest.config

    @cached_property
    def model(self) -> str:
        """What the model is called."""
        return str(_entry(self.config, "model", "name") or "a model without a name")

    @cached_property
    def data(self) -> str:
        """What the data are called."""
        return str(_entry(self.config, "data", "name") or "data without a name")

    @property
    def name(self) -> str:
        """What the page calls the run in legends."""
        return f"{self.letter}: {self.model}" if self.letter else self.model

    @property
    def lead(self) -> str:
        """What a sentence about it begins with, where there are two runs."""
        return f"{self.letter}: " if self.letter else ""

    @property
    def colour(self) -> str:
        """Of its lines and bars."""
        return f"C{self.place}"

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """Names of the model's classes, all different; none where they are not known."""
        held = self.config.get("classes")
        named = [str(name) for name in held] if isinstance(held, (list, tuple)) else []
        repeated = {name for name, times in Counter(named).items() if times > 1}
        return tuple(f"{name} ({label})" if name in repeated else name for label, name in enumerate(named))

    def class_name(self, label: float) -> str:
        """What a class is called; its number where it has no name, a dash where there is no class."""
        if not math.isfinite(label) or label < 0:
            return "–"
        return self.classes[int(label)] if label < len(self.classes) else str(int(label))

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Shape of a point; empty where it is not known."""
        held = self.config.get("shape")
        sound = isinstance(held, (list, tuple)) and all(isinstance(side, int) and side > 0 for side in held)
        return tuple(held or ()) if sound else ()

    @property
    def dim(self) -> float:
        """Input dimensions d; NaN where they are not known."""
        return float(math.prod(self.shape)) if self.shape else math.nan

    @cached_property
    def bounds(self) -> tuple[float, float] | None:
        """The range of the model's inputs, where it has one."""
        held = self.config.get("bounds")
        return (float(held[0]), float(held[1])) if isinstance(held, (list, tuple)) and len(held) == 2 else None

    @cached_property
    def records(self) -> Mapping[Unit, Record]:
        """The units that are done."""
        return self.run.records()

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """The units that are planned."""
        return self.run.units()

    @property
    def complete(self) -> bool:
        """Whether all that is planned is done."""
        return self.run.manifest.state == "complete" and len(self.records) == len(self.units)

    @cached_property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables there are."""
        return self.run.tables()

    def rows(self, name: str) -> Rows | None:
        """The rows of a table, whose texts are held once each; None where there is none, or where it has no rows."""
        if name not in self._rows:
            self._read(name)
        return self._rows[name]

    def columns(self, name: str) -> tuple[Column, ...]:
        """What the columns of a table say of themselves."""
        if name not in self._columns:
            self._read(name)
        return self._columns[name]

    def _read(self, name: str) -> None:
        """Hold a table; of others only those that are small: whoever asks for a large one again waits again."""
        for other in [held for held, rows in self._rows.items() if rows is not None and len(rows) > _LARGE]:
            del self._rows[other]
        table = self.run.table(name) if name in self.tables else None
        self._columns[name] = () if table is None else tuple(column_of(table, each) for each in table.column_names)
        self._rows[name] = None if table is None or not table.num_rows else _of_table(table)

    def held(self, name: str) -> Rows:
        """The rows of a table that is known to be there, as it is for the sections that tell of it."""
        rows = self.rows(name)
        require(rows is not None, "name", f"be among the tables of {self.run.folder}", repr(name))
        assert rows is not None
        return rows

    def unit_of(self, table: str, column: str) -> str:
        """What a value of one is in a column; ``"input units"`` where it does not say."""
        units = {held.name: held.unit for held in self.columns(table)}
        return units.get(column) or "input units"

    def parts(self, name: str) -> Iterator[Mapping[str, Tensor]]:
        """A collection of tensors, one unit's after the other, so that never all of them are held."""
        file = f"tensors/{name}"
        for record in self.records.values():
            if file in record.files:
                yield as_tensors(content(self.run.folder, record, file))

    @cached_property
    def _labels(self) -> tuple[Whole, Whole]:
        """The samples' ids in rising order, and their true classes."""
        rows = self.rows("samples")
        if rows is None or not {"id", "label"} <= rows.columns.keys():
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        ids, labels = whole(rows["id"]), whole(rows["label"])
        order = np.argsort(ids, kind="stable")
        return ids[order], labels[order]

    def labels_of(self, ids: Whole) -> Whole:
        """True classes of these samples; −1 where they are not known."""
        known, labels = self._labels
        if not len(known):
            return np.full(len(ids), -1, dtype=np.int64)
        places = np.searchsorted(known, ids).clip(max=len(known) - 1)
        return np.where(known[places] == ids, labels[places], -1)

    def progress(self, question: str) -> tuple[int, int]:
        """Units of a question that are done, and that are planned."""
        planned = [unit for unit in self.units if unit.name == question]
        return sum(unit in self.records for unit in planned), len(planned)


def numbers(values: NDArray[Any]) -> Numbers:
    """A column as numbers; NaN for whatever is none."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return np.array([_number(value) for value in values.tolist()], dtype=np.float64)


def whole(values: NDArray[Any]) -> Whole:
    """A column as whole numbers; −1 for whatever is none."""
    held = numbers(values)
    return np.where(np.isfinite(held), held, -1).astype(np.int64)


def flags(values: NDArray[Any]) -> NDArray[np.bool_]:
    """A column as truth values; what is missing is not true."""
    return np.nan_to_num(numbers(values)) > 0


def column(rows: Rows, name: str) -> Numbers:
    """A column of numbers; NaN throughout where there is no such column."""
    return numbers(rows[name]) if name in rows.columns else np.full(len(rows), np.nan)


def _of_table(table: pyarrow.Table) -> Rows:
    return Rows({name: _array(table.column(name)) for name in table.column_names})


def _array(column: pyarrow.ChunkedArray) -> NDArray[Any]:
    import pyarrow

    if pyarrow.types.is_string(column.type) or pyarrow.types.is_large_string(column.type):
        coded = column.combine_chunks().dictionary_encode()
        words = np.array([*coded.dictionary.to_pylist(), ""], dtype=object)
        return np.asarray(words[coded.indices.fill_null(len(words) - 1).to_numpy(zero_copy_only=False)])
    return np.asarray(column.to_numpy())


def _number(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return math.nan


def _entry(config: Mapping[str, Any], group: str, name: str) -> object:
    held = config.get(group)
    return held.get(name) if isinstance(held, Mapping) else held
