"""``separatrix report``: what a run has found, as a page; two runs side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from separatrix.checks import require
from separatrix.cli.pieces import sections_and
from separatrix.cli.printing import say
from separatrix.runs import read_run

ALONE, COMPARED = "report.html", "compared.html"
"""Pages in the folder of the first run."""


def report(
    run: Path,
    run_b: Path | None = None,
    /,
    *,
    out: Path | None = None,
    sections: Annotated[tuple[str, ...], Parameter(consume_multiple=True, negative="")] = (),
) -> None:
    """Write what a run has found as one page that opens from disk, or two runs side by side.

    Example: separatrix report out/before out/after --out compared.html

    Args:
        run: The folder of a run; it may be unfinished.
        run_b: The folder of another, to be compared with the first: before and after a defence.
        out: Write to this file; by default report.html or compared.html in the folder of the first run.
        sections: Tell of these too, as package.module:NAME.
    """
    from separatrix.report import write_report

    runs = [read_run(folder) for folder in (run, run_b) if folder is not None]
    path = out or run / (ALONE if run_b is None else COMPARED)
    require(not path.is_dir(), "--out", "be a file", f"the folder {path}")
    say(f"report  {write_report(runs, path, sections_and(sections))}")
