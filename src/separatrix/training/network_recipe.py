"""All that a trained network is a function of, and the hash that names it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING

import torch

from separatrix.checks import require
from separatrix.data import DataSet
from separatrix.models import ZOO, Card
from separatrix.runs import fingerprint
from separatrix.training.recipes import AbstractRecipe
from separatrix.training.sources import Source

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_VERSION = 1  # goes up when the same recipe comes to mean another training


@dataclass(frozen=True)
class NetworkRecipe:
    """An architecture, what it learns from, and how.

    The recipe's seed also draws the weights to begin with. Pictures are normalised by mean and standard deviation of
    each channel over the training samples, inside the classifier; vectors are left as they are.

    Args:
        architecture: One of ``separatrix.models.ZOO``.
        data: What it learns from.
        recipe: How.
        activation: As for ``zoo.network``; None is the architecture's own.
        pooling: Likewise.
        target: The test accuracy that it is meant to reach at least; no part of the hash.
    """

    architecture: str
    data: Source
    recipe: AbstractRecipe
    activation: str | None = None
    pooling: str | None = None
    target: float | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        known = ", ".join(map(repr, ZOO))
        require(self.architecture in ZOO, "architecture", f"be one of {known}", repr(self.architecture))

    @property
    def hash(self) -> str:
        """SHA-256, in hexadecimal digits, of the settings that are not at their defaults.

        So a setting that is added later, with a default that leaves things as they were, changes no hash.
        """
        return fingerprint({"version": _VERSION, "network": _declared(self)})

    @property
    def stem(self) -> str:
        """What its files are called: ``"lenet-mnist-3f2a91bc"``."""
        return f"{self.architecture}-{self.data}-{self.hash[:8]}".replace(" ", "-")

    def reseeded(self, seed: int) -> NetworkRecipe:
        """The same training with other random numbers."""
        return replace(self, recipe=replace(self.recipe, seed=seed))

    def card(self, train: DataSet) -> Card:
        """The network's form, and the units it reads."""
        mean, std = _normalisation(train)
        classes, form = len(train.classes), {"activation": self.activation, "pooling": self.pooling}
        return Card(self.architecture, classes, train.shape, mean=mean, std=std, bounds=self.data.bounds, **form)


def _declared(settings: DataclassInstance) -> dict[str, object]:
    """The class, and the settings that are not at their defaults, in any depth."""
    stated = {setting.name: getattr(settings, setting.name) for setting in fields(settings) if setting.compare}
    defaults = {setting.name: setting.default for setting in fields(settings)}
    named = {name: value for name, value in stated.items() if value != defaults[name]}
    return {"class": type(settings).__name__, **{name: _stated(value) for name, value in named.items()}}


def _stated(value: object) -> object:
    return _declared(value) if is_dataclass(value) and not isinstance(value, type) else value


def _normalisation(data: DataSet) -> tuple[tuple[float, ...] | None, tuple[float, ...] | None]:
    """Mean and standard deviation of each channel, to four digits; nothing for vectors."""
    if len(data.shape) != 3:
        return None, None
    sums = torch.zeros(2, data.shape[0], dtype=torch.float64)
    for points, _, _ in data.batches(1000):
        pixels = points.double().transpose(0, 1).flatten(1)
        sums += torch.stack([pixels.sum(1), pixels.square().sum(1)])
    mean, square = sums / (len(data) * data.shape[1] * data.shape[2])
    return _rounded(mean), _rounded((square - mean.square()).sqrt())


def _rounded(values: torch.Tensor) -> tuple[float, ...]:
    return tuple(round(value, 4) for value in values.tolist())
