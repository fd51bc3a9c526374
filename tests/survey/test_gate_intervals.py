"""Intervals of a gate: they hold their number, cover the truth, and count samples instead of rows."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from separatrix.statistics import wilson
from separatrix.survey.gate import intervals

LENGTHS = st.floats(0, 1e6) | st.just(math.inf)
CONFIDENCES = st.sampled_from([0.5, 0.9, 0.95, 0.999])


@st.composite
def rows(draw):
    """Lengths of samples that may have several rows each."""
    count = draw(st.integers(1, 60))
    lengths = draw(arrays(np.float64, count, elements=LENGTHS))
    return lengths, draw(arrays(np.int64, count, elements=st.integers(0, 40)))


@settings(deadline=None, max_examples=60)
@given(rows(), st.integers(1, 99), CONFIDENCES)
def test_an_interval_holds_its_number(drawn, percent, confidence):
    lengths, ids = drawn
    for found in (
        intervals.percentile(lengths, ids, percent / 100, confidence, 0.0),
        intervals.mean(lengths, ids, confidence, 0.0),
        intervals.share(lengths > 1, ids, confidence),
    ):
        assert found.low <= found.value <= found.high


@settings(deadline=None, max_examples=60)
@given(rows(), st.integers(1, 99), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_plays_no_part(drawn, percent, random):
    lengths, ids = drawn
    order = np.array(random.sample(range(len(ids)), len(ids)))
    for ask in (
        lambda lengths, ids: intervals.percentile(lengths, ids, percent / 100, 0.95, 0.0),
        lambda lengths, ids: intervals.mean(lengths, ids, 0.95, 0.0),
        lambda lengths, ids: intervals.share(lengths > 1, ids, 0.95),
    ):
        assert ask(lengths, ids) == ask(lengths[order], ids[order])


@settings(deadline=None, max_examples=30)
@given(rows(), st.integers(1, 99), st.integers(2, 4))
def test_rows_repeated_within_a_sample_are_no_evidence(drawn, percent, times):
    lengths, _ = drawn
    ids = np.arange(len(lengths))
    many, repeated = np.repeat(lengths, times), np.repeat(ids, times)
    once = intervals.percentile(lengths, ids, percent / 100, 0.95, 0.0)
    often = intervals.percentile(many, repeated, percent / 100, 0.95, 0.0)
    assert (often.value, often.low, often.high) == (once.value, once.low, once.high)
    assert intervals.share(many > 1, repeated, 0.95) == intervals.share(lengths > 1, ids, 0.95)


@settings(deadline=None, max_examples=30)
@given(rows(), st.integers(1, 99), st.integers(-3, 3))
def test_a_percentile_goes_with_a_change_of_scale(drawn, percent, power):
    lengths, ids = drawn
    found = intervals.percentile(lengths, ids, percent / 100, 0.95, 0.0)
    scaled = intervals.percentile(lengths * 2.0**power, ids, percent / 100, 0.95, 0.0)
    assert [scaled.value, scaled.low, scaled.high] == [
        number * 2.0**power for number in (found.value, found.low, found.high)
    ]


def covered(truth, ask, draws=300):
    """How often intervals hold the truth, over samples drawn with different seeds."""
    found = [ask(np.random.default_rng(seed)) for seed in range(draws)]
    return np.mean([estimate.low <= truth <= estimate.high for estimate in found])


@pytest.mark.parametrize(("percent", "count"), [(50, 25), (50, 200), (5, 200), (90, 60), (5, 20)])
def test_a_percentile_is_covered_as_often_as_is_said(percent, count):
    """Of an exponential distribution of which a share beyond 2 is not found."""

    def ask(draw):
        lengths = draw.exponential(size=count)
        lengths[lengths > 2] = np.inf
        return intervals.percentile(lengths, np.arange(count), percent / 100, 0.95, 0.0)

    truth = -math.log(1 - percent / 100)
    assert covered(truth if truth <= 2 else math.inf, ask) >= 0.93


@pytest.mark.parametrize("count", [10, 100])
def test_a_mean_is_covered_nearly_as_often_as_is_said(count):
    """Few values of a skewed distribution show less than all of its upper tail."""
    ask = lambda draw: intervals.mean(draw.gamma(4.0, size=count), np.arange(count), 0.95, 0.0)  # noqa: E731
    assert covered(4.0, ask) >= 0.92


@pytest.mark.parametrize("alike", [0.0, 0.7, 1.0])
def test_several_rows_of_a_sample_are_covered_too(alike):
    """However alike the rows of one sample are."""

    def drawn(draw):
        own, shared = draw.normal(size=(40, 14)), draw.normal(size=(40, 1))
        return (math.sqrt(1 - alike) * own + math.sqrt(alike) * shared).ravel(), np.repeat(np.arange(40), 14)

    assert covered(0.0, lambda draw: intervals.percentile(*drawn(draw), 0.5, 0.95, -math.inf)) >= 0.93
    assert covered(0.0, lambda draw: intervals.mean(*drawn(draw), 0.95, -math.inf), 100) >= 0.9


def test_rows_taken_for_samples_would_not_be_covered():
    """What the law above guards against."""

    def ask(draw):
        return intervals.percentile(np.repeat(draw.normal(size=40), 14), np.arange(560), 0.5, 0.95, -math.inf)

    assert covered(0.0, ask) < 0.6


def test_a_share_has_wilsons_interval():
    hits = np.arange(50) < 40
    assert intervals.share(hits, np.arange(50), 0.95) == intervals.Estimate(0.8, *wilson(40, 50, 0.95))


def test_ends_are_open_where_too_few_were_asked():
    five = np.arange(5.0) + 1
    found = intervals.percentile(five, np.arange(5), 0.5, 0.95, 0.0)
    assert found == intervals.Estimate(3.0, 0.0, math.inf)
    six = intervals.percentile(np.arange(6.0) + 1, np.arange(6), 0.5, 0.95, 0.0)
    assert six == intervals.Estimate(3.0, 1.0, 6.0)
    assert intervals.mean(five, np.arange(5), 0.95, 0.0) == intervals.Estimate(3.0, 0.0, math.inf)


def test_one_infinite_value_makes_a_mean_infinite_and_leaves_it_a_lower_end():
    lengths = np.append(np.linspace(1, 2, 99), np.inf)
    found = intervals.mean(lengths, np.arange(100), 0.95, 0.0)
    assert found.value == found.high == math.inf
    assert 1.4 < found.low < 1.55
    assert intervals.mean(np.full(20, np.inf), np.arange(20), 0.95, 0.0).low == math.inf


def test_infinite_values_of_both_signs_have_no_mean():
    found = intervals.mean(np.array([np.inf, -np.inf] * 10), np.arange(20), 0.95, -math.inf)
    assert math.isnan(found.value)
    assert (found.low, found.high) == (-math.inf, math.inf)
