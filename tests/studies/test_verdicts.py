"""Verdicts: computed from intervals and p-values, never from the number alone."""

import math

import numpy as np
import pytest

from separatrix.studies.verdicts import (
    Interval,
    Outcome,
    above,
    below,
    between,
    bootstrap,
    median,
    overall,
    ratio_of_medians,
    rising,
)


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [((1.2, 1.1, 1.3), "holds"), ((1.2, 0.9, 1.3), "inconclusive"), ((0.8, 0.7, 1.0), "does not hold")],
)
def test_a_number_is_above_a_bound_when_its_interval_is(interval, verdict):
    assert above("", Interval(*interval), 1).verdict == verdict


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [((0.8, 0.7, 0.9), "holds"), ((0.8, 0.7, 1.1), "inconclusive"), ((1.2, 1.0, 1.3), "does not hold")],
)
def test_a_number_is_below_a_bound_when_its_interval_is(interval, verdict):
    assert below("", Interval(*interval), 1).verdict == verdict


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [((1.0, 0.95, 1.05), "holds"), ((1.0, 0.8, 1.05), "inconclusive"), ((0.5, 0.4, 0.6), "does not hold")],
)
def test_a_number_is_within_a_range_when_its_interval_is(interval, verdict):
    assert between("", Interval(*interval), 0.9, 1.1).verdict == verdict


def test_what_is_not_a_number_decides_nothing():
    nothing = Interval(math.nan, math.nan, math.nan)
    assert above("", nothing, 1).verdict == below("", nothing, 1).verdict == "inconclusive"


def test_a_study_is_as_strong_as_its_weakest_claim():
    def verdicts(*names):
        return overall([Outcome("", name, "") for name in names])

    assert verdicts("holds", "holds") == "holds"
    assert verdicts("holds", "inconclusive") == "inconclusive"
    assert verdicts("inconclusive", "does not hold", "holds") == "does not hold"
    assert verdicts() == "reported"


def test_ranks_rise_fall_or_do_neither():
    places = range(12)
    assert rising("", places, [math.exp(place) for place in places]).verdict == "holds"
    assert rising("", places, [-place for place in places]).verdict == "does not hold"
    assert rising("", places, [3, 1, 2] * 4).verdict == "inconclusive"
    assert rising("", places, [math.nan, *range(1, 12)]).verdict == "holds"


def test_the_interval_covers_the_median_about_as_often_as_it_says():
    generator = np.random.default_rng(3)
    hits = [_covers(bootstrap(median, generator.exponential(size=80)), math.log(2)) for _ in range(60)]
    assert 0.85 <= np.mean(hits) <= 1.0


def _covers(interval, value):
    return interval.low <= value <= interval.high


def test_pairs_stay_together():
    values = np.random.default_rng(0).exponential(size=50)
    paired = bootstrap(ratio_of_medians, 2 * values, values, paired=True)
    assert (paired.value, paired.low, paired.high) == (2, 2, 2)
    apart = bootstrap(ratio_of_medians, 2 * values, values)
    assert apart.low < 2 < apart.high


def test_the_same_samples_give_the_same_interval():
    values = np.random.default_rng(1).normal(size=30)
    assert bootstrap(median, values) == bootstrap(median, values)


def test_unreached_boundaries_count_as_far_and_never_mix():
    values = np.array([1.0, 2.0, math.inf, math.inf])
    assert median(values) == 2
    assert bootstrap(median, values).high == math.inf
    assert math.isnan(ratio_of_medians(values, np.full(4, math.inf)))
    assert ratio_of_medians(np.full(4, math.inf), values) == math.inf


def test_empty_samples_are_refused():
    with pytest.raises(ValueError, match="`samples` must be arrays of at least one number"):
        bootstrap(median, np.array([]))
