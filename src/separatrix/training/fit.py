"""The loop that trains: it follows a recipe, keeps checkpoints, and is a function of its seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils.data import Dataset

from separatrix.checks import described, require
from separatrix.classifier import require_model
from separatrix.data import DataSet, load_data
from separatrix.training.checkpoints import Checkpoints
from separatrix.training.history import History
from separatrix.training.loop import Callback, Progress, Training
from separatrix.training.recipes import AbstractRecipe, Standard


def fit(
    model: nn.Module,
    data: Dataset[Any],
    recipe: AbstractRecipe = Standard(),
    callbacks: Sequence[Callback] = (),
    *,
    test: Dataset[Any] | None = None,
    checkpoints: Checkpoints | Path | str | None = None,
    device: torch.device | str | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> History:
    """What each epoch brought, ``model`` having been trained in place.

    The weights are a function of the weights at the start, the data and the recipe, to the last bit on one CPU with
    one number of threads. The global random state is neither read nor moved. The model comes back in eval mode,
    where it was before; also when the training is interrupted.

    Args:
        model: Maps points ``(n, *shape)`` to logits ``(n, c)``, a ``Classifier`` for instance; its parameters that
            require a gradient are trained.
        data: Labelled points to learn from. What is not a ``DataSet`` is turned into one by ``load_data``.
        recipe: How a batch becomes a loss, and the loss a step.
        callbacks: Called as ``callback(model, epoch, history)``, in their order, with the model in eval mode: first
            with epoch 0 before the first step, then after each epoch. A training that goes on after an interruption
            calls them with the epoch that it goes on from, once more.
        test: Labelled points that the accuracy after each epoch is measured on.
        checkpoints: A folder to keep the training in while it is on its way; an interruption then leaves the model as
            it came. The same call goes on from there, and ends with the weights that it would have had without the
            interruption; or gives the result at once, where the training is done. On a CPU it goes on with as many
            threads as before, and warns where that is another number than now. ``Checkpoints(folder, every=100)``
            writes within epochs too.
        device: Where to train; where the model is, by default.
        progress: Called after each step.
    """
    require(isinstance(model, nn.Module), "model", "be a torch.nn.Module", type(model).__name__)
    require(isinstance(recipe, AbstractRecipe), "recipe", "be a recipe, such as Standard()", described(recipe))
    train, held_out = _data_set(data, "data"), None if test is None else _data_set(test, "test")
    keep = Checkpoints(Path(checkpoints)) if isinstance(checkpoints, (str, Path)) else checkpoints
    with _undisturbed(), _settled(model, device):
        _require_trainable(model, recipe, train, held_out)
        return Training(model, train, held_out, recipe, keep, tuple(callbacks), progress).run()


def _data_set(data: object, name: str) -> DataSet:
    loader = isinstance(data, torch.utils.data.DataLoader)
    fix = "Hand over its `dataset`: the recipe says what a batch is."
    require(not loader, name, "be a data set, not a loader of one", type(data).__name__, fix)
    fix = "Load it: `load_data(…, split=…)`."
    require(not isinstance(data, (str, Path)), name, "be a data set, not the name of one", repr(data), fix)
    return data if isinstance(data, DataSet) else load_data(data)  # type: ignore[arg-type]


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Gradients on, autocast and inference mode off, whatever surrounds the call."""
    with ExitStack() as stack:
        stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.enable_grad())
        for kind in ("cpu", "cuda"):
            stack.enter_context(torch.autocast(kind, enabled=False))
        yield


@contextmanager
def _settled(model: nn.Module, device: torch.device | str | None) -> Iterator[None]:
    """The model on the device to train on, laid out for fast convolutions; afterwards as it was, in eval mode."""
    home = next((parameter.device for parameter in model.parameters()), torch.device("cpu"))
    _lay_out(model.eval().to(home if device is None else device), torch.channels_last)
    try:
        yield
    finally:
        model.zero_grad(set_to_none=True)
        _lay_out(model.eval().to(home), torch.contiguous_format)


def _lay_out(model: nn.Module, memory: torch.memory_format) -> None:
    model.to(memory_format=memory)  # type: ignore[call-overload]


def _require_trainable(model: nn.Module, recipe: AbstractRecipe, data: DataSet, test: DataSet | None) -> None:
    anchor = next((parameter for parameter in model.parameters() if parameter.requires_grad), None)
    require(anchor is not None, "model", "have parameters that require a gradient", "none")
    assert anchor is not None
    picture = recipe.augment is None or len(data.shape) == 3
    require(picture, "recipe", "augment images (channels, height, width) alone", f"points of shape {data.shape}")
    for name, labelled in (("data", data), ("test", test)):
        if labelled is not None:
            probe = labelled.select(slice(2)).points.to(anchor.dtype)
            classes = require_model(model, probe, gradient=False)
            greatest = int(labelled.labels.max())
            rule = f"have labels below {classes}, the number of the model's logits"
            require(greatest < classes, name, rule, f"label {greatest}")
