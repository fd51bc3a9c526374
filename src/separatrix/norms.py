"""Norms: how long a perturbation is, and the shortest one that climbs a gradient."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from separatrix.checks import require


@dataclass(frozen=True)
class Norm:
    """The ℓp norm of a perturbation, p in (1, ∞], taken over all input dimensions of a sample.

    ``L2`` and ``Linf`` are ready-made; ``Norm(3)`` is ℓ3. The dual exponent q = p / (p − 1) measures gradients:
    a displacement of length ε raises a linear function of gradient g by at most ε ‖g‖_q.
    """

    p: float = 2.0

    def __post_init__(self) -> None:
        number = isinstance(self.p, (int, float)) and not isinstance(self.p, bool)
        rule = "be a number above 1, or math.inf"
        require(
            number and self.p > 1, "p", rule, repr(self.p), "At p = 1 the shortest step moves one coordinate alone."
        )

    def __str__(self) -> str:
        return "ℓ∞" if self.p == math.inf else f"ℓ{self.p:g}"

    @property
    def q(self) -> float:
        """Exponent of the dual norm."""
        return 1.0 if self.p == math.inf else self.p / (self.p - 1)

    def length(self, vectors: Tensor) -> Tensor:
        """‖v‖_p of each sample ``(n,)``."""
        return _length(vectors, self.p)

    def dual_length(self, gradients: Tensor) -> Tensor:
        """‖g‖_q of each sample ``(n,)``: the steepest slope over directions of unit ℓp length."""
        return _length(gradients, self.q)

    def steepest(self, gradients: Tensor) -> Tensor:
        """The direction of unit ℓp length that climbs fastest, ⟨g, s⟩ = ‖g‖_q; zero where the gradient is."""
        if self.p == math.inf:
            return gradients.sign()
        if self.p == 2:
            return gradients / per_sample(_nonzero(_length(gradients, 2)), gradients)
        largest = _length(gradients, math.inf)
        relative = gradients / per_sample(_nonzero(largest), gradients)
        raised = relative.sign() * relative.abs() ** (self.q - 1)
        return raised / per_sample(_nonzero(_length(raised, self.p)), raised)

    def project(self, vectors: Tensor, radius: float | Tensor) -> Tensor:
        """The nearest vectors, in ℓ2, of ℓp length at most ``radius`` (a number, or one a sample)."""
        limit = torch.as_tensor(radius, dtype=vectors.dtype, device=vectors.device).expand(len(vectors))
        if self.p == math.inf:
            bound = per_sample(limit, vectors)
            return vectors.clamp(-bound, bound)
        length = self.length(vectors)
        if self.p == 2:
            return vectors * per_sample((limit / _nonzero(length)).clamp(max=1), vectors)
        outside = per_sample(length > limit, vectors)
        return torch.where(outside, _project(vectors, limit, self.p), vectors)


def per_sample(values: Tensor, like: Tensor) -> Tensor:
    """One value a sample ``(n,)``, shaped to multiply ``like`` ``(n, *shape)``."""
    return values.reshape(-1, *[1] * (like.ndim - 1))


def _length(vectors: Tensor, p: float) -> Tensor:
    flat = vectors.flatten(1)
    if p in (1, 2, math.inf):
        length: Tensor = torch.linalg.vector_norm(flat, ord=p, dim=1)
        if p == 2 and not _squares_in_range(length):
            length = torch.linalg.vector_norm(flat, ord=p, dim=1, dtype=torch.float64)
        return length.to(vectors.dtype)
    largest = _length(vectors, math.inf)
    relative = flat / _nonzero(largest)[:, None]  # a power such as 0.1 ** 101 would round to zero
    scaled: Tensor = largest * torch.linalg.vector_norm(relative, ord=p, dim=1)
    return scaled


def _squares_in_range(lengths: Tensor) -> bool:
    """Whether squares of float32 cannot have left its range; not asked of a GPU, which would have to be waited for."""
    if lengths.dtype == torch.float64:
        return True
    return lengths.device.type == "cpu" and bool(((lengths > 1e-15) & (lengths < 1e15)).all())


def _nonzero(values: Tensor) -> Tensor:
    return torch.where(values > 0, values, torch.ones_like(values))


def _project(vectors: Tensor, radius: Tensor, p: float, halvings: int = 60) -> Tensor:
    """Euclidean projection on the ℓp sphere: |y_i| + λ p |y_i|^(p−1) = |x_i|, with λ > 0 found by bisection."""
    size = vectors.abs().flatten(1).double()
    scale = _nonzero(size.amax(1))
    size, limit = size / scale[:, None], radius.double() / scale
    widest = min(60 + 20 * p, 900.0)
    low, high = torch.full_like(limit, -widest), torch.full_like(limit, widest)  # log₂ λ
    for _ in range(halvings):
        middle = (low + high) / 2
        too_long = _length(_shrunk(size, middle.exp2(), p), p) > limit
        low, high = torch.where(too_long, middle, low), torch.where(too_long, high, middle)
    shrunk = _shrunk(size, high.exp2(), p)
    inside = shrunk * (limit / _nonzero(_length(shrunk, p))).clamp(max=1)[:, None] * scale[:, None]
    return (inside.reshape(vectors.shape) * vectors.sign()).to(vectors.dtype)


def _shrunk(size: Tensor, multiplier: Tensor, p: float, rounds: int = 60) -> Tensor:
    """The y in [0, size] with y + λ p y^(p−1) = size, coordinate by coordinate: Newton's method, kept in a bracket."""
    weight = multiplier[:, None] * p
    low, high = torch.zeros_like(size), torch.minimum(size, (size / weight) ** (1 / (p - 1)))
    guess = high
    for _ in range(rounds):
        power = weight * guess ** (p - 1)
        excess = guess + power - size
        if bool((excess.abs() <= 1e-15).all()):
            break
        low, high = torch.where(excess < 0, guess, low), torch.where(excess > 0, guess, high)
        newton = guess - excess / (1 + (p - 1) * power / _nonzero(guess))
        guess = torch.where((newton > low) & (newton < high), newton, (low + high) / 2)
    return guess


L2 = Norm(2.0)
Linf = Norm(math.inf)
