"""Numbers of one run, or of two beside each other with their difference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from separatrix.report.numbers import (
    Estimate,
    difference_of_medians,
    difference_of_shares,
    median_of,
    number,
    percents,
    share_of,
    signed,
)
from separatrix.report.shown import Numbers, Shown, Whole
from separatrix.report.told import Table, Tile


@dataclass(frozen=True, eq=False)
class Measured:
    """One number a sample.

    Args:
        ids: The samples ``(n,)``, each once.
        values: Their numbers ``(n,)``; infinite where a boundary is farther than was searched.
    """

    ids: Whole
    values: Numbers

    def chosen(self, mask: np.ndarray) -> Measured:
        """Those that a mask marks."""
        return Measured(self.ids[mask], self.values[mask])

    @property
    def known(self) -> Measured:
        """Without NaN."""
        return self.chosen(~np.isnan(self.values))


Of = Callable[[Shown], Measured]
"""What a number is made from, in one run."""


def table(caption: str, runs: Sequence[Shown], rows: Sequence[tuple[str, ...]], what: str = "") -> Table:
    """Rows of ``median_row`` and ``share_row`` under their head."""
    if len(runs) == 1:
        return Table(caption, (what, "estimate (95 % interval)", "n"), tuple(rows))
    names = tuple(f"{shown.letter} (95 % interval)" for shown in runs)
    return Table(caption, (what, *names, "difference B − A", "n"), tuple(rows))


def median_row(label: str, runs: Sequence[Shown], of: Of) -> tuple[str, ...]:
    """A median in each run, and by how much it changes."""
    measured = [of(shown).known for shown in runs]
    return (label, *(str(median_of(each.values)) for each in measured), *_tail(runs, measured, _medians))


def share_row(label: str, runs: Sequence[Shown], of: Of) -> tuple[str, ...]:
    """A share in each run, from numbers that are 1 or 0, and by how much it changes."""
    measured = [of(shown).known for shown in runs]
    return (label, *(percents(share_of(each.values)) for each in measured), *_tail(runs, measured, _shares))


def median_tile(label: str, runs: Sequence[Shown], of: Of) -> Tile:
    """A median for the first screen."""
    found = [(shown.letter, median_of(of(shown).values)) for shown in runs]
    return Tile(label, tuple((letter, number(each.value), _remark(each)) for letter, each in found))


def same_samples(runs: Sequence[Shown]) -> bool:
    """Whether two runs asked about samples of the same data."""
    data = [shown.run.manifest.inputs.get("data") for shown in runs]
    return len(runs) == 2 and data[0] is not None and data[0] == data[1]


def _remark(estimate: Estimate) -> str:
    return f"{number(estimate.low)} to {number(estimate.high)}, {estimate.count:,} samples"


def _tail(
    runs: Sequence[Shown], measured: Sequence[Measured], difference: Callable[[Numbers, Numbers], str]
) -> tuple[str, ...]:
    counts = " and ".join(dict.fromkeys(f"{len(each.ids):,}" for each in measured))
    if len(runs) == 1:
        return (counts,)
    first, second = measured
    same = same_samples(runs) and len(first.ids) > 0 and set(first.ids.tolist()) == set(second.ids.tolist())
    if not same:
        return ("other samples", counts)
    return (difference(first.values[np.argsort(first.ids)], second.values[np.argsort(second.ids)]), counts)


def _medians(first: Numbers, second: Numbers) -> str:
    found = difference_of_medians(first, second)
    if np.isnan(found.value):
        return "–"
    return f"{signed(found.value)} ({signed(found.low)} to {signed(found.high)})"


def _shares(first: Numbers, second: Numbers) -> str:
    found = difference_of_shares(first, second) * 100
    if np.isnan(found.value):
        return "–"
    return f"{found.value:+.1f} points ({found.low:+.1f} to {found.high:+.1f})".replace("-", "−")
