"""Folders of pictures: a folder a class, or files named after the numbers of their classes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import torch
from torch import Tensor

from separatrix.checks import require
from separatrix.data.contents import Contents
from separatrix.data.pictures import SUFFIXES, Picture, opened, own_colours
from separatrix.data.stores import Items

_Listing = tuple[list[Path], Tensor | None, tuple[str, ...] | None]
_SPLITS = {"train": ("train", "training"), "test": ("test", "testing", "val", "validation")}


def read_folder(folder: Path, split: str, classes: Sequence[str] | None, picture: Picture) -> Contents:
    """The pictures under a folder, in the order of their paths, none of them opened before it is read.

    Args:
        folder: Holds a folder a class, with pictures in it or below it; or no folders, and pictures named after the
            number of their class, such as ``007.jpg``. Where it holds a folder for the split, that one is read.
        split: ``"train"`` or ``"test"``.
        classes: Which folders are read, and the order in which their labels count; by default all, by name.
        picture: How pictures become points.
    """
    inside = next((folder / name for name in _SPLITS[split] if (folder / name).is_dir()), folder)
    folders = [child.name for child in sorted(inside.iterdir()) if child.is_dir() and not child.name.startswith(".")]
    paths, labels, names = _classes(inside, folders, classes) if folders else _loose(inside)
    require(len(paths) > 0, "source", f"hold pictures ({', '.join(SUFFIXES)})", f"none under {inside}")
    store = Items(paths, _settled(picture, paths[0]), torch.arange(len(paths)))
    return Contents(store, folder.name if inside == folder else f"{folder.name}/{split}", labels, None, names)


def _classes(folder: Path, found: Sequence[str], classes: Sequence[str] | None) -> _Listing:
    names = tuple(found if classes is None else classes)
    missing = [name for name in names if name not in found]
    require(not missing, "classes", f"be folders of {folder}", ", ".join(map(repr, missing)))
    pictures = [_pictures((folder / name).rglob("*")) for name in names]
    sizes = torch.tensor([len(paths) for paths in pictures])
    return list(chain.from_iterable(pictures)), torch.arange(len(names)).repeat_interleave(sizes), names


def _loose(folder: Path) -> _Listing:
    paths = _pictures(folder.iterdir())
    numbered = all(path.stem.isdecimal() for path in paths)
    return paths, torch.tensor([int(path.stem) for path in paths]) if numbered else None, None


def _pictures(paths: Iterable[Path]) -> list[Path]:
    return sorted(path for path in paths if path.suffix.lower() in SUFFIXES and not path.name.startswith("."))


def _settled(picture: Picture, first: Path) -> Picture:
    """In three colours where the first picture is: grey ones among them become so too."""
    coloured = picture.colours is None and own_colours(opened(first)) == "RGB"
    return replace(picture, colours="RGB") if coloured else picture
