"""Networks made while somebody waits: what is downloaded and trained on the way is shown."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from rich.progress import DownloadColumn

from separatrix.cli.printing import remark
from separatrix.cli.progress import AbstractBar, bar
from separatrix.data import available, get
from separatrix.training import History, Named, NetworkRecipe, Progress, Source, trained
from separatrix.training.networks import kept, places

Heard = Callable[[History], None]
"""Called with the epochs done so far, whenever there is one more."""


@dataclass(frozen=True)
class Made:
    """A trained network on disk.

    Args:
        log: All there is to know of it, ``<stem>.json``.
    """

    log: Path

    @property
    def weights(self) -> Path:
        """What ``load_model`` reads."""
        return self.log.with_suffix(".safetensors")

    @property
    def accuracy(self) -> float:
        """Share of the test labels answered by the weights as they are kept."""
        return float(self._entries["test_accuracy"])

    @property
    def history(self) -> History:
        """What each epoch brought."""
        return History.of(self._entries["epochs"])

    @cached_property
    def _entries(self) -> dict[str, Any]:
        entries: dict[str, Any] = json.loads(self.log.read_bytes())
        return entries


def found(recipe: NetworkRecipe, folder: Path | None = None) -> Made | None:
    """The network that was trained by a recipe before, if one was; ``folder`` as for ``trained``."""
    logs = (kept(recipe, place) for place in places(folder))
    return next((Made(log) for log in logs if log is not None), None)


def made(
    recipe: NetworkRecipe,
    *,
    folder: Path | None = None,
    device: str | None = None,
    heard: Heard = lambda _: None,
) -> Made:
    """The network that a recipe stands for, found or trained now.

    Args:
        recipe: How it is trained.
        folder: As for ``trained``.
        device: As for ``trained``.
        heard: Told of the epochs of a training that happens now.
    """
    before = found(recipe, folder)
    if before is not None:
        return before
    fetch(recipe.data)
    with bar() as shown, _warnings_as_remarks():
        trained(recipe, folder=folder, device=device, progress=_Watch(recipe.stem, shown, heard))
    now = found(recipe, folder)
    assert now is not None
    return now


def fetch(source: Source) -> None:
    """Download what is learned from, if it is a data set with a name that is not on this machine yet."""
    if isinstance(source, Named) and source.name in (entry.name for entry in available()):
        with bar(DownloadColumn()) as shown:
            get(source.name, shown.tell)


@contextmanager
def _warnings_as_remarks() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: remark(str(message))
        yield


@dataclass(eq=False)
class _Watch:
    """Shows how far a training is, and passes on what its epochs have brought."""

    title: str
    bar: AbstractBar
    heard: Heard
    epoch: int | None = None

    def __call__(self, progress: Progress) -> None:
        if progress.epoch != self.epoch:
            with self.bar.aside():
                self._turn_to(progress)
        done = progress.epoch * progress.steps + progress.step
        self.bar.tell(self.title, done, progress.epochs * progress.steps)

    def _turn_to(self, progress: Progress) -> None:
        if self.epoch is None and progress.epoch > 0:
            remark(f"going on after epoch {progress.epoch} of {progress.epochs}")
        self.epoch = progress.epoch
        self.heard(progress.history)
