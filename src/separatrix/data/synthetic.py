"""Data whose discriminative features are known: how far a good boundary may be from them is known too.

Ortiz-Jimenez, Modas, Moosavi-Dezfooli and Frossard, "Hold me tight! Influence of discriminative features on deep
network boundaries" (2020).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from separatrix.checks import require, require_count, require_full_precision, require_positive
from separatrix.data.dataset import DataSet
from separatrix.randomness import normal, uniform

_STREAMS = {"train": 0, "test": 1}
_BASIS, _NOISE, _PLACE = 0, 1, 2
_CLASSES = ("negative", "positive")


@dataclass(frozen=True, eq=False)
class FeatureSet:
    """Points ``U x`` whose coordinates x are known.

    Attributes:
        data: The points and their labels: 0 where y = −1, 1 where y = +1.
        rotation: U ``(dim, dim)``, float64, a rotation; its columns are the features.
    """

    data: DataSet
    rotation: Tensor

    @property
    def u1(self) -> Tensor:
        """The direction ``(dim,)`` of the first coordinate, in the precision of the points."""
        return self._feature(0)

    @property
    def u2(self) -> Tensor:
        """The direction ``(dim,)`` of the second coordinate, in the precision of the points."""
        return self._feature(1)

    def coordinates(self, points: Tensor) -> Tensor:
        """x of the points U x ``(n, dim)``, in their precision."""
        return points @ self.rotation.to(points)

    def _feature(self, column: int) -> Tensor:
        return self.rotation[:, column].to(self.data.points)


def two_class(
    epsilon: float = 5.0,
    sigma: float = 1.0,
    *,
    dim: int = 100,
    samples: int = 10_000,
    split: str = "train",
    seed: int = 0,
    basis_seed: int = 0,
    dtype: torch.dtype = torch.float32,
) -> FeatureSet:
    """T1: two classes that differ along one direction alone, u1, and lie ``epsilon`` apart along it.

    x = U (x1 ⊕ x2) with x1 = (ε/2) y, x2 ~ N(0, σ² I). The boundary of the classifier that uses u1 alone is ε/2 from
    every point. Labels alternate, so that classes are balanced.

    Args:
        epsilon: Distance ε between the classes.
        sigma: Standard deviation σ of the directions that tell nothing.
        dim: Dimension of the points.
        samples: Their number; a sample of a smaller set is the same in a larger one.
        split: ``"train"`` or ``"test"``: other samples in the same basis.
        seed: Of the samples.
        basis_seed: Of U: sets with the same one have the same features.
        dtype: Of the points.
    """
    require_positive(epsilon, "epsilon")
    _require_common(sigma, dim, samples, split, seed, basis_seed, dtype)
    ids = torch.arange(samples)
    noise = normal(seed, ids, (dim - 1,), stream=_stream(_NOISE, split), dtype=torch.float64)
    coordinates = torch.cat([epsilon / 2 * _signs(ids), sigma * noise], dim=1)
    return _rotated(coordinates, ids, f"two-class/{split}", basis_seed, dtype)


def two_feature(
    rho: float = 20.0,
    epsilon: float = 1.0,
    sigma: float = 1.0,
    *,
    repeats: int = 3,
    dim: int = 100,
    samples: int = 10_000,
    split: str = "train",
    seed: int = 0,
    basis_seed: int = 0,
    dtype: torch.dtype = torch.float32,
) -> FeatureSet:
    """T2: two classes that a line separates narrowly along u1, and a wave separates widely along u2.

    x = U (x1 ⊕ x2 ⊕ x3) with x1 = (ε/2) y; x2 = ρ k where y = +1 and ρ (k + ½) where y = −1, k uniform on
    {−K, …, K − 1}; x3 ~ N(0, σ² I). The boundary of the classifier that uses u2 alone is ρ/4 from every point, that of
    the one that uses u1 alone ε/2. Labels alternate, so that classes are balanced.

    Args:
        rho: Period ρ of the classes along u2.
        epsilon: Distance ε between the classes along u1; 0 leaves u2 as the only feature.
        sigma: Standard deviation σ of the directions that tell nothing.
        repeats: K, half the number of places a class has along u2.
        dim: Dimension of the points.
        samples: Their number; a sample of a smaller set is the same in a larger one.
        split: ``"train"`` or ``"test"``: other samples in the same basis.
        seed: Of the samples.
        basis_seed: Of U: sets with the same one have the same features.
        dtype: Of the points.
    """
    require_positive(rho, "rho")
    _require_not_negative(epsilon, "epsilon")
    require_count(repeats, "repeats")
    _require_common(sigma, dim, samples, split, seed, basis_seed, dtype)
    ids = torch.arange(samples)
    signs = _signs(ids)
    place = uniform(seed, ids, (1,), stream=_stream(_PLACE, split)) * (2 * repeats)
    places = rho * (place.floor() - repeats + (1 - signs) / 4)
    noise = normal(seed, ids, (dim - 2,), stream=_stream(_NOISE, split), dtype=torch.float64)
    coordinates = torch.cat([epsilon / 2 * signs, places, sigma * noise], dim=1)
    return _rotated(coordinates, ids, f"two-feature/{split}", basis_seed, dtype)


def _rotated(coordinates: Tensor, ids: Tensor, name: str, basis_seed: int, dtype: torch.dtype) -> FeatureSet:
    rotation = _rotation(coordinates.shape[1], basis_seed)
    points = (coordinates @ rotation.T).to(dtype)
    return FeatureSet(DataSet(points, ids % 2, ids, _CLASSES, name), rotation)


def _rotation(dim: int, seed: int) -> Tensor:
    """Uniform among the rotations: a Gaussian's QR factor, signs undone, with determinant 1."""
    gaussian = normal(seed, torch.arange(dim), (dim,), stream=_BASIS, dtype=torch.float64)
    basis, triangle = torch.linalg.qr(gaussian)
    rotation: Tensor = basis * triangle.diagonal().sign()
    rotation[:, -1] *= torch.linalg.det(rotation).sign()
    return rotation


def _signs(ids: Tensor) -> Tensor:
    return (ids % 2 * 2.0 - 1).double()[:, None]


def _stream(purpose: int, split: str) -> int:
    return 2 * purpose + _STREAMS[split]


def _require_common(
    sigma: float, dim: int, samples: int, split: str, seed: int, basis_seed: int, dtype: torch.dtype
) -> None:
    _require_not_negative(sigma, "sigma")
    require_count(dim, "dim", 3)
    require_count(samples, "samples", 2)
    require(split in _STREAMS, "split", "be 'train' or 'test'", repr(split))
    require_count(seed, "seed", 0)
    require_count(basis_seed, "basis_seed", 0)
    require_full_precision(dtype, "dtype")


def _require_not_negative(number: float, name: str) -> None:
    real = isinstance(number, (int, float)) and not isinstance(number, bool)
    require(real and 0 <= number < float("inf"), name, "be a finite number ≥ 0", repr(number))
