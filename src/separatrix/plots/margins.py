"""How far the boundary is: over all samples, and for those nearest to it."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from numpy.typing import NDArray

from separatrix.boundary import BoundaryPoints
from separatrix.checks import require, require_count
from separatrix.plots.pictures import pixels, signed

_INK, _ACCENT = "#1f3a5f", "#c8553d"
_GAP = 0.12  # between pictures, in widths of one


def margin_distribution(boundary: BoundaryPoints, *, unit: str = "input units", ax: Axes | None = None) -> Axes:
    """Share of the samples whose boundary was met within each distance; those not found keep the curve below one.

    Distances are upper bounds, so that the true curve lies on or above the one drawn.

    Args:
        boundary: The answer to draw.
        unit: What a length of one is, such as ``"pixels in [0, 1]"``.
        ax: Where to draw; a new figure when not given.
    """
    axes = ax if ax is not None else plt.subplots()[1]
    distance = boundary.distance.sort().values.cpu()
    share = torch.arange(1, len(distance) + 1) / max(len(distance), 1)
    within = distance.isfinite()
    radii, shares = np.append(0, distance[within].numpy()), np.append(0, share[within].numpy())
    axes.step(radii, shares, where="post", color=_INK)
    axes.fill_between(radii, shares, step="post", color=_INK, alpha=0.1, linewidth=0)
    _mark_median(axes, radii, shares)
    lost = len(boundary) - int(boundary.found.sum())
    axes.set_title(f"Margins in {boundary.norm}: {len(boundary):,} samples, {lost:,} not found", loc="left")
    axes.set(
        xlabel=f"distance to the boundary, {boundary.norm}, {unit} (upper bounds)", ylabel="share of samples within"
    )
    axes.set(xlim=(0, None), ylim=(0, 1))
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def nearest_samples(
    boundary: BoundaryPoints, *, classes: Sequence[str] | None = None, count: int = 6, ax: Axes | None = None
) -> Axes:
    """The images nearest to their boundary: each as it is, what has to be added, and what it then is.

    Perturbations are drawn each on its own scale, from its most negative (blue) to its most positive (red), and can
    be far too small to see in the images themselves. Captions name the class left, the class beyond and the length.

    Args:
        boundary: An answer about images ``(n, 1, height, width)`` or ``(n, 3, height, width)``, pixels in [0, 1].
        classes: What the labels are called; their numbers when not given.
        count: How many samples to show; fewer when fewer were found.
        ax: Where to draw; a new figure when not given.
    """
    require_count(count, "count")
    shape = tuple(boundary.start.shape[1:])
    require(len(shape) == 3 and shape[0] in (1, 3), "boundary", "be about images of one or three channels", shape)
    axes = ax if ax is not None else plt.subplots()[1]
    chosen = boundary.nearest(count)
    for column, (start, change, end) in enumerate(zip(chosen.start, chosen.perturbation, chosen.end, strict=True)):
        pictures = (pixels(start), signed(change), pixels(end))
        for row, picture in enumerate(pictures):
            _place(axes, picture, column, row)
    _caption(axes, chosen, classes)
    axes.set_title(f"Nearest to the boundary in {boundary.norm} (lengths are upper bounds)", loc="left")
    return axes


def _mark_median(axes: Axes, radii: NDArray[np.float64], shares: NDArray[np.float64]) -> None:
    if shares[-1] < 0.5:
        return
    median = float(radii[np.searchsorted(shares, 0.5)])
    axes.plot([median, median, 0], [0, 0.5, 0.5], color=_ACCENT, linewidth=1, linestyle=":")
    axes.annotate(f"median {median:.3g}", (median, 0.5), (6, -4), textcoords="offset points", color=_ACCENT, va="top")


def _place(axes: Axes, picture: NDArray[np.float64], column: int, row: int) -> None:
    left, top = column * (1 + _GAP), row * (1 + _GAP)
    axes.imshow(picture, extent=(left, left + 1, top + 1, top), interpolation="nearest")


def _caption(axes: Axes, chosen: BoundaryPoints, classes: Sequence[str] | None) -> None:
    """Class left above, class beyond and length below, rows named at the side."""
    columns = [column * (1 + _GAP) + 0.5 for column in range(len(chosen))]
    answers = zip(columns, chosen.own.tolist(), chosen.rival.tolist(), chosen.distance.tolist(), strict=True)
    for middle, own, rival, distance in answers:
        axes.text(middle, -_GAP, _name(own, classes), ha="center", va="bottom", color=_INK)
        axes.text(
            middle, 3 * (1 + _GAP), f"{_name(rival, classes)}\n{distance:.3g}", ha="center", va="top", color=_ACCENT
        )
    axes.set(xlim=(-_GAP, len(chosen) * (1 + _GAP)), ylim=(3.8 + _GAP, -0.5), xticks=[])
    rows = [row * (1 + _GAP) + 0.5 for row in range(3)]
    axes.set_yticks(rows, ["sample", "added", "beyond"])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _name(label: int, classes: Sequence[str] | None) -> str:
    return str(label) if classes is None else classes[label]
