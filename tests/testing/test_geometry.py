"""Exact geometry, checked against sampling, root finding and general-purpose optimisers, from both sides."""

import math

import numpy as np
import pytest
import torch
from scipy.optimize import brentq, minimize
from torch.testing import assert_close

from separatrix.norms import L2, Linf, Norm
from separatrix.testing import Affine, Ball, Quadric, TwoBalls, shortest_step

ELLIPSOID = Quadric(torch.diag(torch.tensor([2.0, 0.5, 1.0])).double(), torch.zeros(3).double(), -1.0)
SADDLE = Quadric(torch.diag(torch.tensor([1.0, -2.0, 0.3])).double(), torch.tensor([0.2, 0.1, -0.4]).double(), 0.3)
PARABOLOID = Quadric(torch.diag(torch.tensor([1.0, 2.0, 0.0])).double(), torch.tensor([0.0, 0.0, -1.0]).double(), 0.1)
PLANE = Quadric(torch.zeros(3, 3).double(), torch.tensor([1.0, 2.0, -2.0]).double(), -0.6)
SHEAR = torch.tensor([[1.0, 2.0, 0.0], [0.0, -1.0, 0.5], [0.3, 0.0, 0.7]]).double()
SKEWED = Quadric(SHEAR, torch.ones(3).double(), 0.2)
QUADRICS = {"ellipsoid": ELLIPSOID, "saddle": SADDLE, "paraboloid": PARABOLOID, "plane": PLANE, "skewed": SKEWED}

APART = TwoBalls(torch.tensor([-1.5, 0.0, 0.0]), 1.0, torch.tensor([1.5, 0.5, 0.0]), 1.5)
OVERLAPPING = TwoBalls(torch.tensor([-0.5, 0.0, 0.1]), 1.0, torch.tensor([0.6, 0.2, 0.0]), 1.2)
NESTED = TwoBalls(torch.tensor([0.2, 0.0, 0.0]), 0.5, torch.tensor([0.0, 0.0, 0.0]), 1.2)
UNIONS = {"apart": APART, "overlapping": OVERLAPPING, "nested": NESTED}

MODELS = {
    "affine": Affine.random(4, 3, generator=torch.Generator().manual_seed(5)),
    "ball": Ball(1.3),
    "ball elsewhere": Ball(1.1, torch.tensor([0.3, -0.2, 0.1]), inside=1),
    **QUADRICS,
    **UNIONS,
}


