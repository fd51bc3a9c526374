"""Data sets known by name: where their files are looked for, and how they are fetched where they are missing."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from separatrix.checks import require
from separatrix.data.contents import Contents
from separatrix.data.damage import whole
from separatrix.data.download import Progress, download
from separatrix.data.formats import Split, unzipped
from separatrix.data.stores import Pixels

FOLDER_VARIABLE = "SEPARATRIX_DATA"


@dataclass(frozen=True)
class Layout:
    """One way in which a split of a set lies on disk.

    Attributes:
        split: ``"train"`` or ``"test"``.
        folder: Below the folder where sets are looked for.
        files: What it needs, in order.
        read: From the paths of these files to images and labels.
    """

    split: str
    folder: str
    files: tuple[str, ...]
    read: Callable[[Sequence[Path]], Split]

    def paths(self, root: Path) -> list[Path]:
        """Where the files would be."""
        return [root / self.folder / name for name in self.files]


@dataclass(frozen=True)
class Published:
    """A file as published: its address, its checksum, its size in bytes."""

    url: str
    checksum: str
    size: int

    @property
    def name(self) -> str:
        """What the file is called."""
        return self.url.rpartition("/")[2]


@dataclass(frozen=True)
class KnownSet:
    """A published data set.

    Attributes:
        name: What users call it, and the folder it is downloaded to.
        title: What it is, in a line.
        classes: What its labels are called.
        licence: On what terms it may be used.
        address: Where it is described.
        published: Its files at their source.
        layouts: How it may lie on disk, that of the published files among them.
        contents: Checksums of what its files hold in other layouts than the published one, by their names; of a
            gzipped file, of what it unpacks to, by its name without ``.gz``.
    """

    name: str
    title: str
    classes: tuple[str, ...]
    licence: str
    address: str
    published: tuple[Published, ...]
    layouts: tuple[Layout, ...]
    contents: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, split: str) -> Iterator[Layout]:
        """The ways in which a split may lie on disk."""
        return (layout for layout in self.layouts if layout.split == split)

    def files(self, split: str) -> list[Published]:
        """The published files that a split needs."""
        needed = {name for layout in self.of(split) for name in layout.files}
        return [file for file in self.published if file.name in needed]


def folders() -> tuple[Path, ...]:
    """Where sets are looked for: the folder that ``SEPARATRIX_DATA`` names, then the cache, which downloads go to."""
    named = os.environ.get(FOLDER_VARIABLE)
    if not named:
        return (cache(),)
    given = Path(named).expanduser()
    require(given.is_dir(), FOLDER_VARIABLE, "be a folder", repr(named))
    return given, cache()


def cache() -> Path:
    """The folder that downloads go to."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "separatrix" / "data"


def found(known: KnownSet, split: str) -> tuple[Layout, Path] | None:
    """How and below which folder a split lies on this machine, if it does."""
    places = ((layout, root) for root in folders() for layout in known.of(split))
    return next((place for place in places if all(path.is_file() for path in place[0].paths(place[1]))), None)


def fetched(known: KnownSet, split: str, progress: Progress | None) -> tuple[Layout, Path]:
    """The same, after a download of what is missing."""
    place = found(known, split)
    if place is None:
        _fetch(known, split, progress)
        place = found(known, split)
    assert place is not None
    return place


def read_known(known: KnownSet, split: str, progress: Progress | None) -> Contents:
    """A split of a known set, its ids being the positions in the published files."""
    layout, root = fetched(known, split, progress)
    require_published(known, layout.paths(root))
    images, labels = layout.read(layout.paths(root))
    return Contents(Pixels(images), f"{known.name}/{split}", labels, None, known.classes)


def require_published(known: KnownSet, paths: Sequence[Path]) -> None:
    """Refuse files of a known set that hold something else: a flipped bit makes a picture like any other."""
    for path in paths:
        checksum = _checksum(known, path)
        with whole(path, f"a file of {known.name}"):
            if checksum is not None and _digest(known, path, checksum) != checksum:
                fix = f"Delete it: `separatrix data get {known.name}` fetches what is missing"
                raise ValueError(f"other contents than were published. {fix}")


def _checksum(known: KnownSet, path: Path) -> str | None:
    published = {file.name: file.checksum for file in known.published}
    return known.contents.get(_unzipped_name(path), published.get(path.name))


def _digest(known: KnownSet, path: Path, checksum: str) -> str:
    algorithm = checksum.partition(":")[0]
    with unzipped(path) if _unzipped_name(path) in known.contents else path.open("rb") as stream:
        found = hashlib.file_digest(stream, lambda: hashlib.new(algorithm, usedforsecurity=False))
    return f"{algorithm}:{found.hexdigest()}"


def _unzipped_name(path: Path) -> str:
    return path.name.removesuffix(".gz")


def _fetch(known: KnownSet, split: str, progress: Progress | None) -> None:
    folder = cache() / known.name
    for file in known.files(split):
        path = folder / file.name
        if path.is_file():
            continue
        try:
            download(file.url, path, checksum=file.checksum, progress=progress)
        except ConnectionError as error:
            looked = " or ".join(map(str, folders()))
            fix = f"Set {FOLDER_VARIABLE} to a folder that holds it."
            raise ConnectionError(f"{known.name}/{split} is not in {looked}, and {error} {fix}") from error
