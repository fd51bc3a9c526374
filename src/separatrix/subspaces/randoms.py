"""Random subspaces: one for all samples, or one for each, made again from (seed, id) whenever it is needed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import torch
from torch import Tensor

from separatrix import randomness
from separatrix.checks import described, is_whole, require, require_count, require_seed
from separatrix.cosine import dct, idct
from separatrix.subspaces.base import (
    CHOOSE,
    Constant,
    Index,
    Subspace,
    orthonormalised,
    project_rows,
    require_same_shape,
    require_shape,
    spanned,
    standard_normal,
)

DENSE_LIMIT = 200_000_000
"""Numbers in one dense basis beyond which rows of a scrambled cosine transform stand in for it."""

_SIGNS, _ROWS, _GAUSSIAN = 201, 202, 203  # streams of their own: a search draws from the same seed and ids
_REMADE_AT_ONCE = 2**25


@final
@dataclass(frozen=True, eq=False, repr=False)
class ScrambledCosines(Subspace):
    """m random rows of (orthonormal DCT over all axes × random signs): nearly a uniform subspace, without a basis.

    ``signs`` and the mask ``kept`` of rows are ``(*shape)``, or ``(n, *shape)`` for one subspace a sample.
    """

    signs: Constant
    kept: Constant

    @property
    def samples(self) -> int | None:
        return len(self.signs.value) if self.signs.value.ndim > len(self.shape) else None

    def basis(self) -> Tensor:
        signs, kept = self.signs.value.double(), self.kept.value.flatten(-len(self.shape))
        place = kept.nonzero()[:, -1].reshape(*kept.shape[:-1], self.dim)
        rows = torch.nn.functional.one_hot(place, math.prod(self.shape)).double()
        waves = idct(rows.reshape(*place.shape, *self.shape), self._axes)
        return waves * signs.unsqueeze(-len(self.shape) - 1)

    def _project(self, vectors: Tensor) -> Tensor:
        signs, kept = self.signs.like(vectors), self.kept.like(vectors)
        return idct(dct(vectors * signs, self._axes) * kept, self._axes) * signs

    @property
    def _axes(self) -> range:
        return range(-len(self.shape), 0)

    def _select(self, index: Index) -> Subspace:
        return replace(self, signs=Constant(self.signs.value[index]), kept=Constant(self.kept.value[index]))

    def _realise(self, ids: Tensor, like: Tensor) -> Subspace:
        return self


@final
@dataclass(frozen=True, eq=False, repr=False)
class RandomEach(Subspace):
    """A random subspace for every sample, a function of (seed, id) alone; nothing of it is kept.

    ``subspace[ids]`` chooses samples by their ids, for good; of those chosen, ``[index]`` then selects by position.
    Chosen ones project at once, their bases made again a few at a time; ``realise`` makes them once, for as many
    projections as follow, and names the samples where none have been chosen.
    """

    seed: int
    within: Subspace | None
    dense_limit: int
    ids: Tensor | None = None

    @property
    def samples(self) -> int:
        if self.ids is not None:
            return len(self.ids)
        return 0 if self.within is None else self.within.samples or 0

    def basis(self) -> Tensor:
        require(self.ids is not None, "subspace", "have its samples chosen", self, CHOOSE)
        assert self.ids is not None
        return self._realise(self.ids, torch.empty(0, dtype=torch.float64, device=self.ids.device)).basis()

    def _project(self, vectors: Tensor) -> Tensor:
        require(self.ids is not None, "subspace", "have its samples chosen", self, CHOOSE)
        assert self.ids is not None
        at_once = max(1, _REMADE_AT_ONCE // (self.dim * math.prod(self.shape)))
        blocks = [slice(first, first + at_once) for first in range(0, len(vectors), at_once)]
        return torch.cat([self[rows].realise(self.ids[rows], like=vectors).project(vectors[rows]) for rows in blocks])

    def _select(self, index: Index) -> Subspace:
        if self.samples:
            within = self.within if self.within is None else self.within.batch(index)
            return replace(self, ids=None if self.ids is None else self.ids[index], within=within)
        if isinstance(index, Tensor):
            named = index.ndim == 1 and is_whole(index.dtype)
            require(named, "index", "hold ids (n,), whole numbers", f"{index.dtype} of shape {tuple(index.shape)}")
            return replace(self, ids=index.long())
        require(index.stop is not None, "index", "have an end", index, "Samples are not chosen yet.")
        return replace(self, ids=torch.arange(index.stop)[index])

    def _realise(self, ids: Tensor, like: Tensor) -> Subspace:
        ids = ids if self.ids is None else self.ids
        there = ids.to(like.device)
        if _too_dense(self.shape, self.dim, self.dense_limit):
            return _scrambled_each(self, there)
        rows = randomness.normal(self.seed, there, (self.dim, *self.shape), stream=_GAUSSIAN, dtype=torch.float64)
        if self.within is not None:
            rows = project_rows(self.within.realise(ids, like=rows), rows)
        return spanned(_frame(rows, self.shape, self.within).to(like.dtype), self.shape, self.name)


def random(
    shape: Sequence[int],
    m: int,
    *,
    generator: torch.Generator,
    within: Subspace | None = None,
    dense_limit: int = DENSE_LIMIT,
) -> Subspace:
    """A subspace of dimension m, uniform among all of them, one for all samples.

    Args:
        shape: Shape of one input.
        m: Dimension.
        generator: Draws it.
        within: Draw it inside this subspace, one for all samples.
        dense_limit: When the basis would hold more numbers than this, m random rows of a cosine transform after
            random signs stand in for it (not within another subspace).
    """
    sizes = _require_random(shape, m, within, dense_limit)
    require(within is None or not within.per_sample, "within", "be one for all samples", within, "Use `random_each`.")
    name = _name(sizes, m, within, dense_limit)
    if _too_dense(sizes, m, dense_limit):
        return ScrambledCosines(sizes, m, name, *_scrambling(sizes, m, generator))
    rows = standard_normal((m, *sizes), generator)
    return spanned(_frame(rows if within is None else within.project(rows), sizes, within), sizes, name)


def random_each(
    shape: Sequence[int], m: int, *, seed: int = 0, within: Subspace | None = None, dense_limit: int = DENSE_LIMIT
) -> Subspace:
    """A subspace of dimension m for every sample, uniform and independent, made from (seed, id) when it is reached.

    Args:
        shape: Shape of one input.
        m: Dimension of each.
        seed: Draws them, together with the ids of the samples.
        within: Draw them inside this subspace, or inside each sample's own.
        dense_limit: As in ``random``, for each sample. A batch of n holds n·m·d numbers at once.
    """
    sizes = _require_random(shape, m, within, dense_limit)
    require_seed(seed)
    return RandomEach(sizes, m, f"{_name(sizes, m, within, dense_limit)} for each sample", seed, within, dense_limit)


def _require_random(shape: Sequence[int], m: int, within: Subspace | None, dense_limit: int) -> tuple[int, ...]:
    require(isinstance(shape, Sequence), "shape", "hold the sizes of one input, such as (3, 32, 32)", described(shape))
    sizes = require_shape(shape)
    require_count(m, "m")
    require_count(dense_limit, "dense_limit", 0)
    require(m <= math.prod(sizes), "m", f"be at most the {math.prod(sizes)} dimensions of {sizes}", m)
    if within is not None:
        require(isinstance(within, Subspace), "within", "be a Subspace or None", described(within))
        require_same_shape(within.shape, sizes, "within")
        require(m <= within.dim, "m", f"be at most the dimension {within.dim} of `within`", m)
        dense = not _too_dense(sizes, m, dense_limit)
        require(dense, "m", f"keep the basis within {dense_limit} numbers inside another subspace", m)
    return sizes


def _too_dense(shape: Sequence[int], m: int, dense_limit: int) -> bool:
    return math.prod(shape) * m > dense_limit


def _name(shape: Sequence[int], m: int, within: Subspace | None, dense_limit: int) -> str:
    if _too_dense(shape, m, dense_limit):
        return f"random subspace ({m} random rows of DCT × random signs)"
    return "random subspace" if within is None else f"random subspace within {within.name}"


def _frame(rows: Tensor, shape: Sequence[int], within: Subspace | None) -> Tensor:
    """An orthonormal basis of the span of Gaussian rows ``(…, m, *shape)`` drawn within a subspace.

    Few rows in many dimensions are nearly perpendicular as they are, so that Cholesky factors of their inner products,
    far faster than reflections, lose nothing; a second round takes away what rounding left.
    """
    m, dimensions = rows.shape[-len(shape) - 1], math.prod(shape) if within is None else within.dim
    if 4 * m > dimensions:
        return orthonormalised(rows, shape)
    flat = rows.flatten(-len(shape))
    for _ in range(2):
        flat = torch.linalg.solve_triangular(torch.linalg.cholesky(flat @ flat.mT), flat, upper=False)
    return flat.reshape(rows.shape)


def _scrambling(shape: Sequence[int], m: int, generator: torch.Generator) -> tuple[Constant, Constant]:
    signs = standard_normal(shape, generator).sign()
    order = torch.randperm(signs.numel(), generator=generator, device=generator.device)
    return Constant(signs), Constant((order < m).double().reshape(signs.shape))


def _scrambled_each(subspace: RandomEach, ids: Tensor) -> Subspace:
    shape, seed = subspace.shape, subspace.seed
    signs = (randomness.uniform(seed, ids, shape, stream=_SIGNS) - 0.5).sign()
    order = randomness.uniform(seed, ids, (math.prod(shape),), stream=_ROWS).argsort(dim=1)
    kept = torch.zeros_like(signs).flatten(1).scatter(1, order[:, : subspace.dim], 1).reshape(signs.shape)
    return ScrambledCosines(shape, subspace.dim, subspace.name, Constant(signs), Constant(kept))
