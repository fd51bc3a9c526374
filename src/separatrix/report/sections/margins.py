"""Margins: how far each sample's boundary is, and which class lies beyond."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from separatrix.plots.overlaid import Dot, dots, histogram, matrix
from separatrix.report.behind import Margins, distances, galleries, ranges
from separatrix.report.beside import Measured, median_row, median_tile, share_row, table
from separatrix.report.drawing import distinct, plain_text
from separatrix.report.numbers import Estimate, median_of, number, percent, percentile_of, percents, share_of
from separatrix.report.shown import NORMS, Numbers, Shown, column, whole
from separatrix.report.told import Figure, Gallery, Section, Table, Tile, Told
from separatrix.tables import Rows

_ROWS, _LEAST = 14, 6  # classes in a figure; samples that a class needs to be shown: fewer have no interval


def margins_of(norm: str, shown: Shown) -> Measured:
    """Distance of each sample in a norm."""
    rows = held(shown)
    return Measured(whole(rows["id"]), distances(rows, norm))


def correct(shown: Shown) -> Measured:
    """Whether each sample is answered as it is labelled; NaN where there is no label."""
    rows = held(shown)
    ids = whole(rows["id"])
    labels = shown.labels_of(ids)
    return Measured(ids, np.where(labels >= 0, (whole(rows["own"]) == labels).astype(float), np.nan))


def held(shown: Shown) -> Rows:
    """The run's margins."""
    return shown.held("margins")


def _tell(runs: Sequence[Shown]) -> Told:
    norms = [norm for norm in NORMS if any(norm in held(shown).columns for shown in runs)]
    by_class = _by_class(runs, norms)
    nowhere = _nowhere(runs, norms)
    enough = by_class or len(nowhere) == len(norms)
    few = () if enough else (f"Too few samples for margins by class: no two classes have {_LEAST} of them.",)
    return Told(
        paragraphs=(_meaning(runs, norms), *few, *nowhere),
        tables=tuple(_numbers(runs, norms)),
        figures=(*_distributions(runs, norms), *by_class, *_beyond(runs, norms)),
        tiles=tuple(_tiles(runs, norms)),
        highlights=tuple(sentence for shown in runs for sentence in _highlights(shown, norms)),
    )


def _unit(runs: Sequence[Shown], norm: str) -> str:
    return runs[0].unit_of("margins", norm)


def _meaning(runs: Sequence[Shown], norms: Sequence[str]) -> str:
    named = " and ".join(NORMS[norm] for norm in norms)
    return (
        f"For each sample, the shortest change found, measured in {named}, after which the model gives another answer "
        "than its own, right or wrong. Every distance is an upper bound: a change of that length was found and "
        "checked, and a shorter one may exist. Changes may leave the range of valid inputs; nothing confines them. "
        "Samples for which no boundary was found count as infinitely far."
    )


def _numbers(runs: Sequence[Shown], norms: Sequence[str]) -> list[Table]:
    rows, shares = [], []
    for norm in norms:
        name, unit = NORMS[norm], _unit(runs, norm)
        rows.append(median_row(f"{name}, all samples", runs, partial(margins_of, norm)))
        rows.append(median_row(f"{name}, answered correctly", runs, partial(_answered, norm, True)))
        rows.append(median_row(f"{name}, answered wrongly", runs, partial(_answered, norm, False)))
        shares.append(share_row(f"boundary found in {name}", runs, partial(_found, norm)))
    shares.append(share_row("answered correctly", runs, correct))
    medians = table(f"Median margins, {unit} (upper bounds)", runs, rows, "samples") if norms else None
    return [each for each in (medians, table("Shares of the samples", runs, shares, "share")) if each]


def _answered(norm: str, right: bool, shown: Shown) -> Measured:
    return margins_of(norm, shown).chosen(correct(shown).values == float(right))


def _found(norm: str, shown: Shown) -> Measured:
    measured = margins_of(norm, shown)
    return Measured(measured.ids, np.where(np.isnan(measured.values), np.nan, np.isfinite(measured.values)))


