"""From the words of a command line to the recipe of a network."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

from torch import Tensor

from separatrix.checks import require
from separatrix.data import DataSet, available, load_data
from separatrix.models import ZOO
from separatrix.training import CATALOGUE, Named, NetworkRecipe, Source, Standard
from separatrix.training.recipes import Optimiser
from separatrix.training.schedules import Schedule
from separatrix.training.sources import Bounds

_FORM = ("activation", "pooling")


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What a training does otherwise than its recipe says; None leaves a setting as it is.

    Args:
        epochs: Passes over the data.
        batch_size: Samples a step, at most.
        optimiser: How the weights follow the gradient.
        rate: The highest learning rate.
        schedule: How the rate moves below that.
        momentum: How much of the earlier steps goes into the next, in [0, 1).
        weight_decay: How strongly weights are pulled towards 0.
        augment: Whether pictures are moved a little, and mirrored.
        mixed_precision: Whether forward passes are in bfloat16 where that is safe.
        clip: The largest norm that a gradient may have.
        label_smoothing: Share of each label that is spread over all classes, in [0, 1).
        seed: What all random numbers are a function of.
        activation: What stands between the layers.
        pooling: How neighbours are brought together.
    """

    epochs: int | None = None
    batch_size: int | None = None
    optimiser: Optimiser | None = None
    rate: float | None = None
    schedule: Schedule | None = None
    momentum: float | None = None
    weight_decay: float | None = None
    augment: Literal["none", "crop", "flip-crop"] | None = None
    mixed_precision: bool | None = None
    clip: float | None = None
    label_smoothing: float | None = None
    seed: int | None = None
    activation: Literal["relu", "softplus", "silu"] | None = None
    pooling: Literal["max", "average"] | None = None

    def of(self, network: NetworkRecipe) -> NetworkRecipe:
        """The recipe with these changes; its target stays where no more than the seed is another."""
        settings = {name: value for name, value in asdict(self).items() if value is not None}
        if settings.get("augment") == "none":
            settings["augment"] = None
        form = {name: settings.pop(name) for name in _FORM if name in settings}
        changed = replace(network, recipe=replace(network.recipe, **settings), **form)
        same = changed.reseeded(network.recipe.seed) == network
        return changed if same else replace(changed, target=None)


@dataclass(frozen=True)
class Files:
    """Data of one's own: a folder of pictures or an archive, known by what is in it and not by where it lies.

    Args:
        content: Fingerprints of both splits.
        bounds: Least and greatest value that a point may have, if there are any.
        path: Where the data are.
    """

    content: tuple[str, str]
    bounds: Bounds | None
    path: Path = field(compare=False)

    @staticmethod
    def at(path: Path) -> Files:
        """The data that are there now."""
        train, test = load_data(path, split="train"), load_data(path, split="test")
        return Files((train.fingerprint, test.fingerprint), _bounds(train), path)

    def __str__(self) -> str:
        return self.path.stem

    def load(self, split: str) -> DataSet:
        """All of the split."""
        return load_data(self.path, split=split)


def recipe_of(network: str, data: str | None, changes: Changes = Changes()) -> NetworkRecipe:
    """What is meant by a name in ``CATALOGUE``, or by an architecture and data.

    Args:
        network: ``"lenet/mnist"``; or ``"lenet"`` with ``data``.
        data: The name of a data set, or a path.
        changes: What is to be otherwise.
    """
    name = network if data is None else f"{network}/{data}"
    if name in CATALOGUE:
        return changes.of(CATALOGUE[name])
    _require_known(network, data)
    return changes.of(NetworkRecipe(network, _source(str(data)), Standard()))


def _require_known(network: str, data: str | None) -> None:
    if network in CATALOGUE:
        require(data is None, "--data", f"be left out with {network}, which names its data", data)
    known = f"be {', '.join(CATALOGUE)}; or, with --data, {', '.join(ZOO)}"
    require(network in ZOO, "NETWORK", known, network)
    fix = f"For instance: separatrix train {network} --data mnist"
    require(data is not None, "--data", "be given with an architecture", "none", fix)


def _source(data: str) -> Source:
    names = [entry.name for entry in available()]
    if data in names:
        return Named(data)
    path = Path(data).expanduser()
    rule = f"be one of {', '.join(names)}, a folder of pictures or an .npz archive"
    require(path.exists(), "--data", rule, data)
    return Files.at(path)


def _bounds(data: DataSet) -> Bounds | None:
    """Pixels lie in [0, 1]; of other numbers nothing is known."""
    return None if isinstance(data.store, Tensor) else (0.0, 1.0)
