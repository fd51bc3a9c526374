"""Checks of a model's gradients: there, not zero, and true to what a step does."""

from __future__ import annotations

import torch
from torch import Tensor

from separatrix.fields import Loss, linearise
from separatrix.norms import L2, per_sample
from separatrix.survey.audit.examined import Check, Examined

_RISE = 1e-2  # of the logits' spread: what a step should change, far above the rounding of float32


def _differentiable(examined: Examined) -> tuple[float, str]:
    shape = tuple(examined.gradients.shape)
    return 0.0, f"Gradients of the margin of shape {shape}, one a sample."


def _zero(examined: Examined) -> tuple[float, str]:
    return _dead(examined.gradients, "margin")


def _zero_loss(examined: Examined) -> tuple[float, str]:
    loss = Loss(examined.model, examined.logits.argmax(1))
    return _dead(linearise(loss, examined.points)[1], "cross-entropy")


def _dead(gradients: Tensor, name: str) -> tuple[float, str]:
    rows = gradients.flatten(1)
    dead = (rows == 0).all(1) | ~rows.isfinite().all(1)
    count, total = int(dead.sum()), len(dead)
    return count / total, f"The gradient of the {name} is zero or not finite for {count} of {total} samples."


def _true_to_steps(examined: Examined) -> tuple[float, str]:
    """Central differences along each gradient, against its length."""
    length = L2.length(examined.gradients)
    step = L2.steepest(examined.gradients) * per_sample(_RISE * examined.spread / length, examined.points)
    ahead, behind = (examined.margin.of(examined.ask(examined.points + sign * step)) for sign in (1, -1))
    error = ((ahead - behind) / (2 * _RISE * examined.spread) - 1).abs().nan_to_num(torch.inf, torch.inf)
    value = float(error.median())
    missed = f"the margin's change misses what they say by {value:.2g} of it, in the median"
    return value, f"Short steps along the gradients of {len(error)} samples: {missed}."


GRADIENTS = (
    Check("differentiable", 0, _differentiable, "Remove `no_grad`, `detach` and NumPy from the forward pass."),
    # differences of logits are flat nowhere in a sound network; one flat sample is a sign of masking
    Check("zero gradients", 0, _zero, "No search along gradients can begin there: distances are too long or missing."),
    # what 32 samples can tell at all; above it, attacks on the loss overstate robust accuracy by about that share
    Check("saturated loss", 0.04, _zero_loss, "Attacks on the loss cannot begin there: robust accuracy is overstated."),
    # kinks bend sound networks by a tenth or so within such a step; gradients off by half point somewhere else
    Check("true gradients", 0.5, _true_to_steps, "Gradients are masked: believe searches without gradients instead."),
)
