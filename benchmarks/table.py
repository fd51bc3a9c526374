"""Tables and the Pareto picture of a stored run: ``python -m benchmarks.table benchmarks/results/cpu.json``.

Writes ``<name>.md`` and ``<name>.png`` beside the file; every number in them is in the file. ``--docs`` puts the
tables of the stored runs that README and docs show into them.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

from benchmarks.claims import Row, dominating, raw_against_peers

COLUMNS = (
    ("n", "images", "d"),
    ("found", "found", ".1%"),
    ("median", "median", ".4f"),
    ("mean", "mean", ".4f"),
    ("ratio to best known", "ratio_median", ".3f"),
    ("its 90th percentile", "ratio_p90", ".3f"),
    ("… near the boundary", "near_ratio_p90", ".3f"),
    ("alignment", "alignment_median", ".3f"),
    ("forwards", "forwards", ".1f"),
    ("gradients", "gradients", ".1f"),
    ("seconds", "seconds", ".2f"),
    ("ideal seconds", "ideal_seconds", ".2f"),
    ("× floor", "floors", ".1f"),
)
NAMED = {"lenet": "LeNet", "mnist-lenet-robust": "Robust LeNet"}
SHORT = (
    "Separatrix DeepFool(5), raw",
    "Separatrix DeepFool(5) + slides",
    "Separatrix DeepFool + slides (default)",
    "adv-lib DeepFool",
    "adv-lib SuperDeepFool",
    "adv-lib DDN-100",
    "adv-lib FAB-100",
    "Foolbox DeepFool",
    "torchattacks DeepFool",
    "ART DeepFool, batches of 64",
)
HARD = (
    "Separatrix DeepFool(5), raw",
    "Separatrix DeepFool(5) + slides",
    "Separatrix DeepFool(5) + 40 slides",
    "Separatrix DDN(100), raw",
    "Separatrix DDN(100) + slides",
    "Separatrix Best of DeepFool(5), DDN(100)",
    "Separatrix Best of DeepFool(5), DDN(100), 3 starts",
    "adv-lib DeepFool",
    "adv-lib DDN-100",
    "adv-lib DDN-1000",
    "adv-lib FAB-100",
)
ROOT = Path(__file__).parents[1]
NORM_NAMES = {"l2": "ℓ2", "linf": "ℓ∞"}
OURS, PEERS = "#c2410c", "#64748b"
TICKS = (0.0001, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
BEST_DRAWN = 3e-4
"""Ratios are drawn as their excess over 1, those below this at this."""


def panels(rows: list[Row]) -> dict[tuple[str, str], list[Row]]:
    """Rows of each network and norm, cheapest first, failures last."""
    key = itemgetter("net", "norm")
    order = sorted(rows, key=lambda row: (key(row), row.get("floors", float("inf"))))
    return {panel: list(group) for panel, group in groupby(order, key)}


def markdown(record: dict) -> str:
    """Every row as a table, one a network and norm."""
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    parts = [f"Commit {record['commit']}, {record['date']}, {record['hardware']}; {versions}."]
    for (net, norm), rows in panels(record["rows"]).items():
        floor = record["floors"][net]["both"] * 1e6
        parts.append(f"### {net}, {NORM_NAMES[norm]}\n\nFloor: {floor:.1f} µs an image.\n\n{_table(rows)}")
        parts.append("\n".join(f"- {claim}" for claim in (*raw_against_peers(rows), *dominating(rows))))
    return "\n\n".join(parts) + "\n"


def short_table(record: dict, net: str, methods: Sequence[str], columns: Sequence[tuple[str, str, str]]) -> str:
    """A few methods on one network in ℓ2: a title, a key and a format a column."""
    named = {row["method"]: row for row in record["rows"] if (row["net"], row["norm"]) == (net, "l2")}
    rows = [[name, *(format(named[name][key], form) for _, key, form in columns)] for name in methods]
    return as_table([f"{NAMED[net]}, ℓ2", *(title for title, _, _ in columns)], rows)


def distrust_table(record: dict) -> str:
    """How much too long distances are, by alignment: the robust network."""
    titles = ["", "alignment", "images", "× best known", "90 % within", "gap"]
    chosen = [row for row in record["rows"] if row["net"] == "mnist-lenet-robust"]
    rows = [
        [
            row["method"],
            f"{row['from']:.2f} to {row['to']:.2f}" if row["from"] > 0 else f"below {row['to']:.2f}",
            f"{row['samples']}",
            f"{row['median']:.2f}",
            f"{row['p90']:.2f}",
            "–" if row["gap"] is None else f"{row['gap']:.1f}",
        ]
        for row in chosen
    ]
    return as_table(titles, rows)


def as_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Markdown, the first column to the left, the others to the right."""
    head = [f"| {' | '.join(titles)} |", "|---" + "|--:" * (len(titles) - 1) + "|"]
    return "\n".join([*head, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def quoted(results: Path = ROOT / "benchmarks" / "results") -> dict[tuple[str, str], str]:
    """The tables that README and docs show, by file and name, made from the stored runs."""
    runs = {name: json.loads((results / f"{name}.json").read_text("utf-8")) for name in ("cpu", "hard", "distrust")}
    quality = [("× best known", "ratio_median", ".3f"), ("90 % within", "ratio_p90", ".3f")]
    cost = [("gradients", "gradients", ".1f"), ("forwards", "forwards", ".1f")]
    aligned = ("alignment", "alignment_median", ".2f")
    time = ("time, × floor", "floors", ".0f")
    return {
        ("README.md", "comparison"): short_table(runs["cpu"], "lenet", SHORT, [*quality, *cost, time]),
        ("docs/hard-networks.md", "hard"): short_table(
            runs["hard"], "mnist-lenet-robust", HARD, [*quality, aligned, *cost]
        ),
        ("docs/hard-networks.md", "distrust"): distrust_table(runs["distrust"]),
    }


def framed(name: str, table: str) -> str:
    """A table between the marks that tell where it stands in a page."""
    return f"<!-- {name} -->\n{table}<!-- end of {name} -->"


def into_docs() -> None:
    """Replace the tables in README and docs."""
    for (file, name), table in quoted().items():
        text = (ROOT / file).read_text("utf-8")
        old = re.search(rf"<!-- {name} -->\n.*?<!-- end of {name} -->", text, re.DOTALL)
        assert old, f"{file} has no place for {name}"
        (ROOT / file).write_text(text.replace(old[0], framed(name, table)), "utf-8")


def _table(rows: list[Row]) -> str:
    titles = ["method", *(title for title, _, _ in COLUMNS)]
    lines = [titles, ["---"] + ["--:"] * len(COLUMNS), *map(_cells, rows)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def _cells(row: Row) -> list[str]:
    name = f"**{row['method']}**" if row["ours"] else str(row["method"])
    if "error" in row:
        return [name, str(row["error"]), *[""] * (len(COLUMNS) - 1)]
    return [name, *("–" if row.get(key) is None else format(row[key], form) for _, key, form in COLUMNS)]


def picture(record: dict, path: Path) -> None:
    """Excess over the best known against cost, both on logarithmic axes; lower left is better."""
    shown = {panel: [row for row in rows if row.get("ratio_median")] for panel, rows in panels(record["rows"]).items()}
    shown = {panel: rows for panel, rows in shown.items() if rows}
    nets, norms = (list(dict.fromkeys(panel[axis] for panel in shown)) for axis in (0, 1))
    size = (7.6 * len(norms), 4.6 * len(nets))
    figure, grid = plt.subplots(len(nets), len(norms), figsize=size, squeeze=False)
    for line, net in zip(grid, nets, strict=True):
        for axes, norm in zip(line, norms, strict=True):
            _panel(axes, f"{net}, {NORM_NAMES[norm]}", shown.get((net, norm), []))
    for axes in grid[:, 0]:
        axes.set_ylabel("median ratio to the best known")
    for axes in grid[-1]:
        axes.set_xlabel("time an image, in forward + gradient")
    figure.tight_layout()
    figure.savefig(path, dpi=130)
    plt.close(figure)


def _panel(axes: Axes, title: str, rows: list[Row]) -> None:
    axes.set_title(title)
    axes.set(xscale="log", yscale="log")
    axes.grid(alpha=0.25)
    points = [(row["floors"], _height(row)) for row in rows]
    _front(axes, points)
    for number, (row, (cost, height)) in enumerate(zip(rows, points, strict=True), start=1):
        colour = OURS if row["ours"] else PEERS
        complete = row["found"] == 1
        face, ink = (colour, "white") if complete else ("white", colour)
        axes.plot(cost, height, "o", markersize=11, markerfacecolor=face, markeredgecolor=colour, alpha=0.9)
        axes.annotate(str(number), (cost, height), ha="center", va="center_baseline", fontsize=6.5, color=ink)
        share = "" if complete else f" ({row['found']:.1%} found)"
        place = (1.02, 1 - (number - 0.5) / max(24, len(rows)))
        label = f"{number}  {row['method']}{share}"
        axes.annotate(label, place, xycoords="axes fraction", va="center", fontsize=7, color=colour)
    axes.yaxis.set_major_locator(FixedLocator(TICKS))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda excess, _: f"{1 + excess:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda cost, _: f"{cost:g}×"))
    axes.set_ylim(bottom=BEST_DRAWN / 2)


def _height(row: Row) -> float:
    return max(row["ratio_median"] - 1, BEST_DRAWN)


def _front(axes: Axes, points: list[tuple[float, float]]) -> None:
    """A staircase through what no other method is both cheaper and better than; points come cheapest first."""
    front = [point for index, point in enumerate(points) if all(point[1] < other[1] for other in points[:index])]
    if front:
        axes.step(*zip(*front, strict=True), where="post", color="black", linewidth=0.8, alpha=0.5, zorder=0)


def main() -> None:
    """Read the files that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="*", type=Path)
    parser.add_argument("--docs", action="store_true", help="put the tables of the stored runs into README and docs")
    arguments = parser.parse_args()
    mpl.use("Agg")
    if arguments.docs:
        into_docs()
    for path in arguments.results:
        record = json.loads(path.read_text())
        path.with_suffix(".md").write_text(markdown(record))
        picture(record, path.with_suffix(".png"))


if __name__ == "__main__":
    main()
