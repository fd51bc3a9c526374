"""Networks that can be asked for by name, each with the accuracy it is known to reach.

A recipe here is not changed once networks have been trained by it: its hash is how they are found again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from separatrix.training.network_recipe import NetworkRecipe
from separatrix.training.recipes import Standard
from separatrix.training.sources import Named, Source, TwoClass

_QUICK = Standard(epochs=8, mixed_precision=True)
_CIFAR10 = Standard(optimiser="sgd", rate=0.1, weight_decay=5e-4, augment="flip-crop", mixed_precision=True)


def _entry(architecture: str, data: Source, target: float, recipe: Standard) -> tuple[str, NetworkRecipe]:
    return f"{architecture}/{data}", NetworkRecipe(architecture, data, recipe, target=target)


CATALOGUE: Mapping[str, NetworkRecipe] = MappingProxyType(
    dict(
        (
            _entry("lenet", Named("sample"), 0.86, Standard(epochs=12, batch_size=64)),
            _entry("lenet", Named("mnist"), 0.99, _QUICK),
            _entry("fc500-150", Named("mnist"), 0.98, _QUICK),
            _entry("lenet", Named("fashion-mnist"), 0.90, replace(_QUICK, epochs=12)),
            _entry("lenet-32", Named("cifar10"), 0.76, replace(_QUICK, epochs=20, rate=3e-3, augment="flip-crop")),
            _entry("cnn-6", Named("cifar10"), 0.76, replace(_QUICK, epochs=12, rate=1e-3, augment="flip-crop")),
            _entry("nin", Named("cifar10"), 0.88, replace(_CIFAR10, epochs=12)),
            _entry("resnet-18", Named("cifar10"), 0.94, replace(_CIFAR10, epochs=60)),
            _entry("mlp-10x500", TwoClass(), 1.0, Standard(epochs=5)),
        )
    )
)
"""Recipes by name, ``architecture/data``."""
