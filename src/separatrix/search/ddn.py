"""Decoupled direction and norm: climb in a ball that shrinks when crossed (Rony et al., 2019)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from separatrix.checks import is_number, require, require_count
from separatrix.norms import Linf, per_sample
from separatrix.search.base import AbstractSearch, Problem, Step


@dataclass(frozen=True)
class DDN(AbstractSearch):
    """Normalised gradient steps in a ball around the start, whose radius shrinks when crossed and grows when not.

    Slower than DeepFool, and sure-footed where linearising fails, as on adversarially trained networks. Takes all its
    steps and keeps the shortest crossing. It climbs the margin rather than the cross-entropy, so that the size of the
    logits plays no part, and the radius begins at a quarter of the start's own length and changes fast at first, so
    that the scale of the inputs plays none.

    Args:
        steps: Steps taken, one forward and one gradient each.
        rate: Share by which the radius changes at the first step.
        last_rate: The same at the last step; between them the rate follows a half cosine.
    """

    steps: int = 100
    rate: float = 0.3
    last_rate: float = 0.01

    def __post_init__(self) -> None:
        require_count(self.steps, "steps")
        for name in ("rate", "last_rate"):
            rate = getattr(self, name)
            require(is_number(rate) and 0 < rate < 1, name, "be a number between 0 and 1", repr(rate))

    def begin(self, problem: Problem) -> Tensor:
        """Radius and number of the step, one row a sample."""
        length = problem.norm.length(problem.start)
        radius = torch.where(length > 0, length, torch.ones_like(length)) / 4
        return torch.stack([radius, torch.zeros_like(radius)], dim=1)

    def step(self, problem: Problem, points: Tensor, state: Tensor) -> Step:
        """Ask and climb at ``points``; then set the new radius."""
        value, look = problem.look(points)
        gradients = problem.confine(look.gradient)
        lost = ~(gradients.flatten(1).abs().amax(1) > 0)
        radius, number = state.unbind(1)
        early = (1 + torch.cos(math.pi * number / self.steps)) / 2
        rate = self.last_rate + (self.rate - self.last_rate) * early
        ahead = problem.length(points) + value.abs() / problem.norm.dual_length(gradients)
        radius = torch.where(value >= 0, radius * (1 - rate), torch.minimum(radius, ahead) * (1 + rate))
        stride = per_sample((0.01 + 0.99 * early) * radius, points)
        displacement = points - problem.start + problem.norm.steepest(gradients) * stride
        if problem.norm == Linf:
            displacement = Linf.project(displacement, radius)
        else:
            shorter = (radius / problem.norm.length(displacement)).clamp(max=1)
            displacement = displacement * per_sample(shorter, points)
        return Step(problem.start + displacement, points, value, torch.stack([radius, number + 1], dim=1), lost, look)
