"""Exact distances of tiny ReLU networks, checked against dense search and against every pattern one by one."""

import itertools
import math

import numpy as np
import pytest
import torch
from scipy.optimize import linprog
from torch import nn
from torch.testing import assert_close

from separatrix.norms import L2, Linf
from separatrix.testing import Affine, Ball, exact_distance, tiny_network


def gaussian(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def network(inputs: int, hidden: tuple[int, ...], classes: int, seed: int = 0) -> nn.Sequential:
    return tiny_network(inputs, hidden, classes, generator=torch.Generator().manual_seed(seed)).requires_grad_(False)


def crosses(model: nn.Module, points: torch.Tensor, steps: torch.Tensor) -> torch.Tensor:
    """Whether each of the steps ``(m, d)``, or ``(n, m, d)``, from each point lifts a rival ``(n, m)``."""
    own = model(points).argmax(1)[:, None, None]
    logits = model((points[:, None] + steps).flatten(0, 1)).view(len(points), steps.shape[-2], -1)
    index = own.expand(-1, steps.shape[-2], 1)
    return logits.scatter(2, index, -torch.inf).amax(2) >= logits.gather(2, index)[:, :, 0]


@pytest.mark.parametrize("norm", [L2, Linf], ids=str)
@pytest.mark.parametrize(("hidden", "classes"), [((5,), 2), ((10,), 3), ((5, 5), 2), ((6, 6), 4)])
def test_two_inputs_against_dense_search(norm, hidden, classes):
    model, points = network(2, hidden, classes, seed=classes), gaussian(6, 2, seed=1)
    distance = exact_distance(model, points, norm)
    angle = torch.linspace(0, 2 * math.pi, 1001, dtype=torch.float64)
    rays = torch.stack([angle.cos(), angle.sin()], dim=1)
    rays = rays / norm.length(rays)[:, None]
    assert distance.isfinite().all()
    for share in torch.linspace(0.1, 1, 10).double():
        assert not crosses(model, points, share * (1 - 1e-5) * distance[:, None, None] * rays).any()
    assert crosses(model, points, 1.005 * distance[:, None, None] * rays).any(1).all()


@pytest.mark.parametrize(("inputs", "hidden", "classes"), [(3, (12,), 2), (8, (6, 6), 3), (5, (4, 8), 10)])
def test_both_norms_agree_with_each_other(inputs, hidden, classes):
    model, points = network(inputs, hidden, classes, seed=3), gaussian(6, inputs, seed=2)
    euclidean, cubic = exact_distance(model, points, L2), exact_distance(model, points, Linf)
    assert (cubic <= euclidean).all()
    assert (euclidean <= math.sqrt(inputs) * cubic * (1 + 1e-6)).all()


def test_linf_distance_is_the_least_over_all_patterns():
    model, points = network(4, (5,), 3, seed=4), gaussian(5, 4, seed=3)
    brute = [min(_piece_by_piece(model, point)) for point in points.numpy()]
    assert_close(exact_distance(model, points, Linf), torch.tensor(brute, dtype=torch.float64), rtol=1e-6, atol=0)


def _piece_by_piece(model: nn.Sequential, point: np.ndarray) -> list[float]:
    """The ℓ∞ distance within each linear piece and to each rival, by one linear programme each."""
    first, last = model[1], model[3]
    weight, bias = first.weight.double().numpy(), first.bias.double().numpy()
    head, offset = last.weight.double().numpy(), last.bias.double().numpy()
    own = int(model(torch.from_numpy(point)[None]).argmax())
    lengths = []
    for pattern in itertools.product([0.0, 1.0], repeat=len(bias)):
        mask = np.array(pattern)
        slopes, values = head @ (mask[:, None] * weight), head @ (mask * bias) + offset
        side = 2 * mask - 1
        for rival in set(range(len(offset))) - {own}:
            rows = np.vstack([side[:, None] * weight, slopes[rival] - slopes[own]])
            levels = -np.append(side * bias, values[rival] - values[own])
            lengths.append(_cubic_step(rows, levels - rows @ point))
    return lengths


def _cubic_step(rows: np.ndarray, levels: np.ndarray) -> float:
    dimension = rows.shape[1]
    one, eye = np.ones((dimension, 1)), np.eye(dimension)
    matrix = np.block([[-rows, np.zeros((len(rows), 1))], [eye, -one], [-eye, -one]])
    limits = np.concatenate([-levels, np.zeros(2 * dimension)])
    answer = linprog([0.0] * dimension + [1.0], A_ub=matrix, b_ub=limits, bounds=(None, None))
    return float(answer.fun) if answer.success else math.inf


@pytest.mark.parametrize("norm", [L2, Linf], ids=str)
def test_without_hidden_units_the_network_is_affine(norm):
    model, points = network(6, (), 4), gaussian(20, 6)
    affine = Affine(model[1].weight, model[1].bias)
    assert_close(exact_distance(model, points, norm), affine.distance(points, norm), rtol=1e-7, atol=0)


@pytest.mark.parametrize("norm", [L2, Linf], ids=str)
def test_a_polygon_made_of_rectifiers(norm):
    """Class 1 outside the square |x| + |y| < 1, written with four units."""
    model = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 2)).double().requires_grad_(False)
    model[0].weight.copy_(torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]))
    model[0].bias.zero_()
    model[2].weight.copy_(torch.tensor([[0.0] * 4, [1.0] * 4]))
    model[2].bias.copy_(torch.tensor([0.0, -1.0]))
    points = torch.tensor([[0.0, 0.0], [0.2, 0.3], [2.0, 0.0], [1.0, 1.0], [0.5, 0.5]]).double()
    exact = {L2: [0.5**0.5, 0.5 * 0.5**0.5, 1.0, 0.5**0.5, 0.0], Linf: [0.5, 0.25, 1.0, 0.5, 0.0]}
    assert_close(
        exact_distance(model, points, norm), torch.tensor(exact[norm], dtype=torch.float64), rtol=1e-7, atol=1e-12
    )


