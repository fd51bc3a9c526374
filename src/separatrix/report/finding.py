"""What an examination of a run came to: one finding a check, judged by a share or by a ratio."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from separatrix.report.behind import distances
from separatrix.report.numbers import Estimate, percent, percents, share_of
from separatrix.report.shown import Numbers, Shown, whole
from separatrix.report.told import Verdict
from separatrix.tables import Rows

Flags = NDArray[np.bool_]

ENOUGH = 20
"""Samples of which a single one may fail a check; of fewer it decides nothing, unless it is certain evidence."""


@dataclass(frozen=True)
class Finding:
    """What one check of a run found.

    Args:
        name: Letters and hyphens.
        title: What is checked, in a few words.
        verdict: ``"not asked"`` where the run holds nothing to look at; ``"told"`` where nothing is judged.
        value: The number that decided, as text; empty where there is none.
        evidence: What was looked at, what was found, and what it means for the numbers.
        samples: How many samples it rests on.
    """

    name: str
    title: str
    verdict: Verdict
    value: str
    evidence: str
    samples: int


@dataclass(frozen=True)
class Question:
    """What is checked, and what either outcome means.

    Args:
        name: Of the finding.
        title: Of the finding.
        sound: What it means for the numbers where it holds, or at all where it is only told.
        harm: What it means for the numbers where it does not.
    """

    name: str
    title: str
    sound: str
    harm: str

    def unasked(self, table: str) -> Finding:
        """Nothing to look at."""
        reason = f"The run holds no such rows of {table}: not asked, or not finished."
        return Finding(self.name, self.title, "not asked", "", reason, 0)

    def by_share(self, found: str, hits: Flags, limit: float, *, certain: bool = False) -> Finding:
        """Failed where samples that speak against the numbers are surely more than a share: the interval decides.

        Args:
            found: What these samples have in common, after "3 of 200 samples".
            hits: Which of the samples looked at ``(n,)`` are such.
            limit: Greatest share that does no harm.
            certain: Whether each of them is beyond doubt, so that one of a few is enough.
        """
        cases, count = int(hits.sum()), len(hits)
        share = share_of(hits.astype(np.float64))
        # rounding leaves 1e-18 for the lower end of no case at all
        beyond = cases > 0 and share.low > limit
        alone = cases == 1 and count < ENOUGH and not certain
        words = f"{cases:,} of {count:,} {found}; {percent(limit)} would do no harm."
        return self.judged(_verdict(beyond, sure=not alone), percents(share), words, count)

    def by_median(self, found: str, measured: Estimate, limit: float) -> Finding:
        """Failed where a median share is above a limit; of few samples, where its whole interval is."""
        words = f"{found} by {percent(measured.value)} in the median of {measured.count:,} samples; up to "
        words += f"{percent(limit)} would do no harm."
        sure = measured.count >= ENOUGH or measured.low > limit
        return self.judged(_verdict(measured.value > limit, sure=sure), percents(measured), words, measured.count)

    def judged(self, verdict: Verdict, value: str, found: str, samples: int) -> Finding:
        """What was found, and what it means for the numbers."""
        meaning = {"passed": self.sound, "failed": self.harm}.get(verdict, "So few samples decide nothing: ask more.")
        return Finding(self.name, self.title, verdict, value, f"{found} {meaning}", samples)

    def told(self, value: str, found: str, samples: int) -> Finding:
        """What was found, without a verdict."""
        return Finding(self.name, self.title, "told", value, f"{found} {self.sound}", samples)


def _verdict(beyond: bool, *, sure: bool) -> Verdict:
    return "passed" if not beyond else "failed" if sure else "undecided"


def rows_with(shown: Shown, table: str, *columns: str) -> Rows | None:
    """The rows of a table, where it has these columns."""
    rows = shown.rows(table)
    return rows if rows is not None and set(columns) <= rows.columns.keys() else None


def margins_by_id(shown: Shown, norm: str, ids: NDArray[np.int64]) -> Numbers:
    """Each sample's margin, by id; NaN where it was not measured."""
    rows = rows_with(shown, "margins", "id", norm)
    if rows is None:
        return np.full(len(ids), np.nan)
    known, distance = whole(rows["id"]), distances(rows, norm)
    order = np.argsort(known, kind="stable")
    places = order[np.searchsorted(known, ids, sorter=order).clip(max=len(known) - 1)]
    return np.where(known[places] == ids, distance[places], np.nan)