def gaussian(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def margin(model, points: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
    """f_rival − f_own: negative inside the own region."""
    logits = model(points)
    rivals = logits.scatter(1, own[:, None], -torch.inf)
    return rivals.amax(1) - logits.gather(1, own[:, None])[:, 0]


def least_margin_within(model, points: torch.Tensor, radius: torch.Tensor, norm: Norm = L2) -> torch.Tensor:
    """The largest margin met on sampled spheres of three radii up to ``radius`` around each point."""
    directions = gaussian(6000, points.shape[1], seed=1)
    directions = directions / norm.length(directions)[:, None]
    own, highest = model.label(points), torch.full((len(points),), -torch.inf).double()
    for share in (0.4, 0.8, 1.0):
        around = points[:, None] + share * radius[:, None, None] * directions
        met = margin(model, around.flatten(0, 1), own.repeat_interleave(len(directions)))
        highest = torch.maximum(highest, met.view(len(points), -1).amax(1))
    return highest


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
class TestEveryClassifier:
    def test_foot_is_on_the_boundary_at_the_stated_distance(self, model):
        points = gaussian(200, 3)
        foot, own = model.foot(points), model.label(points)
        assert margin(model, foot, own).abs().max() < 1e-11
        assert_close((foot - points).norm(dim=1), model.distance(points), rtol=1e-11, atol=1e-12)

    def test_nothing_nearer_changes_the_answer(self, model):
        points = gaussian(30, 3)
        distance = model.distance(points)
        assert (least_margin_within(model, points, distance * (1 - 1e-9)) < 0).all()
        assert (least_margin_within(model, points, distance * 1.05) > 0).all()

    def test_normal_is_the_unit_gradient_of_the_margin_at_the_foot(self, model):
        points = gaussian(200, 3)
        own, curved = model.label(points), model.principal_curvatures(points).isfinite().all(1)
        foot = model.foot(points).requires_grad_()
        gradient = torch.autograd.grad(margin(model, foot, own).sum(), foot)[0]
        unit = gradient / gradient.norm(dim=1, keepdim=True)
        assert curved.sum() > 150
        assert_close(model.normal(points)[curved], unit[curved], rtol=0, atol=1e-10)

    def test_curvature_is_the_bend_of_the_boundary(self, model):
        points, size = gaussian(40, 3), 1e-3
        own, foot, normal = model.label(points), model.foot(points), model.normal(points)
        tangents = torch.linalg.qr(normal[:, :, None], mode="complete").Q[:, :, 1:]
        sagitta = torch.zeros(len(points), 2, dtype=torch.float64)
        for side in range(2):
            for sign in (-1, 1):
                aside = foot + sign * size * tangents[:, :, side]
                sagitta[:, side] += _height(model, aside, normal, own) / 2
        curvatures = model.principal_curvatures(points)
        smooth = curvatures.isfinite().all(1)
        assert_close((2 * sagitta / size**2).sum(1)[smooth], curvatures.sum(1)[smooth], rtol=1e-3, atol=1e-3)

    def test_images_in_float32_give_the_same_geometry(self, model):
        points = gaussian(20, 3)
        images = points.float().view(20, 1, 3, 1)
        assert model.foot(images).shape == model.normal(images).shape == images.shape
        assert model.distance(images).dtype == model.normal(images).dtype == model(images).dtype == torch.float32
        assert_close(model.distance(images).double(), model.distance(points), rtol=1e-4, atol=1e-5)
        assert_close(model.principal_curvatures(images).shape, (20, 2))
        assert torch.equal(model.label(images), model.label(points))

    def test_a_batch_equals_its_singletons(self, model):
        points = gaussian(10, 3)
        alone = torch.cat([model.distance(point[None]) for point in points])
        assert_close(model.distance(points), alone, rtol=1e-13, atol=1e-14)


def _height(model, aside: torch.Tensor, normal: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
    """How far against the normal the boundary lies from points of its tangent plane, by secant steps."""
    before, after = torch.zeros(len(aside)).double(), torch.full((len(aside),), 1e-6).double()
    for _ in range(8):
        low, high = (margin(model, aside - t[:, None] * normal, own) for t in (before, after))
        slope = (high - low) / (after - before).where(after != before, 1)
        before, after = after, after - high / slope.where(slope != 0, 1)
    return after


@pytest.mark.parametrize("norm", [L2, Linf, Norm(3)], ids=str)
def test_affine_distance_is_attained_and_never_undercut(norm):
    model, points = MODELS["affine"], gaussian(30, 3)
    distance, own = model.distance(points, norm), model.label(points)
    every = torch.arange(4).expand(30, 4)
    pairs = torch.stack([model.pair_distance(points, own, rival, norm) for rival in every.T], dim=1)
    rival = pairs.scatter(1, own[:, None], torch.inf).argmin(1)
    step = distance[:, None] * norm.steepest(model.weight[rival] - model.weight[own])
    assert_close(norm.length(step), distance)
    assert margin(model, points + step, own).abs().max() < 1e-12
    assert (least_margin_within(model, points, distance * (1 - 1e-9), norm) < 0).all()


def test_affine_distance_within_a_subspace():
    model, points = Affine.random(3, 6, generator=torch.Generator().manual_seed(2)), gaussian(20, 6)
    basis = torch.linalg.qr(gaussian(6, 2, seed=3)).Q.T
    inside = Affine(model.weight @ basis.T, torch.zeros(3).double())
    expected = [
        Affine(inside.weight, model(point[None])[0]).distance(torch.zeros(1, 2).double())[0] for point in points
    ]
    assert_close(model.distance(points, L2, basis), torch.stack(expected))
    assert (model.distance(points, L2, basis) >= model.distance(points)).all()


def test_affine_distance_is_infinite_where_the_subspace_never_crosses():
    model = Affine(torch.eye(2, 5).double(), torch.zeros(2).double())
    basis = torch.linalg.qr(gaussian(5, 5, seed=4)[:, :2] * torch.tensor([[0.0], [0.0], [1.0], [1.0], [1.0]])).Q.T
    assert model.distance(gaussian(8, 5), L2, basis).isinf().all()
    with pytest.raises(ValueError, match="`norm` must be L2 within a subspace"):
        model.distance(gaussian(8, 5), Linf, basis)


def test_affine_ties_are_at_distance_zero_and_equal_classes_are_never_told_apart():
    model = Affine(torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), torch.tensor([0.0, -1.0, 0.0]))
    points = torch.tensor([[1.0, 1.0], [2.0, 1.0]])
    zeros, ones = torch.tensor([0, 0]), torch.tensor([1, 1])
    assert_close(model.distance(points), torch.tensor([0.0, 0.5**0.5]))
    assert model.pair_distance(points, zeros, ones).isinf().all()


def test_affine_region_distance_is_a_projection():
    model, points = Affine.random(5, 3, generator=torch.Generator().manual_seed(7)), gaussian(12, 3)
    for target in range(5):
        lengths = model.region_distance(points, torch.full((12,), target))
        best = [_into_region(model, point, target) for point in points]
        assert_close(lengths, torch.tensor(best, dtype=torch.float64), rtol=1e-6, atol=1e-6)


def test_the_nearest_region_is_as_far_as_the_boundary():
    model, points = Affine.random(5, 4, generator=torch.Generator().manual_seed(8)), gaussian(40, 4)
    lengths = torch.stack([model.region_distance(points, torch.full((40,), t)) for t in range(5)], dim=1)
    own = model.label(points)
    assert (lengths.gather(1, own[:, None]) == 0).all()
    assert_close(lengths.scatter(1, own[:, None], torch.inf).amin(1), model.distance(points), rtol=1e-12, atol=1e-12)


def test_an_empty_region_is_infinitely_far():
    model = Affine(torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]]), torch.tensor([0.0, 0.0, -1.0]))
    assert model.region_distance(gaussian(3, 2).float(), torch.tensor([2, 2, 2])).isinf().all()


