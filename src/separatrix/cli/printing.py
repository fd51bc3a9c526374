"""Results on stdout and remarks on stderr, in colour only where a person reads them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

_UNFOLDED = 100_000  # columns of a file or a pipe: as many as a line needs


def say(line: str | Text = "") -> None:
    """A line of the result."""
    _write(line, soft_wrap=True)


def say_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Rows under a head: folded to fit a terminal, one line each in a file or a pipe."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in head:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*row)
    _write(table)


def remark(line: str) -> None:
    """A line that is no result: what is being done, or what went wrong."""
    sys.stderr.write(f"separatrix: {line}\n")
    sys.stderr.flush()


def _write(content: RenderableType, *, soft_wrap: bool = False) -> None:
    width = None if sys.stdout.isatty() else _UNFOLDED
    console = Console(width=width, markup=False, emoji=False, highlight=False)
    with console.capture() as captured:
        console.print(content, soft_wrap=soft_wrap)
    sys.stdout.writelines(f"{line.rstrip()}\n" for line in captured.get().splitlines())
    sys.stdout.flush()
