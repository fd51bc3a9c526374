"""Points go to the model one batch at a time, and a batch that does not fit is halved."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import torch

from separatrix.records import Record, mapped, tensors


def in_batches(count: int, batch_size: int | None, measure: Callable[[slice], Record], home: torch.device) -> Record:
    """The answers of ``measure`` for all rows, in order, on the device ``home``; one batch is held beside them."""
    size, done = batch_size or count, 0
    answer: Record | None = None
    while done < count:
        rows = slice(done, min(done + size, count))
        try:
            part = measure(rows)
        except torch.OutOfMemoryError:
            if size == 1:
                raise
            size = -(-min(size, count) // 2)
            warnings.warn(f"Out of memory: `batch_size` is now {size}.", RuntimeWarning, stacklevel=4)
            continue
        answer = _room(part, count, home) if answer is None else answer
        _fill(answer, rows, part)
        done = rows.stop
    assert answer is not None
    return answer


def slices(count: int, size: int | None) -> Iterator[slice]:
    """Rows of a batch after the other."""
    step = size or count
    return (slice(first, min(first + step, count)) for first in range(0, count, step))


def _room(part: Record, count: int, home: torch.device) -> Record:
    return mapped(part, lambda tensor: tensor.new_empty((count, *tensor.shape[1:]), device=home))


def _fill(answer: Record, rows: slice, part: Record) -> None:
    room = tensors(answer)
    for name, tensor in tensors(part).items():
        room[name][rows] = tensor.to(room[name].device)
