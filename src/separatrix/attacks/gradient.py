"""Attacks along the gradient of the loss: one step, several, and several from random starts."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor

from separatrix.attacks.base import AbstractAttack, Objective, Task, require_objective, require_step, step_size
from separatrix.checks import require_count
from separatrix.fields import Loss
from separatrix.norms import per_sample
from separatrix.randomness import normal, uniform

_DIRECTIONS, _DEPTHS = 3_000_000, 4_000_000  # streams of random numbers, one a restart


@dataclass(frozen=True, repr=False)
class FGSM(AbstractAttack):
    """One step as long as the radius, in the steepest direction of the loss (Goodfellow et al., 2015).

    In ℓ∞ the step is ε·sign(∇J). It overshoots where the loss bends: a larger radius can fool fewer samples.

    Args:
        loss: What to raise, ``Loss`` or ``Margin``.
    """

    loss: Objective = Loss

    def __post_init__(self) -> None:
        require_objective(self.loss)

    def run(self, task: Task) -> None:
        """Step once."""
        _ascend(task, task.start, 1, task.radius)


@dataclass(frozen=True, repr=False)
class BIM(AbstractAttack):
    """Several steepest steps from the point itself, each brought back into the ball (Kurakin et al., 2017).

    Args:
        steps: Gradients taken.
        step: Length of each, in input units, such as ``2 / 255``; None is 2.5·radius/steps. Steps that add up to less
            than the radius never reach it.
        loss: What to raise, ``Loss`` or ``Margin``.
    """

    steps: int = 5
    step: float | None = None
    loss: Objective = Loss

    def __post_init__(self) -> None:
        require_count(self.steps, "steps")
        require_step(self.step)
        require_objective(self.loss)

    def run(self, task: Task) -> None:
        """Walk from the start."""
        _ascend(task, task.start, self.steps, step_size(task, self.steps, self.step))


@dataclass(frozen=True, repr=False)
class PGD(AbstractAttack):
    """Several steepest steps from a random point of the ball, brought back into it each time (Madry et al., 2018).

    The random point is uniform in the ball for ℓ∞ and ℓ2; for another ℓp its direction is Gaussian. It belongs to
    (seed, id).

    Args:
        steps: Gradients taken from each start.
        step: Length of each, in input units, such as ``2 / 255``; None is 2.5·radius/steps.
        restarts: Random starts; the best point of all the walks counts.
        loss: What to raise, ``Loss`` or ``Margin``.
    """

    steps: int = 20
    step: float | None = None
    restarts: int = 1
    loss: Objective = Loss

    def __post_init__(self) -> None:
        require_count(self.steps, "steps")
        require_count(self.restarts, "restarts")
        require_step(self.step)
        require_objective(self.loss)

    def run(self, task: Task) -> None:
        """Walk from each random start."""
        task.visit(task.start)
        for number in range(self.restarts):
            points = task.confine(task.start + _within_ball(task, number))
            _ascend(task, points, self.steps, step_size(task, self.steps, self.step))


def _ascend(task: Task, points: Tensor, steps: int, length: Tensor) -> None:
    size = per_sample(length, points)
    for _ in range(steps):
        points = task.confine(points + size * task.norm.steepest(task.climb(points)))
    task.visit(points)


def _within_ball(task: Task, number: int) -> Tensor:
    """A random displacement of at most the radius for each sample ``(n, *shape)``."""
    shape, radius = task.start.shape[1:], per_sample(task.radius, task.start)
    if task.norm.p == math.inf:
        draw = uniform(task.seed, task.ids, shape, stream=_DIRECTIONS + number)
        return radius * (2 * draw - 1).to(task.start.dtype)
    draw = normal(task.seed, task.ids, shape, stream=_DIRECTIONS + number, dtype=task.start.dtype)
    depth = uniform(task.seed, task.ids, (1,), stream=_DEPTHS + number)[:, 0] ** (1 / math.prod(shape))
    return radius * draw * per_sample(depth.to(draw) / task.norm.length(draw), draw)
