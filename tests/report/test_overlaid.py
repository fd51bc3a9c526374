"""Curves on one pair of axes."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from separatrix.plots.overlaid import Curve, curves

AT = np.array([1.0, 2.0, 4.0])


@pytest.fixture
def axes():
    return Figure().add_subplot()


def test_axes_say_what_lies_along_them_and_lines_what_they_are(axes):
    drawn = [Curve("PGD", AT, AT), Curve("margins", AT, 2 * AT, line=":")]
    curves(axes, drawn, label="radius", height="robust accuracy")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("radius", "robust accuracy")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["PGD", "margins"]


def test_a_line_without_points_is_not_in_the_legend(axes):
    drawn = [Curve("measured", AT, AT), Curve("by chance", AT, np.full(3, np.nan))]
    curves(axes, drawn, label="m", height="distance", logarithmic="xy")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["measured"]


@pytest.mark.parametrize("logarithmic", ["", "x", "y", "xy"])
def test_nothing_to_draw_is_drawn_without_complaint(axes, logarithmic):
    curves(axes, [Curve("nowhere", AT, np.full(3, np.inf))], label="m", height="distance", logarithmic=logarithmic)
    axes.figure.canvas.draw()
    assert axes.get_legend() is None
