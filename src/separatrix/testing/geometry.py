"""Classifiers whose boundary is known exactly: how far it is, which way it faces and how it bends.

They take inputs ``(n, *shape)`` of any shape, precision and device. Geometry is computed in float64 and returned in
the precision of the points. Normals leave the region the model puts the point in; curvature is positive where that
region is locally convex. At points with several nearest boundary points, such as a centre, one of them is chosen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from separatrix.checks import require
from separatrix.norms import L2, Norm, per_sample
from separatrix.testing.polytopes import shortest_step
from separatrix.testing.quadratics import shortest_descent


@dataclass(frozen=True, eq=False)
class Affine:
    """Logits ``W x + b``: every boundary is a hyperplane and every region a convex polytope.

    Args:
        weight: One row a class ``(c, d)``.
        bias: One number a class ``(c,)``.
    """

    weight: Tensor
    bias: Tensor

    @classmethod
    def random(
        cls, classes: int, dimension: int, *, generator: torch.Generator, dtype: torch.dtype = torch.float64
    ) -> Affine:
        """Gaussian weights and biases."""
        draw = torch.randn(classes, dimension + 1, generator=generator, device=generator.device, dtype=dtype)
        return cls(draw[:, 1:] / math.sqrt(dimension), draw[:, 0])

    def __call__(self, points: Tensor) -> Tensor:
        return points.flatten(1) @ self.weight.to(points).T + self.bias.to(points)

    def label(self, points: Tensor) -> Tensor:
        """The model's answer ``(n,)``."""
        return self(points).argmax(1)

    def distance(self, points: Tensor, norm: Norm = L2, basis: Tensor | None = None) -> Tensor:
        """Length ``(n,)`` of the shortest step that changes the answer.

        Args:
            points: Inputs ``(n, *shape)``.
            norm: What length means.
            basis: Orthonormal rows ``(m, d)`` that the step must be a combination of, ℓ2 only; ``inf`` where no
                such step changes the answer.
        """
        return self._to_rivals(points, norm, basis).amin(1).to(points.dtype)

    def pair_distance(
        self, points: Tensor, own: Tensor, rival: Tensor, norm: Norm = L2, basis: Tensor | None = None
    ) -> Tensor:
        """Length ``(n,)`` of the shortest step that lifts ``rival`` to ``own``, whatever the other classes answer."""
        logits, slopes = self(_flat(points)), self._slopes(_flat(points), norm, basis)
        gaps = logits.gather(1, own[:, None]) - logits.gather(1, rival[:, None])
        return _quotient(gaps.clamp_min(0)[:, 0], slopes[own, rival]).to(points.dtype)

    def region_distance(self, points: Tensor, targets: Tensor) -> Tensor:
        """ℓ2 length ``(n,)`` of the shortest step into the region of each point's target; ``inf`` if it is empty."""
        logits, weight = self(_flat(points)), self.weight.double()
        lengths = [self._step_length(row, weight, int(target)) for row, target in zip(logits, targets, strict=True)]
        return torch.tensor(lengths, dtype=points.dtype, device=points.device)

    def foot(self, points: Tensor) -> Tensor:
        """The nearest boundary point in ℓ2 ``(n, *shape)``."""
        return points + per_sample(self.distance(points), points) * self.normal(points)

    def normal(self, points: Tensor) -> Tensor:
        """Unit outward normal of the nearest face ``(n, *shape)``."""
        rival = self._to_rivals(points, L2, None).argmin(1)
        weight = self.weight.to(points.device, torch.float64)
        return _like(_unit(weight[rival] - weight[self.label(points)]), points)

    def principal_curvatures(self, points: Tensor) -> Tensor:
        """Zero ``(n, d − 1)``."""
        return points.new_zeros(len(points), self.weight.shape[1] - 1)

    def _to_rivals(self, points: Tensor, norm: Norm, basis: Tensor | None) -> Tensor:
        """Distance to each rival's half-space ``(n, c)``; ``inf`` for the own class."""
        own, flat = self.label(points)[:, None], _flat(points)
        logits = self(flat)
        gaps = (logits.gather(1, own) - logits).clamp_min(0)
        reach = _quotient(gaps, self._slopes(flat, norm, basis)[own[:, 0]])
        return reach.scatter(1, own, torch.inf)

    def _slopes(self, flat: Tensor, norm: Norm, basis: Tensor | None) -> Tensor:
        """Dual length of ``w_i − w_j`` for every pair of classes ``(c, c)``; zero where rounding alone is left."""
        weight = self.weight.to(flat)
        if basis is None:
            return _pairwise_lengths(weight, norm)
        require(norm.p == 2, "norm", "be L2 within a subspace", norm)
        within, noise = _pairwise_lengths(weight @ basis.to(flat).T, L2), 100 * torch.finfo(basis.dtype).eps
        return within.where(within > noise * _pairwise_lengths(weight, L2), 0)

    def _step_length(self, logits: Tensor, weight: Tensor, target: int) -> float:
        step = shortest_step((weight[target] - weight).cpu().numpy(), (logits - logits[target]).cpu().numpy())
        return math.inf if step is None else math.hypot(*step)


