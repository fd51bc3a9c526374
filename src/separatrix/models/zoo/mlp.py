"""Fully connected networks."""

from __future__ import annotations

import math
from itertools import pairwise

from torch import nn

from separatrix.models.zoo.form import Form


def mlp(form: Form, widths: tuple[int, ...] = (256, 256, 256)) -> nn.Sequential:
    """Hidden layers of the given widths on the flattened input."""
    sizes = (math.prod(form.shape), *widths)
    hidden = [part for pair in pairwise(sizes) for part in (nn.Linear(*pair), form.activate())]
    return nn.Sequential(nn.Flatten(), *hidden, nn.Linear(sizes[-1], form.classes))


def fc500_150(form: Form) -> nn.Sequential:
    """Two hidden layers of 500 and 150 units."""
    return mlp(form, (500, 150))


def mlp10x500(form: Form) -> nn.Sequential:
    """Ten hidden layers of 500 units, whose weights start as He's rule says: others fade over so many layers."""
    network = mlp(form, 10 * (500,))
    for layer in network:
        if isinstance(layer, nn.Linear):
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            nn.init.zeros_(layer.bias)
    return network
