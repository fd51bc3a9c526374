"""A linear model, points, and questions whose every row can be foretold; importable in worker processes."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import torch
from torch import Tensor, nn

from separatrix.classifier import Classifier
from separatrix.data import DataSet, load_data
from separatrix.randomness import normal
from separatrix.survey.question import Answered, Cost, Inputs, Question
from separatrix.tables import Column

ID = Column("id", "identity", meaning="Name of the sample.")
NORM = Column("norm", "estimate", "input units", "ℓ2", "Length of the point.")
NOISE = Column("noise", "estimate", meaning="A number drawn by seed and id.")


def model(classes: int = 3, dim: int = 6) -> Classifier:
    """A linear classifier with fixed weights."""
    layer = nn.Linear(dim, classes)
    numbers = torch.arange(classes * dim, dtype=torch.float32).reshape(classes, dim)
    with torch.no_grad():
        layer.weight.copy_(torch.sin(numbers))
        layer.bias.zero_()
    return Classifier(layer.eval())


def data(count: int = 300, dim: int = 6) -> DataSet:
    """Points and their labels, named from 1,000 on."""
    points = normal(3, torch.arange(count), (dim,))
    return load_data(points, labels=torch.arange(count) % 3, ids=torch.arange(1000, 1000 + count))


def lengths(_: Classifier, points: Tensor, ids: Tensor, seed: int) -> Answered:
    """The length of each point, and some noise."""
    return Answered({"id": ids, "norm": points.flatten(1).norm(dim=1), "noise": normal(seed, ids, (1,))[:, 0]})


def signs(_: Classifier, points: Tensor, ids: Tensor, seed: int) -> Answered:
    """Two rows a sample."""
    return Answered({"id": ids.repeat_interleave(2), "norm": points.flatten(1)[:, :2].flatten().abs()})


def fails(_: Classifier, points: Tensor, ids: Tensor, seed: int) -> Answered:
    """A question that breaks on the sample 1,007, if it is asked about it."""
    if 1007 in ids.tolist():
        raise ValueError("`points` must be other ones; got sample 1007.")
    return lengths(model(), points, ids, seed)


def kills(_: Classifier, points: Tensor, ids: Tensor, seed: int) -> Answered:
    """Kill the process at work, once: the file that MARK names tells that it has happened."""
    mark = Path(os.environ["SEPARATRIX_TEST_MARK"])
    if not mark.exists():
        mark.write_text("killed")
        os.kill(os.getpid(), signal.SIGKILL)
    return lengths(model(), points, ids, seed)


def cheap(_: Inputs) -> Cost:
    """Next to nothing."""
    return Cost(forwards=1, gradients=0)


LENGTHS = Question("lengths", "How long are the points?", (ID, NORM, NOISE), lengths, cheap)
SIGNS = Question("signs", "How long are two entries?", (ID, NORM), signs, cheap, samples=100)
FAILS = Question("fails", "Does it break?", (ID, NORM, NOISE), fails, cheap)
KILLS = Question("kills", "Is it killed?", (ID, NORM, NOISE), kills, cheap)
PICTURES = Question("pictures", "What is seen?", (ID, NORM, NOISE), lengths, cheap, needs=("images",))
