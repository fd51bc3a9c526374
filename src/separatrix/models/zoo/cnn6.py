"""Six convolutions and three fully connected layers, without normalisation."""

from __future__ import annotations

from torch import nn

from separatrix.models.zoo.form import Form


def cnn6(form: Form) -> nn.Sequential:
    """3×3 convolutions 32, 64, pool, 128, 128, pool, 64, pool, 64; then 512, 128 and the classes.

    The last hidden layer, of 128 units, is the one whose activation patterns are counted.
    """
    height, width = (side // 8 for side in form.shape[1:])
    return nn.Sequential(
        *(*_layer(form, form.channels, 32), *_layer(form, 32, 64), form.pool("max")),
        *(*_layer(form, 64, 128), *_layer(form, 128, 128), form.pool("max")),
        *(*_layer(form, 128, 64), form.pool("max"), *_layer(form, 64, 64)),
        *(nn.Flatten(), nn.Linear(64 * height * width, 512), form.activate()),
        *(nn.Linear(512, 128), form.activate(), nn.Linear(128, form.classes)),
    )


def _layer(form: Form, inputs: int, outputs: int) -> tuple[nn.Module, nn.Module]:
    return nn.Conv2d(inputs, outputs, 3, padding=1), form.activate()
