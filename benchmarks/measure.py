"""One method on one network in one norm: what it finds, checked afresh, and what it costs."""

from __future__ import annotations

import random
from dataclasses import asdict, dataclass

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.clock import Timing, at_most, timed, wait_for_quiet
from benchmarks.cost import Counter, Floor
from benchmarks.methods import Method
from separatrix.norms import Norm

NEAR = 0.01
"""Samples this close to their boundary are reported apart: many methods step over it."""


@dataclass(frozen=True)
class Setting:
    """What a network's methods share: model, images, the answers to leave, the norm, and the floor."""

    model: nn.Module
    points: Tensor
    own: Tensor
    norm: Norm
    floor: Floor
    best: Tensor | None = None

    def first(self, images: int) -> Setting:
        """The same with fewer images."""
        best = None if self.best is None else self.best[:images]
        return Setting(self.model, self.points[:images], self.own[:images], self.norm, self.floor, best)


@dataclass(frozen=True)
class Patience:
    """How often to run a method, and how long to wait.

    Attributes:
        runs: Timed runs, unless the first took over ``long`` seconds.
        extra: Further runs where other programs disturbed the best of them.
        long: Seconds after which one run is enough.
        limit: Seconds after which a run is given up.
        quiet: Seconds to wait for an idle machine before each run.
    """

    runs: int = 2
    extra: int = 2
    long: float = 20.0
    limit: int = 600
    quiet: float = 4.0


def measure(method: Method, setting: Setting, patience: Patience) -> dict[str, object]:
    """One row of the table; a method that fails is a row that says so."""
    setting = setting.first(method.images)
    row: dict[str, object] = {"method": method.name, "ours": method.ours, "images": len(setting.points)}
    try:
        ends, counter, timings = _runs(method, setting, patience)
    except Exception as error:  # whatever a library raises, the others are still measured
        return {**row, "error": f"{type(error).__name__}: {error}"[:200]}
    return row | asdict(quality(setting, ends)) | _cost(setting, counter, timings)


def _runs(method: Method, setting: Setting, patience: Patience) -> tuple[Tensor, Counter, list[Timing]]:
    """Ends and counts of the first run, timings of those without counting (of the first, where it was long)."""
    with Counter(setting.model) as counter:
        ends, first = _run(method, setting, patience)
    timings = [first]
    while not _enough(timings, patience):
        timings.append(_run(method, setting, patience)[1])
    return ends, counter, timings


def _enough(timings: list[Timing], patience: Patience) -> bool:
    if timings[0].seconds > patience.long or len(timings) >= patience.runs + patience.extra:
        return True
    return len(timings) >= patience.runs and _best(timings).calm


def _best(timings: list[Timing]) -> Timing:
    return min(timings, key=lambda timing: timing.seconds)


def _run(method: Method, setting: Setting, patience: Patience) -> tuple[Tensor, Timing]:
    points, own = setting.points.clone(), setting.own.clone()
    torch.manual_seed(0)
    np.random.seed(0)  # noqa: NPY002  other libraries draw from it
    random.seed(0)
    wait_for_quiet(patience.quiet)
    with at_most(patience.limit):
        return timed(lambda: _in_batches(method, setting, points, own), points.device)


def _in_batches(method: Method, setting: Setting, points: Tensor, own: Tensor) -> Tensor:
    """Ends of all points, asked in batches of the size at which the network is fastest."""
    batches = zip(points.split(setting.floor.batch_size), own.split(setting.floor.batch_size), strict=True)
    return torch.cat([method.search(setting.model, part, answers, setting.norm).detach() for part, answers in batches])


@dataclass(frozen=True)
class Quality:
    """How good a method's ends are; over found samples, except ``found``.

    Attributes:
        found: Share of ends that leave the region, each asked again alone.
        median: Median distance.
        mean: Mean distance.
        ratio_median: Median ratio of the distance to the best known.
        ratio_p90: Its 90th percentile.
        near: Samples whose best known distance is at most ``NEAR``.
        near_ratio_p90: The 90th percentile of the ratio over those.
        alignment_median: Median cosine (in the norm) between displacement and boundary normal, 1 where stationary.
    """

    found: float
    median: float | None = None
    mean: float | None = None
    ratio_median: float | None = None
    ratio_p90: float | None = None
    near: int = 0
    near_ratio_p90: float | None = None
    alignment_median: float | None = None


def quality(setting: Setting, ends: Tensor) -> Quality:
    """Measure the ends a method returned."""
    found = crossed(setting.model, ends, setting.own)
    distance = lengths(setting, ends)
    if not found.any():
        return Quality(0.0)
    ratios: dict[str, float | int | None] = {}
    if setting.best is not None:
        ratio, near = distance / setting.best, found & (setting.best <= NEAR)
        ratios = {"ratio_median": _quantile(ratio[found], 0.5), "ratio_p90": _quantile(ratio[found], 0.9)}
        ratios |= {"near": int(near.sum()), "near_ratio_p90": _quantile(ratio[near], 0.9)}
    median, mean = _quantile(distance[found], 0.5), distance[found].mean().item()
    aligned = _quantile(alignment(setting, ends)[found], 0.5)
    return Quality(found.double().mean().item(), median, mean, **ratios, alignment_median=aligned)


@torch.no_grad()
def crossed(model: nn.Module, ends: Tensor, own: Tensor) -> Tensor:
    """Whether the model answers another class at each end, asked about each in a batch of its own ``(n,)``."""
    answers = torch.cat([model(end[None]).argmax(1) for end in ends])
    return (answers != own) & ends.flatten(1).isfinite().all(1)


def lengths(setting: Setting, ends: Tensor) -> Tensor:
    """Distance from each image to its end, summed in float64 ``(n,)``."""
    return setting.norm.length((ends - setting.points).double())


def alignment(setting: Setting, ends: Tensor) -> Tensor:
    """⟨r, n⟩ / (‖r‖_p ‖n‖_q) with n the gradient of the margin at the end ``(n,)``."""
    at = ends.detach().nan_to_num().requires_grad_()
    logits = setting.model(at)
    own = logits.gather(1, setting.own[:, None])
    others = logits.scatter(1, setting.own[:, None], -torch.inf).amax(1, keepdim=True)
    (normal,) = torch.autograd.grad((others - own).sum(), at)
    displacement = at.detach() - setting.points
    along = (displacement * normal).flatten(1).sum(1)
    return along / (setting.norm.length(displacement) * setting.norm.dual_length(normal))


def _quantile(values: Tensor, share: float) -> float | None:
    return values.double().quantile(share).item() if len(values) else None


def _cost(setting: Setting, counter: Counter, timings: list[Timing]) -> dict[str, object]:
    images, best = len(setting.points), _best(timings)
    forwards, gradients = counter.forwards / images, counter.gradients / images
    each, ideal = best.seconds / images, setting.floor.ideal(forwards, gradients)
    return {
        "forwards": forwards,
        "gradients": gradients,
        "seconds": best.seconds,
        "all_seconds": [round(timing.seconds, 4) for timing in timings],
        "others": best.others,
        "floors": each / setting.floor.both,
        "ideal_seconds": ideal * images,
        "overhead": each / ideal,
    }