def _into_region(model: Affine, point: torch.Tensor, target: int) -> float:
    rows = (model.weight[target] - model.weight).numpy()
    levels = (model.bias - model.bias[target]).numpy()
    start = point.numpy()
    inside = {"type": "ineq", "fun": lambda z: rows @ z - levels, "jac": lambda z: rows}
    answer = minimize(
        lambda z: ((z - start) ** 2).sum(),
        start,
        jac=lambda z: 2 * (z - start),
        constraints=[inside],
        method="SLSQP",
        options={"ftol": 1e-13},
    )
    return math.sqrt(answer.fun) if (rows @ answer.x - levels).min() > -1e-9 else math.inf


def test_shortest_step_is_none_beyond_reach_and_where_there_is_none():
    rows, levels = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([3.0, 4.0])
    assert_close(shortest_step(rows, levels), levels, rtol=1e-14, atol=0)
    assert_close(shortest_step(rows, levels, 5 + 1e-6), levels, rtol=1e-14, atol=0)
    assert shortest_step(rows, levels, 5 - 1e-6) is None
    assert shortest_step(np.array([[1.0], [-1.0]]), np.array([1.0, 1.0])) is None
    assert shortest_step(np.zeros((1, 2)), np.ones(1)) is None


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_ball_linf_distance_from_inside_is_where_a_corner_of_the_cube_leaves(dimension):
    points = gaussian(200, dimension)
    points = 0.9 * points / points.norm(dim=1, keepdim=True).clamp_min(1)
    signs = torch.cartesian_prod(*[torch.tensor([-1.0, 1.0]).double()] * dimension).view(-1, dimension)
    distance = Ball(1.0).distance(points, Linf)
    farthest = (points[:, None] + distance[:, None, None] * signs).norm(dim=2).amax(1)
    assert_close(farthest, torch.ones(200).double(), rtol=1e-12, atol=0)


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_ball_linf_distance_from_outside_is_where_the_cube_touches(dimension):
    points = gaussian(40, dimension, seed=6)
    points = 3 * points / points.norm(dim=1, keepdim=True).clamp_max(2)

    def touches(t: float, point: np.ndarray) -> float:
        return float((np.maximum(np.abs(point) - t, 0) ** 2).sum() - 1.0)

    roots = [brentq(touches, 0, np.abs(point).max(), (point,), xtol=1e-14) for point in points.numpy()]
    assert_close(Ball(1.0).distance(points, Linf), torch.tensor(roots, dtype=torch.float64), rtol=1e-11, atol=1e-12)


