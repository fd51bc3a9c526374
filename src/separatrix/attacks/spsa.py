"""An attack that needs no gradient: the loss is differenced along random signs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from separatrix.attacks.base import AbstractAttack, Objective, Task, require_objective, require_step, step_size
from separatrix.checks import require_count, require_positive
from separatrix.fields import Margin
from separatrix.norms import per_sample
from separatrix.randomness import uniform

_SIGNS = 5_000_000  # stream of random numbers, one a draw


@dataclass(frozen=True, repr=False)
class SPSA(AbstractAttack):
    """Steepest steps along a slope that is estimated from random sign differences (Spall, 1992; Uesato et al., 2018).

    Works for a model without gradients, and where they are masked. Each step takes 2·draws + 1 forwards, one draw at a
    time, so that no more than a batch is held. The differences look up to ``width`` a coordinate outside the ball and
    the box. The signs belong to (seed, id).

    Args:
        steps: Steps taken.
        draws: Sign vectors averaged at each step; their noise falls with the root of it.
        width: Half the distance differenced over, in each coordinate, in input units.
        step: Length of each step, in input units; None is 2.5·radius/steps.
        loss: What to raise, ``Margin`` or ``Loss``.
    """

    steps: int = 20
    draws: int = 64
    width: float = 0.01
    step: float | None = None
    loss: Objective = Margin
    differentiates: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_count(self.steps, "steps")
        require_count(self.draws, "draws")
        require_positive(self.width, "width")
        require_step(self.step)
        require_objective(self.loss)

    def run(self, task: Task) -> None:
        """Walk from the start."""
        task.visit(task.start)
        points, size = task.start, per_sample(step_size(task, self.steps, self.step), task.start)
        for number in range(self.steps):
            slope = self._slope(task, points, number * self.draws)
            points = task.confine(points + size * task.norm.steepest(slope))
            task.visit(points)

    def _slope(self, task: Task, points: Tensor, first: int) -> Tensor:
        """The sum of the draws' slopes ``(n, *shape)``: a steepest step asks for its direction alone."""
        total = torch.zeros_like(points)
        for draw in range(first, first + self.draws):
            coins = uniform(task.seed, task.ids, points.shape[1:], stream=_SIGNS + draw)
            signs = torch.where(coins < 0.5, -1.0, 1.0).to(points)
            rise = task.heights(points + self.width * signs) - task.heights(points - self.width * signs)
            total += per_sample(rise.where(rise.isfinite(), 0), points) * signs
        return total
