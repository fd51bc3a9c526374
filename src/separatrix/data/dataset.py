"""Labelled points, each with an id of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor
from torch.utils.data import Dataset

from separatrix.checks import require, require_batch, require_count, require_points
from separatrix.data.stores import Rows, Store, read, select
from separatrix.records import Index
from separatrix.records import rows as chosen

_HASHED_AT_ONCE = 1024


@dataclass(frozen=True)
class Change:
    """A function of points ``(b, *shape)`` that a data set passes them through, and what it is called."""

    function: Callable[[Tensor], Tensor]
    name: str


@dataclass(frozen=True, eq=False)
class DataSet(Dataset[tuple[Tensor, Tensor]]):
    """Labelled points, each with an id of its own.

    An id belongs to a sample for good: it is the same in a slice, in another order and in a larger data set that
    holds the sample too. Random numbers and rows of tables go by it. ``DataLoader`` takes a data set as it is.

    Args:
        store: Inputs ``(n, *shape)``: a tensor; or ``Pixels`` held as bytes, ``Items`` that are read when asked for.
            Images have their channels first and pixels in [0, 1].
        labels: True classes ``(n,)``.
        ids: Whole numbers ``(n,)``, all different.
        classes: What the labels are called, in their order.
        name: Where the points come from, such as ``"sample/test"``.
        changes: What the points pass through when they are read, in order; ``map`` adds to it.
    """

    store: Tensor | Store
    labels: Tensor
    ids: Tensor
    classes: tuple[str, ...]
    name: str
    changes: tuple[Change, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.store, Tensor):
            require_points(self.store)
        count = len(self.store)
        require(count > 0, "points", "hold at least one point", "none")
        require_batch(self.labels, "labels", count, integer=True)
        require_batch(self.ids, "ids", count, integer=True)
        known = 0 <= int(self.labels.min()) and int(self.labels.max()) < len(self.classes)
        got = f"labels from {int(self.labels.min())} to {int(self.labels.max())}"
        require(known, "labels", f"be positions among the {len(self.classes)} classes", got)
        distinct = len(set(self.ids.tolist()))
        require(distinct == count, "ids", "all differ", f"{distinct} values for {count} points")

    def __len__(self) -> int:
        return len(self.store)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        """One point and its label."""
        label = self.labels[index]
        return self._read(torch.tensor([index]))[0], label

    def __str__(self) -> str:
        shape = " × ".join(str(size) for size in self.shape)
        return f"{self.name}: {len(self):,} points of shape {shape}, {len(self.classes)} classes"

    @cached_property
    def points(self) -> Tensor:
        """All inputs ``(n, *shape)`` as floating-point numbers: made at the first asking, and kept.

        Of 50,000 colour images of 32 × 32 that is 600 MB; ``batches`` makes one batch at a time.
        """
        return self._read(slice(None))

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Shape of one point."""
        return tuple(self._read(slice(0, 1)).shape[1:])

    @cached_property
    def fingerprint(self) -> str:
        """What the samples are, as 64 hexadecimal digits: SHA-256 of points, labels and ids, in their order.

        How the points are held does not matter, nor what the data set and its classes are called. Changes count by
        their names, and not by the numbers they make, so that the fingerprint is the same on every machine.
        """
        digest = hashlib.sha256()
        for first in range(0, len(self), _HASHED_AT_ONCE):
            points = read(self.store, slice(first, first + _HASHED_AT_ONCE))
            digest.update(f"{points.dtype}{tuple(points.shape)}".encode())
            digest.update(_content(points))
        digest.update(_content(self.labels.long()) + _content(self.ids.long()))
        digest.update(repr([change.name for change in self.changes]).encode())
        return digest.hexdigest()

    def select(self, index: Index) -> DataSet:
        """The chosen samples, ids kept: ``data.select(slice(100))``, ``data.select(data.labels == 3)``."""
        rows = chosen(index)
        return replace(self, store=select(self.store, rows), labels=self.labels[rows], ids=self.ids[rows])

    def map(self, function: Callable[[Tensor], Tensor], name: str) -> DataSet:
        """The same samples with their points changed, whenever they are read: ``data.map(dct_flip, "flipped")``.

        Nothing is clipped: changed pixels may leave [0, 1], and bounds that held before hold no longer.

        Args:
            function: Of points ``(b, *shape)``, giving as many; each must depend on its own point alone.
            name: Says what was done, in full: the fingerprint goes by it. It is added to the name of the data set.
        """
        require(callable(function), "function", "be callable with points (b, *shape)", type(function).__name__)
        changed = replace(self, name=f"{self.name}, {name}", changes=(*self.changes, Change(function, name)))
        require_points(changed._read(slice(0, 1)), "function(points)")
        return changed

    def batches(self, size: int, order: Index = slice(None)) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Points, labels and ids, ``size`` at a time, the last batch being what is left.

        Args:
            size: Samples in a batch.
            order: Positions of the samples to go through, such as a random permutation; by default all in their order.
        """
        require_count(size, "size")
        rows = torch.arange(len(self))[chosen(order)]
        parts = (rows[first : first + size] for first in range(0, len(rows), size))
        return ((self._read(part), self.labels[part], self.ids[part]) for part in parts)

    def _read(self, rows: Rows) -> Tensor:
        points = read(self.store, rows)
        count = len(points)
        for change in self.changes:
            points = change.function(points)
            got = f"{len(points)} from {change.name!r}"
            require(len(points) == count, "function", f"give as many points as it gets, {count}", got)
        return points


def _content(values: Tensor) -> bytes:
    return values.cpu().contiguous().numpy().tobytes()
