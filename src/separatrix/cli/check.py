"""``separatrix check``: rules that a run must keep, judged for the machines that run other people's checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.text import Text

from separatrix.checks import few
from separatrix.cli.endings import CHECK_FAILED, DONE
from separatrix.cli.printing import remark, say
from separatrix.runs import Run, read_run, write
from separatrix.survey.gate import Judged, judge, read_rules, require_whole
from separatrix.survey.gate.evaluation import findings_of, missing
from separatrix.survey.gate.output import as_json, as_junit, as_line, passed

_COLOURS = {"holds": "green", "undecided": "yellow", "fails": "bold red"}


@dataclass(frozen=True)
class Files:
    """Where verdicts are written to, besides the lines."""

    junit: Path | None = None
    """A file for the verdicts as JUnit XML, which Jenkins, GitLab and others read."""

    json: Path | None = None
    """A file for the verdicts and all their numbers as JSON."""


def check(
    run: Path,
    /,
    *,
    rule: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = (),
    rules: Path | None = None,
    confidence: float = 0.95,
    allow_undecided: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    allow_partial: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    files: Annotated[Files, Parameter(name="*")] = Files(),
) -> int:
    """Judge a run by rules; ends with 1 unless every rule holds for the whole interval of its number.

    Example: separatrix check out/survey --rule "median(margins.l2) >= 0.8"

    Args:
        run: The folder of a survey.
        rule: A rule such as "share(margins.l2 > 0.5) >= 0.9", any number of times; docs/gate.md has the grammar.
        rules: A file with a rule on each line, and comments after #.
        confidence: How often an interval must hold the true number, from 0.5 to below 1.
        allow_undecided: Let rules pass whose interval reaches over the bound.
        allow_partial: Judge a run of which a part is missing.
        files: Where verdicts are written to.
    """
    asked = read_rules(rule, rules)
    opened = read_run(run)
    if not allow_partial:
        require_whole(opened)
    verdicts = judge(opened, asked, confidence)
    for judged in verdicts:
        _say(judged, confidence)
    warnings = _warnings(opened)
    for warning in warnings:
        remark(warning)
    _write(files, verdicts, str(run), confidence, warnings, allow_undecided)
    return DONE if passed(verdicts, allow_undecided=allow_undecided) else CHECK_FAILED


def _say(judged: Judged, confidence: float) -> None:
    line = Text(as_line(judged, confidence))
    line.stylize(_COLOURS[judged.verdict], 0, len(judged.verdict))
    say(line)


def _warnings(run: Run) -> list[str]:
    """What decides nothing and must be known: that parts are missing, that checks of the audit failed."""
    lack = missing(run)
    partial = [f"warning: the run is not complete: {lack}"] if lack else []
    failed = [finding.title for finding in findings_of(run) if finding.verdict == "failed"]
    fix = "a rule `audit.failed <= 0` would ask that none do"
    audit = [f"warning: checks of the audit failed: {few(failed)}; {fix}"] if failed else []
    return partial + audit


def _write(
    files: Files, verdicts: Sequence[Judged], run: str, confidence: float, warnings: Sequence[str], allow: bool
) -> None:
    for path, form in ((files.junit, as_junit), (files.json, as_json)):
        if path is not None:
            write(path, form(verdicts, run=run, confidence=confidence, warnings=warnings, allow_undecided=allow))
