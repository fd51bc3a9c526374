from dataclasses import replace
from importlib.resources import files

import pytest
import torch
from torch.utils.data import DataLoader

from separatrix.data import DataSet, load_data


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


def test_a_selection_keeps_ids(data):
    coats = data.select(data.labels == 4)
    assert coats.ids.tolist() == data.ids[data.labels == 4].tolist()
    assert (data.select(slice(7)).points == data.points[:7]).all()
    assert coats.name == data.name


def test_a_loader_takes_it_as_it_is(data):
    points, labels = next(iter(DataLoader(data.select(slice(20)), batch_size=8)))
    assert (points == data.points[:8]).all()
    assert (labels == data.labels[:8]).all()


def test_it_prints_in_one_line(data):
    assert str(data) == "sample/test: 1,000 points of shape 1 × 28 × 28, 10 classes"


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"name": "imagenet-9000"}, r"`name` must be one of 'sample'; got 'imagenet-9000'\."),
        ({"split": "validation"}, r"`split` must be 'train' or 'test'; got 'validation'\."),
    ],
)
def test_unknown_data_are_refused_by_name(request_, message):
    with pytest.raises(ValueError, match=message):
        load_data(**request_)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"points": torch.zeros(3, 2, dtype=torch.uint8)}, "`points` must be float32 or float64; got torch.uint8"),
        ({"labels": torch.zeros(2, dtype=torch.long)}, r"`labels` must have shape \(3,\)"),
        ({"labels": torch.zeros(3)}, "`labels` must hold whole numbers"),
        ({"labels": torch.tensor([0, 1, 2])}, "`labels` must be positions among the 2 classes; got labels from 0 to 2"),
        ({"ids": torch.tensor([5, 5, 6])}, "`ids` must all differ; got 2 values for 3 points"),
    ],
)
def test_data_that_do_not_fit_together_are_refused(change, message):
    sound = DataSet(torch.zeros(3, 2), torch.tensor([0, 1, 0]), torch.arange(3), ("left", "right"), "made")
    with pytest.raises(ValueError, match=message):
        replace(sound, **change)
