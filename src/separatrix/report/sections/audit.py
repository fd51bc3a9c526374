"""Audit: what was checked about the model and the measurements, with evidence, failures first."""

from __future__ import annotations

from collections.abc import Sequence

from separatrix.report.findings import findings
from separatrix.report.shown import Shown
from separatrix.report.told import Point, Section, Tile, Told

_JUDGED = ("failed", "undecided", "passed")
_ORDER = (*_JUDGED, "told", "not asked")
_MEANING = (
    "Whether the numbers below can be trusted: what was checked about the model before anything was measured, and "
    "about the measurements afterwards. What failed stands first; each with what was seen."
)


def _tell(runs: Sequence[Shown]) -> Told:
    found = {shown.letter: _points(shown) for shown in runs}
    points = sorted((point for each in found.values() for point in each), key=lambda point: _ORDER.index(point.verdict))
    tile = Tile(
        "checks failed",
        tuple((shown.letter, *_counted(shown, found[shown.letter])) for shown in runs),
        tuple(letter for letter, each in found.items() if _titles(each, "failed")),
    )
    return Told(
        (_MEANING,) if points else (),
        tuple(points),
        tiles=(tile,) if points else (),
        highlights=tuple(_sentence(shown, found[shown.letter]) for shown in runs),
        warnings=tuple(warning for shown in runs if (warning := _warning(shown, found[shown.letter]))),
    )


def _points(shown: Shown) -> list[Point]:
    return [
        Point(found.verdict, found.title, found.value, found.evidence, found.samples, shown.letter)
        for found in findings(shown.run)
    ]


def _titles(points: Sequence[Point], *verdicts: str) -> list[str]:
    return [point.title for point in points if point.verdict in verdicts]


def _audited(shown: Shown) -> str:
    """Empty where the model was audited; otherwise that it was not, in words."""
    if shown.rows("audit") is not None:
        return ""
    return "not audited yet" if shown.progress("audit")[1] else "the model was not audited"


def _counted(shown: Shown, points: Sequence[Point]) -> tuple[str, str]:
    failed, made, lack = len(_titles(points, "failed")), len(_titles(points, *_JUDGED)), _audited(shown)
    undecided = len(_titles(points, "undecided"))
    words = [lack] * bool(lack) + [f"of {made} made"] * bool(made) + [f"{undecided} undecided"] * bool(undecided)
    return f"{failed}" if failed or not lack else "–", ", ".join(words)


def _warning(shown: Shown, points: Sequence[Point]) -> str:
    failed, made = _titles(points, "failed"), len(_titles(points, *_JUDGED))
    if not failed:
        return ""
    numbers = "the numbers below are doubtful" if shown.rows("margins") is not None else "whatever is below is doubtful"
    return f"{shown.lead}{len(failed)} of {made} checks failed, and {numbers}: {'; '.join(failed)}."


def _sentence(shown: Shown, points: Sequence[Point]) -> str:
    """What is to be known of the checks where none has failed."""
    failed, made, open_ = (_titles(points, *which) for which in (("failed",), _JUDGED, ("undecided",)))
    if failed:
        return ""
    lack = _audited(shown)
    if lack == "not audited yet":
        return f"{shown.lead}Not audited yet: whether the model can be measured at all is still to be checked."
    words = [f"{lack[:1].upper()}{lack[1:]}."] * bool(lack)
    what, so_far = "measurements" if lack else "model and measurements", "" if shown.complete else " so far"
    if open_:
        words.append(f"None of {len(made)} checks of {what} failed{so_far}; undecided: {'; '.join(open_)}.")
    elif made:
        words.append(f"All {len(made)} checks of {what} made{so_far} passed.".replace(" made passed", " passed"))
    return shown.lead + " ".join(words) if words else ""


AUDIT = Section("audit", "Audit", _tell, required=False, also=("controls",))
