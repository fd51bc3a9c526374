"""Classifiers: pixels in, logits out, normalisation inside; and the questions asked of one before it is measured."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn

from separatrix.checks import as_tensor, few, refusal, require, require_full_precision, require_range

Model = Callable[[Tensor], Tensor]
"""Anything that maps inputs ``(n, *shape)`` to logits ``(n, c)``; one score f a sample stands for the logits (0, f)."""

_PROBED = 8  # points that a model is asked about before it is measured
_SCALES = (0.5, 4.0, -4.0)  # where it is asked again when it seems to answer probabilities
_ABOUT_SHAPE = re.compile(r"shape|size|channel|dimension|elements|height|width|\b\d+-?D\b", re.IGNORECASE)
_DIFFERENTIABLE = "be differentiable in its input"
_NO_GRADIENT = (
    "model",
    _DIFFERENTIABLE,
    "logits without a gradient",
    "Remove `no_grad`, `detach` and NumPy from its forward pass.",
)


class Classifier(nn.Module):
    """A trained network with its normalisation inside, so that distances are measured in the units of the data.

    Args:
        module: The network, in eval mode.
        mean: Subtracted from the input: one number, or one a channel.
        std: Divides the centred input: one number, or one a channel.
        bounds: Least and greatest value an input may have, such as ``(0, 1)`` for pixels. Points outside are
            refused, which finds wrong units; searches for the boundary are never clipped to it.
        logits: Takes the logits out of what the network returns, such as ``lambda out: out.logits``.
    """

    mean: Tensor | None
    std: Tensor | None

    def __init__(
        self,
        module: nn.Module,
        mean: float | Sequence[float] | Tensor | None = None,
        std: float | Sequence[float] | Tensor | None = None,
        bounds: tuple[float, float] | None = None,
        logits: Callable[[Any], Tensor] | None = None,
    ) -> None:
        super().__init__()
        require(isinstance(module, nn.Module), "module", "be a torch.nn.Module", type(module).__name__)
        if bounds is not None:
            require_range(bounds, "bounds")
        takes = logits is None or callable(logits)
        require(takes, "logits", "be callable with what the module returns", type(logits).__name__)
        self.module, self.bounds, self.logits = module, bounds, logits
        anchor = next((part for part in _tensors(module) if part.is_floating_point()), torch.empty(0))
        self.register_buffer("mean", _channel(mean, "mean", anchor), persistent=False)
        self.register_buffer("std", _channel(std, "std", anchor), persistent=False)
        require(self.std is None or bool((self.std > 0).all()), "std", "be above 0", std)
        self.training = module.training  # not .train(): the module's own parts may differ, and stay as they are

    def forward(self, points: Tensor) -> Tensor:
        """Logits ``(n, c)`` of inputs in the data's units."""
        if self.mean is not None:
            points = points - _aligned(self.mean, points)
        if self.std is not None:
            points = points / _aligned(self.std, points)
        answer = self.module(points)
        return answer if self.logits is None else self.logits(answer)


def _channel(values: float | Sequence[float] | Tensor | None, name: str, anchor: Tensor) -> Tensor | None:
    if values is None:
        return None
    rule = "be one number, or one a channel"
    channels = as_tensor(values, name, rule, anchor.dtype, anchor.device).clone()
    require(channels.ndim <= 1, name, rule, f"shape {tuple(channels.shape)}")
    return channels


def _tensors(module: nn.Module) -> Iterator[Tensor]:
    """Parameters, then buffers."""
    return chain(module.parameters(), module.buffers())


def _aligned(channels: Tensor, points: Tensor) -> Tensor:
    """One value a channel, where a channel is the axis after the batch."""
    return (
        channels.to(points.dtype)
        if channels.ndim == 0
        else channels.to(points.dtype).view(-1, *[1] * (points.ndim - 2))
    )


def logits_of(model: Model, points: Tensor) -> Tensor:
    """Logits ``(n, c)``, c ≥ 2: a model with one score f a sample is the two-class model (0, f)."""
    logits = model(points)
    if logits.ndim == 1 or logits.shape[1] == 1:
        score = logits.reshape(-1, 1)
        return torch.cat([torch.zeros_like(score), score], dim=1)
    return logits


