"""Whether more effort, or no gradient at all, finds nearer boundaries than the margins of a run."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from separatrix.report.finding import Finding, Question, rows_with
from separatrix.report.numbers import median_of
from separatrix.report.shown import Numbers, Shown, column

_SHORTENED = 0.05  # twice what the best search known shortens the margins of sound networks by in the median
_BLIND = 0.99  # of the margin: a hair's breadth is no other boundary


def of_controls(shown: Shown) -> Iterator[Finding]:
    """Twice the steps, three starts, and lines that need no gradient."""
    yield _effort(shown, "doubled", "Twice the steps", "Twice the steps and slides shorten the margin")
    yield _effort(shown, "starts", "Three starts", "The shortest of three walks shortens the margin")
    yield _blind(shown)


def _effort(shown: Shown, name: str, title: str, words: str) -> Finding:
    asked = Question(
        f"controls-{name}",
        f"{title}: hardly shorter",
        "The search has converged: margins do not hinge on its effort.",
        "The search has not converged: margins are too long, and more steps or starts are called for.",
    )
    rows = rows_with(shown, "controls", "l2", name)
    usual, other = _pair(shown, name)
    if rows is None or not len(usual):
        return asked.unasked("controls")
    shortened = np.where(np.isinf(usual), 1.0, 1 - other / np.where(usual > 0, usual, 1))
    return asked.by_median(words, median_of(np.where(usual > 0, shortened, 0.0), most=1.0), _SHORTENED)


def _blind(shown: Shown) -> Finding:
    asked = Question(
        "controls-gradient-free",
        "No nearer boundary without gradients",
        "Searches that see only answers never do better than gradients: no sign that gradients are masked.",
        "Searches that see only answers do better: gradients are masked, and the margins are not to be believed.",
    )
    rows = rows_with(shown, "controls", "l2", "gradient_free")
    usual, other = _pair(shown, "gradient_free")
    if rows is None or not len(usual):
        return asked.unasked("controls")
    # lines are no match for gradients in many dimensions: a single one that wins is a sign
    return asked.by_share("samples have a nearer boundary on a line searched blindly", other < _BLIND * usual, 0.0)


def _pair(shown: Shown, name: str) -> tuple[Numbers, Numbers]:
    """Usual and other lengths of the samples for which either search found something."""
    rows = rows_with(shown, "controls", "l2", name)
    if rows is None:
        return np.empty(0), np.empty(0)
    usual, other = column(rows, "l2"), column(rows, name)
    known = ~np.isnan(usual) & ~np.isnan(other) & ~(np.isinf(usual) & np.isinf(other))
    return usual[known], np.minimum(other[known], usual[known]) if name != "gradient_free" else other[known]
