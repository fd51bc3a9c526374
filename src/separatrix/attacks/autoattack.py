"""AutoAttack, by the package ``pyautoattack`` if it is installed."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from separatrix.attacks.base import AbstractAttack, Task
from separatrix.checks import require
from separatrix.classifier import logits_of

Version = Literal["standard", "plus", "rand"]

_NAMES = {2.0: "L2", math.inf: "Linf"}
_TARGET_CLASSES = 9


@dataclass(frozen=True, repr=False)
class AutoAttack(AbstractAttack):
    """An ensemble of four attacks without settings (Croce and Hein, 2020), as ``pyautoattack`` runs it.

    For float32 images ``(n, channels, height, width)`` in the box [0, 1], in ℓ∞ or ℓ2, with four classes or more. The
    ensemble stops at the first of its attacks that fools a sample. Its random numbers belong to (seed, place in the
    batch), so that rows depend on the batch, unlike those of every other method; its costs are those of the batch,
    shared evenly.

    Args:
        version: ``"standard"``, ``"plus"`` (more restarts) or ``"rand"`` (for randomised models).
    """

    version: Version = "standard"

    def __post_init__(self) -> None:
        known = get_args(Version)
        require(self.version in known, "version", f"be one of {', '.join(map(repr, known))}", repr(self.version))

    def run(self, task: Task) -> None:
        """Run the ensemble once for each radius."""
        _require_fitting(task)
        task.visit(task.start)
        found = task.start.clone()
        with _undisturbed(task.start.device):
            for radius in sorted(set(task.radius.tolist()) - {0.0}):
                rows = (task.radius == radius).nonzero()[:, 0]
                found[rows] = self._ends(task, rows, radius)
        task.visit(task.confine(found))

    def _ends(self, task: Task, rows: Tensor, radius: float) -> Tensor:
        model = _Counted(task.model)
        start, labels = task.start[rows], task.labels[rows]
        with torch.no_grad():
            classes = logits_of(task.model, start[:1].clone()).shape[1]
        ensemble = _package()(
            model, norm=_NAMES[task.norm.p], eps=radius, seed=task.seed, version=self.version, device=start.device
        )
        ensemble.apgd_targeted.n_target_classes = min(_TARGET_CLASSES, classes - 1)
        ensemble.fab.n_target_classes = min(_TARGET_CLASSES, classes - 1)
        ends: Tensor = ensemble.run_standard_evaluation(start, labels, batch_size=len(start))[0]
        task.record.forwards[rows] += -(-model.forwards // len(rows))
        task.record.gradients[rows] += -(-model.gradients // len(rows))
        return ends.detach()


class _Counted:
    """The model, with the rows it was asked about and the gradients taken of them counted."""

    def __init__(self, model: Callable[[Tensor], Tensor]) -> None:
        self.model, self.forwards, self.gradients = model, 0, 0

    def __call__(self, points: Tensor) -> Tensor:
        self.forwards += len(points)
        logits = logits_of(self.model, points.clone())
        if logits.requires_grad:
            logits.register_hook(self._count)  # type: ignore[no-untyped-call]
        return logits

    def _count(self, gradient: Tensor) -> None:
        self.gradients += len(gradient)


def _package() -> Any:  # noqa: ANN401
    try:
        from pyautoattack import AutoAttack as Ensemble
    except ImportError as error:
        raise ImportError("`AutoAttack` needs pyautoattack: pip install 'separatrix[autoattack]'") from error
    return Ensemble


def _require_fitting(task: Task) -> None:
    require(task.targets is None, "targets", "be None for `AutoAttack`, which is untargeted", "targets")
    require(task.norm.p in _NAMES, "norm", "be L2 or Linf for `AutoAttack`", task.norm)
    require(task.box == (0, 1), "box", "be (0, 1) for `AutoAttack`", task.box, "Scale the points to [0, 1].")
    kind, shape = task.start.dtype, tuple(task.start.shape)
    require(kind == torch.float32, "points", "be float32 for `AutoAttack`", kind, "Convert both with `.float()`.")
    require(len(shape) == 4, "points", "be images (n, channels, height, width) for `AutoAttack`", f"shape {shape}")
    with torch.no_grad():
        classes = logits_of(task.model, task.start[:1].clone()).shape[1]
    require(classes >= 4, "model", "have four classes or more for `AutoAttack`", classes)


@contextmanager
def _undisturbed(device: torch.device) -> Iterator[None]:
    """The global random state and the tracer, both of which the package sets, as they were afterwards."""
    tracer = sys.gettrace()
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        try:
            yield
        finally:
            sys.settrace(tracer)