def device_of(model: Model, points: Tensor) -> torch.device:
    """Where the model lives; where the points are, if it has neither parameters nor buffers."""
    anchor = next(_tensors(model), None) if isinstance(model, nn.Module) else None
    return points.device if anchor is None else anchor.device


def require_model(model: Model, points: Tensor, *, gradient: bool = True) -> int:
    """Refuse a model that cannot be measured at these points; say what is wrong with it by name. Returns c.

    Asks it once about at most eight points: logits, finite, one row a point, differentiable, input left alone. Where
    these look like probabilities, it is asked again at other points.
    """
    require(callable(model), "model", "be callable, inputs (n, *shape) to logits (n, c)", type(model).__name__)
    if isinstance(model, nn.Module):
        _require_eval_mode(model)
        _require_precision(model, points.dtype)
    bounds = getattr(model, "bounds", None)
    if bounds is not None:
        require_range(bounds, "model.bounds")
        _require_within(points, bounds)
    with torch.set_grad_enabled(gradient):
        return _require_logits_at(model, points[:_PROBED], gradient)


def _require_eval_mode(model: nn.Module) -> None:
    """Refuse training mode in any part but a ``Classifier``, whose own says nothing."""
    parts = ((name, part) for name, part in model.named_modules() if not isinstance(part, Classifier))
    training = [name or type(model).__name__ for name, part in parts if part.training]
    require(not training, "model", "be in eval mode", f"training mode in {few(training)}", "Call `model.eval()`.")


def _require_precision(model: nn.Module, wanted: torch.dtype) -> None:
    """Refuse a model of several precisions, of half precision, or of another one than the points."""
    kinds: dict[torch.dtype, str] = {}
    for name, tensor in _named_tensors(model):
        if tensor.is_floating_point():
            kinds.setdefault(tensor.dtype, f"{tensor.dtype} in {name}")
    got = " and ".join(kinds.values())
    _model_must(len(kinds) <= 1, "have one precision throughout", got, f"Convert with `model.to({wanted})`.")
    for dtype in kinds:
        require_full_precision(dtype, "model")
        got, fix = f"{wanted} points for a {dtype} model", f"Convert with `.to({dtype})`."
        require(dtype == wanted, "points", "have the model's precision", got, fix)


