"""Margins of several groups on one pair of axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, StrMethodFormatter
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

COLOURS = ("#1f3a5f", "#c8553d", "#3c8d6e", "#b8860b", "#6b4c9a", "#5c6b73")


def cumulative_margins(groups: Mapping[str, Numbers], *, title: str, norm: str, unit: str) -> Figure:
    """Share of the samples within each distance, a curve a group; those not found keep a curve below one."""
    figure, axes = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
    for (name, margins), colour in zip(groups.items(), COLOURS, strict=False):
        ordered = np.sort(margins)
        within = ordered[np.isfinite(ordered)]
        shares = np.arange(1, len(within) + 1) / len(ordered)
        axes.step(within, shares, where="post", color=colour, label=f"{name}: median {_middle(ordered):.3g}")
    axes.set(xscale="log", ylim=(0, 1), ylabel="share of samples within", title=title)
    axes.set_xlabel(f"distance to the boundary, {norm}, {unit} (upper bounds)")
    axes.legend(frameon=False)
    _lighten(axes)
    return figure


def block_margins(
    curves: Mapping[str, Mapping[int, Numbers]],
    *,
    title: str,
    norm: str,
    unit: str,
    places: str = "block of frequencies, low to high",
) -> Figure:
    """Median margin in each of a sequence of subspaces, and the range of the middle 90 % of the samples.

    Args:
        curves: By network, the margins of all samples by the number of the subspace, which need not be consecutive.
        title: Of the figure.
        norm: The norm of the margins.
        unit: What a length of one is.
        places: What the subspaces are, and in which order they are numbered.
    """
    figure, axes = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
    for (name, blocks), colour in zip(curves.items(), COLOURS, strict=False):
        at = list(blocks)
        low, middle, high = (
            np.array([_share(block, share) for block in blocks.values()]) for share in (0.05, 0.5, 0.95)
        )
        axes.fill_between(at, low, _capped(high, middle), color=colour, alpha=0.15, linewidth=0)
        axes.plot(at, middle, "o-", color=colour, markersize=3.5, label=name)
    axes.set(yscale="log", title=title, xlabel=places)
    axes.set_xticks(sorted({number for blocks in curves.values() for number in blocks}))
    axes.set_ylabel(f"margin, {norm}, {unit}\nmedian and 5–95 % of samples (upper bounds)")
    axes.legend(frameon=False)
    _lighten(axes)
    return figure


def lines(
    curves: Mapping[str, Sequence[float]], *, title: str, place: str, label: str, level: float | None = None
) -> Figure:
    """One number at each of a sequence of places, a line a group.

    Args:
        curves: By group, the numbers in order.
        title: Of the figure.
        place: What the places are.
        label: What the number is.
        level: A value to compare with, drawn across.
    """
    figure, axes = plt.subplots(figsize=(7.5, 4.4), layout="constrained")
    for (name, values), colour in zip(curves.items(), COLOURS, strict=False):
        axes.plot(np.arange(1, len(values) + 1), values, "o-", color=colour, markersize=3.5, label=name)
    if level is not None:
        axes.axhline(level, color="black", linewidth=0.8, linestyle=":")
    axes.set(title=title, xlabel=place, ylabel=label)
    _scale_finely(axes)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(frameon=False)
    _lighten(axes)
    return figure


def compared_dots(groups: Mapping[str, Mapping[str, float]], *, title: str, label: str) -> Figure:
    """One number of several methods, side by side, on a logarithmic axis; what is not finite is left out.

    Dots, since the length of a bar means nothing on an axis without a zero.

    Args:
        groups: By group, the number of each method.
        title: Of the figure.
        label: What the number is, with its unit.
    """
    figure, axes = plt.subplots(figsize=(8, 4.4), layout="constrained")
    methods = list(dict.fromkeys(method for numbers in groups.values() for method in numbers))
    width = 0.8 / len(methods)
    for number, (method, colour) in enumerate(zip(methods, COLOURS, strict=False)):
        at = np.arange(len(groups)) + (number - (len(methods) - 1) / 2) * width
        heights = np.array([numbers.get(method, np.nan) for numbers in groups.values()])
        axes.plot(at, heights, "o", color=colour, markersize=6, label=method)
        for place, height in zip(at, heights, strict=True):
            if np.isfinite(height):
                axes.annotate(f"{height:.2g}", (place, height), (0, 6), textcoords="offset points", ha="center", size=7)
    axes.set_xticks(range(len(groups)), list(groups))
    axes.set(title=title, ylabel=label, xlim=(-0.5, len(groups) - 0.5))
    _scale_finely(axes)
    axes.margins(y=0.15)
    figure.legend(loc="outside lower center", frameon=False, ncols=len(methods))
    _lighten(axes)
    return figure


def _middle(ordered: Numbers) -> float:
    return _share(ordered, 0.5)


def _share(values: Numbers, share: float) -> float:
    ordered = np.sort(values)
    return float(ordered[max(int(np.ceil(share * len(ordered))) - 1, 0)])


def _capped(high: Numbers, middle: Numbers) -> Numbers:
    """Infinite ends drawn at ten times the largest median, beyond which nothing is shown."""
    finite = middle[np.isfinite(middle)]
    return np.minimum(high, 10 * finite.max() if len(finite) else 1.0)


def _scale_finely(axes: Axes) -> None:
    """A logarithmic axis for numbers of one or two orders of magnitude, which powers of ten alone would not place."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5, 7)))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _lighten(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.2)
