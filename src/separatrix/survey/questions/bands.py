"""How far is the boundary when a perturbation may hold one band of frequencies alone?"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from separatrix.classifier import Classifier
from separatrix.norms import L2
from separatrix.search import DeepFool, Slide, minimal_perturbation
from separatrix.subspaces import Subspace, dct_bands
from separatrix.survey.question import Answered, Cost, Inputs, Question
from separatrix.tables import Column

_SEARCH, _REFINE = DeepFool(candidates=3), Slide(steps=4)
_STEPS, _RETRIES = 20, 1  # high bands often have no boundary within reach, and cost all there is
_SAMPLES = 100  # a band costs about as much as a margin, and there are 14 or so


def _bands(shape: Sequence[int]) -> tuple[Subspace, ...]:
    """Blocks along the DCT diagonal, from the lowest frequencies to the highest; the last may be narrower."""
    return dct_bands(shape, max(2, round(min(shape[-2:]) / 14)))


def _ask(model: Classifier, points: Tensor, ids: Tensor, seed: int) -> Answered:
    bands = _bands(points.shape[1:])
    answers = [
        minimal_perturbation(
            model,
            points,
            method=_SEARCH,
            subspace=band,
            refine=_REFINE,
            max_steps=_STEPS,
            retries=_RETRIES,
            seed=seed,
            ids=ids,
        )
        for band in bands
    ]
    return Answered(
        {
            "id": ids.repeat_interleave(len(bands)),
            "band": torch.arange(len(bands)).repeat(len(points)),
            "dim": torch.tensor([band.dim for band in bands]).repeat(len(points)),
            "distance": torch.stack([answer.distance for answer in answers], dim=1).flatten(),
            "found": torch.stack([answer.found for answer in answers], dim=1).flatten(),
        }
    )


def _cost(inputs: Inputs) -> Cost:
    """Measured on a LeNet, repeats that pad a batch among them: 32 forwards and 16 gradients a band."""
    bands = len(_bands(inputs.shape))
    return Cost(forwards=32 * bands, gradients=16 * bands)


BANDS = Question(
    name="bands",
    asks="How far is the boundary when a perturbation may hold one band of frequencies alone?",
    columns=(
        Column("id", "identity", meaning="Number that names the sample in its data set."),
        Column(
            "band",
            "label",
            meaning="Which block of frequencies on the diagonal of the cosine transform the perturbation may hold, "
            "0 the lowest.",
        ),
        Column("dim", "count", meaning="Dimensions of the band: its frequencies times the channels."),
        Column(
            "distance",
            "upper bound",
            "input units",
            str(L2),
            "ℓ2 length of the shortest perturbation found within the band that changes the model's answer; infinite "
            "where none was found.",
        ),
        Column("found", "flag", meaning="Whether the search met the boundary within the band."),
    ),
    ask=_ask,
    cost=_cost,
    needs=("gradients", "images"),
    samples=_SAMPLES,
)
