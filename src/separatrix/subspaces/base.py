"""Linear subspaces of the input space: project on them, draw from them, take one out of another."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import final

import torch
from torch import Tensor

from separatrix.checks import require, require_count
from separatrix.norms import L2

Index = Tensor | slice

CHOOSE = "Choose the samples first: `subspace[ids]`."
_HIDDEN_COSINE = 1e-7  # a direction this close to perpendicular is perpendicular, in single precision


@dataclass(frozen=True, eq=False, repr=False)
class Subspace(ABC):
    """A linear subspace of the inputs: one for all samples, or one for each.

    Abstract; made by ``full``, ``span``, ``random``, ``dct_block`` and their kin. Projections happen in the dtype and
    on the device of the vectors.

    Attributes:
        shape: Shape of one input.
        dim: Dimension m of the subspace, of each where there is one a sample.
        name: What it is, for a report.
    """

    shape: tuple[int, ...]
    dim: int
    name: str

    def project(self, vectors: Tensor) -> Tensor:
        """The nearest vectors within the subspace ``(n, *shape)``; a subspace per sample meets its own vector."""
        self._require_vectors(vectors)
        return self._project(vectors) if self.dim else torch.zeros_like(vectors)

    def fraction(self, vectors: Tensor) -> Tensor:
        """‖P v‖ / ‖v‖ of each vector ``(n,)``: 1 within the subspace, about √(m/d) for a random one; 0 for v = 0."""
        length = L2.length(vectors)
        return L2.length(self.project(vectors)) / torch.where(length > 0, length, 1)

    def sample(self, count: int, *, generator: torch.Generator, dtype: torch.dtype = torch.float32) -> Tensor:
        """Directions ``(count, *shape)`` uniform on the unit sphere of the subspace, on the generator's device.

        From a subspace per sample comes one direction a sample: ``count`` is then their number.
        """
        require_count(count, "count")
        require(self.dim > 0, "subspace", "have at least one dimension", self)
        gaussian = standard_normal((count, *self.shape), generator)
        return L2.steepest(self.project(gaussian)).to(dtype)

    def complement(self) -> Subspace:
        """Everything perpendicular to the subspace."""
        return full(self.shape).without(self)

    def without(self, other: Tensor | Subspace) -> Subspace:
        """What is left when the directions of ``other`` are taken out: S ∩ T^⊥, which is S ⊖ P_S T.

        Args:
            other: Vectors ``(m, *shape)`` that span T, or T itself. Out of a subspace smaller than the whole
                space, T is taken by its dense basis.
        """
        taken = other if isinstance(other, Subspace) else span(other)
        require_same_shape(taken.shape, self.shape, "other")
        if isinstance(self, Full):
            return Difference(self.shape, self.dim - taken.dim, f"complement of {taken.name}", self, taken)
        shadow = _shadow(taken, self)
        name = f"{self.name} without {taken.name}"
        return Difference(self.shape, self.dim - shadow.dim, name, self, shadow) if shadow.dim else self

    def __getitem__(self, index: Index) -> Subspace:
        """The subspaces of some samples, by position; one subspace for all stays what it is."""
        allowed = isinstance(index, (Tensor, slice))
        require(allowed, "index", "be a tensor or a slice of samples", repr(index), "Use `[i : i + 1]` for one.")
        return self._select(index) if self.per_sample else self

    def realise(self, ids: Tensor, *, like: Tensor) -> Subspace:
        """The subspaces of the samples called ``ids``, ready to project vectors such as ``like``.

        Only a subspace drawn from (seed, id) changes: its bases are made here, for these samples alone, or for those
        chosen before. A batch takes ``subspace.batch(rows).realise(ids[rows], like=points[rows])``, which suits every
        kind.
        """
        require(ids.ndim == 1, "ids", "have shape (n,)", f"shape {tuple(ids.shape)}")
        fits = self.samples in (None, 0, len(ids))
        require(fits, "ids", f"name the {self.samples} samples of the subspace", f"{len(ids)} ids")
        return self._realise(ids, like) if self.per_sample else self

    def batch(self, index: Index) -> Subspace:
        """The subspaces of some rows of a batch; those still to be drawn from the samples' ids wait for these."""
        return self if self.samples == 0 else self[index]

    def same_as(self, other: Subspace) -> bool:
        """Whether the other is made of the same numbers."""
        return _same(self, other)

    def joined(self, others: Sequence[Subspace]) -> Subspace | None:
        """One subspace for the samples of several, in their order; None where they cannot be one."""
        if not self.samples:
            return self if all(self.same_as(other) for other in others) else None
        return self._joined([self, *others])

    def _joined(self, parts: Sequence[Subspace]) -> Subspace | None:
        return None

    def _require_vectors(self, vectors: Tensor) -> None:
        require(vectors.is_floating_point(), "vectors", "be floating-point", vectors.dtype)
        require_same_shape(vectors.shape[1:], self.shape, "vectors")
        fits = self.samples in (None, len(vectors))
        rule = f"hold one vector for each of the {self.samples} samples of the subspace"
        require(fits, "vectors", rule, len(vectors), "" if self.samples else CHOOSE)

    def __repr__(self) -> str:
        return f"{self.name} of {self.shape}, dimension {self.dim}"

    @property
    def per_sample(self) -> bool:
        """Whether each sample has a subspace of its own."""
        return self.samples is not None

    @property
    @abstractmethod
    def samples(self) -> int | None:
        """Number of samples with a subspace of their own, 0 before any was chosen; None where one serves all."""

    @abstractmethod
    def basis(self) -> Tensor:
        """An orthonormal basis ``(dim, *shape)``, float64, made on request; ``(n, dim, *shape)`` for one a sample."""

    @abstractmethod
    def _project(self, vectors: Tensor) -> Tensor: ...

    @abstractmethod
    def _select(self, index: Index) -> Subspace: ...

    @abstractmethod
    def _realise(self, ids: Tensor, like: Tensor) -> Subspace: ...


