"""The radius at which an attack fools most of the points."""

from __future__ import annotations

import math

import pytest
import torch

from separatrix.attacks import BIM, perturb, smallest_radius
from separatrix.boundary import percentile
from separatrix.norms import L2, Linf
from separatrix.testing import Quadric

BAND = Quadric(torch.tensor([[-2.0]]).double(), torch.tensor([3.0]).double(), -2.0)  # answers 1 in (1, 2)


@pytest.mark.parametrize("norm", [L2, Linf], ids=str)
@pytest.mark.parametrize("share", [0.5, 0.9, 1.0])
def test_on_a_plane_it_is_the_quantile_of_the_exact_distances(plane, points, norm, share):
    exact = percentile(plane.distance(points, norm), share)
    answer = smallest_radius(plane, points, share=share, norm=norm, tolerance=1e-5)
    assert answer.found
    assert exact <= answer.radius <= exact * (1 + 2e-5)
    assert answer.share >= share
    assert answer.bracket[0] < exact <= answer.bracket[1] == answer.radius
    assert answer.falls == 0
    assert answer.evaluations == len(answer.shares) <= 40


def test_it_is_reproduced_by_the_attack_itself(plane, points):
    answer = smallest_radius(plane, points, method=BIM(2), batch_size=7)
    shares = [perturb(plane, points, radius=float(radius), method=BIM(2)).share_fooled for radius in answer.radii]
    assert shares == answer.shares.tolist()


def test_where_the_share_rises_and_falls_the_first_rise_that_the_scan_sees_is_returned():
    start = torch.zeros(3, 1).double()
    assert 1 <= smallest_radius(BAND, start, limit=7.0).radius <= 1.002
    assert not smallest_radius(BAND, start, limit=1024 * 0.9, factor=2.5).found


def test_a_share_that_falls_with_the_radius_is_said():
    start = torch.tensor([[0.9], [-2.0]]).double()
    answer = smallest_radius(BAND, start, limit=7.0)
    assert not answer.found
    assert answer.share == answer.falls == 0.5


def test_no_radius_up_to_the_limit_is_said_not_raised(plane, points):
    limit = 0.5 * percentile(plane.distance(points, Linf), 0.9)
    answer = smallest_radius(plane, points, limit=limit)
    assert not answer.found
    assert answer.radius == math.inf
    assert answer.bracket == (limit, math.inf)
    assert 0 < answer.share < 0.9
    assert "none fools 90% of 40 points" in repr(answer)


def test_labels_that_are_wrong_enough_need_no_radius(plane, points):
    answer = smallest_radius(plane, points, 1 - plane.label(points))
    assert (answer.radius, answer.share, answer.evaluations) == (0, 1, 1)


def test_a_radius_far_below_the_scan_is_found_too():
    near = torch.full((4, 1), 1 - 1e-9, dtype=torch.float64)
    answer = smallest_radius(BAND, near, limit=4.0)
    assert 1e-9 * (1 - 1e-6) <= answer.radius <= 1.01e-9


def test_points_at_the_origin_have_a_limit_too():
    answer = smallest_radius(BAND, torch.zeros(3, 1).double())
    assert float(answer.radii[-1]) == 1
    assert not answer.found


def test_the_line_says_it_all(plane, points):
    answer = smallest_radius(plane, points)
    assert repr(answer).startswith(f"SmallestRadius: {answer.radius:.4g} (ℓ∞) fools 90.0% of 40 points")
