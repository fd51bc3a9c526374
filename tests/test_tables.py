"""Tables of answers: columns that say what they are, and rows that can be asked for."""

import numpy as np
import pytest
import torch

from separatrix import L2, minimal_perturbation
from separatrix.tables import Column, Rows, as_table, column_of, margin_columns, margin_values
from separatrix.testing import Affine

COLUMNS = (Column("id", "identity"), Column("distance", "upper bound", "pixels", "ℓ2"), Column("place", "label"))


@pytest.fixture
def table():
    values = {"id": torch.arange(4), "distance": torch.tensor([1.0, 2.0, float("inf"), 0.5]), "place": "here"}
    return as_table(COLUMNS, values, 4)


def test_columns_say_their_unit_norm_and_kind(table):
    assert tuple(column_of(table, name) for name in table.column_names) == COLUMNS


def test_one_value_stands_for_all_rows(table):
    assert table.column("place").to_pylist() == ["here"] * 4


def test_a_column_without_values_is_refused():
    with pytest.raises(ValueError, match="`values` must hold every column; got none for distance, place"):
        as_table(COLUMNS, {"id": torch.arange(2)}, 2)


def test_rows_are_chosen_by_value_and_grouped_in_order():
    rows = Rows({"group": np.array(["b", "a", "b"]), "value": np.array([1, 2, 3])})
    assert len(rows) == 3
    assert rows.where("group", "b")["value"].tolist() == [1, 3]
    assert list(rows.groups("group")) == ["b", "a"]
    assert rows.chosen(rows["value"] > 1)["group"].tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="`name` must be one of group, value; got 'distance'"):
        rows["distance"]


def test_rows_of_a_table_are_what_went_in(table):
    rows = Rows.of(table)
    assert rows["id"].tolist() == [0, 1, 2, 3]
    assert np.isinf(rows["distance"]).tolist() == [False, False, True, False]


def test_margins_fill_their_columns():
    generator = torch.Generator().manual_seed(0)
    points = torch.randn(5, 6, generator=generator, dtype=torch.float64)
    boundary = minimal_perturbation(Affine.random(3, 6, generator=generator), points, ids=torch.arange(5) + 7)
    rows = Rows.of(as_table(margin_columns(str(L2)), margin_values(boundary), 5))
    assert rows["id"].tolist() == [7, 8, 9, 10, 11]
    assert np.array_equal(rows["distance"], boundary.distance.numpy())
    assert rows["found"].all()
