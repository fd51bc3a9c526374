"""The samples behind the bars of a histogram of margins."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from separatrix.report.numbers import number
from separatrix.report.pictures import added_uri, beyond_uri, drawable, image_uri
from separatrix.report.shown import Numbers, Shown, Whole, column, flags, whole
from separatrix.report.told import Bar, Card, Gallery, Picture
from separatrix.tables import Rows

PICTURED, LISTED = 6, 10
"""How many samples are shown behind a bar: as pictures, and as lines of a table."""

_Scale = tuple[float, float]
_Stored = tuple[float, int, Tensor, Tensor, _Scale | None]  # distance, id, picture, what is added, its black and white


@dataclass(frozen=True, eq=False)
class Margins:
    """Margins of one run in one norm, and the range each falls into.

    Args:
        shown: The run.
        norm: As its columns are called: ``"l2"`` or ``"linf"``.
        rows: Its table.
        edges: Ends of the ranges ``(k + 1,)``; the last one holds whatever lies beyond.
    """

    shown: Shown
    norm: str
    rows: Rows
    edges: Numbers

    @cached_property
    def ids(self) -> Whole:
        """The samples ``(n,)``."""
        return whole(self.rows["id"])

    @cached_property
    def distance(self) -> Numbers:
        """How far the boundary is ``(n,)``; infinite where none was found, NaN where that is not known."""
        return distances(self.rows, self.norm)

    @cached_property
    def bins(self) -> Whole:
        """The range each falls into ``(n,)``; −1 for those without a boundary."""
        distance, last = self.distance, len(self.edges) - 2
        with_one = np.isfinite(distance)
        places = np.searchsorted(self.edges, np.where(with_one, distance, 0.0), side="right") - 1
        return np.where(with_one, places.clip(0, last), -1)

    @cached_property
    def counts(self) -> Whole:
        """How many fall into each range."""
        bins = self.bins
        return np.bincount(bins[bins >= 0], minlength=len(self.edges) - 1)


def distances(rows: Rows, norm: str) -> Numbers:
    """How far the boundary is in a norm ``(n,)``; infinite where none was found, NaN where that is not known."""
    distance = column(rows, norm)
    lost = ~flags(rows[f"{norm}_found"]) if f"{norm}_found" in rows.columns else np.isposinf(distance)
    return np.where(lost & ~np.isnan(distance), np.inf, np.where(distance >= 0, distance, np.nan))


def galleries(measured: Mapping[str, Sequence[Margins]], labels: Mapping[str, Sequence[str]]) -> dict[str, Gallery]:
    """The samples behind the bars, in each norm; pictures are read once for all norms.

    Args:
        measured: By norm, the margins of each run.
        labels: By norm, what each bar is, in words.
    """
    runs = {margins.shown.letter: margins.shown for each in measured.values() for margins in each}
    stored = {
        letter: _stored({norm: one for norm, each in measured.items() for one in each if one.shown is shown})
        for letter, shown in runs.items()
    }
    return {norm: _gallery(each, labels[norm], stored) for norm, each in measured.items()}


def _gallery(
    measured: Sequence[Margins], labels: Sequence[str], stored: Mapping[str, dict[tuple[str, int], list[_Stored]]]
) -> Gallery:
    bars = []
    for place, label in enumerate(labels):
        cards = [card for margins in measured for card in _cards(margins, place, stored[margins.shown.letter])]
        bars.append(Bar(label, tuple(cards)))
    shown = [len(card.pictures) for bar in bars for card in bar.cards if card.pictures]
    beyond = _BEYOND if shown and min(shown) == 3 else _NOT_BEYOND
    return Gallery(tuple(bars), _PICTURES + beyond if shown else _LINES)


_PICTURES = (
    f"Behind each bar are up to {PICTURED} samples of each run, the nearest of those whose pictures the run keeps; "
    f"where it keeps none, the {LISTED} nearest in words. "
    "What is added is drawn on a scale of its own (blue: darker, red: brighter; for colour images around mid-grey), so "
    "that it can be seen at all"
)
_BEYOND = "; in the image beyond it has its true size."
_NOT_BEYOND = ". Where the run does not know the scale of a picture, the image beyond the boundary is not drawn."
_LINES = f"Behind each bar are its {LISTED} nearest samples of each run. There are no pictures of them in the run."


def _cards(margins: Margins, place: int, stored: Mapping[tuple[str, int], list[_Stored]]) -> list[Card]:
    held = stored.get((margins.norm, place), [])
    if held:
        rows = [int(np.flatnonzero(margins.ids == entry[1])[0]) for entry in held]
        return [_card(margins, row, _pictures(margins, row, entry)) for row, entry in zip(rows, held, strict=True)]
    there = np.flatnonzero(margins.bins == place)
    nearest = there[np.argsort(margins.distance[there], kind="stable")][:LISTED]
    return [_card(margins, int(row)) for row in nearest]


def _card(margins: Margins, row: int, pictures: tuple[Picture, ...] = ()) -> Card:
    shown, sample = margins.shown, int(margins.ids[row])
    unit = shown.unit_of("margins", margins.norm)
    own, rival = _classes(margins, row)
    label = shown.class_name(int(shown.labels_of(np.array([sample]))[0]))
    return Card(shown.letter, str(sample), own, rival, label, f"{number(margins.distance[row])} {unit}", pictures)


def _classes(margins: Margins, row: int) -> tuple[str, str]:
    here = Rows({name: held[row : row + 1] for name, held in margins.rows.columns.items()})
    held = (column(here, name)[0] for name in ("own", f"{margins.norm}_rival"))
    own, rival = (margins.shown.class_name(float(label)) for label in held)
    return own, rival


def _pictures(margins: Margins, row: int, entry: _Stored) -> tuple[Picture, ...]:
    _, sample, start, added, scale = entry
    own, rival = _classes(margins, row)
    pictures = [
        Picture(image_uri(start), f"Sample {sample}, answered {own}"),
        Picture(added_uri(added), "What is added, on a scale of its own"),
    ]
    if scale := scale or margins.shown.bounds:
        beyond = beyond_uri(start, added, scale)
        pictures.append(Picture(beyond, f"Sample {sample} beyond the boundary, answered {rival}"))
    return tuple(pictures)


def _stored(measured: Mapping[str, Margins]) -> dict[tuple[str, int], list[_Stored]]:
    """The nearest samples with pictures, by norm and bar; one unit's tensors are held at a time."""
    shown = next(iter(measured.values())).shown
    places = {norm: _places(margins) for norm, margins in measured.items()}
    kept: dict[tuple[str, int], list[_Stored]] = {}
    for part in shown.parts("margins"):
        for norm, (bins, distance) in places.items():
            _keep(kept, norm, bins, distance, part)
    return kept


