"""Laws of any distance to a boundary, over method × norm × subspace."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from separatrix import L2, Classifier, Linf, Norm, minimal_perturbation
from separatrix.fields import Margin
from separatrix.search import DeepFool
from separatrix.subspaces import dct_block, random, random_each, span
from separatrix.testing import Affine, small_network

SHAPE = (1, 8, 8)
SETTINGS = {
    "l2": {},
    "linf": {"norm": Linf},
    "l3": {"norm": Norm(3)},
    "l1.5": {"norm": Norm(1.5)},
    "l2 in a random subspace": {"subspace": random(SHAPE, 20, generator=torch.Generator().manual_seed(0))},
    "l2 in a block of frequencies": {"subspace": dct_block(SHAPE, 4)},
    "l2 in a subspace each": {"subspace": random_each(SHAPE, 12, seed=1)},
}


def draw(count, *shape, seed=0, dtype=torch.float64):
    return torch.randn(count, *shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


@pytest.fixture
def network():
    return small_network(dtype=torch.float64)


@pytest.fixture
def points():
    return draw(12, *SHAPE)


def assert_same_lengths(one, other, tolerance=1e-9):
    assert_close(one.distance, other.distance, rtol=tolerance, atol=0)
    assert_close(one.raw_distance, other.raw_distance, rtol=tolerance, atol=0)
    assert torch.equal(one.found, other.found)
    assert torch.equal(one.rival, other.rival)


@pytest.mark.parametrize("scale", [1e-6, 1e3])
def test_rescaling_the_logits_moves_nothing(method, settings, network, points, scale):
    reference = minimal_perturbation(network, points, method=method, **settings)
    scaled = minimal_perturbation(lambda x: scale * network(x), points, method=method, **settings)
    assert_same_lengths(reference, scaled, 1e-5)
    assert (scaled.distance / reference.distance - 1).abs().quantile(0.9) < 1e-9


def test_adding_the_same_to_every_logit_moves_nothing(method, settings, network, points):
    reference = minimal_perturbation(network, points, method=method, **settings)
    lifted = minimal_perturbation(
        lambda x: network(x) + x.square().flatten(1).sum(1)[:, None], points, method=method, **settings
    )
    assert_close(reference.distance, lifted.distance, rtol=1e-4, atol=0)


def test_a_batch_equals_its_singletons(method, settings, network, points):
    whole = minimal_perturbation(network, points, method=method, **settings)
    for row in range(0, 12, 4):
        row_settings = settings | {"ids": torch.tensor([row])}
        single = minimal_perturbation(network, points[row : row + 1], method=method, **row_settings)
        assert_same_lengths(whole[row], single)
        assert_close(whole[row].end, single.end, rtol=1e-7, atol=1e-9)
        for count in ("steps", "forwards", "gradients"):
            assert torch.equal(getattr(whole[row], count), getattr(single, count))


@pytest.mark.parametrize("batch_size", [1, 5, 1000])
def test_the_batch_size_changes_no_row(method, settings, network, points, batch_size):
    whole = minimal_perturbation(network, points, method=method, **settings)
    parts = minimal_perturbation(network, points, method=method, batch_size=batch_size, **settings)
    assert_same_lengths(whole, parts)
    assert torch.equal(whole.ids, parts.ids)


def test_the_order_of_the_points_changes_no_row(settings, network, points):
    order = torch.randperm(12, generator=torch.Generator().manual_seed(1))
    whole = minimal_perturbation(network, points, **settings)
    shuffled = minimal_perturbation(network, points[order], ids=order, **settings)
    assert_same_lengths(whole[order], shuffled)


def test_every_end_lies_on_the_boundary_a_hair_beyond(method, settings, network, points):
    boundary = minimal_perturbation(network, points, method=method, **settings)
    margin = Margin(network, own=boundary.own)(boundary.end).detach()
    assert boundary.found.all()
    assert (margin >= 0).all()
    assert (margin < 1e-11).all()
    assert torch.equal(boundary.own, network(points).argmax(1))


def test_normals_are_unit_vectors_that_point_out_of_the_region(method, settings, network, points):
    boundary = minimal_perturbation(network, points, method=method, **settings)
    assert_close(L2.length(boundary.normals), torch.ones(12, dtype=torch.float64))
    beyond = boundary.end + 1e-6 * boundary.normals
    before = boundary.end - 1e-6 * boundary.normals
    margin = Margin(network, own=boundary.own)
    assert (margin(beyond) > 0).all()
    assert (margin(before) < 0).all()


def test_displacements_are_nearly_stationary(settings, network):
    alignment = minimal_perturbation(network, draw(100, *SHAPE), **settings).alignment
    assert (alignment <= 1 + 1e-9).all()
    assert alignment.median() > 0.99


def test_refinement_only_shortens(method, settings, network, points):
    boundary = minimal_perturbation(network, points, method=method, **settings)
    raw = minimal_perturbation(network, points, method=method, refine=None, **settings)
    assert (boundary.distance <= boundary.raw_distance * (1 + 1e-12)).all()
    assert_close(raw.raw_distance, boundary.raw_distance, rtol=1e-9, atol=0)
    assert_close(raw.distance, raw.raw_distance, rtol=1e-9, atol=0)


def test_more_starts_never_make_it_longer(settings, network, points):
    lengths = [minimal_perturbation(network, points, starts=starts, **settings).distance for starts in (1, 2, 4)]
    assert (lengths[1] <= lengths[0] * (1 + 1e-9)).all()
    assert (lengths[2] <= lengths[1] * (1 + 1e-9)).all()
    assert (lengths[2] < lengths[0] * (1 - 1e-6)).any()


def test_a_displacement_stays_in_its_subspace(method, network, points):
    for name in ("l2 in a random subspace", "l2 in a block of frequencies", "l2 in a subspace each"):
        subspace = SETTINGS[name]["subspace"]
        for refine in ({}, {"refine": None}, {"starts": 3}):
            boundary = minimal_perturbation(network, points, method=method, subspace=subspace, **refine)
            chosen = subspace[torch.arange(12)] if subspace.per_sample else subspace
            assert_close(chosen.project(boundary.perturbation), boundary.perturbation, rtol=0, atol=1e-10)


def orthogonal(dimension):
    return torch.linalg.qr(draw(dimension, dimension, seed=5)).Q


def turned_by(matrix):
    return lambda x: (x.flatten(1) @ matrix.T).reshape(x.shape)


def test_rotations_commute(method, network, points):
    turn, back = turned_by(orthogonal(64)), turned_by(orthogonal(64).T)
    reference = minimal_perturbation(network, points, method=method)
    rotated_answer = minimal_perturbation(lambda x: network(back(x)), turn(points), method=method)
    assert_same_lengths(reference, rotated_answer, 1e-7)
    assert_close(turn(reference.end), rotated_answer.end, rtol=1e-6, atol=1e-6)


def test_rotations_commute_within_a_subspace(method, network, points):
    turn, back = turned_by(orthogonal(64)), turned_by(orthogonal(64).T)
    subspace = SETTINGS["l2 in a random subspace"]["subspace"]
    turned = span(turn(subspace.basis()))
    reference = minimal_perturbation(network, points, method=method, subspace=subspace)
    answer = minimal_perturbation(lambda x: network(back(x)), turn(points), method=method, subspace=turned)
    assert_same_lengths(reference, answer, 1e-7)


@pytest.mark.parametrize("norm", [L2, Linf, Norm(3)], ids=str)
def test_permutations_and_flips_of_the_inputs_commute(network, points, norm):
    order = torch.randperm(64, generator=torch.Generator().manual_seed(2))
    sign = draw(1, 64, seed=9).sign()
    mixed = (points.flatten(1)[:, order] * sign).reshape(points.shape)
    restored = order.argsort()
    model = lambda x: network((x.flatten(1) * sign)[:, restored].reshape(x.shape))  # noqa: E731
    reference = minimal_perturbation(network, points, norm=norm)
    assert_same_lengths(reference, minimal_perturbation(model, mixed, norm=norm), 1e-7)


def test_renaming_the_classes_renames_the_answer(method, settings, network, points):
    order = torch.tensor([2, 0, 1])
    reference = minimal_perturbation(network, points, method=method, **settings)
    renamed = minimal_perturbation(lambda x: network(x)[:, order], points, method=method, **settings)
    assert_close(reference.distance, renamed.distance, rtol=1e-9, atol=0)
    assert torch.equal(reference.own, order[renamed.own])
    assert torch.equal(reference.rival, order[renamed.rival])


@pytest.mark.parametrize("norm", [L2, Linf, Norm(3)], ids=str)
@pytest.mark.parametrize("scale", [255.0, 1e-3])
def test_inputs_on_any_scale_give_the_same_distance_on_that_scale(network, points, norm, scale):
    reference = minimal_perturbation(network, points, norm=norm)
    scaled = minimal_perturbation(Classifier(network, std=scale), scale * points, norm=norm)
    assert_close(scaled.distance / scale, reference.distance, rtol=1e-5, atol=0)
    assert (scaled.distance / scale / reference.distance - 1).abs().quantile(0.9) < 1e-9


def test_standardised_inputs_give_the_same_distance(network, points):
    pixels = 0.3 * points + 0.5
    reference = minimal_perturbation(network, points).distance
    standardised = minimal_perturbation(Classifier(network, mean=0.5, std=0.3), pixels).distance
    assert_close(standardised / 0.3, reference, rtol=1e-7, atol=0)


def test_one_score_a_point_is_the_two_class_model(method, settings, network, points):
    def score(x):
        return network(x)[:, 1] - network(x)[:, 0]

    pair = minimal_perturbation(
        lambda x: torch.stack([torch.zeros(len(x)).to(x), score(x)], 1), points, method=method, **settings
    )
    for form in (score, lambda x: score(x)[:, None]):
        assert_same_lengths(pair, minimal_perturbation(form, points, method=method, **settings))


def test_the_pair_of_own_and_nearest_rival_is_as_far_as_any_boundary(settings, network, points):
    boundary = minimal_perturbation(network, points, **settings)
    pair = minimal_perturbation(network, points, rival=boundary.rival, **settings)
    assert (pair.distance / boundary.distance - 1).abs().median() < 1e-3
    assert torch.equal(pair.rival, boundary.rival)


def test_counts_add_up_over_the_steps_of_raw_deepfool(network, points):
    boundary = minimal_perturbation(network, points, method=DeepFool(candidates=2), refine=None)
    assert torch.equal(boundary.gradients, boundary.steps + 1)
    assert torch.equal(boundary.forwards, boundary.steps + 1)  # each linearises where the one before it asked
    published = minimal_perturbation(network, points, refine=None)
    assert torch.equal(published.gradients, 2 * published.steps + 1)
    assert torch.equal(published.forwards, 2 * published.steps + 1)  # the first step uses the pass that found the class


def test_following_the_strongest_rival_is_as_short_as_looking_at_all_again(network, points):
    followed = minimal_perturbation(network, points, method=DeepFool(candidates=3), refine=None)
    published = minimal_perturbation(network, points, refine=None)
    assert_close(followed.distance, published.distance, rtol=0.05, atol=0)


def test_fewer_candidates_cost_fewer_gradients():
    model, points = Affine.random(10, 64, generator=torch.Generator().manual_seed(1)), draw(30, 64)
    costs = [
        minimal_perturbation(model, points, method=DeepFool(candidates=candidates), refine=None).gradients
        for candidates in (2, 5, None)
    ]
    assert torch.equal(costs[2], torch.full((30,), 10))
    assert (costs[0] < costs[1]).all()
    assert (costs[1] < costs[2]).all()


def test_ranks_say_when_the_nearest_rival_was_the_last_looked_at(network, points):
    boundary = minimal_perturbation(network, points)
    logits = network(points)
    order = logits.argsort(1, descending=True)
    expected = (order == boundary.rival[:, None]).nonzero()[:, 1]
    assert torch.equal(boundary.rival_rank, expected)


class Watched(nn.Module):
    """Notes under which circumstances it is asked."""

    def __init__(self, network):
        super().__init__()
        self.network, self.seen = network, set()

    def forward(self, points):
        precise = not torch.is_autocast_enabled("cpu") and not torch.backends.cudnn.allow_tf32
        self.seen.add((precise, points.is_leaf and points.requires_grad))
        return self.network(points)


def test_models_are_asked_in_full_precision_about_tensors_that_are_no_leaves(method, network, points):
    before = torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32
    model = Watched(network).eval()
    with torch.autocast("cpu", torch.bfloat16):
        minimal_perturbation(model, points, method=method)
        assert torch.is_autocast_enabled("cpu")
    assert model.seen == {(True, False)}
    assert (torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32) == before


def test_a_search_works_where_gradients_are_off(network, points):
    reference = minimal_perturbation(network, points)
    with torch.no_grad():
        assert_same_lengths(reference, minimal_perturbation(network, points))
        assert not torch.is_grad_enabled()


def test_answers_hold_no_graph_and_share_nothing_with_the_points(network, points):
    watched = points.clone().requires_grad_()
    boundary = minimal_perturbation(network, watched)
    assert not any(value.requires_grad for value in (boundary.start, boundary.end, boundary.normals))
    assert watched.grad is None
    assert boundary.start.data_ptr() != watched.data_ptr()


def test_a_model_that_answers_in_place_of_its_own_buffers_is_left_as_it_was(method, points):
    network = nn.Sequential(nn.Flatten(), nn.BatchNorm1d(64), nn.Dropout(), nn.Linear(64, 3)).double().eval()
    with torch.no_grad():
        network[3].weight.copy_(draw(3, 64))
        network[1].running_mean.add_(0.1)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    minimal_perturbation(network, points, method=method)
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
    assert not any(part.training for part in network.modules())
    assert all(value.grad is None and value.requires_grad for value in network.parameters())
