"""How often a model answers the label."""

from __future__ import annotations

import torch
from torch import nn

from separatrix.checks import require
from separatrix.classifier import logits_of
from separatrix.data import DataSet
from separatrix.precision import full_precision


@torch.no_grad()
def accuracy(model: nn.Module, data: DataSet, *, batch_size: int = 500) -> float:
    """Share of the labels that the model answers, in full precision.

    Args:
        model: Maps points ``(n, *shape)`` to logits ``(n, c)``; in eval mode.
        data: Points and labels.
        batch_size: Points asked about at once.
    """
    require(not model.training, "model", "be in eval mode", "training mode", "Call `model.eval()`.")
    anchor = next(model.parameters(), torch.empty(0))
    hits = torch.zeros((), dtype=torch.long, device=anchor.device)
    with full_precision():
        for points, labels, _ in data.batches(batch_size):
            answers = logits_of(model, points.to(anchor.device, anchor.dtype)).argmax(1)
            hits += (answers == labels.to(anchor.device)).sum()
    return int(hits) / len(data)
