"""Network in network: convolutions each followed by two fully connected layers at every pixel."""

from __future__ import annotations

from torch import nn

from separatrix.models.zoo.form import Form


def nin(form: Form) -> nn.Sequential:
    """Blocks 192-160-96, 192-192-192 and 192-192-classes, 3×3 pooling between them, the mean over pixels at the end.

    Every convolution but the last is batch-normalised, which takes the place of the dropout of the original.
    """
    return nn.Sequential(
        *(_block(form, form.channels, (192, 160, 96), 5), form.pool("max", 3, 2, 1)),
        *(_block(form, 96, (192, 192, 192), 5), form.pool("average", 3, 2, 1)),
        *(_block(form, 192, (192, 192), 3), nn.Conv2d(192, form.classes, 1)),
        *(nn.AdaptiveAvgPool2d(1), nn.Flatten()),
    )


def _block(form: Form, channels: int, widths: tuple[int, ...], size: int) -> nn.Sequential:
    inputs, sizes = (channels, *widths), (size, 1, 1)
    layers: list[nn.Module] = []
    for before, after, window in zip(inputs[:-1], widths, sizes, strict=False):
        convolution = nn.Conv2d(before, after, window, padding=window // 2, bias=False)
        layers += [convolution, nn.BatchNorm2d(after), form.activate()]
    return nn.Sequential(*layers)
