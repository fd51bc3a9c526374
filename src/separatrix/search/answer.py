"""From the shortest crossings to an answer: asked afresh, with normals, rivals and counts."""

from __future__ import annotations

import torch
from torch import Tensor

from separatrix.boundary import BoundaryPoints
from separatrix.fields import Margin
from separatrix.norms import L2, per_sample
from separatrix.search.base import Problem, still
from separatrix.search.starts import Attempt

_ROUNDING = 32  # the logits' rounding noise, as a multiple of their size in units in the last place


def rounding(logits: Tensor, margin: Margin) -> Tensor:
    """A margin ``(n,)`` that no batch's rounding hides: of the two highest logits, and of the rival where there is one.

    The other logits may be of any size: a class that is masked by a very low one is none that is looked at.
    """
    meant = logits.topk(2, dim=1).values
    if isinstance(margin.rival, Tensor):
        meant = torch.cat([meant, logits.gather(1, margin.rival[:, None])], dim=1)
    return _ROUNDING * torch.finfo(logits.dtype).eps * meant.abs().amax(1)


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
    ends, normals, rival, found = _checked_afresh(problem, crossings.points.clone(), crossings.found)
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


def _checked_afresh(problem: Problem, ends: Tensor, found: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Ends that hold when asked again, their normals and rivals; one that fell back is nudged outward."""
    normals, rival = torch.full_like(ends, torch.nan), torch.full_like(problem.rows, -1)
    holds, doubtful = torch.zeros_like(found), still(found)
    for _ in range(3):
        if len(doubtful) == 0:
            break
        asked, points = problem[doubtful], ends[doubtful]
        value, gradient, beyond = asked.look(points)
        normals[doubtful] = L2.steepest(gradient)
        rival[doubtful], holds[doubtful] = beyond, value >= 0
        fell = still(value < 0)
        doubtful = doubtful[fell]
        ends[doubtful] = _nudged(asked[fell], points[fell], value[fell], gradient[fell])
    return ends, normals, rival, holds


def _everywhere_tied(problem: Problem, ends: Tensor, normals: Tensor) -> Tensor:
    """Starts whose classes tie and stay tied nearby: there is no boundary there, only a flat place."""
    return (problem.length(ends) == 0) & (normals == 0).flatten(1).all(1)


def _forgotten(vectors: Tensor, rows: Tensor) -> Tensor:
    """NaN in the place of some rows."""
    return vectors.masked_fill(per_sample(rows, vectors), torch.nan)


def _nudged(problem: Problem, points: Tensor, value: Tensor, gradient: Tensor) -> Tensor:
    """As far out along the rays from their starts as a linear margin would need."""
    ray = points - problem.start
    stretch = (problem.goal - value) / (gradient * ray).flatten(1).sum(1)
    return points + per_sample(stretch, ray) * ray
