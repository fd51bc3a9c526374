"""What does a perturbation of bounded length do? The question, and its checks."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from separatrix.attacks.base import AbstractAttack, Box, Objective, Record, Task, require_objective
from separatrix.attacks.gradient import PGD
from separatrix.attacks.perturbed import Perturbed
from separatrix.checks import (
    class_each,
    number_each,
    require,
    require_batch,
    require_count,
    require_each,
    require_points,
    require_range,
    require_seed,
    sample_ids,
)
from separatrix.classifier import Model, device_of, logits_of, require_model
from separatrix.fields import Loss, linearise
from separatrix.norms import Linf, Norm
from separatrix.precision import full_precision
from separatrix.search.batching import in_batches


def perturb(
    model: Model,
    points: Tensor,
    labels: Tensor | None = None,
    *,
    radius: float | Tensor,
    method: AbstractAttack = PGD(steps=20),
    norm: Norm = Linf,
    box: Box | None = None,
    targets: Tensor | int | None = None,
    batch_size: int | None = None,
    seed: int = 0,
    ids: Tensor | None = None,
) -> Perturbed:
    """Perturbations of at most ``radius`` that raise the loss: the best that ``method`` visits for each point.

    The best is one that fools the model before one that does not, then the one of the highest loss. Where none fools,
    a stronger method might. To measure how far the boundary is, use ``minimal_perturbation``.

    Args:
        model: Maps inputs ``(n, *shape)`` to logits ``(n, c)``; in eval mode. It comes back as it was.
        points: Inputs ``(n, *shape)``, float32 or float64 as the model.
        labels: Classes to get away from ``(n,)``; None is the model's own answers.
        radius: Greatest length: one for all points, or one a point ``(n,)``.
        method: ``FGSM``, ``BIM``, ``PGD``, ``SPSA`` or ``AutoAttack``.
        norm: What length means: ``L2``, ``Linf`` or ``Norm(p)`` with p > 1.
        box: Least and greatest value of an input; None is the model's ``bounds`` if it has them, and everywhere
            otherwise. ``(-math.inf, math.inf)`` lifts the bounds.
        targets: Lower the loss of this class instead, so that it is answered: one for all, or one a point ``(n,)``.
        batch_size: Points perturbed at once; None is all. Too many for the memory: halved, with a warning.
        seed: Of random starts and random signs.
        ids: Whole numbers that name the points, so that a result does not depend on its batch; 0 … n − 1 if not given.
    """
    with full_precision():
        request = Request.checked(model, points, labels, method, norm, box, targets, batch_size, seed, ids)
        return replace(request, radius=_radius(radius, points)).answer()


def zero_gradient_share(
    model: Model,
    points: Tensor,
    labels: Tensor | None = None,
    *,
    loss: Objective = Loss,
    batch_size: int | None = None,
) -> float:
    """Share of the points at which the loss has a gradient of exactly zero: no gradient attack can begin there.

    Large values are a sign of saturated softmaxes or masked gradients: then believe attacks that climb the ``Margin``,
    or that take no gradient (``SPSA``), rather than FGSM and PGD.

    Args:
        model: Maps inputs ``(n, *shape)`` to logits ``(n, c)``; in eval mode. It comes back as it was.
        points: Inputs ``(n, *shape)``.
        labels: Classes whose loss is meant ``(n,)``; None is the model's own answers.
        loss: ``Loss``, the cross-entropy, or ``Margin``.
        batch_size: Points looked at at once; None is all.
    """
    require_objective(loss)
    with full_precision():
        request = Request.checked(model, points, labels, PGD(), Linf, None, None, batch_size, 0, None)
        size = batch_size or len(points)
        return sum(request.flat(slice(first, first + size), loss) for first in range(0, len(points), size)) / len(
            points
        )


@dataclass(frozen=True, eq=False)
class Request:
    """A question that has passed the door."""

    model: Model
    points: Tensor
    labels: Tensor | None
    targets: Tensor | None
    radius: Tensor
    method: AbstractAttack
    norm: Norm
    box: Box
    batch_size: int | None
    seed: int
    ids: Tensor

    @staticmethod
    def checked(
        model: Model,
        points: Tensor,
        labels: Tensor | None,
        method: AbstractAttack,
        norm: Norm,
        box: Box | None,
        targets: Tensor | int | None,
        batch_size: int | None,
        seed: int,
        ids: Tensor | None,
    ) -> Request:
        """The question, of radius 0 for now; refused where something is wrong with it."""
        require(isinstance(method, AbstractAttack), "method", "be an attack such as `PGD(steps=20)`", repr(method))
        require(isinstance(norm, Norm), "norm", "be a Norm: `L2`, `Linf` or `Norm(p)`", repr(norm))
        require_seed(seed)
        if batch_size is not None:
            require_count(batch_size, "batch_size")
        require_points(points)
        classes = require_model(model, points, gradient=method.differentiates)
        if labels is not None:
            require_batch(labels, "labels", len(points), integer=True)
        return Request(
            model=model,
            points=points,
            labels=class_each(labels, "labels", points, classes),
            targets=class_each(targets, "targets", points, classes),
            radius=points.new_zeros(len(points)),
            method=method,
            norm=norm,
            box=_box(box, model, points),
            batch_size=batch_size,
            seed=seed,
            ids=sample_ids(ids, points),
        )

    def __getitem__(self, kept: Tensor) -> Request:
        """The question for these points alone."""
        given = {name: getattr(self, name) for name in ("points", "radius", "ids", "labels", "targets")}
        chosen: dict[str, Any] = {name: None if rows is None else rows[kept] for name, rows in given.items()}
        return replace(self, **chosen)

    def of_radius(self, radius: float) -> Request:
        """The same question at another radius, one for all."""
        return replace(self, radius=torch.full_like(self.radius, radius))

    def answer(self) -> Perturbed:
        """All rows, batch by batch, on the device of the points."""
        return in_batches(len(self.points), self.batch_size, self._perturbed, self.points.device)

    def own(self) -> Tensor:
        """The model's own answers ``(n,)``, batch by batch, on the device of the points."""
        size = self.batch_size or len(self.points)
        parts = [self._logits(self.points[first : first + size]) for first in range(0, len(self.points), size)]
        return torch.cat([logits.argmax(1) for logits in parts]).to(self.points.device)

    def flat(self, rows: slice, loss: Objective) -> int:
        """How many of these points have a gradient of zero."""
        start, labels, _ = self._begun(rows)
        _, gradients = linearise(loss(self.model, labels), start)
        return int((gradients == 0).flatten(1).all(1).sum())

    def _perturbed(self, rows: slice) -> Perturbed:
        start, labels, record = self._begun(rows)
        task = Task(
            model=self.model,
            start=start,
            labels=labels,
            targets=None if self.targets is None else self.targets[rows].to(start.device),
            radius=self.radius[rows].to(start),
            norm=self.norm,
            box=self.box,
            objective=self.method.loss,
            seed=self.seed,
            ids=self.ids[rows].to(start.device),
            record=record,
        )
        self.method.run(task)
        return _perturbed(task)

    def _begun(self, rows: slice) -> tuple[Tensor, Tensor, Record]:
        """Starts and labels on the model's device, and what finding out the labels has cost."""
        start = self.points[rows].detach().to(device_of(self.model, self.points))
        record = Record.begin(start)
        if self.labels is not None:
            return start, self.labels[rows].to(start.device), record
        record.forwards.add_(1)
        return start, self._logits(start).argmax(1), record

    def _logits(self, points: Tensor) -> Tensor:
        with torch.no_grad():
            return logits_of(self.model, points.detach().to(device_of(self.model, points), copy=True))


def _perturbed(task: Task) -> Perturbed:
    return Perturbed(
        start=task.start,
        end=task.record.points,
        labels=task.labels,
        answer=task.record.answer,
        fooled=task.record.fooled,
        radius=task.radius,
        forwards=task.record.forwards,
        gradients=task.record.gradients,
        ids=task.ids,
        norm=task.norm,
        targets=task.targets,
    )


def _radius(radius: float | Tensor, points: Tensor) -> Tensor:
    lengths = number_each(radius, "radius", points)
    require_each(lengths.isfinite() & (lengths >= 0), "radius", "be finite and ≥ 0", lengths)
    return lengths


def _box(box: Box | None, model: Model, points: Tensor) -> Box:
    if box is None:
        bounds = getattr(model, "bounds", None)
        return (-math.inf, math.inf) if bounds is None else (float(bounds[0]), float(bounds[1]))
    require_range(box, "box")
    inside = box[0] <= float(points.min()) and float(points.max()) <= box[1]
    got = f"values from {float(points.min()):g} to {float(points.max()):g}"
    require(inside, "points", f"lie within the box [{box[0]:g}, {box[1]:g}]", got, "Are the units right?")
    return float(box[0]), float(box[1])
