"""The images that the benchmarks measure: the first of each test set, stored with the repository.

``python -m benchmarks.images`` makes the files again from the raw data in the folder ``SEPARATRIX_DATA``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks import raw_data
from benchmarks.networks import NETWORKS

FOLDER = Path(__file__).parent / "images"
STORED = {"fashion-mnist": 640, "cifar10": 560, "mnist": 280}
MEASURED = {"fashion-mnist": 512, "cifar10": 512, "mnist": 256}


def stored(data: str) -> tuple[Tensor, Tensor]:
    """Images in [0, 1] ``(n, channels, height, width)`` and true labels ``(n,)``."""
    with np.load(FOLDER / f"{data}.npz") as file:
        return torch.from_numpy(file["images"]).float() / 255, torch.from_numpy(file["labels"]).long()


@torch.no_grad()
def correct(name: str, model: nn.Module, device: torch.device | str = "cpu") -> tuple[Tensor, Tensor]:
    """The first test images that a network answers correctly, and its answers: what every method starts from."""
    data = NETWORKS[name].data
    images, labels = (tensor.to(device) for tensor in stored(data))
    chosen = (model(images).argmax(1) == labels).nonzero().flatten()[: MEASURED[data]]
    return images[chosen], labels[chosen]


def main() -> None:
    """Write the first images of each test set."""
    FOLDER.mkdir(exist_ok=True)
    for data, count in STORED.items():
        images, labels = raw_data.load(data, "test")
        arrays = {"images": images[:count].numpy(), "labels": labels[:count].numpy().astype(np.uint8)}
        np.savez_compressed(FOLDER / f"{data}.npz", **arrays)


if __name__ == "__main__":
    main()
