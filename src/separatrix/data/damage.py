"""One wording for files that are not what they should be."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SYMPTOMS: tuple[type[Exception], ...] = (
    *(OSError, EOFError, MemoryError, RuntimeError),
    *(AttributeError, IndexError, KeyError, TypeError, ValueError),
    *(struct.error, zlib.error),
)


@contextmanager
def whole(path: Path, kind: str, *symptoms: type[Exception]) -> Iterator[None]:
    """While a file is read: whatever goes wrong is said in one line, with the file's name.

    Args:
        path: The file.
        kind: What it should be, such as ``"an idx file"``.
        symptoms: Errors that its reader raises besides the usual ones.
    """
    caught = (*_SYMPTOMS, *symptoms)
    try:
        yield
    except caught as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"`{path}` must be {kind}, whole and undamaged; got: {reason.rstrip('.')}.") from error
