"""Several runs on one pair of axes, in the colours that they bring along."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Curve:
    """A line with the range around it.

    Args:
        label: What the legend calls it; empty for a line that has no place there.
        at: Where its points are ``(k,)``.
        values: Their heights ``(k,)``.
        low: Lower ends of the range ``(k,)``; None where it has none.
        high: Upper ends of the range ``(k,)``.
        colour: Of line and range.
        line: ``"-"``, ``"--"``, ``":"``; empty for points alone.
        marker: Of the points; empty for none.
    """

    label: str
    at: Numbers
    values: Numbers
    low: Numbers | None = None
    high: Numbers | None = None
    colour: str = "C0"
    line: str = "-"
    marker: str = ""


@dataclass(frozen=True)
class Dot:
    """A number with its interval, in a row of its own.

    Args:
        row: What the row is called; dots of the same name share it.
        value: The number.
        low: Lower end of its interval.
        high: Upper end.
        colour: Of both.
        label: What the legend calls dots of this colour; empty for none.
    """

    row: str
    value: float
    low: float
    high: float
    colour: str = "C0"
    label: str = ""


def histogram(
    axes: Axes, edges: Numbers, heights: Mapping[str, Numbers], *, label: str, height: str, lines: Mapping[str, float]
) -> None:
    """Bars of one or two groups over common ranges; over each range lies a field with the gid ``bar-k``.

    Args:
        axes: Where to draw.
        edges: Ends of the ranges ``(k + 1,)``.
        heights: By group, the height over each range ``(k,)``; groups have the colours ``C0``, ``C1`` in their order.
        label: What lies along the axis, with its unit.
        height: What the heights are.
        lines: A mark for each group, by name, such as its median.
    """
    top = max((float(bars.max()) for bars in heights.values()), default=1.0) or 1.0
    for number, (name, bars) in enumerate(heights.items()):
        axes.stairs(bars, edges, fill=True, color=f"C{number}", alpha=0.35 if len(heights) > 1 else 0.75, label=name)
        if len(heights) > 1:
            axes.stairs(bars, edges, color=f"C{number}", linewidth=1.4)
    for number, value in enumerate(lines.values()):
        if edges[0] <= value <= edges[-1]:
            axes.axvline(value, color=f"C{number}", linewidth=1.2, linestyle="--")
    for number, (left, right) in enumerate(pairwise(edges)):
        field = Rectangle((left, 0), right - left, 1.05 * top, gid=f"bar-{number}", facecolor="C5", alpha=0.001)
        axes.add_patch(field)
    axes.set(xlim=(edges[0], edges[-1]), ylim=(0, 1.05 * top), xlabel=label, ylabel=height)
    axes.grid(visible=False, axis="x")
    if all((bars == np.round(bars)).all() for bars in heights.values()):
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    if len(heights) > 1:
        axes.legend(loc="upper right")


def curves(
    axes: Axes, drawn: Sequence[Curve], *, label: str, height: str, logarithmic: str = "", whole: bool = False
) -> None:
    """Lines with their ranges; what is not finite is left out, and a range without end ends at the top.

    Args:
        axes: Where to draw.
        drawn: The lines.
        label: What lies along the axis.
        height: What the heights are.
        logarithmic: ``"x"``, ``"y"`` or ``"xy"`` for axes with equal steps for equal ratios.
        whole: Whether places along the axis are whole numbers.
    """
    top = _top(drawn)
    for curve in drawn:
        finite = np.isfinite(curve.values)
        at, values = curve.at[finite], curve.values[finite]
        if curve.low is not None and curve.high is not None:
            _range(axes, curve, at, np.minimum(curve.low[finite], top), np.minimum(curve.high[finite], top))
        style, named = curve.line or "none", curve.label if len(at) else ""
        axes.plot(at, values, linestyle=style, marker=curve.marker, color=curve.colour, label=named)
    axes.set(xlabel=label, ylabel=height)
    if "y" not in logarithmic:
        axes.set_ylim(bottom=0)
    for name in logarithmic.replace("y", "") if top <= 0 else logarithmic:
        _spread(axes, name)
    if whole:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if any(curve.label and np.isfinite(curve.values).any() for curve in drawn):
        axes.legend(loc="best")


def dots(axes: Axes, drawn: Sequence[Dot], *, label: str) -> None:
    """Numbers with intervals, a row for each name, the first on top; dots that share a row stand below each other."""
    rows = list(dict.fromkeys(dot.row for dot in drawn))
    colours = sorted({dot.colour for dot in drawn})
    seen: set[str] = set()
    for dot in drawn:
        shift = 0.28 * (colours.index(dot.colour) - (len(colours) - 1) / 2)
        at, name = rows.index(dot.row) + shift, "" if dot.label in seen else dot.label
        seen.add(dot.label)
        axes.plot([dot.low, dot.high], [at, at], color=dot.colour, linewidth=2.2, alpha=0.45, solid_capstyle="round")
        axes.plot([dot.value], [at], "o", color=dot.colour, markersize=5, label=name)
    axes.set_yticks(range(len(rows)), rows)
    axes.set(ylim=(len(rows) - 0.4, -0.6), xlabel=label)
    axes.margins(x=0.06)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    if any(dot.label for dot in drawn):
        axes.legend(loc="best")


def matrix(axes: Axes, counts: Numbers, rows: Sequence[str], columns: Sequence[str], *, down: str, across: str) -> None:
    """Counts in cells, the more the stronger; empty cells stay blank."""
    top = counts.max(initial=0) or 1
    for (row, column), count in np.ndenumerate(counts):
        if count > 0:
            cell = Rectangle((column - 0.48, row - 0.47), 0.96, 0.94, facecolor="C0", alpha=0.08 + 0.5 * count / top)
            axes.add_patch(cell)
            axes.text(column, row, f"{count:.0f}", ha="center", va="center", fontsize=9)
    axes.set(xlim=(-0.6, len(columns) - 0.4), ylim=(len(rows) - 0.4, -0.6), xlabel=across, ylabel=down)
    axes.set_xticks(range(len(columns)), columns, rotation=40, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(rows)), rows)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)


def _top(drawn: Sequence[Curve]) -> float:
    """The largest finite height of lines and ranges, and a little more."""
    heights = np.concatenate([part for curve in drawn for part in (curve.values, curve.high) if part is not None])
    return 1.1 * float(heights.max(initial=0.0, where=np.isfinite(heights)))


def _range(axes: Axes, curve: Curve, at: Numbers, low: Numbers, high: Numbers) -> None:
    if curve.line:
        axes.fill_between(at, low, high, color=curve.colour, alpha=0.15, linewidth=0)
    else:
        axes.vlines(at, low, high, color=curve.colour, linewidth=2.2, alpha=0.45)


def _spread(axes: Axes, name: str) -> None:
    """Equal steps for equal ratios, with plain numbers beside them."""
    axis = axes.xaxis if name == "x" else axes.yaxis
    (axes.set_xscale if name == "x" else axes.set_yscale)("log")
    low, high = axes.get_xlim() if name == "x" else axes.get_ylim()
    plainly = FuncFormatter(lambda value, _: f"{value:g}")
    axis.set_major_formatter(plainly)
    axis.set_minor_formatter(plainly if high < 12 * low else NullFormatter())
