"""Every sample is asked about once, under its own id, one batch at a time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, TensorDataset

from separatrix.batches import each

POINTS = torch.arange(14.0).reshape(7, 2)
LABELS = torch.tensor([0, 1, 2, 0, 1, 2, 0])
IDS = torch.tensor([5, 3, 8, 13, 21, 1, 2])


class Named(Dataset[tuple[Tensor, int]]):
    """A data set whose samples have ids of their own."""

    ids = IDS

    def __len__(self) -> int:
        return len(POINTS)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        return POINTS[index], int(LABELS[index])


class Bare(Dataset[Tensor]):
    """A data set of points alone."""

    def __len__(self) -> int:
        return len(POINTS)

    def __getitem__(self, index: int) -> Tensor:
        return POINTS[index]


class Stream(IterableDataset[Tensor]):
    def __iter__(self) -> Iterator[Tensor]:
        return iter(POINTS)


def pair(points: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
    return points, ids


def collected(answers: Iterator[tuple[Tensor, Tensor]]) -> tuple[list[int], Tensor, Tensor]:
    points, ids = zip(*answers, strict=True)
    return [len(part) for part in points], torch.cat(points), torch.cat(ids)


PLAIN = torch.arange(7)
SOURCES = {
    "tensor": (POINTS, PLAIN),
    "points": (Bare(), PLAIN),
    "points and labels": (TensorDataset(POINTS, LABELS), PLAIN),
    "one-tuples": (TensorDataset(POINTS), PLAIN),
    "own ids": (Named(), IDS),
    "part of a named set": (Subset(Named(), range(7)), IDS),
    "part of a nameless set": (Subset(Bare(), range(7)), PLAIN),
    "loader of a named set": (DataLoader(Named(), batch_size=3), IDS),
    "loader of a part of a named set": (DataLoader(Subset(Named(), range(7)), batch_size=3), IDS),
    "list": (list(POINTS), PLAIN),
    "loader of points": (DataLoader(Bare(), batch_size=3), PLAIN),
    "loader of one-tuples": (DataLoader(TensorDataset(POINTS), batch_size=3), PLAIN),
    "loader with labels": (DataLoader(TensorDataset(POINTS, LABELS), batch_size=3), PLAIN),
    "loader with ids": (DataLoader(TensorDataset(POINTS, LABELS, IDS), batch_size=3), IDS),
    "loader of a stream": (DataLoader(Stream(), batch_size=3), PLAIN),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_each_sample_is_asked_about_once_under_its_id(kind: str):
    data, ids = SOURCES[kind]
    sizes, points, seen = collected(each(data, pair, batch_size=3))  # type: ignore[arg-type]
    assert sizes == [3, 3, 1]
    assert_close(points, POINTS)
    assert_close(seen, ids)


@pytest.mark.parametrize("kind", SOURCES)
def test_ids_given_come_first(kind: str):
    data, _ = SOURCES[kind]
    _, _, seen = collected(each(data, pair, batch_size=3, ids=list(range(30, 37))))  # type: ignore[arg-type]
    assert_close(seen, torch.arange(30, 37))


@pytest.mark.parametrize("indices", [[4, 0, 6], (4, 0, 6), torch.tensor([4, 0, 6]), [-3, 0, -1]], ids=str)
def test_a_part_keeps_the_ids_of_the_whole(indices: list[int]):
    part = Subset(Named(), indices)
    for data in (part, DataLoader(part, batch_size=2), Subset(Subset(Named(), [1, 6, 0, 4]), [3, 2, 1])):
        _, points, ids = collected(each(data, pair, batch_size=2))
        assert_close(points, POINTS[[4, 0, 6]])
        assert_close(ids, IDS[[4, 0, 6]])


def test_a_loader_that_leaves_out_its_last_samples_keeps_the_ids_of_the_others():
    _, _, ids = collected(each(DataLoader(Named(), batch_size=3, drop_last=True), pair))
    assert_close(ids, IDS[:6])


@pytest.mark.parametrize("size", [1, 2, 7, 256])
def test_the_batch_size_changes_no_sample(size: int):
    sizes, points, ids = collected(each(Named(), pair, batch_size=size))
    assert max(sizes) == min(size, 7)
    assert_close(points, POINTS)
    assert_close(ids, IDS)


def test_a_shuffled_loader_keeps_ids_that_its_batches_carry():
    shuffled = DataLoader(TensorDataset(POINTS, LABELS, PLAIN), batch_size=2, shuffle=True)
    _, points, ids = collected(each(shuffled, pair))
    assert_close(points, POINTS[ids])
    assert sorted(ids.tolist()) == list(range(7))


@pytest.mark.parametrize("data", [POINTS, Bare(), DataLoader(Bare(), batch_size=1)], ids=["tensor", "set", "loader"])
def test_nothing_is_asked_before_its_turn(data: Tensor):
    asked: list[int] = []
    answers = each(data, lambda points, ids: asked.extend(ids.tolist()), batch_size=1)
    assert asked == []
    next(answers)
    assert asked == [0]


def test_what_the_question_answers_is_handed_on():
    assert list(each(POINTS, lambda points, ids: float(points.sum()), batch_size=4)) == [28.0, 63.0]


def test_a_data_set_leaves_the_global_random_state_alone():
    before = torch.get_rng_state()
    list(each(Named(), pair))
    assert torch.equal(torch.get_rng_state(), before)


REFUSED = {
    "question": (POINTS, None, {}, r"`question` must be callable with \(points, ids\); got NoneType"),
    "batch size": (POINTS, pair, {"batch_size": 0}, "`batch_size` must be a whole number ≥ 1; got 0"),
    "number": (3, pair, {}, "`data` must be a tensor, a data set with a length, or a DataLoader; got int"),
    "dictionary": ({0: POINTS}, pair, {}, "`data` must be a tensor, .* got dict"),
    "stream": (Stream(), pair, {}, "`data` must be .* got Stream. Wrap a stream in a DataLoader"),
    "empty": (POINTS[:0], pair, {}, "`data` must hold at least one point; got none"),
    "empty set": (Subset(Bare(), []), pair, {}, "`data` must hold at least one point; got none"),
    "one axis": (POINTS[0], pair, {}, r"`data` must be a batch of points \(n, \*shape\); got shape \(2,\)"),
    "no axis": (torch.tensor(1.0), pair, {}, r"`data` must be a batch .* got shape \(\)"),
    "few ids": (POINTS, pair, {"ids": [1, 2]}, r"`ids` must have shape \(7,\), one entry a point; got shape \(2,\)"),
    "ids in words": (POINTS, pair, {"ids": ["a"] * 7}, r"`ids` must hold whole numbers; got \['a', 'a'"),
    "fractional ids": (POINTS, pair, {"ids": POINTS[:, 0]}, "`ids` must hold whole numbers; got torch.float32"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_requests_are_refused_at_once(case: str):
    data, question, options, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        each(data, question, **options)  # type: ignore[arg-type, call-overload]


def shuffled() -> DataLoader[Tensor]:
    return DataLoader(Bare(), shuffle=True)


BAD_ITEMS = {
    "items": ([("cat.png", 1)], {}, r"`data` must have items that are points or .* got tuple of \(str, int\)"),
    "shapes": ([POINTS[0], POINTS], {}, r"`data` must have points of one shape; got \(2,\) and \(7, 2\)"),
    "batches": (DataLoader([{"x": 1}]), {}, "`data` must have batches that are points, .* got dict"),
    "shuffled": (shuffled(), {}, "`data` must keep its order, .* got RandomSampler. Use `shuffle=False`"),
    "shuffled, named": (DataLoader(Named(), shuffle=True), {}, "`data` must keep its order, .* got RandomSampler"),
    "shuffled part": (DataLoader(Subset(Named(), [1, 2]), shuffle=True), {}, "`data` must keep its order"),
    "weights": (DataLoader(TensorDataset(POINTS, LABELS, POINTS[:, 0])), {}, "`ids` must hold whole numbers"),
    "few ids": (DataLoader(Bare(), batch_size=7), {"ids": [1, 2]}, r"`ids` must have shape \(7,\)"),
}


@pytest.mark.parametrize("case", BAD_ITEMS)
def test_bad_data_is_refused_when_it_is_met(case: str):
    data, options, message = BAD_ITEMS[case]
    answers = each(data, pair, **options)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=message):
        list(answers)


def test_a_batch_sampler_of_the_users_own_needs_ids():
    loader = DataLoader(Bare(), batch_sampler=[[3, 1], [2]])
    with pytest.raises(ValueError, match="`data` must keep its order"):
        list(each(loader, pair))
