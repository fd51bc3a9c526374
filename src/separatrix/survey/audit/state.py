"""Checks of a model's state and of its inputs' units."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from separatrix.checks import few
from separatrix.classifier import Classifier, require_model
from separatrix.survey.audit.examined import Check, Examined, changed, tensors_of

_SLACK = 1e-4  # of the range: rounding of pixels that were stored as whole numbers
_BYTES = 16.0  # pixels above it are no longer standardised ones


def _mode(examined: Examined) -> tuple[float, str]:
    if not isinstance(examined.model, nn.Module):
        return 0.0, "A plain function, which has no mode."
    parts = [(name, part) for name, part in examined.model.named_modules() if not isinstance(part, Classifier)]
    training = [name or type(part).__name__ for name, part in parts if part.training]
    found = f"in training mode: {few(training)}" if training else "none in training mode"
    return float(len(training)), f"{len(parts)} parts looked at, {found}."


def _precision(examined: Examined) -> tuple[float, str]:
    wanted = examined.given.dtype
    held = {name: tensor for name, tensor in tensors_of(examined.model).items() if tensor.is_floating_point()}
    follows = _following(examined.model)
    odd = [f"{tensor.dtype} in {name}" for name, tensor in held.items() if name not in follows and _odd(tensor, wanted)]
    if not odd and _odd(examined.logits, wanted):
        odd = [f"{examined.logits.dtype} in the logits"]
    return float(len(odd)), f"Points are {wanted}; " + (f"but {few(odd)}." if odd else "so is every weight and logit.")


def _following(model: object) -> set[str]:
    """Names of the mean and std of a ``Classifier``, which follow the points."""
    if not isinstance(model, nn.Module):
        return set()
    places = [place for place, part in model.named_modules() if isinstance(part, Classifier)]
    return {f"{place}.{name}".lstrip(".") for place in places for name in ("mean", "std")}


def _odd(tensor: Tensor, wanted: torch.dtype) -> bool:
    return tensor.dtype != wanted or wanted not in (torch.float32, torch.float64)


def _bounds(examined: Examined) -> tuple[float, str]:
    least, greatest = float(examined.given.min()), float(examined.given.max())
    values = f"Values run from {least:g} to {greatest:g}"
    if examined.model.bounds is None:
        return 0.0, f"{values}; the model states no bounds."
    low, high = examined.model.bounds
    excess = max(low - least, greatest - high, 0.0) / (high - low)
    return excess, f"{values}; the model's bounds are {low:g} to {high:g}."


def _units(examined: Examined) -> tuple[float, str]:
    least, greatest = float(examined.given.min()), float(examined.given.max())
    values = f"Values run from {least:g} to {greatest:g}"
    if examined.model.bounds is not None:
        return _share_filled(examined.model.bounds, greatest - least, values)
    if examined.given.ndim != 4:
        return 0.0, f"{values}; no pictures, so that any unit may be meant."
    size = max(-least, greatest)
    if size <= 1 + _SLACK:
        return 0.0, f"{values}, without bounds: they look like pixels."
    return float("inf"), f"{values}, without bounds: they look {'standardised' if size <= _BYTES else 'like 0 to 255'}."


def _share_filled(bounds: tuple[float, float], width: float, values: str) -> tuple[float, str]:
    room = bounds[1] - bounds[0]
    times = room / width if width > 0 else float("inf")
    return times, f"{values}: the bounds leave room for {times:.3g} times as much."


def _accepted(examined: Examined) -> tuple[float, str]:
    classes = require_model(examined.model, examined.points)
    return 0.0, f"Every question's own tests at the door accept it, with {classes} classes."


def _unchanged(examined: Examined) -> tuple[float, str]:
    names = changed(examined.model, examined.before)
    found = f"answering has changed {few(names)}" if names else "answering has changed none"
    return float(len(names)), f"{len(examined.before)} weights and buffers looked at: {found}."


STATE = (
    # dropout and batch statistics in any one part are enough to change every answer
    Check("eval mode", 0, _mode, "Answers in training mode are not those in use: call `model.eval()`."),
    # half precision tells apart three digits, which is less than margins are measured to
    Check("precision", 0, _precision, "Margins need float32 or float64 throughout: convert with `.float()`."),
    # a ten-thousandth of the range is what rounding of stored pixels comes to
    Check("bounds", _SLACK, _bounds, "Distances are in units that the model does not expect: check the preprocessing."),
    # bytes divided by 255 once too often fill 1/255 of their range; the darkest real batches fill more than 1/50
    Check("units", 50, _units, "Distances are in these units: put mean and std into the model, and state its bounds."),
)

AFTERWARDS = (
    Check("accepted", 0, _accepted, "Other questions refuse this model."),
    # a model that learns while it answers is another model at every step of a search
    Check("weights left", 0, _unchanged, "Later answers are another model's: take what adapts out of the forward."),
)
