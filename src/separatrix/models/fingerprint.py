"""The identity of a model: what a result was measured on."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator

import torch
from torch import Tensor, nn

from separatrix.checks import require


def fingerprint(model: nn.Module) -> str:
    """SHA-256, in hexadecimal, of a model's layers and of all its numbers, a ``Classifier``'s normalisation included.

    The same on every device, in every mode and after every save and load in full precision; another after any change
    of a weight, of a buffer or of a printed setting of a layer. Code is not looked at: a ``forward`` that was
    rewritten, or another version of PyTorch that prints layers otherwise, is not told apart or is told apart in vain.
    """
    require(isinstance(model, nn.Module), "model", "be a torch.nn.Module", type(model).__name__)
    return digest(_tensors(model), _layers(model))


def digest(tensors: Iterable[tuple[str, Tensor]], text: str = "") -> str:
    """SHA-256 of tensors by name, in the order of the names, and of a text."""
    hashed = hashlib.sha256(text.encode())
    for name, tensor in sorted(tensors, key=lambda named: named[0]):
        hashed.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        hashed.update(_content(tensor))
    return hashed.hexdigest()


def _layers(model: nn.Module) -> str:
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(model))


def _tensors(model: nn.Module) -> Iterator[tuple[str, Tensor]]:
    yield from model.named_parameters(remove_duplicate=False)
    yield from model.named_buffers(remove_duplicate=False)


def _content(tensor: Tensor) -> memoryview:
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy().data
