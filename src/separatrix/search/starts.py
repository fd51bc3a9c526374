"""Walks from several starts: the shortest of k, and retries where nothing has crossed yet."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from separatrix.norms import L2, per_sample
from separatrix.randomness import normal
from separatrix.search.base import AbstractSearch, Crossings, Problem, still, walk
from separatrix.search.slide import Slide

_RESTARTS, _RETRIES = 1_000, 2_000  # streams of random numbers, apart from each other


@dataclass(frozen=True)
class Attempt:
    """The shortest crossing so far of each sample, and how long it was before refinement."""

    crossings: Crossings
    raw: Tensor  # (n,)

    @property
    def gap(self) -> Tensor:
        """Nothing to compare with: NaN."""
        return torch.full_like(self.raw, torch.nan)

    def put(self, index: Tensor, other: Attempt) -> None:
        """Take over what is shorter."""
        better = other.crossings.length < self.crossings.length[index]
        self.raw[index] = torch.where(better, other.raw, self.raw[index])
        self.crossings.put(index, other.crossings)


@dataclass(frozen=True)
class Plan:
    """How often each sample is tried, and how a crossing is refined."""

    refine: Slide | None
    max_steps: int
    starts: int
    retries: int
    seed: int


def attempt(problem: Problem, method: AbstractSearch, plan: Plan, ids: Tensor, start_value: Tensor) -> Attempt:
    """The shortest of ``plan.starts`` walks, then noisy walks of growing reach for samples that never crossed."""
    best = _try(problem, method, plan, problem.start, start_value)
    for number in range(1, plan.starts):
        noise = _noise(problem, plan.seed, ids, _RESTARTS + number)
        span = torch.where(best.crossings.found, best.crossings.length, problem.norm.length(problem.start) / 4)
        reach = span * 2.0 ** ((number - 1) % 4 - 1)  # half, one, two, four times the best so far
        noisy = problem.start + noise * per_sample(reach / problem.norm.length(noise), noise)
        best.put(_everyone(problem), _try(problem, method, plan, noisy, start_value))
    for number in range(plan.retries):
        kept = still(~best.crossings.found, len(problem))
        if len(kept) == 0:
            break
        asked = problem[kept]
        typical = L2.length(asked.start) / asked.start[0].numel() ** 0.5
        sigma = 0.02 * 2**number * torch.where(typical > 0, typical, torch.ones_like(typical))
        noisy = asked.start + _noise(asked, plan.seed, ids[kept], _RETRIES + number) * per_sample(sigma, asked.start)
        best.put(kept, _try(asked, method, plan, noisy, start_value[kept]))
    return best


def _try(problem: Problem, method: AbstractSearch, plan: Plan, points: Tensor, start_value: Tensor) -> Attempt:
    walked = walk(problem, method, points, plan.max_steps)
    if points is not problem.start:
        walked.put(_everyone(problem), _already_across(problem, points))
    refined = walked if plan.refine is None else plan.refine.refine(problem, walked, start_value)
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
