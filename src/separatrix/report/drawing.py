"""Figures as SVG within a page, in the page's own colours and letters."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from textwrap import fill
from typing import Any
from xml.etree import ElementTree as Tree

import matplotlib as mpl
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Drawing

from separatrix.report.told import Figure

WIDE, NARROW = 720, 344
_LETTER = 7.5  # pixels that a letter of a label may need

_SERIES = ("#01000a", "#01000b", "#01000c", "#01000d", "#01000e", "#01000f")
_COLOURS = {
    "#010001": "var(--ink)",
    "#010002": "var(--muted)",
    "#010003": "var(--line)",
    **{colour: f"var(--series-{number})" for number, colour in enumerate(_SERIES)},
}
_SETTINGS: Any = {
    "axes.prop_cycle": cycler(color=_SERIES),
    "svg.fonttype": "none",
    "svg.hashsalt": "separatrix",
    "text.parse_math": False,
    "axes.unicode_minus": True,
    "font.family": "DejaVu Sans",
    "font.size": 11,
    "legend.fontsize": 10.5,
    "legend.frameon": False,
    "text.color": "#010001",
    "axes.labelcolor": "#010002",
    "axes.edgecolor": "#010003",
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#010003",
    "grid.linewidth": 0.6,
    "xtick.color": "#010003",
    "ytick.color": "#010003",
    "xtick.labelcolor": "#010002",
    "ytick.labelcolor": "#010002",
    "xtick.major.pad": 6,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "figure.facecolor": "none",
    "lines.linewidth": 1.8,
}
_SVG, _LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_BAR = re.compile(r"bar-(\d+)")
_UNWRITTEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def svg(figure: Figure, width: int) -> str:
    """A figure's drawing at a width in pixels: an ``<svg>`` that takes its colours from the page's variables."""
    height = round(figure.height * (width / WIDE) ** 0.25)
    tree = Tree.fromstring(_drawn(figure.draw, width, height))
    _strip(tree)
    _rename(tree, f"{figure.name}-{width}")
    _name(tree, figure)
    _paint(tree)
    tree.set("viewBox", f"0 0 {width} {height}")
    Tree.register_namespace("", _SVG)
    Tree.register_namespace("xlink", _LINK)
    return Tree.tostring(tree, encoding="unicode")


def plain_text(text: object, most: int = 24) -> str:
    """A name as a figure shows it: without what cannot be written in it, and not too long."""
    clean = " ".join(_UNWRITTEN.sub("�", str(text)).split())
    return clean if len(clean) <= most else f"{clean[: most - 1]}…"


def distinct(names: Sequence[object], most: int) -> list[str]:
    """Names as a figure shows them, with numbers where nothing else tells them apart any more."""
    short = [plain_text(name, most) for name in names]
    return [f"{name} {place + 1}" if short.count(name) > 1 else name for place, name in enumerate(short)]


def _drawn(draw: Callable[[Axes], None], width: int, height: int) -> str:
    with _settings():
        drawing = Drawing(figsize=(width / 72, height / 72), layout="constrained")
        canvas = FigureCanvasSVG(drawing)
        draw(drawing.add_subplot())
        for axes in drawing.axes:
            _wrap(axes, width, height)
        held = StringIO()
        # `savefig` would lay everything out twice
        canvas.print_svg(held, metadata={"Date": None, "Creator": None})  # type: ignore[no-untyped-call]
    return _UNWRITTEN.sub("�", held.getvalue())


def _wrap(axes: Axes, width: int, height: int) -> None:
    """Break labels that are longer than their axis."""
    axes.set_xlabel(fill(axes.get_xlabel(), round(width / _LETTER)))
    axes.set_ylabel(fill(axes.get_ylabel(), round(0.8 * height / _LETTER)))


@contextmanager
def _settings() -> Iterator[None]:
    """Colours that stand for the page's own; letters that matplotlib lacks are the browser's to draw."""
    with mpl.rc_context(_SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def _strip(tree: Tree.Element) -> None:
    """Leave out what is of no use in a page: metadata, the size in points, matplotlib's own style sheet."""
    for attribute in ("width", "height", "version"):
        tree.attrib.pop(attribute, None)
    for parent in list(tree.iter()):
        for child in list(parent):
            styles = child.tag == f"{{{_SVG}}}style"
            if styles or child.tag == f"{{{_SVG}}}metadata":
                parent.remove(child)
            if styles:
                tree.set("stroke-linejoin", "round")


def _rename(tree: Tree.Element, prefix: str) -> None:
    """Ids that no other figure has; bars carry their number instead of an id."""
    for element in tree.iter():
        name = element.attrib.pop("id", "")
        bar = _BAR.fullmatch(name)
        if bar:
            element.set("data-bar", bar[1])
        elif element.tag in (f"{{{_SVG}}}clipPath", f"{{{_SVG}}}path", f"{{{_SVG}}}marker") and name:
            element.set("id", f"{prefix}-{name}")
        for key, value in element.attrib.items():
            if key == f"{{{_LINK}}}href":
                element.set(key, value.replace("#", f"#{prefix}-"))
            elif "url(#" in value:
                element.set(key, value.replace("url(#", f"url(#{prefix}-"))


def _name(tree: Tree.Element, figure: Figure) -> None:
    """What screen readers say of it; its bars are buttons with names of their own."""
    tree.set("role", "group" if figure.gallery else "img")
    tree.set("aria-label", plain_text(figure.alternative, 2000))
    for element in tree.iter():
        number = element.get("data-bar")
        if number is not None and figure.gallery:
            element.set("role", "button")
            element.set("tabindex", "-1" if int(number) else "0")
            element.set("aria-label", plain_text(figure.gallery.bars[int(number)].label, 200))


def _paint(tree: Tree.Element) -> None:
    """Put the page's variables where colours stand for them, and its letters for matplotlib's."""
    for element in tree.iter():
        style = element.get("style", "")
        for colour, variable in _COLOURS.items():
            style = style.replace(colour, variable)
        style = style.replace("'DejaVu Sans', sans-serif", "var(--sans)").replace("'DejaVu Sans'", "var(--sans)")
        if style:
            element.set("style", style)
