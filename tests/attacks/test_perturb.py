"""Perturbations of bounded length on classifiers whose distance is known."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from separatrix.attacks import BIM, FGSM, PGD, SPSA, AbstractAttack, Perturbed, perturb, zero_gradient_share
from separatrix.classifier import Classifier
from separatrix.fields import Loss, Margin
from separatrix.norms import L2, Linf, Norm
from separatrix.testing import Affine, Ball, Quadric

NORMS = [L2, Linf, Norm(3), Norm(1.5)]
METHODS = [FGSM(), BIM(), PGD(steps=20), PGD(steps=10, restarts=2, loss=Margin), SPSA(steps=4, draws=8)]
EVERYWHERE = (-math.inf, math.inf)


def named(value: object) -> str:
    return str(value).split("(")[0] if isinstance(value, AbstractAttack) else str(value)


def assert_same(one: Perturbed, other: Perturbed) -> None:
    for name in ("start", "labels", "answer", "fooled", "radius", "forwards", "gradients", "ids"):
        assert torch.equal(getattr(one, name), getattr(other, name)), name
    assert_close(one.end, other.end, rtol=0, atol=1e-9)


@pytest.mark.parametrize("norm", NORMS, ids=str)
@pytest.mark.parametrize("method", [FGSM(), BIM(), PGD(steps=20), FGSM(Margin)], ids=named)
def test_on_a_plane_what_fools_is_a_radius_above_the_exact_distance(plane, points, norm, method):
    distance = plane.distance(points, norm)
    slack = 1.1 if isinstance(method, PGD) else 1 + 1e-9
    assert perturb(plane, points, radius=slack * distance, method=method, norm=norm).fooled.all()
    assert not perturb(plane, points, radius=(1 - 1e-9) * distance, method=method, norm=norm).fooled.any()


@pytest.mark.parametrize("norm", NORMS, ids=str)
@pytest.mark.parametrize("method", METHODS, ids=named)
def test_no_method_leaves_the_ball_or_fools_below_the_distance_to_the_nearest_of_many_classes(points, norm, method):
    model = Affine.random(5, 12, generator=torch.Generator().manual_seed(4))
    distance = model.distance(points, norm)
    answer = perturb(model, points, radius=0.999 * distance, method=method, norm=norm)
    assert (answer.length <= answer.radius * (1 + 1e-12) + 1e-14).all()
    assert not answer.fooled.any()
    assert torch.equal(answer.labels, model.label(points))
    assert torch.equal(answer.answer, model.label(answer.end))
    assert (Loss(model, answer.labels)(answer.end) > Loss(model, answer.labels)(points)).all()


def test_gradient_walks_reach_the_steepest_point_of_another_ball(plane, points):
    own = plane.label(points)
    for norm in NORMS:
        answer = perturb(plane, points, radius=0.1, method=PGD(steps=100, step=0.01), norm=norm)
        gain = Margin(plane, own)(answer.end) - Margin(plane, own)(points)
        slope = norm.dual_length((plane.weight[0] - plane.weight[1])[None])
        assert_close(gain, (0.1 * slope).expand(40), rtol=1e-3, atol=0)


@pytest.mark.parametrize("method", METHODS, ids=named)
def test_the_box_is_the_models_bounds_unless_it_is_given(pixels, method):
    linear = nn.Linear(12, 3, dtype=torch.float64)
    model = Classifier(nn.Sequential(nn.Flatten(), linear).eval(), bounds=(0, 1))
    bounded, given = (perturb(model, pixels, radius=0.5, method=method, box=box) for box in (None, (0, 1)))
    assert bounded.end.min() >= 0
    assert bounded.end.max() <= 1
    assert_same(bounded, given)
    free = perturb(model, pixels, radius=0.5, method=method, box=EVERYWHERE)
    assert free.end.min() < 0
    assert free.end.max() > 1
    assert_close(free.length.max(), torch.tensor(0.5, dtype=torch.float64), rtol=0.1, atol=0)


def test_a_point_that_the_bounds_tolerate_outside_is_not_moved_further_out_nor_beyond_the_radius(plane):
    class Bounded:
        bounds = (0.0, 1.0)

        def __call__(self, points: torch.Tensor) -> torch.Tensor:
            return plane(points)

    points = torch.full((1, 12), 1 + 5e-5, dtype=torch.float64)
    answer = perturb(Bounded(), points, radius=1e-6, method=FGSM())
    assert answer.length <= 1e-6 + 1e-15
    assert answer.end.max() <= points.max()


def test_spsa_fools_a_model_without_gradients(plane, points):
    def blind(x: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(plane(x.detach()).numpy().copy())

    distance = plane.distance(points, L2)
    method = SPSA(steps=4, draws=64)
    answer = perturb(blind, points, radius=1.1 * distance, method=method, norm=L2)
    assert answer.share_fooled > 0.9
    assert (answer.gradients == 0).all()
    assert (answer.forwards == 2 + 4 * (1 + 2 * 64)).all()
    with pytest.raises(ValueError, match="`model` must be differentiable"):
        perturb(blind, points, radius=0.1)


@pytest.mark.parametrize("norm", [L2, Linf], ids=str)
def test_a_target_is_entered_exactly_where_its_region_is_within_the_radius(plane, points, norm):
    targets, distance = 1 - plane.label(points), plane.distance(points, norm)
    for loss in (Loss, Margin):
        near = perturb(plane, points, radius=1.001 * distance, method=BIM(loss=loss), norm=norm, targets=targets)
        far = perturb(plane, points, radius=0.999 * distance, method=BIM(loss=loss), norm=norm, targets=targets)
        assert near.fooled.all()
        assert not far.fooled.any()
        assert torch.equal(near.answer, targets)


def test_a_target_counts_alone_even_when_another_class_is_answered():
    weight, bias = torch.tensor([[0.0, 0.0], [5.0, 0.0], [1.0, 0.0]]), torch.tensor([0.5, 0.0, 0.0])
    model = Affine(weight.double(), bias.double())
    answer = perturb(model, torch.zeros(1, 2).double(), radius=1.0, norm=L2, targets=2, method=FGSM(Margin))
    assert answer.answer.item() == 1
    assert not answer.fooled.any()


def test_misclassified_points_are_fooled_at_radius_zero_and_the_others_never(plane, points):
    labels = plane.label(points)
    labels[:7] = 1 - labels[:7]
    for method in METHODS:
        answer = perturb(plane, points, labels, radius=0.0, method=method)
        assert torch.equal(answer.fooled.nonzero()[:, 0], torch.arange(7))
        assert torch.equal(answer.end, points)


def test_a_start_that_fools_is_kept_where_the_attack_only_undoes_it():
    band = Quadric(torch.tensor([[-2.0]]).double(), torch.tensor([3.0]).double(), -2.0)  # answers 1 in (1, 2)
    start = torch.tensor([[1.2]]).double()
    answer = perturb(band, start, torch.tensor([0]), radius=5.0, method=FGSM())
    assert answer.fooled.all()
    assert torch.equal(answer.end, start)


@pytest.mark.parametrize("method", METHODS, ids=named)
@pytest.mark.parametrize("norm", [L2, Linf], ids=str)
def test_rows_do_not_depend_on_their_batch(points, method, norm):
    model = Ball(3.0, inside=1)
    whole = perturb(model, points, radius=0.4, method=method, norm=norm)
    assert_same(whole, perturb(model, points, radius=0.4, method=method, norm=norm, batch_size=1))
    order = torch.randperm(40, generator=torch.Generator().manual_seed(5))[:9]
    assert_same(whole[order], perturb(model, points[order], radius=0.4, method=method, norm=norm, ids=order))


def test_methods_print_as_they_are_written():
    assert repr(PGD(steps=7, loss=Margin)) == "PGD(steps=7, step=None, restarts=1, loss=Margin)"
    assert repr(SPSA()) == "SPSA(steps=20, draws=64, width=0.01, step=None, loss=Margin)"


def test_random_starts_belong_to_the_seed(points):
    model = Ball(3.0)
    one, again, other = (perturb(model, points, radius=0.4, method=PGD(2, step=1e-6), seed=seed) for seed in (0, 0, 1))
    assert torch.equal(one.end, again.end)
    assert not torch.isclose(one.end, other.end).all(2).all(1).any()


@pytest.mark.parametrize("norm", NORMS, ids=str)
def test_random_starts_fill_the_ball(norm):
    flat = Affine(torch.zeros(2, 3).double(), torch.tensor([2.0, 0.0]).double())
    answer = perturb(flat, torch.zeros(4000, 3).double(), radius=2.0, method=PGD(steps=1), norm=norm)
    assert answer.length.max() <= 2 + 1e-12
    assert answer.length.max() > 1.98
    share = (answer.length < 1).double().mean()
    assert abs(share - 1 / 8) < 0.02
    assert_close(answer.end.mean(0), torch.zeros(3).double(), rtol=0, atol=0.08)


def test_costs_are_counted(plane, points):
    own = plane.label(points)
    for method, forwards, gradients in ((FGSM(), 2, 1), (BIM(5), 6, 5), (PGD(20, restarts=2), 43, 40)):
        for labels, extra in ((own, 0), (None, 1)):
            answer = perturb(plane, points, labels, radius=0.1, method=method)
            assert (answer.forwards == forwards + extra).all()
            assert (answer.gradients == gradients).all()


def test_a_step_in_input_units_travels_as_far_as_it_says(plane, points):
    answer = perturb(plane, points, radius=1.0, method=BIM(steps=5, step=2 / 255))
    assert_close(answer.length, torch.full((40,), 10 / 255).double())


def test_a_saturated_loss_has_no_gradient_but_its_margin_has(plane, points):
    def loud(x: torch.Tensor) -> torch.Tensor:
        return 1e6 * plane(x)

    assert zero_gradient_share(loud, points) == 1
    assert zero_gradient_share(loud, points, loss=Margin) == 0
    assert zero_gradient_share(plane, points, batch_size=7) == 0
    assert zero_gradient_share(loud, points, 1 - plane.label(points)) == 0
    radius = 1.1 * plane.distance(points, Linf)
    assert not perturb(loud, points, radius=radius, method=FGSM()).fooled.any()
    assert perturb(loud, points, radius=radius, method=FGSM(loss=Margin)).fooled.all()


def test_one_hard_sample_fails_alone(plane, points):
    def broken(x: torch.Tensor) -> torch.Tensor:
        wild = (x.flatten(1).sum(1) > 25)[:, None]
        return plane(x).masked_fill(wild, math.nan)

    points = torch.cat([points, torch.full((1, 3, 4), 2.5).double()])
    for method in METHODS:
        answer = perturb(broken, points, plane.label(points), radius=0.01, method=method)
        assert torch.equal(answer.end[-1], points[-1])
        assert not answer.fooled[-1]
        assert (answer.length[:-1] > 0).all()


def test_the_model_and_the_random_state_come_back_as_they_were(pixels):
    module = nn.Sequential(nn.Flatten(), nn.Linear(12, 4), nn.BatchNorm1d(4), nn.Dropout()).double().eval()
    module[1].weight.requires_grad_(False)
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    points, kept, state = pixels.clone().requires_grad_(), pixels.clone(), torch.random.get_rng_state()
    with torch.inference_mode(False):
        perturb(module, points, radius=0.1)
        perturb(module, points, radius=0.1, method=SPSA(steps=1, draws=1))
    assert torch.equal(state, torch.random.get_rng_state())
    assert not module.training
    assert [part.requires_grad for part in module.parameters()] == [False, True, True, True]
    assert all(part.grad is None for part in module.parameters())
    assert points.grad is None
    assert torch.equal(points, kept)
    assert all(torch.equal(before[name], tensor) for name, tensor in module.state_dict().items())


def test_the_answer_selects_joins_and_prints(plane, points):
    answer = perturb(plane, points, radius=0.3, ids=torch.arange(40) + 100)
    assert len(answer[3:5]) == 2
    assert answer[-1].ids.tolist() == [139]
    assert len(answer[[]]) == 0
    assert len(answer[answer.fooled]) == int(answer.fooled.sum())
    assert_same(Perturbed.cat([answer[:10], answer[10:]]), answer)
    assert_same(answer.to("cpu"), answer)
    assert torch.equal(answer.perturbation, answer.end - answer.start)
    assert repr(answer) == f"Perturbed: {int(answer.fooled.sum())} of 40 fooled within 0.3 (ℓ∞); " + (
        "20.0 gradients and 23.0 forwards a point"
    )
    assert repr(answer[[]]) == "Perturbed: no samples, ℓ∞"


def test_float32_stays_within_the_radius_to_rounding(pixels):
    model = Affine.random(3, 12, generator=torch.Generator().manual_seed(6), dtype=torch.float32)
    for norm in NORMS:
        answer = perturb(model, pixels.float(), radius=8 / 255, norm=norm)
        assert answer.end.dtype == torch.float32
        assert (answer.length <= 8 / 255 + 1e-6).all()