def _tiles(runs: Sequence[Shown], norms: Sequence[str]) -> list[Tile]:
    tiles = [
        median_tile(f"median {NORMS[norm]} margin, {_unit(runs, norm)}", runs, partial(margins_of, norm))
        for norm in norms
    ]
    accuracy = [(shown.letter, share_of(correct(shown).values)) for shown in runs]
    known = tuple(
        (letter, percent(share.value), f"{100 * share.low:.1f} to {100 * share.high:.1f} %, {share.count:,} samples")
        for letter, share in accuracy
        if share.count
    )
    return [*tiles, Tile("answered correctly, of these samples", known)] if known else tiles


def _distributions(runs: Sequence[Shown], norms: Sequence[str]) -> list[Figure]:
    measured, labels = {}, {}
    drawn = [norm for norm in norms if _any_found(runs, norm)]
    for norm in drawn:
        edges = ranges([distances(held(shown), norm) for shown in runs])
        measured[norm] = [Margins(shown, norm, held(shown), edges) for shown in runs]
        labels[norm] = _bar_labels(measured[norm], edges)
    behind = galleries(measured, labels)
    return [_distribution(runs, norm, measured[norm], behind[norm]) for norm in drawn]


def _any_found(runs: Sequence[Shown], norm: str) -> bool:
    return any(bool(np.isfinite(distances(held(shown), norm)).any()) for shown in runs)


def _nowhere(runs: Sequence[Shown], norms: Sequence[str]) -> list[str]:
    """In which norms there is nothing to draw, in words."""
    count = " and ".join(dict.fromkeys(f"{len(held(shown)):,}" for shown in runs))
    names = [NORMS[norm] for norm in norms if not _any_found(runs, norm)]
    return [
        f"In {name} no boundary was found for any of the {count} samples: there are no margins to draw."
        for name in names
    ]


def _bar_labels(measured: Sequence[Margins], edges: Numbers) -> list[str]:
    counts = [(margins.shown.letter, margins.counts) for margins in measured]
    beyond = any(float(np.max(m.distance, where=np.isfinite(m.distance), initial=0.0)) > edges[-1] for m in measured)
    labels = []
    for place, (low, high) in enumerate(pairwise(edges)):
        last = beyond and place == len(edges) - 2
        there = ", ".join(f"{letter} {count[place]:,}".strip() for letter, count in counts)
        end, many = "and more" if last else f"to {number(high)}", "" if there == "1" else "s"
        labels.append(f"{number(low)} {end}: {there} sample{many}")
    return labels


def _distribution(runs: Sequence[Shown], norm: str, measured: Sequence[Margins], gallery: Gallery) -> Figure:
    edges, several = measured[0].edges, len(runs) > 1
    totals = [max(len(margins.rows), 1) for margins in measured]
    medians = {m.shown.name: median_of(m.distance) for m in measured}
    shares = {
        plain_text(m.shown.name): m.counts / total * 100 if several else m.counts.astype(float)
        for m, total in zip(measured, totals, strict=True)
    }
    unit, name = _unit(runs, norm), NORMS[norm]
    return Figure(
        f"margins-{norm}",
        f"Margins in {name}",
        f"Histogram of {name} margins. " + " ".join(_in_words(m, medians[m.shown.name]) for m in measured),
        partial(
            histogram,
            edges=edges,
            heights=shares,
            label=f"distance to the boundary, {name}, {unit} (upper bounds)",
            height="% of samples" if several else "samples",
            lines={key: median.value for key, median in medians.items()},
        ),
        Table(
            f"Samples by {name} margin, {unit}",
            ("from", "to", *(f"samples {m.shown.letter}".strip() for m in measured)),
            tuple(
                (number(low), number(high), *(int(m.counts[place]) for m in measured))
                for place, (low, high) in enumerate(pairwise(edges))
            ),
        ),
        " ".join(_in_words(m, medians[m.shown.name]) for m in measured) + _dashed(list(medians.values())),
        gallery,
    )


