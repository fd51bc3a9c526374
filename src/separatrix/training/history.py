"""What a training brought, epoch by epoch."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from separatrix.runs import files


@dataclass(frozen=True)
class Epoch:
    """What one pass over the data brought.

    Accuracy is the share of labels answered: of training samples as they pass, augmented, in training mode, each by
    the weights of its step; of test samples after the epoch, in eval mode and full precision.
    """

    loss: float  # mean over the samples
    train_accuracy: float
    test_accuracy: float | None  # None without test samples
    rate: float  # of the last step
    seconds: float  # of the pass alone


@dataclass(frozen=True)
class History:
    """The epochs of a training, in their order."""

    epochs: tuple[Epoch, ...] = ()

    def __len__(self) -> int:
        return len(self.epochs)

    def __str__(self) -> str:
        if not self.epochs:
            return "0 epochs"
        test = "" if math.isnan(self.accuracy) else f", test accuracy {self.accuracy:.1%}"
        return f"{len(self)} epochs in {self.seconds:.0f} s: loss {self.epochs[-1].loss:.3g}{test}"

    @property
    def accuracy(self) -> float:
        """Share of the test labels answered after the last epoch; NaN where there is none."""
        last = self.epochs[-1].test_accuracy if self.epochs else None
        return math.nan if last is None else last

    @property
    def loss(self) -> tuple[float, ...]:
        """Mean loss of each epoch."""
        return tuple(epoch.loss for epoch in self.epochs)

    @property
    def seconds(self) -> float:
        """Time of all epochs together."""
        return sum(epoch.seconds for epoch in self.epochs)

    def extended(self, epoch: Epoch) -> History:
        """With one epoch more."""
        return History((*self.epochs, epoch))

    def plain(self) -> list[dict[str, Any]]:
        """One mapping an epoch, as JSON can hold it."""
        return [asdict(epoch) for epoch in self.epochs]

    @staticmethod
    def of(epochs: list[dict[str, Any]]) -> History:
        """The inverse of ``plain``."""
        return History(tuple(Epoch(**epoch) for epoch in epochs))

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        files.write(path, json.dumps({"epochs": self.plain()}, indent=1).encode() + b"\n")

    @staticmethod
    def read(path: Path) -> History:
        """What ``save`` has written."""
        return History.of(json.loads(path.read_bytes())["epochs"])