@pytest.mark.parametrize("norm", [L2, Linf], ids=str)
def test_no_boundary_is_infinitely_far(norm):
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 2)).double().requires_grad_(False)
    model[2].weight.copy_(torch.tensor([[1.0] * 3, [0.0] * 3]))
    model[2].bias.copy_(torch.tensor([0.1, 0.0]))
    assert exact_distance(model, gaussian(3, 2), norm).isinf().all()


def test_images_and_float32_are_measured_in_float64():
    model = tiny_network(4, (5,), 3, generator=torch.Generator().manual_seed(6), dtype=torch.float32)
    images = gaussian(4, 1, 2, 2).float()
    distance = exact_distance(model, images)
    assert distance.dtype == torch.float64
    assert_close(distance, exact_distance(model.double(), images.double().flatten(1)), rtol=0, atol=0)


def test_a_network_is_drawn_from_its_generator_alone():
    state = torch.get_rng_state()
    one, two = (tiny_network(3, (6, 4), 2, generator=torch.Generator().manual_seed(1)) for _ in range(2))
    assert torch.equal(one(gaussian(5, 3)), two(gaussian(5, 3)))
    assert torch.equal(torch.get_rng_state(), state)
    assert not one.training
    assert len(one(gaussian(200, 3)).argmax(1).unique()) == 2


def test_what_is_not_such_a_network_is_refused():
    with pytest.raises(ValueError, match="`network` must alternate Linear and ReLU"):
        exact_distance(nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 2)), gaussian(1, 2))
    with pytest.raises(ValueError, match="`norm` must be L2 or Linf"):
        exact_distance(network(2, (2,), 2), gaussian(1, 2), norm=type(L2)(3))
    assert callable(Ball(1.0))
