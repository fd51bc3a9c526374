"""Bad requests, each with its own line."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
import torch

from separatrix.attacks import (
    BIM,
    FGSM,
    PGD,
    SPSA,
    AutoAttack,
    Perturbed,
    perturb,
    robust_accuracy,
    smallest_radius,
    standing,
    zero_gradient_share,
)
from separatrix.norms import L2, Norm
from separatrix.search import minimal_perturbation
from separatrix.testing import Affine

MODEL = Affine.random(3, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float32)
X = torch.full((2, 4), 0.5)
Y = torch.tensor([0, 1])


@dataclass(frozen=True)
class Pixels:
    bounds: tuple[float, float] = (0.0, 1.0)

    def __call__(self, points: torch.Tensor) -> torch.Tensor:
        return MODEL(points)


BAD = {
    "no tensor": (lambda: perturb(MODEL, [0.5], radius=1), "`points` must be a torch tensor"),
    "integers": (lambda: perturb(MODEL, X.int(), radius=1), "`points` must be float32 or float64"),
    "NaN": (lambda: perturb(MODEL, X * float("nan"), radius=1), "`points` must be finite"),
    "negative radius": (lambda: perturb(MODEL, X, radius=-0.1), "`radius` must be finite and ≥ 0; got -0.1"),
    "endless radius": (lambda: perturb(MODEL, X, radius=float("inf")), "`radius` must be finite and ≥ 0; got inf"),
    "endless radii": (
        lambda: perturb(MODEL, X, radius=torch.tensor([0.1, float("inf")])),
        "`radius` must be finite and ≥ 0; got inf.",
    ),
    "complex radii": (lambda: perturb(MODEL, X, radius=torch.tensor([1j, 1])), "`radius` must hold real numbers; got"),
    "flag for a radius": (lambda: perturb(MODEL, X, radius=True), "`radius` must be a number, or one a point (n,)"),
    "text radius": (lambda: perturb(MODEL, X, radius="8/255"), "`radius` must be a number, or one a point (n,)"),
    "three radii": (lambda: perturb(MODEL, X, radius=torch.ones(3)), "`radius` must have shape (2,)"),
    "NaN radius": (lambda: perturb(MODEL, X, radius=torch.tensor([1.0, float("nan")])), "`radius` must be finite"),
    "method class": (lambda: perturb(MODEL, X, radius=1, method=PGD), "`method` must be an attack such as `PGD(steps"),
    "norm text": (lambda: perturb(MODEL, X, radius=1, norm="Linf"), "`norm` must be a Norm"),
    "label range": (lambda: perturb(MODEL, X, Y + 2, radius=1), "`labels` must be classes from 0 to 2; got 2 to 3"),
    "label shape": (lambda: perturb(MODEL, X, Y[:1], radius=1), "`labels` must have shape (2,)"),
    "label floats": (lambda: perturb(MODEL, X, Y.float(), radius=1), "`labels` must hold whole numbers"),
    "target range": (lambda: perturb(MODEL, X, radius=1, targets=3), "`targets` must be classes from 0 to 2; got 3"),
    "box order": (lambda: perturb(MODEL, X, radius=1, box=(1, 0)), "`box` must be a pair (least, greatest)"),
    "box text": (lambda: perturb(MODEL, X, radius=1, box=("a", "b")), "`box` must be a pair (least, greatest)"),
    "box flag": (lambda: perturb(MODEL, X, radius=1, box=False), "`box` must be a pair (least, greatest); got False"),
    "outside box": (lambda: perturb(MODEL, 9 * X, radius=1, box=(0, 1)), "`points` must lie within the box [0, 1]"),
    "outside bounds": (lambda: perturb(Pixels(), 9 * X, radius=1), "`points` must lie within the model's bounds"),
    "batch": (lambda: perturb(MODEL, X, radius=1, batch_size=0), "`batch_size` must be a whole number ≥ 1"),
    "seed": (lambda: perturb(MODEL, X, radius=1, seed=-1), "`seed` must be a whole number from 0 to 2^63 − 1; got -1"),
    "large seed": (lambda: perturb(MODEL, X, radius=1, seed=2**63), "`seed` must be a whole number from 0 to 2^63 − 1"),
    "ids": (lambda: perturb(MODEL, X, radius=1, ids=torch.ones(2)), "`ids` must hold whole numbers"),
    "steps": (lambda: PGD(steps=0), "`steps` must be a whole number ≥ 1; got 0"),
    "restarts": (lambda: PGD(restarts=0), "`restarts` must be a whole number ≥ 1; got 0"),
    "step": (lambda: BIM(step=0), "`step` must be a finite number above 0; got 0"),
    "draws": (lambda: SPSA(draws=0), "`draws` must be a whole number ≥ 1"),
    "width": (lambda: SPSA(width=-1), "`width` must be a finite number above 0"),
    "loss": (lambda: FGSM(loss="ce"), "`loss` must be `Loss` or `Margin`, the class itself; got 'ce'"),
    "version": (lambda: AutoAttack("best"), "`version` must be one of 'standard', 'plus', 'rand'; got 'best'"),
    "aa targets": (
        lambda: perturb(Pixels(), X, radius=1, method=AutoAttack(), targets=1),
        "`targets` must be None for `AutoAttack`",
    ),
    "aa norm": (lambda: perturb(Pixels(), X, radius=1, method=AutoAttack(), norm=Norm(3)), "`norm` must be L2 or Linf"),
    "aa box": (lambda: perturb(MODEL, X, radius=1, method=AutoAttack()), "`box` must be (0, 1) for `AutoAttack`"),
    "aa shape": (lambda: perturb(Pixels(), X, radius=1, method=AutoAttack()), "`points` must be images (n, channels"),
    "aa precision": (
        lambda: perturb(Pixels(), X.double(), radius=1, method=AutoAttack()),
        "`points` must be float32 for `AutoAttack`; got torch.float64. Convert both with `.float()`.",
    ),
    "aa classes": (
        lambda: perturb(Pixels(), X[:, :, None, None], radius=1, method=AutoAttack()),
        "`model` must have four classes or more for `AutoAttack`; got 3",
    ),
    "share": (lambda: smallest_radius(MODEL, X, share=1.1), "`share` must be above 0 and at most 1; got 1.1"),
    "factor": (lambda: smallest_radius(MODEL, X, factor=1), "`factor` must be a number above 1; got 1"),
    "limit": (lambda: smallest_radius(MODEL, X, limit=0), "`limit` must be a finite number above 0"),
    "tolerance": (lambda: smallest_radius(MODEL, X, tolerance=0), "`tolerance` must be a finite number above 0"),
    "no labels": (lambda: robust_accuracy(MODEL, X, None, [0.1]), "`labels` must be the true labels (n,); got None"),
    "radii order": (lambda: robust_accuracy(MODEL, X, Y, [0.2, 0.1]), "`radii` must be in ascending order"),
    "no radii": (lambda: robust_accuracy(MODEL, X, Y, []), "`radii` must be a row of numbers"),
    "negative radii": (lambda: robust_accuracy(MODEL, X, Y, [-1.0]), "`radii` must be finite and ≥ 0"),
    "confidence": (lambda: robust_accuracy(MODEL, X, Y, [0.1], confidence=95), "`confidence` must be a number between"),
    "no boundary": (lambda: standing(X, Y, [0.1]), "`boundary` must be BoundaryPoints; got Tensor"),
    "standing labels": (
        lambda: standing(minimal_perturbation(MODEL, X), Y[:1], [0.1]),
        "`labels` must have shape (2,)",
    ),
    "zero loss": (lambda: zero_gradient_share(MODEL, X, loss="ce"), "`loss` must be `Loss` or `Margin`"),
    "no parts": (lambda: Perturbed.cat([]), "`parts` must hold at least one answer"),
    "two norms": (
        lambda: Perturbed.cat([perturb(MODEL, X, radius=1), perturb(MODEL, X, radius=1, norm=L2)]),
        "`parts` must share one norm; got ℓ2 and ℓ∞",
    ),
    "targets here and there": (
        lambda: Perturbed.cat([perturb(MODEL, X, radius=1), perturb(MODEL, X, radius=1, targets=1)]),
        "`parts` must all have targets, or none; got 1 of 2",
    ),
    "index": (lambda: perturb(MODEL, X, radius=1)[torch.zeros(1, 1).long()], "`index` must have one axis"),
}


@pytest.mark.parametrize("name", BAD)
def test_it_is_refused_by_name(name: str):
    request, line = BAD[name]
    with pytest.raises(ValueError, match=re.escape(line)):
        request()
