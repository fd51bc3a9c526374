"""Files from the network: whole and checked, or not there at all."""

from __future__ import annotations

import hashlib
import http.client
import os
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from urllib.error import HTTPError, URLError

from separatrix.checks import require

Progress = Callable[[str, int, int], None]
"""Called with a file's name, its bytes so far, and its bytes in all (0 where that is not known)."""

_BLOCK = 1 << 18
_PATIENCE = 30.0
_TRIES_IN_VAIN = 3


def download(url: str, path: Path, *, checksum: str, progress: Progress | None = None) -> None:
    """Fetch a file, so that ``path`` is either the whole of it, checked, or untouched.

    What has come is kept beside it, as ``<name>.part``: after a connection that broke, and in a later call, it goes
    on from there where the server allows it. A file that is there already is left; where another process is fetching
    it, this one waits.

    Args:
        url: Its address.
        path: Where it goes; folders above are made.
        checksum: What it hashes to: ``"md5:…"``, ``"sha256:…"``.
        progress: Told how far it is, at every block of 256 kB.
    """
    algorithm, _, digest = checksum.partition(":")
    known = algorithm in hashlib.algorithms_available and bool(digest)
    require(known, "checksum", "be the name of a hash, a colon and its digits", repr(checksum))
    path.parent.mkdir(parents=True, exist_ok=True)
    with _alone_in(path.parent):
        if not path.is_file() or _hash(path, algorithm) != digest:
            _replace(url, path, algorithm, digest, progress)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """One process at a time downloads to a folder, where the system can lock folders."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _replace(url: str, path: Path, algorithm: str, digest: str, progress: Progress | None) -> None:
    part = path.with_name(f"{path.name}.part")
    continued = _size(part) > 0
    _fetch(url, part, progress)
    if continued and _hash(part, algorithm) != digest:  # the beginning was of another file
        part.unlink()
        _fetch(url, part, progress)
    _require_hash(url, part, algorithm, digest)
    part.replace(path)


_Reply = http.client.HTTPResponse | HTTPError


class _Trouble(Exception):
    """The network failed; ``lasting`` where another try would fail alike."""

    def __init__(self, message: str, *, lasting: bool = False) -> None:
        super().__init__(message)
        self.lasting = lasting


def _fetch(url: str, part: Path, progress: Progress | None) -> None:
    """Fill ``part`` until the file is whole, for as long as tries bring something."""
    in_vain = 0
    while True:
        before = _size(part)
        try:
            return _go_on(url, part, progress)
        except _Trouble as trouble:
            in_vain = 0 if _size(part) > before else in_vain + 1
            if trouble.lasting or in_vain == _TRIES_IN_VAIN:
                raise ConnectionError(f"{url} could not be fetched: {trouble}.") from trouble


def _go_on(url: str, part: Path, progress: Progress | None) -> None:
    done = _size(part)
    with _reply(url, done) as reply:
        if reply.status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            return
        begin = done if reply.status == HTTPStatus.PARTIAL_CONTENT else 0
        length = reply.headers.get("Content-Length")
        total = 0 if length is None else begin + int(length)
        written = _write(part, begin, _told(_blocks(reply), begin, total, part.stem, progress))
    if total and written < total:
        raise _Trouble(f"the connection was cut after {written:,} of {total:,} bytes")


def _reply(url: str, done: int) -> _Reply:
    """The server's answer to a request for all bytes from ``done`` on."""
    request = urllib.request.Request(url, headers={"User-Agent": "separatrix", "Accept-Encoding": "identity"})
    if done:
        request.add_header("Range", f"bytes={done}-")
    try:
        reply: _Reply = urllib.request.urlopen(request, timeout=_PATIENCE)
        return reply
    except HTTPError as error:
        if error.code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            return error
        error.close()
        lasting = error.code < HTTPStatus.INTERNAL_SERVER_ERROR
        raise _Trouble(f"HTTP {error.code} {error.reason}", lasting=lasting) from error
    except (OSError, http.client.HTTPException) as error:
        raise _Trouble(_reason(error)) from error


def _blocks(reply: _Reply) -> Iterator[bytes]:
    try:
        while block := reply.read(_BLOCK):
            yield block
    except (OSError, http.client.HTTPException) as error:
        raise _Trouble(_reason(error)) from error


def _told(blocks: Iterator[bytes], done: int, total: int, name: str, progress: Progress | None) -> Iterator[bytes]:
    for block in blocks:
        yield block
        done += len(block)
        if progress is not None:
            progress(name, done, total)


def _write(part: Path, begin: int, blocks: Iterator[bytes]) -> int:
    """Put the blocks into the file from this byte on; how long it is then."""
    try:
        with part.open("r+b" if begin else "wb") as file:
            file.seek(begin)
            file.truncate()
            for block in blocks:
                file.write(block)
            file.flush()
            os.fsync(file.fileno())
            return file.tell()
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(part)) from error


def _require_hash(url: str, part: Path, algorithm: str, digest: str) -> None:
    got = _hash(part, algorithm)
    if got != digest:
        part.unlink()
    require(got == digest, url, f"be a file with {algorithm} {digest}", got, "Nothing of it was kept.")


def _hash(path: Path, algorithm: str) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.new(algorithm, usedforsecurity=False)).hexdigest()


def _reason(error: Exception) -> str:
    reason = error.reason if isinstance(error, URLError) else error
    return str(getattr(reason, "strerror", None) or reason) or type(error).__name__


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
