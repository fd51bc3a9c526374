"""Batches of CIFAR-10 as published: pickles, read without letting them run anything.

A pickle may name any function and have it called. This reader knows a few names, those with which arrays of NumPy are
written, and puts harmless records in their place; every other name is refused.
"""

from __future__ import annotations

import io
import pickle
import tarfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, final

import numpy as np
import torch
from torch import Tensor

from separatrix.checks import require
from separatrix.data.damage import whole
from separatrix.data.formats import Split

_LARGEST_BATCH = 1 << 26


def read_batches(paths: Sequence[Path]) -> Split:
    """Images and labels of batches, one pickle each."""
    return _joined([_read_batch(path, path.read_bytes()) for path in paths])


def read_archive(path: Path, members: Sequence[str]) -> Split:
    """Images and labels of the batches named ``members`` in the archive; nothing is unpacked to disk."""
    contents = {}
    with whole(path, "a gzipped tar archive", tarfile.TarError), tarfile.open(path, "r|gz") as archive:
        for member in archive:
            name = Path(member.name).name
            if name in members:
                require(member.size <= _LARGEST_BATCH, name, f"be at most {_LARGEST_BATCH:,} bytes", member.size)
                stream = archive.extractfile(member)
                contents[name] = b"" if stream is None else stream.read()
    missing = [name for name in members if name not in contents]
    require(not missing, str(path), f"hold {', '.join(members)}", f"no {', '.join(missing)}")
    return _joined([_read_batch(path / name, contents[name]) for name in members])


def _read_batch(path: Path, content: bytes) -> Split:
    with whole(path, "a batch of CIFAR-10", pickle.UnpicklingError):
        batch = _Reader(io.BytesIO(content), encoding="bytes").load()
        fields = {_text(key): value for key, value in batch.items()}
        images, labels = _pixels(fields["data"]), torch.tensor(fields["labels"], dtype=torch.long)
    require(len(images) == len(labels), str(path), f"hold {len(images)} labels", len(labels))
    return images, labels


def _joined(batches: Sequence[Split]) -> Split:
    images, labels = zip(*batches, strict=True)
    return torch.cat(images), torch.cat(labels)


def _pixels(array: object) -> Tensor:
    require(isinstance(array, _Array), "data", "be an array", type(array).__name__)
    assert isinstance(array, _Array)
    return torch.from_numpy(array.values().reshape(-1, 3, 32, 32))


def _text(key: str | bytes) -> str:
    return key.decode("ascii") if isinstance(key, bytes) else key


@final
class _Array:
    """What a pickle says of an array: its shape and its bytes."""

    state: tuple[Any, ...] = ()

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.state = state

    def values(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        _, shape, kind, by_columns, content = self.state
        require(kind.code in ("u1", b"u1") and not by_columns, "data", "be rows of bytes", kind.code)
        return np.frombuffer(bytearray(content), np.uint8).reshape(shape)


@final
class _Kind:
    """What a pickle says of the type of an array's entries."""

    def __init__(self, code: str | bytes, *_: object) -> None:
        self.code = code

    def __setstate__(self, state: object) -> None:
        pass


def _reconstructed(*_: object) -> _Array:
    return _Array()


def _encoded(text: str, _: str) -> bytes:
    return text.encode("latin-1")


_HARMLESS: Mapping[tuple[str, str], Callable[..., object]] = {
    ("numpy.core.multiarray", "_reconstruct"): _reconstructed,
    ("numpy._core.multiarray", "_reconstruct"): _reconstructed,
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Kind,
    ("_codecs", "encode"): _encoded,
}


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Callable[..., object]:
        known = (module, name) in _HARMLESS
        require(known, "content", "be arrays, numbers and text alone", f"a call of {module}.{name}")
        return _HARMLESS[module, name]