@dataclass(frozen=True, eq=False)
class Ball:
    """Answers one class inside a ball and another outside; the gap in logits is ``radius² − ‖x − centre‖²``.

    Args:
        radius: Of the ball.
        centre: Of the ball ``(d,)``; the origin by default.
        inside: The class inside, 0 or 1.
    """

    radius: float
    centre: Tensor | None = None
    inside: int = 0

    def __call__(self, points: Tensor) -> Tensor:
        depth = self.radius**2 - self._offset(points.flatten(1)).square().sum(1)
        pair = (depth, torch.zeros_like(depth))
        return torch.stack(pair if self.inside == 0 else pair[::-1], dim=1)

    def label(self, points: Tensor) -> Tensor:
        """The model's answer ``(n,)``."""
        return self(points).argmax(1)

    def distance(self, points: Tensor, norm: Norm = L2) -> Tensor:
        """Length ``(n,)`` of the shortest step to the sphere, in ℓ2 or ℓ∞."""
        require(norm.p in (2, math.inf), "norm", "be L2 or Linf", norm)
        offset = self._offset(_flat(points))
        length = _length(offset)
        if norm.p == 2:
            return (self.radius - length).abs().to(points.dtype)
        steps = _cube_exit(offset, self.radius), _cube_entry(offset, self.radius)
        return torch.where(length < self.radius, *steps).to(points.dtype)

    def foot(self, points: Tensor) -> Tensor:
        """The nearest point of the sphere in ℓ2 ``(n, *shape)``."""
        flat = _flat(points)
        offset = self._offset(flat)
        return _like(flat - offset + self.radius * _unit(offset), points)

    def normal(self, points: Tensor) -> Tensor:
        """Unit normal of the sphere, out of each point's own region ``(n, *shape)``."""
        return self.normal_at(self.foot(points), self.label(points))

    def principal_curvatures(self, points: Tensor) -> Tensor:
        """``+1/R`` from inside, ``−1/R`` from outside ``(n, d − 1)``."""
        return self.principal_curvatures_at(points, self.label(points))

    def normal_at(self, boundary: Tensor, own: Tensor) -> Tensor:
        """Unit normal at boundary points, out of the region of ``own`` ``(n, *shape)``."""
        return _like(_unit(self._offset(_flat(boundary))) * self._side(own)[:, None], boundary)

    def principal_curvatures_at(self, boundary: Tensor, own: Tensor) -> Tensor:
        """Curvatures at boundary points, seen from the region of ``own`` ``(n, d − 1)``."""
        bends = self._side(own) / self.radius
        return bends[:, None].expand(-1, boundary.flatten(1).shape[1] - 1).to(boundary.dtype)

    def _offset(self, flat: Tensor) -> Tensor:
        return flat if self.centre is None else flat - self.centre.to(flat).flatten()

    def _side(self, own: Tensor) -> Tensor:
        return 1.0 - 2.0 * (own != self.inside).double()


