"""``separatrix train``: a network by its recipe, trained or found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from separatrix.cli.devices import require_device
from separatrix.cli.networks import Made, found, made
from separatrix.cli.printing import say, say_table
from separatrix.cli.recipes import Changes, Files, recipe_of
from separatrix.models import ZOO
from separatrix.training import CATALOGUE, Epoch, History, NetworkRecipe


def train(
    network: str = "lenet/sample",
    /,
    *,
    data: str | None = None,
    out: Path | None = None,
    device: str | None = None,
    list_: Annotated[bool, Parameter(name="--list", negative="", show_default=False)] = False,
    changes: Annotated[Changes, Parameter(name="*")] = Changes(),
) -> None:
    """Train a network, or find that it was trained before; interrupted, the same command goes on.

    Example: separatrix train lenet --data mnist --epochs 3

    Args:
        network: A name from `separatrix train --list`, or an architecture of the zoo together with --data.
        data: A data set from `separatrix data list`, a folder of pictures or an .npz archive.
        out: The folder that networks are kept in; by default one in the cache.
        device: Where to train, such as cpu or cuda:0; by default a GPU where there is one.
        list_: List the networks that have a name instead.
        changes: What is to be otherwise than the recipe of the network says.
    """
    if list_:
        return _list(out)
    require_device(device)
    recipe = recipe_of(network, data, changes)
    said = _Said(recipe.recipe.epochs)
    result = made(recipe, folder=out, device=device, heard=said)
    said(result.history)
    return _conclude(recipe, result)


@dataclass(eq=False)
class _Said:
    """Says each epoch once."""

    epochs: int
    count: int = 0

    def __call__(self, history: History) -> None:
        for number, epoch in enumerate(history.epochs[self.count :], self.count + 1):
            say(_in_a_line(epoch, f"{number:{len(str(self.epochs))}}/{self.epochs}"))
        self.count = len(history)


def _in_a_line(epoch: Epoch, number: str) -> str:
    test = "" if epoch.test_accuracy is None else f"  test {epoch.test_accuracy:6.1%}"
    return f"epoch {number}  loss {epoch.loss:.4f}  training {epoch.train_accuracy:6.1%}{test}  {epoch.seconds:.1f} s"


def _conclude(recipe: NetworkRecipe, result: Made) -> None:
    say(f"accuracy  {result.accuracy:.2%} of the test labels, by the weights as they are kept")
    if isinstance(recipe.data, Files) and len(set(recipe.data.content)) == 1:
        say("          the data have no splits: these are the samples that it was trained on")
    if recipe.target is not None:
        reached = "reached" if result.accuracy >= recipe.target else "missed"
        say(f"target    {recipe.target:.2%}, {reached}")
    say(f"file      {result.weights}")
    say(f'load      separatrix.load_model("zoo:{recipe.architecture}@{result.weights}")')


def _list(folder: Path | None) -> None:
    say_table(("network", "layers", "target", "epochs", "trained"), [_row(name, folder) for name in CATALOGUE])


def _row(name: str, folder: Path | None) -> tuple[str, ...]:
    recipe, result = CATALOGUE[name], found(CATALOGUE[name], folder)
    target = "" if recipe.target is None else f"{recipe.target:.1%}"
    trained = "no" if result is None else f"{result.accuracy:.2%}, {result.weights}"
    return name, ZOO[recipe.architecture].description, target, str(recipe.recipe.epochs), trained
