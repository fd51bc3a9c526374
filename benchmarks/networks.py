"""The networks that the benchmarks measure, and their trained weights from ``weights/``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch

from separatrix.classifier import Classifier
from separatrix.models import Card, load_weights

WEIGHTS = Path(__file__).resolve().parents[1] / "weights"
CIFAR10_MEAN, CIFAR10_STD = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)
PIXELS = (0.0, 1.0)


@dataclass(frozen=True)
class Network:
    """A network of the zoo with its units, and the data it reads: pixels in [0, 1]."""

    card: Card
    data: str


NETWORKS = {
    "lenet": Network(Card("lenet", bounds=PIXELS), "fashion-mnist"),
    "mlp": Network(Card("mlp", bounds=PIXELS), "fashion-mnist"),
    "smooth-lenet": Network(Card("smooth-lenet", bounds=PIXELS), "fashion-mnist"),
    "mnist-lenet": Network(Card("wide-lenet", bounds=PIXELS), "mnist"),
    "mnist-lenet-robust": Network(Card("wide-lenet", bounds=PIXELS), "mnist"),
    "resnet18": Network(Card("resnet-18", mean=CIFAR10_MEAN, std=CIFAR10_STD, bounds=PIXELS), "cifar10"),
}


def load(name: str, device: torch.device | str = "cpu", weights: Path = WEIGHTS) -> Classifier:
    """A trained network in float32 and eval mode, frozen, that reads pixels in [0, 1].

    Args:
        name: One of ``NETWORKS``.
        device: Where to put it.
        weights: The folder that holds ``<name>.safetensors``, whole or in shards: ``python -m
            benchmarks.train_networks`` makes them.
    """
    model = NETWORKS[name].card.classifier()
    load_weights(model, weights / f"{name}.safetensors")
    return model.to(device).eval().requires_grad_(False)
