import math

import numpy as np
import pytest

from separatrix.report.numbers import difference_of_medians, difference_of_shares, median_of, number, percent, share_of


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


def test_the_interval_of_a_median_is_that_of_its_bootstrap():
    values = np.random.default_rng(3).exponential(size=101)
    drawn = np.random.default_rng(4).choice(values, (20_000, 101))
    low, high = np.quantile(np.median(drawn, axis=1), [0.025, 0.975], method="inverted_cdf")
    found = median_of(values)
    ordered = np.sort(values)
    assert found.value == np.median(values)
    for end, drawn_end in ((found.low, low), (found.high, high)):
        assert abs(int(np.searchsorted(ordered, end)) - int(np.searchsorted(ordered, drawn_end))) <= 1


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
