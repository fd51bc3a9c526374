"""Summaries of many distances, with the share for which none was found and the uncertainty of each number."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

import numpy
import torch
from torch import Tensor

from separatrix.boundary import BoundaryPoints, percentile
from separatrix.checks import require, require_count, require_seed
from separatrix.norms import Norm

Interval = tuple[float, float]

FEWEST = 10
"""Samples that a bootstrap takes; fewer tell too little of how they scatter."""


@dataclass(frozen=True)
class SubspaceRatio:
    """How much longer margins are inside a subspace, over what chance alone predicts: about 1 for a random subspace.

    Below 1 the boundary is nearer in the subspace than in random ones of its dimension m. Both numbers are
    sqrt(m/d) times a ratio, d being the number of input dimensions, over the samples found in both searches.

    Attributes:
        mean_of_ratios: sqrt(m/d) · mean(‖r_S‖ / ‖r‖).
        deviation: Standard deviation of sqrt(m/d) · ‖r_S‖ / ‖r‖ over samples.
        ratio_of_means: sqrt(m/d) · mean(‖r_S‖/‖x‖) / mean(‖r‖/‖x‖).
        count: Samples that entered.
    """

    mean_of_ratios: float
    deviation: float
    ratio_of_means: float
    count: int


@dataclass(frozen=True)
class MarginSummary:
    """How far the decision boundary is from many points; every length is an upper bound.

    Samples without a boundary found are right-censored: they are farther than was searched. Means cover the found
    samples alone. Percentiles cover all samples, the others counting as infinitely far, so that one may be infinite:
    each is the least length that at least that share of the samples does not exceed, one of the lengths measured.

    Attributes:
        count: Samples measured.
        found: Samples whose boundary was met.
        mean: Mean distance.
        standard_error: Of the mean, (1/n) sqrt(Σ (distance − mean)²).
        p5: Distance within which the nearest 5 % of the samples have their boundary.
        median: Distance within which half of them have it.
        p95: Distance within which 95 % of them have it.
        relative: ρ̂_adv, the mean of ‖r‖_p / ‖x‖_p over found samples other than x = 0.
        raw_mean: Mean length before refinement, overshoot included.
        raw_median: Median of that length, over all samples.
        alignment: Median of how nearly r is the shortest nearby (1: exactly).
        gradients: Mean number of gradients a sample.
        forwards: Mean number of evaluations of the model a sample.
        share_interval: Wilson interval of the share found.
        mean_interval: Bootstrap percentile interval of the mean, given that something was found.
        median_interval: The same of the median; an end may be infinite.
        relative_interval: The same of ``relative``.
        confidence: Coverage the intervals aim at.
        norm: The norm all lengths are in.
        dim: Dimension of the subspace searched; ``None`` is everywhere.
        ratio: Against the unrestricted margins, if a reference was given.
        units: What the lengths are in.
    """

    count: int
    found: int
    mean: float
    standard_error: float
    p5: float
    median: float
    p95: float
    relative: float
    raw_mean: float
    raw_median: float
    alignment: float
    gradients: float
    forwards: float
    share_interval: Interval
    mean_interval: Interval
    median_interval: Interval
    relative_interval: Interval
    confidence: float
    norm: Norm
    dim: int | None = None
    ratio: SubspaceRatio | None = None
    units: str = "the model's input units"

    @property
    def share_found(self) -> float:
        """Share of the samples whose boundary was met."""
        return self.found / self.count

    def __str__(self) -> str:
        within = "" if self.dim is None else f" and a subspace of dimension {self.dim}"
        measured = f"Distance to the decision boundary in {self.norm}{within}, in {self.units}"
        title = f"{measured}: upper bounds, with {100 * self.confidence:g} % intervals"
        lengths = _length_lines(self) if self.found else ["no boundary met: every sample is farther than was searched"]
        cost = f"cost       {self.gradients:.1f} gradients and {self.forwards:.1f} forwards a sample"
        return "\n  ".join([title, _share_line(self), *lengths, *_ratio_lines(self), cost])


def summarise(
    boundary: BoundaryPoints | Iterable[BoundaryPoints],
    *,
    reference: BoundaryPoints | Iterable[BoundaryPoints] | None = None,
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> MarginSummary:
    """How far the boundary is from the samples as a whole, and how sure that is.

    Lengths are in the model's input units, before normalisation. Of an iterable only the numbers of each sample are
    kept, never the points: answers may come one batch at a time, as ``each`` gives them.

    Args:
        boundary: One answer, or several in one norm and subspaces of one dimension.
        reference: The unrestricted answer for the same samples, matched by ids: compares margins within a subspace.
        confidence: Coverage of the intervals, in (0, 1).
        resamples: Bootstrap resamples of the samples.
        seed: Of the bootstrap; the global random state is not touched.
    """
    sound = isinstance(confidence, (int, float)) and 0 < confidence < 1
    require(sound, "confidence", "be a number between 0 and 1", repr(confidence))
    require_count(resamples, "resamples")
    require_seed(seed)
    numbers = _gather(boundary, "boundary")
    ratio = None if reference is None else _ratio(numbers, _gather(reference, "reference"))
    means, medians, relatives = _bootstrap(numbers, resamples, seed)
    distance = numbers.distance[numbers.found]
    return MarginSummary(
        count=len(numbers.found),
        found=len(distance),
        mean=_mean(distance),
        standard_error=_deviation(distance) / math.sqrt(max(len(distance), 1)),
        p5=percentile(numbers.distance, 0.05),
        median=percentile(numbers.distance, 0.5),
        p95=percentile(numbers.distance, 0.95),
        relative=_mean(numbers.relative[numbers.sized]),
        raw_mean=_mean(numbers.raw_distance[numbers.found]),
        raw_median=percentile(numbers.raw_distance, 0.5),
        alignment=percentile(numbers.alignment[~numbers.alignment.isnan()], 0.5),
        gradients=_mean(numbers.gradients),
        forwards=_mean(numbers.forwards),
        share_interval=wilson(len(distance), len(numbers.found), confidence),
        mean_interval=_interval(means, confidence),
        median_interval=_interval(medians, confidence),
        relative_interval=_interval(relatives, confidence),
        confidence=confidence,
        norm=numbers.norm,
        dim=numbers.dim,
        ratio=ratio,
    )


@dataclass(frozen=True)
class _Numbers:
    """What is kept of each sample: numbers on the CPU, in float64, ``(n,)`` each."""

    ids: Tensor
    found: Tensor
    distance: Tensor
    raw_distance: Tensor
    size: Tensor  # ‖x‖_p
    alignment: Tensor
    gradients: Tensor
    forwards: Tensor
    norm: Norm
    dim: int | None
    inputs: int

    @property
    def relative(self) -> Tensor:
        return self.distance / self.size

    @property
    def sized(self) -> Tensor:
        return self.found & (self.size > 0)


_KINDS = {"norm": "norm", "dim": "subspace dimension", "inputs": "number of input dimensions"}
_PER_SAMPLE = ("ids", "found", "distance", "raw_distance", "size", "alignment", "gradients", "forwards")


def _gather(answers: BoundaryPoints | Iterable[BoundaryPoints], name: str) -> _Numbers:
    several = [answers] if isinstance(answers, BoundaryPoints) else answers
    require(isinstance(several, Iterable), name, "be BoundaryPoints, or several of them", type(answers).__name__)
    parts = list(map(partial(_numbers, name=name), several))
    require(sum(len(part.ids) for part in parts) > 0, name, "hold at least one sample", "none")
    for kind in ("norm", "dim", "inputs"):
        kinds = sorted({str(getattr(part, kind)) for part in parts})
        require(len(kinds) == 1, name, f"share one {_KINDS[kind]}", " and ".join(kinds))
    joined = {column: torch.cat([getattr(part, column) for part in parts]) for column in _PER_SAMPLE}
    return _Numbers(**joined, norm=parts[0].norm, dim=parts[0].dim, inputs=parts[0].inputs)


def _numbers(answer: BoundaryPoints, name: str) -> _Numbers:
    require(isinstance(answer, BoundaryPoints), name, "hold BoundaryPoints alone", type(answer).__name__)
    return _Numbers(
        ids=answer.ids.cpu(),
        found=answer.found.cpu(),
        distance=_double(answer.distance),
        raw_distance=_double(answer.raw_distance),
        size=_double(answer.norm.length(answer.start)),
        alignment=_double(answer.alignment),
        gradients=_double(answer.gradients),
        forwards=_double(answer.forwards),
        norm=answer.norm,
        dim=None if answer.subspace is None else answer.subspace.dim,
        inputs=math.prod(answer.start.shape[1:]),
    )


def _double(values: Tensor) -> Tensor:
    return values.detach().cpu().double()


def _mean(values: Tensor) -> float:
    return float(values.mean())


def _deviation(values: Tensor) -> float:
    return float((values - values.mean()).square().mean().sqrt())


def _bootstrap(numbers: _Numbers, resamples: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Mean, median and relative length of each resample ``(resamples,)``; one resample is held at a time."""
    order = numbers.distance.argsort()
    distance, found, sized = numbers.distance[order], numbers.found[order], numbers.sized[order]
    relative = numbers.relative[order].where(sized, 0)
    columns = torch.stack([distance.where(found, 0), found.double(), relative, sized.double()], dim=1).numpy()
    count, generator = len(order), numpy.random.default_rng(seed)
    sums, middles = numpy.empty((resamples, 4)), numpy.empty(resamples, dtype=numpy.int64)
    for row in range(resamples):
        times_drawn = numpy.bincount(generator.integers(count, size=count), minlength=count)
        sums[row] = times_drawn @ columns
        middles[row] = times_drawn.cumsum().searchsorted((count + 1) // 2)
    totals = torch.from_numpy(sums)
    return totals[:, 0] / totals[:, 1], distance[torch.from_numpy(middles)], totals[:, 2] / totals[:, 3]


def _interval(draws: Tensor, confidence: float) -> Interval:
    """Percentile interval, leaving out resamples in which nothing was found."""
    draws = draws[~draws.isnan()]
    return percentile(draws, (1 - confidence) / 2), percentile(draws, (1 + confidence) / 2)


def wilson(hits: int, count: int, confidence: float) -> Interval:
    """Wilson's interval of a share: within [0, 1], and of positive width at 0 and 1."""
    z = float(torch.special.ndtri(torch.tensor((1 + confidence) / 2, dtype=torch.float64)))
    share, widening = hits / count, z**2 / count
    centre = (share + widening / 2) / (1 + widening)
    half = math.sqrt(widening * (share * (1 - share) + widening / 4)) / (1 + widening)
    return max(centre - half, 0.0), min(centre + half, 1.0)


def ranks_around(share: float, count: int, confidence: float) -> tuple[int, int]:
    """Ranks, from 1, of the ordered values between which a percentile lies at least as often as ``confidence`` says.

    Free of assumptions on the distribution: the number of samples below the true percentile is binomial. Rank 0 and
    rank ``count + 1`` are ends that stay open: too few samples were asked.
    """
    from scipy.stats import binom  # takes half a second

    tail = (1 - confidence) / 2
    return int(binom.ppf(tail, count, share)), int(binom.ppf(1 - tail, count, share)) + 1


def _ratio(inside: _Numbers, everywhere: _Numbers) -> SubspaceRatio:
    require(inside.dim is not None, "boundary", "be restricted to a subspace to be held against a reference", "none")
    require(everywhere.dim is None, "reference", "be unrestricted", f"a subspace of dimension {everywhere.dim}")
    require(inside.norm == everywhere.norm, "reference", f"be in {inside.norm}", str(everywhere.norm))
    require(
        inside.inputs == everywhere.inputs, "reference", f"have {inside.inputs} input dimensions", everywhere.inputs
    )
    assert inside.dim is not None
    order, other = _matched(inside, everywhere)
    both = inside.found[order] & everywhere.found[other] & (everywhere.distance[other] > 0)
    order, other = order[both], other[both]
    scale = math.sqrt(inside.dim / inside.inputs)
    ratios = scale * inside.distance[order] / everywhere.distance[other]
    sized = inside.size[order] > 0
    means = [_mean(numbers.relative[rows][sized]) for numbers, rows in ((inside, order), (everywhere, other))]
    return SubspaceRatio(_mean(ratios), _deviation(ratios), scale * means[0] / means[1], len(ratios))


def _matched(inside: _Numbers, everywhere: _Numbers) -> tuple[Tensor, Tensor]:
    """Rows of both in the order of their ids; refuses a reference of other samples."""
    for name, numbers in (("boundary", inside), ("reference", everywhere)):
        repeated = len(numbers.ids) - len(set(numbers.ids.tolist()))
        require(repeated == 0, name, "name each sample by its own id", f"{repeated} repeated", "Pass `ids`.")
    order, other = inside.ids.argsort(), everywhere.ids.argsort()
    same = torch.equal(inside.ids[order], everywhere.ids[other])
    require(same, "reference", "hold the same samples, by their ids", "other ids")
    same = torch.allclose(inside.size[order], everywhere.size[other], rtol=1e-4)
    require(same, "reference", "hold the same samples", "other points under the same ids")
    return order, other


def _share_line(summary: MarginSummary) -> str:
    low, high = summary.share_interval
    share = f"{100 * summary.share_found:.1f} % ({100 * low:.1f}–{100 * high:.1f} %)"
    return f"found      {summary.found} of {summary.count}, {share}"


def _length_lines(summary: MarginSummary) -> list[str]:
    mean, median, relative = map(_span, (summary.mean_interval, summary.median_interval, summary.relative_interval))
    return [
        f"mean       {summary.mean:.4g} ± {summary.standard_error:.2g} standard error ({mean}), of those found",
        f"median     {summary.median:.4g} ({median}), of all, not found = inf",
        f"5 %, 95 %  {summary.p5:.4g}, {summary.p95:.4g}: shares of all with a boundary that near",
        f"relative   {summary.relative:.4g} ({relative}): mean of ‖r‖/‖x‖, of those found",
        f"raw        mean {summary.raw_mean:.4g}, median {summary.raw_median:.4g}: before refinement, with overshoot",
        f"alignment  {summary.alignment:.4g} in the median: 1 where the length is stationary along the boundary",
    ]


def _ratio_lines(summary: MarginSummary) -> list[str]:
    ratio = summary.ratio
    if ratio is None:
        return []
    values = (
        f"{ratio.mean_of_ratios:.4g} ± {ratio.deviation:.2g} mean of ratios, {ratio.ratio_of_means:.4g} ratio of means"
    )
    return [f"β          {values}: sqrt(m/d)·‖r_S‖/‖r‖ of {ratio.count} found in both, about 1 by chance"]


def _span(interval: Interval) -> str:
    return f"{interval[0]:.4g}–{interval[1]:.4g}"
