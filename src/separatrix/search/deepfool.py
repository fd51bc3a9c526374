"""DeepFool: cross the nearest boundary of the linearised model, again and again (Moosavi-Dezfooli et al., 2016)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from separatrix.checks import require, require_count, require_positive
from separatrix.norms import per_sample
from separatrix.search.base import AbstractSearch, Look, Problem, Step

_LONGEST_STRIDE = 1.9  # just short of a reflection


@dataclass(frozen=True)
class DeepFool(AbstractSearch):
    """Step onto the nearest of the linearised boundaries, until a point a little beyond has crossed.

    Whether the boundary is behind is asked at ``start + (1 + overshoot) · (all steps together)``; the walk itself is
    not overshot.

    Args:
        overshoot: How far beyond the walk that point lies, as a share of its length.
        candidates: How many of the highest logits are looked at, the own class among them. None: all of them up to ten
            classes, ten beyond, chosen again at each step, as published. A number: at the first step alone; the others
            follow the strongest rival, linearised where the last one asked. 5 is nearly as good, at a third of the
            gradients.
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
        follows = self.candidates is not None and self.difference is None
        stride, lost = _stride(problem, state), torch.zeros_like(state, dtype=torch.bool)
        if not (follows and bool(state[0] > 0)):
            points, lost = self._nearest(problem, points, stride)
        beyond = problem.start + (1 + self.overshoot) * (points - problem.start)
        trial = torch.where(per_sample(stride > 1, points), points, beyond)
        if not follows:
            return Step(points, trial, problem.value(trial), state + 1, lost)
        value, look = problem.look(trial)
        onward, flat = _followed(problem, points, trial, value, look, _stride(problem, state + 1))
        return Step(onward, trial, value, state + 1, lost | flat, look)

    def _nearest(self, problem: Problem, points: Tensor, stride: Tensor) -> tuple[Tensor, Tensor]:
        """Points on the nearest of the linearised boundaries, and which samples have none."""
        nearest, gradient = torch.full_like(stride, torch.inf), torch.zeros_like(points)
        for _, values, gradients in problem.linearise_pairs(points, self.candidates):
            distance = values.abs() / problem.norm.dual_length(gradients)
            nearer = distance < nearest
            nearest = torch.where(nearer, distance, nearest)
            gradient = torch.where(per_sample(nearer, gradients), gradients, gradient)
        lost = nearest == torch.inf
        length = per_sample((stride * nearest).masked_fill(lost, 0), points)
        return points + problem.norm.steepest(gradient) * length, lost


def _followed(
    problem: Problem, points: Tensor, trial: Tensor, value: Tensor, look: Look, stride: Tensor
) -> tuple[Tensor, Tensor]:
    """Points moved onto the boundary as it is linearised at ``trial`` nearby, and which samples have no slope there."""
    gradient = problem.confine(look.gradient)
    slope = problem.norm.dual_length(gradient)
    flat = ~(slope > 0)
    rise = -value - (gradient * (points - trial)).flatten(1).sum(1)
    distance = stride * torch.where(rise > 0, rise, value.abs()) / slope
    return points + problem.norm.steepest(gradient) * per_sample(distance.masked_fill(flat, 0), points), flat


def _stride(problem: Problem, number: Tensor) -> Tensor:
    """How far to step, in distances to the linearised boundary: 1, and ever more towards a region not reached in three.

    Steps that end on one boundary of a region leave it through another, for ever; those that reach beyond each do not.
    """
    if problem.margin.own is not None:
        return torch.ones_like(number)
    return (1 + (number - 2) / 4).clamp(1, _LONGEST_STRIDE)
