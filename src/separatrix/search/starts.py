"""Walks from several starts: the shortest of k, and retries where nothing has crossed yet."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from separatrix.checks import require
from separatrix.norms import L2, per_sample
from separatrix.randomness import normal
from separatrix.search.base import AbstractSearch, Crossings, Problem, still, walk
from separatrix.search.slide import Slide

_RESTARTS, _RETRIES = 1_000, 2_000  # streams of random numbers, apart from each other
_TIE = 1e-6
_REACHES = (1.0, 2.0, 1.5, 3.0)  # of further starts, in distances of the best so far


@dataclass(frozen=True)
class Best:
    """Several methods, each from every start; the shortest answer of each sample is kept, and their gap reported.

    Args:
        methods: The searches to ask, such as ``(DeepFool(candidates=5), DDN(100))``.
    """

    methods: tuple[AbstractSearch, ...]

    def __post_init__(self) -> None:
        searches = isinstance(self.methods, tuple) and all(isinstance(part, AbstractSearch) for part in self.methods)
        rule = "be a tuple of searches such as `(DeepFool(), DDN())`"
        require(searches and len(self.methods) > 0, "methods", rule, repr(self.methods))


@dataclass(frozen=True)
class Attempt:
    """The shortest crossing so far of each sample, and how long it was before refinement."""

    crossings: Crossings
    raw: Tensor  # (n,)

    @staticmethod
    def none(like: Tensor) -> Attempt:
        """Nothing crossed yet."""
        crossings = Crossings.none(like)
        return Attempt(crossings, crossings.length.clone())

    def put(self, index: Tensor, other: Attempt) -> None:
        """Take over what is shorter by more than rounding, so that of two equal answers the first stays."""
        better = other.crossings.length < (1 - _TIE) * self.crossings.length[index]
        self.raw[index] = torch.where(better, other.raw, self.raw[index])
        length = torch.where(better, other.crossings.length, torch.inf)
        self.crossings.put(index, replace(other.crossings, length=length))


@dataclass(frozen=True)
class Plan:
    """Which searches to ask, how often each sample is tried, and how a crossing is refined."""

    methods: tuple[AbstractSearch, ...]
    refine: Slide | None
    max_steps: int
    starts: int
    retries: int
    seed: int


def attempt(problem: Problem, plan: Plan, ids: Tensor, start_value: Tensor) -> tuple[Attempt, Tensor]:
    """The shortest of all methods' walks from all starts, and the gap between the methods ``(n,)``.

    Samples that never crossed get noisy walks of growing reach.
    """
    everyone = _everyone(problem)
    tries = [Attempt.none(problem.start) for _ in plan.methods]
    best = Attempt.none(problem.start)
    for number in range(plan.starts):
        points = problem.start if number == 0 else _around(problem, best, plan.seed, ids, number)
        for tried, method in zip(tries, plan.methods, strict=True):
            tried.put(everyone, _try(problem, method, plan, points, start_value))
            best.put(everyone, tried)
    _retry(problem, plan, ids, start_value, best)
    return best, _gap([tried.crossings.length for tried in tries])


def _retry(problem: Problem, plan: Plan, ids: Tensor, start_value: Tensor, best: Attempt) -> None:
    """Walk again from noise around samples that never crossed, twice as far each time (A6)."""
    for number in range(plan.retries):
        kept = still(~best.crossings.found)
        if len(kept) == 0:
            return
        asked = problem[kept]
        typical = L2.length(asked.start) / asked.start[0].numel() ** 0.5
        sigma = 0.02 * 2**number * torch.where(typical > 0, typical, torch.ones_like(typical))
        noisy = asked.start + _noise(asked, plan.seed, ids[kept], _RETRIES + number) * per_sample(sigma, asked.start)
        for method in plan.methods:
            best.put(kept, _try(asked, method, plan, noisy, start_value[kept]))


def _around(problem: Problem, best: Attempt, seed: int, ids: Tensor, number: int) -> Tensor:
    """Starts around each point, two by two on opposite sides: a few of the best distances so far away.

    Where nothing was found yet, twice as far with every start.
    """
    pair, turned = divmod(number - 1, 2)
    noise = _noise(problem, seed, ids, _RESTARTS + pair) * (1 - 2 * turned)
    own = problem.norm.length(problem.start)
    typical = torch.where(own > 0, own, torch.ones_like(own))
    crossings = best.crossings
    reach = torch.where(crossings.found, _REACHES[pair % 4] * crossings.length, typical * 2.0 ** (number - 2))
    return problem.start + noise * per_sample(reach / problem.norm.length(noise), noise)


def _gap(lengths: list[Tensor]) -> Tensor:
    """How much longer the longest is than the shortest, as a share of it; NaN for one method, inf where one failed."""
    stacked = torch.stack(lengths)
    shortest, longest = stacked.amin(0), stacked.amax(0)
    gap = torch.where(longest > shortest, (longest - shortest) / shortest, torch.zeros_like(shortest))
    return gap.where((shortest < torch.inf) & (len(lengths) > 1), torch.nan)


def _try(problem: Problem, method: AbstractSearch, plan: Plan, points: Tensor, start_value: Tensor) -> Attempt:
    asked = replace(problem, difference=method.difference)
    walked = walk(asked, method, points, plan.max_steps)
    if points is not problem.start:
        walked.put(_everyone(problem), _already_across(problem, points))
    refined = walked if plan.refine is None else plan.refine.refine(asked, walked, start_value)
    return Attempt(refined, walked.length.clone())


def _already_across(problem: Problem, points: Tensor) -> Crossings:
    """Noisy starts that left the region by themselves are crossings."""
    value = problem.value(points)
    return Crossings(points, torch.where(value >= 0, problem.length(points), torch.inf), value)


def _noise(problem: Problem, seed: int, ids: Tensor, stream: int) -> Tensor:
    """Gaussian displacements within the subspace, one a sample, from (seed, id)."""
    noise = normal(seed, ids, problem.start.shape[1:], stream=stream, dtype=problem.start.dtype)
    return noise if problem.subspace is None else problem.subspace.project(noise)


def _everyone(problem: Problem) -> Tensor:
    return torch.arange(len(problem), device=problem.start.device)