@dataclass(frozen=True, eq=False)
class Quadric:
    """Logits ``(0, F)`` with ``F(x) = ½ xᵀAx + bᵀx + c``: ellipsoids, hyperboloids, paraboloids, saddles.

    Args:
        matrix: A ``(d, d)``; its symmetric part counts.
        vector: b ``(d,)``.
        constant: c.
    """

    matrix: Tensor
    vector: Tensor
    constant: float = 0.0

    def __call__(self, points: Tensor) -> Tensor:
        value = self._value(points.flatten(1))
        return torch.stack([torch.zeros_like(value), value], dim=1)

    def label(self, points: Tensor) -> Tensor:
        """The model's answer ``(n,)``."""
        return self(points).argmax(1)

    def distance(self, points: Tensor) -> Tensor:
        """ℓ2 length ``(n,)`` of the shortest step to ``F = 0``; ``inf`` where F has one sign."""
        return _length(self._step(_flat(points))).nan_to_num(nan=torch.inf).to(points.dtype)

    def foot(self, points: Tensor) -> Tensor:
        """The nearest point of ``F = 0`` in ℓ2 ``(n, *shape)``; NaN where there is none."""
        flat = _flat(points)
        return _like(flat + self._step(flat), points)

    def normal(self, points: Tensor) -> Tensor:
        """Unit normal at the foot, out of each point's own region ``(n, *shape)``."""
        return self.normal_at(self.foot(points), self.label(points))

    def principal_curvatures(self, points: Tensor) -> Tensor:
        """Curvatures at the foot, seen from each point's own region, in ascending order ``(n, d − 1)``."""
        return self.principal_curvatures_at(self.foot(points), self.label(points))

    def normal_at(self, boundary: Tensor, own: Tensor) -> Tensor:
        """Unit normal at boundary points, out of the region of ``own`` ``(n, *shape)``."""
        return _like(_unit(self._gradient(_flat(boundary))) * _sign(own == 0)[:, None], boundary)

    def principal_curvatures_at(self, boundary: Tensor, own: Tensor) -> Tensor:
        """Eigenvalues of ``±A`` on the tangent space over ``‖∇F‖``, in ascending order ``(n, d − 1)``."""
        gradient = self._gradient(_flat(boundary))
        tangent = torch.linalg.qr(gradient[:, :, None], mode="complete").Q[:, :, 1:]
        bends = tangent.mT @ self._hessian(gradient) @ tangent * _sign(own == 0)[:, None, None]
        eigenvalues: Tensor = torch.linalg.eigvalsh(bends)
        return (eigenvalues / _length(gradient)[:, None]).to(boundary.dtype)

    def _value(self, flat: Tensor) -> Tensor:
        matrix, vector = self.matrix.to(flat), self.vector.to(flat)
        return ((flat @ matrix) * flat).sum(1) / 2 + flat @ vector + self.constant

    def _hessian(self, like: Tensor) -> Tensor:
        return (self.matrix + self.matrix.mT).to(like) / 2

    def _gradient(self, flat: Tensor) -> Tensor:
        return flat @ self._hessian(flat) + self.vector.to(flat)

    def _step(self, flat: Tensor) -> Tensor:
        axes: Tensor
        bends, axes = torch.linalg.eigh(self._hessian(flat))
        largest = bends.abs().amax()
        bends = bends.where(bends.abs() > 1e-13 * largest, 0)
        slopes = self._gradient(flat) @ axes
        noise = 1e-14 * (largest * _length(flat) + _length(self.vector.to(flat)))
        slopes = slopes.where(slopes.abs() > noise[:, None], 0)
        value = self._value(flat)
        side = _sign(value > 0)[:, None]
        return shortest_descent(value.abs(), side * slopes, side * bends) @ axes.T


