"""What an attack is asked, what it may ask of the model, and what is kept of its walk."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from separatrix.checks import require, require_positive
from separatrix.classifier import Model, logits_of
from separatrix.fields import Loss, Margin, watched
from separatrix.norms import Norm, per_sample

Objective = type[Loss] | type[Margin]
"""What is raised for the label, and lowered for a target: cross-entropy (``Loss``), or the gap in logits (``Margin``),
which does not saturate."""

Box = tuple[float, float]


@dataclass(frozen=True)
class Record:
    """The best point met so far for each sample: fooling before not fooling, then the higher objective."""

    points: Tensor  # (n, *shape)
    answer: Tensor  # (n,) −1 before the first look
    fooled: Tensor  # (n,) bool
    value: Tensor  # (n,)
    forwards: Tensor  # (n,)
    gradients: Tensor  # (n,)

    @staticmethod
    def begin(start: Tensor) -> Record:
        """Nothing met yet."""
        forwards, gradients = torch.zeros(2, len(start), dtype=torch.long, device=start.device)
        value = start.new_full((len(start),), -torch.inf)
        return Record(start.clone(), forwards - 1, forwards > 0, value, forwards, gradients)

    def put(self, points: Tensor, answer: Tensor, fooled: Tensor, value: Tensor) -> None:
        """Keep what is at least as good as what is there."""
        level = (fooled == self.fooled) & (value >= self.value)
        better = (fooled & ~self.fooled) | level
        self.points.copy_(torch.where(per_sample(better, points), points, self.points))
        self.answer.copy_(torch.where(better, answer, self.answer))
        self.value.copy_(torch.where(better, value, self.value))
        self.fooled.logical_or_(fooled)


@dataclass(frozen=True, eq=False)
class Task:
    """Raise the objective at most ``radius`` from ``start``, inside a box.

    Everything a method wants to know of the model it asks here, so that it is counted, and so that the best point
    it visits is kept.
    """

    model: Model
    start: Tensor  # (n, *shape)
    labels: Tensor  # (n,)
    targets: Tensor | None  # (n,)
    radius: Tensor  # (n,)
    norm: Norm
    box: Box
    objective: Objective
    seed: int
    ids: Tensor  # (n,)
    record: Record

    def confine(self, points: Tensor) -> Tensor:
        """Points brought back into the ball, then into the box; a start outside the box may stay where it is.

        In ℓ∞ each coordinate is cut off. Elsewhere the displacement is shortened as a whole: steepest steps followed by
        the ℓ2-nearest point of another ball would settle beside the highest point of even a linear loss.
        """
        least, greatest = self.start.clamp(max=self.box[0]), self.start.clamp(min=self.box[1])
        return (self.start + self._within_ball(points - self.start)).clamp(least, greatest)

    def heights(self, points: Tensor) -> Tensor:
        """The objective ``(n,)`` for one forward pass; the points may lie anywhere and are not kept."""
        return self._value(self._logits(points))

    def visit(self, points: Tensor) -> None:
        """Look at confined points, for one forward pass."""
        self._keep(points, self._logits(points))

    def climb(self, points: Tensor) -> Tensor:
        """Visit confined points, and return the objective's gradients there ``(n, *shape)``."""
        self.record.forwards.add_(1)
        self.record.gradients.add_(1)
        with torch.enable_grad():
            leaf, seen = watched(points)
            logits = logits_of(self.model, seen)
            (gradients,) = torch.autograd.grad(self._value(logits).sum(), leaf)
        self._keep(points, logits.detach())
        return gradients.where(gradients.isfinite(), 0)

    def _within_ball(self, displacements: Tensor) -> Tensor:
        if self.norm.p == math.inf:
            return self.norm.project(displacements, self.radius)
        length = self.norm.length(displacements)
        share = (self.radius / length.where(length > 0, 1)).clamp(max=1)
        return displacements * per_sample(share, displacements)

    def _logits(self, points: Tensor) -> Tensor:
        self.record.forwards.add_(1)
        with torch.no_grad():
            return logits_of(self.model, points.clone())

    def _keep(self, points: Tensor, logits: Tensor) -> None:
        answer, value = logits.argmax(1), self._value(logits)
        fooled = (answer != self.labels) if self.targets is None else (answer == self.targets)
        fooled &= ~logits.isnan().any(1)
        moved = (points != self.start).flatten(1).any(1)
        self.record.put(points, answer, fooled, value.where(moved | fooled, -torch.inf))

    def _value(self, logits: Tensor) -> Tensor:
        if self.objective is Margin and self.targets is None:
            return Margin(self.model, own=self.labels).of(logits)
        if self.objective is Margin:
            return Margin(self.model, rival=self.targets).of(logits)
        if self.targets is None:
            return cross_entropy(logits, self.labels, reduction="none")
        return -cross_entropy(logits, self.targets, reduction="none")


class AbstractAttack(ABC):
    """How to raise the loss within a radius: a frozen dataclass of settings that visits points of a task.

    The best point visited is the answer: one that fools before one that does not, then the higher objective. The
    start is an answer only where it fools the model as it is, or where no other point is allowed.
    """

    loss: Objective = Loss
    differentiates: ClassVar[bool] = True

    def __repr__(self) -> str:
        settings = ((field.name, getattr(self, field.name)) for field in fields(self))  # type: ignore[arg-type]
        shown = (f"{name}={value.__name__ if isinstance(value, type) else repr(value)}" for name, value in settings)
        return f"{type(self).__name__}({', '.join(shown)})"

    @abstractmethod
    def run(self, task: Task) -> None:
        """Visit points that might fool the model."""


def require_objective(loss: object) -> None:
    """Refuse an objective that is neither of the two."""
    require(loss is Loss or loss is Margin, "loss", "be `Loss` or `Margin`, the class itself", repr(loss))


def require_step(step: float | None) -> None:
    """Refuse a step that is no length."""
    if step is not None:
        require_positive(step, "step")


def step_size(task: Task, steps: int, step: float | None) -> Tensor:
    """Length of each step ``(n,)``: as given, or 2.5·radius/steps, which crosses the ball and comes back."""
    return 2.5 * task.radius / steps if step is None else torch.full_like(task.radius, step)