def _named_tensors(model: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """Parameters and buffers, but for the mean and std of a ``Classifier``, which follow the points."""
    for place, part in model.named_modules():
        if not isinstance(part, Classifier):
            for name, tensor in chain(part.named_parameters(recurse=False), part.named_buffers(recurse=False)):
                yield f"{place}.{name}".lstrip("."), tensor


def _require_within(points: Tensor, bounds: tuple[float, float]) -> None:
    least, greatest = float(points.min()), float(points.max())
    slack = 1e-4 * (bounds[1] - bounds[0])
    inside = bounds[0] - slack <= least and greatest <= bounds[1] + slack
    rule = f"lie within the model's bounds [{bounds[0]:g}, {bounds[1]:g}]"
    require(inside, "points", rule, f"values from {least:g} to {greatest:g}", "Are the units right?")


def _require_logits_at(model: Model, points: Tensor, gradient: bool) -> int:
    """What ``require_model`` asks, of one point alone where the memory does not suffice for more."""
    try:
        return _require_logits(model, points.detach().to(device_of(model, points), copy=True), gradient)
    except torch.OutOfMemoryError:
        if len(points) == 1:
            raise
    return _require_logits_at(model, points[:1], gradient)


def _require_logits(model: Model, probe: Tensor, gradient: bool) -> int:
    before = probe.clone()
    seen = probe.requires_grad_(gradient).clone()  # a non-leaf, so that models that write into it can be named
    logits = _ask(model, seen)
    wrap = "Wrap it: `Classifier(model, logits=lambda out: out.logits)`."
    _model_must(isinstance(logits, Tensor), "return a tensor of logits (n, c)", type(logits).__name__, wrap)
    require_full_precision(logits.dtype, "model's logits", pixels=False)
    got, fix = f"{logits.dtype} logits for {probe.dtype} points", "Return `logits.to(points.dtype)`."
    _model_must(logits.dtype == probe.dtype, "return logits in the points' precision", got, fix)
    unchanged = bool(torch.equal(seen, before))
    _model_must(unchanged, "leave its input as it was", "an input changed in place", "Clone the input first.")
    per_row = 0 < logits.ndim <= 2 and len(logits) == len(probe) and logits.numel() > 0
    got = f"shape {tuple(logits.shape)} for {len(probe)} points"
    _model_must(per_row, "return logits (n, c), one row a point", got)
    _model_must(bool(torch.isfinite(logits).all()), "return finite logits", "NaN or inf")
    labels_alone = not gradient and bool(((logits == 0) | (logits == 1)).all())  # all that a black box may tell
    if not labels_alone:
        _require_no_probabilities(model, probe.detach(), logits.detach())
    if gradient:
        _require_gradient(logits, probe)
    return 2 if logits.ndim == 1 or logits.shape[1] == 1 else logits.shape[1]


def _model_must(holds: bool, rule: str, got: object, fix: str = "") -> None:
    require(holds, "model", rule, got, fix)


def _ask(model: Model, points: Tensor) -> Tensor:
    try:
        return model(points)
    except torch.OutOfMemoryError:
        raise
    except Exception as error:
        raise _understood(error, points) from error


def _understood(error: Exception, points: Tensor) -> ValueError:
    """What is wrong with a model that raises this error, or with the points."""
    reason = _first_line(error)
    if "Can't call numpy()" in reason:
        return refusal(*_NO_GRADIENT)
    if "inference tensor" in reason.lower():
        fix = "Make it outside, or copy it there: `copy.deepcopy(model)`."
        return refusal("model", "be made outside `torch.inference_mode`", "inference tensors", fix)
    if isinstance(error, (RuntimeError, ValueError, AssertionError)) and _ABOUT_SHAPE.search(reason):
        return refusal("points", "have a shape the model accepts", f"{tuple(points.shape)}: {reason}")
    return refusal("model", "answer the points", _told(error))


def _told(error: Exception) -> str:
    return ": ".join(filter(None, [type(error).__name__, _first_line(error)]))


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0].rstrip(". ")


def _require_no_probabilities(model: Model, probe: Tensor, logits: Tensor) -> None:
    """Refuse what looks like probabilities wherever the model is asked, unless it is the same everywhere."""
    if not _like_probabilities(logits):
        return
    answers = torch.cat([logits, *_answers_elsewhere(model, probe)])
    answers = answers[~answers.reshape(len(answers), -1).isnan().any(1)]
    of_one_logit = answers.shape[1:] == (1,) and bool((answers == 1).all())
    _require_before("softmax", not of_one_logit, "1 for every point")
    constant = bool((answers == answers[0]).all())
    sound = constant or not _like_probabilities(answers)
    if answers.shape[1:] in ((), (1,)):
        _require_before("sigmoid", sound, "scores in [0, 1]")
    _require_before("softmax", sound, "rows in [0, 1] that sum to 1")


def _require_before(layer: str, holds: bool, got: str) -> None:
    _model_must(holds, f"return logits, before {layer}", got, f"Return what goes into the {layer}.")


def _like_probabilities(answers: Tensor) -> bool:
    """Whether rows lie in [0, 1] and sum to 1; for one score a sample, whether it lies in [0, 1]."""
    rows = answers.reshape(len(answers), -1)
    on_simplex = rows.shape[1] == 1 or bool(((rows.sum(1) - 1).abs() < 1e-4).all())
    return on_simplex and bool(((rows >= 0) & (rows <= 1)).all())


def _answers_elsewhere(model: Model, probe: Tensor) -> list[Tensor]:
    """The model's answers at shorter, longer and opposite points, as far as it has any for those."""
    answers: list[Tensor] = []
    for scale in _SCALES:
        with torch.no_grad(), suppress(Exception):
            answers.append(model(scale * probe))
    return answers


def _require_gradient(logits: Tensor, probe: Tensor) -> None:
    require(logits.requires_grad, *_NO_GRADIENT)
    try:
        (slope,) = torch.autograd.grad(logits.sum(), probe, allow_unused=True)
    except torch.OutOfMemoryError:
        raise
    except Exception as error:
        raise refusal("model", _DIFFERENTIABLE, _told(error)) from error
    require(slope is not None, *_NO_GRADIENT)
