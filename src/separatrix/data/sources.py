"""Where data comes from: one small sample is bundled, so that everything can be tried without a download."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.resources import as_file, files

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from separatrix.checks import require, require_batch, require_points


@dataclass(frozen=True, eq=False)
class DataSet(Dataset[tuple[Tensor, Tensor]]):
    """Labelled points, each with an id of its own.

    An id belongs to a sample for good: it is the same in a slice, in another order and in a larger data set that
    holds the sample too. Random numbers and rows of tables go by it. ``DataLoader`` takes a data set as it is.

    Args:
        points: Inputs ``(n, *shape)``; images have their channels first and pixels in [0, 1].
        labels: True classes ``(n,)``.
        ids: Whole numbers ``(n,)``, all different.
        classes: What the labels are called, in their order.
        name: Where the points come from, such as ``"sample/test"``.
    """

    points: Tensor
    labels: Tensor
    ids: Tensor
    classes: tuple[str, ...]
    name: str

    def __post_init__(self) -> None:
        require_points(self.points)
        require_batch(self.labels, "labels", len(self.points), integer=True)
        require_batch(self.ids, "ids", len(self.points), integer=True)
        known = 0 <= int(self.labels.min()) and int(self.labels.max()) < len(self.classes)
        got = f"labels from {int(self.labels.min())} to {int(self.labels.max())}"
        require(known, "labels", f"be positions among the {len(self.classes)} classes", got)
        distinct = len(set(self.ids.tolist()))
        require(distinct == len(self.ids), "ids", "all differ", f"{distinct} values for {len(self.ids)} points")

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        """One point and its label."""
        return self.points[index], self.labels[index]

    def __str__(self) -> str:
        shape = " × ".join(str(size) for size in self.points.shape[1:])
        return f"{self.name}: {len(self):,} points of shape {shape}, {len(self.classes)} classes"

    def select(self, index: slice | Tensor) -> DataSet:
        """The chosen samples, ids kept: ``data.select(slice(100))``, ``data.select(data.labels == 3)``."""
        return replace(self, points=self.points[index], labels=self.labels[index], ids=self.ids[index])


def load_data(name: str = "sample", *, split: str = "test") -> DataSet:
    """A data set by its name.

    Args:
        name: ``"sample"``, which is bundled: 300 training and 100 test images of each class of Fashion-MNIST.
        split: ``"train"`` or ``"test"``.
    """
    require(name in _SOURCES, "name", f"be one of {', '.join(map(repr, _SOURCES))}", repr(name))
    require(split in ("train", "test"), "split", "be 'train' or 'test'", repr(split))
    return _SOURCES[name](split)


_GARMENTS = ("T-shirt", "trousers", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot")


def _sample(split: str) -> DataSet:
    with as_file(files("separatrix.data") / "samples" / "fashion-mnist.npz") as path, np.load(path) as arrays:
        images, labels, ids = (torch.from_numpy(arrays[f"{split}_{part}"]) for part in ("images", "labels", "ids"))
    return DataSet(images[:, None].float() / 255, labels.long(), ids.long(), _GARMENTS, f"sample/{split}")


_SOURCES: dict[str, Callable[[str], DataSet]] = {"sample": _sample}
