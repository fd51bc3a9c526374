"""Answers as tables: named columns that say their unit, their norm and whether they are bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from separatrix.boundary import BoundaryPoints
from separatrix.checks import require

if TYPE_CHECKING:
    import pyarrow

Kind = Literal["identity", "label", "flag", "upper bound", "estimate", "count"]


@dataclass(frozen=True)
class Column:
    """What the numbers of a column are.

    Args:
        name: What rows and rules call it.
        kind: An identity, a label, a flag, an upper bound, an estimate or a count.
        unit: What a value of one is, such as ``"input units"``; empty where it has none.
        norm: The norm of a length, such as ``"ℓ2"``; empty for what is no length.
        meaning: What the number says, in one sentence; what a report's glossary shows.
    """

    name: str
    kind: Kind
    unit: str = ""
    norm: str = ""
    meaning: str = ""

    @property
    def metadata(self) -> dict[str, str]:
        """What a table keeps of it besides the name."""
        return {key: value for key in ("kind", "unit", "norm", "meaning") if (value := getattr(self, key))}


@dataclass(frozen=True)
class Rows:
    """Columns of one length, by name, as arrays."""

    columns: Mapping[str, NDArray[Any]]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __getitem__(self, name: str) -> NDArray[Any]:
        require(name in self.columns, "name", f"be one of {', '.join(self.columns)}", repr(name))
        return self.columns[name]

    def where(self, name: str, value: object) -> Rows:
        """The rows whose column has this value."""
        return self.chosen(self[name] == value)

    def chosen(self, mask: NDArray[np.bool_]) -> Rows:
        """The rows that a mask marks."""
        return Rows({name: column[mask] for name, column in self.columns.items()})

    def values(self, name: str) -> list[Any]:
        """The different values of a column, in the order in which they come first."""
        return list(dict.fromkeys(self[name].tolist()))

    def groups(self, name: str) -> dict[Any, Rows]:
        """The rows of each value of a column."""
        return {value: self.where(name, value) for value in self.values(name)}

    @staticmethod
    def of(table: pyarrow.Table) -> Rows:
        """The columns of a stored table."""
        return Rows({name: table.column(name).to_numpy(zero_copy_only=False) for name in table.column_names})


def as_table(columns: Sequence[Column], values: Mapping[str, Any], rows: int) -> pyarrow.Table:
    """A table with its columns' units, norms and kinds in its schema.

    Args:
        columns: What the table holds, in this order.
        values: For each column a tensor or an array ``(n,)``, or one value for all rows.
        rows: How many rows there are.
    """
    import pyarrow

    missing = [column.name for column in columns if column.name not in values]
    require(not missing, "values", "hold every column", f"none for {', '.join(missing)}")
    arrays = [pyarrow.array(_array(values[column.name], rows)) for column in columns]
    fields = [
        pyarrow.field(column.name, array.type, metadata=column.metadata)
        for column, array in zip(columns, arrays, strict=True)
    ]
    return pyarrow.Table.from_arrays(arrays, schema=pyarrow.schema(fields))


def column_of(table: pyarrow.Table, name: str) -> Column:
    """What a stored table says of one of its columns."""
    stored = {key.decode(): value.decode() for key, value in (table.schema.field(name).metadata or {}).items()}
    kind: Any = stored.pop("kind", "estimate")
    return Column(name, kind, **stored)


def margin_columns(norm: str, unit: str = "input units") -> tuple[Column, ...]:
    """The columns that ``margin_values`` fills."""
    return (
        Column("id", "identity"),
        Column("own", "label"),
        Column("rival", "label"),
        Column("found", "flag"),
        Column("distance", "upper bound", unit, norm),
        Column("raw_distance", "upper bound", unit, norm),
        Column("alignment", "estimate"),
        Column("steps", "count"),
        Column("forwards", "count"),
        Column("gradients", "count"),
    )


def margin_values(boundary: BoundaryPoints) -> dict[str, Tensor]:
    """One value a sample for each of ``margin_columns``."""
    named = {column.name: getattr(boundary, column.name) for column in margin_columns("") if column.name != "id"}
    return {"id": boundary.ids, **named}


def _array(values: object, rows: int) -> NDArray[Any]:
    if isinstance(values, Tensor):
        values = values.detach().cpu().numpy()
    array = np.asarray(values)
    return array if array.ndim else np.full(rows, values)
