"""Whether the other tables of a run agree with its margins: subspaces, lines and attacks of bounded length."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from separatrix.report.finding import Finding, Question, margins_by_id, rows_with
from separatrix.report.numbers import percent, percents, share_of
from separatrix.report.shown import NORMS, Shown, column, flags, whole
from separatrix.tables import Rows

_SHORTER = 0.97  # of the margin: what two searches that both arrived may differ by
_WITHIN = 0.02  # a search in a smaller space may find what the wider one has missed for so many
_SINGLE = 0.02  # attacks from random starts miss a few samples that a single step fools
_BELOW = 0.9  # of the margin: nine in ten margins are within 5 % of the best known
_BELOW_SHARE = 0.02
_ABOVE = 1.05  # of the margin: well inside the radius
_METHODS = ("FGSM", "PGD")


def of_others(shown: Shown) -> Iterator[Finding]:
    """Order relations with the margins, and of attacks with each other."""
    yield _within(shown, "bands", "Margins within bands of frequencies")
    yield _within(shown, "directions", "Margins along lines and in random subspaces")
    yield _single_step(shown, "linf")
    for norm in NORMS:
        yield _below(shown, norm)
        yield _above(shown, norm)


def _within(shown: Shown, table: str, title: str) -> Finding:
    asked = Question(
        f"order-{table}",
        f"{title} never shorter",
        "Where fewer directions are allowed, lengths are no shorter: the unrestricted search missed nothing of theirs.",
        "Boundaries were met there that the unrestricted search missed: its margins are too long.",
    )
    rows = rows_with(shown, table, "id", "distance")
    if rows is None:
        return asked.unasked(table)
    ids = whole(rows["id"])
    distance, margin = column(rows, "distance"), margins_by_id(shown, "l2", ids)
    known = ~np.isnan(distance) & ~np.isnan(margin)
    if not known.any():
        return asked.unasked(f"{table} and margins")
    # the rows of one sample say much the same: a sample counts once, however many of them are shorter
    samples = np.unique(ids[known])
    shorter = np.isin(samples, ids[known & (distance < _SHORTER * margin)])
    found = "samples have a length that is shorter than their unrestricted margin by 3 % or more"
    return asked.by_share(found, shorter, _WITHIN)


def _single_step(shown: Shown, norm: str) -> Finding:
    asked = Question(
        f"single-step-{norm}",
        f"One step no stronger than many in {NORMS[norm]}",
        "Iterating helps the attack or leaves it as it is: no sign that gradients are masked.",
        "A single step beats an iterated attack: gradients are masked, or the iterated attack is badly set.",
    )
    attacks = _attacks(shown, norm)
    pairs = [] if attacks is None else [_paired(group) for group in attacks.groups("radius").values()]
    known = [(single, iterated) for single, iterated in pairs if len(single)]
    if not known:
        return asked.unasked("robustness with both attacks")
    single, iterated = max(known, key=lambda pair: float(pair[0].mean() - pair[1].mean()))
    missed = single & ~iterated
    gain = float(single.mean() - iterated.mean())
    # beaten on the whole, not on a few that the other attack makes up for elsewhere
    hits = missed if gain > 0 else np.zeros_like(missed)
    found = f"samples are fooled by one step and not by many, at the radius where that is worst ({percent(gain)} net)"
    return asked.by_share(found, hits, _SINGLE)


def _below(shown: Shown, norm: str) -> Finding:
    asked = Question(
        f"attacked-below-{norm}",
        f"Nothing fooled within the margin in {NORMS[norm]}",
        "Attacks of bounded length do not undercut the margins by much: they are nearly minimal.",
        "Attacks succeed well within the margin: the margins are too long.",
    )
    attacks = _attacks(shown, norm)
    if attacks is None:
        return asked.unasked("robustness")
    ids, radius, fooled = whole(attacks["id"]), column(attacks, "radius"), flags(attacks["fooled"])
    margin = margins_by_id(shown, norm, ids)
    known = ~np.isnan(margin)
    if not known.any():
        return asked.unasked("robustness and margins")
    samples = np.unique(ids[known])
    hits = np.isin(samples, ids[known & fooled & (radius < _BELOW * margin)])
    return asked.by_share("samples are fooled at a radius less than 0.9 of their margin", hits, _BELOW_SHARE)


def _above(shown: Shown, norm: str) -> Finding:
    asked = Question(
        f"attacked-above-{norm}",
        f"Attacks withstood beyond the margin in {NORMS[norm]}",
        "That is no fault of either: attacks stay inside the model's bounds, where a boundary may be farther.",
        "",
    )
    attacks = _attacks(shown, norm)
    if attacks is None:
        return asked.unasked("robustness")
    iterated = attacks.where("method", "PGD")
    ids, radius = whole(iterated["id"]), column(iterated, "radius")
    beyond = radius > _ABOVE * margins_by_id(shown, norm, ids)
    if not beyond.any():
        return asked.unasked("robustness and margins")
    reached = np.unique(ids[beyond])
    withstood = np.isin(reached, ids[beyond & ~flags(iterated["fooled"])])
    share = share_of(withstood.astype(np.float64))
    found = (
        f"{int(withstood.sum()):,} of {len(reached):,} samples withstood PGD at a radius beyond 1.05 of their margin."
    )
    return asked.told(percents(share), found, len(reached))


def _attacks(shown: Shown, norm: str) -> Rows | None:
    rows = rows_with(shown, "robustness", "id", "norm", "method", "radius", "fooled")
    chosen = None if rows is None else rows.where("norm", NORMS[norm])
    return chosen if chosen is not None and len(chosen) else None


def _paired(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Which samples one step and many steps fool at a radius, of those that both have attacked."""
    single, iterated = (rows.where("method", method) for method in _METHODS)
    _, ours, theirs = np.intersect1d(whole(single["id"]), whole(iterated["id"]), return_indices=True)
    return flags(single["fooled"])[ours], flags(iterated["fooled"])[theirs]
