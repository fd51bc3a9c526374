"""Subspaces of cosine waves: which frequencies a perturbation may hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from separatrix.checks import require, require_count
from separatrix.cosine import dct_matrix
from separatrix.subspaces.base import Index, Subspace, require_shape


@final
@dataclass(frozen=True, eq=False, repr=False)
class CosineBlock(Subspace):
    """Images, in every channel, of the vertical frequencies ``rows`` and the horizontal frequencies ``columns``.

    A projector made of slices of two cosine matrices; ``only_diagonal`` keeps the atoms on the block's diagonal.
    """

    rows: range
    columns: range
    only_diagonal: bool

    @property
    def samples(self) -> None:
        return None

    def basis(self) -> Tensor:
        like = torch.empty(0, dtype=torch.float64)
        atoms = torch.einsum("ih,jw->ijhw", *self._waves(like))
        chosen = atoms.diagonal(dim1=0, dim2=1).movedim(-1, 0) if self.only_diagonal else atoms.flatten(0, 1)
        channels = torch.eye(math.prod(self.shape[:-2]), dtype=torch.float64)
        return torch.einsum("khw,cb->kcbhw", chosen, channels).reshape(self.dim, *self.shape)

    def _project(self, vectors: Tensor) -> Tensor:
        down, across = self._waves(vectors)
        coefficients = down @ vectors @ across.T
        if self.only_diagonal:
            coefficients = coefficients * torch.eye(len(down), dtype=vectors.dtype, device=vectors.device)
        return down.T @ coefficients @ across

    def _waves(self, like: Tensor) -> tuple[Tensor, Tensor]:
        height, width = (dct_matrix(size, dtype=like.dtype, device=like.device) for size in self.shape[-2:])
        return height[self.rows.start : self.rows.stop], width[self.columns.start : self.columns.stop]

    def _select(self, index: Index) -> Subspace:
        return self

    def _realise(self, ids: Tensor, like: Tensor) -> Subspace:
        return self


def dct_block(shape: Sequence[int], block: int, row: int = 0, column: int = 0, only_diagonal: bool = False) -> Subspace:
    """Images of a K×K block of frequencies, in all channels: dimension K²C.

    Args:
        shape: Shape of one input; the last two axes are the image's, the others channels.
        block: Side K of the block.
        row: First vertical frequency.
        column: First horizontal frequency; where it differs from ``row``, the block is off the diagonal.
        only_diagonal: Keep the K atoms on the block's own diagonal: dimension K·C.
    """
    height, width = require_image(shape)[-2:]
    require_count(block, "block")
    require_count(row, "row", 0)
    require_count(column, "column", 0)
    require(row + block <= height, "row", f"leave the {block} rows of the block within {height}", row)
    require(column + block <= width, "column", f"leave the {block} columns of the block within {width}", column)
    kind = f"diagonal of the {block}×{block} DCT block" if only_diagonal else f"{block}×{block} DCT block"
    rows, columns = range(row, row + block), range(column, column + block)
    return _block(shape, rows, columns, f"{kind} at ({row}, {column})", only_diagonal)


def dct_diagonal(shape: Sequence[int], block: int, step: int, *, only_diagonal: bool = False) -> tuple[Subspace, ...]:
    """The K×K blocks along the diagonal, from low to high frequencies, each ``step`` beyond the last.

    There are ⌊(n − K) / step⌋ + 1 of them, n the shorter side of the image.
    """
    side = min(require_image(shape)[-2:])
    require_count(block, "block")
    require_count(step, "step")
    require(block <= side, "block", f"fit into the image's side of {side}", block)
    starts = range(0, side - block + 1, step)
    return tuple(dct_block(shape, block, start, start, only_diagonal) for start in starts)


def dct_bands(shape: Sequence[int], width: int | None = None) -> tuple[Subspace, ...]:
    """Bands S_k of frequencies (i, j) with ⌊i/w⌋ = ⌊j/w⌋ = k, in all channels; the last may be narrower.

    ``width`` w is by default 10 at a side of 224, scaled to the image and at least 2.
    """
    height, breadth = require_image(shape)[-2:]
    side = min(height, breadth)
    wide = min(side, max(2, round(10 * side / 224))) if width is None else width
    require_count(wide, "width")
    require(wide <= side, "width", f"be at most the image's side of {side}", wide)
    starts = range(0, side, wide)
    return tuple(_band(shape, start, min(start + wide, height), min(start + wide, breadth)) for start in starts)


def require_image(shape: Sequence[int]) -> tuple[int, ...]:
    """Refuse inputs that are not images."""
    sizes = require_shape(shape)
    require(len(sizes) >= 2, "shape", "have an image's height and width as its last two axes", sizes)
    return sizes


def _band(shape: Sequence[int], start: int, bottom: int, right: int) -> Subspace:
    name = f"DCT band of frequencies {start} to {max(bottom, right) - 1}"
    return _block(shape, range(start, bottom), range(start, right), name)


def _block(shape: Sequence[int], rows: range, columns: range, name: str, only_diagonal: bool = False) -> Subspace:
    atoms = len(rows) if only_diagonal else len(rows) * len(columns)
    return CosineBlock(tuple(shape), atoms * math.prod(shape[:-2]), name, rows, columns, only_diagonal)
