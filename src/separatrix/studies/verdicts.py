"""Claims as tests: what is asked of the numbers is written before they are measured, and the verdict is computed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from separatrix.checks import require

Verdict = Literal["holds", "does not hold", "inconclusive", "reported"]
Numbers = NDArray[np.float64]

_RESAMPLES = 2000
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Outcome:
    """What came of one claim.

    Args:
        claim: The claim in words.
        verdict: Whether the numbers bear it out; ``"inconclusive"`` where their interval reaches over the threshold.
        shown: The number that decided, with its interval or p-value.
    """

    claim: str
    verdict: Verdict
    shown: str


@dataclass(frozen=True)
class Interval:
    """A number and the bootstrap percentile interval around it, at 95 %."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3g} ({self.low:.3g} to {self.high:.3g})"


def weakest(outcomes: Sequence[Outcome]) -> Outcome:
    """The outcome that decides where a claim was tested several times, on several trainings."""
    return next(outcome for outcome in outcomes if outcome.verdict == overall(outcomes))


def overall(outcomes: Sequence[Outcome]) -> Verdict:
    """The verdict of a study: that of its weakest claim; ``"reported"`` for one that claims nothing."""
    verdicts = {outcome.verdict for outcome in outcomes}
    order: tuple[Verdict, ...] = ("does not hold", "inconclusive", "holds")
    return next((verdict for verdict in order if verdict in verdicts), "reported")


def above(claim: str, measured: Interval, bound: float) -> Outcome:
    """The claim that a number exceeds a bound."""
    return Outcome(claim, _side(measured.low > bound, measured.high <= bound), f"{measured} against > {bound:.3g}")


def below(claim: str, measured: Interval, bound: float) -> Outcome:
    """The claim that a number stays under a bound."""
    return Outcome(claim, _side(measured.high < bound, measured.low >= bound), f"{measured} against < {bound:.3g}")


def between(claim: str, measured: Interval, low: float, high: float) -> Outcome:
    """The claim that a number lies within a range."""
    inside = low <= measured.low and measured.high <= high
    outside = measured.high < low or measured.low > high
    return Outcome(claim, _side(inside, outside), f"{measured} against {low:g} to {high:g}")


def rising(claim: str, places: Sequence[float], values: Sequence[float], significance: float = 0.01) -> Outcome:
    """The claim that values rise with their places: Spearman's rank correlation, and its p-value from both sides."""
    from scipy.stats import spearmanr

    found = spearmanr(places, values, nan_policy="omit")
    correlation, p = float(found.statistic), float(found.pvalue)
    significant = p < significance
    verdict = _side(significant and correlation > 0, significant and correlation < 0)
    return Outcome(claim, verdict, f"rank correlation {correlation:.2f}, p = {p:.2g}")


def bootstrap(statistic: Callable[..., float], *samples: Sequence[Numbers] | Numbers, paired: bool = False) -> Interval:
    """A statistic of one or several samples, with the interval that resampling their members gives.

    Infinite entries are kept: they stand for boundaries farther than was searched, and an end may be infinite.

    Args:
        statistic: Of as many one-dimensional arrays.
        samples: Arrays of numbers; with ``paired``, of one length, their members resampled together.
        paired: Whether the k-th members belong together.
    """
    arrays = [np.asarray(sample, dtype=np.float64) for sample in samples]
    for array in arrays:
        require(array.ndim == 1 and len(array) > 0, "samples", "be arrays of at least one number", array.shape)
    generator = np.random.default_rng(0)
    drawn = [statistic(*_resampled(arrays, generator, paired)) for _ in range(_RESAMPLES)]
    low, high = _percentiles(np.sort(np.asarray(drawn)))
    return Interval(float(statistic(*arrays)), low, high)


def over_trainings(intervals: Sequence[Interval]) -> Interval:
    """One interval that covers those of all trainings, around the middle one: a claim must hold for each of them."""
    middle = sorted(intervals, key=lambda interval: interval.value)[(len(intervals) - 1) // 2]
    return Interval(middle.value, min(part.low for part in intervals), max(part.high for part in intervals))


def median(values: Numbers) -> float:
    """The lower median: one of the values, so that infinite ones never mix with finite ones."""
    return float(np.sort(values)[(len(values) - 1) // 2])


def ratio_of_medians(first: Numbers, second: Numbers) -> float:
    """How many times the median of the second sample the median of the first is."""
    above_, below_ = median(first), median(second)
    return math.nan if math.isinf(below_) else above_ / below_


def _side(holds: bool, fails: bool) -> Verdict:
    return "holds" if holds else "does not hold" if fails else "inconclusive"


def _resampled(arrays: list[Numbers], generator: np.random.Generator, paired: bool) -> list[Numbers]:
    if paired:
        rows = generator.integers(len(arrays[0]), size=len(arrays[0]))
        return [array[rows] for array in arrays]
    return [array[generator.integers(len(array), size=len(array))] for array in arrays]


def _percentiles(values: Numbers) -> tuple[float, float]:
    tail = (1 - _CONFIDENCE) / 2
    last = len(values) - 1
    return float(values[math.floor(tail * last)]), float(values[math.ceil((1 - tail) * last)])