@dataclass(frozen=True, eq=False)
class Constant:
    """A tensor that meets vectors in their own dtype and on their own device, converted once for each."""

    value: Tensor
    _converted: dict[tuple[torch.dtype, torch.device], Tensor] = field(default_factory=dict, repr=False)

    def like(self, vectors: Tensor) -> Tensor:
        """The tensor in the dtype and on the device of ``vectors``."""
        kind = (vectors.dtype, vectors.device)
        if kind not in self._converted:
            with torch.inference_mode(False):
                self._converted[kind] = self.value.to(dtype=vectors.dtype, device=vectors.device)
        return self._converted[kind]


@final
@dataclass(frozen=True, eq=False, repr=False)
class Full(Subspace):
    """The whole input space."""

    @property
    def samples(self) -> None:
        return None

    def basis(self) -> Tensor:
        return torch.eye(self.dim, dtype=torch.float64).reshape(self.dim, *self.shape)

    def _project(self, vectors: Tensor) -> Tensor:
        return vectors

    def _select(self, index: Index) -> Subspace:
        return self

    def _realise(self, ids: Tensor, like: Tensor) -> Subspace:
        return self


@final
@dataclass(frozen=True, eq=False, repr=False)
class Span(Subspace):
    """All combinations of orthonormal rows ``(m, *shape)``, or of each sample's own ``(n, m, *shape)``."""

    rows: Constant

    @property
    def samples(self) -> int | None:
        return len(self.rows.value) if self.rows.value.ndim == len(self.shape) + 2 else None

    def basis(self) -> Tensor:
        return self.rows.value.double()

    def _project(self, vectors: Tensor) -> Tensor:
        rows = self.rows.like(vectors).flatten(-len(self.shape))
        if not self.per_sample:
            return ((vectors.flatten(1) @ rows.T) @ rows).reshape(vectors.shape)
        along = torch.bmm(rows, vectors.flatten(1)[:, :, None])
        return torch.bmm(rows.mT, along).reshape(vectors.shape)

    def _select(self, index: Index) -> Subspace:
        return spanned(self.rows.value[index], self.shape, self.name)

    def _realise(self, ids: Tensor, like: Tensor) -> Subspace:
        return self

    def _joined(self, parts: Sequence[Subspace]) -> Subspace | None:
        spans = [part for part in parts if isinstance(part, Span) and part.per_sample and part.dim == self.dim]
        alike = len(spans) == len(parts) and {part.shape for part in spans} == {self.shape}
        return spanned(torch.cat([part.rows.value for part in spans]), self.shape, self.name) if alike else None


