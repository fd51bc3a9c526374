"""The one place where anything in a run is written: a file is there whole, or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any

_UNFINISHED = ".unfinished"
_SEAL = "sha256"


class Stage(Enum):
    """Where in a write an interruption can strike."""

    BEFORE = "nothing is written"
    HALF = "half of the content is written, under a temporary name"
    WHOLE = "all of it is, still under that name"
    AFTER = "the file is in its place"


def reached(stage: Stage, path: Path) -> None:
    """Called at every stage of every write, and does nothing: tests put their interruptions here."""


def write(path: Path, content: bytes) -> str:
    """Put ``content`` at ``path``, whole or not at all, in place of what was there; its SHA-256.

    It is written beside ``path`` under a temporary name, synced to the disk and renamed. Whatever interrupts this
    leaves the old file or the new one. Two processes may write the same path at once: the last rename stays.
    """
    reached(Stage.BEFORE, path)
    path.parent.mkdir(parents=True, exist_ok=True)
    while not _placed(path, content):  # another process has swept the temporary file away
        pass
    reached(Stage.AFTER, path)
    return hashlib.sha256(content).hexdigest()


def digest(path: Path) -> str:
    """SHA-256 of a file's content, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def remove(path: Path) -> None:
    """Take a file away, if it is there."""
    path.unlink(missing_ok=True)


def sweep(folder: Path) -> int:
    """Remove what interrupted writes have left anywhere in ``folder``; how many files that were."""
    left = list(folder.rglob(f".*{_UNFINISHED}"))
    for path in left:
        remove(path)
    return len(left)


def unfinished(path: Path) -> bool:
    """Whether a file is what an interrupted write has left, or one still at work."""
    return path.name.startswith(".") and path.name.endswith(_UNFINISHED)


def write_sealed(path: Path, content: Mapping[str, Any], *, indent: int | None = None) -> None:
    """Put a JSON object at ``path``, with a hash of itself, as ``write`` does."""
    seal = {_SEAL: _seal(content)}
    write(path, json.dumps({**content, **seal}, indent=indent, ensure_ascii=False).encode() + b"\n")


def read_sealed(path: Path) -> dict[str, Any] | None:
    """The JSON object that ``write_sealed`` put there; None where nothing is, or something else."""
    try:
        content = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError, RecursionError):  # the last from brackets opened thousands of times
        return None
    sound = isinstance(content, dict) and content.pop(_SEAL, None) == _seal(content)
    return content if sound else None


def _placed(path: Path, content: bytes) -> bool:
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}{_UNFINISHED}")
    try:
        _write_through(temporary, content, path)
        reached(Stage.WHOLE, path)
        return _renamed(temporary, path)
    finally:
        remove(temporary)


def _write_through(temporary: Path, content: bytes, path: Path) -> None:
    """To the disk itself; the folder's own entry may be lost with the power, and then the file counts as not there."""
    first, rest = memoryview(content)[: len(content) // 2], memoryview(content)[len(content) // 2 :]
    with temporary.open("wb") as file:
        file.write(first)
        file.flush()
        reached(Stage.HALF, path)
        file.write(rest)
        file.flush()
        os.fsync(file.fileno())


def _renamed(temporary: Path, path: Path) -> bool:
    try:
        temporary.replace(path)
    except FileNotFoundError:
        return False
    return True


def _seal(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
