"""On classifiers of known geometry the distance is the exact one, in every norm and subspace."""

import math
from itertools import pairwise

import pytest
import torch
from torch.testing import assert_close

from separatrix import L2, Linf, Norm, Slide, minimal_perturbation
from separatrix.search import DeepFool
from separatrix.subspaces import Subspace, random, random_each, span
from separatrix.testing import Affine, Ball, Quadric, TwoBalls, exact_distance, tiny_network

MANY, SHAPE = 10_000, (2, 3, 5)
NORMS = [L2, Linf, Norm(3), Norm(1.5)]


def draw(count, *shape, seed=0):
    return torch.randn(count, *shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.fixture(scope="module")
def affine():
    return Affine.random(10, math.prod(SHAPE), generator=torch.Generator().manual_seed(1))


@pytest.fixture(scope="module")
def subspace():
    return random(SHAPE, 7, generator=torch.Generator().manual_seed(2))


def assert_exact(distance, exact, tolerance=1e-9):
    assert_close(distance, exact, rtol=0, atol=tolerance)


@pytest.mark.parametrize("norm", NORMS, ids=str)
def test_ten_thousand_affine_distances_are_exact_after_one_step_each(affine, norm):
    points = draw(MANY, *SHAPE)
    boundary = minimal_perturbation(affine, points, norm=norm)
    assert_exact(boundary.distance, affine.distance(points, norm))
    assert (boundary.steps == 1).all()
    assert_exact(boundary.alignment, torch.ones(MANY, dtype=torch.float64))


def test_ten_thousand_affine_distances_within_a_subspace_are_exact_after_one_step_each(affine, subspace):
    points = draw(MANY, *SHAPE)
    boundary = minimal_perturbation(affine, points, subspace=subspace)
    assert_exact(boundary.distance, affine.distance(points, basis=subspace.basis().flatten(1)))
    assert (boundary.steps == 1).all()
    assert_exact(subspace.fraction(boundary.perturbation), torch.ones(MANY, dtype=torch.float64))


def test_each_point_has_the_exact_distance_within_its_own_subspace(affine):
    points, own = draw(20, *SHAPE), random_each(SHAPE, 3, seed=5)
    ids = torch.arange(100, 120)
    boundary = minimal_perturbation(affine, points, subspace=own, ids=ids, batch_size=6)
    bases = own[ids].basis().flatten(2)
    exact = [affine.distance(point[None], basis=basis) for point, basis in zip(points, bases, strict=True)]
    assert_exact(boundary.distance, torch.cat(exact), 1e-8)


@pytest.mark.parametrize("norm", [L2, Linf], ids=str)
def test_every_method_reaches_the_exact_distance_to_one_hyperplane(method, norm):
    affine, points = Affine.random(2, 12, generator=torch.Generator().manual_seed(4)), draw(50, 12, seed=4)
    assert_exact(minimal_perturbation(affine, points, method=method, norm=norm).distance, affine.distance(points, norm))


@pytest.mark.parametrize("norm", NORMS, ids=str)
@pytest.mark.parametrize("overshoot", [0.001, 0.02, 0.5])
def test_without_refinement_the_raw_vector_is_the_exact_one_overshot(affine, norm, overshoot):
    points = draw(200, *SHAPE, seed=3)
    boundary = minimal_perturbation(affine, points, norm=norm, method=DeepFool(overshoot=overshoot), refine=None)
    overshot = (1 + overshoot) * affine.distance(points, norm)
    assert_exact(boundary.raw_distance, overshot)
    assert_exact(boundary.distance, overshot)
    refined = minimal_perturbation(affine, points, norm=norm, method=DeepFool(overshoot=overshoot))
    assert_exact(refined.raw_distance, overshot)


@pytest.mark.parametrize("norm", NORMS, ids=str)
@pytest.mark.parametrize("rival", range(5))
def test_the_distance_to_one_rival_is_exact_whatever_the_others_answer(norm, rival):
    affine, points = Affine.random(5, 30, generator=torch.Generator().manual_seed(3)), draw(300, 30, seed=6)
    points = points[affine.label(points) != rival]
    boundary = minimal_perturbation(affine, points, norm=norm, rival=rival)
    exact = affine.pair_distance(points, affine.label(points), torch.full((len(points),), rival), norm)
    assert_exact(boundary.distance, exact)
    assert (boundary.rival == rival).all()


def test_one_rival_a_point_within_a_subspace(affine, subspace):
    points = draw(100, *SHAPE, seed=7)
    own = affine.label(points)
    rivals = (own + 1 + torch.arange(100) % 9) % 10
    boundary = minimal_perturbation(affine, points, rival=rivals, subspace=subspace)
    exact = affine.pair_distance(points, own, rivals, basis=subspace.basis().flatten(1))
    assert_exact(boundary.distance, exact)


def test_the_shortest_way_out_leads_to_the_nearest_target():
    affine, points = Affine.random(5, 30, generator=torch.Generator().manual_seed(8)), draw(60, 30, seed=8)
    own = affine.label(points)
    lengths = torch.full((60, 5), torch.inf, dtype=torch.float64)
    for target in range(5):
        outside = own != target
        targets = torch.full((int(outside.sum()),), target)
        boundary = minimal_perturbation(affine, points[outside], targets=targets)
        assert boundary.found.all()
        assert (affine(boundary.end).argmax(1) == target).double().mean() > 0.5
        assert (boundary.distance >= affine.region_distance(points[outside], targets) - 1e-9).all()
        lengths[outside, target] = boundary.distance
    assert_exact(lengths.amin(1), affine.distance(points))
    assert_exact(lengths.amin(1), minimal_perturbation(affine, points).distance)


def test_distances_into_a_region_are_nearly_exact_even_around_a_corner():
    affine, points = Affine.random(5, 30, generator=torch.Generator().manual_seed(8)), draw(60, 30, seed=8)
    targets = (affine.label(points) + 1) % 5
    distance = minimal_perturbation(affine, points, targets=targets).distance
    excess = distance / affine.region_distance(points, targets) - 1
    assert excess.median() < 1e-9
    assert excess.quantile(0.9) < 0.01


def test_a_target_beyond_its_region_is_in_that_region():
    affine, points = Affine.random(4, 6, generator=torch.Generator().manual_seed(9)), draw(80, 6, seed=9)
    targets = (affine.label(points) + 2) % 4
    boundary = minimal_perturbation(affine, points, targets=targets)
    logits = affine(boundary.end)
    assert (logits.gather(1, targets[:, None])[:, 0] >= logits.amax(1)).all()
    assert (boundary.own == affine.label(points)).all()
    assert (boundary.rival == targets).all()


def test_a_larger_subspace_never_has_a_longer_way_out(affine):
    points, directions = draw(100, *SHAPE, seed=10), draw(30, *SHAPE, seed=11)
    lengths = [minimal_perturbation(affine, points, subspace=span(directions[:m])).distance for m in (1, 3, 9, 30)]
    lengths.append(minimal_perturbation(affine, points).distance)
    for smaller, larger in pairwise(lengths):
        assert (larger <= smaller + 1e-9).all()
    assert_exact(lengths[-2], lengths[-1])


def ball_points(reach, count=40, seed=0):
    return reach * L2.steepest(draw(count, 8, seed=seed)) + 0.5


BALL = Ball(2.0, centre=torch.full((8,), 0.5, dtype=torch.float64))


def depth(points):
    return L2.length(points - 0.5)


@pytest.mark.parametrize("norm", [L2, Linf], ids=str)
@pytest.mark.parametrize("reach", [0.01, 0.5, 1.9, 2.1, 3.0])
def test_every_end_is_on_the_sphere(method, norm, reach):
    boundary = minimal_perturbation(BALL, ball_points(reach), method=method, norm=norm)
    assert boundary.found.all()
    assert_exact(depth(boundary.end), torch.full((40,), 2.0, dtype=torch.float64))
    assert_exact(boundary.normals, BALL.normal_at(boundary.end, boundary.own))


@pytest.mark.parametrize("reach", [1e-12, 1e-9, 1e-6, 1e-3, 0.5, 1.9, 2.1, 20.0])
def test_distances_to_the_sphere_are_exact(reach):
    points = ball_points(reach)
    distance = minimal_perturbation(BALL, points).distance
    assert_close(distance, BALL.distance(points), rtol=1e-6, atol=0)


def test_the_centre_of_a_ball_has_no_gradient_and_is_found_from_noise():
    centre = torch.full((5, 8), 0.5, dtype=torch.float64)
    assert not minimal_perturbation(BALL, centre, retries=0).found.any()
    boundary = minimal_perturbation(BALL, centre)
    assert_close(boundary.distance, torch.full((5,), 2.0, dtype=torch.float64), rtol=1e-6, atol=0)


def test_distances_in_linf_to_the_sphere_are_exact_from_inside_and_outside():
    for reach, tolerance in ((0.5, 1e-3), (3.0, 1e-2)):
        points = ball_points(reach)
        exact = BALL.distance(points, Linf)
        distance = minimal_perturbation(BALL, points, norm=Linf, refine=Slide(steps=100)).distance
        assert (distance >= exact - 1e-9).all()
        assert ((distance / exact - 1).median() < tolerance).all()


def slice_distance(points, subspace):
    within = subspace.project(points - 0.5)
    radius = (4 - L2.length(points - 0.5 - within) ** 2).sqrt()
    return radius - L2.length(within)


@pytest.mark.parametrize("dimension", [1, 3, 7])
def test_distances_to_the_sphere_within_a_subspace_are_exact(dimension):
    subspace: Subspace = random((8,), dimension, generator=torch.Generator().manual_seed(3))
    points = ball_points(1.5)
    boundary = minimal_perturbation(BALL, points, subspace=subspace)
    assert_close(boundary.distance, slice_distance(points, subspace), rtol=1e-6, atol=0)


@pytest.mark.parametrize("seed", range(3))
def test_quadrics_are_met_no_nearer_than_they_are(method, seed):
    matrix, vector = draw(6, 6, seed=seed), draw(1, 6, seed=seed)[0]
    quadric, points = Quadric(matrix + matrix.T, vector, -0.3), draw(60, 6, seed=20 + seed)
    boundary, exact = minimal_perturbation(quadric, points, method=method), quadric.distance(points)
    assert boundary.found.all()
    assert (boundary.distance >= exact - 1e-9).all()
    assert (boundary.distance / exact - 1).median() < 1e-4


def test_the_union_of_two_balls_is_left_by_its_surface(method):
    a, b = torch.zeros(4, dtype=torch.float64), torch.tensor([1.5, 0, 0, 0], dtype=torch.float64)
    balls, points = TwoBalls(a, 1.0, b, 1.2), 1.5 * draw(100, 4, seed=12)
    boundary, exact = minimal_perturbation(balls, points, method=method), balls.distance(points)
    assert boundary.found.all()
    assert (boundary.distance >= exact - 1e-9).all()
    assert (boundary.distance / exact - 1).median() < 1e-4


def exhaustive_ratios(norm, inputs, hidden):
    network = tiny_network(inputs, hidden, 3, generator=torch.Generator().manual_seed(5))
    points = draw(40, inputs, seed=13)
    distance = minimal_perturbation(network, points, norm=norm, starts=8).distance
    return distance / exact_distance(network, points, norm)


@pytest.mark.parametrize("norm", [L2, Linf], ids=str)
def test_nearly_all_points_of_tiny_networks_are_within_a_percent_of_the_exhaustive_answer(norm):
    ratios = torch.cat([exhaustive_ratios(norm, *shape) for shape in ((2, (9,)), (5, (5, 4)), (4, (8,)))])
    assert (ratios >= 1 - 1e-6).all()
    assert (ratios <= 1.01).double().mean() >= 0.95
