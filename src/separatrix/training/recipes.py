"""Recipes: the settings of a training, and how a batch becomes a loss. The loop that follows them is ``fit``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from separatrix.checks import require, require_count, require_positive, require_seed
from separatrix.classifier import logits_of
from separatrix.training.augmentation import AUGMENTATIONS, Augmentation
from separatrix.training.schedules import SCHEDULES, Schedule

Optimiser = Literal["adam", "sgd"]
OPTIMISERS: tuple[str, ...] = get_args(Optimiser)


@dataclass(frozen=True, eq=False)
class Batch:
    """What one step of the training sees, augmented and on the model's device."""

    points: Tensor  # (n, *shape)
    labels: Tensor  # (n,)
    ids: Tensor  # (n,)
    epoch: int  # 0 in the first pass over the data


@dataclass(frozen=True, kw_only=True)
class AbstractRecipe(ABC):
    """What every training needs to be told; a recipe adds how a batch becomes a loss.

    Args:
        epochs: Passes over the data.
        batch_size: Samples a step, at most: an epoch is cut into steps of equal size, to within one sample.
        optimiser: ``"adam"``, or ``"sgd"`` with Nesterov's momentum.
        rate: The highest learning rate.
        schedule: How the rate moves below it: ``"one-cycle"``, ``"cosine"``, ``"triangular"`` or ``"constant"``.
        momentum: How much of the earlier steps goes into the next, in [0, 1): β₁ of Adam.
        weight_decay: Pulls weights towards 0; decoupled from the gradient in Adam.
        augment: None, ``"crop"`` (pictures move by up to an eighth of their side) or ``"flip-crop"`` (and half of them
            are mirrored).
        mixed_precision: Forward passes in bfloat16 where PyTorch's autocast thinks them safe; weights stay as they are.
        clip: The largest ℓ2 norm of the gradient of all parameters together, or None; a longer one is shortened.
        seed: Order of the samples, augmentation and dropout are functions of it alone.
    """

    epochs: int = 10
    batch_size: int = 128
    optimiser: Optimiser = "adam"
    rate: float = 2e-3
    schedule: Schedule = "one-cycle"
    momentum: float = 0.9
    weight_decay: float = 0.0
    augment: Augmentation | None = None
    mixed_precision: bool = False
    clip: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        require_count(self.epochs, "epochs", least=0)
        require_count(self.batch_size, "batch_size")
        require_positive(self.rate, "rate")
        _require_one_of(self.optimiser, "optimiser", OPTIMISERS)
        _require_one_of(self.schedule, "schedule", tuple(SCHEDULES))
        require(0 <= self.momentum < 1, "momentum", "lie in [0, 1)", self.momentum)
        require(0 <= self.weight_decay < float("inf"), "weight_decay", "be at least 0", self.weight_decay)
        if self.augment is not None:
            _require_one_of(self.augment, "augment", AUGMENTATIONS)
        if self.clip is not None:
            require_positive(self.clip, "clip")
        require_seed(self.seed)

    @abstractmethod
    def loss(self, model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
        """The number to descend, and the logits ``(n, c)`` by which the model is judged right or wrong on the batch.

        The model comes in training mode; a recipe that measures it in eval mode puts it back.
        """


@dataclass(frozen=True, kw_only=True)
class Standard(AbstractRecipe):
    """Mean cross-entropy of the labels.

    Args:
        label_smoothing: Share of each label, in [0, 1), that is spread evenly over all classes.
    """

    label_smoothing: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require(0 <= self.label_smoothing < 1, "label_smoothing", "lie in [0, 1)", self.label_smoothing)

    def loss(self, model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
        """Cross-entropy of the batch as it is."""
        logits = logits_of(model, batch.points)
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        return cross_entropy(logits, batch.labels, label_smoothing=self.label_smoothing), logits


def _require_one_of(value: str, name: str, known: tuple[str, ...]) -> None:
    require(value in known, name, f"be one of {', '.join(map(repr, known))}", repr(value))
