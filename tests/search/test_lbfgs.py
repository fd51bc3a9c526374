"""Szegedy's attack: close to the exact distance, exact once refined, in any scale of the inputs."""

import pytest
import torch
from torch import Tensor, nn

import separatrix as sx
from separatrix.classifier import Model
from separatrix.search.lbfgs import LBFGS
from separatrix.testing import Affine, Ball


def gaussian(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def affine(classes: int) -> Affine:
    return Affine.random(classes, 30, generator=torch.Generator().manual_seed(classes))


def smooth_net() -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(20, 32), nn.Softplus(), nn.Linear(32, 5)).double().eval()


def measure(model: Model, points: Tensor, **settings: object) -> sx.BoundaryPoints:
    return sx.minimal_perturbation(model, points, method=LBFGS(), **settings)


def test_two_affine_classes_are_near_the_exact_distance() -> None:
    model, points = affine(2), 3 * gaussian(40, 30)
    ratio = measure(model, points, refine=None).distance / model.distance(points)
    assert ratio.min() >= 1 - 1e-12
    assert ratio.median() <= 1.01
    assert ratio.max() <= 1.06


def test_ten_affine_classes_are_near_the_region_aimed_at() -> None:
    model, points = affine(10), 3 * gaussian(40, 30)
    boundary = measure(model, points, refine=None)
    runner_up = model(points).topk(2).indices[:, 1]
    assert (boundary.distance >= model.distance(points) * (1 - 1e-12)).all()
    assert (boundary.distance / model.pair_distance(points, model.label(points), runner_up)).median() <= 1.05


@pytest.mark.parametrize("classes", [2, 10])
def test_affine_is_exact_once_refined(classes: int) -> None:
    model, points = affine(classes), 3 * gaussian(40, 30)
    runner_up = model(points).topk(2).indices[:, 1]
    boundary = measure(model, points, targets=runner_up)
    torch.testing.assert_close(boundary.distance, model.region_distance(points, runner_up), rtol=1e-5, atol=0)


def test_one_pair_of_classes_whatever_the_others_answer() -> None:
    model, points = affine(10), 3 * gaussian(40, 30)
    own, least = model.label(points), model(points).argmin(1)
    exact = model.pair_distance(points, own, least)
    raw = measure(model, points, rival=least, refine=None)
    assert ((raw.distance / exact - 1).abs() < 0.03).all()
    assert (raw.rival == least).all()


def test_ball_from_inside_and_outside() -> None:
    ball, directions = Ball(10.0), gaussian(40, 5)
    points = directions / directions.norm(dim=1, keepdim=True) * torch.linspace(1, 19, 40)[:, None]
    exact = ball.distance(points)
    assert (measure(ball, points, refine=None).distance / exact).median() <= 1.01
    torch.testing.assert_close(measure(ball, points).distance, exact, rtol=1e-6, atol=0)


def test_confident_smooth_network_takes_no_more_than_deepfool() -> None:
    net, points = smooth_net(), gaussian(40, 20)

    def confident(points: Tensor) -> Tensor:
        return 5 * net(points)

    ours, deepfool = measure(confident, points, refine=None), sx.minimal_perturbation(confident, points, refine=None)
    assert ours.found.all()
    assert ours.distance.median() <= 1.3 * deepfool.distance.median()


def test_unsure_smooth_network_is_long_before_refinement_only() -> None:
    model, points = smooth_net(), gaussian(40, 20)
    ours, deepfool = measure(model, points), sx.minimal_perturbation(model, points)
    assert ours.found.all()
    assert ours.raw_distance.median() > 1.3 * deepfool.raw_distance.median()
    assert ours.distance.median() <= 1.01 * deepfool.distance.median()


@pytest.mark.parametrize("scale", [1e-3, 255.0])
def test_scale_of_the_inputs_does_not_matter(scale: float) -> None:
    model, points = smooth_net(), gaussian(10, 20)
    unit = measure(model, points, refine=None).distance
    scaled = measure(lambda x: model(x / scale), scale * points, refine=None).distance
    torch.testing.assert_close(scaled / scale, unit, rtol=1e-6, atol=0)


def test_stays_inside_a_subspace() -> None:
    model, points = affine(2), 3 * gaussian(40, 30)
    subspace = sx.subspaces.random((30,), 8, generator=torch.Generator().manual_seed(1))
    boundary = measure(model, points, subspace=subspace, refine=None)
    torch.testing.assert_close(subspace.project(boundary.perturbation), boundary.perturbation)
    basis = subspace.basis().double().flatten(1)
    assert (boundary.distance / model.distance(points, basis=basis)).median() <= 1.01


def test_a_batch_equals_its_singletons() -> None:
    model, points = smooth_net(), gaussian(4, 20)
    singly = torch.cat([measure(model, point[None], refine=None).distance for point in points])
    torch.testing.assert_close(measure(model, points, refine=None).distance, singly, rtol=1e-9, atol=0)


def test_constant_model_is_not_found() -> None:
    boundary = measure(lambda x: 0 * x[:, :2] + torch.tensor([3.0, 0.0]), gaussian(4, 3))
    assert not boundary.found.any()
    assert (boundary.distance == torch.inf).all()


def test_every_forward_and_gradient_is_counted() -> None:
    seen = {True: 0, False: 0}
    net = smooth_net()

    def counting(points: Tensor) -> Tensor:
        seen[torch.is_grad_enabled()] += len(points)
        return net(points)

    point = gaussian(1, 20)
    boundary = sx.minimal_perturbation(counting, point, method=LBFGS(steps=4, iterations=5), refine=None)
    door = 1  # the check of the model, with a gradient
    assert seen[False] + seen[True] == int(boundary.forwards) + door
    assert seen[True] == int(boundary.gradients) + door
    assert int(boundary.gradients) <= 4 * (1 + 5) + 1  # one more for the normal
    assert boundary.steps == 4


def test_other_norms_are_refused() -> None:
    with pytest.raises(ValueError, match="`norm` must be ℓ2 for `LBFGS`; got ℓ∞"):
        measure(affine(2), gaussian(2, 30), norm=sx.Linf)


@pytest.mark.parametrize("name", ["steps", "iterations", "history"])
def test_settings_are_counts(name: str) -> None:
    with pytest.raises(ValueError, match=f"`{name}` must be a whole number ≥ 1; got 0"):
        LBFGS(**{name: 0})
