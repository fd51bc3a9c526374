"""Sliding along the boundary towards the start, until the way out leaves at right angles."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from separatrix.checks import require_count
from separatrix.norms import Norm, per_sample
from separatrix.search.base import Crossings, Look, Problem, still
from separatrix.search.ray import Sounding, pull_back, reach

_LEAST_GAIN = 1e-3  # a sample that gains less, as a share of its length, has arrived
_LEAST_SUCCESS = 1e-7
_LEAST_PACE = 0.03
_EDGE_PACE = 0.3  # a sample slower than that has failed twice
_LEAST_SHARE = 0.2  # of each cut in an aim: kinks too small to matter are averaged out


@dataclass(frozen=True)
class Slide:
    """Shortens a crossing: back to the boundary, then along it to where the displacement is parallel to the normal.

    The Hasofer–Lind–Rackwitz–Fiessler iteration of structural reliability, damped per sample: jump to the point
    nearest to the start on the edge where the boundary's linearisation meets what the jumps before aimed at; come
    back to the boundary along the ray from the start, and linearise it there anew; keep only what is shorter. One
    gradient a jump: one that fails tells of the kink it failed at.

    Args:
        steps: Jumps at most; 0 only brings the crossing back to the boundary.
    """

    steps: int = 8

    def __post_init__(self) -> None:
        require_count(self.steps, "steps", 0)

    def refine(self, problem: Problem, crossings: Crossings, start_value: Tensor) -> Crossings:
        """The crossings, none of them longer, each a hair beyond the boundary."""
        best = Crossings(crossings.points.clone(), crossings.length.clone(), crossings.value.clone())
        if self.steps:
            _slide(problem, best, crossings.look or Look.none(best.points), self.steps)
        return pull_back(problem, best, start_value)


@dataclass(frozen=True)
class Cuts:
    """Half-spaces ``⟨gradient, r⟩ ≥ level`` of displacements r that cross a linearisation of the boundary."""

    gradient: Tensor  # (n, *shape)
    level: Tensor  # (n,)

    @staticmethod
    def none(like: Tensor) -> Cuts:
        """Cuts that exclude nothing."""
        return Cuts(torch.zeros_like(like), torch.full_like(like.flatten(1)[:, 0], -1.0))

    @staticmethod
    def at(problem: Problem, sounding: Sounding) -> Cuts:
        """The boundary as it is foretold from a sounding."""
        gradient = problem.confine(sounding.look.gradient)
        along = (gradient * (sounding.points - problem.start)).flatten(1).sum(1)
        return Cuts(gradient, along - sounding.value + problem.goal)

    def __getitem__(self, index: Tensor) -> Cuts:
        return Cuts(self.gradient[index], self.level[index])

    def put(self, index: Tensor, cuts: Cuts) -> None:
        """Replace these samples' cuts."""
        self.gradient[index], self.level[index] = cuts.gradient, cuts.level

    def mixed(self, other: Cuts, share: Tensor) -> Cuts:
        """The cut that both imply: this one's part is ``share``, the other's the rest."""
        mine = per_sample(share, self.gradient)
        return Cuts(mine * self.gradient + (1 - mine) * other.gradient, share * self.level + (1 - share) * other.level)

    def distance(self, norm: Norm) -> Tensor:
        """Length of the shortest displacement that satisfies the cut; negative when none is needed."""
        return self.level / norm.dual_length(self.gradient).clamp_min(torch.finfo(self.level.dtype).tiny)

    def foot(self, norm: Norm) -> Tensor:
        """The shortest displacement that satisfies the cut."""
        return norm.steepest(self.gradient) * per_sample(self.distance(norm), self.gradient)


def nearest_to_both(norm: Norm, first: Cuts, second: Cuts) -> Tensor:
    """Share of the first cut in the mixture whose foot is farthest: the foot on both cuts, by duality."""
    return _share_l2(first, second) if norm.p == 2 else _share_by_golden_section(norm, first, second)


