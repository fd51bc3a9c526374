"""Data sets known by name: where their files are looked for, and how they are fetched where they are missing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from separatrix.checks import require
from separatrix.data.contents import Contents
from separatrix.data.download import Progress, download
from separatrix.data.formats import Split
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
    """

    name: str
    title: str
    classes: tuple[str, ...]
    licence: str
    address: str
    published: tuple[Published, ...]
    layouts: tuple[Layout, ...]

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
    images, labels = layout.read(layout.paths(root))
    return Contents(Pixels(images), f"{known.name}/{split}", labels, None, known.classes)


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
