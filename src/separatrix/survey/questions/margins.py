"""How far is the decision boundary of each sample, and which class lies beyond?"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn.functional import interpolate

from separatrix.boundary import BoundaryPoints
from separatrix.classifier import Classifier, Model, device_of
from separatrix.fields import Margin
from separatrix.norms import L2, Linf, Norm, per_sample
from separatrix.precision import full_precision
from separatrix.search import DeepFool, minimal_perturbation
from separatrix.survey.question import Answered, Cost, Inputs, Question
from separatrix.tables import Column

SEARCH = DeepFool(candidates=5)
"""How every margin of a survey is searched for."""

_NORMS = {"l2": L2, "linf": Linf}
_SHOWN = 24  # samples of a batch whose pictures are kept
_SIDE = 112  # pixels of a picture's longer side, at most


def _ask(model: Classifier, points: Tensor, ids: Tensor, seed: int) -> Answered:
    answers = {
        name: minimal_perturbation(model, points, method=SEARCH, norm=norm, seed=seed, ids=ids)
        for name, norm in _NORMS.items()
    }
    again = {name: _again(model, answer) for name, answer in answers.items()}
    values: dict[str, Tensor] = {"id": ids, "own": answers["l2"].own}
    for name, answer in answers.items():
        values |= _values(name, answer, again[name])
    values["l2_linf"] = _length(answers["l2"], Linf)
    values["linf_l2"] = _length(answers["linf"], L2)
    values["forwards"] = torch.stack([answer.forwards + answer.found for answer in answers.values()]).sum(0)
    values["gradients"] = torch.stack([answer.gradients for answer in answers.values()]).sum(0)
    return Answered(values, _pictures(getattr(model, "bounds", None), **answers))


def _values(name: str, answer: BoundaryPoints, again: Tensor) -> dict[str, Tensor]:
    return {
        name: answer.distance,
        f"{name}_found": answer.found,
        f"{name}_rival": answer.rival,
        f"{name}_raw": answer.raw_distance,
        f"{name}_alignment": answer.alignment,
        f"{name}_again": again,
    }


def _again(model: Model, answer: BoundaryPoints) -> Tensor:
    """Whether each end, asked again in a batch of its own, still has another answer ``(n,)``."""
    device, again = device_of(model, answer.end), answer.found.clone()
    with full_precision(), torch.no_grad():
        for row in answer.found.nonzero()[:, 0].tolist():
            alone = slice(row, row + 1)
            margin = Margin(model, own=answer.own[alone].to(device))
            again[row] = (margin(answer.end[alone].to(device, copy=True)) >= 0).to(again.device)
    return again


def _length(answer: BoundaryPoints, norm: Norm) -> Tensor:
    """Length of the displacements in another norm ``(n,)``; infinite where none was found."""
    return norm.length(answer.perturbation).where(answer.found, torch.inf)


def _pictures(bounds: tuple[float, float] | None, l2: BoundaryPoints, linf: BoundaryPoints) -> Mapping[str, Tensor]:
    """Pictures of samples at evenly spaced ranks of their ℓ2 distance, the nearest first; none where points are none.

    Only samples found in both norms are shown.
    """
    if not Inputs(tuple(l2.start.shape[1:]), 0).image:
        return {}
    order = l2.distance.argsort(stable=True)
    order = order[(l2.found & linf.found)[order]]
    if len(order) == 0:
        return {}
    rank = torch.linspace(0, len(order) - 1, min(_SHOWN, len(order)), dtype=torch.float64).round().long()
    shown = order[rank.to(order.device)]
    starts = _reduced(l2.start[shown])
    low, high = _scale(starts, bounds)
    return {
        "id": l2.ids[shown],
        "start": _bytes(starts, low, high),
        "low": low,
        "high": high,
        "l2_added": _reduced(l2.perturbation[shown]).half(),
        "linf_added": _reduced(linf.perturbation[shown]).half(),
    }


def _reduced(pictures: Tensor) -> Tensor:
    """Pictures ``(k, c, h, w)`` whose longer side is 112 at most, by means over areas."""
    height, width = pictures.shape[-2:]
    scale = min(1.0, _SIDE / max(height, width))
    size = (max(1, round(scale * height)), max(1, round(scale * width)))
    return pictures if scale == 1 else interpolate(pictures, size=size, mode="area")


def _scale(pictures: Tensor, bounds: tuple[float, float] | None) -> tuple[Tensor, Tensor]:
    """What is shown black and what is shown white ``(k,)`` each: the bounds, or each picture's own extremes."""
    flat = pictures.flatten(1)
    least = flat.amin(1) if bounds is None else torch.full_like(flat[:, 0], bounds[0])
    greatest = flat.amax(1) if bounds is None else torch.full_like(flat[:, 0], bounds[1])
    return least, greatest.where(greatest > least, least + 1)


def _bytes(pictures: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """Pictures as bytes, 0 at the low end of the scale and 255 at its high end."""
    shares = (pictures - per_sample(low, pictures)) / per_sample(high - low, pictures)
    return (255 * shares).round().clamp(0, 255).to(torch.uint8)


def _columns(name: str, norm: Norm) -> tuple[Column, ...]:
    unit, symbol = "input units", str(norm)
    return (
        Column(
            name,
            "upper bound",
            unit,
            symbol,
            f"{symbol} length of the shortest perturbation found that changes the model's answer: the boundary is no "
            "farther; infinite where none was found.",
        ),
        Column(f"{name}_found", "flag", meaning=f"Whether the search in {symbol} met the boundary."),
        Column(
            f"{name}_rival",
            "label",
            meaning=f"Class beyond the boundary where the search in {symbol} met it; −1 where it did not.",
        ),
        Column(
            f"{name}_raw",
            "upper bound",
            unit,
            symbol,
            f"{symbol} length of the perturbation before it was refined; infinite where none was found.",
        ),
        Column(
            f"{name}_alignment",
            "estimate",
            meaning=f"How nearly the {symbol} perturbation is the shortest nearby: 1 where its length is stationary.",
        ),
        Column(
            f"{name}_again",
            "flag",
            meaning=f"Whether the model, asked about the end of the {symbol} perturbation once more and by itself, "
            "still gives another answer than at the start.",
        ),
    )


def _cost(inputs: Inputs) -> Cost:
    """Measured on networks of two to ten classes: about 15 gradients and 35 forwards a norm, and one to ask again."""
    share = min(max(inputs.classes - 1, 1), 4) / 4  # gradients of a step of the walk, against those of five classes
    return Cost(forwards=2 * 36, gradients=2 * math.ceil(6 + 9 * share))


MARGINS = Question(
    name="margins",
    asks="How far is the decision boundary from each sample, and which class lies beyond?",
    columns=(
        Column("id", "identity", meaning="Number that names the sample in its data set."),
        Column("own", "label", meaning="The model's own answer at the sample, right or wrong."),
        *_columns("l2", L2),
        *_columns("linf", Linf),
        Column(
            "l2_linf",
            "upper bound",
            "input units",
            str(Linf),
            "ℓ∞ length of the perturbation that was sought in ℓ2; infinite where none was found.",
        ),
        Column(
            "linf_l2",
            "upper bound",
            "input units",
            str(L2),
            "ℓ2 length of the perturbation that was sought in ℓ∞; infinite where none was found.",
        ),
        Column("forwards", "count", meaning="Evaluations of the model that the sample took, in both norms together."),
        Column("gradients", "count", meaning="Gradients that the sample took, in both norms together."),
    ),
    ask=_ask,
    cost=_cost,
    needs=("gradients",),
)
