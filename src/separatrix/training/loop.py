"""One training on its way: what it does in a step, in an epoch, and from where it goes on."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import SGD, AdamW, Optimizer

from separatrix.data import DataSet
from separatrix.models import fingerprint
from separatrix.randomness import uniform
from separatrix.training.accuracy import accuracy
from separatrix.training.augmentation import augmented
from separatrix.training.checkpoints import Checkpoints, gathered, restore
from separatrix.training.history import Epoch, History
from separatrix.training.recipes import AbstractRecipe, Batch
from separatrix.training.schedules import rate_share

Callback = Callable[[nn.Module, int, History], None]
"""Called with the model in eval mode, the number of epochs done and what they brought."""

_ORDER, _AUGMENTATION, _STREAMS = 0, 1, 2  # streams of random numbers, that many for each epoch


@dataclass(frozen=True)
class Progress:
    """How far a training has come.

    Args:
        epoch: Epochs done.
        epochs: Epochs in all.
        step: Steps done in the epoch at work.
        steps: Steps in each epoch.
        history: What the epochs done have brought.
    """

    epoch: int
    epochs: int
    step: int
    steps: int
    history: History

    @property
    def share(self) -> float:
        """Share of all steps that are done."""
        return (self.epoch + self.step / self.steps) / max(self.epochs, 1)


@dataclass(frozen=True)
class Standing:
    """Where a training stands between two steps; with the tensors of model and optimiser, all there is to know."""

    epoch: int = 0  # epochs done
    step: int = 0  # steps done in the epoch at work; below, what they have brought
    loss: float = 0.0  # summed over the samples
    hits: int = 0
    seconds: float = 0.0
    history: History = field(default_factory=History)

    def plain(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {**vars(self), "history": self.history.plain()}

    @staticmethod
    def of(entries: dict[str, Any]) -> Standing:
        """The inverse of ``plain``."""
        return Standing(**{**entries, "history": History.of(entries["history"])})


@dataclass(eq=False)
class Training:
    """A model, what it learns from, and how."""

    model: nn.Module
    data: DataSet
    test: DataSet | None
    recipe: AbstractRecipe
    checkpoints: Checkpoints | None
    callbacks: tuple[Callback, ...]
    progress: Callable[[Progress], None] | None

    def __post_init__(self) -> None:
        self.trained = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
        self.device, self.dtype = self.trained[0].device, self.trained[0].dtype
        self.steps = math.ceil(len(self.data) / self.recipe.batch_size)
        self.optimiser = _optimiser(self.recipe, self.trained)
        self.config = self._config() if self.checkpoints else {}

    def run(self) -> History:
        """Train from the latest checkpoint, or from the start, to the end.

        Where an interruption leaves a checkpoint, it leaves the model as it was: then the same call goes on.
        """
        start = gathered(self.model, self.optimiser) if self.checkpoints else None
        try:
            standing = self._resumed()
            with self._as_begun(standing):
                return self._run(standing)
        except BaseException:
            if start is not None:
                restore(self.model, self.optimiser, start)
            raise

    def _run(self, standing: Standing) -> History:
        if standing.step == 0:
            self._call(standing)
        while standing.epoch < self.recipe.epochs:
            standing = self._epoch(standing)
            self._save(standing)
            self._call(standing)
        return standing.history

    def _config(self) -> dict[str, Any]:
        """What another training would have otherwise."""
        samples = {"data": self.data, "test": self.test}
        named = {key: data and {"name": data.name, "content": data.fingerprint} for key, data in samples.items()}
        return {"recipe": self.recipe, "model": fingerprint(self.model), **named}

    def _resumed(self) -> Standing:
        found = self.checkpoints.load(self.config) if self.checkpoints else None
        if found is None:
            return Standing()
        entries, tensors = found
        restore(self.model, self.optimiser, tensors)
        return Standing.of(entries)

    @contextmanager
    def _as_begun(self, standing: Standing) -> Iterator[None]:
        """With as many threads as the training began with: another number sums in another order."""
        asked, begun = torch.get_num_threads(), self.checkpoints.threads if self.checkpoints else None
        if begun in (None, asked) or self.device.type != "cpu" or standing.epoch == self.recipe.epochs:
            yield
            return
        warnings.warn(
            f"Threads: going on with {begun}, as the training began, not {asked}.", RuntimeWarning, stacklevel=2
        )
        torch.set_num_threads(begun)
        try:
            yield
        finally:
            torch.set_num_threads(asked)

    def _save(self, standing: Standing) -> None:
        if self.checkpoints:
            self.checkpoints.save(self.config, standing.plain(), gathered(self.model, self.optimiser))

    def _call(self, standing: Standing) -> None:
        self.model.eval()
        for callback in self.callbacks:
            callback(self.model, standing.epoch, standing.history)
            self.model.eval()

    def _epoch(self, standing: Standing) -> Standing:
        """The standing after the epoch at work, or after what is left of it."""
        clock = perf_counter() - standing.seconds
        order = self._order(standing.epoch).tensor_split(self.steps)
        loss = torch.tensor(standing.loss, dtype=torch.float64, device=self.device)
        hits = torch.tensor(standing.hits, device=self.device)
        for step in range(standing.step, self.steps):
            mean, right = self._descend(standing.epoch, step, order[step])
            loss, hits = loss + mean * len(order[step]), hits + right
            if self.checkpoints and self.checkpoints.due(step + 1):
                sums: dict[str, Any] = {"loss": float(loss), "hits": int(hits), "seconds": perf_counter() - clock}
                self._save(Standing(standing.epoch, step + 1, **sums, history=standing.history))
            self._report(standing, step + 1)
        return self._finished(standing, float(loss), int(hits), perf_counter() - clock)

    def _order(self, epoch: int) -> Tensor:
        """Positions ``(n,)`` of the samples as this epoch goes through them."""
        draws = uniform(self.recipe.seed, self.data.ids, (1,), stream=_STREAMS * epoch + _ORDER)
        return draws[:, 0].argsort().cpu()

    def _descend(self, epoch: int, step: int, rows: Tensor) -> tuple[Tensor, Tensor]:
        """One step of the optimiser; the batch's mean loss, and how many of its labels were answered."""
        batch = self._batch(epoch, rows)
        self.model.train()
        self.optimiser.zero_grad(set_to_none=True)
        done = epoch * self.steps + step
        with self._seeded(done), self._autocast():
            loss, logits = self.recipe.loss(self.model, batch)
        loss.backward()  # type: ignore[no-untyped-call]
        if self.recipe.clip is not None:
            nn.utils.clip_grad_norm_(self.trained, self.recipe.clip)
        self._set_rate(done)
        self.optimiser.step()
        return loss.detach(), (logits.detach().argmax(1) == batch.labels).sum()

    def _batch(self, epoch: int, rows: Tensor) -> Batch:
        points, labels, ids = next(self.data.batches(len(rows), rows))
        points = points.to(self.device, self.dtype, non_blocking=True)
        if self.recipe.augment:
            stream = _STREAMS * epoch + _AUGMENTATION
            points = augmented(points, self.recipe.augment, seed=self.recipe.seed, ids=ids, stream=stream)
        if points.ndim == 4:
            points = points.contiguous(memory_format=torch.channels_last)
        return Batch(points, labels.to(self.device), ids, epoch)

    @contextmanager
    def _seeded(self, done: int) -> Iterator[None]:
        """The global random state a function of the seed and of the steps done, for dropout; afterwards as it was."""
        devices = [self.device] if self.device.type == "cuda" else []
        seed = (int(1e9) * self.recipe.seed + done) % 2**64
        with torch.random.fork_rng(devices):
            torch.default_generator.manual_seed(seed)
            if devices:
                torch.cuda.manual_seed(seed)
            yield

    def _autocast(self) -> torch.autocast:
        """Without a cache of rounded weights, which a surrounding autocast would keep alive beyond the step."""
        mixed = self.recipe.mixed_precision
        return torch.autocast(self.device.type, torch.bfloat16, enabled=mixed, cache_enabled=False)

    def _set_rate(self, done: int) -> None:
        middle = (done + 0.5) / (self.steps * self.recipe.epochs)
        for group in self.optimiser.param_groups:
            group["lr"] = self.recipe.rate * rate_share(self.recipe.schedule, middle)

    def _report(self, standing: Standing, step: int) -> None:
        if self.progress:
            self.progress(Progress(standing.epoch, self.recipe.epochs, step, self.steps, standing.history))

    def _finished(self, standing: Standing, loss: float, hits: int, seconds: float) -> Standing:
        count = len(self.data)
        if not math.isfinite(loss):
            raise FloatingPointError(
                f"Training diverged in epoch {standing.epoch + 1}: its loss is {loss}. Lower `rate`, or set `clip`."
            )
        self.model.eval()
        test = None if self.test is None else accuracy(self.model, self.test)
        epoch = Epoch(loss / count, hits / count, test, self.optimiser.param_groups[0]["lr"], seconds)
        return Standing(epoch=standing.epoch + 1, history=standing.history.extended(epoch))


def _optimiser(recipe: AbstractRecipe, parameters: list[nn.Parameter]) -> Optimizer:
    rate, decay = recipe.rate, recipe.weight_decay
    if recipe.optimiser == "adam":
        return AdamW(parameters, rate, (recipe.momentum, 0.999), weight_decay=decay, fused=True)
    nesterov = recipe.momentum > 0
    return SGD(parameters, rate, recipe.momentum, weight_decay=decay, nesterov=nesterov, fused=True)
