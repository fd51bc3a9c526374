"""Trained networks by their recipe: looked for among those that are kept, and trained where there is none."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import torch

from separatrix.checks import described, require, require_seed
from separatrix.classifier import Classifier
from separatrix.data import DataSet
from separatrix.models import Card, load_weights, save_weights
from separatrix.runs import files, plain
from separatrix.runs.environment import hardware, versions
from separatrix.training.accuracy import accuracy
from separatrix.training.catalogue import CATALOGUE
from separatrix.training.checkpoints import Checkpoints
from separatrix.training.fit import fit
from separatrix.training.history import History
from separatrix.training.loop import Progress
from separatrix.training.network_recipe import NetworkRecipe

CACHE_VARIABLE, WEIGHTS_VARIABLE = "SEPARATRIX_CACHE", "SEPARATRIX_WEIGHTS"


def trained(
    network: str | NetworkRecipe,
    *,
    seed: int | None = None,
    folder: Path | str | None = None,
    device: torch.device | str | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Classifier:
    """A classifier trained by a recipe, in eval mode, on the CPU: from disk if it was trained before.

    It is looked for by the recipe's hash in ``folder``, then in the folder that ``SEPARATRIX_WEIGHTS`` names (by
    default ``weights`` in the current one). Where it is in neither, it is trained and kept in ``folder``: its weights
    in half precision, ``<architecture>-<data>-<hash>.safetensors``, and all there is to know of it in ``….json``.
    What is returned is always what the file holds. The same call goes on with a training that was interrupted.

    Args:
        network: A name in ``CATALOGUE``, such as ``"lenet/mnist"``, or a recipe.
        seed: Other random numbers than the recipe's.
        folder: By default ``networks`` in the cache: the folder ``SEPARATRIX_CACHE`` names, or ``~/.cache/separatrix``.
        device: Where to train; a GPU, by default, where there is one.
        progress: Called after each step of a training.
    """
    recipe = _recipe(network, seed)
    require(recipe.recipe.epochs > 0, "epochs", "be at least 1 for a trained network", recipe.recipe.epochs)
    home, *others = places(folder)
    logs = (kept(recipe, place) for place in (home, *others))
    log = next((log for log in logs if log is not None), None)
    return _loaded(_train(recipe, home, device, progress) if log is None else log)


def places(folder: Path | str | None = None) -> tuple[Path, ...]:
    """The folders that ``trained`` looks in, in their order; it keeps what it trains in the first."""
    weights = Path(os.environ.get(WEIGHTS_VARIABLE) or "weights").expanduser()
    return (cache() / "networks" if folder is None else Path(folder).expanduser(), weights)


def kept(recipe: NetworkRecipe, folder: Path) -> Path | None:
    """The log ``….json`` of a network that was trained by this recipe, in this folder; None if none is there, whole."""
    for path in sorted(folder.glob(f"*{recipe.hash[:8]}*.json")):
        log = _log(path)
        if log.get("hash") == recipe.hash and _whole(log.get("files", {}), folder):
            return path
    return None


def cache() -> Path:
    """Where what can be computed again is kept."""
    standard = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "separatrix"
    return Path(os.environ.get(CACHE_VARIABLE) or standard).expanduser()


def _recipe(network: object, seed: int | None) -> NetworkRecipe:
    if isinstance(network, str):
        require(network in CATALOGUE, "network", f"be one of {', '.join(map(repr, CATALOGUE))}", repr(network))
        network = CATALOGUE[network]
    require(isinstance(network, NetworkRecipe), "network", "be a name or a NetworkRecipe", described(network))
    assert isinstance(network, NetworkRecipe)
    if seed is None:
        return network
    require_seed(seed)
    return network.reseeded(seed)


def _log(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _whole(hashes: dict[str, str], folder: Path) -> bool:
    paths = [(folder / name, seal) for name, seal in hashes.items()]
    return bool(paths) and all(path.is_file() and files.digest(path) == seal for path, seal in paths)


def _loaded(log: Path) -> Classifier:
    weights = log.with_suffix(".safetensors")
    model = Card.beside(weights, _log(log)["architecture"]).classifier()
    load_weights(model, weights)
    return model.eval()


def _train(
    recipe: NetworkRecipe, folder: Path, device: torch.device | str | None, progress: Callable[[Progress], None] | None
) -> Path:
    """Train, round, keep: the log is written last, so that a network is there exactly when its log is."""
    start = perf_counter()
    train, test = recipe.data.load("train"), recipe.data.load("test")
    card, underway = recipe.card(train), folder / f"{recipe.stem}.training"
    model = card.classifier(seed=recipe.recipe.seed)
    place = ("cuda" if torch.cuda.is_available() else "cpu") if device is None else device
    history = fit(model, train, recipe.recipe, test=test, checkpoints=underway, device=place, progress=progress)
    weights = save_weights(model, folder / f"{recipe.stem}.safetensors", half=True)
    load_weights(model, folder / f"{recipe.stem}.safetensors")
    result = {"test_accuracy": accuracy(model, test), "target": recipe.target}
    result["threads"] = Checkpoints(underway).threads or torch.get_num_threads()
    log = _described(recipe, card, model, train, history) | result
    log |= {"seconds": perf_counter() - start, "files": {path.name: files.digest(path) for path in weights}}
    path = folder / f"{recipe.stem}.json"
    files.write(path, json.dumps(log, indent=1, ensure_ascii=False).encode() + b"\n")
    shutil.rmtree(underway, ignore_errors=True)
    return path


def _described(
    recipe: NetworkRecipe, card: Card, model: Classifier, train: DataSet, history: History
) -> dict[str, Any]:
    """What was trained, on what, how and with what, and what each epoch brought."""
    return {
        **card.entries(),
        "hash": recipe.hash,
        "data": {"source": plain(recipe.data), "samples": len(train), "fingerprint": train.fingerprint},
        "recipe": plain(recipe.recipe),
        "seed": recipe.recipe.seed,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "hardware": hardware(),
        "versions": versions(),
        "epochs": history.plain(),
    }
