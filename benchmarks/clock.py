"""Wall time on a machine that others use too: wait for quiet, and say how much the others took meanwhile."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import torch

Answer = TypeVar("Answer")
STAT = Path("/proc/stat")
QUIET = 0.15
"""Share of one core that other programs may take during an undisturbed run."""


@dataclass(frozen=True)
class Timing:
    """Seconds of one run, and the share of one core that other programs took meanwhile."""

    seconds: float
    others: float

    @property
    def calm(self) -> bool:
        """Whether the run was undisturbed."""
        return self.others < QUIET


def busy() -> float:
    """Seconds that the whole machine has worked since it started; 0 where it does not tell."""
    if not STAT.exists():
        return 0.0
    ticks = [int(number) for number in STAT.read_text().splitlines()[0].split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def wait_for_quiet(patience: float = 4.0, glance: float = 0.25) -> None:
    """Return when the machine is idle, or when patience is over."""
    deadline = time.perf_counter() + patience
    while time.perf_counter() < deadline:
        before, began = busy(), time.perf_counter()
        time.sleep(glance)
        if busy() - before < QUIET * (time.perf_counter() - began):
            return


def synchronise(device: torch.device) -> None:
    """Wait until the device has finished what was asked of it."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def timed(action: Callable[[], Answer], device: torch.device) -> tuple[Answer, Timing]:
    """What ``action`` returns, and how long it took."""
    synchronise(device)
    worked, own, began = busy(), time.process_time(), time.perf_counter()
    answer = action()
    synchronise(device)
    seconds, own = time.perf_counter() - began, time.process_time() - own
    others = max(0.0, busy() - worked - own - 0.02) / max(seconds, 0.05)
    return answer, Timing(seconds, others)


@contextlib.contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Interrupt what takes longer with a ``TimeoutError``."""

    def interrupt(*_: object) -> None:
        raise TimeoutError(f"over {seconds} s")

    previous = signal.signal(signal.SIGALRM, interrupt)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)
