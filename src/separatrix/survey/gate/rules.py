"""What a rule of a gate says; ``str`` gives it back as the grammar writes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Comparison = Literal[">=", ">", "<=", "<"]
Relation = Literal["=", "!=", ">=", ">", "<=", "<"]
Value = float | str | bool

COMPARISONS: tuple[Comparison, ...] = (">=", ">", "<=", "<")
RELATIONS: tuple[Relation, ...] = ("=", "!=", *COMPARISONS)
FUNCTIONS = ("median", "mean", "min", "max", "share", "count")
CONDITIONAL = ("share", "count")
"""The functions that may ask for a comparison instead of a column."""


@dataclass(frozen=True)
class Condition:
    """What is asked of one column of a row.

    Args:
        column: The column's name.
        relation: How it must stand to the value.
        value: A number, a text or a truth value.
    """

    column: str
    relation: Relation
    value: Value

    def __str__(self) -> str:
        return f"{self.column} {self.relation} {written(self.value)}"


@dataclass(frozen=True)
class Statistic:
    """One number made from a column of a table, over the rows that filters leave.

    Args:
        function: One of ``FUNCTIONS``, or ``"p1"`` … ``"p99"``.
        table: The table's name.
        column: The column's name.
        condition: For a share or a count: what the column must be; None where its own value says it.
        where: What rows must be to count at all.
    """

    function: str
    table: str
    column: str
    condition: Condition | None = None
    where: tuple[Condition, ...] = ()

    @property
    def percentile(self) -> int | None:
        """Which percentile it is, the median being the fiftieth; None for what is none."""
        if self.function == "median":
            return 50
        return None if self.function in FUNCTIONS else int(self.function[1:])

    def __str__(self) -> str:
        inside = self.column if self.condition is None else str(self.condition)
        where = " where " + " and ".join(map(str, self.where)) if self.where else ""
        return f"{self.function}({self.table}.{inside}{where})"


@dataclass(frozen=True)
class Accuracy:
    """The share of the samples whose label the model answers."""

    def __str__(self) -> str:
        return "accuracy"


@dataclass(frozen=True)
class RobustAccuracy:
    """The share of the samples whose label the model answers, and that an attack of this radius has not fooled.

    Args:
        norm: The norm of the radius.
        radius: How far the attack may go.
        method: The attack.
    """

    norm: str
    radius: float
    method: str

    @property
    def where(self) -> tuple[Condition, ...]:
        """Which rows of the table ``robustness`` it is about."""
        asked: tuple[tuple[str, Value], ...] = (
            ("norm", self.norm),
            ("radius", self.radius),
            ("method", self.method),
        )
        return tuple(Condition(column, "=", value) for column, value in asked)

    def __str__(self) -> str:
        settings = ", ".join(f"{asked.column}={written(asked.value)}" for asked in self.where)
        return f"robust_accuracy({settings})"


@dataclass(frozen=True)
class FailedFindings:
    """How many of the findings about the model and the measurement have failed."""

    def __str__(self) -> str:
        return "audit.failed"


Quantity = Statistic | Accuracy | RobustAccuracy | FailedFindings


@dataclass(frozen=True)
class Rule:
    """What a run must keep: a quantity on one side of a bound.

    Args:
        quantity: What is measured.
        comparison: On which side of the bound it must be.
        bound: A finite number.
        text: The rule as somebody wrote it.
    """

    quantity: Quantity
    comparison: Comparison
    bound: float
    text: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.quantity} {self.comparison} {written(self.bound)}"


def written(value: Value) -> str:
    """A value as the grammar writes it; no text holds quotation marks of both kinds."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"'{value}'" if '"' in value else f'"{value}"'
    return repr(float(value)).removesuffix(".0")
