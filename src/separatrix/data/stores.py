"""What holds points until they are read: floating-point numbers as they are, pixels as bytes, pictures as files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, final, runtime_checkable

import torch
from torch import Tensor

from separatrix.checks import require, require_full_precision

Rows = slice | Tensor
"""Positions ``(b,)``, a mask or a slice: what selects points and keeps the batch axis."""


Item = TypeVar("Item", covariant=True)


@runtime_checkable
class Indexed(Protocol[Item]):
    """Anything with a length, and items at 0 … length − 1."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Item: ...


class Store(ABC):
    """Points that become floating-point numbers when they are read."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def read(self, rows: Rows) -> Tensor:
        """The points at these rows ``(b, *shape)``."""

    @abstractmethod
    def select(self, rows: Rows) -> Store:
        """A store of these rows alone."""


@final
@dataclass(frozen=True, eq=False)
class Pixels(Store):
    """Images held as bytes ``(n, *shape)``, a quarter of the memory, and read as byte / 255."""

    images: Tensor

    def __post_init__(self) -> None:
        require(self.images.dtype == torch.uint8, "images", "be uint8", self.images.dtype)

    def __len__(self) -> int:
        return len(self.images)

    def read(self, rows: Rows) -> Tensor:
        return unit(self.images[rows])

    def select(self, rows: Rows) -> Pixels:
        return Pixels(self.images[rows])


@final
@dataclass(frozen=True, eq=False)
class Items(Store):
    """Things that ``convert`` turns into points, one by one and only when they are read: files, items of a data set.

    Attributes:
        things: What is converted.
        convert: One thing to one tensor; bytes are read as byte / 255.
        rows: Positions among the things ``(n,)``.
    """

    things: Indexed[Any]
    convert: Callable[[Any], Tensor]
    rows: Tensor

    def __len__(self) -> int:
        return len(self.rows)

    def read(self, rows: Rows) -> Tensor:
        points = [self.convert(self.things[row]) for row in self.rows[rows].tolist()]
        _require_one_kind(points)
        return unit(torch.stack(points))

    def select(self, rows: Rows) -> Items:
        return Items(self.things, self.convert, self.rows[rows])


def read(store: Tensor | Store, rows: Rows) -> Tensor:
    """The points at these rows ``(b, *shape)``, as floating-point numbers."""
    return store[rows] if isinstance(store, Tensor) else store.read(rows)


def select(store: Tensor | Store, rows: Rows) -> Tensor | Store:
    """These rows alone, held as before."""
    return store[rows] if isinstance(store, Tensor) else store.select(rows)


def unit(values: Tensor) -> Tensor:
    """Bytes as float32 in [0, 1]; floating-point numbers stay."""
    if values.dtype == torch.uint8:
        return values.float().div_(255)
    require_full_precision(values.dtype, "points")
    return values


def _require_one_kind(points: list[Tensor]) -> None:
    kinds = sorted({f"{tuple(point.shape)} {str(point.dtype).removeprefix('torch.')}" for point in points})
    fix = "Pictures are brought to one shape by `size` and `colours`."
    require(len(kinds) == 1, "points", "have one shape and dtype", " and ".join(kinds[:2]) or "none", fix)
