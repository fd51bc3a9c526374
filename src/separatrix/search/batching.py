"""Points go to the model one batch at a time, and a batch that does not fit is halved."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import fields, replace

import torch
from torch import Tensor

from separatrix.boundary import BoundaryPoints

Measure = Callable[[slice], BoundaryPoints]


def in_batches(count: int, batch_size: int | None, measure: Measure, home: torch.device) -> BoundaryPoints:
    """The answers of ``measure`` for all rows, in order, on the device ``home``; one batch is held beside them."""
    size, done, answer = batch_size or count, 0, None
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


def _room(part: BoundaryPoints, count: int, home: torch.device) -> BoundaryPoints:
    room = {name: tensor.new_empty((count, *tensor.shape[1:]), device=home) for name, tensor in _tensors(part).items()}
    return replace(part, **room)  # type: ignore[arg-type]


def _fill(answer: BoundaryPoints, rows: slice, part: BoundaryPoints) -> None:
    for name, tensor in _tensors(part).items():
        getattr(answer, name)[rows] = tensor.to(getattr(answer, name).device)


def _tensors(answer: BoundaryPoints) -> dict[str, Tensor]:
    values = {field.name: getattr(answer, field.name) for field in fields(answer)}
    return {name: value for name, value in values.items() if isinstance(value, Tensor)}
