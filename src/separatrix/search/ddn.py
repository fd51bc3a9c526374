"""Decoupled direction and norm: climb on a sphere that shrinks when crossed (Rony et al., 2019)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from separatrix.checks import require, require_count
from separatrix.norms import L2, per_sample
from separatrix.search.base import AbstractSearch, Problem, Step


@dataclass(frozen=True)
class DDN(AbstractSearch):
    """Normalised gradient steps on a sphere around the start, whose radius shrinks when crossed and grows when not.

    Slower than DeepFool, and sure-footed where linearising fails: on adversarially trained networks and on
    gradients that vanish. Takes all its steps and keeps the shortest crossing. In ℓ2 the sphere is one; in other norms,
    the ball.

    Args:
        steps: Steps taken, one forward and one gradient each.
        rate: Share by which the radius changes at each step.
    """

    steps: int = 100
    rate: float = 0.05

    def __post_init__(self) -> None:
        require_count(self.steps, "steps")
        require(0 < self.rate < 1, "rate", "lie between 0 and 1", self.rate)

    def begin(self, problem: Problem) -> Tensor:
        """Radius and number of the step, one row a sample: at first an eighth of the start's own length."""
        length = problem.norm.length(problem.start)
        radius = torch.where(length > 0, length, torch.ones_like(length)) / 8
        return torch.stack([radius, torch.zeros_like(radius)], dim=1)

    def step(self, problem: Problem, points: Tensor, state: Tensor) -> Step:
        """Ask and climb at ``points``; then set the new radius."""
        value, gradients = problem.climb(points)
        lost = ~(gradients.flatten(1).abs().amax(1) > 0)
        radius, number = state.unbind(1)
        radius = radius * torch.where(value >= 0, 1 - self.rate, 1 + self.rate)
        pace = 0.01 + 0.99 * (1 + torch.cos(math.pi * number / self.steps)) / 2
        displacement = points - problem.start + problem.norm.steepest(gradients) * per_sample(pace * radius, points)
        if problem.norm == L2:
            displacement = L2.steepest(displacement) * per_sample(radius, points)
        else:
            displacement = problem.norm.project(displacement, radius)
        return Step(problem.start + displacement, points, value, torch.stack([radius, number + 1], dim=1), lost)
