"""Questions, sections, the glossary and the columns' units belong together, for every question there is."""

import html
from typing import get_args

import pytest
import torch

from separatrix.classifier import Classifier
from separatrix.data import load_data
from separatrix.plugins import chosen, installed
from separatrix.report import SECTIONS
from separatrix.survey import QUESTIONS, Inputs, survey
from separatrix.survey.running import REPORT
from separatrix.tables import Column, Kind, column_of
from separatrix.testing import small_network

COLUMNS = [(question.name, column) for question in QUESTIONS for column in question.columns]
EACH_COLUMN = pytest.mark.parametrize("column", [c for _, c in COLUMNS], ids=[f"{q}.{c.name}" for q, c in COLUMNS])


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """All questions, asked of a small network."""
    points = torch.rand(12, 1, 8, 8, generator=torch.Generator().manual_seed(0))
    data = load_data(points, labels=torch.arange(12) % 3)
    return survey(Classifier(small_network(), bounds=(0, 1)), data, out=tmp_path_factory.mktemp("run"), samples=4)


def test_every_question_has_a_section_and_every_section_a_question():
    told = {name for section in SECTIONS for name in (section.question, *section.also)}
    assert told == {question.name for question in QUESTIONS}


def test_all_questions_leave_their_tables_and_columns(run):
    assert set(run.tables()) == {"samples", *(question.name for question in QUESTIONS)}
    for question in QUESTIONS:
        assert tuple(run.table(question.name).column_names) == tuple(column.name for column in question.columns)


def test_units_norms_and_meanings_come_back_from_the_stored_tables(run):
    for name, column in COLUMNS:
        assert column_of(run.table(name), column.name) == column


def test_the_glossary_holds_every_column(run):
    page = html.unescape((run.folder / REPORT).read_text("utf-8"))
    missing = [f"{name}.{column.name}" for name, column in COLUMNS if column.meaning not in page]
    assert missing == []


def test_the_page_has_every_section(run):
    page = (run.folder / REPORT).read_text("utf-8")
    assert all(f'data-question="{section.question}"' in page for section in SECTIONS)


@EACH_COLUMN
def test_every_column_says_what_it_is(column):
    assert column.kind in get_args(Kind)
    assert column.meaning.endswith(".")
    assert column.meaning[0].isupper() or column.meaning[0] == "ℓ"


@EACH_COLUMN
def test_lengths_have_a_norm_and_norms_belong_to_lengths(column):
    assert bool(column.norm) == column.unit.startswith("input units")


@EACH_COLUMN
def test_bounds_are_lengths(column):
    assert column.kind != "upper bound" or column.norm


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_every_question_has_a_price_and_asks_in_one_sentence(question):
    cost = question.cost(Inputs((1, 28, 28), 10))
    assert cost.forwards > 0
    assert cost.gradients >= 0
    assert question.asks.endswith("?")


def test_pieces_of_other_packages_are_found_by_name_and_kind(monkeypatch):
    assert installed("separatrix.questions", Column) == {}
    assert chosen(["COLUMNS:no"], {"COLUMNS:no": COLUMNS[0][1]}, Column, "names") == (COLUMNS[0][1],)
    with pytest.raises(ValueError, match=r"`names` must be among a, or written package.module:NAME; got 'b'"):
        chosen(["b"], {"a": COLUMNS[0][1]}, Column, "names")
