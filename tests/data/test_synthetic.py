import pytest
import torch

from separatrix import minimal_perturbation
from separatrix.data import two_class, two_feature

SETS = [two_class, two_feature]


def linear(u1):
    """The classifier that uses the first feature alone: its boundary is where x1 = 0."""
    return lambda points: torch.stack([-points @ u1, points @ u1], dim=1)


def wave(u2, rho):
    """The classifier that uses the second feature alone: a class wherever x2 is within ρ/4 of a multiple of ρ."""

    def logits(points):
        place = points @ u2 / rho
        inside = rho / 4 - rho * (place - place.round().detach()).abs()
        return torch.stack([-inside, inside], dim=1)

    return logits


@pytest.mark.parametrize("epsilon", [0.5, 5.0])
def test_the_ideal_classifier_of_one_feature_has_half_the_class_distance_as_margin(epsilon):
    drawn = two_class(epsilon, samples=200, dtype=torch.float64)
    model, points = linear(drawn.u1), drawn.data.points
    assert (model(points).argmax(1) == drawn.data.labels).all()
    boundary = minimal_perturbation(model, points)
    torch.testing.assert_close(boundary.distance, torch.full((200,), epsilon / 2).double(), rtol=1e-9, atol=0)
    along = (boundary.perturbation @ drawn.u1).abs()
    torch.testing.assert_close(along, boundary.distance, rtol=1e-9, atol=0)


@pytest.mark.parametrize("rho", [20.0, 3.0])
def test_the_ideal_classifier_of_the_wave_has_a_quarter_period_as_margin(rho):
    drawn = two_feature(rho, samples=200, dtype=torch.float64)
    model, points = wave(drawn.u2, rho), drawn.data.points
    assert (model(points).argmax(1) == drawn.data.labels).all()
    boundary = minimal_perturbation(model, points)
    torch.testing.assert_close(boundary.distance, torch.full((200,), rho / 4).double(), rtol=1e-9, atol=0)


def test_the_line_and_the_wave_solve_the_same_problem():
    drawn = two_feature(20.0, 1.0, samples=100, dtype=torch.float64)
    model = linear(drawn.u1)
    assert (model(drawn.data.points).argmax(1) == drawn.data.labels).all()
    boundary = minimal_perturbation(model, drawn.data.points)
    torch.testing.assert_close(boundary.distance, torch.full((100,), 0.5).double(), rtol=1e-9, atol=0)


def test_coordinates_are_as_defined():
    drawn = two_feature(20.0, 1.0, 2.0, repeats=3, samples=6000, dtype=torch.float64)
    x, y = drawn.coordinates(drawn.data.points), drawn.data.labels * 2 - 1
    torch.testing.assert_close(x[:, 0], 0.5 * y.double())
    places = x[:, 1] / 20
    torch.testing.assert_close(places[y > 0], places[y > 0].round())
    torch.testing.assert_close(places[y < 0] - 0.5, (places[y < 0] - 0.5).round())
    for sign, shift in ((1, 0.0), (-1, 0.5)):
        counts = (places[y == sign] - shift).round().long().add(3).bincount()
        assert len(counts) == 6
        assert (counts - 500).abs().max() < 100
    assert x[:, 2:].std() == pytest.approx(2, rel=0.01)
    assert x[:, 2:].mean().abs() < 0.02


def test_directions_that_tell_nothing_are_normal_noise():
    drawn = two_class(5.0, 3.0, samples=5000)
    x = drawn.coordinates(drawn.data.points)
    torch.testing.assert_close(x[:, 0].abs(), torch.full((5000,), 2.5), rtol=1e-4, atol=0)
    assert x[:, 1:].std() == pytest.approx(3, rel=0.01)
    covariance = (x[:, 1:].T @ x[:, 1:]) / 5000 / 9
    assert (covariance - torch.eye(99)).abs().max() < 0.08


@pytest.mark.parametrize("make", SETS)
def test_the_basis_is_a_rotation(make):
    rotation = make(dim=9, samples=2).rotation
    torch.testing.assert_close(rotation.T @ rotation, torch.eye(9).double(), rtol=0, atol=1e-14)
    torch.testing.assert_close(torch.linalg.det(rotation), torch.ones(()).double())


@pytest.mark.parametrize("make", SETS)
def test_features_are_the_columns_of_the_basis(make):
    drawn = make(dim=9, samples=4, dtype=torch.float64)
    assert torch.equal(torch.stack([drawn.u1, drawn.u2], dim=1), drawn.rotation[:, :2])
    torch.testing.assert_close(drawn.coordinates(drawn.data.points) @ drawn.rotation.T, drawn.data.points)
    assert make(dim=9, samples=4).u1.dtype == torch.float32


@pytest.mark.parametrize("make", SETS)
def test_classes_are_balanced(make):
    assert make(dim=9, samples=1000).data.labels.bincount().tolist() == [500, 500]


@pytest.mark.parametrize("make", SETS)
def test_a_smaller_set_is_the_beginning_of_a_larger_one(make):
    small, large = make(dim=9, samples=10).data, make(dim=9, samples=100).data
    assert small.fingerprint == large.select(slice(10)).fingerprint


@pytest.mark.parametrize("make", SETS)
def test_splits_and_seeds_differ_in_their_samples_and_share_the_basis(make):
    drawn = make(dim=9, samples=50)
    others = [make(dim=9, samples=50, split="test"), make(dim=9, samples=50, seed=1)]
    for other in others:
        assert torch.equal(drawn.rotation, other.rotation)
        assert torch.cdist(drawn.coordinates(drawn.data.points), other.coordinates(other.data.points)).min() > 0.01
    turned = make(dim=9, samples=50, basis_seed=1)
    assert (turned.rotation - drawn.rotation).abs().max() > 0.1
    torch.testing.assert_close(
        turned.coordinates(turned.data.points), drawn.coordinates(drawn.data.points), rtol=0, atol=2e-5
    )


@pytest.mark.parametrize("make", SETS)
def test_the_global_random_state_is_left_alone(make):
    state = torch.get_rng_state()
    make(dim=9, samples=4)
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: two_class(0), "`epsilon` must be a finite number above 0; got 0"),
        (lambda: two_class(sigma=-1), "`sigma` must be a finite number ≥ 0; got -1"),
        (lambda: two_class(dim=2), "`dim` must be a whole number ≥ 3; got 2"),
        (lambda: two_class(samples=1), "`samples` must be a whole number ≥ 2; got 1"),
        (lambda: two_class(split="all"), "`split` must be 'train' or 'test'; got 'all'"),
        (lambda: two_class(seed=-1), "`seed` must be a whole number ≥ 0; got -1"),
        (lambda: two_class(dtype=torch.float16), "`dtype` must be float32 or float64; got torch.float16"),
        (lambda: two_feature(rho=0), "`rho` must be a finite number above 0; got 0"),
        (lambda: two_feature(epsilon=-1), "`epsilon` must be a finite number ≥ 0; got -1"),
        (lambda: two_feature(repeats=0), "`repeats` must be a whole number ≥ 1; got 0"),
    ],
)
def test_bad_settings_are_refused_by_name(ask, message):
    with pytest.raises(ValueError, match=message):
        ask()
