from itertools import pairwise

import pytest

from separatrix.training.schedules import SCHEDULES, rate_share

GRID = [step / 1000 for step in range(1001)]


@pytest.mark.parametrize(
    ("schedule", "progress", "share"),
    [
        ("constant", 0.0, 1.0),
        ("constant", 0.7, 1.0),
        ("cosine", 0.0, 1.0),
        ("cosine", 0.5, 0.5),
        ("cosine", 1.0, 0.0),
        ("triangular", 0.0, 0.0),
        ("triangular", 0.2, 0.5),
        ("triangular", 0.4, 1.0),
        ("triangular", 0.7, 0.5),
        ("triangular", 1.0, 0.0),
        ("one-cycle", 0.0, 0.04),
        ("one-cycle", 0.15, 0.52),
        ("one-cycle", 0.3, 1.0),
        ("one-cycle", 0.65, 0.5),
        ("one-cycle", 1.0, 0.0),
    ],
)
def test_shares_of_the_rate_at_known_points(schedule, progress, share):
    assert rate_share(schedule, progress) == pytest.approx(share, abs=1e-12)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_no_rate_exceeds_the_recipes_and_none_jumps(schedule):
    shares = [rate_share(schedule, progress) for progress in GRID]
    assert max(shares) == pytest.approx(1)
    assert min(shares) >= 0
    assert max(abs(b - a) for a, b in pairwise(shares)) < 0.006


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_rate_climbs_once_and_falls_once(schedule):
    shares = [rate_share(schedule, progress) for progress in GRID]
    peak = shares.index(max(shares))
    assert shares[: peak + 1] == sorted(shares[: peak + 1])
    assert shares[peak:] == sorted(shares[peak:], reverse=True)
