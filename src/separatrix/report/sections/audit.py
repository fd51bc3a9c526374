"""Audit: what was checked about the model and the measurements, with evidence, failures first."""

from __future__ import annotations

from collections.abc import Sequence

from separatrix.report.findings import findings
from separatrix.report.shown import Shown
from separatrix.report.told import Point, Section, Tile, Told

_ORDER = ("failed", "passed", "not asked")
_MEANING = (
    "Whether the numbers below can be trusted: what was checked about the model before anything was measured, and "
    "about the measurements afterwards. What failed stands first; each with what was seen."
)


def _tell(runs: Sequence[Shown]) -> Told:
    found = {shown.letter: _points(shown) for shown in runs}
    points = sorted((point for each in found.values() for point in each), key=lambda point: _ORDER.index(point.verdict))
    tile = Tile("checks failed", tuple((letter, *_counted(each)) for letter, each in found.items()))
    failed = tuple(_sentence(shown, found[shown.letter]) for shown in runs)
    return Told((_MEANING,) if points else (), tuple(points), tiles=(tile,) if points else (), highlights=failed)


def _points(shown: Shown) -> list[Point]:
    return [
        Point(found.verdict, found.title, found.value, found.evidence, found.samples, shown.letter)
        for found in findings(shown.run)
    ]


def _counted(points: Sequence[Point]) -> tuple[str, str]:
    failed, asked = (sum(point.verdict in which for point in points) for which in (("failed",), ("failed", "passed")))
    return f"{failed}", f"of {asked} made"


def _sentence(shown: Shown, points: Sequence[Point]) -> str:
    failed = [point.title for point in points if point.verdict == "failed"]
    asked = sum(point.verdict != "not asked" for point in points)
    if not failed:
        return f"{shown.lead}All {asked} checks of model and measurements passed." if asked else ""
    return f"{shown.lead}{len(failed)} of {asked} checks failed: {', '.join(failed)}. Read the audit before any number."


AUDIT = Section("audit", "Audit", _tell, required=False, also=("controls",))
