"""How a command ends that could not do what was asked: in one line, with an exit code that scripts can go by."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from cyclopts import CycloptsError

from separatrix.cli.printing import remark

DONE, CHECK_FAILED, NOT_DONE, INTERRUPTED = range(4)

EXPECTED = (ValueError, OSError, ImportError, FloatingPointError, CycloptsError)
"""What bad requests, missing libraries, files and networks, full disks and diverging trainings raise."""


@contextmanager
def stoppable() -> Iterator[None]:
    """While it lasts, SIGTERM stops the command as Ctrl-C does; what is on disk stays fit to be continued."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def told(error: BaseException, words: Sequence[str], *, debug: bool) -> int:
    """The exit code of a command that ended with this error, which is said on stderr."""
    if isinstance(error, KeyboardInterrupt):
        remark(f"interrupted; to go on: {shlex.join(['separatrix', *words])}")
        return INTERRUPTED
    if isinstance(error, BrokenPipeError):
        return _unheard()
    if debug:
        traceback.print_exception(error)
    for line in lines(error):
        remark(line)
    return NOT_DONE


def lines(error: BaseException) -> list[str]:
    """What went wrong: one line for an error, one for each error of a group."""
    if isinstance(error, BaseExceptionGroup):
        return [line for part in error.exceptions for line in lines(part)]
    where = "".join(f"{note}: " for note in getattr(error, "__notes__", ()))
    if isinstance(error, EXPECTED):
        return [_one_line(f"{where}{_message(error)}")]
    return [_one_line(f"{where}unexpected: {type(error).__name__}: {error}; run with --debug")]


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _unheard() -> int:
    """Whoever read stdout has left: the rest is not said, and nobody is told."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return INTERRUPTED
