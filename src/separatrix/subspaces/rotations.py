"""The same subspaces in a random orthonormal basis: a control in which no frequency is meant."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from separatrix.checks import require
from separatrix.cosine import dct, idct
from separatrix.subspaces.base import Constant, Index, Subspace, require_same_shape, standard_normal

DENSE_SIDE = 4096


class Rotation(ABC):
    """An orthogonal map of image planes, the same in every channel; of whole inputs where they have one axis."""

    @abstractmethod
    def turn(self, vectors: Tensor) -> Tensor:
        """The turned vectors."""

    @abstractmethod
    def turn_back(self, vectors: Tensor) -> Tensor:
        """The vectors that turn into these."""


@final
@dataclass(frozen=True, eq=False)
class DenseRotation(Rotation):
    """A matrix uniform among all orthogonal ones, for a plane of ``axes`` axes."""

    axes: int
    matrix: Constant

    def turn(self, vectors: Tensor) -> Tensor:
        return (vectors.flatten(-self.axes) @ self.matrix.like(vectors).T).reshape(vectors.shape)

    def turn_back(self, vectors: Tensor) -> Tensor:
        return (vectors.flatten(-self.axes) @ self.matrix.like(vectors)).reshape(vectors.shape)


@final
@dataclass(frozen=True, eq=False)
class Scrambling(Rotation):
    """Random signs × DCT⁻¹ × random permutation of the frequencies × DCT: no matrix, for large planes."""

    signs: Constant  # the plane
    order: Tensor  # (pixels of the plane,)

    def turn(self, vectors: Tensor) -> Tensor:
        return idct(self._permuted(dct(vectors, self._axes), self.order), self._axes) * self.signs.like(vectors)

    def turn_back(self, vectors: Tensor) -> Tensor:
        waves = dct(vectors * self.signs.like(vectors), self._axes)
        return idct(self._permuted(waves, self.order.argsort()), self._axes)

    @property
    def _axes(self) -> range:
        return range(-self.signs.value.ndim, 0)

    def _permuted(self, waves: Tensor, order: Tensor) -> Tensor:
        return waves.flatten(-self.signs.value.ndim)[..., order.to(waves.device)].reshape(waves.shape)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Rotated(Subspace):
    """What a subspace, one for all samples, becomes when the input space is turned."""

    original: Subspace
    rotation: Rotation

    @property
    def samples(self) -> None:
        return None

    def basis(self) -> Tensor:
        return self.rotation.turn(self.original.basis())

    def _project(self, vectors: Tensor) -> Tensor:
        return self.rotation.turn(self.original.project(self.rotation.turn_back(vectors)))

    def _select(self, index: Index) -> Subspace:
        return self

    def _realise(self, ids: Tensor, like: Tensor) -> Subspace:
        return self


def rotated(
    subspaces: Sequence[Subspace], *, generator: torch.Generator, dense_side: int = DENSE_SIDE
) -> tuple[Subspace, ...]:
    """The subspaces, all turned by one random rotation of the image plane, the same in every channel.

    What they share and how they lie to each other is kept; which directions they hold is left to chance. Of the DCT
    blocks this makes the same blocks in a random orthonormal basis.

    Args:
        subspaces: Of one input shape, each one for all samples.
        generator: Draws the rotation.
        dense_side: Planes of more pixels are turned by random signs and a permutation of frequencies, without a matrix.
    """
    require(len(subspaces) > 0, "subspaces", "hold at least one", "none")
    shape = subspaces[0].shape
    for subspace in subspaces:
        require_same_shape(subspace.shape, shape, "subspaces")
        require(not subspace.per_sample, "subspaces", "each be one for all samples", subspace)
    rotation, basis = _random_rotation(shape[-2:], generator, dense_side)
    return tuple(Rotated(shape, each.dim, f"{each.name}, in {basis},", each, rotation) for each in subspaces)


def _random_rotation(plane: tuple[int, ...], generator: torch.Generator, dense_side: int) -> tuple[Rotation, str]:
    pixels = math.prod(plane)
    if pixels <= dense_side:
        return DenseRotation(len(plane), Constant(_random_orthogonal(pixels, generator))), "a random orthonormal basis"
    signs = standard_normal(plane, generator).sign()
    order = torch.randperm(pixels, generator=generator, device=generator.device)
    return Scrambling(Constant(signs), order), "a scrambled DCT basis (random signs and frequencies)"


def _random_orthogonal(size: int, generator: torch.Generator) -> Tensor:
    """Uniform among orthogonal matrices: a Gaussian's QR factor, with the signs of the diagonal undone."""
    across, triangle = torch.linalg.qr(standard_normal((size, size), generator))
    matrix: Tensor = across * triangle.diagonal().sign()
    return matrix
