"""Where searches go wrong: ties, flat places, concave margins, rounding, noise and models that fail far out."""

import math

import pytest
import torch
from torch.testing import assert_close

from separatrix import DDN, L2, DeepFool, Linf, line_distance, minimal_perturbation
from separatrix.fields import Margin
from separatrix.search import AbstractSearch, Step
from separatrix.testing import Affine, Ball, small_network


def draw(count, *shape, seed=0, dtype=torch.float64):
    return torch.randn(count, *shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def flat_then_steep(x):
    """No slope at all for x₀ below 1, a boundary at 2."""
    height = (x[:, 0] - 1).relu()
    return torch.stack([1 + 0 * height, height], 1)


def test_constant_models_are_reported_as_not_found(method):
    boundary = minimal_perturbation(lambda x: 0 * x[:, :2] + torch.tensor([1.0, 0.0]).to(x), draw(5, 3), method=method)
    assert not boundary.found.any()
    assert (boundary.distance == math.inf).all()
    assert (boundary.raw_distance == math.inf).all()
    assert boundary.end.isnan().all()
    assert boundary.normals.isnan().all()
    assert (boundary.rival == -1).all()
    assert (boundary.rival_rank == -1).all()


def test_one_flat_place_does_not_disturb_its_neighbours(method):
    points = torch.tensor([[1.5, 0.0], [-5.0, 1.0], [1.2, 3.0], [3.0, -1.0]], dtype=torch.float64)
    boundary = minimal_perturbation(flat_then_steep, points, method=method, retries=0)
    assert boundary.found.tolist() == [True, False, True, True]
    assert_close(boundary.distance, torch.tensor([0.5, math.inf, 0.8, 1.0], dtype=torch.float64))


def test_retries_leave_a_flat_place_behind():
    points = torch.tensor([[0.9, 5.0], [1.5, 0.0]], dtype=torch.float64)
    without = minimal_perturbation(flat_then_steep, points, retries=0)
    boundary = minimal_perturbation(flat_then_steep, points, retries=6)
    assert without.found.tolist() == [False, True]
    assert_close(boundary.distance, torch.tensor([1.1, 0.5], dtype=torch.float64), rtol=1e-6, atol=0)


def test_a_point_on_the_boundary_has_distance_zero(method):
    model = Affine(torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], dtype=torch.float64), torch.zeros(3).double())
    points = torch.tensor([[0.0, -1.0], [0.0, 0.0], [2.0, 2.0]], dtype=torch.float64)
    boundary = minimal_perturbation(model, points, method=method)
    assert boundary.found.all()
    assert (boundary.distance < 1e-12).all()
    assert torch.equal(boundary.own, model(points).argmax(1))


def test_classes_that_tie_everywhere_are_no_trouble():
    twins = Affine(draw(1, 6)[[0, 0]], torch.zeros(2).double())
    boundary = minimal_perturbation(twins, draw(4, 6, seed=1))
    assert ((boundary.distance == 0) | ~boundary.found).all()


