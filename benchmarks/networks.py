"""The networks that the benchmarks measure: architectures, and their trained weights from ``weights/``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from separatrix.classifier import Classifier

WEIGHTS = Path(__file__).resolve().parents[1] / "weights"
CIFAR10_MEAN, CIFAR10_STD = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)


def lenet(channels: tuple[int, int] = (20, 50), hidden: int = 500) -> nn.Sequential:
    """LeNet with Caffe's widths, for 28×28 pixels: ReLU and maximum pooling, so piecewise linear."""
    return _lenet(channels, hidden, nn.ReLU, nn.MaxPool2d)


def smooth_lenet(channels: tuple[int, int] = (20, 50), hidden: int = 500, beta: float = 5.0) -> nn.Sequential:
    """The same LeNet with softplus and average pooling: every derivative exists everywhere."""
    return _lenet(channels, hidden, lambda: nn.Softplus(beta), nn.AvgPool2d)


def _lenet(
    channels: tuple[int, int], hidden: int, activation: Callable[[], nn.Module], pool: Callable[[int], nn.Module]
) -> nn.Sequential:
    first, second = channels
    return nn.Sequential(
        *(nn.Conv2d(1, first, 5), activation(), pool(2)),
        *(nn.Conv2d(first, second, 5), activation(), pool(2)),
        *(nn.Flatten(), nn.Linear(16 * second, hidden), activation(), nn.Linear(hidden, 10)),
    )


def mlp(width: int = 256) -> nn.Sequential:
    """Three hidden ReLU layers of one width on 784 pixels."""
    hidden = [layer for _ in range(2) for layer in (nn.Linear(width, width), nn.ReLU())]
    return nn.Sequential(nn.Flatten(), nn.Linear(784, width), nn.ReLU(), *hidden, nn.Linear(width, 10))


class Residual(nn.Module):
    """Two 3×3 convolutions with batch normalisation, added to their (projected) input."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        same = stride == 1 and inputs == outputs
        projection = (nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))
        self.shortcut = nn.Identity() if same else nn.Sequential(*projection)

    def forward(self, features: Tensor) -> Tensor:
        """Features of half the size where the stride is 2."""
        inner = functional.relu(self.norm1(self.conv1(features)))
        return functional.relu(self.norm2(self.conv2(inner)) + self.shortcut(features))


def resnet18(width: int = 64) -> nn.Sequential:
    """ResNet-18 in its usual form for 32×32 pixels: a 3×3 stem, no pooling before the blocks."""
    widths, strides = (width, width, 2 * width, 4 * width, 8 * width), (1, 2, 2, 2)
    stem = (nn.Conv2d(3, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU())
    blocks = [
        block
        for inputs, outputs, stride in zip(widths[:-1], widths[1:], strides, strict=True)
        for block in (Residual(inputs, outputs, stride), Residual(outputs, outputs, 1))
    ]
    return nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8 * width, 10))


@dataclass(frozen=True)
class Network:
    """An architecture and the data it reads: pixels in [0, 1], normalised inside."""

    build: Callable[[], nn.Module]
    data: str
    mean: Sequence[float] | None = None
    std: Sequence[float] | None = None

    def classifier(self) -> Classifier:
        """The network, untrained, with its normalisation."""
        return Classifier(self.build(), self.mean, self.std, bounds=(0.0, 1.0))


def mnist_lenet() -> nn.Sequential:
    """The LeNet of the two MNIST networks, wide enough to be trained adversarially."""
    return lenet(channels=(32, 64), hidden=512)


NETWORKS = {
    "lenet": Network(lenet, "fashion-mnist"),
    "mlp": Network(mlp, "fashion-mnist"),
    "smooth-lenet": Network(smooth_lenet, "fashion-mnist"),
    "mnist-lenet": Network(mnist_lenet, "mnist"),
    "mnist-lenet-robust": Network(mnist_lenet, "mnist"),
    "resnet18": Network(resnet18, "cifar10", CIFAR10_MEAN, CIFAR10_STD),
}


def load(name: str, device: torch.device | str = "cpu", weights: Path = WEIGHTS) -> Classifier:
    """A trained network in float32 and eval mode, frozen, that reads pixels in [0, 1].

    Args:
        name: One of ``NETWORKS``.
        device: Where to put it.
        weights: The folder that holds ``<name>.safetensors`` or its shards ``<name>-00001-of-….safetensors``.
    """
    from safetensors.torch import load_file

    shards = sorted({*weights.glob(f"{name}.safetensors"), *weights.glob(f"{name}-[0-9]*-of-*.safetensors")})
    if not shards:
        raise FileNotFoundError(
            f"no weights of {name!r} in {weights}; `python -m benchmarks.train_networks` makes them"
        )
    state = {key: value for shard in shards for key, value in load_file(shard).items()}
    model = NETWORKS[name].classifier()
    model.module.load_state_dict({key: full_precision(value) for key, value in state.items()})
    return model.to(device).eval().requires_grad_(False)


def full_precision(values: Tensor) -> Tensor:
    """Float32 for anything stored in half precision; integers as they are."""
    return values.float() if values.is_floating_point() else values
