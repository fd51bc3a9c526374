"""A small task and a small network, and how to tell whether two trainings are one."""

from dataclasses import dataclass, replace

import torch
from torch import nn

from separatrix import Classifier
from separatrix.data import DataSet
from separatrix.training import Standard


def pictures(count, name="made", seed=0):
    """Bright above or bright below, in noise: two classes that a small network tells apart."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(count) % 2
    points = 0.6 * torch.rand(count, 1, 8, 8, generator=generator)
    points[labels == 0, :, :4] += 0.4
    points[labels == 1, :, 4:] += 0.4
    return DataSet(points, labels, 1000 + torch.arange(count), ("above", "below"), name)


def small_network(seed=0):
    """Convolution, batch normalisation, dropout: all that could make one training unlike another."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        layers = (nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten())
        return Classifier(nn.Sequential(*layers, nn.Dropout(0.2), nn.Linear(36, 2)), 0.5, 0.3, bounds=(0, 1))


def weights(model):
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def same_weights(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


SHORT = Standard(epochs=2, batch_size=8, augment="flip-crop", clip=1.0, weight_decay=1e-3)


@dataclass(frozen=True)
class Made:
    """Small coloured pictures of two classes, as a source."""

    count: int = 40

    def __str__(self):
        return "made"

    @property
    def bounds(self):
        return (0.0, 1.0)

    def load(self, split):
        grey = pictures(self.count, f"made/{split}", seed=("train", "test").index(split))
        return replace(grey, store=grey.points.expand(-1, 3, -1, -1).contiguous())
