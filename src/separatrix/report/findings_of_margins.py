"""What the margins of a run say about themselves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from separatrix.report.finding import Finding, Question, rows_with
from separatrix.report.numbers import percent, percents, share_of
from separatrix.report.shown import NORMS, Shown, column, flags, whole
from separatrix.report.told import Verdict

_AGAIN = 0.01  # one crossing in a hundred moves no percentile from the 5th to the 95th beyond its interval
_FOUND = 0.01  # likewise: a search without a bound should reach everything there is
_ALIGNED = 0.9  # below it, on a boundary that is flat, there is a perturbation shorter by a tenth
_MISALIGNED = {"l2": 0.25, "linf": 0.5}  # corners of a boundary are sound answers too; in ℓ∞ signs make many
_LONGER = 1.03  # what two searches that both arrived may differ by
_ABOVE_CHANCE = 1 / 3  # of the way from chance to no error: what even weak models reach
_ORDER = 0.02  # one norm's search may find what the other's has missed for so many


def of_margins(shown: Shown) -> Iterator[Finding]:
    """Whether answers are of this model, crossings cross, all are reached, and lengths agree between norms."""
    yield _labels(shown)
    for norm in NORMS:
        yield _again(shown, norm)
        yield _found(shown, norm)
        yield _alignment(shown, norm)
    for norm, other in (("linf", "l2"), ("l2", "linf")):
        yield _order(shown, norm, other)


def _labels(shown: Shown) -> Finding:
    asked = Question(
        "labels",
        "Better than guessing",
        "Inputs, units and names of classes go with this model.",
        "That is no better than guessing: inputs in other units, or classes in another order, look like that.",
    )
    rows = rows_with(shown, "margins", "id", "own")
    labels = None if rows is None else shown.labels_of(whole(rows["id"]))
    if rows is None or labels is None or not (labels >= 0).any():
        return asked.unasked("margins and samples")
    right = share_of((whole(rows["own"]) == labels)[labels >= 0].astype(np.float64))
    chance = 1 / max(len(shown.classes), int(labels.max()) + 1, 2)
    found = f"{percent(right.value)} of {right.count:,} samples are answered as they are labelled, {percent(chance)} "
    found += "would be by chance."
    # a model that goes with its data is far above chance: it has to show that, and few samples cannot
    far = chance + _ABOVE_CHANCE * (1 - chance)
    verdict: Verdict = "passed" if right.low > chance else "failed" if right.high < far else "undecided"
    return asked.judged(verdict, percents(right), found, right.count)


def _again(shown: Shown, norm: str) -> Finding:
    asked = Question(
        f"again-{norm}",
        f"Crossings in {NORMS[norm]} asked again",
        "Each length is that of a perturbation which changes the answer: an upper bound on the margin.",
        "These lengths are no upper bounds: the model's answers depend on when or with what it is asked.",
    )
    rows = rows_with(shown, "margins", f"{norm}_found", f"{norm}_again")
    if rows is None:
        return asked.unasked("margins")
    found = flags(rows[f"{norm}_found"])
    lost = ~flags(rows[f"{norm}_again"])[found]
    found_out = "crossings, asked again each by itself, had the sample's own answer after all"
    return asked.by_share(found_out, lost, _AGAIN, certain=True)


def _found(shown: Shown, norm: str) -> Finding:
    asked = Question(
        f"found-{norm}",
        f"Every sample reached in {NORMS[norm]}",
        "A search without a bound on its length reaches another answer from everywhere, as it should.",
        "A search without a bound should reach all: gradients may be masked, and the medians are too long.",
    )
    rows = rows_with(shown, "margins", f"{norm}_found")
    if rows is None:
        return asked.unasked("margins")
    return asked.by_share("samples were left without any crossing", ~flags(rows[f"{norm}_found"]), _FOUND)


def _alignment(shown: Shown, norm: str) -> Finding:
    asked = Question(
        f"alignment-{norm}",
        f"Shortest nearby in {NORMS[norm]}",
        "Most perturbations stand at right angles on the boundary: none nearby is shorter.",
        "Many perturbations do not stand at right angles on the boundary: shorter ones are likely to lie nearby.",
    )
    rows = rows_with(shown, "margins", f"{norm}_alignment", f"{norm}_found")
    alignment = np.empty(0) if rows is None else column(rows, f"{norm}_alignment")[flags(rows[f"{norm}_found"])]
    alignment = alignment[~np.isnan(alignment)]
    if not len(alignment):
        return asked.unasked("margins")
    found = f"perturbations have an alignment with the boundary's normal below {_ALIGNED:g}"
    return asked.by_share(found, alignment < _ALIGNED, _MISALIGNED[norm])


def _order(shown: Shown, norm: str, other: str) -> Finding:
    asked = Question(
        f"order-{norm}",
        f"Margins in {NORMS[norm]} not beaten by the search in {NORMS[other]}",
        f"The two searches agree: neither missed a boundary in {NORMS[norm]} that the other met.",
        f"The search in {NORMS[norm]} missed nearer boundaries: its margins are too long.",
    )
    rows = rows_with(shown, "margins", norm, f"{other}_{norm}")
    met = np.empty(0) if rows is None else column(rows, f"{other}_{norm}")
    usable = np.isfinite(met)
    if rows is None or not usable.any():
        return asked.unasked("margins")
    beaten = (column(rows, norm) > _LONGER * met)[usable]
    found = f"samples have a perturbation of the other search that is shorter in {NORMS[norm]} by 3 % or more"
    return asked.by_share(found, beaten, _ORDER)
