"""What an answer says of itself: lengths, alignment, selection, and failure that stays visible."""

from __future__ import annotations

import math
import sys
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from separatrix.boundary import BoundaryPoints, percentile
from separatrix.norms import L2, Linf, Norm, per_sample
from separatrix.subspaces import Subspace, random_each, span, span_each

TENSORS = [
    "start",
    "end",
    "normals",
    "found",
    "own",
    "rival",
    "rival_rank",
    "raw_distance",
    "gap",
    "steps",
    "forwards",
    "gradients",
    "ids",
]
DIRECTIONS = torch.tensor([[3.0, 4.0, 0.0], [0.0, -2.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 1.0]], dtype=torch.float64)


def answer(
    steps: torch.Tensor,
    found: list[bool] | None = None,
    *,
    normals: torch.Tensor | None = None,
    norm: Norm = L2,
    subspace: Subspace | None = None,
) -> BoundaryPoints:
    """The answer in which each start (1, 1, …) moved by its own step, normals along the steps."""
    count = len(steps)
    met = torch.tensor([True] * count if found is None else found)
    seen = per_sample(met, steps)
    start = torch.ones_like(steps)
    return BoundaryPoints(
        start=start,
        end=(start + steps).where(seen, torch.nan),
        normals=(L2.steepest(steps) if normals is None else normals).where(seen, torch.nan),
        found=met,
        own=torch.zeros(count, dtype=torch.long),
        rival=torch.ones(count, dtype=torch.long).where(met, -1),
        rival_rank=torch.ones(count, dtype=torch.long).where(met, -1),
        raw_distance=(1.02 * norm.length(steps)).where(met, torch.inf),
        gap=torch.full((count,), torch.nan),
        steps=torch.full((count,), 2),
        forwards=torch.full((count,), 7),
        gradients=torch.arange(count) + 3,
        ids=10 + torch.arange(count),
        norm=norm,
        subspace=subspace,
    )


def assert_same(one: BoundaryPoints, other: BoundaryPoints) -> None:
    for name in TENSORS:
        assert_close(getattr(one, name), getattr(other, name), equal_nan=True, rtol=0, atol=0)
    assert one.norm == other.norm


def test_distances_are_the_lengths_of_the_displacements():
    boundary = answer(DIRECTIONS)
    assert_close(boundary.perturbation, DIRECTIONS)
    assert_close(boundary.distance, torch.tensor([5.0, 2.0, 1.0, math.sqrt(3)], dtype=torch.float64))
    assert_close(boundary.improvement, torch.full((4,), 1.02, dtype=torch.float64))
    assert boundary.share_found == 1


def test_what_was_not_found_is_infinitely_far_and_has_no_displacement():
    boundary = answer(DIRECTIONS, [True, False, True, False])
    assert_close(boundary.distance, torch.tensor([5.0, math.inf, 1.0, math.inf], dtype=torch.float64))
    assert boundary.perturbation[[1, 3]].isnan().all()
    assert boundary.alignment[[1, 3]].isnan().all()
    assert boundary.improvement[[1, 3]].isnan().all()
    assert boundary.share_found == 0.5


@pytest.mark.parametrize("norm", [L2, Linf, Norm(3), Norm(1.5)], ids=str)
def test_alignment_is_one_exactly_for_the_steepest_step_of_each_norm(norm: Norm):
    normals = L2.steepest(DIRECTIONS)
    straight = answer(0.3 * norm.steepest(normals), normals=normals, norm=norm)
    assert_close(straight.alignment, torch.ones(4, dtype=torch.float64))
    bent = answer(
        straight.perturbation + torch.tensor([0.0, 0.1, -0.2], dtype=torch.float64), normals=normals, norm=norm
    )
    assert (bent.alignment[[0, 3]] < 0.999).all()
    assert (bent.alignment <= 1 + 1e-12).all()


def test_alignment_by_hand():
    across = torch.tensor([[0.0, 1.0, 0.0]], dtype=torch.float64)
    assert_close(answer(DIRECTIONS[:1], normals=across).alignment, torch.tensor([0.8], dtype=torch.float64))


def test_alignment_has_no_value_for_a_start_on_the_boundary():
    boundary = answer(torch.zeros(1, 3, dtype=torch.float64), normals=DIRECTIONS[2:3])
    assert boundary.distance.item() == 0
    assert boundary.alignment.isnan().all()


def test_alignment_within_a_subspace_measures_the_projected_normal():
    normals = L2.steepest(torch.tensor([[1.0, 1.0, 1.0], [0.0, 0.0, 1.0]], dtype=torch.float64))
    steps = torch.tensor([[2.0, 2.0, 0.0], [1.0, 0.0, 0.0]], dtype=torch.float64)
    boundary = answer(steps, normals=normals, subspace=span(torch.eye(3, dtype=torch.float64)[:2]))
    assert_close(boundary.alignment, torch.tensor([1.0, math.nan], dtype=torch.float64), equal_nan=True)


