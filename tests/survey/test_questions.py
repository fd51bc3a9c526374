"""Laws that the questions of a survey share: what their tables say of themselves, and what a batch may not change."""

import numpy as np
import pytest
import torch
from tests.survey.known import asked, constant, known, network, pictures

from separatrix.survey.question import Inputs, missing
from separatrix.survey.questions.bands import BANDS
from separatrix.survey.questions.directions import DIRECTIONS, random_directions
from separatrix.survey.questions.margins import MARGINS
from separatrix.survey.questions.robustness import ROBUSTNESS
from separatrix.tables import Rows, column_of

QUESTIONS = (MARGINS, BANDS, DIRECTIONS, ROBUSTNESS)
EVERY = pytest.mark.parametrize("question", QUESTIONS, ids=[question.name for question in QUESTIONS])
SHAPES = [(1, 28, 28), (3, 32, 32), (3, 224, 224), (1, 33, 47), (20,), (2,), (1,)]


def same(rows, others):
    """Lengths agree to nine digits, all else exactly."""
    assert list(rows.columns) == list(others.columns)
    for name, column in others.columns.items():
        if column.dtype.kind == "f":
            np.testing.assert_allclose(rows[name], column, rtol=1e-9, err_msg=name)
        else:
            np.testing.assert_array_equal(rows[name], column, err_msg=name)


def test_names_are_those_of_the_tables():
    assert [question.name for question in QUESTIONS] == ["margins", "bands", "directions", "robustness"]


@EVERY
def test_every_column_says_what_it_means_in_one_sentence(question):
    for column in question.columns:
        assert column.meaning.endswith("."), column.name
        assert column.meaning.count(". ") == 0, column.name
        assert "\n" not in column.meaning, column.name
    assert question.asks.endswith("?")


@EVERY
def test_lengths_have_a_unit_and_a_norm_and_nothing_else_has(question):
    lengths = {column.name for column in question.columns if column.kind == "upper bound" or column.name == "radius"}
    assert lengths == {column.name for column in question.columns if column.unit}
    assert lengths == {column.name for column in question.columns if column.norm}


@EVERY
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_cost_is_positive_and_needs_tell_what_it_cannot_be_asked_of(question, shape):
    inputs = Inputs(shape, 10)
    lacks = missing(question, inputs, differentiable=True)
    assert list(lacks) == ([] if inputs.image or question is not BANDS else ["images"])
    assert "gradients" in missing(question, inputs, differentiable=False)
    if not lacks:
        cost = question.cost(inputs)
        assert cost.forwards > 0
        assert cost.gradients > 0


@EVERY
def test_a_table_keeps_kinds_units_norms_and_meanings(question):
    table = question.part(network(), pictures(2), torch.arange(2), 0).tables[question.name]
    assert tuple(column_of(table, column.name) for column in question.columns) == question.columns


@EVERY
def test_the_rows_of_a_sample_stand_together_in_the_order_of_the_batch(question):
    ids = torch.tensor([7, 3, 900])
    rows, _ = asked(question, network(), pictures(3), ids)
    each, rest = divmod(len(rows), 3)
    assert rest == 0
    assert rows["id"].tolist() == ids.repeat_interleave(each).tolist()


@EVERY
def test_nothing_is_missing(question):
    rows, _ = asked(question, network(), pictures(6))
    for name, column in rows.columns.items():
        assert column.dtype != object or all(isinstance(value, str) for value in column), name
        if column.dtype.kind == "f" and not name.endswith("alignment"):
            assert not np.isnan(column).any(), name


@EVERY
def test_the_batch_changes_nothing(question):
    model, points, ids = network(), pictures(8), torch.arange(8) + 50
    whole, _ = asked(question, model, points, ids, seed=4)
    parts = [asked(question, model, points[rows], ids[rows], seed=4)[0] for rows in (slice(0, 3), slice(3, 8))]
    same(Rows({name: np.concatenate([part[name] for part in parts]) for name in whole.columns}), whole)


@EVERY
def test_the_order_of_a_batch_changes_nothing(question):
    model, points, order = network(), pictures(5), torch.tensor([3, 0, 4, 1, 2])
    before, _ = asked(question, model, points)
    after, _ = asked(question, model, points[order], order)
    for sample in range(5):
        same(after.where("id", sample), before.where("id", sample))


@EVERY
def test_asking_twice_gives_the_same_bytes(question):
    tables = [question.part(network(), pictures(3), torch.arange(3), 1).tables[question.name] for _ in range(2)]
    assert tables[0].equals(tables[1])


@EVERY
def test_a_model_that_never_changes_its_answer_leaves_rows_that_say_so(question):
    rows, tensors = asked(question, known(constant), pictures(4))
    assert set(rows["id"].tolist()) == {0, 1, 2, 3}
    assert not tensors
    for column in question.columns:
        values = rows[column.name]
        if column.kind == "upper bound":
            assert (values == np.inf).all(), column.name
        elif column.kind == "flag":
            assert not values.any(), column.name
        elif column.name.endswith("rival"):
            assert (values == -1).all(), column.name
        elif column.name == "own":
            assert (values == 1).all()


@EVERY
def test_the_model_and_the_random_state_are_left_as_they_were(question):
    model, points = network(), pictures(2)
    before, state = points.clone(), torch.random.get_rng_state()
    asked(question, model, points)
    assert torch.equal(points, before)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert not model.training
    assert all(parameter.grad is None for parameter in model.parameters())


@EVERY
def test_a_seed_moves_what_is_drawn_and_nothing_else(question):
    model, points = network(), pictures(6)
    first, other = (asked(question, model, points, seed=seed)[0] for seed in (0, 1))
    if question is DIRECTIONS:
        assert (first["distance"] != other["distance"]).mean() > 0.9
    elif question is ROBUSTNESS:
        same(first.where("method", "FGSM"), other.where("method", "FGSM"))
    else:
        same(first, other)


def test_random_directions_belong_to_seed_draw_and_id():
    ids, shape = torch.tensor([5, 2**40, 11]), (2, 3)
    all_at_once = random_directions(ids, shape, 9, 1)
    assert torch.equal(all_at_once[1:], random_directions(ids[1:], shape, 9, 1))
    torch.testing.assert_close(all_at_once.flatten(1).norm(dim=1), torch.ones(3, dtype=torch.float64))
    others = [random_directions(ids, shape, 9, 0), random_directions(ids, shape, 8, 1), all_at_once.roll(1, 0)]
    assert all((other != all_at_once).flatten(1).any(1).all() for other in others)
