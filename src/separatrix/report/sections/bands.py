"""Bands: how far the boundary is where only some frequencies of the image may change."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from separatrix.plots.overlaid import Curve, curves
from separatrix.report.drawing import plain_text
from separatrix.report.finding import margins_by_id
from separatrix.report.numbers import median_of, number, percentile_of
from separatrix.report.shown import Numbers, Shown, column, flags, whole
from separatrix.report.told import Figure, Section, Table, Told

_MEANING = (
    "The image's frequencies (its discrete cosine transform) are cut into bands along the diagonal, from the lowest to "
    "the highest, and each sample's boundary is looked for within one band at a time: ℓ2 lengths, upper bounds. Any "
    "m of d dimensions chosen at random would lengthen a margin about √(d/m) times; a band that lies below that line "
    "is one the model is more sensitive in than chance predicts."
)


def reached(shown: Shown, table: str) -> Numbers:
    """The distances of a table; infinite where no boundary was found."""
    rows = shown.held(table)
    distance = column(rows, "distance")
    return (
        np.where(flags(rows["found"]) | np.isnan(distance), distance, np.inf) if "found" in rows.columns else distance
    )


def unrestricted(shown: Shown, table: str) -> float:
    """Median ℓ2 margin without restriction, over the samples of a table; NaN unless all of them have one."""
    margins = margins_by_id(shown, "l2", np.unique(whole(shown.held(table)["id"])))
    return math.nan if np.isnan(margins).any() else median_of(margins).value


def _tell(runs: Sequence[Shown]) -> Told:
    highlights = tuple(sentence for shown in runs if (sentence := _nearest(shown)))
    if not any_found(runs, "bands"):
        return Told((_MEANING, *highlights), highlights=highlights)
    return Told((_MEANING,), figures=(_figure(runs),), highlights=highlights)


def any_found(runs: Sequence[Shown], table: str) -> bool:
    """Whether a boundary was found for any sample, so that there is something to draw."""
    return any(bool(np.isfinite(reached(shown, table)).any()) for shown in runs)


def _by_band(shown: Shown) -> tuple[Numbers, Numbers, list[Numbers]]:
    """The bands, their dimensions, and the distances in each."""
    rows, distance = shown.held("bands"), reached(shown, "bands")
    band, dim = whole(rows["band"]), column(rows, "dim")
    there = np.unique(band[band >= 0])
    return there.astype(float), np.array([dim[band == k][0] for k in there]), [distance[band == k] for k in there]


def _figure(runs: Sequence[Shown]) -> Figure:
    unit = runs[0].unit_of("bands", "distance")
    drawn = [curve for shown in runs for curve in _curves(shown)]
    return Figure(
        "bands",
        "Margins in each band of frequencies",
        "Median margin by band of frequencies, low to high. " + " ".join(map(_nearest, runs)),
        partial(
            curves,
            drawn=drawn,
            label="band of frequencies, low to high",
            height=f"ℓ2 distance, {unit} (upper bound)",
            logarithmic="y",
            whole=True,
        ),
        Table(
            f"ℓ2 margins by band, {unit}",
            ("band", "dimensions", *(head for shown in runs for head in _head(shown))),
            _rows(runs),
        ),
        "Line and shade: median and the range from 5 to 95 % of the samples, which ends at the top where too few "
        "boundaries were found. Dashed: the unrestricted median of the same samples. Dotted: what chance "
        "predicts, √(d/m) times that.",
        height=340,
    )


def _curves(shown: Shown) -> list[Curve]:
    bands, dims, margins = _by_band(shown)
    low, middle, high = (np.array([percentile_of(m, share) for m in margins]) for share in (0.05, 0.5, 0.95))
    everywhere = np.full(len(bands), unrestricted(shown, "bands"))
    name = plain_text(shown.name) if shown.letter else "within the band"
    alone = not shown.letter
    return [
        Curve(name, bands, middle, low, high, shown.colour, marker="o"),
        Curve("unrestricted" if alone else "", bands, everywhere, colour=shown.colour, line="--"),
        Curve(
            "by chance" if alone else "", bands, everywhere * np.sqrt(shown.dim / dims), colour=shown.colour, line=":"
        ),
    ]


def _head(shown: Shown) -> tuple[str, ...]:
    named = ("median (95 % interval)", "5 %", "95 %", "by chance", "found")
    return tuple(f"{name} {shown.letter}".strip() for name in named)


def _rows(runs: Sequence[Shown]) -> tuple[tuple[object, ...], ...]:
    found = [{int(band): (dim, m) for band, dim, m in zip(*_by_band(shown), strict=True)} for shown in runs]
    return tuple(
        (
            band,
            int(next(each[band][0] for each in found if band in each)),
            *(cell for shown, each in zip(runs, found, strict=True) for cell in _cells(shown, each.get(band))),
        )
        for band in sorted(set().union(*found))
    )


def _cells(shown: Shown, held: tuple[float, Numbers] | None) -> tuple[str, ...]:
    if held is None:
        return ("–",) * 5
    dim, margins = held
    chance = unrestricted(shown, "bands") * math.sqrt(shown.dim / dim)
    ends = (number(percentile_of(margins, share)) for share in (0.05, 0.95))
    return (str(median_of(margins)), *ends, number(chance), f"{int(np.isfinite(margins).sum()):,} of {len(margins):,}")


def _nearest(shown: Shown) -> str:
    """The band in which the boundary is nearest, in words."""
    bands, dims, margins = _by_band(shown)
    medians = [median_of(each) for each in margins]
    near = min(range(len(bands)), key=lambda place: np.nan_to_num(medians[place].value, nan=np.inf))
    if not math.isfinite(medians[near].value):
        return f"{shown.lead}In no band of frequencies was a boundary found for half of the samples."
    chance = unrestricted(shown, "bands") * math.sqrt(shown.dim / dims[near])
    beside = f", {number(medians[near].value / chance)} times what chance predicts" if chance > 0 else ""
    place = f"band {bands[near]:.0f}, of {len(bands)} from {bands[0]:.0f} (the lowest) to {bands[-1]:.0f} (the highest)"
    return (
        f"{shown.lead}Among the bands of frequencies the boundary is nearest in {place}: median {medians[near]} "
        f"in ℓ2{beside}."
    )


BANDS = Section("bands", "Bands of frequencies", _tell)
