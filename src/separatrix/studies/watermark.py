"""Perturbations that spell words: chapter 3 of "Geometry of adversarial robustness of deep networks"."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from separatrix.norms import L2
from separatrix.search import minimal_perturbation
from separatrix.statistics import wilson
from separatrix.studies.deepfool import DOCUMENT
from separatrix.studies.laboratory import Laboratory, catalogue_needs, seeded
from separatrix.studies.study import Case, Measured, Study
from separatrix.studies.verdicts import Interval, Outcome, above, over_trainings
from separatrix.subspaces import words
from separatrix.tables import Column, Rows, as_table, margin_columns, margin_values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHOWN = 6  # images in the figure


@dataclass(frozen=True)
class Watermark:
    """A network, images of its test set, and words.

    Args:
        network: Which.
        images: How many.
        words: What the perturbations spell.
        ratio: Input dimensions d for each dimension m of the subspace.
        seeds: Of the network and its training.
    """

    network: str
    images: int = 200
    words: tuple[str, ...] = ("NIPS", "SPAIN", "2016")
    ratio: int = 228
    seeds: tuple[int, ...] = (0, 1, 2)


def _watermark_cases(settings: Watermark, laboratory: Laboratory) -> list[Case]:
    network, ids = settings.network, laboratory.ids(settings.network)
    return [Case(seeded(network, seed), {"seed": seed}, ids) for seed in settings.seeds]


def _watermark_rows(settings: Watermark, laboratory: Laboratory, case: Case) -> Measured:
    data, model = laboratory.data(settings.network), laboratory.model(case.network)
    dim = max(1, math.prod(data.shape) // settings.ratio)
    subspace = words(data.shape, settings.words, dim, generator=torch.Generator().manual_seed(0))
    boundary = minimal_perturbation(model, data.points, subspace=subspace, ids=data.ids)
    labels = (Column("seed", "label"), Column("dim", "count"), Column("size", "estimate", "input units", "ℓ2"))
    columns = (*labels, *margin_columns("ℓ2"))
    values = {**case.settings, "dim": dim, "size": L2.length(data.points), **margin_values(boundary)}
    chosen = boundary[boundary.found][:_SHOWN]
    pictures = {"start": chosen.start, "end": chosen.end}
    return Measured(as_table(columns, values, len(data)), pictures)


def _watermark_quantities(rows: Rows) -> Mapping[str, str]:
    found = rows.chosen(rows["found"])
    relative = found["distance"] / found["size"]
    return {
        "label changed": f"{len(found):,} of {len(rows):,} images",
        "dimension m": f"{rows['dim'][0]}",
        "median of ‖r‖ / ‖x‖": f"{np.median(relative):.3g}" if len(found) else "–",
    }


def _watermark_claims(_: Watermark, rows: Rows) -> Sequence[Outcome]:
    share = over_trainings([_share_found(part) for part in rows.groups("seed").values()])
    return (above("words change the answer for at least 90 % of the images", share, 0.9),)


def _share_found(rows: Rows) -> Interval:
    hits = int(rows["found"].sum())
    return Interval(hits / len(rows), *wilson(hits, len(rows), 0.95))


def _draw_watermark(rows: Rows, pictures: Mapping[str, Tensor]) -> Figure:
    from separatrix.plots import before_and_after

    title = f"Perturbations spelt in words ({rows['dim'][0]} dimensions)"
    return before_and_after(pictures["start"][:_SHOWN], pictures["end"][:_SHOWN], title=title)


WATERMARK = Study(
    name="deepfool/watermark",
    question="Can words written across an image change the answer?",
    source=f"{DOCUMENT}, Fig. 3.12",
    published={"label changed": "one picture shown, its text barely visible", "dimension m": "660 at 224 × 224 × 3"},
    scales={
        "smoke": Watermark("lenet/sample", images=24, ratio=60, seeds=(0,)),
        "default": Watermark("lenet-32/cifar10"),
        "paper": Watermark("resnet-18/cifar10", images=1_000),
    },
    needs=lambda settings: catalogue_needs((settings.network,), settings.images, settings.seeds),
    cases=_watermark_cases,
    measure=_watermark_rows,
    quantities=_watermark_quantities,
    claims=_watermark_claims,
    draw=_draw_watermark,
    substitutes={
        "smoke": "LeNet on the bundled sample of Fashion-MNIST for a network on ImageNet",
        "default": "LeNet-32 on CIFAR-10 for a network on ImageNet: 13 dimensions",
        "paper": "ResNet-18 on CIFAR-10 for a network on ImageNet: 13 dimensions",
    },
)
