"""What a study works with: networks made by recipes and kept, and the samples they are asked about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch

from separatrix.classifier import Classifier
from separatrix.data import DataSet
from separatrix.models import fingerprint
from separatrix.training import CATALOGUE, NetworkRecipe, Source, trained


@dataclass(frozen=True)
class Needs:
    """What a study asks of the world, before anything is computed.

    Args:
        networks: Recipes of its networks, by what the study calls them.
        samples: Where the samples come from, by what the study calls them.
    """

    networks: Mapping[str, NetworkRecipe]
    samples: Mapping[str, Samples]


@dataclass(frozen=True)
class Samples:
    """Some of the test samples of a source, drawn by chance, the same ones every time.

    Args:
        source: Where they come from.
        count: How many; all there are, where there are no more.
        seed: Of the draw.
    """

    source: Source
    count: int
    seed: int = 0

    def load(self) -> DataSet:
        """The samples, in the order of the source."""
        data = self.source.load("test")
        chosen = torch.randperm(len(data), generator=torch.Generator().manual_seed(self.seed))[: self.count]
        return data.select(chosen.sort().values)


def catalogue_needs(networks: Sequence[str], images: int, seeds: Sequence[int]) -> Needs:
    """Networks of the catalogue, each trained with every seed, and test images of their data."""
    recipes = {name: CATALOGUE[name] for name in networks}
    trainings = {seeded(name, seed): recipe.reseeded(seed) for name, recipe in recipes.items() for seed in seeds}
    return Needs(trainings, {name: Samples(recipe.data, images) for name, recipe in recipes.items()})


def seeded(network: str, seed: int) -> str:
    """What a laboratory calls a network of the catalogue trained with a seed."""
    return f"{network}, seed {seed}"


@dataclass(eq=False)
class Laboratory:
    """A study's networks and samples, made or found when they are asked for first.

    Args:
        needs: Which.
        progress: Told in one line whenever a network has to be trained.
    """

    needs: Needs
    progress: Callable[[str], None] | None = None

    def __post_init__(self) -> None:
        self._models: dict[str, Classifier] = {}
        self._data: dict[str, DataSet] = {}

    @property
    def networks(self) -> tuple[str, ...]:
        """What the study calls its networks."""
        return tuple(self.needs.networks)

    def model(self, name: str) -> Classifier:
        """One of the networks, in eval mode."""
        if name not in self._models:
            self._models[name] = trained(self.needs.networks[name])
        return self._models[name]

    def data(self, name: str) -> DataSet:
        """Some of the samples."""
        if name not in self._data:
            self._data[name] = self.needs.samples[name].load()
        return self._data[name]

    def ids(self, name: str) -> tuple[int, ...]:
        """The names of some of the samples."""
        return tuple(self.data(name).ids.tolist())

    @cached_property
    def hashes(self) -> dict[str, str]:
        """Hashes of all networks and samples, which tell whether results can be continued."""
        weights = {name: fingerprint(self.model(name)) for name in self.needs.networks}
        return weights | {f"samples of {name}": self.data(name).fingerprint for name in self.needs.samples}

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds the networks were trained with, each once."""
        return tuple(sorted({recipe.recipe.seed for recipe in self.needs.networks.values()}))
