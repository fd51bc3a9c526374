"""What a study is: a question of a source document, what to compute, and its claims as tests on its own table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

from torch import Tensor

from separatrix.checks import require
from separatrix.studies.laboratory import Laboratory, Needs
from separatrix.studies.verdicts import Outcome
from separatrix.tables import Rows

if TYPE_CHECKING:
    import pyarrow
    from matplotlib.figure import Figure

Scale = Literal["smoke", "default", "paper"]
SCALES: tuple[Scale, ...] = get_args(Scale)
"""Seconds; minutes on two cores; the published size."""


@dataclass(frozen=True)
class Case:
    """What one unit of a study measures.

    Args:
        network: Which of the study's networks is asked; empty where none is.
        settings: What else tells this case from the others.
        ids: The samples asked about.
    """

    network: str
    settings: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    ids: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Measured:
    """What one case leaves: rows, and what the figure shows beside them.

    Args:
        table: The rows.
        pictures: Tensors, batch first, that the figure needs.
    """

    table: pyarrow.Table
    pictures: Mapping[str, Tensor] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True)
class Study:
    """A table or figure of a source document, made again.

    Args:
        name: Family and name, ``"features/synthetic"``.
        question: What it asks, in one sentence.
        source: Where it was published.
        published: What was published, by quantity, as printed.
        scales: Settings for each scale, frozen dataclasses of one kind.
        needs: Networks and data, from the settings.
        cases: What is measured, unit by unit.
        measure: What one case leaves.
        quantities: What was measured, by the names of ``published`` and more, as text.
        claims: The claims, decided on the table, from the settings and the rows.
        draw: The figure, from the rows and the pictures.
        substitutes: What stands in for published networks and data that are not to be had, by scale.
        notes: What a reader of the numbers has to know.
    """

    name: str
    question: str
    source: str
    published: Mapping[str, str]
    scales: Mapping[Scale, Any]
    needs: Callable[[Any], Needs]
    cases: Callable[[Any, Laboratory], Sequence[Case]]
    measure: Callable[[Any, Laboratory, Case], Measured]
    quantities: Callable[[Rows], Mapping[str, str]]
    claims: Callable[[Any, Rows], Sequence[Outcome]]
    draw: Callable[[Rows, Mapping[str, Tensor]], Figure]
    substitutes: Mapping[Scale, str] = field(default_factory=lambda: MappingProxyType({}))
    notes: str = ""

    def __post_init__(self) -> None:
        require(set(self.scales) == set(SCALES), "scales", f"be {', '.join(SCALES)}", ", ".join(self.scales))

    @property
    def slug(self) -> str:
        """The name as files and tables have it."""
        return self.name.replace("/", "-")
