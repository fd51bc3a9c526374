"""Tiny files in the formats that data sets come in."""

import gzip
import json
import struct

import numpy as np
import torch
from PIL import Image


def write_idx(path, values, *, zipped):
    """An idx file, as MNIST comes in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = struct.pack(f">HBB{values.ndim}I", 0, 8, values.ndim, *values.shape) + values.numpy().tobytes()
    path.write_bytes(gzip.compress(content) if zipped else content)


def write_idx_set(folder, images, labels, *, prefix="t10k", zipped=True):
    """Images and labels as two idx files."""
    ending = ".gz" if zipped else ""
    write_idx(folder / f"{prefix}-images-idx3-ubyte{ending}", images, zipped=zipped)
    write_idx(folder / f"{prefix}-labels-idx1-ubyte{ending}", labels.to(torch.uint8), zipped=zipped)


def write_png_rows(folder, images, labels):
    """The test split of CIFAR-10 as one picture with an image in each row."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = images.permute(0, 2, 3, 1).reshape(len(images), 1024, 3)
    Image.fromarray(rows.numpy()).save(folder / "test_batch.png")
    (folder / "test_lables.json").write_text(json.dumps(labels.tolist()))


def write_pictures(folder, images, names):
    """A picture a file, without loss."""
    for image, name in zip(images, names, strict=True):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        values = np.asarray(image.movedim(0, -1))
        Image.fromarray(values[..., 0] if values.shape[-1] == 1 else values).save(path)
