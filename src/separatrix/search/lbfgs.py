"""The first adversarial perturbations: shortest against most convincing, by L-BFGS (Szegedy et al., 2014)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, fields, replace
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import softplus

from separatrix.checks import require_count
from separatrix.fields import Field, Index, Loss, Margin, strongest_rival
from separatrix.norms import L2, Norm, per_sample
from separatrix.search.base import AbstractSearch, Problem, Step, still

_FIRST = 1 / 4  # the first price, as a share of the loss's slope, half of which is right where the model is affine
_STRIDE = 4.0  # from price to price until one crosses and one does not
_ARRIVED = 1e-3  # a slope this small, as a share of the price, counts as none
_SUFFICIENT = 1e-4  # share of the promised descent that a trial must bring (Armijo)
_SHORTEST_PACE = 1e-3


@dataclass(frozen=True)
class LBFGS(AbstractSearch):
    """Minimise C‖r‖₂ + J(x + r, t), and raise the price C of length for as long as the minimum still crosses.

    J is the cross-entropy towards t, the runner-up at the start, or the class that the question names. C is bisected
    geometrically, per sample, from a bracket that grows out of the slope of J at the start: in the units of the
    points, whatever they are. The shortest minimum that crosses is kept; it stays longer than the distance to the
    boundary where t is not the nearest class, and where the model is unsure: J then weighs all classes, so that,
    unlike other methods, this one depends on the scale of the logits. No box, ℓ2 only.

    Args:
        steps: Prices C tried, each from where the last one that crossed led.
        iterations: Gradients spent on each at most.
        history: Pairs of displacement and change of slope that stand for the Hessian.
    """

    steps: int = 10
    iterations: int = 20
    history: int = 8
    norms: ClassVar[tuple[Norm, ...]] = (L2,)
    scale_free: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_count(self.steps, "steps")
        require_count(self.iterations, "iterations")
        require_count(self.history, "history")

    def begin(self, problem: Problem) -> Tensor:
        """The bracket on C, unknown yet, and the class aimed at: ``(n, 4)``."""
        target = strongest_rival(problem.margin, problem.logits(problem.start)).to(problem.hair.dtype)
        zero = torch.zeros_like(target)
        return torch.stack([zero, zero, zero + torch.inf, target], dim=1)

    def step(self, problem: Problem, points: Tensor, state: Tensor) -> Step:
        """The minimum at one price C (A9), and what it says of the next."""
        price, low, high, target = state.unbind(1)
        loss = _loss(problem.margin, target.long())
        values, gradients = problem.differentiate(points, loss)
        slope = L2.length(gradients)
        price = torch.where(price == 0, _FIRST * slope, price)
        objective = _Objective(problem, loss, price)
        trial = _minimise(objective, objective.begin(points, values, gradients), self.iterations, self.history)
        value = problem.value(trial)
        crossed = value >= 0
        low, high = torch.where(crossed, price, low), torch.where(crossed, high, price)
        ahead = torch.where(per_sample(crossed, points), trial, points)
        return Step(ahead, trial, value, torch.stack([_between(low, high), low, high, target], dim=1), price == 0)


def _between(low: Tensor, high: Tensor) -> Tensor:
    """The geometric mean of a price that crosses and one that does not; a stride on while one of them is unknown."""
    known = torch.where(low == 0, high / _STRIDE, low.sqrt() * high.sqrt())
    return torch.where(high == torch.inf, _STRIDE * low, known)


@dataclass(frozen=True, eq=False)
class _PairLoss:
    """Cross-entropy between two classes alone."""

    margin: Margin

    def __call__(self, points: Tensor) -> Tensor:
        return softplus(-self.margin(points))

    def __getitem__(self, index: Index) -> _PairLoss:
        return replace(self, margin=self.margin[index])


def _loss(margin: Margin, target: Tensor) -> Field:
    """What falls on the way into ``target``; between two named classes, whatever the others answer."""
    pair = margin.own is not None and margin.rival is not None
    return _PairLoss(margin) if pair else Loss(margin.model, target)


@dataclass(frozen=True, eq=False)
class _Place:
    """Where a minimisation stands."""

    points: Tensor  # (n, *shape)
    value: Tensor  # (n,) of the objective
    gradient: Tensor  # (n, *shape) of the objective
    scale: Tensor  # (n,) the inverse Hessian's, before any pair
    pace: Tensor  # (n,) share of the step to try next

    def __getitem__(self, index: Tensor) -> _Place:
        return _Place(*(getattr(self, field.name)[index] for field in fields(self)))


@dataclass(frozen=True, eq=False)
class _Objective:
    """C‖r‖₂ + J(x + r), with the least subgradient at r = 0."""

    problem: Problem
    loss: Field
    price: Tensor  # C (n,)

    def __getitem__(self, index: Tensor) -> _Objective:
        return _Objective(self.problem[index], self.loss[index], self.price[index])

    def __call__(self, points: Tensor) -> tuple[Tensor, Tensor]:
        """Values ``(n,)`` and gradients ``(n, *shape)``."""
        return self.priced(points, *self.problem.differentiate(points, self.loss))

    def priced(self, points: Tensor, losses: Tensor, gradients: Tensor) -> tuple[Tensor, Tensor]:
        """The same, from the loss and its gradient."""
        away = points - self.problem.start
        length = L2.length(away)
        still_there = L2.project(-gradients, self.price)
        pull = torch.where(per_sample(length > 0, away), L2.steepest(away) * per_sample(self.price, away), still_there)
        return losses + self.price * length, gradients + pull

    def begin(self, points: Tensor, losses: Tensor, gradients: Tensor) -> _Place:
        """Steps of the size that the loss suggests at the start, and the length elsewhere."""
        length, slope = self.problem.length(points), L2.length(gradients)
        scale = torch.where(length > 0, length / (2 * self.price), losses / slope.square()).nan_to_num(0, 0, 0)
        return _Place(points, *self.priced(points, losses, gradients), scale, torch.ones_like(scale))


@dataclass(frozen=True, eq=False)
class _Pair:
    """What one step has taught of the Hessian; all zero where it was not taken."""

    moved: Tensor  # (n, *shape) s
    change: Tensor  # (n, *shape) y
    weight: Tensor  # (n,) 1 / ⟨s, y⟩

    def __getitem__(self, index: Tensor) -> _Pair:
        return _Pair(self.moved[index], self.change[index], self.weight[index])


def _minimise(objective: _Objective, here: _Place, iterations: int, history: int) -> Tensor:
    """Where at most so many gradients lead ``(n, *shape)``; a trial that fails costs one and shortens the next."""
    ends, active = here.points.clone(), torch.arange(len(here.points), device=here.points.device)
    pairs: deque[_Pair] = deque(maxlen=history)
    for _ in range(iterations):
        here, pair = _try(objective, here, pairs)
        pairs.append(pair)
        ends[active] = here.points
        settled = (L2.length(here.gradient) <= _ARRIVED * objective.price) | (here.pace < _SHORTEST_PACE)
        kept = still(~settled)
        if len(kept) == 0:
            break
        if bool(settled.any()):
            active, objective, here = active[kept], objective[kept], here[kept]
            pairs = deque((pair[kept] for pair in pairs), maxlen=history)
    return ends


def _try(objective: _Objective, here: _Place, pairs: deque[_Pair]) -> tuple[_Place, _Pair]:
    """One trial: taken where it descends enough, shortened where it does not."""
    step = _quasi_newton(here, pairs) * per_sample(here.pace, here.points)
    promise = _dot(here.gradient, step)
    value, gradient = objective(here.points + step)
    rounding = 4 * torch.finfo(value.dtype).eps * here.value
    taken = value <= here.value + _SUFFICIENT * promise + rounding
    pair = _learn(step, gradient - here.gradient, taken)
    seen = _dot(pair.change, pair.change) > 0
    scale = torch.where(seen, 1 / (pair.weight * _dot(pair.change, pair.change)), here.scale)
    parabola = -promise / (2 * (value - here.value - promise))
    pace = torch.where(taken, torch.ones_like(scale), here.pace * parabola.nan_to_num(0.1).clamp(0.1, 0.5))
    moved = per_sample(taken, step)
    return _Place(
        torch.where(moved, here.points + step, here.points),
        torch.where(taken, value, here.value),
        torch.where(moved, gradient, here.gradient),
        scale,
        pace,
    ), pair


def _learn(step: Tensor, change: Tensor, taken: Tensor) -> _Pair:
    """The pair, where the step was taken and met upward curvature."""
    bend = _dot(step, change)
    useful = taken & (bend > torch.finfo(bend.dtype).eps * L2.length(step) * L2.length(change))
    kept = per_sample(useful, step)
    return _Pair(step * kept, change * kept, torch.where(useful, 1 / bend, torch.zeros_like(bend)))


def _quasi_newton(here: _Place, pairs: deque[_Pair]) -> Tensor:
    """Minus the inverse Hessian times the gradient, by the two loops of Nocedal (1980), sample by sample."""
    ahead, shares = -here.gradient, []
    for pair in reversed(pairs):
        share = per_sample(pair.weight * _dot(pair.moved, ahead), ahead)
        ahead = ahead - share * pair.change
        shares.append(share)
    ahead = ahead * per_sample(here.scale, ahead)
    for pair, share in zip(pairs, reversed(shares), strict=True):
        ahead = ahead + (share - per_sample(pair.weight * _dot(pair.change, ahead), ahead)) * pair.moved
    return ahead


def _dot(left: Tensor, right: Tensor) -> Tensor:
    return (left * right).flatten(1).sum(1)