@dataclass(frozen=True, eq=False)
class TwoBalls:
    """Answers 0 inside the union of two balls, apart or overlapping, and 1 outside, in two dimensions or more.

    Overlapping spheres meet in a crease, which is where the shortest way out may lead; curvature is NaN there.

    Args:
        centre_a: Of the first ball ``(d,)``.
        radius_a: Of the first ball.
        centre_b: Of the second ball ``(d,)``.
        radius_b: Of the second ball.
    """

    centre_a: Tensor
    radius_a: float
    centre_b: Tensor
    radius_b: float

    def __call__(self, points: Tensor) -> Tensor:
        flat = points.flatten(1)
        depth_a = self.radius_a**2 - (flat - self.centre_a.to(flat)).square().sum(1)
        depth_b = self.radius_b**2 - (flat - self.centre_b.to(flat)).square().sum(1)
        depth = torch.maximum(depth_a, depth_b)
        return torch.stack([depth, torch.zeros_like(depth)], dim=1)

    def label(self, points: Tensor) -> Tensor:
        """The model's answer ``(n,)``."""
        return self(points).argmax(1)

    def distance(self, points: Tensor) -> Tensor:
        """ℓ2 length ``(n,)`` of the shortest step to the surface of the union."""
        return self._nearest(points)[1].to(points.dtype)

    def foot(self, points: Tensor) -> Tensor:
        """The nearest point of the surface in ℓ2 ``(n, *shape)``."""
        return _like(self._nearest(points)[0], points)

    def normal(self, points: Tensor) -> Tensor:
        """Unit normal at the foot, out of each point's own region; at the crease the direction of the way out."""
        foot, _, piece = self._nearest(points)
        a, b = self.centre_a.to(foot), self.centre_b.to(foot)
        side = _sign(self.label(points) == 0)[:, None]
        outward = torch.stack([side * (foot - a), side * (foot - b), foot - _flat(points)])
        return _like(_unit(outward[piece, torch.arange(len(foot), device=foot.device)]), points)

    def principal_curvatures(self, points: Tensor) -> Tensor:
        """``±1/R`` of the sphere the foot lies on, + from inside; NaN at the crease ``(n, d − 1)``."""
        foot, _, piece = self._nearest(points)
        bends = foot.new_tensor([1 / self.radius_a, 1 / self.radius_b, math.nan])[piece]
        signed = bends * _sign(self.label(points) == 0)
        return signed[:, None].expand(-1, foot.shape[1] - 1).to(points.dtype)

    def _nearest(self, points: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Foot, distance and the piece it lies on: 0 first sphere, 1 second sphere, 2 crease."""
        flat = _flat(points)
        require(flat.shape[1] >= 2, "points", "have two dimensions or more", flat.shape[1])
        feet = torch.stack([self._on_a(flat), self._on_b(flat), self._on_crease(flat)])
        lengths = _length(feet - flat)
        lengths[0].masked_fill_(self._within(feet[0], self.centre_b, self.radius_b), torch.inf)
        lengths[1].masked_fill_(self._within(feet[1], self.centre_a, self.radius_a), torch.inf)
        distance, piece = lengths.nan_to_num(nan=torch.inf).min(0)
        return feet[piece, torch.arange(len(flat), device=flat.device)], distance, piece

    def _on_a(self, flat: Tensor) -> Tensor:
        a, b = self.centre_a.to(flat), self.centre_b.to(flat)
        return a + self.radius_a * _unit(flat - a, otherwise=_unit((a - b)[None]))

    def _on_b(self, flat: Tensor) -> Tensor:
        a, b = self.centre_a.to(flat), self.centre_b.to(flat)
        return b + self.radius_b * _unit(flat - b, otherwise=_unit((b - a)[None]))

    def _on_crease(self, flat: Tensor) -> Tensor:
        """Nearest point of the spheres' intersection; NaN if they do not meet."""
        a, b = self.centre_a.to(flat), self.centre_b.to(flat)
        axis = _unit((b - a)[None])
        gap = _length(b - a)
        along = (gap**2 + self.radius_a**2 - self.radius_b**2) / (2 * gap)
        middle = a + along * axis
        across = (flat - middle) - ((flat - middle) @ axis.T) * axis
        return middle + (self.radius_a**2 - along**2).sqrt() * _unit(across, otherwise=_perpendicular(axis))

    @staticmethod
    def _within(feet: Tensor, centre: Tensor, radius: float) -> Tensor:
        return _length(feet - centre.to(feet)) < radius * (1 - 1e-12)


def _flat(points: Tensor) -> Tensor:
    return points.flatten(1).double()


def _like(flat: Tensor, points: Tensor) -> Tensor:
    return flat.reshape(points.shape).to(points.dtype)


def _sign(positive: Tensor) -> Tensor:
    return 2.0 * positive.double() - 1.0


def _length(vectors: Tensor) -> Tensor:
    lengths: Tensor = torch.linalg.vector_norm(vectors, dim=-1)
    return lengths


def _unit(vectors: Tensor, otherwise: Tensor | None = None) -> Tensor:
    """Vectors ``(n, d)`` of length one; ``otherwise``, by default the first axis, in place of zero."""
    length = _length(vectors)[:, None]
    if otherwise is None:
        otherwise = torch.eye(1, vectors.shape[1], dtype=vectors.dtype, device=vectors.device)
    return torch.where(length > 0, vectors / length.where(length > 0, 1), otherwise)


def _perpendicular(axis: Tensor) -> Tensor:
    other = torch.zeros_like(axis)
    other[0, axis[0].abs().argmin()] = 1.0
    return _unit(other - (other @ axis.T) * axis)


def _quotient(gaps: Tensor, slopes: Tensor) -> Tensor:
    """``gaps / slopes``, where a flat slope never closes a gap and closes none at once."""
    flat = torch.where(gaps > 0, torch.inf, 0.0).to(gaps)
    return torch.where(slopes > 0, gaps / slopes.where(slopes > 0, 1), flat)


def _pairwise_lengths(weight: Tensor, norm: Norm) -> Tensor:
    return torch.stack([norm.dual_length(weight - row) for row in weight])


def _cube_exit(offset: Tensor, radius: float) -> Tensor:
    """Half the side of the least cube around ``offset`` with a corner on the sphere."""
    total, missing = offset.abs().sum(1), radius**2 - offset.square().sum(1)
    return missing / (total + (total**2 + offset.shape[1] * missing).clamp_min(0).sqrt())


def _cube_entry(offset: Tensor, radius: float) -> Tensor:
    """Half the side of the least cube around ``offset`` that touches the ball: ``Σ max(|x_i| − t, 0)² = R²``."""
    sizes = offset.abs().sort(dim=1, descending=True).values
    counts = torch.arange(1, sizes.shape[1] + 1, dtype=sizes.dtype, device=sizes.device)
    sums, squares = sizes.cumsum(1), sizes.square().cumsum(1)
    left = squares - 2 * sizes * sums + counts * sizes**2
    active = (left < radius**2).sum(1, keepdim=True)
    total, square = sums.gather(1, active - 1)[:, 0], squares.gather(1, active - 1)[:, 0]
    excess = square - radius**2
    return excess / (total + (total**2 - active[:, 0] * excess).clamp_min(0).sqrt())
