"""Curves and dots stand where their numbers are."""

import numpy as np
import pytest
import torch
from matplotlib import pyplot as plt

from separatrix.plots import before_and_after, block_margins, compared_dots, lines


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_blocks_stand_at_their_numbers_and_so_do_the_ticks():
    blocks = {number: np.full(10, float(number)) for number in (1, 3, 5, 11)}
    figure = block_margins({"n": blocks}, title="t", norm="ℓ2", unit="pixels")
    (axes,) = figure.axes
    at, middle = axes.lines[0].get_data()
    assert list(at) == [1, 3, 5, 11]
    assert list(middle) == [1, 3, 5, 11]
    assert list(axes.get_xticks()) == [1, 3, 5, 11]


def test_numbers_on_a_logarithmic_axis_are_dots_and_what_is_not_finite_is_left_out():
    groups = {"one": {"a": 0.1, "b": 2.0}, "two": {"a": np.inf, "b": 0.03}}
    (axes,) = compared_dots(groups, title="t", label="l").axes
    assert axes.get_yscale() == "log"
    assert not axes.patches
    assert [list(line.get_ydata()) for line in axes.lines] == [[0.1, np.inf], [2.0, 0.03]]
    assert [text.get_text() for text in axes.texts] == ["0.1", "2", "0.03"]
    low, high = axes.get_ylim()
    assert low < 0.03 < 2.0 < high


def test_less_than_a_decade_has_several_numbers_on_its_axis():
    figure = lines({"n": [0.45, 1.2, 1.7]}, title="t", place="band", label="β")
    figure.canvas.draw()
    (axes,) = figure.axes
    low, high = axes.get_ylim()
    shown = [text.get_text() for text in axes.get_yticklabels() if low <= text.get_position()[1] <= high]
    assert shown == ["0.5", "0.7", "1", "1.5"]


def test_every_change_tells_its_scale():
    starts = torch.zeros(2, 1, 4, 4)
    ends = starts.clone()
    ends[0, 0, 0, 0], ends[1, 0, 1] = 0.5, -0.25
    figure = before_and_after(starts, ends, title="t")
    labels = [axes.get_xlabel() for axes in figure.axes if axes.get_xlabel()]
    assert labels == ["ℓ2 0.5, up to ±0.5", "ℓ2 0.5, up to ±0.25"]
    assert "added, each on\na scale of its own" in [axes.get_ylabel() for axes in figure.axes]
