"""What a source holds by itself, and the data set it makes with what its reader knows besides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from separatrix.checks import require, require_batch
from separatrix.data.dataset import DataSet
from separatrix.data.stores import Store


@dataclass(frozen=True)
class Contents:
    """Points, and what their source says of them.

    Attributes:
        store: The points.
        name: Where they come from.
        labels: True classes ``(n,)``, where the source has any.
        ids: Names of the samples ``(n,)``, where they are not their positions.
        classes: What the classes are called, where the source says.
    """

    store: Tensor | Store
    name: str
    labels: Tensor | None = None
    ids: Tensor | None = None
    classes: tuple[str, ...] | None = None

    def data_set(
        self,
        labels: Tensor | Sequence[int] | None,
        ids: Tensor | Sequence[int] | None,
        classes: Sequence[str] | None,
    ) -> DataSet:
        """The data set; what is given comes before what the source says."""
        require(len(self.store) > 0, "source", "hold at least one point", f"none in {self.name}")
        own_labels = self.labels if labels is None else labels
        require_labels(own_labels is not None, self.name)
        assert own_labels is not None
        numbers = _whole(own_labels, "labels", len(self.store))
        own_ids = self.ids if ids is None else ids
        names = torch.arange(len(self.store)) if own_ids is None else _whole(own_ids, "ids", len(self.store))
        called = classes or self.classes or _numbered(numbers)
        return DataSet(self.store, numbers, names, tuple(called), self.name)


def require_labels(there: bool, name: str) -> None:
    """Refuse a source without labels where none are given."""
    fix = "Points without labels need no data set: ask about the tensor itself."
    require(there, "labels", f"be given: {name} has none", None, fix)


def _whole(numbers: Tensor | Sequence[int], name: str, count: int) -> Tensor:
    values = torch.as_tensor(numbers)
    require_batch(values, name, count, integer=True)
    return values.long()


def _numbered(labels: Tensor) -> tuple[str, ...]:
    return tuple(str(number) for number in range(int(labels.max()) + 1))
