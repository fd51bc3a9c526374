"""Files of known sets that do not hold what was published are refused by name, in every layout."""

import gzip
import hashlib
from dataclasses import replace

import pytest
import torch
from tests.data.written import write_idx_set

from separatrix.data import catalogue, get, load_data
from separatrix.data.catalogue import KNOWN


def md5(content):
    return f"md5:{hashlib.md5(content, usedforsecurity=False).hexdigest()}"


@pytest.fixture(params=[True, False], ids=["gzipped", "plain"])
def folder(request, given, images, labels, monkeypatch):
    """A small MNIST, which counts as the published one; the zips are others than those published."""
    for prefix in ("train", "t10k"):
        write_idx_set(given / "mnist", images[:, 0], labels, prefix=prefix, zipped=request.param)
    contents = {path.name.removesuffix(".gz"): md5(read(path)) for path in (given / "mnist").iterdir()}
    monkeypatch.setitem(catalogue.KNOWN, "mnist", replace(KNOWN["mnist"], contents=contents))
    return given / "mnist"


def read(path):
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def change(path, content):
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def only(folder, pattern):
    (path,) = folder.glob(pattern)
    return path


def test_what_was_published_is_read(folder, images, labels):
    assert torch.equal(load_data("mnist").labels, labels)
    assert get("mnist") == folder


@pytest.mark.parametrize("part", ["images", "labels"])
@pytest.mark.parametrize("place", [-1, -3])
def test_one_changed_byte_is_refused_with_the_name_of_the_file(folder, part, place):
    path = only(folder, f"t10k-{part}*")
    content = bytearray(read(path))
    content[place] ^= 1
    change(path, bytes(content))
    message = (
        rf"^`{path}` must be a file of mnist, whole and undamaged; got: other contents than were published\. Delete"
    )
    for asked in (lambda: load_data("mnist"), lambda: get("mnist")):
        with pytest.raises(ValueError, match=message):
            asked()
    assert len(load_data("mnist", split="train")) == 7


def test_a_file_that_was_cut_is_refused_when_the_set_is_asked_for(folder):
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(ValueError, match=r"train-images\S* must be a file of mnist, whole and undamaged; got: "):
        get("mnist")


def test_a_published_file_is_held_against_its_checksum(given, monkeypatch):
    (given / "svhn").mkdir()
    for file in KNOWN["svhn"].published:
        (given / "svhn" / file.name).write_bytes(b"MATLAB 5.0 MAT-file")
    with pytest.raises(ValueError, match=r"test_32x32\.mat` must be a file of svhn, whole and undamaged; got: other"):
        load_data("svhn")


@pytest.mark.parametrize("name", KNOWN)
def test_every_file_of_every_layout_has_a_checksum(name):
    known = KNOWN[name]
    stems = {file for layout in known.layouts for file in layout.files}
    published = {file.name for file in known.published}
    assert all(file.removesuffix(".gz") in known.contents or file in published for file in stems)
    assert all(checksum.startswith("md5:") and len(checksum) == 36 for checksum in known.contents.values())