def _dashed(medians: Sequence[Estimate]) -> str:
    return " Dashed: the median." if any(np.isfinite(median.value) for median in medians) else ""


def _in_words(margins: Margins, median: Estimate) -> str:
    distance = margins.distance
    lost, unknown = int(np.isposinf(distance).sum()), int(np.isnan(distance).sum())
    low, high = percentile_of(distance, 0.05), percentile_of(distance, 0.95)
    text = (
        f"{margins.shown.lead}{len(distance):,} samples, median {median}, 5 % within {number(low)}, 95 % within "
        f"{number(high)}; no boundary found for {lost:,}"
    )
    return f"{text}; no number for {unknown:,}." if unknown else f"{text}."


def _by_class(runs: Sequence[Shown], norms: Sequence[str]) -> list[Figure]:
    found = {norm: [(shown, _class_medians(shown, norm)) for shown in runs] for norm in norms}
    enough = {
        norm: each
        for norm, each in found.items()
        if _any_found(runs, norm) and any(len(medians) > 1 for _, medians in each)
    }
    return [_classes_figure(norm, each, _unit(runs, norm)) for norm, each in enough.items()]


def _class_medians(shown: Shown, norm: str) -> dict[str, Estimate]:
    """The median margin of each answer that enough samples got, the nearest first."""
    rows, distance = held(shown), distances(held(shown), norm)
    own = whole(rows["own"])
    labels, counts = np.unique(own[own >= 0], return_counts=True)
    medians = {
        shown.class_name(int(label)): median_of(distance[own == label])
        for label, count in zip(labels, counts, strict=True)
        if count >= _LEAST
    }
    return dict(sorted(medians.items(), key=lambda entry: entry[1].value))


def _classes_figure(norm: str, found: Sequence[tuple[Shown, dict[str, Estimate]]], unit: str) -> Figure:
    everyone = list(dict.fromkeys(name for _, medians in found for name in medians))
    chosen, name = everyone[:_ROWS], NORMS[norm]
    named = dict(zip(chosen, distinct(chosen, 18), strict=True))
    drawn = [
        Dot(named[each], median.value, median.low, _end(median), shown.colour, _legend(shown))
        for each in chosen
        for shown, medians in found
        if (median := medians.get(each)) is not None and np.isfinite(median.value)
    ]
    few = "" if len(everyone) <= _ROWS else f" The {_ROWS} nearest of {len(everyone)} classes are drawn."
    head = tuple(f"median {shown.letter} (95 % interval)".replace("  ", " ") for shown, _ in found)
    nearest, farthest = everyone[0], everyone[-1]
    return Figure(
        f"classes-{norm}",
        f"Margins in {name}, by the class that the model answers",
        f"Median {name} margin of each class with its interval; nearest is {nearest}, farthest is {farthest}.",
        partial(dots, drawn=drawn, label=f"median {name} margin, {unit} (upper bound), 95 % interval"),
        Table(
            f"Median {name} margin by class, {unit}",
            ("class answered", *head, "samples"),
            tuple(
                (each, *(str(m[each]) if each in m else "–" for _, m in found), _counts([m for _, m in found], each))
                for each in everyone
            ),
        ),
        f"Median and its 95 % interval, of classes that at least {_LEAST} samples are answered as.{few}",
        height=90 + 28 * len(chosen),
    )


def _legend(shown: Shown) -> str:
    return plain_text(shown.name) if shown.letter else ""


def _counts(medians: Sequence[dict[str, Estimate]], name: str) -> str:
    return " and ".join(dict.fromkeys(f"{each[name].count:,}" for each in medians if name in each))


def _end(estimate: Estimate) -> float:
    return estimate.high if np.isfinite(estimate.high) else estimate.value


def _beyond(runs: Sequence[Shown], norms: Sequence[str]) -> list[Figure]:
    return [
        figure for norm in norms[:1] for shown in runs if (figure := _matrix(shown, norm, shown.letter)) is not None
    ]


