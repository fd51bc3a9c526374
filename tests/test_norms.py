"""Norms against their definitions, by duality, by brute force and at the ends of the floating-point range."""

import math

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from torch.testing import assert_close

from separatrix.norms import L2, Linf, Norm, per_sample

NORMS = [L2, Linf, Norm(3), Norm(1.5), Norm(1.01), Norm(20)]
every_norm = pytest.mark.parametrize("norm", NORMS, ids=str)


def draw(count, *shape, seed=0, dtype=torch.float64):
    return torch.randn(count, *shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def inner(one, other):
    return (one * other).flatten(1).sum(1)


@every_norm
def test_lengths_are_those_of_numpy(norm):
    vectors = draw(20, 3, 4)
    for length, order in ((norm.length, norm.p), (norm.dual_length, norm.q)):
        expected = [np.linalg.norm(vector.flatten().numpy(), order) for vector in vectors]
        assert_close(length(vectors), torch.tensor(expected, dtype=torch.float64))


@every_norm
def test_exponents_are_conjugate(norm):
    assert 1 / norm.p + 1 / norm.q == pytest.approx(1)


@every_norm
def test_the_steepest_direction_has_unit_length_and_attains_the_dual_length(norm):
    gradients = draw(50, 2, 5)
    steepest = norm.steepest(gradients)
    assert_close(norm.length(steepest), torch.ones(50, dtype=torch.float64))
    assert_close(inner(gradients, steepest), norm.dual_length(gradients))


@every_norm
def test_no_direction_of_unit_length_climbs_faster(norm):
    gradients, directions = draw(500, 4), draw(500, 4, seed=1)
    unit = directions / per_sample(norm.length(directions), directions)
    assert (inner(gradients, unit) <= norm.dual_length(gradients) * (1 + 1e-12)).all()


@every_norm
def test_a_zero_gradient_has_no_steepest_direction(norm):
    assert torch.equal(norm.steepest(torch.zeros(2, 3)), torch.zeros(2, 3))
    assert torch.equal(norm.dual_length(torch.zeros(2, 3)), torch.zeros(2))


@every_norm
@pytest.mark.parametrize("scale", [1e-30, 1e-20, 1e20, 1e30])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_lengths_and_directions_hold_at_the_ends_of_the_range(norm, scale, dtype):
    vectors = draw(10, 6, dtype=dtype)
    tolerance = 1e-5 if dtype == torch.float32 else 1e-12
    for length in (norm.length, norm.dual_length):
        assert_close(length(scale * vectors) / scale, length(vectors), rtol=tolerance, atol=0)
    assert_close(norm.steepest(scale * vectors), norm.steepest(vectors), rtol=10 * tolerance, atol=1e-6)


@every_norm
def test_lengths_grow_with_their_vector(norm):
    vectors = draw(30, 5)
    factors = torch.linspace(0, 3, 30, dtype=torch.float64)
    assert_close(norm.length(per_sample(factors, vectors) * vectors), factors * norm.length(vectors))
    assert (norm.length(vectors + vectors.flip(0)) <= norm.length(vectors) + norm.length(vectors.flip(0)) + 1e-12).all()


@every_norm
@pytest.mark.parametrize("radius", [0.0, 0.3, 2.0, 100.0])
def test_projections_lie_in_the_ball_and_leave_what_is_inside(norm, radius):
    vectors = draw(40, 2, 3)
    projected = norm.project(vectors, radius)
    assert (norm.length(projected) <= radius * (1 + 1e-9)).all()
    inside = norm.length(vectors) <= radius
    assert torch.equal(projected[inside], vectors[inside])
    assert_close(norm.project(projected, radius), projected, rtol=1e-8, atol=1e-12)


@every_norm
def test_projections_are_nearer_than_any_other_point_of_the_ball(norm):
    vectors, others = 3 * draw(200, 4), draw(200, 4, seed=2)
    projected = norm.project(vectors, 1.0)
    others = others / per_sample(norm.length(others).clamp_min(1), others)
    distance = L2.length(vectors - projected)
    assert (distance <= L2.length(vectors - others) + 1e-9).all()
    assert (inner(vectors - projected, others - projected) <= 1e-7).all()


@pytest.mark.parametrize("norm", [L2, Norm(3), Norm(1.5), Norm(6)], ids=str)
def test_projections_are_those_of_a_general_solver(norm):
    for vector in 2 * draw(4, 3, seed=3) + 1:
        target = vector.numpy()
        solved = minimize(
            lambda y, target=target: ((y - target) ** 2).sum(),
            0.3 * target / np.linalg.norm(target),
            constraints={"type": "ineq", "fun": lambda y: 1 - (np.abs(y) ** norm.p).sum()},
            options={"ftol": 1e-14, "maxiter": 500},
            method="SLSQP",
        )
        assert_close(norm.project(vector[None], 1.0)[0], torch.from_numpy(solved.x), rtol=1e-4, atol=1e-5)


@every_norm
def test_each_sample_has_its_own_radius(norm):
    vectors, radius = draw(3, 4), torch.tensor([0.1, 0.5, 9.0], dtype=torch.float64)
    together = norm.project(vectors, radius)
    for row in range(3):
        assert_close(together[row : row + 1], norm.project(vectors[row : row + 1], float(radius[row])))


def test_names_and_exponents():
    assert [str(norm) for norm in (L2, Linf, Norm(3), Norm(1.5))] == ["ℓ2", "ℓ∞", "ℓ3", "ℓ1.5"]
    assert Norm(2) == L2
    assert Norm(math.inf) == Linf


@pytest.mark.parametrize("p", [1, 0.5, -2, math.nan, "2", None, True])
def test_exponents_at_or_below_one_are_refused(p):
    with pytest.raises(ValueError, match=r"^`p` must be a number above 1, or math\.inf; got "):
        Norm(p)
