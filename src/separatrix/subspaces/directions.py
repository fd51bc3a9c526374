"""Subspaces found in data, and how subspaces lie to each other."""

from __future__ import annotations

import torch
from torch import Tensor

from separatrix.checks import described, require, require_count, require_points
from separatrix.subspaces.base import Subspace, flat_basis, plural, require_same_shape, spanned


def leading(vectors: Tensor, count: int) -> Subspace:
    """The ``count`` directions that hold most of the squared length of ``vectors`` ``(n, *shape)``.

    They are the leading left singular vectors of the matrix whose columns are the vectors; ``basis()`` gives them in
    order. Lengths weigh: normalise the vectors first where only their directions should.
    """
    require_points(vectors, "vectors")
    require_count(count, "count")
    _, strength, directions = torch.linalg.svd(vectors.double().flatten(1), full_matrices=False)
    rank = int((strength > 100 * torch.finfo(vectors.dtype).eps * strength[0]).sum())
    require(count <= rank, "count", f"be at most the {plural(rank, 'dimension')} that `vectors` span", count)
    shape = vectors.shape[1:]
    name = f"leading {plural(count, 'direction')} of {plural(len(vectors), 'vector')}"
    return spanned(directions[:count].reshape(count, *shape), shape, name)


def principal_angles(a: Subspace, b: Subspace) -> Tensor:
    """The angles between two subspaces, in radians, ascending, as many as the smaller has dimensions.

    All 0: the smaller lies in the larger. All π/2: they are perpendicular. Large angles are taken from their cosines,
    the singular values of UᵀV, small ones from their sines (Björck and Golub, 1973). For subspaces per sample
    ``(n, k)``.
    """
    for name, subspace in (("a", a), ("b", b)):
        require(isinstance(subspace, Subspace), name, "be a Subspace", described(subspace))
    require_same_shape(b.shape, a.shape, "b")
    larger, smaller = (flat_basis(each) for each in ((a, b) if a.dim >= b.dim else (b, a)))
    smaller = smaller.to(larger.device)
    overlap = smaller @ larger.mT
    cosines = torch.linalg.svdvals(overlap).clamp(max=1)
    sines = torch.linalg.svdvals(smaller - overlap @ larger).flip(-1).clamp(max=1)
    return torch.where(cosines.square() < 0.5, cosines.acos(), sines.asin())
