"""Robustness: the share of samples that withstand an attack of a given size."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from separatrix.plots.overlaid import Curve, curves
from separatrix.report.behind import distances
from separatrix.report.drawing import plain_text
from separatrix.report.numbers import Estimate, number, percents, share_of
from separatrix.report.sections.margins import correct
from separatrix.report.shown import Numbers, Shown, flags, numbers, whole
from separatrix.report.told import Figure, Section, Table, Told

_MEANING = (
    "Robust accuracy: the share of samples that are answered correctly and still are after an attack that may change "
    "them by a radius, within the range of valid inputs. An attack only ever shows a weakness, so that every curve is "
    "an upper bound. Beside them stands the bound that margins give: the share of samples answered correctly whose "
    "margin exceeds the radius. It is an upper bound on robust accuracy where changes may leave the valid range."
)
_MARGINS = {"ℓ2": "l2", "ℓ∞": "linf"}
_LINES = {"PGD": "-", "FGSM": "--"}

Attacked = dict[tuple[str, float], Estimate]
"""Robust accuracy by method and radius."""


def _tell(runs: Sequence[Shown]) -> Told:
    norms = list(dict.fromkeys(str(norm) for shown in runs for norm in shown.held("robustness").values("norm")))
    found = {norm: {shown.place: _robust(shown, norm) for shown in runs} for norm in norms}
    figures = tuple(_figure(runs, norm, place, found[norm]) for place, norm in enumerate(norms))
    sentences = (_spoken(shown, norm, found[norm][shown.place]) for shown in runs for norm in norms)
    return Told((_MEANING,), figures=figures, highlights=tuple(filter(None, sentences)))


def _robust(shown: Shown, norm: str) -> Attacked:
    """Robust accuracy by method and radius, in one norm; at radius 0 it is accuracy."""
    rows = shown.held("robustness").where("norm", norm)
    labels = shown.labels_of(whole(rows["id"]))
    right = np.where(labels >= 0, whole(rows["own"]) == labels, np.nan).astype(float)
    robust = np.where(flags(rows["fooled"]), np.minimum(right, 0.0), right)
    radius, found = numbers(rows["radius"]), {}
    for name in rows.values("method"):
        of_method = rows["method"] == name
        attacked = np.flatnonzero(of_method)
        found[str(name), 0.0] = share_of(right[attacked[np.unique(rows["id"][attacked], return_index=True)[1]]])
        for size in np.unique(radius[of_method & np.isfinite(radius)]):
            found[str(name), float(size)] = share_of(robust[of_method & (radius == size)])
    return found


def _bound(shown: Shown, norm: str, radii: Numbers) -> list[Estimate]:
    """Share of the samples answered correctly whose margin exceeds each radius; none where margins are missing."""
    rows, name = shown.rows("margins"), _MARGINS.get(norm, "")
    if rows is None or name not in rows.columns:
        return []
    distance, right = distances(rows, name), correct(shown).values
    known = ~np.isnan(distance) & ~np.isnan(right)
    return [share_of(((right[known] > 0) & (distance[known] > radius)).astype(float)) for radius in radii]


def _figure(runs: Sequence[Shown], norm: str, place: int, found: dict[int, Attacked]) -> Figure:
    radii = np.array(sorted({radius for each in found.values() for _, radius in each}))
    unit = runs[0].unit_of("robustness", "radius")
    spoken = " ".join(_spoken(shown, norm, found[shown.place]) for shown in runs)
    drawn = [curve for shown in runs for curve in _curves(shown, norm, found[shown.place], radii)]
    return Figure(
        f"robustness-{place}",
        f"Robust accuracy in {norm}",
        f"Robust accuracy against the radius in {norm}. {spoken}",
        partial(curves, drawn=drawn, label=f"radius, {norm}, {unit}", height="robust accuracy, % (upper bound)"),
        _table(runs, norm, found, radii, unit),
        "Shade: Wilson's interval at 95 %."
        + " Dotted: the bound from margins." * any(curve.line == ":" for curve in drawn),
    )


def _curves(shown: Shown, norm: str, found: Attacked, radii: Numbers) -> list[Curve]:
    methods = dict.fromkeys(method for method, _ in found)
    drawn = [
        _curve(shown, method, [(radius, share) for (name, radius), share in found.items() if name == method])
        for method in methods
    ]
    bound = _bound(shown, norm, radii)
    values = np.array([100 * share.value for share in bound])
    return [*drawn, Curve(_called(shown, "margins"), radii, values, colour=shown.colour, line=":")] if bound else drawn


def _curve(shown: Shown, method: str, points: Sequence[tuple[float, Estimate]]) -> Curve:
    at = np.array([radius for radius, _ in points])
    low, middle, high = (
        100 * np.array([getattr(share, name) for _, share in points]) for name in ("low", "value", "high")
    )
    line = _LINES.get(method, "-.")
    return Curve(_called(shown, method), at, middle, low, high, shown.colour, line, "o" if line == "-" else "s")


def _called(shown: Shown, what: str) -> str:
    return plain_text(f"{shown.lead}{what}")


def _table(runs: Sequence[Shown], norm: str, found: dict[int, Attacked], radii: Numbers, unit: str) -> Table:
    methods = list(dict.fromkeys(method for each in found.values() for method, _ in each))
    head = ["radius", *(f"{shown.lead}{name}" for shown in runs for name in (*methods, "bound from margins"))]
    bounds = {shown.place: _bound(shown, norm, radii) for shown in runs}
    held = [(found[shown.place], bounds[shown.place]) for shown in runs]
    rows = [
        (
            _radius(runs, norm, radius),
            *(cell for each, bound in held for cell in _cells(methods, each, bound, place, radius)),
        )
        for place, radius in enumerate(radii.tolist())
    ]
    counts = " and ".join(dict.fromkeys(f"{s.count:,}" for each in found.values() for s in each.values()))
    caption = f"Robust accuracy in {norm} by radius ({unit}), with Wilson's intervals at 95 %; {counts} samples"
    return Table(caption, tuple(head), tuple(rows))


def _cells(methods: Sequence[str], found: Attacked, bound: Sequence[Estimate], place: int, radius: float) -> list[str]:
    attacked = [percents(found[name, radius]) if (name, radius) in found else "–" for name in methods]
    return [*attacked, percents(bound[place]) if bound else "–"]


def _radius(runs: Sequence[Shown], norm: str, radius: float) -> str:
    """A radius in words; in parts of 255 too where inputs run from 0 to 1."""
    parts = round(4 * 255 * radius) / 4
    pixels = norm == "ℓ∞" and all(shown.bounds == (0.0, 1.0) for shown in runs)
    exact = pixels and radius > 0 and abs(255 * radius - parts) < 0.005 * parts
    return f"{number(radius)} ({parts:g}/255)" if exact else number(radius)


def _spoken(shown: Shown, norm: str, found: Attacked) -> str:
    """Robust accuracy at the middle radius of the strongest attack, in words."""
    method = next((name for name in ("PGD", "FGSM") if any(name == key for key, _ in found)), "")
    radii = [radius for name, radius in found if name == method and radius > 0]
    if not radii:
        return ""
    radius = radii[len(radii) // 2]
    share, unit = found[method, radius], shown.unit_of("robustness", "radius")
    size = _radius([shown], norm, radius)
    return (
        f"{shown.lead}Under {method} with {norm} radius {size} {unit}, {percents(share)} of {share.count:,} "
        "samples are still answered correctly (upper bound)."
    )


ROBUSTNESS = Section("robustness", "Robust accuracy", _tell)
