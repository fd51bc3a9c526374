"""Who does the units of a survey: this process, or several beside it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.queues import SimpleQueue

import torch

from separatrix.checks import require_count
from separatrix.runs import Record, Unit

_LOST = "A worker process was killed, perhaps for want of memory. What is done is kept: the same command goes on."

Carry = Callable[[Unit], Record]


@dataclass(frozen=True)
class Processes:
    """An engine of several worker processes, each with a model of its own: on every GPU one, or cores shared out.

    The rows are those of one process: a unit is the same work wherever it is done. What does the work is sent to each
    worker once; it must be possible to pickle it.

    Args:
        workers: How many.
        threads: Threads of each; by default, the cores that this process may use are shared out.
        devices: Numbers of GPUs, given to the workers in turn: the one that ``"cuda"`` means in each.
    """

    workers: int
    threads: int | None = None
    devices: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        require_count(self.workers, "workers")
        if self.threads is not None:
            require_count(self.threads, "threads")

    def __call__(self, carry: Carry, units: Sequence[Unit]) -> Iterator[Record]:
        """The records of the units, as they are done; whatever stops this, stops the workers at once."""
        others = set(multiprocessing.active_children())
        pool = self._pool(carry, min(self.workers, len(units)))
        try:
            for future in as_completed([pool.submit(_carried, unit) for unit in units]):
                yield future.result()
        except BrokenProcessPool as error:
            raise ChildProcessError(_LOST) from error
        except BaseException:
            for child in set(multiprocessing.active_children()) - others:
                child.kill()
            raise
        finally:
            pool.shutdown(cancel_futures=True)

    def _pool(self, carry: Carry, workers: int) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")
        devices: SimpleQueue[int | None] = context.SimpleQueue()
        for number in range(workers):
            devices.put(self.devices[number % len(self.devices)] if self.devices else None)
        threads = self.threads or max(torch.get_num_threads() // workers, 1)
        return ProcessPoolExecutor(workers, context, _begin, (carry, threads, devices))


_carry: Carry | None = None
"""What a worker does with a unit; set once, when it begins."""


def _begin(carry: Carry, threads: int, devices: SimpleQueue[int | None]) -> None:
    """Prepare a worker: it leaves Ctrl-C to the process that made it, and ends when that does."""
    global _carry
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    torch.set_num_threads(threads)
    device = devices.get()
    if device is not None:
        torch.cuda.set_device(device)
    _carry = carry


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _carried(unit: Unit) -> Record:
    assert _carry is not None
    return _carry(unit)
