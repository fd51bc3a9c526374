"""Fashion-MNIST, MNIST and CIFAR-10 from the folder that ``SEPARATRIX_DATA`` names, as uint8 tensors."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

PREFIX = {"train": "train", "test": "t10k"}


def folder() -> Path:
    """The data folder: ``SEPARATRIX_DATA``, or ``data`` where it is not set."""
    return Path(os.environ.get("SEPARATRIX_DATA", "data"))


def load(name: str, split: str) -> tuple[Tensor, Tensor]:
    """Images ``(n, channels, height, width)`` in uint8 and labels ``(n,)`` of one data set.

    Args:
        name: ``"fashion-mnist"``, ``"mnist"`` or ``"cifar10"``.
        split: ``"train"`` or ``"test"``.
    """
    if name == "cifar10":
        return _cifar10(folder() / name, split)
    images = _idx(folder() / name / f"{PREFIX[split]}-images-idx3-ubyte", header=16).reshape(-1, 1, 28, 28)
    labels = _idx(folder() / name / f"{PREFIX[split]}-labels-idx1-ubyte", header=8)
    return torch.from_numpy(images), torch.from_numpy(labels).long()


def _idx(path: Path, header: int) -> np.ndarray:
    packed = path.with_name(path.name + ".gz")
    content = gzip.decompress(packed.read_bytes()) if packed.exists() else path.read_bytes()
    return np.frombuffer(content, np.uint8, offset=header).copy()


def _cifar10(path: Path, split: str) -> tuple[Tensor, Tensor]:
    batches = [f"data_batch_{number}" for number in range(1, 6)] if split == "train" else ["test_batch"]
    images = np.concatenate([_rows(path / f"{batch}.png") for batch in batches])
    labels = json.loads((path / f"{split}_lables.json").read_text())  # the file's own spelling
    return torch.from_numpy(images).permute(0, 3, 1, 2).contiguous(), torch.tensor(labels)


def _rows(path: Path) -> np.ndarray:
    """A picture with one 32×32 image a row."""
    try:
        from PIL import Image

        Image.MAX_IMAGE_PIXELS = None
        return np.asarray(Image.open(path).convert("RGB")).reshape(-1, 32, 32, 3)
    except ImportError:
        from torchvision.io import ImageReadMode, read_image

        return read_image(str(path), ImageReadMode.RGB).permute(1, 2, 0).numpy().reshape(-1, 32, 32, 3)
