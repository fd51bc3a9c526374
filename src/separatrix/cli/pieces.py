"""Questions and sections that a command line names, beside those that are built in or installed."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from separatrix.plugins import chosen, installed

if TYPE_CHECKING:
    from separatrix.report import Section
    from separatrix.survey import Question


def questions_named(names: tuple[str, ...]) -> tuple[Question, ...]:
    """The questions of these names; all that are known where there are none."""
    from separatrix.survey import QUESTIONS, Question

    _import_from_here()
    known = {question.name: question for question in QUESTIONS} | installed("separatrix.questions", Question)
    return chosen(names or tuple(known), known, Question, "--questions")


def sections_and(names: tuple[str, ...]) -> tuple[Section, ...]:
    """All sections that are known, and those of these names."""
    from separatrix.report import SECTIONS, Section

    _import_from_here()
    others = installed("separatrix.sections", Section)
    loaded = chosen(names, others, Section, "--sections")
    named = [replace(section, source=name) for name, section in zip(names, loaded, strict=True)]
    return (*SECTIONS, *(section for section in others.values() if section not in loaded), *named)


def _import_from_here() -> None:
    """Modules of the current folder can be named, in worker processes too."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