@pytest.mark.parametrize("held", [1, 7, 2**24])
def test_a_subspace_per_sample_stays_with_its_sample(held: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("separatrix.boundary._NUMBERS_HELD", held)
    axes = torch.eye(3, dtype=torch.float64)
    steps = torch.stack([2 * axes[2], 3 * axes[0], 4 * axes[1]])
    normals = L2.steepest(torch.ones(3, 3, dtype=torch.float64))
    boundary = answer(steps, normals=normals, subspace=span_each(axes[[2, 0, 1]][:, None]))
    assert_close(boundary.alignment, torch.ones(3, dtype=torch.float64))
    assert_close(boundary[[2, 0]].alignment, torch.ones(2, dtype=torch.float64))
    assert_close(boundary.nearest(3)[1].alignment, torch.ones(1, dtype=torch.float64))


def test_a_subspace_drawn_for_each_sample_follows_its_id():
    subspace = random_each((3,), 1, seed=4)
    normals = L2.steepest(DIRECTIONS)
    steps = subspace[10 + torch.arange(4)].project(normals)
    boundary = answer(steps, normals=normals, subspace=subspace)
    parts = (
        boundary[torch.tensor([3, 1])],
        boundary[2:],
        boundary.nearest(2),
        BoundaryPoints.cat([boundary[:1], boundary[1:]]),
    )
    for part in (boundary, *parts):
        assert_close(part.alignment, torch.ones(len(part), dtype=torch.float64))
        assert part.subspace is subspace


def test_images_keep_their_shape():
    boundary = answer(torch.full((2, 3, 4, 4), 0.5))
    assert boundary.perturbation.shape == (2, 3, 4, 4)
    assert_close(boundary.distance, torch.full((2,), 0.5 * math.sqrt(48)))
    assert_close(boundary.alignment, torch.ones(2))


@pytest.mark.parametrize(
    ("index", "ids"),
    [
        (slice(1, 3), [11, 12]),
        (slice(None, None, 3), [10, 13]),
        (2, [12]),
        (-1, [13]),
        ([3, 0, 3], [13, 10, 13]),
        ((1, 2), [11, 12]),
        ([], []),
        (torch.tensor([2, 1]), [12, 11]),
        (torch.tensor(1), [11]),
        (torch.tensor([True, False, False, True]), [10, 13]),
        ([False, True, False, False], [11]),
    ],
    ids=str,
)
def test_selection_takes_every_field_of_the_samples(index: object, ids: list[int]):
    boundary = answer(DIRECTIONS, [True, True, False, True])
    chosen = boundary[index]  # type: ignore[index]
    assert chosen.ids.tolist() == ids
    assert len(chosen) == len(ids)
    rows = [number - 10 for number in ids]
    for name in TENSORS:
        assert_close(getattr(chosen, name), getattr(boundary, name)[rows], equal_nan=True)


def test_iteration_gives_one_sample_at_a_time():
    assert [part.ids.tolist() for part in answer(DIRECTIONS)] == [[10], [11], [12], [13]]


@pytest.mark.parametrize("index", [4, -5, [0, 4]])
def test_selection_beyond_the_samples_is_an_index_error(index: object):
    with pytest.raises(IndexError):
        answer(DIRECTIONS)[index]  # type: ignore[index]


def test_selection_by_a_table_is_refused():
    with pytest.raises(ValueError, match=r"`index` must have one axis; got shape \(2, 2\)"):
        answer(DIRECTIONS)[torch.zeros(2, 2, dtype=torch.long)]


@given(st.lists(st.integers(0, 4), max_size=3))
def test_joining_the_parts_gives_the_whole(cuts: list[int]):
    boundary = answer(DIRECTIONS, [True, False, True, True], subspace=span(DIRECTIONS[:2]))
    edges = [0, *sorted(cuts), 4]
    parts = (boundary[first:last] for first, last in pairwise(edges))
    joined = BoundaryPoints.cat(parts)
    assert_same(joined, boundary)
    assert joined.subspace is boundary.subspace


def test_joining_refuses_what_does_not_compare():
    boundary = answer(DIRECTIONS)
    with pytest.raises(ValueError, match="`parts` must share one norm; got ℓ2 and ℓ∞"):
        BoundaryPoints.cat([boundary, answer(DIRECTIONS, norm=Linf)])
    with pytest.raises(ValueError, match="`parts` must share one subspace; got different ones"):
        BoundaryPoints.cat([boundary, answer(DIRECTIONS, subspace=span(DIRECTIONS[:2]))])
    with pytest.raises(ValueError, match="`parts` must hold at least one answer; got none"):
        BoundaryPoints.cat([])


def test_nearest_are_the_nearest_found_in_order():
    boundary = answer(DIRECTIONS, [True, True, False, True])
    assert boundary.nearest(2).ids.tolist() == [13, 11]
    assert boundary.nearest(9).ids.tolist() == [13, 11, 10]
    assert answer(DIRECTIONS, [False] * 4).nearest(1).ids.tolist() == []
    with pytest.raises(ValueError, match="`count` must be a whole number ≥ 1; got 0"):
        boundary.nearest(0)


def test_another_device_holds_every_tensor():
    moved = answer(DIRECTIONS).to("meta")
    assert {getattr(moved, name).device.type for name in TENSORS} == {"meta"}


ALL = "4 of 4 found, ℓ2 median 1.73 (5–95 %: 1–5), upper bounds; 4.5 gradients and 7.0 forwards a point"
SOME = "1 of 2 found, ℓ2 median 5 (5–95 %: 5–inf), upper bounds; 3.5 gradients and 7.0 forwards a point"
NONE = "0 of 2 found, ℓ2; 3.5 gradients and 7.0 forwards a point"


def test_one_line_says_what_was_found_how_far_and_at_what_cost():
    assert repr(answer(DIRECTIONS)) == f"BoundaryPoints: {ALL}"
    assert repr(answer(DIRECTIONS[:2], [True, False])) == f"BoundaryPoints: {SOME}"
    assert repr(answer(DIRECTIONS[:2], [False, False])) == f"BoundaryPoints: {NONE}"
    assert repr(answer(DIRECTIONS)[:0]) == "BoundaryPoints: 0 of 0 found, ℓ2"
    assert "ℓ2 in a subspace of dimension 2 median" in repr(answer(DIRECTIONS, subspace=span(DIRECTIONS[:2])))


def test_a_table_has_one_row_a_sample():
    pytest.importorskip("pandas")
    table = answer(DIRECTIONS, [True, False, True, True]).to_pandas()
    names = [
        "id",
        "own",
        "rival",
        "rival_rank",
        "found",
        "distance",
        "raw_distance",
        "alignment",
        "gap",
        "steps",
        "forwards",
        "gradients",
    ]
    assert list(table.columns) == names
    assert table["id"].tolist() == [10, 11, 12, 13]
    assert table["rival"].tolist() == [1, -1, 1, 1]
    assert table["distance"].tolist() == pytest.approx([5, math.inf, 1, math.sqrt(3)])


def test_a_table_without_pandas_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"`to_pandas` needs pandas: pip install 'separatrix\[pandas\]'"):
        answer(DIRECTIONS).to_pandas()


