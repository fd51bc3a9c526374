"""The rows that a rule is about: tables of a run, read once, and what filters leave of them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.checks import few
from separatrix.runs import Run
from separatrix.survey.gate.rules import Condition, Statistic
from separatrix.tables import Column, Rows, column_of

Mask = NDArray[np.bool_]
Entries = NDArray[Any]

NEAR = 0.005
"""Radii and other numbers are written rounded: the nearest value there is, within this share of it, is meant."""

_SPELLINGS = {"l1": "ℓ1", "l2": "ℓ2", "linf": "ℓ∞"}
_LISTED = 12  # names that an error shows
_COMPARED = {
    "=": np.equal,
    "!=": np.not_equal,
    ">=": np.greater_equal,
    ">": np.greater,
    "<=": np.less_equal,
    "<": np.less,
}


@dataclass(frozen=True)
class Held:
    """A table of a run.

    Args:
        name: The table's.
        rows: What it holds.
        columns: What its numbers are, by the name of the column.
    """

    name: str
    rows: Rows
    columns: dict[str, Column]

    def entries(self, column: str) -> Entries:
        """A column's entries, as numbers, truth values or texts."""
        self.column(column)
        return self.rows[column]

    def column(self, name: str) -> Column:
        """What a column's entries are."""
        if name not in self.columns:
            raise ValueError(f"the table {self.name} has no column {name}; it has {few(list(self.columns), _LISTED)}.")
        return self.columns[name]

    @property
    def ids(self) -> NDArray[np.int64]:
        """The sample each row is about; where none is named, every row is one of its own."""
        known = "id" in self.columns
        return self.rows["id"].astype(np.int64) if known else np.arange(len(self.rows), dtype=np.int64)

    def where(self, conditions: Iterable[Condition]) -> Held:
        """The rows that keep all conditions; refuses to be left without any, since nothing could be said then."""
        rows = self.rows
        conditions = tuple(conditions)
        masks = [met(self, condition) for condition in conditions]
        if masks:
            rows = rows.chosen(np.logical_and.reduce(masks))
        if not len(rows):
            asked = " where " + " and ".join(map(str, conditions)) if conditions else ""
            raise ValueError(f"the table {self.name} has no rows{asked}.")
        return Held(self.name, rows, self.columns)


@dataclass(frozen=True, eq=False)
class Tables:
    """The tables of a run, each read when it is first asked for."""

    run: Run
    _read: dict[str, Held] = field(default_factory=dict, init=False)

    def __getitem__(self, name: str) -> Held:
        if name not in self._read:
            known = self.names
            if name not in known:
                there = few(list(known), _LISTED) or "none"
                raise ValueError(f"the run has no table {name}: that was not asked; the tables are {there}.")
            table = self.run.table(name)
            columns = {column: column_of(table, column) for column in table.column_names}
            self._read[name] = Held(name, Rows.of(table), columns)
        return self._read[name]

    @property
    def names(self) -> tuple[str, ...]:
        """The tables there are."""
        return self.run.tables()


def is_flag(entries: Entries) -> bool:
    """Whether entries are truth values."""
    return entries.dtype == np.bool_


def is_text(entries: Entries) -> bool:
    """Whether entries are texts."""
    return entries.dtype.kind in "OUST"


def met(held: Held, condition: Condition) -> Mask:
    """Which rows keep a condition; a row without a value keeps none."""
    entries, value = held.entries(condition.column), condition.value
    _require_alike(held, condition, entries)
    if isinstance(value, str):
        value = _spelt(held, condition, entries)
    elif isinstance(value, float) and condition.relation in ("=", "!="):
        value = _nearest(held, condition, entries)
    return np.asarray(_COMPARED[condition.relation](entries, value), dtype=np.bool_) & present(entries)


def meant(held: Held, asked: Statistic) -> Mask:
    """Which rows a share or a count is about: those that keep its condition, or whose flag is set."""
    entries = held.entries(asked.column)
    if asked.condition is not None:
        return met(held, asked.condition)
    if not is_flag(entries):
        example = f'{asked.column} = "…"' if is_text(entries) else f"{asked.column} > 0.5"
        raise ValueError(f"{asked.column} is no flag: ask for share({held.name}.{example}), or the like.")
    return entries


def present(entries: Entries) -> Mask:
    """Which entries are there: neither NaN nor null."""
    if is_flag(entries):
        return np.ones(len(entries), dtype=np.bool_)
    if is_text(entries):
        return np.array([entry is not None for entry in entries.tolist()], dtype=np.bool_)
    return ~np.isnan(entries.astype(np.float64))


def _require_alike(held: Held, condition: Condition, entries: Entries) -> None:
    value, name = condition.value, condition.column
    if is_flag(entries):
        alike, form = isinstance(value, bool), "a flag: compare it with true or false"
    elif is_text(entries):
        alike, form = isinstance(value, str), f"a text: compare it with one in quotation marks, {_values(entries)}"
    else:
        alike, form = isinstance(value, float), "a number: compare it with one"
    if not alike:
        raise ValueError(f"{name} of the table {held.name} is {form}; got {condition}.")
    if not isinstance(value, float) and condition.relation not in ("=", "!="):
        raise ValueError(f"{name} of the table {held.name} has no order: use = or !=; got {condition}.")


def _spelt(held: Held, condition: Condition, entries: Entries) -> str:
    """The text as the table writes it; one that it does not hold is refused, since a slip must not pass a gate."""
    there = set(entries.tolist())
    value = str(condition.value)
    for text in (value, _SPELLINGS.get(value.lower(), value)):
        if text in there:
            return text
    raise ValueError(f'{condition.column} of the table {held.name} is never "{value}"; it is {_values(entries)}.')


def _nearest(held: Held, condition: Condition, entries: Entries) -> float:
    """The value that a rounded number means; one that means none is refused."""
    value, numbers = float(condition.value), entries.astype(np.float64)
    different = np.unique(numbers[~np.isnan(numbers)])
    near = different[np.argmin(np.abs(different - value))] if len(different) else math.nan
    slack = 0.0 if entries.dtype.kind in "iu" else NEAR * abs(value)
    if not abs(near - value) <= slack:
        there = few([f"{number:.6g}" for number in different.tolist()], _LISTED)
        raise ValueError(f"{condition.column} of the table {held.name} is never {value:g}; it is {there}.")
    return float(near)


def _values(entries: Entries) -> str:
    return few([f'"{value}"' for value in dict.fromkeys(entries.tolist())], _LISTED)
