"""Would more effort, or no gradient at all, find nearer boundaries? A few margins, measured otherwise."""

from __future__ import annotations

import torch
from torch import Tensor

from separatrix.boundary import BoundaryPoints
from separatrix.classifier import Classifier
from separatrix.norms import L2
from separatrix.randomness import normal
from separatrix.search import Slide, line_distance, minimal_perturbation
from separatrix.survey.question import Answered, Cost, Inputs, Question
from separatrix.survey.questions.margins import SEARCH
from separatrix.tables import Column

_USUAL = Slide()
_LINES = 3  # a sample: two towards others where there are any, the rest by chance
_STREAM = 6_000_000  # of random numbers, apart from those of searches and attacks


def _ask(model: Classifier, points: Tensor, ids: Tensor, seed: int) -> Answered:
    twice = Slide(2 * _USUAL.steps)
    usual = minimal_perturbation(model, points, method=SEARCH, seed=seed, ids=ids)
    doubled = minimal_perturbation(model, points, method=SEARCH, refine=twice, max_steps=100, seed=seed, ids=ids)
    starts = minimal_perturbation(model, points, method=SEARCH, starts=3, seed=seed, ids=ids)
    lines = _along_lines(model, points, usual.own, ids, seed)
    distances = {"l2": usual, "doubled": doubled, "starts": starts}
    values = {name: answer.distance for name, answer in distances.items()}
    return Answered({"id": ids, **values, "gradient_free": lines.distance.view(len(points), _LINES).amin(1)})


def _along_lines(model: Classifier, points: Tensor, own: Tensor, ids: Tensor, seed: int) -> BoundaryPoints:
    """Where lines through each sample cross its boundary: three a sample, one after the other; no gradient is taken."""
    directions, radius = _lines(points, own, ids, seed)
    starts = points.repeat_interleave(_LINES, 0)
    return line_distance(model, starts, directions.flatten(0, 1), radius=radius.flatten(), batch_size=len(points))


def _lines(points: Tensor, own: Tensor, ids: Tensor, seed: int) -> tuple[Tensor, Tensor]:
    """Directions ``(n, 3, *shape)`` and how far to look ``(n, 3)``.

    Up to two of a sample lead to the nearest others that the model answers otherwise, and there lies another answer
    at their end. The pool of others are the samples of this unit, which the plan fixes.
    """
    directions = normal(seed, ids, (_LINES, *points.shape[1:]), stream=_STREAM).to(points)
    size = 4 * L2.length(points)
    radius = torch.where(size > 0, size, 1)[:, None].repeat(1, _LINES)
    apart = torch.cdist(points.flatten(1), points.flatten(1), compute_mode="donot_use_mm_for_euclid_dist")
    apart = apart.where((own[:, None] != own) & (apart > 0), torch.inf)
    count = min(_LINES - 1, len(points))
    nearest = apart.topk(count, largest=False)
    rows, places = nearest.values.isfinite().nonzero(as_tuple=True)
    directions[rows, places] = points[nearest.indices[rows, places]] - points[rows]
    radius[rows, places] = nearest.values[rows, places]
    return directions, radius


def _column(name: str, meaning: str) -> Column:
    return Column(name, "upper bound", "input units", "ℓ2", f"{meaning} Infinite where no boundary was met.")


def _cost(_: Inputs) -> Cost:
    """Counted on a LeNet: most of it goes into the blind lines."""
    return Cost(forwards=560, gradients=75)


CONTROLS = Question(
    name="controls",
    asks="Would more effort, or no gradient at all, find nearer boundaries?",
    columns=(
        Column("id", "identity", meaning="The sample."),
        _column("l2", "Length of the shortest perturbation found, as the margins are measured."),
        _column("doubled", "The same with twice the steps and twice the slides along the boundary."),
        _column("starts", "The shortest of three walks, the first from the sample, the others from noise around it."),
        _column(
            "gradient_free",
            "The nearest crossing on lines towards samples answered otherwise and along random directions; no gradient "
            "is used.",
        ),
    ),
    ask=_ask,
    cost=_cost,
    needs=("gradients",),
    samples=32,
)
"""The margins of at most 32 samples, searched for harder and searched for blindly: neither should find much less."""
