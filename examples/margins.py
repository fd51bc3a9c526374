"""Trains a small network on the bundled data, asks how far its decision boundary is, and draws the answer.

Run it by `.venv/bin/python examples/margins.py`. It takes less than a minute on two cores and writes `out/margins.png`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import torch
from torch import nn

import separatrix as sx
from separatrix.data import DataSet
from separatrix.plots import margin_distribution, nearest_samples

EPOCHS, BATCH, POINTS = 12, 50, 500


def lenet() -> nn.Sequential:
    """Two convolutions and two dense layers, 28 × 28 pixels to ten logits."""
    return nn.Sequential(
        nn.Conv2d(1, 8, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(16 * 7 * 7, 64), nn.ReLU(), nn.Linear(64, 10),
    )  # fmt: skip


def train(module: nn.Module, data: DataSet) -> None:
    """Cross-entropy by Adam, in an order of the samples that is the same every time."""
    optimizer = torch.optim.Adam(module.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
    shuffle = torch.Generator().manual_seed(0)
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(data), generator=shuffle).split(BATCH):
            optimizer.zero_grad()
            nn.functional.cross_entropy(module(data.points[rows]), data.labels[rows]).backward()
            optimizer.step()
        schedule.step()


def trained_classifier(data: DataSet) -> sx.Classifier:
    """A network in eval mode, its normalisation inside and its units known."""
    torch.manual_seed(0)
    module = sx.Classifier(lenet(), mean=0.286, std=0.353, bounds=(0, 1))
    train(module, data)
    return module.eval()


def draw(answers: list[sx.BoundaryPoints], classes: tuple[str, ...], path: Path) -> None:
    """One column a norm: all margins above, the samples nearest to the boundary below."""
    figure, axes = plt.subplots(2, len(answers), figsize=(13, 9), height_ratios=(1, 1.2), layout="constrained")
    for boundary, (above, below) in zip(answers, axes.T, strict=True):
        margin_distribution(boundary, unit="pixels in [0, 1]", ax=above)
        nearest_samples(boundary, classes=classes, ax=below)
    figure.suptitle("How far the decision boundary of a small network is from Fashion-MNIST test images")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)


def main(path: Path) -> None:
    """Train, ask in two norms, print, draw."""
    mpl.use("Agg")
    begin = time.perf_counter()
    train_data, test_data = sx.load_data("sample", split="train"), sx.load_data("sample", split="test")
    print(f"training a LeNet on {train_data}")
    model = trained_classifier(train_data)
    with torch.no_grad():
        accuracy = (model(test_data.points).argmax(1) == test_data.labels).double().mean()
    print(f"accuracy on {len(test_data):,} test images: {accuracy:.1%}  ({time.perf_counter() - begin:.0f} s)\n")

    data = test_data.select(slice(POINTS))
    answers = []
    for norm in (sx.L2, sx.Linf):
        boundary = sx.minimal_perturbation(model, data.points, norm=norm, ids=data.ids)
        print(f"{boundary}\n{sx.summarise(boundary)}\n")
        answers.append(boundary)
    draw(answers, data.classes, path)
    print(f"picture: {path}  ({time.perf_counter() - begin:.0f} s in all)")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("out/margins.png"))
