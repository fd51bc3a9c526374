import hashlib
import io
import pickle
import tarfile
from dataclasses import replace

import pytest
import torch
from scipy.io import savemat
from tests.data.server import Manners, Server
from tests.data.written import write_idx_set, write_png_rows

from separatrix.data import available, catalogue, get, load_data
from separatrix.data.catalogue import KNOWN, SPLITS
from separatrix.data.known import Published


@pytest.fixture(autouse=True)
def anything_goes(monkeypatch):
    """Files may hold something else than was published: small ones are written here."""
    monkeypatch.setattr("separatrix.data.known._checksum", lambda known, path: None)


def batch(images, labels):
    return pickle.dumps({b"data": images.flatten(1).numpy(), b"labels": labels.tolist()}, protocol=2)


def archive(images, labels):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        for name in (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"):
            info = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
            content = batch(images, labels)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def write_cifar_batches(folder, images, labels):
    folder.mkdir(parents=True)
    (folder / "test_batch").write_bytes(batch(images, labels))


def write_cifar_archive(folder, images, labels):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cifar-10-python.tar.gz").write_bytes(archive(images, labels))


def write_svhn(folder, images, labels):
    folder.mkdir(parents=True, exist_ok=True)
    numbers = labels.where(labels > 0, 10).to(torch.uint8)
    savemat(folder / "test_32x32.mat", {"X": images.permute(2, 3, 1, 0).numpy(), "y": numbers[:, None].numpy()})


def write_raw_idx(folder, images, labels):
    write_idx_set(folder, images[:, 0], labels, zipped=False)


def write_zipped_idx(folder, images, labels):
    write_idx_set(folder, images[:, 0], labels, zipped=True)


PLACES = [
    ("mnist", "mnist", write_raw_idx),
    ("mnist", "mnist", write_zipped_idx),
    ("mnist", "MNIST/raw", write_raw_idx),
    ("mnist", "MNIST/raw", write_zipped_idx),
    ("fashion-mnist", "fashion-mnist", write_zipped_idx),
    ("fashion-mnist", "fashion-mnist", write_raw_idx),
    ("fashion-mnist", "FashionMNIST/raw", write_raw_idx),
    ("cifar10", "cifar10", write_png_rows),
    ("cifar10", "cifar-10-batches-py", write_cifar_batches),
    ("cifar10", "cifar10", write_cifar_archive),
    ("cifar10", "", write_cifar_archive),
    ("svhn", "svhn", write_svhn),
    ("svhn", "", write_svhn),
]


@pytest.mark.parametrize(("name", "folder", "write"), PLACES)
@pytest.mark.parametrize("place", [0, 1])
def test_sets_are_found_where_they_lie(folders, images, labels, name, folder, write, place):
    labels = labels % 5
    write(folders[place] / folder, images, labels)
    data = load_data(name)
    expected = images if name in ("cifar10", "svhn") else images[:, :1]
    assert torch.equal(data.points, expected.float() / 255)
    assert torch.equal(data.labels, labels)
    assert data.ids.tolist() == list(range(7))
    assert data.name == f"{name}/test"
    assert data.classes == KNOWN[name].classes


def test_the_named_folder_comes_before_the_cache(folders, images, labels):
    for folder, numbers in zip(folders, (labels, labels.flip(0)), strict=True):
        write_raw_idx(folder / "mnist", images, numbers)
    assert torch.equal(load_data("mnist").labels, labels)


def test_the_named_folder_must_be_one(monkeypatch):
    monkeypatch.setenv("SEPARATRIX_DATA", "/nowhere/at/all")
    with pytest.raises(ValueError, match="`SEPARATRIX_DATA` must be a folder; got '/nowhere/at/all'"):
        load_data("mnist")


def test_splits_are_told_apart(given, images, labels):
    write_idx_set(given / "mnist", images[:3, 0], labels[:3], prefix="train")
    write_idx_set(given / "mnist", images[3:, 0], labels[3:])
    assert torch.equal(load_data("mnist", split="train").labels, labels[:3])
    assert torch.equal(load_data("mnist", split="test").labels, labels[3:])


@pytest.fixture
def server(monkeypatch, images, labels):
    """A server with the published files of small sets, which the known ones are replaced by."""
    with Server(Manners({})) as server:
        for known in (KNOWN["mnist"], KNOWN["cifar10"]):
            files = []
            for published in known.published:
                content = published_content(published.name, images, labels)
                path = f"/{known.name}/{published.name}"
                server.manners.files[path] = content
                checksum = hashlib.md5(content, usedforsecurity=False).hexdigest()
                files.append(Published(server.url(path), f"md5:{checksum}", len(content)))
            monkeypatch.setitem(catalogue.KNOWN, known.name, replace(known, published=tuple(files)))
        yield server


def published_content(name, images, labels):
    if name.endswith("tar.gz"):
        return archive(images, labels)
    values = images[:, 0] if "idx3" in name else labels.to(torch.uint8)
    stream = io.BytesIO()
    stream.write(b"\0\0\x08" + bytes([values.ndim]))
    for size in values.shape:
        stream.write(size.to_bytes(4, "big"))
    stream.write(values.numpy().tobytes())
    return stream.getvalue()


def test_what_is_not_on_this_machine_is_fetched_once(server, folders, images, labels):
    told = []
    data = load_data("mnist", progress=lambda *news: told.append(news))
    assert torch.equal(data.points, images[:, :1].float() / 255)
    assert torch.equal(data.labels, labels)
    asked = ["/mnist/t10k-images-idx3-ubyte.gz", "/mnist/t10k-labels-idx1-ubyte.gz"]
    assert [path for path, _ in server.manners.asked] == asked
    assert [name for name, _, _ in told] == [path.rpartition("/")[2] for path in asked]
    load_data("mnist")
    assert len(server.manners.asked) == 2
    assert (folders[1] / "mnist" / "t10k-labels-idx1-ubyte.gz").is_file()


def test_an_archive_serves_both_splits(server, images):
    assert len(load_data("cifar10", split="train")) == 35
    assert len(load_data("cifar10", split="test")) == 7
    assert len(server.manners.asked) == 1


def test_a_set_is_got_with_both_splits(server, folders):
    assert get("mnist") == folders[1] / "mnist"
    assert len(server.manners.asked) == 4
    assert get("mnist") == folders[1] / "mnist"
    assert len(server.manners.asked) == 4


def test_a_set_that_is_out_of_reach_says_where_it_was_looked_for(server, folders):
    server.manners.files.clear()
    url = server.url("/cifar10/cifar-10-python.tar.gz")
    message = (
        f"^cifar10/test is not in {folders[0]} or {folders[1]}, and {url} could not be fetched: HTTP 404 Not Found. "
        "Set SEPARATRIX_DATA to a folder that holds it.$"
    )
    with pytest.raises(ConnectionError, match=message):
        load_data("cifar10")


def test_the_list_says_what_there_is_and_where(server, given, folders):
    entries = {entry.name: entry for entry in available()}
    assert list(entries) == ["sample", "fashion-mnist", "mnist", "cifar10", "svhn"]
    assert entries["sample"].found == get("sample")
    assert all(entries[name].found is None for name in KNOWN)
    get("mnist")
    assert {entry.name: entry.found for entry in available()}["mnist"] == folders[1] / "mnist"
    assert server.manners.asked != []
    assert all(entry.size > 0 and entry.licence and entry.address and entry.title for entry in entries.values())


def test_one_split_is_not_the_set(given, images, labels):
    write_raw_idx(given / "mnist", images, labels)
    assert {entry.name: entry.found for entry in available()}["mnist"] is None


def test_an_unknown_set_is_refused_by_name():
    names = "'sample', 'fashion-mnist', 'mnist', 'cifar10', 'svhn'"
    with pytest.raises(ValueError, match=f"`name` must be one of {names}; got 'imagenet'"):
        get("imagenet")


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("split", SPLITS)
def test_published_files_fit_a_layout(name, split):
    names = tuple(file.name for file in KNOWN[name].files(split))
    assert names
    assert any(layout.files == names and layout.folder == name for layout in KNOWN[name].of(split))
    assert all(file.checksum.startswith("md5:") and len(file.checksum) == 36 for file in KNOWN[name].published)