def _places(margins: Margins) -> tuple[dict[int, int], dict[int, float]]:
    ids = margins.ids.tolist()
    return dict(zip(ids, margins.bins.tolist(), strict=True)), dict(zip(ids, margins.distance.tolist(), strict=True))


def _keep(
    kept: dict[tuple[str, int], list[_Stored]],
    norm: str,
    bins: Mapping[int, int],
    distance: Mapping[int, float],
    part: Mapping[str, Tensor],
) -> None:
    ids, start, added = part.get("id"), part.get("start"), part.get(f"{norm}_added")
    if ids is None or start is None or added is None or not drawable(start) or start.shape != added.shape:
        return
    for row, sample in enumerate(ids.tolist()):
        place, length = bins.get(sample, -1), distance.get(sample, math.inf)
        held = kept.setdefault((norm, place), []) if place >= 0 else []
        if place < 0 or (len(held) == PICTURED and held[-1][0] <= length):
            continue
        held.append((length, sample, start[row].clone(), added[row].clone(), _scale(part, row)))
        held.sort(key=lambda entry: entry[:2])
        del held[PICTURED:]


def _scale(part: Mapping[str, Tensor], row: int) -> _Scale | None:
    """What a picture's black and white stand for, where its run says so."""
    low, high = (part.get(name) for name in ("low", "high"))
    ends = None if low is None or high is None else (float(low[row]), float(high[row]))
    return ends if ends and ends[0] < ends[1] else None


def ranges(measured: Sequence[NDArray[np.float64]], bars: int = 24) -> Numbers:
    """Common ranges for several sets of margins: equal steps up to their 99th percentile, the last for all beyond."""
    known = np.concatenate([np.asarray(values)[np.isfinite(values)] for values in measured])
    if not len(known) or known.max() <= 0:
        return np.linspace(0.0, 1.0, 2)
    ordered = np.sort(known)
    most, usual = float(ordered[-1]), float(ordered[math.ceil(0.99 * len(ordered)) - 1])
    top = usual * bars / (bars - 1) if most > 1.5 * usual > 0 else most
    return np.linspace(0.0, top, max(min(bars, math.ceil(2 * math.sqrt(len(known)))), 4) + 1)
