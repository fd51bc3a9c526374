"""Archives of NumPy arrays, read without unpacking more than their size allows."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import torch
from numpy.lib import format as npy
from torch import Tensor

from separatrix.checks import require
from separatrix.data.contents import Contents, require_labels
from separatrix.data.damage import whole
from separatrix.data.stores import Pixels, Store, unit

_ALWAYS_ALLOWED, _RATIO_ALLOWED = 1 << 26, 100
_AT_ONCE = 1 << 20  # bytes
_IMAGES = ("images", "points", "x", "X", "data")
_LABELS = ("labels", "y", "Y", "targets")
_IDS = ("ids",)


def read_npz(path: Path, split: str, *, labelled: bool = False) -> Contents:
    """Points, labels and ids of an archive that names them so, or ``train_images``, ``test_images`` and so on.

    Args:
        path: Its members are ``images`` ``(n, *shape)`` and, where there are any, ``labels`` ``(n,)`` and ``ids``
            ``(n,)``. Images as bytes are pixels from 0 to 255: grey ones ``(n, height, width)``, others with their
            channels first.
        split: Members whose names begin with it come before others.
        labelled: Refuse an archive without labels, before its images are read.
    """
    with whole(path, "an .npz archive of arrays", zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
        _require_modest(archive, path)
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        chosen = {names: _choose(members, split, names) for names in (_IMAGES, _LABELS, _IDS)}
        require(chosen[_IMAGES] is not None, "members", f"include {' or '.join(_IMAGES)}", ", ".join(members) or "none")
        labels, ids = _read(archive, chosen[_LABELS]), _read(archive, chosen[_IDS])
        images = None if labelled and labels is None else _read(archive, chosen[_IMAGES])
    parted = any(name.startswith(f"{split}_") for name in members)
    name = f"{path.stem}/{split}" if parted else path.stem
    require_labels(images is not None, name)
    assert images is not None
    return Contents(as_store(images), name, labels, ids)


def as_store(values: Tensor) -> Tensor | Store:
    """Points as they are; bytes as pixels, with an axis for the channel where images are grey."""
    if values.dtype != torch.uint8:
        return unit(values)
    return Pixels(values[:, None] if values.ndim == 3 else values)


def _require_modest(archive: zipfile.ZipFile, path: Path) -> None:
    allowed = max(_ALWAYS_ALLOWED, _RATIO_ALLOWED * path.stat().st_size)
    size = sum(info.file_size for info in archive.infolist())
    require(size <= allowed, "archive", f"unpack to at most {allowed:,} bytes", f"{size:,}")


def _choose(members: Mapping[str, zipfile.ZipInfo], split: str, names: Sequence[str]) -> zipfile.ZipInfo | None:
    wanted = [*(f"{split}_{name}" for name in names), *names]
    return next((members[name] for name in wanted if name in members), None)


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo | None) -> Tensor | None:
    if info is None:
        return None
    with archive.open(info) as stream:
        read_header = {1: npy.read_array_header_1_0, 2: npy.read_array_header_2_0}[npy.read_magic(stream)[0]]
        shape, by_columns, kind = read_header(stream)
        require(kind.kind in "uif", info.filename, "hold numbers", kind)
        size, there = math.prod(shape) * kind.itemsize, info.file_size - stream.tell()
        require(there == size, info.filename, f"hold {size:,} bytes of {kind} {shape}", f"{there:,}")
        content = _filled(stream, size)
    values = content.view(kind).reshape(shape, order="F" if by_columns else "C")
    return torch.from_numpy(np.ascontiguousarray(values, kind.newbyteorder("=")))


def _filled(stream: IO[bytes], size: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """So many bytes of a stream, unpacked into the memory where they stay."""
    content = np.empty(size, np.uint8)
    for first in range(0, size, _AT_ONCE):
        part = stream.read(min(_AT_ONCE, size - first))
        content[first : first + len(part)] = np.frombuffer(part, np.uint8)
        require(len(part) == min(_AT_ONCE, size - first), "content", f"be {size:,} bytes", f"{first + len(part):,}")
    return content
