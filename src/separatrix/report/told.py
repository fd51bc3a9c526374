"""What a section says: words, figures, tables, and the samples behind a figure's bars."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from matplotlib.axes import Axes

from separatrix.checks import require
from separatrix.report.shown import Shown

Verdict = Literal["passed", "failed", "undecided", "told", "not asked"]
"""What a check came to; what is told is not judged, and what is undecided takes more samples."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]*")


@dataclass(frozen=True)
class Table:
    """Cells under a head, in words or numbers.

    Args:
        caption: What the rows are; the page shows it above them.
        head: What each column holds, with unit and norm where it has them.
        rows: As many cells each as the head has.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]


@dataclass(frozen=True)
class Picture:
    """A small picture within the page.

    Args:
        uri: All of it, as a data URI.
        alternative: What it shows, for those who do not see it.
    """

    uri: str
    alternative: str


@dataclass(frozen=True)
class Card:
    """One sample behind a bar.

    Args:
        run: Letter of its run; empty where there is only one.
        sample: Its id.
        own: The class the model answers.
        rival: The class beyond the boundary.
        label: The true class.
        distance: How far the boundary is, with its unit.
        pictures: The sample, what is added, and what it then is; none where points are no pictures.
    """

    run: str
    sample: str
    own: str
    rival: str
    label: str
    distance: str
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True)
class Bar:
    """What a reader finds behind one bar of a figure: its range and count in words, and samples."""

    label: str
    cards: tuple[Card, ...] = ()


@dataclass(frozen=True)
class Gallery:
    """What lies behind the bars of a figure, which are drawn with gids ``bar-0``, ``bar-1``, …

    Args:
        bars: One for each bar, in order.
        remark: How the samples shown were chosen, and how to read their pictures.
    """

    bars: tuple[Bar, ...]
    remark: str = ""


@dataclass(frozen=True, eq=False)
class Figure:
    """One drawing, in words and numbers too.

    Args:
        name: In the page: letters, digits and hyphens.
        title: What it shows.
        alternative: What is to be seen in it, for those who do not see it.
        draw: Draws it; colours ``C0`` … ``C5`` and those of matplotlib's settings follow the page, light or dark.
        numbers: The numbers behind it.
        caption: How to read it.
        gallery: The samples behind its bars.
        height: In pixels, where it is 720 wide.
    """

    name: str
    title: str
    alternative: str
    draw: Callable[[Axes], None]
    numbers: Table
    caption: str = ""
    gallery: Gallery | None = None
    height: int = 320

    def __post_init__(self) -> None:
        require(bool(_NAME.fullmatch(self.name)), "name", "be letters, digits and hyphens", repr(self.name))


@dataclass(frozen=True)
class Point:
    """One thing that was looked at, and what was found.

    Args:
        verdict: Whether it is as it should be.
        title: What was looked at.
        value: What was found, with its unit.
        evidence: In one line of words.
        samples: How many samples it rests on; 0 where it is about the model as a whole.
        run: Letter of its run; empty where there is only one.
    """

    verdict: Verdict
    title: str
    value: str
    evidence: str
    samples: int = 0
    run: str = ""


@dataclass(frozen=True)
class Tile:
    """A number for the first screen.

    Args:
        label: What it is, with norm and unit.
        values: One for each run that has it: letter of the run, number, and interval or remark.
        alarms: Letters of the runs whose number is a warning.
    """

    label: str
    values: tuple[tuple[str, str, str], ...]
    alarms: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Told:
    """What a section says, in the order in which the page shows it.

    Args:
        paragraphs: Words.
        points: What was looked at, with verdicts.
        tables: Numbers in words.
        figures: Drawings.
        tiles: Numbers for the first screen.
        highlights: Sentences for the summary: what stands out.
        warnings: Sentences that stand before everything else: why numbers are doubtful.
    """

    paragraphs: tuple[str, ...] = ()
    points: tuple[Point, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    tiles: tuple[Tile, ...] = ()
    highlights: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    """A part of the report that tells of one table.

    Args:
        question: Name of its table. The page says by itself for which runs there is none, or only a part.
        title: Its heading.
        tell: What it says of the runs that hold the table, one or two of them.
        required: Whether it has something to say only where there is the table.
        also: Names of other tables that it tells of besides.
        source: How a command line names it, ``package.module:NAME``; empty for one that needs no naming.
    """

    question: str
    title: str
    tell: Callable[[Sequence[Shown]], Told]
    required: bool = True
    also: tuple[str, ...] = ()
    source: str = ""
