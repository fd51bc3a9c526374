"""Fields against dense automatic differentiation."""

import re

import pytest
import torch
from torch.nn.functional import cross_entropy
from torch.testing import assert_close

from separatrix import Loss, Margin, linearise, linearise_pairs
from separatrix.fields import difference_pairs, strongest_rival
from separatrix.testing import Affine, small_network

NETWORK = small_network(dtype=torch.float64)
POINTS = torch.randn(7, 1, 8, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
LOGITS = NETWORK(POINTS).detach()
OWN = LOGITS.argmax(1)
RIVAL = (OWN + 1) % 3
EVERYONE = torch.arange(7)


def jacobian(points=POINTS):
    """Gradients of every logit of every point ``(n, c, *shape)``."""
    return torch.stack([torch.autograd.functional.jacobian(lambda x: NETWORK(x[None])[0], point) for point in points])


def test_leaving_a_region_is_the_gap_to_the_strongest_other_class():
    others = LOGITS.clone()
    others[EVERYONE, OWN] = -torch.inf
    assert_close(Margin(NETWORK, own=OWN)(POINTS), others.amax(1) - LOGITS[EVERYONE, OWN])
    assert (Margin(NETWORK, own=OWN)(POINTS) < 0).all()


def test_entering_a_region_is_the_gap_from_the_strongest_other_class():
    assert_close(Margin(NETWORK, rival=RIVAL)(POINTS), LOGITS[EVERYONE, RIVAL] - LOGITS[EVERYONE, OWN])
    assert (Margin(NETWORK, rival=OWN)(POINTS) > 0).all()


def test_a_pair_is_the_difference_of_two_logits():
    assert_close(Margin(NETWORK, own=0, rival=2)(POINTS), LOGITS[:, 2] - LOGITS[:, 0])
    assert_close(Margin(NETWORK, own=OWN, rival=RIVAL).of(LOGITS), LOGITS[EVERYONE, RIVAL] - LOGITS[EVERYONE, OWN])


def test_a_margin_needs_a_class():
    with pytest.raises(ValueError, match="`own` must be given unless `rival` is"):
        Margin(NETWORK)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: Margin(NETWORK, own=7)(POINTS), "`own` must be a class from 0 to 2; got 7."),
        (lambda: Margin(NETWORK, own=-1)(POINTS), "`own` must be a class from 0 to 2; got -1."),
        (lambda: Margin(NETWORK, own=OWN, rival=3).of(LOGITS), "`rival` must be a class from 0 to 2; got 3."),
        (lambda: Loss(NETWORK, 3)(POINTS), "`labels` must be a class from 0 to 2; got 3."),
        (lambda: Margin(NETWORK, own="cat"), "`own` must be a class, or one a point (n,); got 'cat'."),
        (lambda: Margin(NETWORK, rival=[0, 1]), "`rival` must be a class, or one a point (n,); got [0, 1]."),
        (lambda: Loss(NETWORK, None), "`labels` must be a class, or one a point (n,); got None."),
        (
            lambda: next(linearise_pairs(Margin(NETWORK, own=9), POINTS, None)),
            "`own` must be a class from 0 to 2; got 9.",
        ),
        (
            lambda: linearise_pairs(Margin(NETWORK, own=OWN), POINTS, 0),
            "`candidates` must be a whole number ≥ 2; got 0.",
        ),
        (
            lambda: linearise_pairs(Margin(NETWORK, own=OWN), POINTS, 1),
            "`candidates` must be a whole number ≥ 2; got 1.",
        ),
    ],
)
def test_a_bad_question_is_refused_by_name(ask, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        ask()


def test_the_loss_is_the_cross_entropy_of_each_point():
    assert_close(Loss(NETWORK, RIVAL)(POINTS), cross_entropy(LOGITS, RIVAL, reduction="none"))
    assert_close(Loss(NETWORK, 1)(POINTS), cross_entropy(LOGITS, torch.ones(7).long(), reduction="none"))


@pytest.mark.parametrize(
    "field",
    [
        Margin(NETWORK, own=OWN),
        Margin(NETWORK, rival=RIVAL),
        Margin(NETWORK, own=0, rival=2),
        Margin(NETWORK, own=1),
        Loss(NETWORK, RIVAL),
        Loss(NETWORK, 2),
    ],
    ids=["leave", "enter", "pair", "one class for all", "loss", "loss of one label"],
)
@pytest.mark.parametrize("index", [slice(2, 5), torch.tensor([6, 0, 6, 6, 3]), torch.tensor([True] * 3 + [False] * 4)])
def test_an_index_selects_points_and_may_repeat(field, index):
    assert_close(field[index](POINTS[index]), field(POINTS)[index])
    values, gradients = linearise(field[index], POINTS[index])
    assert_close(gradients, linearise(field, POINTS)[1][index])
    assert_close(values, field(POINTS)[index].detach())


@pytest.mark.parametrize("field", [Margin(NETWORK, own=OWN), Loss(NETWORK, RIVAL)], ids=["margin", "loss"])
def test_gradients_are_those_of_dense_differentiation(field):
    values, gradients = linearise(field, POINTS)
    for row in range(7):
        single = field[torch.tensor([row])]
        dense = torch.autograd.functional.jacobian(lambda x, single=single: single(x[None])[0], POINTS[row])
        assert_close(gradients[row], dense)
    assert not values.requires_grad
    assert not gradients.requires_grad


@pytest.mark.parametrize("candidates", [None, 3, 2])
def test_pairs_come_strongest_first_with_their_gradients(candidates):
    slopes, order = jacobian(), LOGITS.argsort(1, descending=True)
    pairs = list(linearise_pairs(Margin(NETWORK, own=OWN), POINTS, candidates))
    assert len(pairs) == (candidates or 3) - 1
    for rank, (rival, values, gradients) in enumerate(pairs, 1):
        assert torch.equal(rival, order[:, rank])
        assert_close(values, LOGITS[EVERYONE, rival] - LOGITS[EVERYONE, OWN])
        assert_close(gradients, slopes[EVERYONE, rival] - slopes[EVERYONE, OWN])
        assert not gradients.requires_grad


def test_a_margin_with_a_rival_is_one_pair():
    slopes = jacobian()
    ((rival, values, gradients),) = linearise_pairs(Margin(NETWORK, own=OWN, rival=RIVAL), POINTS, None)
    assert torch.equal(rival, RIVAL)
    assert_close(values, LOGITS[EVERYONE, RIVAL] - LOGITS[EVERYONE, OWN])
    assert_close(gradients, slopes[EVERYONE, RIVAL] - slopes[EVERYONE, OWN])
    ((rival, values, gradients),) = linearise_pairs(Margin(NETWORK, rival=RIVAL), POINTS, None)
    assert_close(values, LOGITS[EVERYONE, RIVAL] - LOGITS[EVERYONE, OWN])
    assert_close(gradients, slopes[EVERYONE, RIVAL] - slopes[EVERYONE, OWN])


@pytest.mark.parametrize(("classes", "candidates", "count"), [(10, None, 9), (30, None, 9), (30, 5, 4), (4, 9, 3)])
def test_all_classes_are_looked_at_up_to_ten(classes, candidates, count):
    model = Affine.random(classes, 64, generator=torch.Generator().manual_seed(0))
    margin = Margin(model, own=model.label(POINTS))
    assert len(list(linearise_pairs(margin, POINTS, candidates))) == count


def test_a_tied_class_is_a_rival_and_the_own_class_never_is():
    def tied(x):
        return torch.stack([x[:, 0], x[:, 0], x[:, 0]], 1)

    for own in range(3):
        rivals = [int(rival) for rival, *_ in linearise_pairs(Margin(tied, own=own), torch.ones(1, 2), None)]
        assert sorted(rivals) == sorted({0, 1, 2} - {own})
        assert int(strongest_rival(Margin(tied, own=own), tied(torch.ones(1, 2)))) != own


def test_differences_are_the_gradients_of_an_affine_model_within_the_basis():
    model = Affine.random(4, 64, generator=torch.Generator().manual_seed(1))
    basis = torch.linalg.qr(torch.randn(64, 5, generator=torch.Generator().manual_seed(2), dtype=torch.float64)).Q.T
    margin = Margin(model, own=model.label(POINTS))
    exact = list(linearise_pairs(margin, POINTS, None))
    rough = list(difference_pairs(margin, POINTS, None, basis.reshape(5, 1, 8, 8), 1e-3))
    for (rival, values, gradients), (rough_rival, rough_values, rough_gradients) in zip(exact, rough, strict=True):
        assert torch.equal(rival, rough_rival)
        assert_close(values, rough_values)
        inside = gradients.flatten(1) @ basis.T @ basis
        assert_close(rough_gradients.flatten(1), inside, rtol=1e-8, atol=1e-10)


def test_linearising_works_where_gradients_are_off_and_leaves_no_trace():
    points = POINTS.clone()
    with torch.no_grad():
        _, gradients = linearise(Margin(NETWORK, own=OWN), points)
    assert_close(gradients, linearise(Margin(NETWORK, own=OWN), POINTS)[1])
    assert not points.requires_grad
    assert all(parameter.grad is None for parameter in NETWORK.parameters())


def test_a_model_that_writes_into_its_input_is_differentiated_all_the_same():
    def writing(x):
        x += 1
        return NETWORK(x - 1)

    points = POINTS.clone()
    assert_close(linearise(Margin(writing, own=OWN), points)[1], linearise(Margin(NETWORK, own=OWN), POINTS)[1])
    assert torch.equal(points, POINTS)
