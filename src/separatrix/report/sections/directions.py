"""Directions: how far the boundary is along random directions, and within random subspaces."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from separatrix.plots.overlaid import Curve, curves
from separatrix.report.drawing import plain_text
from separatrix.report.numbers import median_of, number, percent, percentile_of
from separatrix.report.sections.bands import any_found, reached, unrestricted
from separatrix.report.shown import Numbers, Shown, whole
from separatrix.report.told import Figure, Section, Table, Told

_MEANING = (
    "How far the boundary is along a direction drawn at random (m = 1), and the shortest way to it within a random "
    "subspace of m dimensions: ℓ2 lengths, upper bounds. Where the boundary is nearly flat, √(d/m) times the "
    "unrestricted margin is to be expected; of several draws each sample counts with their median."
)


def _tell(runs: Sequence[Shown]) -> Told:
    unit = runs[0].unit_of("directions", "distance")
    rows = tuple(row for shown in runs for row in _rows(shown))
    head = ("run",) if runs[0].letter else ()
    named = ("kind", "m", "median (95 % interval)", "5 %", "95 %", "√(d/m) × unrestricted", "ratio", "found")
    figure = Figure(
        "directions",
        "Margins along random directions and in random subspaces",
        "Median margin against the dimension of the random subspace, with what chance predicts. " + _spoken(runs),
        partial(
            curves,
            drawn=[curve for shown in runs for curve in _curves(shown)],
            label="dimensions m that may change (1: one direction)",
            height=f"ℓ2 distance, {unit} (upper bound)",
            logarithmic="xy",
        ),
        Table(f"ℓ2 margins in random directions and subspaces, {unit}", (*head, *named), rows),
        "Dots and bars: median and the range from 5 to 95 % of the samples. Dotted: √(d/m) times the unrestricted "
        "median of the same samples.",
    )
    highlights = tuple(filter(None, (_spoken([shown]) for shown in runs)))
    if not any_found(runs, "directions"):
        return Told((_MEANING, *highlights), highlights=highlights)
    return Told((_MEANING,), figures=(figure,), highlights=highlights)


def _groups(shown: Shown) -> list[tuple[str, int, Numbers]]:
    """Kind, dimension and the distance of each sample, over its draws the median."""
    rows, distance = shown.held("directions"), reached(shown, "directions")
    kind, dim, ids = np.asarray(rows["kind"]).astype(str), whole(rows["dim"]), whole(rows["id"])
    groups = sorted(set(zip(dim.tolist(), kind.tolist(), strict=True)))
    return [(name, m, _over_draws(ids[at], distance[at])) for m, name in groups if len(at := _at(kind, dim, name, m))]


def _at(kind: np.ndarray, dim: np.ndarray, name: str, m: int) -> np.ndarray:
    return np.flatnonzero((kind == name) & (dim == m))


def _over_draws(ids: np.ndarray, distance: Numbers) -> Numbers:
    """The lower median of each sample's draws."""
    order = np.lexsort((distance, ids))
    _, first, count = np.unique(ids[order], return_index=True, return_counts=True)
    middles: Numbers = distance[order][first + (count - 1) // 2]
    return middles


def _curves(shown: Shown) -> list[Curve]:
    groups = _groups(shown)
    dims = np.array([m for _, m, _ in groups], dtype=float)
    low, middle, high = (np.array([percentile_of(each, s) for *_, each in groups]) for s in (0.05, 0.5, 0.95))
    everywhere = np.geomspace(1, max(dims.max(), 2), 40)
    chance = unrestricted(shown, "directions") * np.sqrt(shown.dim / everywhere)
    name = plain_text(shown.name) if shown.letter else "measured"
    return [
        Curve(name, dims * 1.05**shown.place, middle, low, high, shown.colour, line="", marker="o"),
        Curve("" if shown.letter else "by chance", everywhere, chance, colour=shown.colour, line=":"),
    ]


def _chance(shown: Shown, m: int) -> float:
    return unrestricted(shown, "directions") * math.sqrt(shown.dim / m) if m > 0 else math.nan


def _rows(shown: Shown) -> list[tuple[object, ...]]:
    head = (shown.letter,) if shown.letter else ()
    return [(*head, kind, m, *_cells(values, _chance(shown, m))) for kind, m, values in _groups(shown)]


def _cells(values: Numbers, chance: float) -> tuple[str, ...]:
    median, met = median_of(values), np.isfinite(values)
    ends = (number(percentile_of(values, share)) for share in (0.05, 0.95))
    found = f"{percent(float(met.mean()))} of {len(values):,}"
    return (str(median), *ends, number(chance), number(median.value / chance), found)


def _spoken(runs: Sequence[Shown]) -> str:
    """How the widest subspace compares with chance, in words."""
    return " ".join(filter(None, (_compared(shown, *_groups(shown)[-1]) for shown in runs)))


def _compared(shown: Shown, kind: str, m: int, values: Numbers) -> str:
    chance, median = _chance(shown, m), median_of(values)
    where = "along random directions" if m == 1 else f"in random subspaces of {m:,} dimensions"
    if not math.isfinite(median.value):
        return f"{shown.lead}No boundary was found {where} for half of the samples or more."
    if not chance > 0:
        return ""
    ratio = number(median.value / chance)
    return f"{shown.lead}The median margin {where} is {median} in ℓ2, {ratio} times what chance predicts."


DIRECTIONS = Section("directions", "Random directions", _tell)
