"""The formats in which the known data sets are published: each reader gives images and labels of one split.

Images come as bytes ``(n, channels, height, width)``, labels as whole numbers ``(n,)``. A reader never runs what is in
a file, and never unpacks more than it says it holds.
"""

from __future__ import annotations

import gzip
import json
import math
import struct
from collections.abc import Sequence
from io import BufferedReader
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from separatrix.checks import require
from separatrix.data.damage import whole

Split = tuple[Tensor, Tensor]
"""Images ``(n, channels, height, width)`` as bytes, and labels ``(n,)``."""

_IDX_BYTES = 0x08
_LARGEST_IDX = 1 << 31


def read_idx_pair(paths: Sequence[Path]) -> Split:
    """Images and labels in two idx files, gzipped or not."""
    images, labels = (_read_idx(path) for path in paths)
    require(images.ndim == 3, str(paths[0]), "hold images (n, height, width)", f"shape {tuple(images.shape)}")
    return _paired(images[:, None], labels.long(), paths[-1])


def read_png_rows(paths: Sequence[Path]) -> Split:
    """Colour images of 32 × 32, each a row of a large lossless picture; the last file lists the labels."""
    images = torch.cat([_read_rows(path) for path in paths[:-1]])
    with whole(paths[-1], "a JSON list of labels"):
        labels = torch.tensor(json.loads(paths[-1].read_text("utf-8")))
    return _paired(images, labels, paths[-1])


def read_mat(paths: Sequence[Path]) -> Split:
    """Images ``X`` (height, width, channels, n) and labels ``y`` of a MATLAB file, where 10 stands for the digit 0."""
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    (path,) = paths
    with whole(path, "a MATLAB file with X and y", MatReadError):
        variables = loadmat(path, variable_names=("X", "y"))
        images, labels = np.asarray(variables["X"]), np.asarray(variables["y"])
    sound = images.ndim == 4 and images.dtype == np.uint8 and labels.dtype.kind in "ui"
    got = f"{images.dtype} {images.shape} and labels {labels.dtype}"
    require(sound, str(path), "hold bytes X (height, width, channels, n) and whole numbers y", got)
    numbers = torch.from_numpy(labels.reshape(-1).astype(np.int64))
    return _paired(torch.from_numpy(images.transpose(3, 2, 0, 1).copy()), numbers % 10, path)


def _read_idx(path: Path) -> Tensor:
    with whole(path, "an idx file"), unzipped(path) as stream:
        zero, kind, axes = struct.unpack(">HBB", stream.read(4))
        require(zero == 0 and kind == _IDX_BYTES, "header", "announce bytes", f"{zero:04x} {kind:02x}")
        shape = struct.unpack(f">{axes}I", stream.read(4 * axes))
        size = math.prod(shape)
        require(0 < size <= _LARGEST_IDX, "size", f"be from 1 to {_LARGEST_IDX:,} bytes", f"{size:,}")
        content = stream.read(size + 1)
        got = "more" if len(content) > size else f"{len(content):,}"
        require(len(content) == size, "content", f"be {size:,} bytes", got)
    return torch.frombuffer(bytearray(content), dtype=torch.uint8).reshape(shape)


def unzipped(path: Path) -> gzip.GzipFile | BufferedReader:
    """What a file holds, or, where it is gzipped, what it unpacks to."""
    with path.open("rb") as stream:
        zipped = stream.read(2) == b"\x1f\x8b"
    return gzip.GzipFile(path) if zipped else path.open("rb")


def _read_rows(path: Path) -> Tensor:
    from separatrix.data.pictures import opened

    picture = opened(path)
    require(picture.mode == "RGB" and picture.width == 1024, str(path), "hold one image of 1024 colours a row",
            f"{picture.mode} of {picture.width} columns")  # fmt: skip
    return torch.from_numpy(np.array(picture)).reshape(-1, 32, 32, 3).permute(0, 3, 1, 2).contiguous()


def _paired(images: Tensor, labels: Tensor, path: Path) -> Split:
    fits = labels.ndim == 1 and len(labels) == len(images) and not labels.is_floating_point()
    require(fits, str(path), f"hold {len(images)} labels, whole numbers", f"{labels.dtype} {tuple(labels.shape)}")
    return images, labels.long()
