"""Summaries by hand, the laws of censored data, and intervals that cover."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator

import pytest
import torch

from separatrix.batches import each
from separatrix.boundary import BoundaryPoints
from separatrix.norms import L2, Linf, Norm
from separatrix.statistics import MarginSummary, summarise
from separatrix.subspaces import Subspace, span


def answer(
    lengths: list[float] | torch.Tensor,
    *,
    dimension: int = 4,
    norm: Norm = L2,
    subspace: Subspace | None = None,
    first: int = 0,
    start: float = 2.0,
) -> BoundaryPoints:
    """Steps of the given lengths along the first axis, from (2, 0, …); infinite ones were not found."""
    distance = torch.as_tensor(lengths, dtype=torch.float64)
    count, found = len(distance), distance.isfinite()
    axis = torch.eye(dimension, dtype=torch.float64)[0]
    points = (start * axis).expand(count, -1)
    return BoundaryPoints(
        start=points,
        end=(points + distance[:, None] * axis).where(found[:, None], torch.nan),
        normals=axis.expand(count, -1).where(found[:, None], torch.nan),
        found=found,
        own=torch.zeros(count, dtype=torch.long),
        rival=torch.ones(count, dtype=torch.long).where(found, -1),
        rival_rank=torch.ones(count, dtype=torch.long).where(found, -1),
        raw_distance=2 * distance,
        gap=torch.full((count,), torch.nan),
        steps=torch.ones(count, dtype=torch.long),
        forwards=torch.full((count,), 5),
        gradients=torch.arange(count),
        ids=first + torch.arange(count),
        norm=norm,
        subspace=subspace,
    )


def plane(dimension: int = 4) -> Subspace:
    """The first axis alone, m = 1."""
    return span(torch.eye(dimension, dtype=torch.float64)[:1])


def exponential(count: int, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return -torch.rand(count, generator=generator, dtype=torch.float64).log()


def test_all_found_by_hand():
    summary = summarise(answer([1.0, 2.0, 3.0, 6.0]))
    assert (summary.count, summary.found, summary.share_found) == (4, 4, 1.0)
    assert summary.mean == pytest.approx(3)
    assert summary.standard_error == pytest.approx(math.sqrt(4 + 1 + 0 + 9) / 4)
    assert (summary.p5, summary.median, summary.p95) == pytest.approx((1, 2, 6))
    assert summary.relative == pytest.approx(1.5)
    assert (summary.raw_mean, summary.raw_median) == pytest.approx((6, 4))
    assert summary.alignment == pytest.approx(1)
    assert (summary.gradients, summary.forwards) == (1.5, 5)
    assert (summary.norm, summary.dim, summary.ratio) == (L2, None, None)


def test_means_cover_the_found_and_percentiles_cover_all():
    summary = summarise(answer([4.0, math.inf, 2.0, math.inf, math.inf]))
    assert (summary.count, summary.found, summary.share_found) == (5, 2, 0.4)
    assert (summary.mean, summary.relative, summary.raw_mean) == pytest.approx((3, 1.5, 6))
    assert summary.standard_error == pytest.approx(math.sqrt(2) / 2)
    assert (summary.p5, summary.median, summary.p95, summary.raw_median) == (2, math.inf, math.inf, math.inf)
    assert summary.gradients == 2
    assert all(map(math.isfinite, summary.mean_interval))


def test_none_found_has_no_mean_and_is_infinitely_far():
    summary = summarise(answer([math.inf, math.inf]))
    numbers = (summary.mean, summary.standard_error, summary.relative, summary.raw_mean, summary.alignment)
    assert all(map(math.isnan, numbers + summary.mean_interval + summary.relative_interval))
    assert (summary.p5, summary.median, summary.p95) == (math.inf,) * 3
    assert summary.median_interval == (math.inf, math.inf)
    assert summary.share_interval == pytest.approx((0, 0.6576), abs=1e-4)


def test_one_sample_has_intervals_of_no_width():
    summary = summarise(answer([3.0]))
    assert (summary.mean, summary.median, summary.standard_error) == (3, 3, 0)
    assert summary.mean_interval == summary.median_interval == (3, 3)


def test_a_start_at_zero_has_no_relative_length():
    assert math.isnan(summarise(answer([1.0, 2.0], start=0.0)).relative)
    parts = [answer([1.0], start=0.0), answer([2.0], start=4.0)]
    assert summarise(parts).relative == pytest.approx(0.5)


@pytest.mark.parametrize(("norm", "relative"), [(L2, 1 / math.sqrt(2)), (Linf, 1.0)], ids=str)
def test_relative_length_is_in_the_norm_of_the_search(norm: Norm, relative: float):
    boundary = answer([1.0, 1.0], norm=norm, dimension=2)
    boundary.start.data = torch.ones(2, 2, dtype=torch.float64)
    boundary.end.data = torch.tensor([[2.0, 1.0], [1.0, 2.0]], dtype=torch.float64)
    assert summarise(boundary).relative == pytest.approx(relative)


@pytest.mark.parametrize("lengths", [exponential(40, 1), exponential(31, 2).where(exponential(31, 3) < 1, torch.inf)])
def test_parts_summarise_as_the_whole(lengths: torch.Tensor):
    whole = answer(lengths)
    assert summarise(whole[first : first + 7] for first in range(0, len(whole), 7)) == summarise(whole)


def test_the_order_of_the_samples_does_not_matter():
    lengths = exponential(50, 4)
    assert summarise(answer(lengths.flip(0))).mean_interval == summarise(answer(lengths)).mean_interval


@pytest.mark.parametrize("scale", [2.0**-20, 8.0])
def test_units_carry_through_every_length(scale: float):
    lengths = exponential(30, 5)
    one, other = summarise(answer(lengths)), summarise(answer(scale * lengths, start=2 * scale))
    assert other.mean == pytest.approx(scale * one.mean)
    assert other.median_interval == pytest.approx(tuple(scale * end for end in one.median_interval))
    assert other.relative == pytest.approx(one.relative)


def test_only_numbers_are_kept_of_each_answer():
    alive: list[weakref.ref[BoundaryPoints]] = []

    def parts() -> Iterator[BoundaryPoints]:
        for first in range(0, 30, 3):
            assert sum(part() is not None for part in alive) <= 1
            part = answer([1.0, 2.0, math.inf], first=first)
            alive.append(weakref.ref(part))
            yield part
            del part

    assert summarise(parts()).count == 30


def test_intervals_depend_on_the_seed_alone():
    boundary = answer(exponential(50, 6))
    before = torch.get_rng_state()
    assert summarise(boundary, seed=3) == summarise(boundary, seed=3)
    assert summarise(boundary, seed=3).mean_interval != summarise(boundary, seed=4).mean_interval
    assert torch.equal(torch.get_rng_state(), before)


def test_the_bootstrap_agrees_with_the_normal_approximation():
    summary = summarise(answer(exponential(2000, 7)), resamples=2000)
    low, high = summary.mean_interval
    assert low == pytest.approx(summary.mean - 1.96 * summary.standard_error, abs=0.15 * summary.standard_error)
    assert high == pytest.approx(summary.mean + 1.96 * summary.standard_error, abs=0.15 * summary.standard_error)


def test_intervals_cover_as_often_as_they_say():
    median, hits = math.log(2), torch.zeros(2)
    for seed in range(200):
        summary = summarise(answer(exponential(80, 100 + seed)), confidence=0.9, resamples=200, seed=seed)
        (a, b), (c, d) = summary.mean_interval, summary.median_interval
        hits += torch.tensor([a <= 1 <= b, c <= median <= d])
    assert ((0.82 <= hits / 200) & (hits / 200 <= 0.96)).all()


def test_more_confidence_is_wider():
    boundary = answer(exponential(60, 8))
    sure, unsure = summarise(boundary, confidence=0.99), summarise(boundary, confidence=0.5)
    for name in ("mean_interval", "median_interval", "relative_interval", "share_interval"):
        (low, high), (inner_low, inner_high) = getattr(sure, name), getattr(unsure, name)
        assert low <= inner_low <= inner_high <= high
        assert high - low > inner_high - inner_low


def test_the_share_found_has_wilsons_interval():
    lengths = [1.0] * 8 + [math.inf] * 2
    assert summarise(answer(lengths)).share_interval == pytest.approx((0.4901625, 0.9433178), abs=1e-6)
    low, high = summarise(answer([1.0] * 10)).share_interval
    assert (low, high) == pytest.approx((0.7224672, 1), abs=1e-6)
    assert high <= 1


def test_both_ratios_by_hand():
    inside, everywhere = answer([4.0, 6.0, 2.0], subspace=plane()), answer([1.0, 3.0, 2.0])
    ratio = summarise(inside, reference=everywhere).ratio
    assert ratio is not None
    assert ratio.mean_of_ratios == pytest.approx((4 + 2 + 1) / 3 / 2)
    assert ratio.deviation == pytest.approx(torch.tensor([2.0, 1.0, 0.5]).std(correction=0).item())
    assert ratio.ratio_of_means == pytest.approx(12 / 6 / 2)
    assert ratio.count == 3


def test_ratios_match_samples_by_id_and_skip_those_not_in_both():
    inside = answer([4.0, 6.0, math.inf, 2.0, 5.0], subspace=plane())
    everywhere = answer([1.0, 3.0, 2.0, math.inf, 0.0])
    order = [4, 2, 0, 3, 1]
    ratio = summarise(iter(inside), reference=[everywhere[order[:2]], everywhere[order[2:]]]).ratio
    assert ratio is not None
    assert (ratio.count, ratio.mean_of_ratios, ratio.ratio_of_means) == (2, pytest.approx(1.5), pytest.approx(1.25))


def test_ratios_of_nothing_have_no_value():
    ratio = summarise(answer([math.inf], subspace=plane()), reference=answer([1.0])).ratio
    assert ratio is not None
    assert ratio.count == 0
    assert all(map(math.isnan, (ratio.mean_of_ratios, ratio.deviation, ratio.ratio_of_means)))


REFUSED = {
    "type": (3, {}, "`boundary` must be BoundaryPoints, or several of them; got int"),
    "items": ([torch.ones(3)], {}, "`boundary` must hold BoundaryPoints alone; got Tensor"),
    "nothing": ([], {}, "`boundary` must hold at least one sample; got none"),
    "no samples": (answer([1.0])[:0], {}, "`boundary` must hold at least one sample; got none"),
    "norms": ([answer([1.0]), answer([1.0], norm=Linf)], {}, "`boundary` must share one norm; got ℓ2 and ℓ∞"),
    "subspaces": (
        [answer([1.0]), answer([1.0], subspace=plane())],
        {},
        "must share one subspace dimension; got 1 and None",
    ),
    "inputs": (
        [answer([1.0]), answer([1.0], dimension=9)],
        {},
        "must share one number of input dimensions; got 4 and 9",
    ),
    "confidence": (answer([1.0]), {"confidence": 95}, "`confidence` must be a number between 0 and 1; got 95"),
    "resamples": (answer([1.0]), {"resamples": 0}, "`resamples` must be a whole number ≥ 1; got 0"),
    "seed": (answer([1.0]), {"seed": -1}, "`seed` must be a whole number from 0 to 2\\^63 − 1; got -1"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_requests_are_refused_by_name(case: str):
    boundary, options, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        summarise(boundary, **options)  # type: ignore[arg-type]


INSIDE = answer([1.0, 2.0], subspace=plane())
BAD_REFERENCES = {
    "unrestricted": (answer([1.0]), answer([1.0]), "`boundary` must be restricted to a subspace"),
    "restricted": (INSIDE, INSIDE, "`reference` must be unrestricted; got a subspace of dimension 1"),
    "norm": (INSIDE, answer([1.0, 2.0], norm=Linf), "`reference` must be in ℓ2; got ℓ∞"),
    "fewer": (INSIDE, answer([1.0]), "`reference` must hold the same samples, by their ids; got other ids"),
    "ids": (INSIDE, answer([1.0, 2.0], first=5), "`reference` must hold the same samples, by their ids; got other ids"),
    "points": (INSIDE, answer([1.0, 2.0], start=3.0), "`reference` must hold the same samples; got other points"),
    "repeated": (
        INSIDE,
        [answer([1.0]), answer([1.0])],
        "`reference` must name each sample by its own id; got 1 repeated",
    ),
    "inputs": (INSIDE, answer([1.0, 2.0], dimension=9), "`reference` must have 4 input dimensions; got 9"),
    "type": (INSIDE, "margins", "`reference` must hold BoundaryPoints alone; got str"),
}


@pytest.mark.parametrize("case", BAD_REFERENCES)
def test_a_reference_of_other_samples_is_refused(case: str):
    inside, reference, message = BAD_REFERENCES[case]
    with pytest.raises(ValueError, match=message):
        summarise(inside, reference=reference)  # type: ignore[arg-type]


def test_the_text_says_what_each_number_means():
    inside = answer([1.0, 2.0, 3.0, math.inf], subspace=plane())
    text = str(summarise(inside, reference=answer([1.0, 1.0, 2.0, 2.0])))
    title = text.splitlines()[0]
    assert title.startswith(
        "Distance to the decision boundary in ℓ2 and a subspace of dimension 1, in the model's input"
    )
    assert title.endswith("units: upper bounds, with 95 % intervals")
    starts = [line.split()[0] for line in text.splitlines()[1:]]
    assert starts == ["found", "mean", "median", "5", "relative", "raw", "alignment", "β", "cost"]
    for part in ("3 of 4, 75.0 % (30.1–95.4 %)", "2 ± 0.47 standard error", "1, inf", "3 found in both"):
        assert part in text
    assert "nan" not in text


def test_the_text_of_nothing_found_gives_no_length():
    text = str(summarise(answer([math.inf, math.inf])))
    assert "0 of 2, 0.0 %" in text
    assert "no boundary met" in text
    assert "nan" not in text


def test_a_summary_can_be_taken_over_batches():
    points = torch.arange(1.0, 11)[:, None].double()
    summary = summarise(each(points, lambda part, ids: answer(part[:, 0], first=int(ids[0])), batch_size=4))
    assert isinstance(summary, MarginSummary)
    assert (summary.count, summary.mean, summary.median) == (10, 5.5, 5)
