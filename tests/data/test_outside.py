from dataclasses import dataclass

import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import Dataset, IterableDataset, Subset, TensorDataset

from separatrix.data import load_data


class Listed(Dataset):
    """A data set that lists its labels and classes beside its items, as torchvision's do."""

    classes = ("low", "high")

    def __init__(self, items, targets, target_transform=None):
        self.items, self.targets, self.target_transform = items, targets, target_transform
        self.opened = []

    def __len__(self):
        return len(self.items)

    def __getitem__(self, row):
        self.opened.append(row)
        target = self.targets[row]
        return self.items[row], target if self.target_transform is None else self.target_transform(target)


class Image_:
    """Stands in for the feature of an image column."""


Image_.__name__ = "Image"


@dataclass
class ClassLabel:
    names: list


class Table:
    """Behaves as a data set of Hugging Face does."""

    def __init__(self, columns, features, split=None):
        self.columns, self.features, self.split = columns, features, split

    @property
    def column_names(self):
        return list(self.columns)

    def __len__(self):
        return len(next(iter(self.columns.values())))

    def __getitem__(self, key):
        return self.columns[key] if isinstance(key, str) else {name: self.columns[name][key] for name in self.columns}


@pytest.fixture
def pictures(images):
    return [Image.fromarray(image.permute(1, 2, 0).numpy()) for image in images]


@pytest.fixture
def table(pictures):
    columns = {"note": list("abcdefg"), "photo": pictures, "kind": [0, 1, 1, 0, 1, 0, 0]}
    features = {"note": None, "photo": Image_(), "kind": ClassLabel(["low", "high"])}
    return Table(columns, features, "test")


@pytest.mark.parametrize("targets", [list, np.array, torch.tensor])
def test_listed_labels_are_taken_without_opening_the_items(images, targets):
    source = Listed(images, targets([0, 1, 1, 0, 1, 0, 0]))
    data = load_data(source)
    assert set(source.opened) == {0}
    assert data.labels.tolist() == [0, 1, 1, 0, 1, 0, 0]
    assert data.classes == ("low", "high")
    assert data.name == "Listed"
    assert torch.equal(data.points, images.float() / 255)


@pytest.mark.parametrize("kind", [int, float, str])
def test_labels_that_are_changed_are_taken_from_the_items(images, kind):
    targets = [kind(target) for target in (0, 1, 1, 0, 1, 0, 0)]
    data = load_data(Listed(images, targets, lambda target: 1 - round(float(target))))
    assert data.labels.tolist() == [1, 0, 0, 1, 0, 1, 1]


def test_items_may_be_tensors_pictures_or_arrays(images, pictures):
    targets = [0] * 7
    expected = images.float() / 255
    for items in (images, expected, pictures, [np.asarray(picture) for picture in pictures], list(expected.numpy())):
        assert torch.equal(load_data(Listed(items, targets)).points, expected)
    grey = [picture.convert("L") for picture in pictures]
    assert load_data(Listed(grey, targets)).points.shape == (7, 1, 32, 32)
    assert load_data(Listed([np.asarray(picture) for picture in grey], targets)).points.shape == (7, 1, 32, 32)


def test_pictures_are_scaled_and_others_refused(images, pictures):
    assert load_data(Listed(pictures, [0] * 7), size=8).points.shape == (7, 3, 8, 8)
    with pytest.raises(ValueError, match="`size` must be left out where points are not pictures; got Tensor"):
        load_data(Listed(images, [0] * 7), size=8)


def test_a_subset_keeps_the_positions_in_the_whole_as_ids(images, labels):
    whole = TensorDataset(images.float() / 255, labels)
    data = load_data(Subset(Subset(whole, [6, 4, 2, 0]), [3, 1]))
    assert data.ids.tolist() == [0, 4]
    assert data.labels.tolist() == labels[[0, 4]].tolist()
    assert torch.equal(data.points, images[[0, 4]].float() / 255)
    assert data.name == "TensorDataset"
    assert data.fingerprint == load_data(whole).select([0, 4]).fingerprint


