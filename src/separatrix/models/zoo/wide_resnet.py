"""Wide residual networks: few blocks of many channels, normalised before each convolution."""

from __future__ import annotations

from torch import Tensor, nn

from separatrix.models.zoo.form import Form


class WideResidual(nn.Module):
    """Two 3×3 convolutions, each of normalised and activated features, added to the (projected) input."""

    def __init__(self, form: Form, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.norm1, self.activation1 = nn.BatchNorm2d(inputs), form.activate()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.norm2, self.activation2 = nn.BatchNorm2d(outputs), form.activate()
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        same = stride == 1 and inputs == outputs
        self.shortcut = None if same else nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, features: Tensor) -> Tensor:
        """Features of half the size where the stride is 2; a projection reads what the convolution reads."""
        ready = self.activation1(self.norm1(features))
        beside = features if self.shortcut is None else self.shortcut(ready)
        inner: Tensor = self.conv2(self.activation2(self.norm2(self.conv1(ready))))
        return inner + beside


def wrn28_10(form: Form) -> nn.Sequential:
    """WRN-28-10: a stem of 16 channels and three stages of four blocks, 160, 320 and 640 channels wide."""
    widths, strides = (16, 160, 320, 640), (1, 2, 2)
    blocks = [
        WideResidual(form, inputs if first else outputs, outputs, stride if first else 1)
        for inputs, outputs, stride in zip(widths[:-1], widths[1:], strides, strict=True)
        for first in (True, False, False, False)
    ]
    head = (nn.BatchNorm2d(640), form.activate(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(640, form.classes))
    return nn.Sequential(nn.Conv2d(form.channels, 16, 3, 1, 1, bias=False), *blocks, *head)
