"""One way in for all data: by name, from files, from tensors, from the data sets of other libraries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import Tensor
from torch.utils.data import Dataset

from separatrix.checks import described, require
from separatrix.data.catalogue import GARMENTS, KNOWN, SAMPLE, SPLITS, sample_path
from separatrix.data.contents import Contents
from separatrix.data.dataset import DataSet
from separatrix.data.download import Progress
from separatrix.data.folders import read_folder
from separatrix.data.known import read_known
from separatrix.data.npz import as_store, read_npz
from separatrix.data.outside import is_hugging_face, read_hugging_face, read_torch
from separatrix.data.pictures import Colours, Picture
from separatrix.data.stores import Indexed

_NAMES = (SAMPLE, *KNOWN)


def load_data(
    source: str | Path | Tensor | Dataset[Any] | Indexed[Any] | Mapping[str, Indexed[Any]] = SAMPLE,
    *,
    split: str = "test",
    labels: Tensor | Sequence[int] | None = None,
    ids: Tensor | Sequence[int] | None = None,
    classes: Sequence[str] | None = None,
    size: int | None = None,
    crop: float = 1.0,
    colours: Colours | None = None,
    progress: Progress | None = None,
) -> DataSet:
    """Labelled points with ids of their own, pixels in [0, 1], from anywhere.

    Images of known sets and of archives are held as bytes; pictures in files, and items of other libraries' data
    sets, are read whenever they are asked for. Whatever is floating-point already stays as it is.

    Args:
        source: One of

            - a name: ``"sample"``, which is bundled, ``"fashion-mnist"``, ``"mnist"``, ``"cifar10"``, ``"svhn"``,
              looked for in the folder that ``SEPARATRIX_DATA`` names and in the cache, and downloaded otherwise;
            - the path of a folder with a folder of pictures for each class, or with pictures named after the number
              of their class; where it has a folder for the split, that one is read;
            - the path of an ``.npz`` archive with ``images`` and ``labels``, or ``train_images`` and so on;
            - a tensor ``(n, *shape)``: floating-point points, or bytes that are pixels from 0 to 255;
            - a data set of PyTorch, of Hugging Face, or of this library.
        split: ``"train"`` or ``"test"``; a source that is not split is read whole.
        labels: True classes ``(n,)``, where the source has none, or instead of its own.
        ids: Whole numbers ``(n,)`` that name the samples, all different; by default the positions in the source. A
            sample that has an id keeps it, whatever is selected.
        classes: What the classes are called, in the order of their labels. Of a folder: which of its folders are read.
        size: Pictures are scaled and cut to a square of this side.
        crop: Share of the shorter side that is kept of them: size 224 and crop 0.875 scale to 256 and cut to 224.
        colours: ``"L"`` makes pictures grey, ``"RGB"`` gives them three colours; by default as the first picture is.
        progress: Told the file, its bytes so far and its bytes in all, during a download.
    """
    require(split in SPLITS, "split", "be 'train' or 'test'", repr(split))
    picture = Picture(size, crop, colours)
    if not _of_pictures(source):
        require(picture == Picture(), "size", "be left out where points are not pictures", described(source))
    if isinstance(source, DataSet):
        contents = Contents(source.store, source.name, source.labels, source.ids, source.classes)
        return replace(contents.data_set(labels, ids, classes), changes=source.changes)
    if isinstance(source, (str, Path)):
        contents = _read_named(source, split, classes, picture, progress, labelled=labels is None)
    elif isinstance(source, Tensor):
        contents = Contents(as_store(source), "tensor")
    elif is_hugging_face(source):
        contents = read_hugging_face(source, split, picture)
    else:
        contents = read_torch(source, picture, labelled=labels is not None)
    return contents.data_set(labels, ids, classes)


def _of_pictures(source: object) -> bool:
    if isinstance(source, (str, Path)):
        return source not in _NAMES and Path(source).is_dir()
    return not isinstance(source, (DataSet, Tensor))


def _read_named(
    source: str | Path,
    split: str,
    classes: Sequence[str] | None,
    picture: Picture,
    progress: Progress | None,
    *,
    labelled: bool,
) -> Contents:
    path = Path(source)
    if source == SAMPLE:
        return replace(read_npz(sample_path(), split), name=f"{SAMPLE}/{split}", classes=GARMENTS)
    if source in KNOWN:
        return read_known(KNOWN[str(source)], split, progress)
    if path.is_dir():
        return read_folder(path, split, classes, picture)
    require(path.suffix != ".npz" or path.is_file(), "source", "be a file that is there", repr(str(source)))
    rule = f"be one of {', '.join(map(repr, _NAMES))}, a folder of pictures or an .npz archive"
    require(path.suffix == ".npz" and path.is_file(), "source", rule, repr(str(source)))
    return read_npz(path, split, labelled=labelled)
