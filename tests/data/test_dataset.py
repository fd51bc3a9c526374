from dataclasses import replace

import pytest
import torch
from torch.utils.data import DataLoader

from separatrix import each
from separatrix.data import DataSet, Items, Pixels, dct_flip, load_data


@pytest.fixture
def data():
    return load_data()


@pytest.fixture
def sound():
    return DataSet(torch.rand(5, 2), torch.tensor([0, 1, 0, 1, 1]), torch.arange(5) + 10, ("left", "right"), "made")


def held(points, how):
    """The same points, held in another way."""
    if how == "bytes":
        return Pixels((points * 255).round().to(torch.uint8))
    return Items(points.unbind(), lambda point: point, torch.arange(len(points)))


def test_a_selection_keeps_ids(data):
    coats = data.select(data.labels == 4)
    assert coats.ids.tolist() == data.ids[data.labels == 4].tolist()
    assert (data.select(slice(7)).points == data.points[:7]).all()
    assert coats.name == data.name


@pytest.mark.parametrize("index", [slice(1, 4), [3, 0], 2, torch.tensor([True, False, True, False, True])])
@pytest.mark.parametrize("how", ["bytes", "items"])
def test_a_selection_is_the_same_however_points_are_held(sound, index, how):
    data = replace(sound, store=(sound.points * 255).round() / 255)
    other = replace(data, store=held(data.points, how))
    chosen, likewise = data.select(index), other.select(index)
    assert torch.equal(chosen.points, likewise.points)
    assert chosen.ids.tolist() == likewise.ids.tolist()
    assert chosen.fingerprint == likewise.fingerprint
    assert torch.equal(chosen.select([0]).points, likewise.select([0]).points)


def test_a_loader_takes_it_as_it_is(data):
    points, labels = next(iter(DataLoader(data.select(slice(20)), batch_size=8)))
    assert (points == data.points[:8]).all()
    assert (labels == data.labels[:8]).all()


def test_questions_are_asked_of_it_batch_by_batch(data):
    few = data.select(slice(100, 120))
    answers = list(each(few, lambda points, ids: (points.sum(), ids), batch_size=8))
    assert torch.cat([ids for _, ids in answers]).tolist() == few.ids.tolist()
    assert sum(total for total, _ in answers) == pytest.approx(float(few.points.sum()), rel=1e-5)


def test_an_item_is_a_point_and_its_label(sound):
    point, label = sound[-2]
    assert torch.equal(point, sound.points[3])
    assert label == 1
    assert len(list(sound)) == 5


def test_batches_go_through_all_samples_in_the_order_asked_for(data):
    order = torch.randperm(len(data), generator=torch.Generator().manual_seed(0))
    batches = list(data.batches(300, order))
    assert [len(points) for points, _, _ in batches] == [300, 300, 300, 100]
    assert torch.equal(torch.cat([points for points, _, _ in batches]), data.points[order])
    assert torch.equal(torch.cat([labels for _, labels, _ in batches]), data.labels[order])
    assert torch.equal(torch.cat([ids for _, _, ids in batches]), data.ids[order])
    assert torch.equal(next(data.batches(3))[2], data.ids[:3])
    assert list(data.batches(3, [])) == []


def test_bytes_take_a_quarter_of_the_memory():
    images = torch.zeros(100, 3, 32, 32, dtype=torch.uint8)
    assert load_data(images, labels=torch.zeros(100).long()).store.images is images


def test_items_are_read_only_when_asked_for(sound):
    opened = []
    store = Items(range(5), lambda row: opened.append(row) or sound.points[row], torch.arange(5))
    data = replace(sound, store=store)
    assert opened == []
    next(data.select([4, 2, 1]).batches(2))
    assert opened == [4, 2]


def test_points_are_made_once(data):
    assert data.points is data.points


def test_the_fingerprint_is_that_of_points_labels_and_ids(sound):
    assert len(sound.fingerprint) == 64
    assert replace(sound, name="other", classes=("a", "b")).fingerprint == sound.fingerprint
    different = (
        replace(sound, store=sound.points + 1e-6),
        replace(sound, labels=1 - sound.labels),
        replace(sound, ids=sound.ids + 1),
        replace(sound, store=sound.points.double()),
        replace(sound, store=sound.points[:, :, None]),
        sound.select([1, 0, 2, 3, 4]),
        sound.select(slice(4)),
        sound.map(lambda points: points, "nothing"),
    )
    assert len({sound.fingerprint, *(data.fingerprint for data in different)}) == 9


def test_a_change_is_made_whenever_points_are_read(data):
    flipped = data.map(dct_flip, "DCT flip")
    torch.testing.assert_close(flipped[3][0], dct_flip(data[3][0]))
    torch.testing.assert_close(flipped.select([5, 2]).points, dct_flip(data.points[[5, 2]]))
    torch.testing.assert_close(next(flipped.batches(4))[0], dct_flip(data.points[:4]))
    assert flipped.name == "sample/test, DCT flip"
    assert flipped.ids is data.ids
    assert flipped.points.min() < 0


def test_changes_follow_each_other(sound):
    changed = sound.map(lambda points: points + 1, "plus 1").map(lambda points: 2 * points, "doubled")
    torch.testing.assert_close(changed.points, 2 * (sound.points + 1))
    swapped = sound.map(lambda points: 2 * points, "doubled").map(lambda points: points + 1, "plus 1")
    assert changed.fingerprint != swapped.fingerprint
    assert changed.select([1]).fingerprint == sound.select([1]).map(changed.changes[0].function, "plus 1").map(
        changed.changes[1].function, "doubled"
    ).fingerprint  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"store": torch.zeros(3, 2, dtype=torch.uint8)}, "`points` must be float32 or float64; got torch.uint8"),
        ({"store": torch.zeros(3, 0)}, "`points` must hold at least one point"),
        ({"store": Pixels(torch.zeros(0, 2, dtype=torch.uint8))}, "`points` must hold at least one point; got none"),
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


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda data: data.map("flip", "flip"), r"`function` must be callable with points \(b, \*shape\); got str"),
        (lambda data: data.map(lambda x: x[:0], "none"), "`function` must give as many points as it gets, 1; got 0"),
        (lambda data: data.map(lambda x: x / 0, "void"), r"`function\(points\)` must be finite"),
        (lambda data: data.batches(0), "`size` must be a whole number ≥ 1; got 0"),
        (lambda data: data.select([[0, 1]]), "`index` must have one axis"),
    ],
)
def test_bad_requests_are_refused_by_name(sound, ask, message):
    with pytest.raises(ValueError, match=message):
        ask(replace(sound, store=sound.points + 1))


def test_items_of_several_shapes_are_refused():
    things = (torch.zeros(2), torch.zeros(3))
    data = DataSet(
        Items(things, lambda thing: thing, torch.arange(2)), torch.tensor([0, 0]), torch.arange(2), ("a",), ""
    )
    with pytest.raises(
        ValueError, match=r"`points` must have one shape and dtype; got \(2,\) float32 and \(3,\) float"
    ):
        data.batches(2).__next__()
