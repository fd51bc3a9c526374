"""What an examination of a run came to: one finding a check, judged by a share or by a ratio."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from separatrix.report.numbers import Estimate, percent, percents, share_of
from separatrix.report.shown import Numbers, Shown, column, whole
from separatrix.tables import Rows

Verdict = Literal["passed", "failed", "not asked"]
Flags = NDArray[np.bool_]

NORMS = {"l2": "ℓ2", "linf": "ℓ∞"}
"""Norms as columns call them, and as they are written."""


@dataclass(frozen=True)
class Finding:
    """What one check of a run found.

    Args:
        name: Letters and hyphens.
        title: What is checked, in a few words.
        verdict: ``"not asked"`` where the run holds nothing to look at.
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
        sound: What it means for the numbers where it holds.
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

    def by_share(self, found: str, hits: Flags, limit: float, samples: int | None = None) -> Finding:
        """Failed where cases that speak against the numbers are surely more than a share: the interval decides.

        Args:
            found: What the cases have in common, after "3 of 200".
            hits: Which of those looked at are such cases.
            limit: Greatest share that does no harm.
            samples: How many samples were looked at, where these are not the samples themselves.
        """
        cases, count = int(hits.sum()), len(hits)
        share = share_of(hits.astype(np.float64))
        # rounding leaves 1e-18 for the lower end of no case at all
        failed = cases > 0 and share.low > limit
        harmless = f"; {percent(limit)} would do no harm" if limit < 1 else ""
        words = f"{cases:,} of {count:,} {found}{harmless}."
        return self._judged(not failed, percents(share), words, count if samples is None else samples)

    def by_median(self, found: str, measured: Estimate, limit: float) -> Finding:
        """Failed where a median share is above a limit."""
        words = f"{found} by {percent(measured.value)} in the median of {measured.count:,} samples; up to "
        words += f"{percent(limit)} would do no harm."
        return self._judged(measured.value <= limit, percents(measured), words, measured.count)

    def _judged(self, holds: bool, value: str, found: str, samples: int) -> Finding:
        verdict: Verdict = "passed" if holds else "failed"
        meaning = self.sound if holds else self.harm
        return Finding(self.name, self.title, verdict, value, f"{found} {meaning}", samples)


def rows_with(shown: Shown, table: str, *columns: str) -> Rows | None:
    """The rows of a table, where it has these columns."""
    rows = shown.rows(table)
    return rows if rows is not None and set(columns) <= rows.columns.keys() else None


def margins_of(shown: Shown, norm: str, ids: NDArray[np.int64]) -> Numbers:
    """Each sample's margin, by id; NaN where it was not measured."""
    rows = rows_with(shown, "margins", "id", norm)
    if rows is None:
        return np.full(len(ids), np.nan)
    known, distance = whole(rows["id"]), column(rows, norm)
    order = np.argsort(known, kind="stable")
    places = order[np.searchsorted(known, ids, sorter=order).clip(max=len(known) - 1)]
    return np.where(known[places] == ids, distance[places], np.nan)


def count_of(ids: NDArray[np.int64]) -> int:
    """How many different samples there are."""
    return len(np.unique(ids))
