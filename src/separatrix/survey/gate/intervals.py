"""A number and how far it can be trusted, where several rows may belong to one sample.

Rows of one sample say much the same. Intervals therefore count samples, never rows: where sample i has m_i rows, as
many as (Σ m_i)² / Σ m_i² independent ones, which is the number of samples where all have equally many. That is exact
for one row a sample, and errs on the wide side for several.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from separatrix.statistics import FEWEST, ranks_around, wilson

Numbers = NDArray[np.float64]
Ids = NDArray[np.int64]

_RESAMPLES = 1000


@dataclass(frozen=True)
class Estimate:
    """A number, and the interval around it."""

    value: float
    low: float
    high: float


def unknown(least: float) -> Estimate:
    """Nothing is known of a number, except that it is not below ``least``."""
    return Estimate(math.nan, least, math.inf)


def exact(value: float) -> Estimate:
    """A number of this sample and no other: it has no interval."""
    return Estimate(value, value, value)


def share(hits: NDArray[np.bool_], ids: Ids, confidence: float) -> Estimate:
    """The share of the rows that are hits, with Wilson's interval."""
    rows, hit = len(hits), int(hits.sum())
    count = independent(ids)
    low, _ = wilson(hit * count // rows, count, confidence)
    _, high = wilson(-(-hit * count // rows), count, confidence)
    return _around(hit / rows, low, high)


def percentile(values: Numbers, ids: Ids, share: float, confidence: float, least: float) -> Estimate:
    """The least value that at least this share of the rows does not exceed, between two of the values.

    Where too few samples were asked for an end, it is open.
    """
    ordered, rows, count = np.sort(values), len(values), independent(ids)
    first, last = ranks_around(share, count, confidence)
    low = ordered[(first - 1) * rows // count] if first >= 1 else least
    high = ordered[-(-last * rows // count) - 1] if last <= count else math.inf
    value = ordered[max(math.ceil(share * rows - 1e-9), 1) - 1]
    return _around(float(value), float(low), float(high))


def mean(values: Numbers, ids: Ids, confidence: float, least: float) -> Estimate:
    """The mean of the rows, with the bootstrap's percentile interval, widened as few samples ask for.

    Samples are drawn with all their rows, by a fixed seed and in an order of their values, so that the order of the
    rows plays no part. One infinite value makes the mean infinite; the interval then begins at what resamples without
    any have.

    The widening is Hesterberg's (*What Teachers Should Know About the Bootstrap*, 2015): Student's quantile and
    √(n / (n − 1)) in the place of the normal quantile.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        sums, sizes = _by_sample(values, ids)
        value = float(sums.sum() / sizes.sum())
        if len(sums) < FEWEST or math.isnan(value):
            return Estimate(value, least, math.inf)
        draws = _resampled(sums, sizes)
    tail = math.floor(_widened(confidence, len(sums)) * (_RESAMPLES - 1))
    return _around(value, float(draws[tail]), float(draws[_RESAMPLES - 1 - tail]))


def independent(ids: Ids) -> int:
    """How many independent rows the rows of these samples are worth, at least."""
    sizes = np.unique(ids, return_counts=True)[1]
    return int(sizes.sum()) ** 2 // int((sizes**2).sum())


def _by_sample(values: Numbers, ids: Ids) -> tuple[Numbers, NDArray[np.int64]]:
    """Sum and number of the rows of each sample, from the least sum to the greatest."""
    order = np.lexsort((values, ids))
    _, starts, sizes = np.unique(ids[order], return_index=True, return_counts=True)
    sums = np.add.reduceat(values[order], starts)
    order = np.lexsort((sizes, sums))
    return sums[order], sizes[order]


def _resampled(sums: Numbers, sizes: NDArray[np.int64]) -> Numbers:
    """The means of resamples, from the least to the greatest."""
    generator, draws = np.random.default_rng(0), np.empty(_RESAMPLES)
    for number in range(_RESAMPLES):
        chosen = generator.integers(len(sums), size=len(sums))
        draws[number] = sums[chosen].sum() / sizes[chosen].sum()
    return np.sort(draws)


def _widened(confidence: float, count: int) -> float:
    """The share of the resamples beyond either end."""
    from scipy.stats import norm, t

    quantile = t.ppf((1 + confidence) / 2, count - 1) * math.sqrt(count / (count - 1))
    return float(norm.cdf(-quantile))


def _around(value: float, low: float, high: float) -> Estimate:
    """An interval holds its number, however low the confidence."""
    return Estimate(value, min(low, value), max(high, value))
