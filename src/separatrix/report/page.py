"""The page: what the sections say, in one file that asks the network for nothing."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from separatrix.checks import require
from separatrix.report import opening
from separatrix.report.drawing import NARROW, WIDE, svg
from separatrix.report.numbers import number
from separatrix.report.sections import SECTIONS
from separatrix.report.shown import Shown
from separatrix.report.told import Bar, Figure, Section, Table, Told
from separatrix.runs import Run, write

_INTERVAL = re.compile(r"\([^()]{1,40}\)")  # stays on one line

MOST_ROWS = 300
"""Rows of a table that the page shows; it says how many there are."""


@dataclass(frozen=True, eq=False)
class Chapter:
    """A section in the page.

    Args:
        section: The section.
        told: What it says; nothing where there is nothing to tell of.
        remarks: For which runs there is nothing, or only a part.
        drawings: Its figures as SVG, by name: for wide screens and for narrow ones.
    """

    section: Section
    told: Told
    remarks: tuple[str, ...]
    drawings: Mapping[str, tuple[Markup, Markup]]


def write_report(runs: Sequence[Run], path: Path | str, sections: Sequence[Section] = SECTIONS) -> Path:
    """One run as a page, or two side by side; it is made from tables alone, and opens from disk without a network.

    Args:
        runs: One run, or two: before and after.
        path: The HTML file; the folders above it are made.
        sections: What the page tells of, in order.
    """
    require(len(runs) in (1, 2), "runs", "be one run, or two to compare", len(runs))
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, rendered(runs, sections).encode("utf-8", "replace"))
    return path


def rendered(runs: Sequence[Run], sections: Sequence[Section] = SECTIONS) -> str:
    """The page as text."""
    letters = ("",) if len(runs) == 1 else ("A", "B")
    shown = [Shown(run, letter, place) for place, (run, letter) in enumerate(zip(runs, letters, strict=True))]
    chapters = [chapter(section, shown) for section in sections]
    style, script = _look("style.css"), _look("script.js")
    return (
        _environment()
        .get_template("page.html")
        .render(
            title=opening.title(shown),
            headline=opening.headline(shown),
            warnings=[warning for each in chapters for warning in each.told.warnings],
            audit=next((place for place, each in enumerate(chapters, 1) if each.told.warnings), 0),
            comparison=opening.comparison(shown),
            runs=shown,
            facts=[opening.facts(each) for each in shown],
            tiles=[tile for each in chapters for tile in each.told.tiles],
            highlights=_highlights(shown, [sentence for each in chapters for sentence in each.told.highlights]),
            chapters=chapters,
            limits=opening.LIMITS,
            glossary=opening.glossary(shown),
            provenance=opening.provenance(shown, [section.source for section in sections if section.source]),
            behind=_behind([figure for each in chapters for figure in each.told.figures]),
            style=Markup(style),
            script=Markup(script),
            script_hash=b64encode(sha256(script.encode()).digest()).decode(),
        )
    )


def chapter(section: Section, shown: Sequence[Shown]) -> Chapter:
    """What a section says of the runs that hold its table; a section that fails says so, and spoils no other."""
    remarks = opening.remarks(section, shown)
    with_rows = [each for each in shown if each.rows(section.question) is not None]
    asked = with_rows if section.required else list(shown)
    try:
        told = section.tell(asked) if asked else Told()
        return Chapter(section, told, tuple(remarks), {figure.name: _drawings(figure) for figure in told.figures})
    except Exception as error:  # a table that another version or a plug-in wrote must not cost the whole page
        failure = f"This section could not be made: {type(error).__name__}: {error}"
        return Chapter(section, Told(), (*remarks, failure), {})


def _environment() -> Environment:
    made = Environment(
        loader=FunctionLoader(_look),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_unbroken,
    )
    made.filters.update(cell=_cell, numeric=_numeric, rows=_rows, opened=_opened)
    made.globals.update(MOST_ROWS=MOST_ROWS)
    return made


def _highlights(shown: Sequence[Shown], sentences: Sequence[str]) -> list[list[str]]:
    """What stands out in each run: sentences go by the letter that they begin with, those of none to the first."""
    leads = [each.lead for each in shown]
    found = [[s.removeprefix(lead) for s in sentences if lead and s.startswith(lead)] for lead in leads]
    rest = [s for s in sentences if s and not any(lead and s.startswith(lead) for lead in leads)]
    return [[*rest, *found[0]], *found[1:]]


def _look(name: str) -> str:
    """A file of the page's look, from the package."""
    return (files("separatrix.report") / "look" / name).read_text("utf-8")


def _unbroken(value: object) -> object:
    """Numbers stay on one line with their percent sign."""
    return value.replace(" %", "\u00a0%") if type(value) is str else value


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    text = number(value) if isinstance(value, float) else str(value)
    return _INTERVAL.sub(lambda found: found[0].replace(" ", "\u00a0"), text)


def _numeric(value: object) -> bool:
    """Whether a cell begins with a number, and stands at the right of its column."""
    text = _cell(value)
    return text[:1].isdigit() or text[:1] in ("−", "+", "∞", "–")


def _rows(table: Table) -> tuple[tuple[object, ...], ...]:
    return table.rows[:MOST_ROWS]


def _drawings(figure: Figure) -> tuple[Markup, Markup]:
    """A figure as SVG for wide and for narrow screens; the XML writer has escaped what is in it."""
    return Markup(svg(figure, WIDE)), Markup(svg(figure, NARROW))


def _opened(figure: Figure) -> int:
    """The bar that is open at first: the first that has pictures, or samples."""
    bars = figure.gallery.bars if figure.gallery else ()
    pictured = (place for place, bar in enumerate(bars) if bar.cards and bar.cards[0].pictures)
    return next(pictured, next((place for place, bar in enumerate(bars) if bar.cards), 0))


def _behind(figures: Sequence[Figure]) -> Mapping[str, Any]:
    """What lies behind the bars of all figures, each picture once."""
    pictures: dict[str, int] = {}
    galleries = {
        figure.name: [_bar(bar, pictures) for bar in figure.gallery.bars] for figure in figures if figure.gallery
    }
    return {"galleries": galleries, "pictures": list(pictures)}


def _bar(bar: Bar, pictures: dict[str, int]) -> Mapping[str, Any]:
    cards = [
        {
            "run": card.run,
            "sample": card.sample,
            "own": card.own,
            "rival": card.rival,
            "label": card.label,
            "distance": card.distance,
            "pictures": [
                [pictures.setdefault(picture.uri, len(pictures)), picture.alternative] for picture in card.pictures
            ],
        }
        for card in bar.cards
    ]
    return {"label": bar.label, "cards": cards}
