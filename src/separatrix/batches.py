"""Questions asked batch by batch, each sample keeping its id."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.utils.data import BatchSampler, DataLoader, Dataset, IterableDataset, SequentialSampler, Subset

from separatrix.checks import as_tensor, require, require_batch, require_count

Answer = TypeVar("Answer")

_WHOLE = "hold whole numbers"


def each(
    data: Tensor | Dataset[Any] | DataLoader[Any],
    question: Callable[[Tensor, Tensor], Answer],
    *,
    batch_size: int = 256,
    ids: Tensor | Sequence[int] | None = None,
) -> Iterator[Answer]:
    """The answers to one question, batch by batch: only one batch is held at a time.

    For example ``summarise(each(data, lambda points, ids: minimal_perturbation(model, points, ids=ids)))``.

    Args:
        data: Points ``(n, *shape)``; or a data set whose items are points or (point, label); or a loader whose
            batches, of its own size, are points, (points, labels) or (points, labels, ids).
        question: Called with points ``(b, *shape)`` and their ids ``(b,)``; what it returns is handed on.
        batch_size: Points asked about at once; a loader has its own.
        ids: Whole numbers that name the samples ``(n,)``. Otherwise those of the loader's batches; or ``ids`` of the
            data set, which a ``Subset`` and a loader that keeps the order hand on; or 0 … n − 1.
    """
    require(callable(question), "question", "be callable with (points, ids)", type(question).__name__)
    require_count(batch_size, "batch_size")
    names = None if ids is None else as_tensor(ids, "ids", _WHOLE)
    if isinstance(data, DataLoader):
        return _answers(_loaded(data, names), question)
    count = _count(data)
    if names is None:
        own = _own_ids(data)
        names = torch.arange(count) if own is None else own
    require_batch(names, "ids", count, integer=True)
    return _answers(_sliced(data, names, batch_size), question)


def _answers(
    batches: Iterator[tuple[Tensor, Tensor]], question: Callable[[Tensor, Tensor], Answer]
) -> Iterator[Answer]:
    for points, ids in batches:
        yield question(points, ids.to(points.device))


def _count(data: object) -> int:
    indexed = isinstance(data, Sized) and hasattr(data, "__getitem__") and not isinstance(data, (Mapping, str))
    rule, fix = "be a tensor, a data set with a length, or a DataLoader", "Wrap a stream in a DataLoader."
    require(indexed, "data", rule, type(data).__name__, fix)
    scalar = isinstance(data, Tensor) and data.ndim < 2
    require(not scalar, "data", "be a batch of points (n, *shape)", f"shape {tuple(getattr(data, 'shape', ()))}")
    assert isinstance(data, Sized)
    require(len(data) > 0, "data", "hold at least one point", "none")
    return len(data)


def _own_ids(data: object) -> Tensor | None:
    """The ids that a data set has for its samples, or has from the one that it is a part of."""
    own = getattr(data, "ids", None)
    if own is not None:
        return as_tensor(own, "ids", _WHOLE)
    if not isinstance(data, Subset):
        return None
    own = _own_ids(data.dataset)
    return None if own is None else own[torch.as_tensor(data.indices, dtype=torch.long)]


def _sliced(data: Tensor | Dataset[Any], ids: Tensor, size: int) -> Iterator[tuple[Tensor, Tensor]]:
    for first in range(0, len(ids), size):
        last = min(first + size, len(ids))
        points = data[first:last] if isinstance(data, Tensor) else _stacked([data[row] for row in range(first, last)])
        yield points, ids[first:last]


def _stacked(items: list[Any]) -> Tensor:
    points = [_point(item) for item in items]
    shapes = sorted({tuple(point.shape) for point in points})
    require(len(shapes) == 1, "data", "have points of one shape", " and ".join(map(str, shapes[:2])))
    return torch.stack(points)


def _point(item: object) -> Tensor:
    point = item[0] if isinstance(item, (tuple, list)) and len(item) in (1, 2) else item
    rule, fix = "have items that are points or (point, label), points being tensors", "Add a transform to tensors."
    require(isinstance(point, Tensor), "data", rule, _kind(item), fix)
    assert isinstance(point, Tensor)
    return point


def _loaded(loader: DataLoader[Any], ids: Tensor | None) -> Iterator[tuple[Tensor, Tensor]]:
    seen = 0
    for batch in loader:
        points, named = _parted(batch)
        rows = slice(seen, seen + len(points))
        if ids is None and named is None:
            _require_order(loader)
            ids = _own_ids(loader.dataset)
        if ids is not None:
            named = ids[rows]
        elif named is None:
            named = torch.arange(rows.start, rows.stop)
        require_batch(named, "ids", len(points), integer=True)
        seen = rows.stop
        yield points, named


def _parted(batch: object) -> tuple[Tensor, Tensor | None]:
    parts: list[Any] = list(batch) if isinstance(batch, (tuple, list)) else [batch]
    rule = "have batches that are points, (points, labels) or (points, labels, ids), points being tensors"
    require(1 <= len(parts) <= 3 and isinstance(parts[0], Tensor), "data", rule, _kind(batch))
    return parts[0], parts[2] if len(parts) == 3 else None


def _require_order(loader: DataLoader[Any]) -> None:
    """Refuse to number samples by their turn where the turn is not theirs."""
    plain = loader.batch_sampler is None or type(loader.batch_sampler) is BatchSampler
    ordered = isinstance(loader.dataset, IterableDataset) or (plain and isinstance(loader.sampler, SequentialSampler))
    fix = "Use `shuffle=False`, or let each batch be (points, labels, ids)."
    require(ordered, "data", "keep its order, so that samples keep their ids", type(loader.sampler).__name__, fix)


def _kind(value: object) -> str:
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__} of ({', '.join(type(part).__name__ for part in value)})"
    return type(value).__name__
