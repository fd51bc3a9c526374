"""The networks by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import torch
from torch import nn

from separatrix.checks import require, require_seed
from separatrix.models.zoo.cnn6 import cnn6
from separatrix.models.zoo.densenet import densenet121
from separatrix.models.zoo.form import Form, require_choice
from separatrix.models.zoo.lenet import lenet, lenet32, wide_lenet
from separatrix.models.zoo.mlp import fc500_150, mlp, mlp10x500
from separatrix.models.zoo.nin import nin
from separatrix.models.zoo.resnet import half_resnet18, resnet18
from separatrix.models.zoo.seeds import seeded
from separatrix.models.zoo.vgg import vgg16
from separatrix.models.zoo.wide_resnet import wrn28_10

GREY, COLOUR = (1, 28, 28), (3, 32, 32)


@dataclass(frozen=True)
class Architecture:
    """A family of networks, and the member that its name stands for.

    Args:
        name: As ``network`` and ``load_model`` know it.
        description: Layers in one line.
        builder: Makes an untrained network of a given form.
        native: The form meant by the name alone.
        least: Height and width that an image must have at least; 0 where inputs of any shape are flattened.
    """

    name: str
    description: str
    builder: Callable[[Form], nn.Module]
    native: Form
    least: int = 0

    @property
    def parameters(self) -> int:
        """Number of trainable numbers in native form."""
        with torch.device("meta"):
            return sum(parameter.numel() for parameter in self.builder(self.native).parameters())

    def build(self, form: Form) -> nn.Module:
        """An untrained network in float32 on the CPU; its weights are drawn from the global random state."""
        image = len(form.shape) == 3 and min(form.shape[1:]) >= self.least
        rule = f"be (channels, height, width) of at least {self.least} × {self.least} for {self.name}"
        require(self.least == 0 or image, "shape", rule, form.shape)
        with torch.device("cpu"):
            return self.builder(form)


_IMAGES, _PIXELS, _VECTORS = Form(10, GREY), Form(10, COLOUR), Form(2, (100,))
_SMOOTH = replace(_IMAGES, activation="softplus", pooling="average")
_ALL = (
    Architecture("lenet", "convolutions 20, 50, hidden 500, maximum pooling", lenet, _IMAGES, 16),
    Architecture("smooth-lenet", "lenet with softplus and average pooling", lenet, _SMOOTH, 16),
    Architecture("wide-lenet", "convolutions 32, 64, hidden 512, maximum pooling", wide_lenet, _IMAGES, 16),
    Architecture("lenet-32", "convolutions 32, 32, 64, hidden 64, mixed pooling", lenet32, _PIXELS, 8),
    Architecture("mlp", "hidden layers 256, 256, 256", mlp, _IMAGES),
    Architecture("fc500-150", "hidden layers 500, 150", fc500_150, _IMAGES),
    Architecture("mlp-10x500", "ten hidden layers of 500", mlp10x500, _VECTORS),
    Architecture("nin", "network in network, batch-normalised", nin, _PIXELS, 4),
    Architecture("cnn-6", "six convolutions, hidden layers 512, 128", cnn6, _PIXELS, 8),
    Architecture("vgg-16", "thirteen convolutions, batch-normalised", vgg16, _PIXELS, 32),
    Architecture("resnet-18", "eight residual blocks, 64 to 512 channels", resnet18, _PIXELS, 8),
    Architecture("resnet-18-half", "eight residual blocks, 32 to 256 channels", half_resnet18, _PIXELS, 8),
    Architecture("wrn-28-10", "twelve residual blocks, 160 to 640 channels", wrn28_10, _PIXELS, 4),
    Architecture("densenet-121", "dense blocks of 6, 12, 24, 16 layers, growth 32", densenet121, _PIXELS, 8),
)

ZOO: Mapping[str, Architecture] = MappingProxyType({architecture.name: architecture for architecture in _ALL})
"""All architectures by name."""


def network(
    name: str,
    *,
    classes: int | None = None,
    shape: tuple[int, ...] | None = None,
    activation: str | None = None,
    pooling: str | None = None,
    seed: int = 0,
) -> nn.Module:
    """An untrained network, in training mode as PyTorch makes it.

    Args:
        name: One of ``ZOO``.
        classes: Number of logits; what is ``None``, here and below, is as in ``ZOO[name].native``.
        shape: One input, ``(channels, height, width)`` or ``(features,)``.
        activation: ``"relu"``, ``"softplus"`` (β = 5) or ``"silu"``.
        pooling: ``"max"`` or ``"average"``, for all local pooling if there is any.
        seed: Draws the weights; the global random state stays as it was.
    """
    require_choice(name, "name", ZOO)
    require_seed(seed)
    asked: dict[str, Any] = {"classes": classes, "shape": shape, "activation": activation, "pooling": pooling}
    form = replace(ZOO[name].native, **{key: value for key, value in asked.items() if value is not None})
    with seeded(seed):
        return ZOO[name].build(form)