@given(st.lists(st.floats(0, 10) | st.just(math.inf), min_size=1, max_size=30), st.floats(0, 1))
def test_a_percentile_is_the_least_length_that_the_share_does_not_exceed(lengths: list[float], share: float):
    values = torch.tensor(lengths, dtype=torch.float64)
    length = percentile(values, share)
    assert length in lengths
    assert (values <= length).double().mean() >= share - 1e-8
    assert length == min(lengths) or (values < length).double().mean() < share


def test_percentiles_by_hand():
    lengths = torch.tensor([math.inf, 3.0, 1.0, 2.0])
    assert [percentile(lengths, share) for share in (0, 0.25, 0.5, 0.75, 0.76, 1)] == [1, 1, 2, 3, math.inf, math.inf]
    assert percentile(torch.arange(1.0, 101), 0.07) == 7
    assert math.isnan(percentile(lengths[:0], 0.5))


def test_joining_goes_by_what_a_subspace_is_and_keeps_each_sample_its_own():
    subspace = span_each(DIRECTIONS[:, None])
    steps = subspace.project(DIRECTIONS)
    boundary = answer(steps, normals=L2.steepest(DIRECTIONS), subspace=subspace)
    whole = BoundaryPoints.cat([boundary[:1], boundary[1:]])
    assert_close(whole.alignment, boundary.alignment)
    assert whole.subspace is not None
    assert_close(whole.subspace.project(DIRECTIONS), steps)
    equal = [answer(DIRECTIONS, subspace=span(torch.eye(3, dtype=torch.float64)[:2])) for _ in range(2)]
    assert len(BoundaryPoints.cat(equal)) == 8


def test_joining_what_is_no_answer_is_refused():
    with pytest.raises(ValueError, match="`parts` must hold BoundaryPoints; got NoneType"):
        BoundaryPoints.cat(None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="`parts` must hold BoundaryPoints; got str"):
        BoundaryPoints.cat([answer(DIRECTIONS), "a"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match=r"`parts` must share one shape; got \(2,\) and \(3,\)"):
        BoundaryPoints.cat([answer(DIRECTIONS), answer(DIRECTIONS[:, :2])])


def test_another_precision_is_no_device():
    with pytest.raises(ValueError, match=r"`device` must be a device, such as 'cpu' or 'cuda'; got torch.float64"):
        answer(DIRECTIONS).to(torch.float64)
