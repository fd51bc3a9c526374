"""A model under examination: what it is asked, what is kept of its answers, and how it is left as it was."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor, nn

from separatrix.classifier import Classifier, device_of, logits_of
from separatrix.fields import Margin, linearise


@dataclass(frozen=True)
class Check:
    """One thing to look at. It passes where its value is at most its limit.

    Args:
        name: In a word or three.
        limit: The greatest value that does no harm.
        look: Gives the value, and in words what was looked at and found; may raise, which is a failure too.
        harm: What a failure means for the numbers, and what helps, in one sentence.
    """

    name: str
    limit: float
    look: Callable[[Examined], tuple[float, str]]
    harm: str


@dataclass(frozen=True, eq=False)
class Examined:
    """A model and the samples it is asked about; whatever it raises is raised where it is looked at.

    Args:
        model: It may be unsound in every way.
        given: The samples as they were given ``(n, *shape)``.
        ids: Numbers that name them ``(n,)``.
        seed: Random directions are drawn by seed and id.
        before: The model's parameters and buffers as they were before it was asked anything.
    """

    model: Classifier
    given: Tensor
    ids: Tensor
    seed: int
    before: Mapping[str, Tensor]

    @cached_property
    def points(self) -> Tensor:
        """The samples on the model's device ``(n, *shape)``."""
        return self.given.detach().to(device_of(self.model, self.given))

    @cached_property
    def logits(self) -> Tensor:
        """The model's first answer ``(n, c)``."""
        return self.ask(self.points)

    @cached_property
    def spread(self) -> float:
        """How far the greatest logit lies above the least, in the median over the samples whose logits are finite."""
        finite = self.logits[self.logits.isfinite().all(1)]
        return float((finite.amax(1) - finite.amin(1)).median()) if len(finite) else float("nan")

    @cached_property
    def margin(self) -> Margin:
        """The gap to the strongest other class."""
        return Margin(self.model, own=self.logits.argmax(1))

    @cached_property
    def gradients(self) -> Tensor:
        """Gradients of the margin ``(n, *shape)``."""
        return linearise(self.margin, self.points)[1]

    def ask(self, points: Tensor) -> Tensor:
        """Logits ``(n, c)`` of a copy of the points."""
        with torch.no_grad():
            return logits_of(self.model, points.clone())

    def apart(self, others: Tensor) -> Tensor:
        """How far each sample's logits differ from the first answer's ``(n,)``, as a share of their spread."""
        gap = torch.where(self._same(others), 0, (self.logits - others).abs())
        worst = gap.amax(1).nan_to_num(torch.inf)
        return torch.where(worst == 0, 0, worst / self.spread)

    def worst(self, gaps: Tensor) -> tuple[float, int]:
        """The greatest of numbers ``(n,)``, and the id of its sample."""
        row = int(gaps.argmax())
        return float(gaps[row]), int(self.ids[row])

    def _same(self, others: Tensor) -> Tensor:
        return (self.logits == others) | (self.logits.isnan() & others.isnan())


@contextmanager
def left_alone(model: object) -> Iterator[Mapping[str, Tensor]]:
    """Parameters, buffers and global random state as they were, whatever the model does when it is asked within."""
    before = _copies(model)
    device = next((tensor.device for tensor in before.values()), torch.device("cpu"))
    plain, numbers = random.getstate(), np.random.get_state()  # noqa: NPY002
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        try:
            yield before
        finally:
            random.setstate(plain)
            np.random.set_state(numbers)  # noqa: NPY002
            _restore(model, before)


def changed(model: object, before: Mapping[str, Tensor]) -> list[str]:
    """Names of the parameters and buffers that are no longer as they were, or that were not there."""
    here = tensors_of(model)
    return [name for name, tensor in here.items() if name not in before or not _equal(tensor, before[name])]


def tensors_of(model: object) -> dict[str, Tensor]:
    """Parameters and buffers by name; none of a plain function."""
    if not isinstance(model, nn.Module):
        return {}
    return {**dict(model.named_parameters()), **dict(model.named_buffers())}


def _copies(model: object) -> dict[str, Tensor]:
    copies = {}
    for name, tensor in tensors_of(model).items():
        with suppress(Exception):  # one without content has none to keep: lazy layers
            copies[name] = tensor.detach().clone()
    return copies


def _restore(model: object, before: Mapping[str, Tensor]) -> None:
    here = tensors_of(model)
    for name in changed(model, before):
        with torch.no_grad(), suppress(Exception):
            here[name].copy_(before[name])


def _equal(one: Tensor, other: Tensor) -> bool:
    with suppress(Exception):
        return one.shape == other.shape and bool(((one == other) | ((one != one) & (other != other))).all())
    return False
