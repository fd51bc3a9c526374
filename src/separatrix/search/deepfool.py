"""DeepFool: cross the nearest boundary of the linearised model, again and again (Moosavi-Dezfooli et al., 2016)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from separatrix.checks import require, require_count, require_positive
from separatrix.norms import per_sample
from separatrix.search.base import AbstractSearch, Problem, Step

_LONGEST_STRIDE = 1.9  # just short of a reflection


@dataclass(frozen=True)
class DeepFool(AbstractSearch):
    """Step onto the nearest of the linearised boundaries, until a point a little beyond has crossed.

    Whether the boundary is behind is asked at ``start + (1 + overshoot) · (all steps together)``; the walk itself is
    not overshot.

    Args:
        overshoot: How far beyond the walk that point lies, as a share of its length.
        candidates: How many of the highest logits are looked at, the own class among them, chosen again at each step.
            None: all of them up to ten classes, ten beyond. 5 is nearly as good, at less than half the gradients.
        difference: For a model without gradients: the ℓ2 length of the displacements whose effect stands for the slope,
            m + 1 forward passes a step in a subspace of dimension m (which must then be given). None differentiates.
    """

    overshoot: float = 0.02
    candidates: int | None = None
    difference: float | None = None
    pairs_first: ClassVar[bool] = True

    def __post_init__(self) -> None:
        number = isinstance(self.overshoot, (int, float)) and not isinstance(self.overshoot, bool)
        require(number and 0 <= self.overshoot < math.inf, "overshoot", "be a finite number ≥ 0", repr(self.overshoot))
        if self.candidates is not None:
            require_count(self.candidates, "candidates", 2)
        if self.difference is not None:
            require_positive(self.difference, "difference")

    def begin(self, problem: Problem) -> Tensor:
        """The number of the step."""
        return torch.zeros_like(problem.hair)

    def step(self, problem: Problem, points: Tensor, state: Tensor) -> Step:
        """To the nearest linearised boundary (A2; A3 in other norms; A4 in a subspace; A5 towards a region)."""
        nearest = torch.full_like(state, torch.inf)
        slope, gradient = torch.zeros_like(state), torch.zeros_like(points)
        for _, values, gradients in problem.linearise_pairs(points, self.candidates):
            slopes = problem.norm.dual_length(gradients)
            distance = values.abs() / slopes
            nearer = distance < nearest
            nearest = torch.where(nearer, distance, nearest)
            slope = torch.where(nearer, slopes, slope)
            gradient = torch.where(per_sample(nearer, gradients), gradients, gradient)
        lost = nearest == torch.inf
        stride = _stride(problem, state)
        ahead = points + problem.norm.steepest(gradient) * per_sample((stride * nearest).masked_fill(lost, 0), points)
        beyond = problem.start + (1 + self.overshoot) * (ahead - problem.start)
        trial = torch.where(per_sample(stride > 1, ahead), ahead, beyond)
        return Step(ahead, trial, problem.value(trial), state + 1, lost)


def _stride(problem: Problem, number: Tensor) -> Tensor:
    """How far to step, in distances to the linearised boundary: 1, and ever more towards a region not reached in three.

    Steps that end on one boundary of a region leave it through another, for ever; those that reach beyond each do not.
    """
    if problem.margin.own is not None:
        return torch.ones_like(number)
    return (1 + (number - 2) / 4).clamp(1, _LONGEST_STRIDE)
