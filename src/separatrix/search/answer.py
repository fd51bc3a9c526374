"""From the shortest crossings to an answer: asked afresh, with normals, rivals and counts."""

from __future__ import annotations

import torch
from torch import Tensor

from separatrix.boundary import BoundaryPoints
from separatrix.norms import L2, per_sample
from separatrix.search.base import Crossings, Look, Problem, still
from separatrix.search.starts import Attempt

_FARTHEST_NUDGE = 0.01  # of a displacement


def answer(problem: Problem, best: Attempt, gap: Tensor, logits: Tensor, ids: Tensor) -> BoundaryPoints:
    """What was found for each sample, asked once more of the model.

    Args:
        problem: What was searched.
        best: The shortest crossings.
        gap: What ``BoundaryPoints.gap`` says of them ``(n,)``.
        logits: The model's answer at the starts ``(n, c)``.
        ids: The samples' names ``(n,)``.
    """
    crossings = best.crossings
    ends, normals, rival, found = _checked(problem, crossings)
    found = found & ~_everywhere_tied(problem, ends, normals) & ~logits.isnan().any(1)
    ends, normals, rival = _forgotten(ends, ~found), _forgotten(normals, ~found), rival.where(found, -1)
    away = logits.gather(1, rival.clamp_min(0)[:, None])
    rank = (logits > away).sum(1).where(found, -1)
    return BoundaryPoints(
        start=problem.start,
        end=ends,
        normals=normals,
        found=found,
        own=logits.argmax(1),
        rival=rival,
        rival_rank=rank,
        raw_distance=best.raw.where(found, torch.inf),
        gap=gap,
        steps=problem.tally.steps,
        forwards=problem.tally.forwards,
        gradients=problem.tally.gradients,
        ids=ids,
        norm=problem.norm,
        subspace=None,
    )


def _checked(problem: Problem, crossings: Crossings) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Ends that hold when asked again, their normals and rivals; one that fell back, or nearly, is nudged across.

    Those looked at already, and beyond what rounding could undo, are not asked again.
    """
    ends = crossings.points.clone()
    look = Look.none(ends) if crossings.look is None else crossings.look
    holds = crossings.found & look.sure & (crossings.value >= problem.hair)
    normals, rival = L2.steepest(look.gradient), look.rival.clone()
    doubtful = still(crossings.found & ~holds)
    for left in reversed(range(3)):
        if len(doubtful) == 0:
            break
        asked, points = problem[doubtful], ends[doubtful]
        value, look = asked.look(points)
        normals[doubtful] = L2.steepest(look.gradient)
        rival[doubtful], holds[doubtful] = look.rival, value >= 0
        fell = still((value < asked.hair / 2) & (left > 0))
        doubtful = doubtful[fell]
        ends[doubtful] = _nudged(asked[fell], points[fell], value[fell], look.gradient[fell])
    return ends, normals, rival, holds


def _everywhere_tied(problem: Problem, ends: Tensor, normals: Tensor) -> Tensor:
    """Starts whose classes tie and stay tied nearby: there is no boundary there, only a flat place."""
    return (problem.length(ends) == 0) & (normals == 0).flatten(1).all(1)


def _forgotten(vectors: Tensor, rows: Tensor) -> Tensor:
    """NaN in the place of some rows."""
    return vectors.masked_fill(per_sample(rows, vectors), torch.nan)


def _nudged(problem: Problem, points: Tensor, value: Tensor, gradient: Tensor) -> Tensor:
    """As far along the rays from their starts as a linear margin would need, if that is near."""
    ray = points - problem.start
    stretch = (problem.goal - value) / (gradient * ray).flatten(1).sum(1)
    stretch = stretch.nan_to_num(0.0, 0.0, 0.0).clamp(-_FARTHEST_NUDGE, _FARTHEST_NUDGE)
    return points + per_sample(stretch, ray) * ray
