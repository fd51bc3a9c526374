"""How far is the decision boundary? The question, and its checks."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from separatrix.boundary import BoundaryPoints
from separatrix.checks import class_each, described, require, require_count, require_points, require_seed, sample_ids
from separatrix.classifier import Model, device_of, logits_of, require_model
from separatrix.fields import Margin, Seen
from separatrix.norms import L2, Norm
from separatrix.precision import full_precision
from separatrix.search.answer import answer
from separatrix.search.base import AbstractSearch, Problem, Tally, rounding
from separatrix.search.batching import in_batches, slices
from separatrix.search.deepfool import DeepFool
from separatrix.search.slide import Slide
from separatrix.search.starts import Best, Plan, attempt
from separatrix.subspaces import Subspace


def minimal_perturbation(
    model: Model,
    points: Tensor,
    *,
    method: AbstractSearch | Best = DeepFool(),
    norm: Norm = L2,
    subspace: Subspace | None = None,
    targets: Tensor | int | None = None,
    refine: Slide | None = Slide(),
    max_steps: int = 50,
    starts: int = 1,
    retries: int = 3,
    rival: Tensor | int | None = None,
    batch_size: int | None = None,
    seed: int = 0,
    ids: Tensor | None = None,
) -> BoundaryPoints:
    """The shortest displacement found that changes the model's answer: an upper bound on the distance to its boundary.

    The region left is always the model's own answer at the point, right or wrong. Nothing is clipped: this measures
    distance, in the units of the points; for attacks inside a box there is ``perturb``. A point on the boundary
    already has distance 0. Points whose boundary was not met stay in the answer, with ``found`` false and distance inf.

    Args:
        model: Maps inputs ``(n, *shape)`` to logits ``(n, c)``; in eval mode. It comes back as it was.
        points: Inputs ``(n, *shape)``, float32 or float64 as the model.
        method: How to walk to the boundary.
        norm: What "shortest" means: ``L2``, ``Linf`` or ``Norm(p)`` with p > 1.
        subspace: Displacements stay inside it (ℓ2 only).
        targets: Enter the region of this class: one for all points, or one a point ``(n,)``.
        refine: How a crossing is shortened; None leaves the raw walk, overshoot included.
        max_steps: Steps after which a walk gives up; ``DDN`` and ``LBFGS`` have a number of their own.
        starts: The shortest of this many walks, the first from the point, the others from noise around it.
        retries: Noisy walks tried where none has crossed, each with twice the noise of the one before.
        rival: Cross the boundary between the own class and this one alone, whatever the others answer.
        batch_size: Points measured at once; None is all. Too many for the memory: halved, with a warning.
        seed: Of the noise that retries and further starts walk from.
        ids: Whole numbers that name the points, so that a result does not depend on its batch; 0 … n − 1 if not given.
    """
    methods = _methods(method)
    _require_settings(methods, norm, subspace, targets, rival, refine)
    require_count(max_steps, "max_steps")
    require_count(starts, "starts")
    require_count(retries, "retries", 0)
    require_seed(seed)
    if batch_size is not None:
        require_count(batch_size, "batch_size")
    require_points(points)
    with full_precision():
        classes = require_model(model, points, gradient=any(part.difference is None for part in methods))
        query = _Query(
            model=model,
            points=points,
            ids=sample_ids(ids, points),
            targets=class_each(targets, "targets", points, classes),
            rival=class_each(rival, "rival", points, classes),
            norm=norm,
            subspace=_fitting(subspace, points),
            plan=Plan(methods, refine, max_steps, starts, retries, seed),
        )
        query.require_others(batch_size)
        found = in_batches(len(points), batch_size, query.measure, points.device)
    return replace(found, subspace=subspace)


@dataclass(frozen=True, eq=False)
class _Query:
    """A question that has passed the door."""

    model: Model
    points: Tensor
    ids: Tensor
    targets: Tensor | None
    rival: Tensor | None
    norm: Norm
    subspace: Subspace | None
    plan: Plan

    def measure(self, rows: slice) -> BoundaryPoints:
        """The answer for some rows, on the model's device."""
        device = device_of(self.model, self.points)
        start, ids = self.points[rows].detach().to(device, copy=True), self.ids[rows].to(device)
        logits, opening = self._first_pass(start)
        problem = replace(self._problem(rows, start, ids, logits), opening=opening)
        problem.tally.forwards.add_(1)
        best, gap = attempt(problem, self.plan, ids, problem.margin.of(logits))
        return answer(problem, best, gap, logits, ids)

    def _first_pass(self, start: Tensor) -> tuple[Tensor, list[Seen]]:
        first = self.plan.methods[0]
        if first.pairs_first and first.difference is None:
            seen = Seen.at(self.model, start)
            return seen.logits.detach(), [seen]
        with torch.no_grad():
            return logits_of(self.model, start.clone()), []

    def _problem(self, rows: slice, start: Tensor, ids: Tensor, logits: Tensor) -> Problem:
        subspace = self.subspace
        if subspace is not None:
            subspace = subspace.batch(rows).realise(ids, like=start)
        margin = self._margin(rows, logits.argmax(1))
        return Problem(
            margin=margin,
            start=start,
            norm=self.norm,
            subspace=subspace,
            hair=rounding(logits, margin),
            tally=Tally.zeros(len(start), start.device),
            rows=torch.arange(len(start), device=start.device),
            difference=self.plan.methods[0].difference,
        )

    def _margin(self, rows: slice, own: Tensor) -> Margin:
        if self.targets is not None:
            return Margin(self.model, rival=self.targets[rows].to(own.device))
        return Margin(self.model, own, None if self.rival is None else self.rival[rows].to(own.device))

    def require_others(self, batch_size: int | None) -> None:
        """Refuse classes to enter that are the model's own answers: before anything is measured, so nothing is lost."""
        for name, classes in (("targets", self.targets), ("rival", self.rival)):
            if classes is not None:
                clash = sum(int((self._own(rows) == classes[rows]).sum()) for rows in slices(len(classes), batch_size))
                require(clash == 0, name, "differ from the model's own answer", f"the same class for {clash} points")

    def _own(self, rows: slice) -> Tensor:
        with torch.no_grad():
            logits = logits_of(self.model, self.points[rows].detach().to(device_of(self.model, self.points), copy=True))
        return logits.argmax(1).to(self.points.device)


