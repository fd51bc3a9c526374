"""DeepFool and what it was compared with: chapter 3 of "Geometry of adversarial robustness of deep networks"."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from separatrix.attacks import FGSM, perturb, smallest_radius
from separatrix.classifier import Classifier
from separatrix.data import DataSet
from separatrix.norms import L2, Linf, Norm
from separatrix.search import LBFGS, DeepFool, minimal_perturbation
from separatrix.studies.laboratory import Laboratory, catalogue_needs, seeded
from separatrix.studies.study import Case, Measured, Study
from separatrix.studies.verdicts import (
    Interval,
    Numbers,
    Outcome,
    below,
    bootstrap,
    over_trainings,
    rising,
    weakest,
)
from separatrix.subspaces import Subspace, dct_bands
from separatrix.tables import Column, Rows, as_table, margin_columns, margin_values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DOCUMENT = "Geometry of adversarial robustness of deep networks (2019)"
_NOWHERE = (-math.inf, math.inf)  # no box: lengths are measured, pixels may leave their range
_SEARCHES = {"DeepFool": DeepFool(), "L-BFGS": LBFGS()}
_TABLE = ("lenet/mnist", "fc500-150/mnist", "nin/cifar10", "lenet-32/cifar10")
_METHODS = (("DeepFool", L2), ("L-BFGS", L2), ("FGSM", L2), ("DeepFool", Linf), ("FGSM", Linf))


@dataclass(frozen=True)
class Accuracy:
    """Networks, how many test images of each, the share that FGSM has to fool, and the seeds of the trainings."""

    networks: tuple[str, ...]
    images: int = 100
    share: float = 0.9
    seeds: tuple[int, ...] = (0,)


def _accuracy_cases(settings: Accuracy, laboratory: Laboratory) -> list[Case]:
    return [
        Case(
            seeded(network, seed),
            {"network": network, "seed": seed, "method": method, "norm": str(norm)},
            laboratory.ids(network),
        )
        for network in settings.networks
        for seed in settings.seeds
        for method, norm in _METHODS
    ]


_ACCURACY = (
    Column("network", "label"),
    Column("seed", "label"),
    Column("method", "label"),
    Column("norm", "label"),
    Column("id", "identity"),
    Column("found", "flag"),
    Column("correct", "flag"),
    Column("relative", "upper bound", "lengths of the image"),
    Column("steps", "count"),
    Column("forwards", "count"),
    Column("gradients", "count"),
)


def _accuracy_rows(settings: Accuracy, laboratory: Laboratory, case: Case) -> Measured:
    data, model = laboratory.data(str(case.settings["network"])), laboratory.model(case.network)
    method, norm = str(case.settings["method"]), Linf if case.settings["norm"] == str(Linf) else L2
    measured = (
        _by_fgsm(model, data, norm, settings.share) if method == "FGSM" else _by_search(model, data, norm, method)
    )
    with torch.no_grad():
        correct = model(data.points).argmax(1) == data.labels
    named = {**case.settings, "id": data.ids, "correct": correct}
    return Measured(as_table(_ACCURACY, {**named, **measured}, len(data)))


def _by_search(model: Classifier, data: DataSet, norm: Norm, method: str) -> dict[str, Tensor]:
    """The unrefined walk of a search, overshoot included, as published."""
    boundary = minimal_perturbation(model, data.points, method=_SEARCHES[method], norm=norm, refine=None, ids=data.ids)
    counts = {name: getattr(boundary, name) for name in ("found", "steps", "forwards", "gradients")}
    return {"relative": boundary.raw_distance / norm.length(data.points), **counts}


def _by_fgsm(model: Classifier, data: DataSet, norm: Norm, share: float) -> dict[str, Tensor]:
    """One step of the radius that fools so many; the length of the step is what it costs each image."""
    radius = smallest_radius(model, data.points, share=share, method=FGSM(), box=_NOWHERE, ids=data.ids).radius
    if not math.isfinite(radius):
        nothing = torch.zeros(len(data), dtype=torch.long)
        infinite = torch.full((len(data),), math.inf)
        return {"relative": infinite, "found": nothing > 0, "steps": nothing, "forwards": nothing, "gradients": nothing}
    moved = perturb(model, data.points, radius=radius, method=FGSM(), box=_NOWHERE, ids=data.ids)
    one = torch.ones(len(data), dtype=torch.long)
    relative = norm.length(moved.perturbation) / norm.length(data.points)
    return {"relative": relative, "found": moved.fooled, "steps": one, "forwards": one, "gradients": one}


def _mean(values: Numbers) -> float:
    return float(values.mean())


def _ratio_of_means(first: Numbers, second: Numbers) -> float:
    return float(first.mean() / second.mean())


def _lengths(rows: Rows, method: str, norm: Norm) -> Numbers:
    return rows.where("method", method).where("norm", str(norm))["relative"]


def _accuracy_quantities(rows: Rows) -> Mapping[str, str]:
    shown = {}
    for network, part in rows.groups("network").items():
        for method, norm in _METHODS:
            shown[f"{network}: ρ̂ {norm} {method}"] = f"{_mean(_lengths(part, method, norm)):.3g}"
        walked = _walks(part)
        shown[f"{network}: steps of DeepFool"] = f"{_mean(walked['steps']):.2f}"
        shown[f"{network}: gradients an image, DeepFool and L-BFGS"] = " and ".join(
            f"{_mean(part.where('method', method).where('norm', str(L2))['gradients']):.0f}" for method in _SEARCHES
        )
        shown[f"{network}: {_ERROR}"] = f"{1 - _mean(walked['correct'].astype(float)):.1%}"
    return shown


def _accuracy_claims(_: Accuracy, rows: Rows) -> Sequence[Outcome]:
    return [outcome for network, part in rows.groups("network").items() for outcome in _network_claims(network, part)]


def _network_claims(network: str, rows: Rows) -> Sequence[Outcome]:
    trainings = list(rows.groups("seed").values())
    against_lbfgs, against_fgsm, in_linf = (
        over_trainings([_against(part, method, norm) for part in trainings])
        for method, norm in (("L-BFGS", L2), ("FGSM", L2), ("FGSM", Linf))
    )
    steps = over_trainings([bootstrap(_mean, _walks(part)["steps"]) for part in trainings])
    return (
        below(f"{network}: DeepFool is shorter than 1.05 × L-BFGS", against_lbfgs, 1.05),
        below(f"{network}: DeepFool is shorter than half of FGSM", against_fgsm, 0.5),
        below(f"{network}: in ℓ∞, DeepFool is shorter than two thirds of FGSM", in_linf, 2 / 3),
        below(f"{network}: DeepFool takes fewer than three steps on average", steps, 3),
    )


def _against(rows: Rows, method: str, norm: Norm) -> Interval:
    lengths = (_lengths(rows, name, norm) for name in ("DeepFool", method))
    return bootstrap(_ratio_of_means, *lengths, paired=True)


def _walks(rows: Rows) -> Rows:
    return rows.where("method", "DeepFool").where("norm", str(L2))


def _draw_accuracy(rows: Rows, _: Mapping[str, Tensor]) -> Figure:
    from separatrix.plots import compared_dots

    groups = {
        network: {f"{method}, {norm}": _mean(_lengths(part, method, norm)) for method, norm in _METHODS}
        for network, part in rows.groups("network").items()
    }
    return compared_dots(groups, title="How long perturbations are that fool", label="mean of ‖r‖ / ‖x‖ (upper bounds)")


@dataclass(frozen=True)
class Bands:
    """Networks, images of each, the classes that DeepFool looks at, and the seeds of the trainings."""

    networks: tuple[str, ...]
    images: int = 100
    candidates: int | None = None
    seeds: tuple[int, ...] = (0, 1, 2)


_BANDS = (
    Column("network", "label"),
    Column("seed", "label"),
    Column("band", "label"),
    Column("dim", "count"),
    Column("size", "estimate", "input units", "ℓ2"),
    *margin_columns("ℓ2"),
)
_EVERYWHERE = -1


def _bands_cases(settings: Bands, laboratory: Laboratory) -> list[Case]:
    return [
        Case(seeded(network, seed), {"network": network, "seed": seed, "band": band}, laboratory.ids(network))
        for network in settings.networks
        for seed in settings.seeds
        for band in range(_EVERYWHERE, len(dct_bands(laboratory.data(network).shape)))
    ]


def _bands_rows(settings: Bands, laboratory: Laboratory, case: Case) -> Measured:
    data, band = laboratory.data(str(case.settings["network"])), int(case.settings["band"])
    subspace: Subspace | None = None if band == _EVERYWHERE else dct_bands(data.shape)[band]
    method, model = DeepFool(candidates=settings.candidates), laboratory.model(case.network)
    boundary = minimal_perturbation(model, data.points, method=method, subspace=subspace, ids=data.ids)
    dim = math.prod(data.shape) if subspace is None else subspace.dim
    named = {**case.settings, "dim": dim, "size": L2.length(data.points)}
    return Measured(as_table(_BANDS, {**named, **margin_values(boundary)}, len(data)))


def _betas(rows: Rows) -> dict[int, float]:
    """β of each band: √(m/d) times the ratio of the mean relative margins within it and everywhere."""
    bands = rows.groups("band")
    everywhere = bands.pop(_EVERYWHERE)
    return {band: _beta(part, everywhere) for band, part in bands.items()}


def _beta(within: Rows, everywhere: Rows) -> float:
    """Over the images whose boundary was met both within the band and everywhere; NaN where there are none."""
    both = within["found"] & everywhere["found"]
    if not both.any():
        return math.nan
    relative = [part.chosen(both)["distance"] / part.chosen(both)["size"] for part in (within, everywhere)]
    return math.sqrt(within["dim"][0] / everywhere["dim"][0]) * _ratio_of_means(*relative)


def _bands_quantities(rows: Rows) -> Mapping[str, str]:
    shown = {}
    for network, part in rows.groups("network").items():
        shown[f"{network}: β from low to high frequencies"] = " ".join(f"{beta:.3g}" for beta in _betas(part).values())
        shown[f"{network}: found"] = f"{int(part['found'].sum()):,} of {len(part):,}"
    return shown


def _bands_claims(_: Bands, rows: Rows) -> Sequence[Outcome]:
    return [
        weakest([_rise(network, training) for training in part.groups("seed").values()])
        for network, part in rows.groups("network").items()
    ]


def _rise(network: str, training: Rows) -> Outcome:
    curve = _betas(training)
    return rising(f"{network}: β rises with frequency", list(curve), list(curve.values()))


def _draw_bands(rows: Rows, _: Mapping[str, Tensor]) -> Figure:
    from separatrix.plots import lines

    curves = {network: list(_betas(part).values()) for network, part in rows.groups("network").items()}
    return lines(
        curves,
        title="Robustness within bands of frequencies",
        place="band, from low to high frequencies",
        label="β = √(m/d) · ρ̂ within the band / ρ̂ everywhere",
        level=1.0,
    )


_PUBLISHED = {
    "lenet/mnist": ("0.20", "0.25", "1.0", "0.10", "0.26", "1 %", "110 ms, > 4 s, 20 ms"),
    "fc500-150/mnist": ("0.11", "0.12", "0.39", "0.04", "0.11", "1.7 %", "50 ms, > 2 s, 10 ms"),
    "nin/cifar10": ("0.023", "0.024", "0.12", "0.008", "0.024", "11.5 %", "1100 ms, > 50 s, 180 ms"),
    "lenet-32/cifar10": ("0.030", "0.039", "0.13", "0.015", "0.028", "22.6 %", "220 ms, > 7 s, 50 ms"),
    "CaffeNet/ImageNet": ("2.7e-3", "", "3.5e-2", "", "", "42.6 %", ""),
    "GoogLeNet/ImageNet": ("1.9e-3", "", "4.7e-2", "", "", "31.3 %", ""),
}
_ERROR = "test error of these images"


def _published() -> dict[str, str]:
    lengths = (f"ρ̂ {norm} {method}" for method, norm in _METHODS)
    names = (*lengths, _ERROR, "time an image, DeepFool, L-BFGS and FGSM")
    rows = ((network, zip(names, values, strict=True)) for network, values in _PUBLISHED.items())
    return {f"{network}: {name}": value for network, row in rows for name, value in row if value}


ACCURACY = Study(
    name="deepfool/accuracy",
    question="How long are the perturbations that fool a network, by method?",
    source=f"{DOCUMENT}, Tables 3.1 and 3.2",
    published=_published(),
    scales={
        "smoke": Accuracy(("lenet/sample",), images=16),
        "default": Accuracy(_TABLE),
        "paper": Accuracy(_TABLE, images=10_000, seeds=(0, 1, 2)),
    },
    needs=lambda settings: catalogue_needs(settings.networks, settings.images, settings.seeds),
    cases=_accuracy_cases,
    measure=_accuracy_rows,
    quantities=_accuracy_quantities,
    claims=_accuracy_claims,
    draw=_draw_accuracy,
    substitutes={"smoke": "LeNet on the bundled sample of Fashion-MNIST for all networks; no ImageNet at any scale"},
    notes=(
        "Lengths are of the overshot walk, relative to the image in pixels from 0 to 1; the published ones are "
        "relative to the input of each network, mean-subtracted or not. Times are not kept: gradients are counted. The "
        "bound in ℓ∞ was set by the published ratios, 0.33 to 0.54, when a smoke run had been seen. One training of "
        "each network but at the size of the paper: NiN takes an hour and a half on two cores."
    ),
)

BANDS = Study(
    name="deepfool/bands",
    question="Are networks more robust to perturbations of high frequencies?",
    source=f"{DOCUMENT}, Fig. 3.11",
    published={"β over 23 bands (ResNet-50, 1,000 ImageNet pictures)": "rises with frequency"},
    scales={
        "smoke": Bands(("lenet/sample",), images=10, candidates=3, seeds=(0,)),
        "default": Bands(("lenet/mnist", "lenet-32/cifar10")),
        "paper": Bands(("lenet/mnist", "lenet-32/cifar10", "nin/cifar10", "resnet-18/cifar10"), images=1_000),
    },
    needs=lambda settings: catalogue_needs(settings.networks, settings.images, settings.seeds),
    cases=_bands_cases,
    measure=_bands_rows,
    quantities=_bands_quantities,
    claims=_bands_claims,
    draw=_draw_bands,
    substitutes={
        "smoke": "LeNet on the bundled sample of Fashion-MNIST for ResNet-50 on ImageNet",
        "default": "LeNets on MNIST and CIFAR-10 for ResNet-50 on ImageNet; bands two frequencies wide",
        "paper": "four networks on MNIST and CIFAR-10 for ResNet-50 on ImageNet; bands two frequencies wide",
    },
    notes=(
        "β is a ratio of means, of refined lengths; 1 is what chance alone predicts. The p-values treat bands as "
        "independent, which neighbouring ones are not; of several trainings the weakest decides."
    ),
)
