"""The one loop of every search: active set, stopping, counting and bookkeeping. Methods only say how to step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor

from separatrix.classifier import logits_of
from separatrix.fields import (
    Field,
    Index,
    Margin,
    Seen,
    difference_pairs,
    linearise,
    pairs_seen,
    strongest_rival,
    watched,
)
from separatrix.norms import Norm, per_sample

if TYPE_CHECKING:
    from separatrix.subspaces import Subspace


_ROUNDING = 32  # the logits' rounding noise, as a multiple of their size in units in the last place


@dataclass(frozen=True)
class Tally:
    """What each sample of a batch has cost so far."""

    forwards: Tensor  # (n,) long
    gradients: Tensor  # (n,) long
    steps: Tensor  # (n,) long

    @staticmethod
    def zeros(count: int, device: torch.device) -> Tally:
        """Nothing spent yet."""
        forwards, gradients, steps = torch.zeros(3, count, dtype=torch.long, device=device)
        return Tally(forwards, gradients, steps)


@dataclass(frozen=True)
class Look:
    """What is known of points beside their margin."""

    gradient: Tensor  # (n, *shape) of the margin, not confined to the subspace unless by finite differences
    rival: Tensor  # (n,) the class beyond; −1 where nobody has looked, and the gradient is NaN
    sure: Tensor  # (n,) bool: the margin is positive, whatever the rounding of the logits there

    @staticmethod
    def none(like: Tensor) -> Look:
        """Nobody has looked."""
        unknown = like.new_full((len(like),), -1, dtype=torch.long)
        return Look(torch.full_like(like, torch.nan), unknown, unknown > 0)

    def __getitem__(self, index: Index) -> Look:
        return Look(self.gradient[index], self.rival[index], self.sure[index])

    def put(self, index: Tensor, look: Look) -> None:
        """Replace what is known of these points."""
        self.gradient[index], self.rival[index], self.sure[index] = look.gradient, look.rival, look.sure


@dataclass(frozen=True, eq=False)
class Problem:
    """What a search is asked: leave ``start`` by the shortest way, in ``norm``, inside ``subspace``, across ``margin``.

    Everything a method wants to know of the model it asks here, so that it is counted and confined.
    """

    margin: Margin
    start: Tensor  # (n, *shape)
    norm: Norm
    subspace: Subspace | None
    hair: Tensor  # (n,) a margin this large is beyond the rounding noise of the logits
    tally: Tally
    rows: Tensor  # (n,) these samples' places in the tally
    difference: float | None = None  # gradients by finite differences of this length; None: by differentiation
    opening: list[Seen] = field(default_factory=list)  # the pass at the start, for the first who differentiates there

    def __len__(self) -> int:
        return len(self.start)

    def __getitem__(self, index: Index) -> Problem:
        return replace(
            self,
            margin=self.margin[index],
            start=self.start[index],
            subspace=None if self.subspace is None else self.subspace[index],
            hair=self.hair[index],
            rows=self.rows[index],
            opening=[],
        )

    @property
    def goal(self) -> Tensor:
        """The margin ``(n,)`` to aim at: beyond the boundary, whatever the logits' rounding."""
        return 1.5 * self.hair

    def length(self, points: Tensor) -> Tensor:
        """How far ``(n,)`` points are from their starts."""
        return self.norm.length(points - self.start)

    def value(self, points: Tensor) -> Tensor:
        """The margin ``(n,)``; a point with a value of at least zero has crossed."""
        return self.margin.of(self.logits(points))

    def logits(self, points: Tensor) -> Tensor:
        """The model's logits ``(n, c)``, for one forward pass."""
        self._count(forwards=1)
        with torch.no_grad():
            return logits_of(self.margin.model, points.clone())

    def linearise(self, points: Tensor) -> tuple[Tensor, Tensor]:
        """Values ``(n,)`` and gradients within the subspace ``(n, *shape)``."""
        if self.difference is None:
            return self.differentiate(points, self.margin)
        _, values, gradients = next(self.linearise_pairs(points, 2))
        return values, gradients

    def differentiate(self, points: Tensor, field: Field) -> tuple[Tensor, Tensor]:
        """Values of any field of these samples, and its gradients within the subspace."""
        self._count(forwards=1, gradients=1)
        values, gradients = linearise(field, points)
        return values, self.confine(gradients)

    def linearise_pairs(self, points: Tensor, candidates: int | None) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Rivals, values and gradients within the subspace, one strong rival after the other."""
        if self.difference is not None and self.subspace is not None:
            self._count(forwards=1 + self.subspace.dim)
            basis = self.subspace.basis().to(points)
            yield from difference_pairs(self.margin, points, candidates, basis, self.difference)
            return
        for rival, values, gradients in pairs_seen(self.margin, self._seen(points), candidates):
            self._count(gradients=1)
            yield rival, values, self.confine(gradients)

    def _seen(self, points: Tensor) -> Seen:
        if points is self.start and self.opening:
            return self.opening.pop()
        self._count(forwards=1)
        return Seen.at(self.margin.model, points)

    def look(self, points: Tensor) -> tuple[Tensor, Look]:
        """Values ``(n,)``, and what else one forward and one gradient tell there."""
        if self.difference is not None:
            rival, values, gradients = next(self.linearise_pairs(points, 2))
            return values, Look(gradients, rival, torch.zeros_like(values, dtype=torch.bool))
        with torch.enable_grad():
            leaf, seen = watched(points)
            logits = logits_of(self.margin.model, seen)
            values = self.margin.of(logits)
        known = values.requires_grad
        gradients = torch.autograd.grad(values.sum(), leaf)[0] if known else torch.full_like(leaf, torch.nan)
        self._count(forwards=1, gradients=int(known))
        values, logits = values.detach(), logits.detach()
        sure = values >= rounding(logits, self.margin)
        return values, Look(gradients.detach(), strongest_rival(self.margin, logits), sure)

    def confine(self, gradients: Tensor) -> Tensor:
        """The part of gradients inside the subspace; exactly zero where only rounding is left."""
        if self.subspace is None:
            return gradients
        inside = self.subspace.project(gradients)
        noise = 8 * torch.finfo(gradients.dtype).eps * gradients.flatten(1).norm(dim=1)
        return inside * per_sample(inside.flatten(1).norm(dim=1) > noise, inside)

    def _count(self, forwards: int = 0, gradients: int = 0) -> None:
        if forwards:
            self.tally.forwards[self.rows] += forwards
        if gradients:
            self.tally.gradients[self.rows] += gradients


@dataclass(frozen=True)
class Step:
    """What one step of a method came to."""

    points: Tensor  # (n, *shape) where the walk goes on
    trial: Tensor  # (n, *shape) where it asks whether the boundary is behind it
    value: Tensor  # (n,) the margin at the trial
    state: Tensor  # (n, ...) what the method wants back at its next step
    lost: Tensor  # (n,) bool: no way to go
    look: Look | None = None  # what else the method knows of the trial


class AbstractSearch(ABC):
    """How to walk to the boundary: a frozen dataclass of settings with one step.

    ``steps`` is None for a method that ends at its first crossing; a number for one that takes as many steps
    and keeps its shortest crossing. ``difference`` is the length of finite differences for a method that does without
    gradients; such a method needs a subspace. ``pairs_first`` says that the first step linearises pairs at the start,
    so that the pass which finds the own class is kept for it. ``norms`` are those the method works in, None for all;
    ``scale_free`` says that logits times a number change nothing.
    """

    steps: int | None = None
    difference: float | None = None
    pairs_first: ClassVar[bool] = False
    norms: ClassVar[tuple[Norm, ...] | None] = None
    scale_free: ClassVar[bool] = True

    def begin(self, problem: Problem) -> Tensor:
        """What the method carries from step to step, one row a sample."""
        return problem.hair

    @abstractmethod
    def step(self, problem: Problem, points: Tensor, state: Tensor) -> Step:
        """Go on from ``points``, for the samples still walking."""


@dataclass(frozen=True)
class Crossings:
    """The shortest crossing of each sample, where there is one."""

    points: Tensor  # (n, *shape), NaN where none was found
    length: Tensor  # (n,), inf where none was found
    value: Tensor  # (n,) the margin there
    look: Look | None = None  # what else is known of the place

    @property
    def found(self) -> Tensor:
        """Which samples crossed ``(n,)``."""
        return self.length < torch.inf

    @staticmethod
    def none(like: Tensor) -> Crossings:
        """No crossing yet."""
        length = torch.full_like(like.flatten(1)[:, 0], torch.inf)
        return Crossings(torch.full_like(like, torch.nan), length, torch.full_like(length, torch.nan), Look.none(like))

    def __getitem__(self, index: Index) -> Crossings:
        look = None if self.look is None else self.look[index]
        return Crossings(self.points[index], self.length[index], self.value[index], look)

    def put(self, index: Tensor, shorter: Crossings) -> None:
        """Replace these samples' crossings where the new ones are shorter."""
        better = (shorter.length < self.length[index]).nonzero()[:, 0]
        rows = index[better]
        self.points[rows], self.length[rows] = shorter.points[better], shorter.length[better]
        self.value[rows] = shorter.value[better]
        if self.look is not None:
            look = shorter.look
            self.look.put(rows, Look.none(self.points[rows]) if look is None else look[better])


