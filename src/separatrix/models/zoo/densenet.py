"""Densely connected networks: every layer reads the features of all layers before it."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from separatrix.models.zoo.form import Form


class DenseLayer(nn.Module):
    """``growth`` new features beside those that came in, by way of a 1×1 bottleneck of four times as many."""

    def __init__(self, form: Form, inputs: int, growth: int) -> None:
        super().__init__()
        self.norm1, self.activation1 = nn.BatchNorm2d(inputs), form.activate()
        self.conv1 = nn.Conv2d(inputs, 4 * growth, 1, bias=False)
        self.norm2, self.activation2 = nn.BatchNorm2d(4 * growth), form.activate()
        self.conv2 = nn.Conv2d(4 * growth, growth, 3, padding=1, bias=False)

    def forward(self, features: Tensor) -> Tensor:
        """Features ``(n, inputs + growth, h, w)``."""
        bottleneck = self.conv1(self.activation1(self.norm1(features)))
        return torch.cat([features, self.conv2(self.activation2(self.norm2(bottleneck)))], dim=1)


def densenet121(form: Form, growth: int = 32) -> nn.Sequential:
    """DenseNet-121 with a 3×3 stem: blocks of 6, 12, 24 and 16 layers; between them channels and sides are halved."""
    channels = 2 * growth
    layers: list[nn.Module] = [nn.Conv2d(form.channels, channels, 3, padding=1, bias=False)]
    for depth in (6, 12, 24, 16):
        if len(layers) > 1:
            layers.append(_transition(form, channels))
            channels //= 2
        layers.append(nn.Sequential(*(DenseLayer(form, channels + i * growth, growth) for i in range(depth))))
        channels += depth * growth
    head = (nn.BatchNorm2d(channels), form.activate(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    return nn.Sequential(*layers, *head, nn.Linear(channels, form.classes))


def _transition(form: Form, channels: int) -> nn.Sequential:
    halved = nn.Conv2d(channels, channels // 2, 1, bias=False)
    return nn.Sequential(nn.BatchNorm2d(channels), form.activate(), halved, form.pool("average"))
