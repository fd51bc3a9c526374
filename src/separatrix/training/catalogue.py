"""Networks that can be asked for by name, each with the test accuracy it is meant to reach at least.

A recipe here is not changed once networks have been trained by it: its hash is how they are found again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from separatrix.training.network_recipe import NetworkRecipe
from separatrix.training.recipes import Standard
from separatrix.training.sources import Named, Source, TwoClass

_SAMPLE = Standard(epochs=12, batch_size=64)
_GREY = Standard(epochs=8, mixed_precision=True)
_COLOUR = Standard(epochs=16, rate=3e-3, augment="flip-crop", mixed_precision=True)
_DEEP = Standard(epochs=12, optimiser="sgd", rate=0.1, weight_decay=5e-4, augment="flip-crop", mixed_precision=True)
_FEATURES = Standard(epochs=7, optimiser="sgd", rate=0.1, weight_decay=5e-3, schedule="triangular", clip=0.5)


def _entry(architecture: str, data: Source, target: float, recipe: Standard) -> tuple[str, NetworkRecipe]:
    return f"{architecture}/{data}", NetworkRecipe(architecture, data, recipe, target=target)


_ENTRIES = (
    _entry("lenet", Named("sample"), 0.86, _SAMPLE),
    _entry("lenet", Named("mnist"), 0.99, _GREY),
    _entry("fc500-150", Named("mnist"), 0.98, _GREY),
    _entry("lenet", Named("fashion-mnist"), 0.90, replace(_GREY, epochs=12)),
    _entry("lenet-32", Named("cifar10"), 0.76, _COLOUR),
    _entry("cnn-6", Named("cifar10"), 0.76, replace(_COLOUR, epochs=8, rate=1.5e-3)),
    _entry("nin", Named("cifar10"), 0.88, _DEEP),
    _entry("resnet-18", Named("cifar10"), 0.94, replace(_DEEP, epochs=60, batch_size=256, rate=0.2)),
    _entry("mlp-10x500", TwoClass(), 1.0, _FEATURES),
)

CATALOGUE: Mapping[str, NetworkRecipe] = MappingProxyType(dict(_ENTRIES))
"""Recipes by name, ``architecture/data``."""