def _methods(method: object) -> tuple[AbstractSearch, ...]:
    require(isinstance(method, (AbstractSearch, Best)), "method", "be a search such as `DeepFool()`", described(method))
    assert isinstance(method, (AbstractSearch, Best))
    return method.methods if isinstance(method, Best) else (method,)


def _require_settings(
    methods: tuple[AbstractSearch, ...],
    norm: object,
    subspace: object,
    targets: object,
    rival: object,
    refine: object,
) -> None:
    require(isinstance(norm, Norm), "norm", "be a Norm: `L2`, `Linf` or `Norm(p)`", described(norm))
    for part in methods:
        known = part.norms is None or norm in part.norms
        require(known, "norm", f"be {', '.join(map(str, part.norms or ()))} for `{type(part).__name__}`", norm)
    require(refine is None or isinstance(refine, Slide), "refine", "be `Slide(…)` or None", described(refine))
    require(
        subspace is None or isinstance(subspace, Subspace), "subspace", "be a Subspace or None", described(subspace)
    )
    confined = subspace is not None and norm != L2
    require(not confined, "subspace", "go with ℓ2 only", norm, "The steepest step of another norm leaves the subspace.")
    blind = subspace is None and any(part.difference is not None for part in methods)
    require(not blind, "subspace", "be given for gradients by finite differences", None)
    both = targets is not None and rival is not None
    require(not both, "rival", "not be given together with `targets`", "both")


def _fitting(subspace: Subspace | None, points: Tensor) -> Subspace | None:
    if subspace is not None:
        shape = tuple(points.shape[1:])
        require(subspace.shape == shape, "subspace", f"have the points' shape {shape}", f"shape {subspace.shape}")
        fits = subspace.samples in (None, 0, len(points))
        require(fits, "subspace", f"hold one subspace for each of the {len(points)} points", subspace.samples)
    return subspace
