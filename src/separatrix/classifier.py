"""Classifiers: pixels in, logits out, normalisation inside; and the questions asked of one before it is measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from separatrix.checks import require, require_full_precision

Model = Callable[[Tensor], Tensor]
"""Anything that maps inputs ``(n, *shape)`` to logits ``(n, c)``; one score f a sample stands for the logits (0, f)."""


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
        ordered = bounds is None or (len(bounds) == 2 and bounds[0] < bounds[1])
        require(ordered, "bounds", "be a pair (least, greatest)", bounds)
        self.module, self.bounds, self.logits = module, bounds, logits
        anchor = next(module.parameters(), torch.empty(0))
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
    channels = torch.as_tensor(values, dtype=anchor.dtype, device=anchor.device).clone()
    require(channels.ndim <= 1, name, "be one number, or one a channel", f"shape {tuple(channels.shape)}")
    return channels


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
    """Where the model lives; where the points are, if it has no parameters."""
    anchor = next(model.parameters(), None) if isinstance(model, nn.Module) else None
    return points.device if anchor is None else anchor.device


def require_model(model: Model, points: Tensor, *, gradient: bool = True) -> int:
    """Refuse a model that cannot be measured at these points; say what is wrong with it by name. Returns c.

    Asks it once about at most eight points: logits, finite, one row a point, differentiable, input left alone.
    """
    require(callable(model), "model", "be callable, inputs (n, *shape) to logits (n, c)", type(model).__name__)
    if isinstance(model, nn.Module):
        _require_sound_module(model, points)
    bounds = getattr(model, "bounds", None)
    if bounds is not None:
        _require_within(points, bounds)
    probe = points[:8].detach().to(device_of(model, points), copy=True)
    with torch.set_grad_enabled(gradient):
        return _require_logits(model, probe, gradient)


def _require_sound_module(model: nn.Module, points: Tensor) -> None:
    training = [name or type(model).__name__ for name, part in model.named_modules() if part.training]
    require(not training, "model", "be in eval mode", f"training mode in {_few(training)}", "Call `model.eval()`.")
    for parameter in model.parameters():
        if parameter.dtype.is_floating_point:
            require_full_precision(parameter.dtype, "model")
            got = f"{points.dtype} points for a {parameter.dtype} model"
            require(
                parameter.dtype == points.dtype,
                "points",
                "have the model's precision",
                got,
                f"Convert with `.to({parameter.dtype})`.",
            )
            return


def _require_within(points: Tensor, bounds: tuple[float, float]) -> None:
    least, greatest = float(points.min()), float(points.max())
    slack = 1e-4 * (bounds[1] - bounds[0])
    inside = bounds[0] - slack <= least and greatest <= bounds[1] + slack
    rule = f"lie within the model's bounds [{bounds[0]:g}, {bounds[1]:g}]"
    require(inside, "points", rule, f"values from {least:g} to {greatest:g}", "Are the units right?")


def _require_logits(model: Model, probe: Tensor, gradient: bool) -> int:
    before = probe.clone()
    seen = probe.requires_grad_(gradient).clone()  # a non-leaf, so that models that write into it can be named
    logits = _ask(model, seen)
    wrap = "Wrap it: `Classifier(model, logits=lambda out: out.logits)`."
    _model_must(isinstance(logits, Tensor), "return a tensor of logits (n, c)", type(logits).__name__, wrap)
    require_full_precision(logits.dtype, "model's logits")
    unchanged = bool(torch.equal(seen, before))
    _model_must(unchanged, "leave its input as it was", "an input changed in place", "Clone the input first.")
    per_row = 0 < logits.ndim <= 2 and len(logits) == len(probe) and logits.numel() > 0
    got = f"shape {tuple(logits.shape)} for {len(probe)} points"
    _model_must(per_row, "return logits (n, c), one row a point", got)
    _model_must(bool(torch.isfinite(logits).all()), "return finite logits", "NaN or inf")
    got, fix = "rows in [0, 1] that sum to 1", "Return what goes into the softmax."
    _model_must(not _are_probabilities(logits), "return logits, before softmax", got, fix)
    if gradient:
        _require_gradient(logits, probe)
    return 2 if logits.ndim == 1 or logits.shape[1] == 1 else logits.shape[1]


def _model_must(holds: bool, rule: str, got: object, fix: str = "") -> None:
    require(holds, "model", rule, got, fix)


def _ask(model: Model, points: Tensor) -> Tensor:
    try:
        return model(points)
    except RuntimeError as error:
        reason = str(error).strip().splitlines()[0]
        raise ValueError(
            f"`points` must have a shape the model accepts; got {tuple(points.shape)}: {reason}"
        ) from error


def _are_probabilities(logits: Tensor) -> bool:
    if logits.ndim != 2 or logits.shape[1] < 2:
        return False
    on_simplex = (logits.min() >= 0) & ((logits.sum(1) - 1).abs().max() < 1e-4)
    soft = ((logits > 0) & (logits < 1)).any()  # a softmax never answers exactly one and zeros everywhere
    spread = (logits.amax(1) - logits.amin(1)).max() > 0  # nor does it often answer 1/c for all
    return bool(on_simplex & soft & spread)


def _require_gradient(logits: Tensor, probe: Tensor) -> None:
    differentiable = logits.requires_grad
    if differentiable:
        (slope,) = torch.autograd.grad(logits.sum(), probe, allow_unused=True)
        differentiable = slope is not None
    require(
        differentiable,
        "model",
        "be differentiable in its input",
        "logits without a gradient",
        "Remove `no_grad`, `detach` and NumPy from its forward pass.",
    )


def _few(names: list[str], most: int = 3) -> str:
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")