def test_ball_at_its_centre():
    ball, centre = Ball(2.0, torch.tensor([1.0, 1.0, 1.0, 1.0])), torch.ones(1, 4).double()
    assert ball.distance(centre).item() == 2
    assert ball.distance(centre, Linf).item() == 1
    assert (ball.foot(centre) - centre).norm().item() == 2
    with pytest.raises(ValueError, match="`norm` must be L2 or Linf; got ℓ3"):
        ball.distance(centre, Norm(3))


def test_ball_curvature_has_the_sign_of_the_own_region():
    near, far = torch.tensor([[0.1, 0.2, 0.3]]), torch.tensor([[5.0, 0.0, 0.0]])
    for ball in (Ball(2.0), Ball(2.0, inside=1)):
        assert_close(ball.principal_curvatures(near), torch.full((1, 2), 0.5))
        assert_close(ball.principal_curvatures(far), torch.full((1, 2), -0.5))
        assert_close(ball.normal(far), -torch.eye(1, 3))


@pytest.mark.parametrize("quadric", QUADRICS.values(), ids=QUADRICS.keys())
def test_quadric_distance_is_the_best_of_many_descents(quadric):
    points = gaussian(6, 3, seed=9)
    best = [min(_descents(quadric, point.numpy())) for point in points]
    assert_close(quadric.distance(points), torch.tensor(best, dtype=torch.float64), rtol=1e-6, atol=1e-6)


def _descents(quadric: Quadric, start: np.ndarray, starts: int = 12) -> list[float]:
    matrix = (quadric.matrix + quadric.matrix.T).numpy() / 2
    vector = quadric.vector.numpy()
    surface = {
        "type": "eq",
        "fun": lambda z: z @ matrix @ z / 2 + vector @ z + quadric.constant,
        "jac": lambda z: matrix @ z + vector,
    }
    answers = [
        minimize(
            lambda z: ((z - start) ** 2).sum(),
            start + offset,
            jac=lambda z: 2 * (z - start),
            constraints=[surface],
            method="SLSQP",
            options={"ftol": 1e-13, "maxiter": 200},
        )
        for offset in gaussian(starts, 3, seed=10).numpy()
    ]
    return [math.sqrt(answer.fun) for answer in answers if answer.success and abs(surface["fun"](answer.x)) < 1e-9]


def test_quadric_from_its_centre_and_axes():
    points = torch.tensor([[0.0, 0.0, 0.0], [0.0, 0.3, 0.0], [0.05, 0.0, 0.0], [0.0, 0.0, 5.0]]).double()
    half_axes = torch.tensor([1.0, 2.0, math.sqrt(2.0)]).double()
    angles = gaussian(400_000, 3, seed=11)
    surface = angles / angles.norm(dim=1, keepdim=True) * half_axes
    sampled = torch.cdist(points, surface).amin(1)
    distance = ELLIPSOID.distance(points)
    assert_close(distance[0].item(), 1.0, rtol=1e-12, atol=0)
    assert (sampled >= distance - 1e-12).all()
    assert (sampled <= distance + 1e-3).all()


