from importlib.resources import files

import numpy as np
import pytest
import torch
from tests.data.written import write_pictures
from torch.utils.data import TensorDataset

from separatrix.data import dct_flip, load_data


@pytest.fixture
def data():
    return load_data()


@pytest.mark.parametrize(("split", "per_class"), [("train", 300), ("test", 100)])
def test_the_sample_is_balanced(split, per_class):
    data = load_data("sample", split=split)
    assert len(data) == 10 * per_class
    assert data.points.shape == (10 * per_class, 1, 28, 28)
    assert data.labels.bincount().tolist() == [per_class] * len(data.classes)


def test_pixels_fill_the_unit_interval(data):
    assert data.points.dtype == torch.float32
    assert (data.points.min(), data.points.max()) == (0, 1)


def test_ids_are_positions_in_the_original_file(data):
    assert data.ids[:10].tolist() == list(range(10))
    assert data.classes[data.labels[0]] == "ankle boot"
    assert (data.ids.diff() > 0).all()
    assert data.ids[-1] < 10_000


def test_splits_hold_different_images(data):
    train = load_data(split="train").points.flatten(1)
    assert torch.cdist(data.points.flatten(1), train).min() > 0


def test_the_sample_is_small_and_carries_its_licence():
    folder = files("separatrix.data") / "samples"
    assert len((folder / "fashion-mnist.npz").read_bytes()) < 3_000_000
    assert "Copyright © 2017 Zalando SE" in (folder / "LICENSE-fashion-mnist").read_text("utf-8")


def test_it_prints_in_one_line(data):
    assert str(data) == "sample/test: 1,000 points of shape 1 × 28 × 28, 10 classes"


def test_a_tensor_becomes_a_data_set_with_its_positions_as_ids():
    points = torch.rand(3, 5, dtype=torch.float64)
    data = load_data(points, labels=[0, 2, 1])
    assert data.store is points
    assert data.labels.tolist() == [0, 2, 1]
    assert data.ids.tolist() == [0, 1, 2]
    assert data.classes == ("0", "1", "2")


def test_bytes_are_pixels(images, labels):
    data = load_data(images, labels=labels)
    assert torch.equal(data.points, images.float() / 255)
    assert torch.equal(load_data(images[:, 0], labels=labels).points, images[:, :1].float() / 255)


def test_every_way_in_gives_the_same_samples(images, labels, tmp_path):
    np.savez(tmp_path / "archive.npz", images=images, labels=labels)
    write_pictures(tmp_path / "flat", images, [f"{label}{'0' * row}.png" for row, label in enumerate(labels)])
    flat = load_data(tmp_path / "flat")
    order = flat.labels.argsort()
    pixels = images.float() / 255
    ways = {
        "bytes": load_data(images, labels=labels),
        "numbers": load_data(pixels, labels=labels),
        "archive": load_data(tmp_path / "archive.npz"),
        "data set": load_data(TensorDataset(pixels, labels)),
        "itself": load_data(load_data(images, labels=labels)),
    }
    assert len({data.fingerprint for data in ways.values()}) == 1
    assert torch.equal(flat.points[order].sum((1, 2, 3)).sort().values, pixels.sum((1, 2, 3)).sort().values)


def test_what_is_given_comes_before_what_the_source_says(data, images, labels, tmp_path):
    np.savez(tmp_path / "archive.npz", images=images, labels=labels, ids=torch.arange(7) + 50)
    read, names = load_data(tmp_path / "archive.npz"), tuple("abc")
    assert read.ids.tolist() == list(range(50, 57))
    changed = load_data(tmp_path / "archive.npz", labels=[0, 1, 2, 0, 1, 2, 0], ids=torch.arange(7), classes=names)
    assert (changed.labels.tolist(), changed.ids.tolist()) == ([0, 1, 2, 0, 1, 2, 0], list(range(7)))
    assert changed.classes == names
    assert load_data(data, ids=data.ids + 1).ids.tolist() == (data.ids + 1).tolist()


def test_a_data_set_keeps_its_changes(data):
    flipped = data.map(dct_flip, "DCT flip")
    assert load_data(flipped).fingerprint == flipped.fingerprint


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (
            {"source": "imagenet-9000"},
            r"`source` must be one of 'sample', 'fashion-mnist', 'mnist', 'cifar10', 'svhn', a folder of pictures or "
            r"an \.npz archive; got 'imagenet-9000'\.",
        ),
        ({"split": "validation"}, r"`split` must be 'train' or 'test'; got 'validation'\."),
        ({"source": torch.rand(3, 4)}, r"`labels` must be given: tensor has none; got None\. Points without labels"),
        ({"source": torch.rand(3, 4), "labels": [0, 1]}, r"`labels` must have shape \(3,\)"),
        ({"source": torch.rand(3, 4), "labels": [0.0, 1.0, 2.0]}, "`labels` must hold whole numbers"),
        ({"source": torch.ones(3, 4).int(), "labels": [0, 1, 0]}, r"`points` must be float32 or .*divide by 255"),
        ({"source": torch.rand(3, 4), "labels": [0, 1, 0], "ids": [1, 1, 2]}, "`ids` must all differ"),
        ({"size": 32}, r"`size` must be left out where points are not pictures; got 'sample'\."),
        ({"source": 7}, "`source` must have a length, and items by their number; got int"),
        ({"source": []}, "`source` must hold at least one point; got none"),
        ({"source": ["one", "two"]}, r"`source` must have items that are points or \(point, label\); got str"),
    ],
)
def test_bad_requests_are_refused_by_name(request_, message):
    with pytest.raises(ValueError, match=message):
        load_data(**request_)