def test_a_tie_behind_the_boundary_is_crossed(method):
    weight = torch.tensor([[1.0, 0, 0], [-1.0, 0, 0], [-1.0, 0, 0]], dtype=torch.float64)
    points = draw(20, 3)
    points[:, 0].abs_()
    boundary = minimal_perturbation(Affine(weight, torch.zeros(3).double()), points, method=method)
    assert_close(boundary.distance, points[:, 0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("overshoot", [0.02, 0.1])
def test_concave_margins_do_not_stall_the_walk_in_front_of_the_boundary(overshoot):
    points = 3 * L2.steepest(draw(30, 5))
    boundary = minimal_perturbation(
        Ball(1.0), points, method=DeepFool(overshoot=overshoot), refine=None, retries=0, max_steps=20
    )
    assert boundary.found.all()
    assert (boundary.steps < 10).all()
    stalled = minimal_perturbation(
        Ball(1.0), points, method=DeepFool(overshoot=0.0), refine=None, retries=0, max_steps=5
    )
    assert not stalled.found.all()


def kinked(x):
    """Slopes 8, 4, 2, 1, ½ towards a boundary at 0: each linearisation stops short."""
    pieces = torch.stack([8 * x[:, 0] + 10, 4 * x[:, 0] + 4, 2 * x[:, 0] + 1, x[:, 0] + 0.2, x[:, 0] / 2], 1)
    margin = pieces.amin(1)
    return torch.stack([0 * margin, margin], 1)


def test_kinks_and_ties_do_not_stall_the_walk_in_front_of_the_boundary(method):
    points = torch.stack([-torch.linspace(0.1, 9, 30), torch.zeros(30)], 1).double()
    boundary = minimal_perturbation(kinked, points, method=method)
    assert boundary.found.all()
    assert_close(boundary.distance, -points[:, 0], rtol=1e-6, atol=1e-9)


def test_a_model_that_fails_far_out_leaves_a_mask_and_no_exception(method):
    def model(x):
        far = (x.flatten(1).norm(dim=1) > 4)[:, None]
        return torch.where(far, torch.nan, torch.stack([x[:, 0] - 3.5, 0 * x[:, 0]], 1))

    points = torch.tensor([[3.0, 0.0], [-2.0, 0.0], [3.9, 0.0], [0.0, -3.9]], dtype=torch.float64)
    boundary = minimal_perturbation(model, points, method=method)
    assert boundary.found[[0, 2]].all()
    assert_close(boundary.distance[[0, 2]], torch.tensor([0.5, 0.4], dtype=torch.float64), rtol=1e-6, atol=0)
    assert torch.equal(boundary.found, boundary.distance < math.inf)


class NoisyByBatch:
    """Rounding that depends on how many are asked together, as kernels chosen by size have."""

    def __init__(self, network):
        self.network = network

    def __call__(self, x):
        logits = self.network(x)
        phase = torch.arange(logits.numel(), device=x.device).reshape(logits.shape) + 17 * len(x)
        return logits + 1e-6 * logits.abs() * torch.sin(phase * 1.7).to(logits)


@pytest.mark.parametrize("norm", [L2, Linf], ids=str)
def test_ends_still_cross_where_rounding_depends_on_the_batch(method, norm):
    model, points = NoisyByBatch(small_network()), draw(40, 1, 8, 8, dtype=torch.float32)
    boundary = minimal_perturbation(model, points, method=method, norm=norm, batch_size=13)
    assert boundary.found.all()
    for size in (1, 3, 40):
        for first in range(0, 40, size):
            part = boundary[first : first + size]
            assert (Margin(model, own=part.own)(part.end) >= 0).all()


def balls_centre(ids, **settings):
    centre = torch.full((len(ids), 6), 0.5, dtype=torch.float64)
    ball = Ball(2.0, centre=centre[0])
    return minimal_perturbation(ball, centre, ids=torch.tensor(ids), **settings)


def test_noise_belongs_to_the_id_whatever_the_batch():
    whole = balls_centre([3, 1, 4, 15, 9])
    assert whole.found.all()
    for settings in ({}, {"batch_size": 1}, {"batch_size": 2}):
        assert_close(balls_centre([9, 3], **settings).end, whole.end[[4, 0]], rtol=0, atol=1e-9)
    assert torch.pdist(whole.end).min() > 0.1


def test_noise_belongs_to_the_seed():
    assert_close(balls_centre([1, 2], seed=7).end, balls_centre([1, 2], seed=7).end, rtol=0, atol=0)
    assert (L2.length(balls_centre([1, 2], seed=7).end - balls_centre([1, 2], seed=8).end) > 0.1).all()


def test_further_starts_do_not_depend_on_the_batch():
    network, points = small_network(dtype=torch.float64), draw(16, 1, 8, 8)
    whole = minimal_perturbation(network, points, starts=3)
    for rows in ([5], [15, 2, 7], list(range(8, 16))):
        part = minimal_perturbation(network, points[rows], starts=3, ids=torch.tensor(rows))
        assert_close(part.distance, whole.distance[rows], rtol=1e-9, atol=0)


class NeverArrives(AbstractSearch):
    def step(self, problem, points, state):
        return Step(points, points, problem.value(points), state, torch.zeros(len(points), dtype=torch.bool))


def test_a_walk_gives_up_after_its_steps():
    boundary = minimal_perturbation(
        small_network(dtype=torch.float64), draw(4, 1, 8, 8), method=NeverArrives(), max_steps=7, retries=0
    )
    assert not boundary.found.any()
    assert (boundary.steps == 7).all()


@pytest.mark.parametrize("classes", [3, 5])
def test_every_region_is_entered_even_around_narrow_corners(classes):
    for seed in range(6):
        generator = torch.Generator().manual_seed(seed)
        model, points = Affine.random(classes, 4, generator=generator), draw(40, 4, seed=seed)
        targets = (model(points).argmax(1) + 1) % classes
        reachable = minimal_perturbation(model, points, targets=targets, method=DDN(200)).found
        boundary = minimal_perturbation(model, points, targets=targets)
        assert boundary.found[reachable].all()
        entered = boundary.end[boundary.found]
        assert (Margin(model, rival=targets[boundary.found])(entered) >= 0).all()


def test_a_region_behind_two_others_is_entered():
    weight = torch.tensor([[2.0, 0.1], [-2.0, 0.1], [0.0, 1.0]], dtype=torch.float64)
    model = Affine(weight, torch.zeros(3, dtype=torch.float64))
    boundary = minimal_perturbation(model, torch.tensor([[1.0, -1.0]], dtype=torch.float64), targets=2)
    assert boundary.found.all()
    assert math.sqrt(2) <= boundary.distance.item() <= 1.01 * math.sqrt(2)


@pytest.mark.parametrize("masked", [-1e4, -1e9])
def test_a_class_that_is_masked_by_a_very_low_logit_changes_nothing(masked):
    network = small_network()
    points = draw(20, 1, 8, 8, dtype=torch.float32)

    def with_another(x):
        logits = network(x)
        return torch.cat([logits, torch.full_like(logits[:, :1], masked)], dim=1)

    plain, other = (minimal_perturbation(model, points) for model in (network, with_another))
    assert_close(plain.distance, other.distance, rtol=1e-5, atol=0)


def test_points_whose_logits_are_no_numbers_are_not_found():
    network, points = small_network(), draw(12, 1, 8, 8, dtype=torch.float32)
    points[9, 0, 0, 0] = 50.0

    def fails_on_bright_points(x):
        bright = (x[:, 0, 0, 0] > 40)[:, None]
        return network(x).masked_fill(bright, math.nan)

    boundary = minimal_perturbation(fails_on_bright_points, points)
    assert boundary.found.tolist() == [row != 9 for row in range(12)]


def test_a_clash_of_targets_is_refused_before_anything_is_measured():
    network, points, asked = small_network(), draw(64, 1, 8, 8, dtype=torch.float32), []
    own = network(points).argmax(1)
    targets = (own + 1) % 3
    targets[63] = own[63]

    def counted(x):
        asked.append(len(x))
        return network(x)

    with pytest.raises(ValueError, match="`targets` must differ from the model's own answer; got the same class for 1"):
        minimal_perturbation(counted, points, targets=targets, batch_size=16)
    assert sum(asked) <= 8 + 64


def test_a_model_that_tells_its_label_alone_can_be_asked_along_lines():
    def label(x):
        return torch.nn.functional.one_hot((x[:, 0] > 1).long(), 2).to(x)

    points = torch.zeros(3, 4, dtype=torch.float64)
    boundary = line_distance(label, points, torch.eye(4, dtype=torch.float64)[0], radius=4.0)
    assert_close(boundary.distance, torch.ones(3, dtype=torch.float64), rtol=1e-4, atol=0)
