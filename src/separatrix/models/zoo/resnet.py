"""Residual networks in their form for 32×32 pixels."""

from __future__ import annotations

from torch import Tensor, nn

from separatrix.models.zoo.form import Form


class Residual(nn.Module):
    """Two 3×3 convolutions with batch normalisation, added to their (projected) input."""

    def __init__(self, form: Form, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        same = stride == 1 and inputs == outputs
        projection = (nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))
        self.shortcut = nn.Identity() if same else nn.Sequential(*projection)
        self.activation1, self.activation2 = form.activate(), form.activate()

    def forward(self, features: Tensor) -> Tensor:
        """Features of half the size where the stride is 2."""
        inner = self.activation1(self.norm1(self.conv1(features)))
        outer: Tensor = self.activation2(self.norm2(self.conv2(inner)) + self.shortcut(features))
        return outer


def resnet18(form: Form, width: int = 64) -> nn.Sequential:
    """ResNet-18 with a 3×3 stem and no pooling before the blocks, of ``width`` to 8 · ``width`` channels."""
    widths, strides = (width, width, 2 * width, 4 * width, 8 * width), (1, 2, 2, 2)
    stem = (nn.Conv2d(form.channels, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width), form.activate())
    blocks = [
        block
        for inputs, outputs, stride in zip(widths[:-1], widths[1:], strides, strict=True)
        for block in (Residual(form, inputs, outputs, stride), Residual(form, outputs, outputs, 1))
    ]
    return nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8 * width, form.classes))


def half_resnet18(form: Form) -> nn.Sequential:
    """ResNet-18 with half of the channels in every layer: a quarter of the weights."""
    return resnet18(form, width=32)
