"""VGG in its form for 32×32 pixels."""

from __future__ import annotations

from torch import nn

from separatrix.models.zoo.form import Form

_STAGES = ((64, 64), (128, 128), (256, 256, 256), (512, 512, 512), (512, 512, 512))


def vgg16(form: Form) -> nn.Sequential:
    """Thirteen batch-normalised 3×3 convolutions in five stages, each pooled by two, and one linear layer."""
    layers: list[nn.Module] = []
    channels = form.channels
    for stage in _STAGES:
        for width in stage:
            layers += [nn.Conv2d(channels, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), form.activate()]
            channels = width
        layers.append(form.pool("max"))
    height, width = (side // 32 for side in form.shape[1:])
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(channels * height * width, form.classes))
