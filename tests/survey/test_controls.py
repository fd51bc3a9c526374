"""Controls: searching harder finds little, searching blindly finds nothing nearer, unless gradients are masked."""

from __future__ import annotations

import pytest
import torch
from tests.survey import unsound
from tests.survey.unsound import DATA, lenet, of
from torch import nn
from torch.testing import assert_close

from separatrix import L2
from separatrix.survey.questions.controls import CONTROLS
from separatrix.survey.questions.margins import MARGINS
from separatrix.testing import Affine

COLUMNS = ("l2", "doubled", "starts", "gradient_free")


class Plane(nn.Module):
    """Two classes on either side of a plane, at known distance."""

    def __init__(self):
        super().__init__()
        self.exact = Affine.random(2, 12, generator=torch.Generator().manual_seed(1))

    def forward(self, x):
        return self.exact(x)


def asked(model, points=DATA.points, ids=DATA.ids, seed=0):
    return CONTROLS.ask(model, points, ids, seed).values


@pytest.fixture(scope="module")
def of_lenet():
    return asked(lenet())


def test_the_usual_margins_are_those_of_the_survey(of_lenet):
    margins = MARGINS.ask(lenet(), DATA.points, DATA.ids, 0).values
    assert_close(of_lenet["l2"], margins["l2"], rtol=1e-6, atol=0)


def test_on_a_sound_network_effort_finds_little_and_blindness_nothing(of_lenet):
    assert (of_lenet["starts"] <= of_lenet["l2"]).all()
    for name in ("doubled", "starts"):
        assert (of_lenet[name] / of_lenet["l2"]).median() >= 0.97
    assert (of_lenet["gradient_free"] > of_lenet["l2"]).all()
    assert of_lenet["gradient_free"].isfinite().all()


def test_lines_find_nearer_boundaries_than_masked_gradients():
    values = asked(unsound.quantised(8), DATA.points[:3], DATA.ids[:3])
    assert (values["gradient_free"] < 0.99 * values["l2"]).all()


def test_all_are_exact_or_longer_on_a_plane():
    model = Plane()
    points = torch.randn(9, 3, 4, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    values, exact = asked(of(model, None), points, torch.arange(9)), model.exact.distance(points, L2)
    for name in ("l2", "doubled", "starts"):
        assert_close(values[name], exact, rtol=1e-6, atol=0)
    assert (values["gradient_free"] >= (1 - 1e-9) * exact).all()
    assert values["gradient_free"].isfinite().all()


def test_order_and_seed_of_other_samples_change_nothing():
    model = of(Plane(), None)
    points = torch.randn(9, 3, 4, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    ids, order = torch.arange(20, 29), torch.randperm(9, generator=torch.Generator().manual_seed(3))
    forward, mixed = asked(model, points, ids, 5), asked(model, points[order], ids[order], 5)
    for name in COLUMNS:
        assert_close(mixed[name], forward[name][order], rtol=1e-9, atol=0)
    other = asked(model, points, ids, 6)["gradient_free"]
    assert (other != forward["gradient_free"]).any()


def test_a_sample_by_itself_has_random_lines_only():
    values = asked(lenet(), DATA.points[:1], DATA.ids[:1])
    assert values["gradient_free"][0] > values["l2"][0]


def test_where_there_is_no_boundary_none_is_found():
    constant = unsound.around(after=lambda logits: 0 * logits + torch.eye(10)[3])
    values = asked(constant, DATA.points[:2], DATA.ids[:2])
    assert all(values[name].isinf().all() for name in COLUMNS)


def test_equal_points_are_no_lines(of_lenet):
    points, ids = DATA.points[[0, 0, 1]], torch.tensor([0, 50, 1])
    assert asked(lenet(), points, ids)["gradient_free"].isfinite().all()


def test_the_rows_make_a_table_and_cost_about_what_they_say():
    seen = []
    model = unsound.around(before=lambda x: (seen.append(len(x)), x)[1])
    table = CONTROLS.part(model, DATA.points[:2], DATA.ids[:2], 0).tables["controls"]
    assert table.column_names == ["id", *COLUMNS]
    cost = CONTROLS.cost(None)
    assert 0.5 < sum(seen) / 2 / cost.forwards < 1.5