def _pairs(shown: Shown, norm: str) -> dict[tuple[int, int], int]:
    """How many samples have each pair of own class and class beyond, the most frequent first."""
    rows = held(shown)
    own, rival = whole(rows["own"]), whole(column(rows, f"{norm}_rival"))
    there = np.isfinite(distances(rows, norm)) & (own >= 0) & (rival >= 0)
    pairs, counts = np.unique(np.stack([own[there], rival[there]], axis=1), axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return {(int(a), int(b)): int(count) for (a, b), count in zip(pairs[order], counts[order], strict=True)}


def _matrix(shown: Shown, norm: str, letter: str) -> Figure | None:
    pairs = _pairs(shown, norm)
    if not pairs:
        return None
    own, rivals = (_frequent(pairs, place) for place in (0, 1))
    counts = np.array([[pairs.get((a, b), 0) for b in rivals] for a in own], dtype=float)
    (first, second), most = next(iter(pairs.items()))
    total, drawn, name = sum(pairs.values()), int(counts.sum()), NORMS[norm]
    left = "" if drawn == total else f" Drawn are the {_ROWS} most frequent classes: {drawn:,} of {total:,} samples."
    down, across = (distinct([shown.class_name(label) for label in labels], 14) for labels in (own, rivals))
    draw: Callable[..., None] = partial(
        matrix, counts=counts, rows=down, columns=across, down="answered", across=f"class beyond, {name}"
    )
    return Figure(
        f"beyond-{norm}{f'-{letter.lower()}' if letter else ''}",
        f"Which class lies beyond the {name} boundary{f', {shown.name}' if letter else ''}",
        f"Samples by class answered and class beyond. Most frequent: {shown.class_name(first)} to "
        f"{shown.class_name(second)}, {most:,} of {total:,} samples.",
        draw,
        Table(
            f"Class answered and class beyond the {name} boundary",
            ("class answered", "class beyond", "samples"),
            tuple((shown.class_name(a), shown.class_name(b), count) for (a, b), count in pairs.items()),
        ),
        f"Rows: the class that the model answers; columns: the class on the other side; numbers: samples.{left}",
        height=130 + 27 * len(own),
    )


def _frequent(pairs: dict[tuple[int, int], int], place: int) -> list[int]:
    """The classes at one place of the pairs that most samples have, in the order of their numbers."""
    counts: dict[int, int] = {}
    for pair, count in pairs.items():
        counts[pair[place]] = counts.get(pair[place], 0) + count
    return sorted(sorted(counts, key=lambda label: -counts[label])[:_ROWS])


def _highlights(shown: Shown, norms: Sequence[str]) -> list[str]:
    return [
        sentence for norm in norms[:1] for sentence in (_extremes(shown, norm), _commonest(shown, norm)) if sentence
    ]


def _extremes(shown: Shown, norm: str) -> str:
    """The classes nearest to their boundary and farthest from it, in words."""
    medians = list(_class_medians(shown, norm).items())
    if len(medians) < 2 or not np.isfinite(medians[0][1].value):
        return ""
    (near, low), (far, high) = medians[0], medians[-1]
    return (
        f"{shown.lead}Answers “{near}” are nearest to their boundary (median {NORMS[norm]} margin {low}), answers "
        f"“{far}” farthest ({high})."
    )


def _commonest(shown: Shown, norm: str) -> str:
    """Which two classes the boundary met most often lies between, in words."""
    pairs = _pairs(shown, norm)
    if not pairs:
        return ""
    ((own, rival), count), total = next(iter(pairs.items())), sum(pairs.values())
    if count < 2:
        return ""
    share = percents(share_of(np.repeat([1.0, 0.0], [count, total - count])))
    return (
        f"{shown.lead}The boundary met most often leads from “{shown.class_name(own)}” to "
        f"“{shown.class_name(rival)}”: {share} of {total:,} samples."
    )


MARGINS = Section("margins", "Margins", _tell)
