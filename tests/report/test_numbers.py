import math

import numpy as np
import pytest

from separatrix.report.numbers import difference_of_medians, difference_of_shares, median_of, number, percent, share_of
from separatrix.survey.gate.intervals import percentile


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1.0, "1.00"),
        (0.04123, "0.0412"),
        (-12.52, "−12.5"),
        (31400.0, "31,400"),
        (1.234e-7, "1.23e−07"),
        (math.inf, "∞"),
        (math.nan, "–"),
    ],
)
def test_three_digits_that_count(value, text):
    assert number(value) == text


@pytest.mark.parametrize("count", [1, 2, 3, 5, 6, 8, 9, 12, 25, 200])
def test_a_median_lies_in_its_interval_as_often_as_is_said(count):
    """Exactly: k of n samples lie below the true median with the binomial probability of k heads."""
    found = median_of(np.arange(1.0, count + 1))
    last = count if np.isinf(found.high) else int(found.high) - 1
    covered = sum(math.comb(count, below) for below in range(int(found.low), last + 1)) / 2**count
    assert 0.95 <= covered < (1 if count > 5 else 1.1)
    assert found.value == (count + 1) // 2


def test_a_report_and_a_gate_say_the_same_of_a_median():
    values = np.random.default_rng(3).exponential(size=57)
    found, judged = median_of(values), percentile(values, np.arange(57), 0.5, 0.95, 0.0)
    assert (found.value, found.low, found.high) == (judged.value, judged.low, judged.high)


def test_too_few_samples_leave_a_median_open():
    assert str(median_of(np.array([0.0063, 0.0861]))) == "0.00630 (0 to ∞)"
    assert median_of(np.array([0.2, 0.3]), most=1.0).high == 1.0
    few = difference_of_medians(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    assert math.isnan(few.value)
    assert math.isnan(few.low)
    assert math.isnan(difference_of_shares(np.ones(9), np.zeros(9)).value)


def test_boundaries_not_found_count_as_infinitely_far():
    found = median_of(np.array([1.0, 2.0, np.inf, np.inf, np.inf, np.nan]))
    assert (found.value, found.high, found.count) == (math.inf, math.inf, 5)
    assert found.low <= 2


def test_nothing_is_known_of_nothing():
    for of in (median_of, share_of):
        assert str(of(np.array([np.nan]))) == "–"
        assert of(np.array([])).count == 0


def test_a_share_lies_within_its_interval():
    share = share_of(np.array([1.0, 1.0, 0.0, np.nan]))
    assert share.count == 3
    assert share.value == pytest.approx(2 / 3)
    assert 0 < share.low < share.value < share.high < 1
    assert percent(share.value) == "66.7 %"


def test_a_shift_of_every_sample_is_a_difference_without_width():
    values = np.random.default_rng(0).exponential(size=200)
    shifted = difference_of_medians(values, values + 0.5)
    assert (shifted.value, shifted.low, shifted.high) == pytest.approx((0.5, 0.5, 0.5))
    assert math.isnan(difference_of_medians(np.full(9, np.inf), np.full(9, np.inf)).value)


def test_a_difference_of_shares_has_the_sign_of_the_change():
    before, after = np.repeat([1.0, 0.0], [50, 50]), np.repeat([1.0, 0.0], [80, 20])
    change = difference_of_shares(before, after)
    assert change.value == pytest.approx(0.3)
    assert 0 < change.low < change.value < change.high < 1
