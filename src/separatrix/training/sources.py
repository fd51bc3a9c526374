"""Where a network's data come from, in so few words that a hash of them can name it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from separatrix.data import DataSet, load_data, two_class

Bounds = tuple[float, float]


class Source(Protocol):
    """Data by their settings: a frozen dataclass that ``str`` names in a word or two, and that can be told to load.

    A study writes its own where it changes data, for instance by ``DataSet.map``.
    """

    @property
    def bounds(self) -> Bounds | None:
        """Least and greatest value a point may have, if there are any."""

    def load(self, split: str) -> DataSet:
        """The points and labels of ``"train"`` or ``"test"``."""


@dataclass(frozen=True)
class Named:
    """Pictures that ``load_data`` knows by their name."""

    name: str

    def __str__(self) -> str:
        return self.name

    @property
    def bounds(self) -> Bounds | None:
        """Pixels lie in [0, 1]."""
        return (0.0, 1.0)

    def load(self, split: str) -> DataSet:
        """All of the split."""
        return load_data(self.name, split=split)


@dataclass(frozen=True)
class TwoClass:
    """T1, two classes that differ along one direction alone: the settings of ``separatrix.data.two_class``."""

    epsilon: float = 5.0
    sigma: float = 1.0
    dim: int = 100
    samples: int = 10_000
    seed: int = 0
    basis_seed: int = 0

    def __str__(self) -> str:
        return "two-class"

    @property
    def bounds(self) -> Bounds | None:
        """None: the noise has no end."""
        return None

    def load(self, split: str) -> DataSet:
        """As many samples in either split, in the same basis."""
        features = two_class(
            self.epsilon,
            self.sigma,
            dim=self.dim,
            samples=self.samples,
            split=split,
            seed=self.seed,
            basis_seed=self.basis_seed,
        )
        return features.data
