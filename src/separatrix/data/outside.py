"""Data sets of other libraries: any of PyTorch that has a length, any of Hugging Face."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeGuard, final

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import IterableDataset, Subset

from separatrix.checks import described, refusal, require
from separatrix.data.contents import Contents
from separatrix.data.pictures import Picture, is_picture, own_colours
from separatrix.data.stores import Indexed, Items

_IMAGE_COLUMNS = ("image", "img", "images", "pixels", "pixel_values")
_LABEL_COLUMNS = ("label", "labels", "target", "fine_label")
_SPLITS = {"train": ("train",), "test": ("test", "validation", "valid", "val")}


class Columns(Indexed[Any], Protocol):
    """A data set of Hugging Face, as far as it is used: rows are dictionaries, ``data["label"]`` is a column."""

    @property
    def features(self) -> Mapping[str, object]: ...

    @property
    def column_names(self) -> Sequence[str]: ...


@final
@dataclass(frozen=True)
class _Part:
    """The part of an item that is its point, as a tensor; the whole item where it has no parts."""

    key: int | str | None
    picture: Picture

    def of(self, item: object) -> object:
        return item if self.key is None else item[self.key]  # type: ignore[index]

    def __call__(self, item: object) -> Tensor:
        point = self.of(item)
        return self.picture(point) if is_picture(point) else _tensor(point)


def is_hugging_face(source: object) -> TypeGuard[Columns | Mapping[str, Columns]]:
    """Whether this is a data set of Hugging Face, or a dictionary of its splits; the library is not imported."""
    parts = list(source.values()) if isinstance(source, Mapping) else [source]
    return bool(parts) and all(hasattr(part, "features") and hasattr(part, "column_names") for part in parts)


def read_torch(data: object, picture: Picture, *, labelled: bool) -> Contents:
    """The items of a data set of PyTorch, points or (point, label), read when they are asked for.

    Args:
        data: Has a length. Points are tensors, pictures, or arrays as pictures are: channels last, as bytes.
        picture: How pictures become points.
        labelled: Labels are given from elsewhere, and not looked for.
    """
    indexed = isinstance(data, Indexed) and not isinstance(data, IterableDataset)
    require(indexed, "source", "have a length, and items by their number", type(data).__name__)
    assert isinstance(data, Indexed)
    require(len(data) > 0, "source", "hold at least one point", "none")
    parts = len(data[0]) if isinstance(data[0], (tuple, list)) else 0
    labels = _labels(data) if parts > 1 and not labelled else None
    whole = _whole(data)
    classes = getattr(whole, "classes", None)
    names = None if classes is None else tuple(map(str, classes))
    return Contents(_items(data, _Part(0 if parts else None, picture)), type(whole).__name__, labels, _ids(data), names)


def read_hugging_face(source: Columns | Mapping[str, Columns], split: str, picture: Picture) -> Contents:
    """The images of a data set of Hugging Face, read when they are asked for, and its labels.

    Args:
        source: A data set, or a dictionary of splits from which one is taken. Images are the first column of that
            kind, or one that is called so; labels likewise.
        split: ``"train"`` or ``"test"``.
        picture: How pictures become points.
    """
    data = _split(source, split) if isinstance(source, Mapping) else source
    require(hasattr(data, "__len__"), "source", "have a length", type(data).__name__, "Turn streaming off.")
    require(len(data) > 0, "source", "hold at least one point", "none")
    images = _column(data, "Image", _IMAGE_COLUMNS)
    fix = f"Call it {_IMAGE_COLUMNS[0]!r}."
    require(images is not None, "source", "have a column of images", ", ".join(data.column_names), fix)
    labels, classes = _labels_column(data)
    name = getattr(getattr(data, "info", None), "dataset_name", None) or "hugging-face"
    part = getattr(data, "split", None)
    return Contents(
        _items(data, _Part(images, picture)), name if part is None else f"{name}/{part}", labels, None, classes
    )


def _items(data: Indexed[Any], part: _Part) -> Items:
    first = part.of(data[0])
    if is_picture(first):
        coloured = part.picture.colours is None and own_colours(first) == "RGB"
        part = replace(part, picture=replace(part.picture, colours="RGB")) if coloured else part
    else:
        untouched = part.picture == Picture()
        require(untouched, "size", "be left out where points are not pictures", type(first).__name__)
    part(data[0])  # a point that cannot be read is better known now
    return Items(data, part, torch.arange(len(data)))


def _tensor(point: object) -> Tensor:
    if isinstance(point, np.ndarray) and point.dtype == np.uint8 and point.ndim in (2, 3):
        return torch.tensor(point.reshape(*point.shape[:2], -1)).movedim(-1, 0)
    if isinstance(point, (np.ndarray, list)):
        return torch.tensor(point)
    require(isinstance(point, Tensor), "source", "have items that are points or (point, label)", type(point).__name__)
    assert isinstance(point, Tensor)
    return point


def _labels(data: Indexed[Any]) -> Tensor:
    """The labels that a data set lists beside its items; where it lists none, all items are gone through."""
    if isinstance(data, Subset):
        return _labels(data.dataset)[torch.as_tensor(data.indices)]  # type: ignore[arg-type]
    named = ("targets", "labels") if getattr(data, "target_transform", None) is None else ()
    lists = (_numbers(getattr(data, name, None), len(data)) for name in named)
    listed = next((numbers for numbers in lists if numbers is not None), None)
    return torch.tensor([_number(data[row][1]) for row in range(len(data))]) if listed is None else listed


def _number(label: object) -> int:
    """A label as a number; text and fractions are none."""
    try:
        return operator.index(label)  # type: ignore[arg-type]
    except TypeError:
        raise refusal("source", "have labels that are whole numbers", described(label)) from None


def _numbers(values: object, count: int) -> Tensor | None:
    if not isinstance(values, (Tensor, np.ndarray, list, tuple)) or len(values) != count:
        return None
    numbers = np.asarray(values)
    return torch.from_numpy(numbers.astype(np.int64)) if numbers.dtype.kind in "ui" and numbers.ndim == 1 else None


def _ids(data: object) -> Tensor | None:
    """Positions in the whole data set that a subset, or a subset of a subset, is of."""
    if not isinstance(data, Subset):
        own = getattr(data, "ids", None)
        return own if isinstance(own, Tensor) else None
    ids, rows = _ids(data.dataset), torch.as_tensor(data.indices)
    count = len(data.dataset)  # type: ignore[arg-type]
    rows = torch.where(rows < 0, rows + count, rows)  # −1 is the last, as it is for the items
    return rows if ids is None else ids[rows]


def _whole(data: object) -> object:
    return _whole(data.dataset) if isinstance(data, Subset) else data


def _split(splits: Mapping[str, Columns], split: str) -> Columns:
    name = next((name for name in _SPLITS[split] if name in splits), None)
    require(name is not None, "split", f"be one of {', '.join(map(repr, splits))}", repr(split))
    assert name is not None
    return splits[name]


def _labels_column(data: Columns) -> tuple[Tensor | None, tuple[str, ...] | None]:
    column = _column(data, "ClassLabel", _LABEL_COLUMNS)
    if column is None:
        return None, None
    names = getattr(data.features[column], "names", None)
    numbers = torch.tensor([_number(label) for label in data[column]])  # type: ignore[index]
    return numbers, None if names is None else tuple(names)


def _column(data: Columns, kind: str, names: tuple[str, ...]) -> str | None:
    """The first column of this kind; without one, the first that is called so."""
    typed = [name for name in data.column_names if type(data.features[name]).__name__ == kind]
    called = [name for name in names if name in data.column_names]
    return next(iter([*typed, *called]), None)