def test_a_subset_of_listed_items_opens_none(images):
    source = Listed(images, [0, 1, 1, 0, 1, 0, 0])
    data = load_data(Subset(source, [2, 3]))
    assert set(source.opened) == {2}
    assert data.labels.tolist() == [1, 0]


@pytest.mark.parametrize("indices", [[5, -1, -7], torch.tensor([5, -1, -7])])
def test_ids_of_items_counted_from_the_end_are_their_positions(indices):
    whole = TensorDataset(torch.rand(7, 2), torch.arange(7))
    data = load_data(Subset(whole, indices))
    assert data.ids.tolist() == data.labels.tolist() == [5, 6, 0]
    assert load_data(Subset(Subset(whole, indices), [-1])).ids.tolist() == [0]
    assert load_data(Subset(load_data(whole, ids=torch.arange(7) * 10), indices)).ids.tolist() == [50, 60, 0]


@pytest.mark.parametrize(("label", "shown"), [("cat", "'cat'"), (2.5, "2.5"), (None, "None")])
def test_labels_that_are_no_whole_numbers_are_refused_by_name(label, shown):
    items = [(torch.rand(2), 1), (torch.rand(2), label)]
    table = Table({"image": [torch.rand(2)] * 2, "label": [1, label]}, {"image": Image_(), "label": None})
    for source in (items, table):
        with pytest.raises(ValueError, match=f"^`source` must have labels that are whole numbers; got {shown}\\.$"):
            load_data(source)


def test_points_without_labels_take_those_given(images):
    for bare in (TensorDataset(images.float()), list(images.float())):
        with pytest.raises(ValueError, match="`labels` must be given"):
            load_data(bare)
        assert load_data(bare, labels=[0] * 7).points.equal(images.float())


def test_columns_of_hugging_face_are_found_by_their_kind(table, images):
    data = load_data(table)
    assert torch.equal(data.points, images.float() / 255)
    assert data.labels.tolist() == [0, 1, 1, 0, 1, 0, 0]
    assert data.classes == ("low", "high")
    assert data.name == "hugging-face/test"
    assert load_data(table, size=16).points.shape == (7, 3, 16, 16)


def test_columns_of_hugging_face_are_found_by_their_names(images, labels):
    columns = {"label": labels.tolist(), "pixels": list(images)}
    data = load_data(Table(columns, dict.fromkeys(columns)))
    assert torch.equal(data.points, images.float() / 255)
    assert torch.equal(data.labels, labels)
    assert len(data.classes) == 10


@pytest.mark.parametrize(("split", "called"), [("train", "train"), ("test", "test"), ("test", "validation")])
def test_a_dictionary_of_splits_is_chosen_from(table, split, called):
    other = Table({"image": table.columns["photo"][:1], "label": [0]}, {"image": None, "label": None})
    assert len(load_data({called: table, "extra": other}, split=split)) == 7
    with pytest.raises(ValueError, match="`split` must be one of 'extra'; got 'test'"):
        load_data({"extra": other})


def test_a_table_without_images_or_labels_says_so(table):
    with pytest.raises(ValueError, match=r"`source` must have a column of images; got note\. Call it 'image'"):
        load_data(Table({"note": ["a"]}, {"note": None}))
    bare = Table({"image": table.columns["photo"]}, {"image": None})
    with pytest.raises(ValueError, match="`labels` must be given: hugging-face has none"):
        load_data(bare)
    assert len(load_data(bare, labels=[0] * 7)) == 7


class Stream(IterableDataset):
    def __iter__(self):
        return iter([])


def test_a_stream_is_refused():
    with pytest.raises(ValueError, match="`source` must have a length, and items by their number; got Stream"):
        load_data(Stream())
