"""Where the decision boundary was met."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from separatrix.checks import require, require_count
from separatrix.norms import Norm
from separatrix.records import Index, joined, mapped, rows

if TYPE_CHECKING:
    import pandas

    from separatrix.subspaces import Subspace

_COLUMNS = (
    "own",
    "rival",
    "rival_rank",
    "found",
    "distance",
    "raw_distance",
    "alignment",
    "gap",
    "steps",
    "forwards",
    "gradients",
)

_NUMBERS_HELD = 2**24  # in the bases of subspaces that samples have of their own


@dataclass(frozen=True, eq=False, repr=False)
class BoundaryPoints:
    """Where the boundary was met from each start, and how far that is: an upper bound on the true distance.

    A sample for which no boundary was found stays in the batch: ``found`` is false, its distance is infinite,
    its end and its normal are NaN, its rival is −1.

    Attributes:
        start: Points measured from ``(n, *shape)``.
        end: Points met, on the boundary or a hair beyond it ``(n, *shape)``.
        normals: Unit vectors (ℓ2) at ``end`` that point out of the region left ``(n, *shape)``.
        found: Whether the boundary was met ``(n,)``.
        own: The model's own answer at ``start`` ``(n,)``.
        rival: The strongest other class at ``end`` ``(n,)``.
        rival_rank: The rival's place among the logits at ``start``, 1 for the runner-up ``(n,)``; −1 where not found.
            At ``candidates − 1`` or beyond, a search that looked at so few classes may have missed a nearer one.
        raw_distance: Length before refinement, overshoot included ``(n,)``.
        gap: How much longer the longest of several methods' answers is than the shortest, as a share of it ``(n,)``;
            NaN where one method was asked. A large gap says that the distance is not to be trusted.
        steps: Steps walked ``(n,)``.
        forwards: Evaluations of the model ``(n,)``.
        gradients: Gradients of one logit or margin ``(n,)``.
        ids: Numbers that name the samples ``(n,)``.
        norm: The norm whose shortest displacement was sought.
        subspace: Where displacements were allowed; ``None`` is everywhere. One drawn from (seed, id) is kept as it
            was given: ``subspace.realise(ids, like=start)`` makes its bases.
    """

    start: Tensor
    end: Tensor
    normals: Tensor
    found: Tensor
    own: Tensor
    rival: Tensor
    rival_rank: Tensor
    raw_distance: Tensor
    gap: Tensor
    steps: Tensor
    forwards: Tensor
    gradients: Tensor
    ids: Tensor
    norm: Norm
    subspace: Subspace | None = None

    @property
    def perturbation(self) -> Tensor:
        """Displacement r = end − start ``(n, *shape)``; NaN where no boundary was found."""
        return self.end - self.start

    @property
    def distance(self) -> Tensor:
        """Length ‖r‖_p of the displacement ``(n,)``; infinite where no boundary was found."""
        return self.norm.length(self.perturbation).where(self.found, torch.inf)

    @property
    def alignment(self) -> Tensor:
        """How nearly the displacement is the shortest nearby: 1 exactly where its length is stationary ``(n,)``.

        ⟨r, P n⟩ / (‖r‖_p ‖P n‖_q) with P the projection on the subspace and q the dual exponent. NaN where no
        boundary was found, where r is zero, and where the normal is orthogonal to the subspace.
        """
        normals = _within(self.subspace, self.normals, self.ids)
        along = (self.perturbation * normals).flatten(1).sum(1)
        return along / (self.norm.length(self.perturbation) * self.norm.dual_length(normals))

    @property
    def improvement(self) -> Tensor:
        """How many times longer the walk was than its refinement ``(n,)``; NaN where no boundary was found."""
        return self.raw_distance / self.distance

    @property
    def share_found(self) -> float:
        """Share of the samples whose boundary was met; NaN for an empty batch."""
        return float(self.found.double().mean())

    def __len__(self) -> int:
        return len(self.start)

    def __getitem__(self, index: Index) -> BoundaryPoints:
        chosen = rows(index)
        subspace = None if self.subspace is None else self.subspace.batch(chosen)
        return replace(mapped(self, lambda tensor: tensor[chosen]), subspace=subspace)

    def __repr__(self) -> str:
        found = f"{int(self.found.sum())} of {len(self)} found, {self.norm}"
        within = "" if self.subspace is None else f" in a subspace of dimension {self.subspace.dim}"
        return f"BoundaryPoints: {found}{within}{_spread(self)}{_cost(self)}"

    def to(self, device: torch.device | str) -> BoundaryPoints:
        """The same answer on another device."""
        where = isinstance(device, (torch.device, str))
        require(
            where, "device", "be a device, such as 'cpu' or 'cuda'", device, "Counts and classes have no precision."
        )
        return mapped(self, lambda tensor: tensor.to(device))

    def nearest(self, count: int) -> BoundaryPoints:
        """The ``count`` samples nearest to their boundary, nearest first; fewer when fewer were found."""
        require_count(count, "count")
        order = self.distance.argsort(stable=True)
        return self[order[self.found[order]][:count]]

    def to_pandas(self) -> pandas.DataFrame:
        """One row a sample: identity, classes, whether found, lengths, alignment and counts."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("`to_pandas` needs pandas: pip install 'separatrix[pandas]'") from error
        columns = {name: getattr(self, name).cpu().numpy() for name in _COLUMNS}
        return pandas.DataFrame({"id": self.ids.cpu().numpy(), **columns})

    @staticmethod
    def cat(parts: Iterable[BoundaryPoints]) -> BoundaryPoints:
        """One answer from several, in their order; their norm and subspace must be the same.

        Spans of the samples' own, as ``span_each`` gives them, are joined too.
        """
        require(isinstance(parts, Iterable), "parts", "hold BoundaryPoints", type(parts).__name__)
        answers = list(parts)
        require(len(answers) > 0, "parts", "hold at least one answer", "none")
        strangers = sorted({type(part).__name__ for part in answers if not isinstance(part, BoundaryPoints)})
        require(not strangers, "parts", "hold BoundaryPoints", " and ".join(strangers))
        for name in ("norm", "shape"):
            kinds = sorted({str(tuple(part.start.shape[1:]) if name == "shape" else part.norm) for part in answers})
            require(len(kinds) == 1, "parts", f"share one {name}", " and ".join(kinds))
        subspace = _joined([part.subspace for part in answers])
        return replace(joined(answers), subspace=subspace)


