"""What a search asks of a network: forwards and gradients an image, and what those cost at least."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from benchmarks.clock import synchronise, timed, wait_for_quiet

SIZES = (1, 32, 64, 128, 256, 512)


class Counter:
    """Counts images that pass forward through a module, and back from its output, while in its ``with`` block."""

    def __init__(self, model: nn.Module) -> None:
        self.model, self.forwards, self.gradients = model, 0, 0

    def __enter__(self) -> Counter:
        self._hook = self.model.register_forward_hook(self._forward)
        return self

    def __exit__(self, *_: object) -> None:
        self._hook.remove()

    def _forward(self, _: nn.Module, __: tuple[Tensor, ...], logits: Tensor) -> None:
        self.forwards += _rows(logits)
        if logits.requires_grad:
            logits.register_hook(self._backward)

    def _backward(self, slope: Tensor) -> None:
        self.gradients += _rows(slope)


def _rows(tensor: Tensor) -> int:
    """Images in a batch of logits; under vmap, once a lane."""
    images = len(tensor) if tensor.ndim > 1 else 1
    if not torch._C._functorch.is_batchedtensor(tensor):
        return images
    lanes = torch._C._functorch.get_unwrapped(tensor).numel() // max(1, tensor.numel())
    return images * lanes


@dataclass(frozen=True)
class Floor:
    """The least seconds an image that this network can cost on this machine, at its best batch size.

    Attributes:
        forward: One forward.
        both: One forward and one gradient of the input: the unit in which searches are compared.
        batches: The two, by batch size.
        others: The share of one core that other programs took meanwhile: they make the floor look high.
    """

    forward: float
    both: float
    batches: dict[int, tuple[float, float]]
    others: float = 0.0

    @property
    def batch_size(self) -> int:
        """Where a forward with a gradient is fastest."""
        return min(self.batches, key=lambda size: self.batches[size][1])

    def ideal(self, forwards: float, gradients: float) -> float:
        """Seconds an image of so many forwards and gradients, without anything between them."""
        return forwards * self.forward + gradients * (self.both - self.forward)


def floor(model: nn.Module, points: Tensor, tries: int = 5, quiet: float = 12.0) -> Floor:
    """One network's floor: the least of several tries, of which an undisturbed one is the last."""
    best, sizes = Floor(math.inf, math.inf, {}), [size for size in SIZES if size <= len(points)]
    for _ in range(tries):
        wait_for_quiet(quiet)
        batches, timing = timed(lambda: {size: _at_size(model, points[:size]) for size in sizes}, points.device)
        forward, both = (min(pair[kind] for pair in batches.values()) for kind in (0, 1))
        if both < best.both:
            best = Floor(forward, both, batches, timing.others)
        if timing.calm:
            break
    return best


def _at_size(model: nn.Module, batch: Tensor) -> tuple[float, float]:
    def forward() -> None:
        with torch.no_grad():
            model(batch)

    def both() -> None:
        points = batch.detach().requires_grad_()
        torch.autograd.grad(model(points).sum(), points)

    return _seconds(forward, batch) / len(batch), _seconds(both, batch) / len(batch)


def _seconds(action: Callable[[], None], batch: Tensor, patience: float = 1.0) -> float:
    """The best of three averages, each over about 2,048 images or ``patience`` seconds."""
    _average(action, 1, batch.device)
    once = _average(action, 1, batch.device)
    repeats = max(1, min(200, 2048 // len(batch), int(patience / once)))
    return min(_average(action, repeats, batch.device) for _ in range(3))


def _average(action: Callable[[], None], repeats: int, device: torch.device) -> float:
    synchronise(device)
    began = time.perf_counter()
    for _ in range(repeats):
        action()
    synchronise(device)
    return (time.perf_counter() - began) / repeats
