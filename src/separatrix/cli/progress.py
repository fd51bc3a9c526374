"""How far something has come, and how long it still takes: a bar in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import final

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from separatrix.cli.printing import remark

_PAUSE = 10.0  # seconds between two lines


class AbstractBar(ABC):
    """Shows on stderr how far something has come."""

    @abstractmethod
    def tell(self, title: str, done: float, total: float) -> None:
        """Show this share of the thing with this title; a total of 0 is one that is not known."""

    @abstractmethod
    @contextmanager
    def aside(self) -> Iterator[None]:
        """While it lasts, lines may be written where the bar was."""


@contextmanager
def bar(*columns: ProgressColumn) -> Iterator[AbstractBar]:
    """Something to tell how far one has come: shown from the first time on, and cleared away at the end.

    Args:
        columns: What a terminal shows besides title, bar, share and time left.
    """
    console = Console(stderr=True, markup=False, highlight=False)
    if not console.is_interactive:
        yield _Lines()
        return
    shown = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), *columns, TimeRemainingColumn())
    progress = Progress(*shown, console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
    terminal = _Terminal(progress)
    try:
        yield terminal
    finally:
        terminal.clear()


@final
class _Terminal(AbstractBar):
    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}

    def tell(self, title: str, done: float, total: float) -> None:
        if title not in self._tasks:
            self.clear()
            self._tasks = {title: self._progress.add_task(title, total=total or None, completed=int(done))}
        self._progress.update(self._tasks[title], completed=done, total=total or None)
        self._progress.start()

    @contextmanager
    def aside(self) -> Iterator[None]:
        self._progress.stop()
        yield

    def clear(self) -> None:
        """Leave nothing of it."""
        self._progress.stop()
        for task in self._tasks.values():
            self._progress.remove_task(task)


@final
class _Lines(AbstractBar):
    def __init__(self) -> None:
        self._title = ""
        self._began = self._said = (0.0, 0.0)  # moments, and how much was done then

    def tell(self, title: str, done: float, total: float) -> None:
        now = time.monotonic(), done
        if title != self._title:
            self._title, self._began, self._said = title, now, now
        if total and now[0] - self._said[0] >= _PAUSE:
            self._said = now
            remark(f"{title}: {done / total:.0%}{self._left(now, total)}")

    @contextmanager
    def aside(self) -> Iterator[None]:
        yield

    def _left(self, now: tuple[float, float], total: float) -> str:
        seconds, done = now[0] - self._began[0], now[1] - self._began[1]
        if done <= 0:
            return ""
        return f", {timedelta(seconds=round(seconds * (total - now[1]) / done))} left"