def percentile(lengths: Tensor, share: float) -> float:
    """The least length that at least ``share`` of the samples do not exceed; NaN when there are no samples.

    The inverse of the empirical distribution, one of the lengths themselves: infinite lengths, which stand for
    "farther than was searched", count as samples and never mix with finite ones. At one half it is the lower median.
    """
    if len(lengths) == 0:
        return math.nan
    rank = math.ceil(share * len(lengths) - 1e-9)
    return float(lengths.kthvalue(max(rank, 1)).values)


def _joined(subspaces: list[Subspace | None]) -> Subspace | None:
    first, *others = subspaces
    given = [subspace for subspace in others if subspace is not None]
    both = first is None and not given
    whole = None if first is None or len(given) < len(others) else first.joined(given)
    fix = "Keep them apart: their lengths do not compare."
    require(both or whole is not None, "parts", "share one subspace", "different ones", fix)
    return whole


def _within(subspace: Subspace | None, normals: Tensor, ids: Tensor) -> Tensor:
    """P n of each sample, few samples at a time where each has a basis of its own."""
    if subspace is None:
        return normals
    if not subspace.per_sample:
        return subspace.project(normals)
    few = max(_NUMBERS_HELD // max(subspace.dim * normals[:1].numel(), 1), 1)
    blocks = [slice(first, first + few) for first in range(0, len(normals), few)]
    bases = (subspace.batch(rows).realise(ids[rows], like=normals[rows]) for rows in blocks)
    projected = [basis.project(normals[rows]) for basis, rows in zip(bases, blocks, strict=True)]
    return torch.cat(projected) if projected else normals


def _spread(boundary: BoundaryPoints) -> str:
    if not boundary.found.any():
        return ""
    low, median, high = (percentile(boundary.distance, share) for share in (0.05, 0.5, 0.95))
    return f" median {median:.3g} (5–95 %: {low:.2g}–{high:.2g}), upper bounds"


def _cost(boundary: BoundaryPoints) -> str:
    if len(boundary) == 0:
        return ""
    gradients, forwards = (float(count.double().mean()) for count in (boundary.gradients, boundary.forwards))
    return f"; {gradients:.1f} gradients and {forwards:.1f} forwards a point"
