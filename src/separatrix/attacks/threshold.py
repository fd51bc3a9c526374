"""How strong must an attack be to fool most of the points?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from separatrix.attacks.base import AbstractAttack, Box
from separatrix.attacks.bounded import Request
from separatrix.attacks.gradient import FGSM
from separatrix.checks import require, require_positive
from separatrix.classifier import Model
from separatrix.norms import Linf, Norm
from separatrix.precision import full_precision

_OCTAVES = 10  # the scan begins at the limit over 2^10
_ROUNDING = 1e-9  # of shares


@dataclass(frozen=True, eq=False, repr=False)
class SmallestRadius:
    """The least radius met at which an attack fools enough of the points, and the share curve it was read from.

    It belongs to the attack: a stronger one needs less.

    Attributes:
        radius: Least radius met that fools the share asked for; infinite where none up to the limit does.
        share: Share fooled at that radius; the greatest share met where no radius was found.
        aim: Share asked for.
        bracket: Greatest radius below that was seen to fool too few, and ``radius``.
        radii: Radii tried, in ascending order ``(k,)``.
        shares: Share of the points fooled at each ``(k,)``.
        count: Points asked about.
        norm: The norm the radii are in.
    """

    radius: float
    share: float
    aim: float
    bracket: tuple[float, float]
    radii: Tensor
    shares: Tensor
    count: int
    norm: Norm

    @property
    def found(self) -> bool:
        """Whether any radius up to the limit fools enough points."""
        return self.radius < math.inf

    @property
    def evaluations(self) -> int:
        """How many radii were tried, each an attack on all the points."""
        return len(self.radii)

    @property
    def falls(self) -> float:
        """The most by which the share falls from a radius to a larger one tried: 0 where it only rises."""
        return float((self.shares.cummax(0).values - self.shares).max())

    def __repr__(self) -> str:
        tried = f"of {self.count} points; {self.evaluations} radii tried up to {float(self.radii.max()):.3g}"
        if not self.found:
            return f"SmallestRadius: none fools {self.aim:.0%} {tried}, {self.share:.1%} at most ({self.norm})"
        return f"SmallestRadius: {self.radius:.4g} ({self.norm}) fools {self.share:.1%} {tried}"


def smallest_radius(
    model: Model,
    points: Tensor,
    labels: Tensor | None = None,
    *,
    share: float = 0.9,
    method: AbstractAttack = FGSM(),
    norm: Norm = Linf,
    box: Box | None = None,
    limit: float | None = None,
    factor: float = 2.0,
    tolerance: float = 1e-3,
    batch_size: int | None = None,
    seed: int = 0,
    ids: Tensor | None = None,
) -> SmallestRadius:
    """The smallest radius at which ``method`` fools at least ``share`` of the points.

    Radii are scanned upward, each ``factor`` times the last, until one fools enough; that step is then bisected. The
    share fooled need not grow with the radius (FGSM overshoots), so that this is the first rise through ``share``
    that the scan can see: a rise and fall between two radii of the scan is missed. A factor nearer to 1 scans finer.

    Args:
        model: Maps inputs ``(n, *shape)`` to logits ``(n, c)``; in eval mode. It comes back as it was.
        points: Inputs ``(n, *shape)``.
        labels: Classes to get away from ``(n,)``; None is the model's own answers, so that no point is fooled at first.
        share: Of the points to be fooled, in (0, 1].
        method: ``FGSM``, ``BIM``, ``PGD``, ``SPSA`` or ``AutoAttack``.
        norm: What length means.
        box: Least and greatest value of an input, as for ``perturb``.
        limit: Largest radius tried; None is the box's diameter, or without a box four times the longest point.
        factor: Between neighbours of the scan, above 1. It begins at limit/1024, and below if need be.
        tolerance: Relative width of the last bracket.
        batch_size: Points perturbed at once; None is all.
        seed: Of random starts and random signs.
        ids: Whole numbers that name the points; 0 … n − 1 if not given.
    """
    require_share(share)
    require_positive(tolerance, "tolerance")
    require(isinstance(factor, (int, float)) and 1 < factor < math.inf, "factor", "be a number above 1", repr(factor))
    if limit is not None:
        require_positive(limit, "limit")
    with full_precision():
        request = Request.checked(model, points, labels, method, norm, box, None, batch_size, seed, ids)
        curve = _Curve(request, share, {})
        low, high = curve.bracket(_limit(request) if limit is None else float(limit), factor)
        return _answer(curve, curve.bisect(low, high, tolerance))


def require_share(share: float) -> None:
    """Refuse what is not a share of the points that can be reached."""
    real = isinstance(share, (int, float)) and not isinstance(share, bool)
    require(real and 0 < share <= 1, "share", "be above 0 and at most 1", repr(share))


@dataclass(frozen=True, eq=False)
class _Curve:
    """The share fooled as a function of the radius; each radius is asked once."""

    request: Request
    aim: float
    shares: dict[float, float]

    def reaches(self, radius: float) -> bool:
        if radius not in self.shares:
            self.shares[radius] = self.request.of_radius(radius).answer().share_fooled
        return self.shares[radius] >= self.aim - _ROUNDING

    def bracket(self, limit: float, factor: float) -> tuple[float, float]:
        """Neighbouring radii of the scan, the first too small and the second not."""
        if self.reaches(0.0):
            return 0.0, 0.0
        radius = limit / 2**_OCTAVES
        if self.reaches(radius):
            return self._downward(radius, factor)
        while radius < limit:
            below, radius = radius, min(radius * factor, limit)
            if self.reaches(radius):
                return below, radius
        return limit, math.inf

    def bisect(self, low: float, high: float, tolerance: float) -> tuple[float, float]:
        """A narrower bracket, its ends apart by the tolerance as a share of the upper one."""
        while 0 < low < high < math.inf and high - low > tolerance * high:
            middle = (low + high) / 2
            low, high = (low, middle) if self.reaches(middle) else (middle, high)
        return low, high

    def _downward(self, radius: float, factor: float) -> tuple[float, float]:
        while self.reaches(radius / factor) and radius / factor > 0:
            radius = radius / factor
        return radius / factor, radius


def _limit(request: Request) -> float:
    """The largest radius worth trying: across the box, or four times the longest point where there is none."""
    side = request.box[1] - request.box[0]
    if side < math.inf:
        return float(request.norm.length(torch.full_like(request.points[:1], side)))
    longest = float(request.norm.length(request.points).max())
    return 4 * longest if longest > 0 else 1.0


def _answer(curve: _Curve, bracket: tuple[float, float]) -> SmallestRadius:
    radii = sorted(curve.shares)
    shares = [curve.shares[radius] for radius in radii]
    return SmallestRadius(
        radius=bracket[1],
        share=curve.shares.get(bracket[1], max(shares)),
        aim=curve.aim,
        bracket=bracket,
        radii=torch.tensor(radii, dtype=torch.float64),
        shares=torch.tensor(shares, dtype=torch.float64),
        count=len(curve.request.points),
        norm=curve.request.norm,
    )
