"""What all answers share: frozen dataclasses of tensors, batch first, that can be sliced, moved and joined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import Tensor

from separatrix.checks import as_tensor, described, is_whole, require

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Index = slice | int | Sequence[int] | Tensor
"""What selects samples: a slice, whole numbers, or a mask; a single number keeps the batch axis."""

Record = TypeVar("Record", bound="DataclassInstance")


def tensors(record: DataclassInstance) -> dict[str, Tensor]:
    """The record's tensors by name; settings and absent fields are left out."""
    named = {field.name: getattr(record, field.name) for field in fields(record)}
    return {name: value for name, value in named.items() if isinstance(value, Tensor)}


def mapped(record: Record, change: Callable[[Tensor], Tensor]) -> Record:
    """The record with every tensor changed alike."""
    changed: dict[str, Any] = {name: change(tensor) for name, tensor in tensors(record).items()}
    return replace(record, **changed)


def joined(records: Sequence[Record]) -> Record:
    """One record from several, in their order, with the settings of the first."""
    first = records[0]
    whole: dict[str, Any] = {name: torch.cat([getattr(part, name) for part in records]) for name in tensors(first)}
    return replace(first, **whole)


def rows(index: Index) -> slice | Tensor:
    """The samples an index selects, as something that keeps the batch axis."""
    if isinstance(index, slice):
        return index
    rule = "be a slice, whole numbers or a mask"
    chosen = as_tensor(index, "index", rule)
    require(chosen.ndim <= 1, "index", "have one axis", f"shape {tuple(chosen.shape)}")
    mask, whole = chosen.dtype == torch.bool, is_whole(chosen.dtype) or chosen.numel() == 0
    require(mask or whole, "index", rule, chosen.dtype if isinstance(index, Tensor) else described(index))
    return (chosen if mask else chosen.long()).reshape(-1)