def walk(problem: Problem, method: AbstractSearch, points: Tensor, max_steps: int) -> Crossings:
    """The shortest crossing that a method's walk from ``points`` meets, for each sample."""
    best = Crossings.none(problem.start)
    active, asked, state = torch.arange(len(problem), device=points.device), problem, method.begin(problem)
    for _ in range(method.steps or max_steps):
        taken = method.step(asked, points, state)
        asked.tally.steps[asked.rows] += 1
        crossed = taken.value >= 0
        length = torch.where(crossed, asked.length(taken.trial), torch.inf)
        best.put(active, Crossings(taken.trial, length, taken.value, taken.look))
        walking = ~taken.lost if method.steps else ~(taken.lost | crossed)
        kept = still(walking)
        if len(kept) == 0:
            break
        points, state = taken.points, taken.state
        if not bool(walking.all()):
            active, points, state = active[kept], points[kept], state[kept]
            asked = problem[active]
    return best


def rounding(logits: Tensor, margin: Margin) -> Tensor:
    """A margin ``(n,)`` that no batch's rounding hides: of the two highest logits, and of the rival where there is one.

    The other logits may be of any size: a class that is masked by a very low one is none that is looked at.
    """
    meant = logits.topk(2, dim=1).values
    if isinstance(margin.rival, Tensor):
        meant = torch.cat([meant, logits.gather(1, margin.rival[:, None])], dim=1)
    return _ROUNDING * torch.finfo(logits.dtype).eps * meant.abs().amax(1)


def still(walking: Tensor) -> Tensor:
    """Places of the samples still walking, padded with repeats so that few batch sizes ever occur."""
    kept = walking.nonzero()[:, 0]
    size = min(_rounded_up(len(kept)), len(walking))
    return kept if len(kept) in (0, size) else torch.cat([kept, kept[:1].expand(size - len(kept))])


def _rounded_up(count: int) -> int:
    """The least of 1 … 8, 10, 12, 14, 16, 20, 24, … that is not below: kernels are prepared once a size."""
    unit = 1 << max((count - 1).bit_length() - 3, 0)
    return -(-count // unit) * unit
