"""What share of the samples withstands perturbations of each radius?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from separatrix.attacks.base import AbstractAttack, Box
from separatrix.attacks.bounded import Request
from separatrix.attacks.gradient import PGD
from separatrix.boundary import BoundaryPoints
from separatrix.checks import require, require_batch
from separatrix.classifier import Model
from separatrix.norms import Linf, Norm
from separatrix.precision import full_precision
from separatrix.statistics import Interval, wilson


@dataclass(frozen=True, eq=False, repr=False)
class RobustnessCurve:
    """Which samples are answered correctly and stay so within each radius: an upper bound on robust accuracy.

    A sample stands where nothing was found that fools the model; a stronger attack may still find something.

    Attributes:
        radii: In ascending order ``(k,)``.
        stands: Whether each sample is answered correctly and was fooled neither at that radius nor at a smaller one of
            the curve ``(n, k)``: what fools within a radius lies within all larger ones.
        raw_stands: The same, each radius by itself ``(n, k)``: an attack may fail at a larger radius.
        correct: Whether each sample is answered correctly as it is ``(n,)``.
        forwards: Evaluations of the model ``(n,)``.
        gradients: Gradients taken ``(n,)``.
        ids: Numbers that name the samples ``(n,)``.
        norm: The norm the radii are in.
        confidence: Coverage the intervals aim at.
    """

    radii: Tensor
    stands: Tensor
    raw_stands: Tensor
    correct: Tensor
    forwards: Tensor
    gradients: Tensor
    ids: Tensor
    norm: Norm
    confidence: float = 0.95

    @property
    def accuracy(self) -> Tensor:
        """Share of all samples that stand at each radius ``(k,)``; it never rises."""
        return self.stands.double().mean(0)

    @property
    def raw_accuracy(self) -> Tensor:
        """The same, each radius by itself ``(k,)``: where it is higher, the attack failed at the larger radius."""
        return self.raw_stands.double().mean(0)

    @property
    def clean_accuracy(self) -> float:
        """Share of the samples answered correctly as they are: the curve at radius 0."""
        return float(self.correct.double().mean())

    @property
    def intervals(self) -> tuple[Interval, ...]:
        """Wilson intervals of the accuracies, one a radius: uncertainty from the choice of samples alone."""
        return tuple(wilson(int(hits), len(self), self.confidence) for hits in self.stands.sum(0))

    def __len__(self) -> int:
        return len(self.stands)

    def __repr__(self) -> str:
        return f"RobustnessCurve: {len(self)} samples, {self.clean_accuracy:.1%} correct, {self._ends()} ({self.norm})"

    def __str__(self) -> str:
        title = f"Share of {len(self)} samples correct and not fooled, in {self.norm}: upper bounds"
        lines = [f"clean      {self.clean_accuracy:.1%}"]
        for radius, share, (low, high) in zip(self.radii, self.accuracy, self.intervals, strict=True):
            lines.append(f"{float(radius):<10.4g} {float(share):.1%} ({100 * low:.1f}–{100 * high:.1f} %)")
        return "\n  ".join([title, *lines])

    def _ends(self) -> str:
        return f"{float(self.accuracy[-1]):.1%} within {float(self.radii[-1]):.3g}"


def robust_accuracy(
    model: Model,
    points: Tensor,
    labels: Tensor,
    radii: Sequence[float] | Tensor,
    *,
    method: AbstractAttack = PGD(steps=20),
    norm: Norm = Linf,
    box: Box | None = None,
    confidence: float = 0.95,
    batch_size: int | None = None,
    seed: int = 0,
    ids: Tensor | None = None,
) -> RobustnessCurve:
    """Share of the samples that are classified correctly and stay so under ``method``, at each radius.

    An upper bound on the accuracy under every perturbation of that length. Samples that are misclassified as they are
    never stand, and are not attacked. One fooled at a radius counts as fooled at every larger one of the curve.

    Args:
        model: Maps inputs ``(n, *shape)`` to logits ``(n, c)``; in eval mode. It comes back as it was.
        points: Inputs ``(n, *shape)``.
        labels: True labels ``(n,)``.
        radii: Lengths allowed, in ascending order; at 0 the clean accuracy is met.
        method: ``FGSM``, ``BIM``, ``PGD``, ``SPSA`` or ``AutoAttack``.
        norm: What length means.
        box: Least and greatest value of an input, as for ``perturb``.
        confidence: Coverage of the intervals, in (0, 1).
        batch_size: Points perturbed at once; None is all.
        seed: Of random starts and random signs.
        ids: Whole numbers that name the points; 0 … n − 1 if not given.
    """
    _require_confidence(confidence)
    lengths = _radii(radii)
    require(labels is not None, "labels", "be the true labels (n,)", None)
    with full_precision():
        request = Request.checked(model, points, labels, method, norm, box, None, batch_size, seed, ids)
        return _measured(request, request.own() == labels.to(request.ids), lengths, confidence)


def standing(
    boundary: BoundaryPoints, labels: Tensor, radii: Sequence[float] | Tensor, *, confidence: float = 0.95
) -> RobustnessCurve:
    """Share of the samples that are classified correctly and whose boundary was met no nearer than each radius.

    From minimal distances instead of attacks ("DeepFool accuracy"), with no further work for further radii. Distances
    are upper bounds, so this is an upper bound on robust accuracy; a sample whose boundary was not met stands. No box
    was imposed. With ``minimal_perturbation(…, refine=None)`` the lengths are those of the search alone, as published.

    Args:
        boundary: Distances from the points, in the norm the radii are in.
        labels: True labels ``(n,)``.
        radii: Lengths, in ascending order.
        confidence: Coverage of the intervals, in (0, 1).
    """
    require(isinstance(boundary, BoundaryPoints), "boundary", "be BoundaryPoints", type(boundary).__name__)
    require(len(boundary) > 0, "boundary", "hold at least one sample", "none")
    require_batch(labels, "labels", len(boundary), integer=True)
    _require_confidence(confidence)
    lengths, correct = _radii(radii), boundary.own == labels.to(boundary.own.device)
    farther = boundary.distance[:, None] > lengths.to(boundary.distance)
    stands = correct[:, None] & farther
    counts = (boundary.forwards, boundary.gradients, boundary.ids)
    return RobustnessCurve(lengths, stands, stands, correct, *counts, boundary.norm, confidence)


def _measured(request: Request, correct: Tensor, radii: Tensor, confidence: float) -> RobustnessCurve:
    kept = correct.nonzero()[:, 0]
    attacked = request[kept]
    forwards, gradients = torch.ones_like(request.ids), torch.zeros_like(request.ids)
    raw = correct[:, None].repeat(1, len(radii))
    for column, radius in enumerate(radii.tolist()):
        if radius == 0 or len(kept) == 0:
            continue
        answer = attacked.of_radius(radius).answer()
        raw[kept, column] = ~answer.fooled
        forwards[kept] += answer.forwards
        gradients[kept] += answer.gradients
    stands = raw.cumprod(1).bool()
    return RobustnessCurve(radii, stands, raw, correct, forwards, gradients, request.ids, request.norm, confidence)


def _radii(radii: Sequence[float] | Tensor) -> Tensor:
    lengths = torch.as_tensor(radii, dtype=torch.float64, device="cpu")
    require(lengths.ndim == 1 and len(lengths) > 0, "radii", "be a row of numbers", f"shape {tuple(lengths.shape)}")
    sound = bool((lengths.isfinite() & (lengths >= 0)).all())
    require(sound, "radii", "be finite and ≥ 0", lengths.tolist())
    require(bool((lengths.diff() > 0).all()), "radii", "be in ascending order", lengths.tolist())
    return lengths


def _require_confidence(confidence: float) -> None:
    sound = isinstance(confidence, (int, float)) and 0 < confidence < 1
    require(sound, "confidence", "be a number between 0 and 1", repr(confidence))