def test_quadric_from_the_centre_of_a_hyperbola():
    hyperbola = Quadric(torch.diag(torch.tensor([2.0, -0.5])), torch.zeros(2), 1.0)
    assert_close(hyperbola.distance(torch.zeros(1, 2).double()), torch.tensor([2.0]).double(), rtol=1e-12, atol=0)


def test_quadric_of_one_sign_has_no_boundary():
    bowl = Quadric(torch.diag(torch.tensor([1.0, 0.0])), torch.zeros(2), 1.0)
    points = gaussian(5, 2)
    assert bowl.distance(points).isinf().all()
    assert Quadric(-bowl.matrix, bowl.vector, -1.0).distance(points).isinf().all()
    assert bowl.foot(points).isnan().all()


def test_quadric_sphere_is_a_ball():
    points, centre = gaussian(50, 4), torch.tensor([0.5, 0.0, -0.2, 0.1]).double()
    sphere = Quadric(2 * torch.eye(4).double(), -2 * centre, float(centre @ centre) - 1.7**2)
    ball = Ball(1.7, centre)
    for question in ("label", "distance", "foot", "normal", "principal_curvatures"):
        assert_close(getattr(sphere, question)(points), getattr(ball, question)(points), rtol=1e-10, atol=1e-10)


def test_ellipse_curvature_by_the_textbook():
    ellipse = Quadric(torch.diag(torch.tensor([2 / 9.0, 2 / 4.0])).double(), torch.zeros(2).double(), -1.0)
    angle = torch.linspace(0.1, 6.2, 40).double()
    boundary = torch.stack([3 * angle.cos(), 2 * angle.sin()], dim=1)
    textbook = 6 / (9 * angle.sin() ** 2 + 4 * angle.cos() ** 2) ** 1.5
    inside = torch.zeros(40, dtype=torch.long)
    assert_close(ellipse.principal_curvatures_at(boundary, inside)[:, 0], textbook)
    assert_close(ellipse.principal_curvatures_at(boundary, inside + 1)[:, 0], -textbook)
    assert (ellipse.normal_at(boundary, inside) * boundary).sum(1).min() > 0


@pytest.mark.parametrize("union", UNIONS.values(), ids=UNIONS.keys())
def test_union_distance_is_the_nearest_of_a_dense_surface(union):
    angle = torch.linspace(0, 2 * math.pi, 20001).double()
    circle = torch.stack([angle.cos(), angle.sin()], dim=1)
    a, b = union.centre_a[:2].double(), union.centre_b[:2].double()
    flat = TwoBalls(a, union.radius_a, b, union.radius_b)
    on_a, on_b = a + flat.radius_a * circle, b + flat.radius_b * circle
    surface = torch.cat([on_a[(on_a - b).norm(dim=1) >= flat.radius_b], on_b[(on_b - a).norm(dim=1) >= flat.radius_a]])
    points = gaussian(100, 2, seed=12)
    sampled, distance = torch.cdist(points, surface).amin(1), flat.distance(points)
    assert (sampled >= distance - 1e-12).all()
    assert (sampled <= distance + 6e-4).all()


def test_union_leaves_through_the_crease_where_spheres_overlap():
    union = TwoBalls(torch.tensor([-1.0, 0.0]), 1.5, torch.tensor([1.0, 0.0]), 1.5)
    points = torch.tensor([[0.0, 0.2], [0.0, -0.2], [-1.0, 0.0], [0.0, 3.0]]).double()
    height = math.sqrt(1.5**2 - 1)
    assert_close(union.foot(points)[:2], torch.tensor([[0.0, height], [0.0, -height]]).double())
    assert_close(union.distance(points)[2].item(), 1.5)
    assert union.principal_curvatures(points).isnan()[:, 0].tolist() == [True, True, False, False]


def test_union_of_concentric_balls_is_the_larger():
    origin, points = torch.zeros(3), gaussian(20, 3)
    union = TwoBalls(origin, 0.5, origin, 1.5)
    assert_close(union.distance(points), Ball(1.5).distance(points))
    assert_close(union.normal(points), Ball(1.5).normal(points))
