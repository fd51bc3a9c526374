"""Which samples does an attack of bounded length fool, at each of several radii?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
from torch import Tensor

from separatrix.attacks import FGSM, PGD, AbstractAttack, Perturbed, perturb
from separatrix.classifier import Classifier
from separatrix.norms import L2, Linf, Norm
from separatrix.survey.question import Answered, Cost, Inputs, Question
from separatrix.tables import Column

_STEPS = 10
_ATTACKS: tuple[tuple[Norm, AbstractAttack], ...] = ((Linf, FGSM()), (Linf, PGD(_STEPS)), (L2, PGD(_STEPS)))
_LEVELS = (0.25, 1, 4, 8, 16, 64)  # of 255: from networks on ImageNet to robust ones on MNIST


def _radii(norm: Norm, bounds: tuple[float, float] | None, dim: int) -> list[float]:
    """The radii asked about, in ascending order.

    In ℓ∞ they are ¼, 1, 4, 8, 16 and 64 of 255 parts of the range between the bounds. In ℓ2 they are half as long as
    the diagonals of those cubes, √d/2 of the same parts, rounded to two digits: 0.014 … 3.5 for 28×28 grey pixels in
    [0, 1], 0.027 … 7 for 32×32 in colour, 0.19 … 49 for 224×224. Without bounds the range counts as 1, whatever the
    points: the units of inputs that were normalised beforehand are coarser, and their radii smaller than they look.
    """
    reach = 1.0 if bounds is None else float(bounds[1]) - float(bounds[0])
    if norm == Linf:
        return [float(f"{reach * level / 255:.6g}") for level in _LEVELS]
    return [float(f"{reach * math.sqrt(dim) / 2 * level / 255:.2g}") for level in _LEVELS]


def _ask(model: Classifier, points: Tensor, ids: Tensor, seed: int) -> Answered:
    bounds, dim = getattr(model, "bounds", None), points[0].numel()
    own = perturb(model, points, radius=0.0, method=FGSM(), seed=seed, ids=ids).labels
    curves, named = [], []
    for norm, method in _ATTACKS:
        radii = _radii(norm, bounds, dim)
        attack = partial(perturb, model, method=method, norm=norm, seed=seed)
        curves.append(_fooled(attack, points, own, ids.to(points.device), radii))
        named += [(str(norm), type(method).__name__, radius) for radius in radii]
    norms, methods, lengths = (np.tile(each, len(points)) for each in zip(*named, strict=True))
    return Answered(
        {
            "id": ids.repeat_interleave(len(named)),
            "own": own.repeat_interleave(len(named)),
            "norm": norms,
            "method": methods,
            "radius": lengths,
            "fooled": torch.cat(curves, dim=1).flatten(),
        }
    )


def _fooled(
    attack: Callable[..., Perturbed], points: Tensor, own: Tensor, ids: Tensor, radii: Sequence[float]
) -> Tensor:
    """Which samples are fooled within each radius ``(n, k)``.

    What fools within a radius lies within all larger ones: a sample once fooled is not attacked again.
    """
    fooled = torch.zeros(len(points), len(radii), dtype=torch.bool, device=points.device)
    standing = torch.arange(len(points), device=points.device)
    for column, radius in enumerate(radii):
        if len(standing) == 0:
            break
        answer = attack(points[standing], own[standing], radius=radius, ids=ids[standing])
        fooled[standing[answer.fooled], column:] = True
        standing = standing[~answer.fooled]
    return fooled


def _cost(inputs: Inputs) -> Cost:
    """What it takes where nothing is fooled; a sample that is fooled is not attacked at larger radii.

    At each radius 2 forwards and a gradient for FGSM, 12 and 10 for PGD; 3 and 1 for the model's own answer.
    """
    walks = sum(isinstance(method, PGD) for _, method in _ATTACKS)
    single = len(_ATTACKS) - walks
    forwards = 2 * single + (_STEPS + 2) * walks
    return Cost(forwards=3 + len(_LEVELS) * forwards, gradients=1 + len(_LEVELS) * (single + _STEPS * walks))


ROBUSTNESS = Question(
    name="robustness",
    asks="Which samples does an attack of bounded length fool, at each of several radii?",
    columns=(
        Column("id", "identity", meaning="Number that names the sample in its data set."),
        Column("own", "label", meaning="The model's own answer at the sample, which the attack tries to change."),
        Column("norm", "label", meaning="Norm that the radius is a length in."),
        Column(
            "method",
            "label",
            meaning=f"Attack: one step of the gradient's signs (FGSM), or {_STEPS} steps from a random start (PGD).",
        ),
        Column(
            "radius",
            "identity",
            "input units",
            f"{Linf} or {L2}",
            "Greatest length that the perturbation may have, in the norm of its row.",
        ),
        Column(
            "fooled",
            "flag",
            meaning="Whether the attack changed the model's answer within the radius or a smaller one asked about, "
            "inside the model's bounds if it has any; where it did not, a stronger one might.",
        ),
    ),
    ask=_ask,
    cost=_cost,
    needs=("gradients",),
)
