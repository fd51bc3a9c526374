"""Numbers as the report says them: with an interval, and how many samples they rest on."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from separatrix.report.shown import Numbers
from separatrix.statistics import FEWEST, ranks_around, wilson

CONFIDENCE = 0.95
_DRAWS = 1000


@dataclass(frozen=True)
class Estimate:
    """A number with its interval at 95 %, and how many samples it rests on."""

    value: float
    low: float
    high: float
    count: int

    def __str__(self) -> str:
        return f"{number(self.value)} {self.interval}" if self.count else "–"

    @property
    def interval(self) -> str:
        """Its ends in words."""
        return f"({number(self.low)} to {number(self.high)})"

    def __mul__(self, factor: float) -> Estimate:
        return Estimate(self.value * factor, self.low * factor, self.high * factor, self.count)


def number(value: float) -> str:
    """Three digits that count: 0.0412, 12.5, 31,400, 1.2e−07, ∞."""
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞" if value > 0 else "−∞"
    size = abs(value)
    if size == 0:
        return "0"
    if size < 1e-4 or size >= 1e7:
        text = f"{value:.2e}"
    else:
        text = f"{value:,.{max(2 - math.floor(math.log10(size)), 0)}f}"
    return text.replace("-", "−")


def signed(value: float) -> str:
    """The same with its sign: +0.2, −0.2."""
    return f"+{number(value)}" if value > 0 else number(value)


def percent(share: float) -> str:
    """A share in percent, to a tenth."""
    return "–" if math.isnan(share) else f"{100 * share:.1f} %"


def percents(share: Estimate) -> str:
    """A share in percent, with its interval."""
    return f"{percent(share.value)} {percent_interval(share)}" if share.count else "–"


def percent_interval(share: Estimate) -> str:
    """The ends of a share's interval in percent."""
    return f"({100 * share.low:.1f} to {100 * share.high:.1f} %)"


def median_of(values: Numbers, least: float = 0.0, most: float = math.inf) -> Estimate:
    """The lower median, between two of the values: an interval free of assumptions, by order statistics.

    Infinite entries, boundaries farther than was searched, are kept; NaN is left out.

    Args:
        values: One number a sample ``(n,)``.
        least: What no number is below: the lower end where too few samples were asked, fewer than six.
        most: What no number is above: the upper end, likewise.
    """
    ordered = np.sort(values[~np.isnan(values)])
    count = len(ordered)
    if not count:
        return Estimate(math.nan, math.nan, math.nan, 0)
    first, last = ranks_around(0.5, count, CONFIDENCE)
    with_ends = np.concatenate([[least], ordered, [most]])
    return Estimate(_lower(ordered), float(with_ends[first]), float(with_ends[last]), count)


def share_of(hits: Numbers) -> Estimate:
    """A share of samples, and Wilson's interval; NaN is left out."""
    known = hits[~np.isnan(hits)]
    if not len(known):
        return Estimate(math.nan, math.nan, math.nan, 0)
    reached = int((known > 0).sum())
    return Estimate(reached / len(known), *wilson(reached, len(known), CONFIDENCE), len(known))


def percentile_of(values: Numbers, share: float) -> float:
    """The least value that at least this share does not exceed; NaN where there are none."""
    ordered = np.sort(values[~np.isnan(values)])
    return float(ordered[max(math.ceil(share * len(ordered)) - 1, 0)]) if len(ordered) else math.nan


def difference_of_medians(first: Numbers, second: Numbers) -> Estimate:
    """By how much the median changes over the same samples, with the interval that resampling the samples gives.

    Of fewer than ten samples nothing is said: resampling knows too little of how they scatter.
    """
    if len(first) < FEWEST:
        return Estimate(math.nan, math.nan, math.nan, len(first))
    generator = np.random.default_rng(0)
    orders = np.argsort(first), np.argsort(second)
    drawn = np.array([_redrawn(first, second, orders, generator) for _ in range(_DRAWS)])
    value = _minus(_lower(np.sort(second)), _lower(np.sort(first)))
    return Estimate(value, *_ends(drawn), len(first))


def difference_of_shares(first: Numbers, second: Numbers) -> Estimate:
    """By how much a share changes over the same samples, likewise."""
    if len(first) < FEWEST:
        return Estimate(math.nan, math.nan, math.nan, len(first))
    changes, count = (second > 0).astype(float) - (first > 0), len(first)
    kinds = [float((changes == change).mean()) for change in (-1, 0, 1)]
    drawn = np.random.default_rng(0).multinomial(count, kinds, _DRAWS) @ np.array([-1, 0, 1]) / count
    return Estimate(float(changes.mean()), *_ends(drawn), count)


def _redrawn(
    first: Numbers, second: Numbers, orders: tuple[np.ndarray, np.ndarray], generator: np.random.Generator
) -> float:
    count = len(first)
    times = np.bincount(generator.integers(count, size=count), minlength=count)
    middles = [order[times[order].cumsum().searchsorted((count + 1) // 2)] for order in orders]
    return _minus(float(second[middles[1]]), float(first[middles[0]]))


def _lower(ordered: Numbers) -> float:
    return float(ordered[(len(ordered) - 1) // 2])


def _minus(second: float, first: float) -> float:
    """Their difference; NaN where neither is finite."""
    return math.nan if math.isinf(first) and math.isinf(second) else second - first


def _ends(drawn: Numbers) -> tuple[float, float]:
    if np.isnan(drawn).any():
        return math.nan, math.nan
    return percentile_of(drawn, (1 - CONFIDENCE) / 2), percentile_of(drawn, (1 + CONFIDENCE) / 2)
