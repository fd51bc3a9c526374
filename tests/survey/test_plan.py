"""A plan is a function of model, data, questions and samples, and every sample is asked about once."""

import pytest
import torch
from tests.survey import toy
from torch import nn

from separatrix.classifier import Classifier
from separatrix.data import load_data
from separatrix.models import load_model
from separatrix.survey.plan import SAMPLES, pace, plan
from separatrix.survey.question import Cost, Question
from separatrix.survey.subject import Subject
from separatrix.tables import Column


def subject(samples=200, seed=0, **data):
    return Subject(toy.model(), toy.data(**data), "toy", samples, seed)


def test_samples_are_drawn_by_chance_and_by_the_seed_alone():
    first, again, other = (subject(seed=seed).ids for seed in (0, 0, 1))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert len(set(first.tolist())) == 200
    assert set(first.tolist()) <= set(toy.data().ids.tolist())


def test_more_samples_begin_with_the_same_ones():
    assert torch.equal(subject(samples=250).ids[:100], subject(samples=100).ids)


def test_all_there_are_where_there_are_no_more():
    assert sorted(subject(samples=10_000).ids.tolist()) == toy.data().ids.tolist()


def test_each_question_is_asked_about_each_of_its_samples_once():
    planned = plan(subject(), (toy.LENGTHS, toy.SIGNS))
    lengths, signs = (entry.units for entry in planned.entries)
    ids = subject().ids.tolist()
    assert [name for unit in lengths for name in unit.ids] == ids
    assert [name for unit in signs for name in unit.ids] == ids[:100]
    assert max(len(unit.ids) for unit in lengths) - min(len(unit.ids) for unit in lengths) <= 1


def test_the_first_units_of_all_questions_come_before_the_second_of_any():
    units = plan(subject(), (toy.LENGTHS, toy.SIGNS)).units
    assert [unit.name for unit in units] == [SAMPLES, "lengths", "signs", "lengths", "signs", "lengths", "lengths"]


def test_a_unit_tells_seeds_models_and_data_apart():
    keys = {
        plan(about, (toy.LENGTHS,)).entries[0].units[0].key
        for about in (
            subject(),
            subject(seed=1),
            subject(count=301),
            Subject(toy.model(4), toy.data(), "toy", 200),
        )
    }
    assert len(keys) == 4


def test_the_name_of_the_model_changes_no_unit():
    other = Subject(toy.model(), toy.data(), "another name", 200)
    assert plan(other, (toy.LENGTHS,)).units == plan(subject(), (toy.LENGTHS,)).units


def test_what_cannot_be_asked_is_named_with_the_reason():
    planned = plan(subject(), (toy.LENGTHS, toy.PICTURES))
    assert planned.unasked == {"pictures": "the points are no pictures"}
    assert list(planned.questions) == ["lengths"]


class Stepped(nn.Module):
    def forward(self, points):
        return (points[:, :3] > 0).float().detach()


def test_a_model_without_gradients_is_asked_what_needs_none():
    blind = Subject(Classifier(Stepped()), toy.data(), "blind", 10)
    steep = Question("steep", "?", (toy.ID, toy.NORM, toy.NOISE), toy.lengths, toy.cheap, needs=("gradients",))
    assert plan(blind, (toy.LENGTHS, steep)).unasked == {"steep": "the model has no gradient"}


def test_a_network_on_pictures_is_asked_everything():
    model, data = load_model("zoo:lenet", pretrained=False), load_data("sample")
    assert plan(Subject(model, data, "lenet", 20), (toy.PICTURES,)).unasked == {}


def test_seconds_add_up():
    planned = plan(subject(), (toy.LENGTHS, toy.SIGNS))
    measured = pace(toy.model(), toy.data().points)
    assert measured is not None
    assert measured.forward > 0
    assert planned.seconds(measured) == pytest.approx(300 * measured.forward)
    assert measured.seconds(Cost(2, 3)) == pytest.approx(2 * measured.forward + 3 * measured.gradient)


def test_a_model_that_does_not_answer_has_no_pace():
    assert pace(nn.Linear(5, 3), toy.data().points) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"samples": 0}, "`samples` must be a whole number ≥ 1"),
        ({"seed": -1}, "`seed` must"),
        ({"data": torch.zeros(3, 6)}, "`data` must be a data set with labels; got Tensor"),
        ({"model": toy.model(2)}, "`data` must have labels below 2, the number of the model's classes; got label 2"),
    ],
)
def test_bad_subjects_are_refused(change, message):
    settings = {"model": toy.model(), "data": toy.data(), "name": "toy", "samples": 10} | change
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        Subject(**settings)


@pytest.mark.parametrize("questions", [(), (toy.LENGTHS, toy.LENGTHS)])
def test_bad_lists_of_questions_are_refused(questions):
    with pytest.raises(ValueError, match="`questions` must"):
        plan(subject(), questions)


@pytest.mark.parametrize(
    "columns", [(toy.NORM,), (toy.ID, toy.ID), (toy.ID, Column("silent", "estimate"))], ids=["no id", "twice", "mute"]
)
def test_bad_columns_are_refused(columns):
    with pytest.raises(ValueError, match="`columns` must"):
        Question("bad", "?", columns, toy.lengths, toy.cheap)