def _share_l2(first: Cuts, second: Cuts) -> Tensor:
    own, other = (cut.gradient.flatten(1) for cut in (first, second))
    aa, bb, ab = (own * own).sum(1), (other * other).sum(1), (own * other).sum(1)
    a, b = bb * first.level - ab * second.level, aa * second.level - ab * first.level
    flat = aa * bb - ab * ab <= 1e-6 * aa * bb
    share = (a.clamp_min(0) / (a.clamp_min(0) + b.clamp_min(0))).nan_to_num(1.0)
    return torch.where(flat, torch.ones_like(share), share)


def _share_by_golden_section(norm: Norm, first: Cuts, second: Cuts, rounds: int = 8) -> Tensor:
    golden = 0.381966
    low, high = torch.zeros_like(first.level), torch.ones_like(first.level)
    for _ in range(rounds):
        left, right = low + golden * (high - low), high - golden * (high - low)
        rising = first.mixed(second, left).distance(norm) < first.mixed(second, right).distance(norm)
        low, high = torch.where(rising, left, low), torch.where(rising, high, right)
    return torch.where(high == 1, high, (low + high) / 2)


@dataclass(frozen=True)
class Trail:
    """What sliding remembers of each sample."""

    latest: Cuts  # linearisation where the last jump met the boundary
    before: Cuts  # what the last jump aimed at, which in turn holds a part of all cuts before it
    pace: Tensor  # share of the jump to be made

    @staticmethod
    def begin(problem: Problem, crossings: Crossings, look: Look) -> Trail:
        """The linearisation at the crossings, asked for where nobody has looked yet."""
        latest, known = Cuts.none(problem.start), look.rival >= 0
        rows = (crossings.found & known).nonzero()[:, 0]
        latest.put(rows, Cuts.at(problem[rows], Sounding(crossings.points[rows], crossings.value[rows], look[rows])))
        rows = still(crossings.found & ~known)
        if len(rows):
            asked, points = problem[rows], crossings.points[rows]
            latest.put(rows, Cuts.at(asked, Sounding(points, *asked.look(points))))
        before = Cuts(latest.gradient.clone(), latest.level.clone())
        return Trail(latest, before, torch.ones_like(problem.hair))

    def aim(self, norm: Norm, active: Tensor) -> Cuts:
        """Where the next jump goes: near the edge where the latest cut meets what the last jump aimed at.

        After failures in a row, to the latest cut alone.
        """
        latest, before = self.latest[active], self.before[active]
        share = nearest_to_both(norm, latest, before).clamp(_LEAST_SHARE, 1 - _LEAST_SHARE)
        return latest.mixed(before, torch.where(self.pace[active] > _EDGE_PACE, share, torch.ones_like(share)))

    def learn(self, active: Tensor, aim: Cuts, cut: Cuts, shorter: Tensor) -> None:
        """Take in what a jump has told; go on faster after a success, slow down after a failure."""
        sloping = (cut.gradient != 0).flatten(1).any(1)
        self.before.put(active[sloping], aim[sloping])
        self.latest.put(active[sloping], cut[sloping])
        pace = self.pace[active]
        self.pace[active] = torch.where(shorter, (1.3 * pace).clamp(max=1), 0.4 * pace)


def _slide(problem: Problem, best: Crossings, look: Look, steps: int) -> None:
    trail, active = Trail.begin(problem, best, look), still(best.found)
    for _ in range(steps):
        if len(active) == 0:
            return
        asked, here, aim = problem[active], best[active], trail.aim(problem.norm, active)
        displacement = here.points - asked.start
        jump = displacement + per_sample(trail.pace[active], displacement) * (aim.foot(problem.norm) - displacement)
        reached, sounding = reach(asked, here, jump, (aim.gradient * jump).flatten(1).sum(1))
        gain = 1 - reached.length / here.length
        trail.learn(active, aim, Cuts.at(asked, sounding), gain > _LEAST_SUCCESS)
        best.put(active, reached)
        going = (gain > _LEAST_GAIN) | ((gain <= _LEAST_SUCCESS) & (trail.pace[active] > _LEAST_PACE))
        active = active[still(going)]
