"""LeNets: two convolutions for 28×28 pixels, three for 32×32."""

from __future__ import annotations

from torch import nn

from separatrix.models.zoo.form import Form


def lenet(form: Form, widths: tuple[int, int] = (20, 50), hidden: int = 500) -> nn.Sequential:
    """Two 5×5 convolutions without padding, each pooled by two, and one hidden layer: LeNet with Caffe's widths."""
    first, second = widths
    height, width = (((side - 4) // 2 - 4) // 2 for side in form.shape[1:])
    return nn.Sequential(
        *(nn.Conv2d(form.channels, first, 5), form.activate(), form.pool("max")),
        *(nn.Conv2d(first, second, 5), form.activate(), form.pool("max")),
        *(nn.Flatten(), nn.Linear(second * height * width, hidden), form.activate()),
        nn.Linear(hidden, form.classes),
    )


def wide_lenet(form: Form) -> nn.Sequential:
    """The same with 32, 64 and 512 units, wide enough to be trained adversarially."""
    return lenet(form, (32, 64), 512)


def lenet32(form: Form) -> nn.Sequential:
    """Three 5×5 convolutions of 32, 32 and 64 channels, each halved by 3×3 pooling, and 64 hidden units.

    The first pooling takes the maximum, before the activation; the others average, after it. This is the small
    CIFAR-10 network of Caffe and MatConvNet.
    """
    height, width = (-(-side // 8) for side in form.shape[1:])
    return nn.Sequential(
        *(nn.Conv2d(form.channels, 32, 5, padding=2), form.pool("max", 3, 2, 1), form.activate()),
        *(nn.Conv2d(32, 32, 5, padding=2), form.activate(), form.pool("average", 3, 2, 1)),
        *(nn.Conv2d(32, 64, 5, padding=2), form.activate(), form.pool("average", 3, 2, 1)),
        *(nn.Flatten(), nn.Linear(64 * height * width, 64), form.activate()),
        nn.Linear(64, form.classes),
    )