@final
@dataclass(frozen=True, eq=False, repr=False)
class Difference(Subspace):
    """What of ``whole`` is perpendicular to ``taken``, which lies in it."""

    whole: Subspace
    taken: Subspace

    @property
    def samples(self) -> int | None:
        return self.taken.samples if self.whole.samples is None else self.whole.samples

    def basis(self) -> Tensor:
        whole, taken = (flat_basis(part) for part in (self.whole, self.taken))
        mixing: Tensor = torch.linalg.qr(whole @ taken.mT, mode="complete").Q[..., self.taken.dim :]
        basis = mixing.mT @ whole
        return basis.reshape(*basis.shape[:-1], *self.shape)

    def _project(self, vectors: Tensor) -> Tensor:
        return self.whole.project(vectors) - self.taken.project(vectors)

    def _select(self, index: Index) -> Subspace:
        return Difference(self.shape, self.dim, self.name, self.whole[index], self.taken[index])

    def _realise(self, ids: Tensor, like: Tensor) -> Subspace:
        whole, taken = self.whole.realise(ids, like=like), self.taken.realise(ids, like=like)
        return Difference(self.shape, self.dim, self.name, whole, taken)


def full(shape: Sequence[int]) -> Subspace:
    """The whole input space."""
    sizes = require_shape(shape)
    return Full(sizes, math.prod(sizes), "whole space")


def span(vectors: Tensor) -> Subspace:
    """All combinations of ``vectors`` ``(m, *shape)``.

    Of linearly dependent vectors as many are kept as are independent, judged at the precision of their dtype; the
    dimension tells how many.
    """
    rows, shape = _unit_rows(vectors, 1, "(m, *shape)"), vectors.shape[1:]
    return spanned(_independent(rows, shape, _rounding(vectors)), shape, f"span of {plural(len(vectors), 'vector')}")


def span_each(vectors: Tensor) -> Subspace:
    """A span for each sample, of its own vectors ``(n, m, *shape)``; all must have the same dimension."""
    rows, shape = _unit_rows(vectors, 2, "(n, m, *shape)"), vectors.shape[2:]
    name = f"span of {plural(vectors.shape[1], 'vector')} a sample"
    return spanned(_independent(rows, shape, _rounding(vectors[0])), shape, name)


def spanned(rows: Tensor, shape: Sequence[int], name: str) -> Subspace:
    """The span of rows known to be orthonormal, ``(m, *shape)`` or ``(n, m, *shape)``."""
    return Span(tuple(shape), rows.shape[-len(shape) - 1], name, Constant(rows))


def orthonormalised(rows: Tensor, shape: Sequence[int]) -> Tensor:
    """An orthonormal basis of the span of independent rows ``(…, m, *shape)``, in float64."""
    flat = rows.double().flatten(-len(shape))
    columns: Tensor = torch.linalg.qr(flat.mT).Q
    return columns.mT.reshape(rows.shape)


def flat_basis(subspace: Subspace) -> Tensor:
    """The dense basis with inputs flattened: ``(m, d)``, or ``(n, m, d)`` for one a sample."""
    return subspace.basis().flatten(-len(subspace.shape))


def project_rows(subspace: Subspace, rows: Tensor) -> Tensor:
    """Projection of every row of ``(…, m, *shape)``, which is ``(n, m, *shape)`` for a subspace per sample."""
    if subspace.per_sample:
        return torch.stack([subspace.project(row) for row in rows.unbind(1)], dim=1)
    return subspace.project(rows.reshape(-1, *subspace.shape)).reshape(rows.shape)


