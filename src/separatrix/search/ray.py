"""Back to the boundary along the straight line from where a walk began."""

from __future__ import annotations

from dataclasses import dataclass, fields

import torch
from torch import Tensor

from separatrix.fields import Index
from separatrix.norms import per_sample
from separatrix.search.base import Crossings, Look, Problem, still

_LEAST_SCALE = 0.5  # of a jump: a slope is not trusted farther back


@dataclass(frozen=True)
class Bracket:
    """Two places on each ray between which the margin passes its target, as multiples of the ray."""

    near: Tensor  # below the target
    near_gap: Tensor  # margin − target, negative
    far: Tensor  # at or above it
    far_gap: Tensor
    last: Tensor  # −1 or 1: which end moved last; 0 at first

    def __getitem__(self, index: Index) -> Bracket:
        return Bracket(*(getattr(self, field.name)[index] for field in fields(self)))

    def guess(self) -> Tensor:
        """Where the chord passes the target, strictly inside the bracket."""
        share = (-self.near_gap / (self.far_gap - self.near_gap)).nan_to_num(0.5)
        return self.near + (self.far - self.near) * share.clamp(1e-3, 1 - 1e-3)

    def narrowed(self, at: Tensor, gap: Tensor) -> Bracket:
        """One evaluation taken in; an end that stays twice running weighs half as much (the Illinois rule)."""
        beyond = gap >= 0
        side = torch.where(beyond, 1.0, -1.0).to(gap.dtype)
        weight = torch.where(side == self.last, 0.5, 1.0).to(gap.dtype)
        return Bracket(
            torch.where(beyond, self.near, at),
            torch.where(beyond, self.near_gap * weight, gap),
            torch.where(beyond, at, self.far),
            torch.where(beyond, gap, self.far_gap * weight),
            side,
        )


def pull_back(
    problem: Problem, crossings: Crossings, near_value: Tensor, evaluations: int = 20, near: Tensor | None = None
) -> Crossings:
    """Each crossing brought towards its start along the ray between them, to a hair beyond the boundary.

    The margin is asked ``evaluations`` times at most; no crossing gets longer, and none is given up.

    Args:
        problem: The boundary and the starts.
        crossings: Points beyond the boundary.
        near_value: The margin at ``near``, negative ``(n,)``.
        evaluations: How often to ask.
        near: A place on each ray before the boundary, as a share of it ``(n,)``; None is the start.
    """
    best = Crossings(crossings.points.clone(), crossings.length.clone(), crossings.value.clone())
    target = problem.goal
    one = torch.ones_like(target)
    near = 0 * one if near is None else near
    bracket = Bracket(near, near_value - target, one, crossings.value - target, 0 * one)
    active = torch.arange(len(problem), device=target.device)
    for _ in range(evaluations):
        loose = (best.value[active] > 2 * problem.hair[active]) & (
            bracket.far - bracket.near > 4 * torch.finfo(one.dtype).eps
        )
        kept = still(loose)
        if len(kept) == 0:
            break
        active, bracket = active[kept], bracket[kept]
        asked, at = problem[active], bracket.guess()
        points = asked.start + per_sample(at, asked.start) * (crossings.points[active] - asked.start)
        value = asked.value(points)
        bracket = bracket.narrowed(at, value - target[active])
        crossed = value >= asked.hair
        best.put(active, Crossings(points, torch.where(crossed, asked.length(points), torch.inf), value))
    return best


@dataclass(frozen=True)
class Sounding:
    """A place near the boundary where everything was asked."""

    points: Tensor  # (n, *shape)
    value: Tensor  # (n,) the margin there
    look: Look


def reach(
    problem: Problem, crossings: Crossings, jump: Tensor, slope: Tensor, evaluations: int = 2
) -> tuple[Crossings, Sounding]:
    """The crossings, or shorter ones on the ray through ``start + jump``, and a sounding where it meets the boundary.

    The sounding is made where the slope and the margin at the jump foretell the boundary, no farther than what there
    is already. It is of use whether or not something shorter is found.

    Args:
        problem: The boundary and the starts.
        crossings: What there is already; nothing longer is kept.
        jump: Displacements ``(n, *shape)`` that should end near the boundary.
        slope: How fast the margin rises as the jump is stretched ``(n,)``.
        evaluations: How often to look again along the ray after that, by secants.
    """
    best = Crossings(crossings.points.clone(), crossings.length.clone(), crossings.value.clone())
    length, goal = problem.norm.length(jump), problem.goal
    value = _try(problem, best, jump, torch.ones_like(length), length)
    foretold = (1 + (goal - value) / slope).nan_to_num(1.0).clamp_min(_LEAST_SCALE)
    scale = torch.minimum(foretold, crossings.length / length)
    points = problem.start + per_sample(scale, jump) * jump
    value, look = problem.look(points)
    _keep(problem, best, points, scale * length, value)
    sounding, slope = Sounding(points, value, look), (look.gradient * jump).flatten(1).sum(1)
    for _ in range(evaluations):
        ahead = (scale + (goal - value) / slope).nan_to_num(0.0)
        kept = still((ahead > 0) & (ahead * length < best.length * (1 - 1e-5)))
        if len(kept) == 0:
            break
        reached = _try(problem[kept], shorter := best[kept], jump[kept], ahead[kept], length[kept])
        best.put(kept, shorter)
        slope = slope.index_copy(0, kept, (reached - value[kept]) / (ahead - scale)[kept])
        scale, value = scale.index_copy(0, kept, ahead[kept]), value.index_copy(0, kept, reached)
    return best, sounding


def _try(problem: Problem, best: Crossings, jump: Tensor, scale: Tensor, length: Tensor) -> Tensor:
    """Ask at ``start + scale · jump``, keep it where it crossed and is shorter; the margin there ``(n,)``."""
    points = problem.start + per_sample(scale, jump) * jump
    value = problem.value(points)
    _keep(problem, best, points, scale * length, value)
    return value


def _keep(problem: Problem, best: Crossings, points: Tensor, length: Tensor, value: Tensor) -> None:
    everyone = torch.arange(len(problem), device=value.device)
    best.put(everyone, Crossings(points, torch.where(value >= problem.hair, length, torch.inf), value))
