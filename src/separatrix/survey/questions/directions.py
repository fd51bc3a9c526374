"""How far is the boundary along directions left to chance, and within subspaces left to chance?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from separatrix.boundary import BoundaryPoints
from separatrix.classifier import Classifier
from separatrix.norms import L2
from separatrix.randomness import normal
from separatrix.search import line_distance, minimal_perturbation
from separatrix.subspaces import random_each
from separatrix.survey.question import Answered, Cost, Inputs, Question
from separatrix.survey.questions.margins import SEARCH
from separatrix.tables import Column

_DRAWS = 3  # random directions a sample
_SAMPLES = 100  # all of it costs a sample about four times as much as its margins
_LINES = 5_000_000  # streams of random numbers, one a draw, apart from those of searches and attacks
_RETRIES = 1
_DENSE = 2**17  # numbers in the basis of one sample, at most; rows of a scrambled cosine transform beyond


def _dims(inputs: int) -> tuple[int, ...]:
    """Dimensions m of the random subspaces: about d/64 and d/16, at least 2 and different as far as d allows."""
    small = min(max(2, round(inputs / 64)), inputs)
    large = min(max(2 * small, round(inputs / 16)), inputs)
    return tuple(sorted({small, large}))


def _ask(model: Classifier, points: Tensor, ids: Tensor, seed: int) -> Answered:
    dims = _dims(points[0].numel())
    answers = [_line(model, points, ids, seed, draw) for draw in range(_DRAWS)]
    answers += [_subspace(model, points, ids, seed, dim) for dim in dims]
    return Answered(
        {
            "id": ids.repeat_interleave(len(answers)),
            "kind": np.tile(["random"] * _DRAWS + ["semi-random"] * len(dims), len(points)),
            "dim": torch.tensor([1] * _DRAWS + list(dims)).repeat(len(points)),
            "draw": torch.tensor([*range(_DRAWS), *[0] * len(dims)]).repeat(len(points)),
            "distance": torch.stack([answer.distance for answer in answers], dim=1).flatten(),
            "found": torch.stack([answer.found for answer in answers], dim=1).flatten(),
        }
    )


def _line(model: Classifier, points: Tensor, ids: Tensor, seed: int, draw: int) -> BoundaryPoints:
    return line_distance(model, points, random_directions(ids, points.shape[1:], seed, draw).to(points), ids=ids)


def random_directions(ids: Tensor, shape: Sequence[int], seed: int, draw: int) -> Tensor:
    """Directions ``(n, *shape)``, uniform among all, a function of (seed, draw, id) alone."""
    return L2.steepest(normal(seed, ids, shape, stream=_LINES + draw, dtype=torch.float64))


def _subspace(model: Classifier, points: Tensor, ids: Tensor, seed: int, dim: int) -> BoundaryPoints:
    within = random_each(tuple(points.shape[1:]), dim, seed=seed, dense_limit=_DENSE)
    return minimal_perturbation(model, points, method=SEARCH, subspace=within, retries=_RETRIES, seed=seed, ids=ids)


def _cost(inputs: Inputs) -> Cost:
    """Measured on a LeNet, repeats that pad a batch among them: 120 forwards a line, 40 and 20 gradients a subspace.

    A line that is scanned to its end on both sides takes 130. Each line ends with one gradient, for its normal.
    """
    subspaces = len(_dims(inputs.dim))
    return Cost(forwards=120 * _DRAWS + 40 * subspaces, gradients=_DRAWS + 20 * subspaces)


DIRECTIONS = Question(
    name="directions",
    asks="How far is the boundary along random directions, and within random subspaces?",
    columns=(
        Column("id", "identity", meaning="Number that names the sample in its data set."),
        Column(
            "kind",
            "label",
            meaning="Whether the perturbation follows one random direction or is the shortest within a random "
            "subspace (semi-random).",
        ),
        Column("dim", "count", meaning="Dimensions the perturbation may use: 1 along a direction, m in a subspace."),
        Column(
            "draw", "label", meaning="Which of the sample's random directions or subspaces of this dimension it is."
        ),
        Column(
            "distance",
            "upper bound",
            "input units",
            str(L2),
            "ℓ2 length of the shortest perturbation found along the direction, forwards or backwards, or within the "
            "subspace, that changes the model's answer; infinite where none was found.",
        ),
        Column(
            "found",
            "flag",
            meaning="Whether the boundary was met, along a direction within four times the sample's own length.",
        ),
    ),
    ask=_ask,
    cost=_cost,
    needs=("gradients",),
    samples=_SAMPLES,
)