def standard_normal(sizes: Sequence[int], generator: torch.Generator) -> Tensor:
    """Gaussian numbers in float64 on the generator's device."""
    require(isinstance(generator, torch.Generator), "generator", "be a torch.Generator", type(generator).__name__)
    return torch.randn(*sizes, generator=generator, dtype=torch.float64, device=generator.device)


def require_shape(shape: Sequence[int]) -> tuple[int, ...]:
    """Refuse what is not the shape of one input."""
    sizes = tuple(shape)
    whole = all(isinstance(size, int) and size > 0 for size in sizes)
    require(len(sizes) > 0 and whole, "shape", "hold the sizes of one input, such as (3, 32, 32)", sizes)
    return sizes


def require_same_shape(shape: Sequence[int], expected: Sequence[int], name: str) -> None:
    """Refuse vectors of another input space."""
    require(tuple(shape) == tuple(expected), name, f"have inputs of shape {tuple(expected)}", tuple(shape))


def plural(count: int, noun: str) -> str:
    """``1 vector``, ``2 vectors``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _same(one: object, other: object) -> bool:
    """Equality by value, through dataclasses and tensors."""
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return one.shape == other.shape and bool((one == other.to(one.device)).all())
    if is_dataclass(one) and type(one) is type(other):
        compared = [entry.name for entry in fields(one) if not entry.name.startswith("_")]
        return all(_same(getattr(one, name), getattr(other, name)) for name in compared)
    return type(one) is type(other) and one == other


def _shadow(taken: Subspace, whole: Subspace) -> Subspace:
    """P_S T: the span of the projection of T on ``whole``, without what is perpendicular to it."""
    require(whole.samples != 0, "subspace", "have its samples chosen", whole, CHOOSE)
    rows = taken.basis()
    if whole.samples is not None and not taken.per_sample:
        rows = rows.expand(whole.samples, *rows.shape)
    seen = _independent(project_rows(whole, rows), whole.shape, _HIDDEN_COSINE)
    return spanned(orthonormalised(project_rows(whole, seen), whole.shape), whole.shape, f"shadow of {taken.name}")


def _unit_rows(vectors: Tensor, extra: int, form: str) -> Tensor:
    require(isinstance(vectors, Tensor), "vectors", f"be a torch tensor {form}", type(vectors).__name__)
    require(vectors.ndim > extra and vectors.numel() > 0, "vectors", f"have shape {form}", tuple(vectors.shape))
    require(vectors.is_floating_point(), "vectors", "be floating-point", vectors.dtype)
    length = torch.linalg.vector_norm(vectors.double().flatten(extra), dim=-1)
    require(bool(length.isfinite().all()), "vectors", "be finite", "NaN or inf")
    require(bool((length > 0).all()), "vectors", "be nonzero", f"{int((length == 0).sum())} zero vectors")
    unit: Tensor = vectors.double() / length.reshape(*length.shape, *[1] * (vectors.ndim - extra))
    return unit


def _independent(rows: Tensor, shape: Sequence[int], tolerance: float) -> Tensor:
    """An orthonormal basis of the span of rows ``(…, m, *shape)``: directions of singular value above ``tolerance``."""
    across, triangle = torch.linalg.qr(rows.flatten(-len(shape)).mT)
    left, strength, _ = torch.linalg.svd(triangle)
    ranks = (strength > tolerance).sum(-1)
    rank = int(ranks.max())
    require(bool((ranks == rank).all()), "vectors", "span as many dimensions for every sample", ranks.tolist())
    basis: Tensor = (across @ left[..., :rank]).mT
    return basis.reshape(*basis.shape[:-1], *shape)


def _rounding(vectors: Tensor) -> float:
    """Singular value, of as many unit vectors, that rounding alone can make."""
    return 100 * torch.finfo(vectors.dtype).eps * math.sqrt(vectors.shape[0])
