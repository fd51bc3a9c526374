"""Fields: one differentiable number a point. Every measurement in the library is an operation on a field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Protocol, Self

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from separatrix.checks import described, require, require_count
from separatrix.classifier import Model, logits_of

Index = Tensor | slice
Classes = Tensor | int | None


class Field(Protocol):
    """One number a point, differentiable in the point: ``field(points (n, *shape)) -> (n,)``."""

    def __call__(self, points: Tensor) -> Tensor:
        """The field's value at each point."""
        ...

    def __getitem__(self, index: Index) -> Self:
        """The field for these points alone; an index may repeat."""
        ...


@dataclass(frozen=True, eq=False)
class Margin:
    """Signed gap, in logits, to a change of answer: ``f_rival − f_own``.

    Negative before the boundary, zero on it, positive beyond. ``None`` means the strongest other class:
    ``Margin(m, own=k)`` leaves the region of k, ``Margin(m, rival=t)`` enters the region of t,
    ``Margin(m, own=i, rival=j)`` is one pair of classes, whatever the others answer.

    Args:
        model: Maps inputs ``(n, *shape)`` to logits ``(n, c)``.
        own: The class left: one for all points, or one a point ``(n,)``.
        rival: The class entered, likewise.
    """

    model: Model
    own: Classes = None
    rival: Classes = None

    def __post_init__(self) -> None:
        named = self.own is not None or self.rival is not None
        require(named, "own", "be given unless `rival` is", None)
        for name, classes in (("own", self.own), ("rival", self.rival)):
            if classes is not None:
                _require_classes(classes, name)

    def __call__(self, points: Tensor) -> Tensor:
        """``f_rival − f_own`` at each point ``(n,)``."""
        return self.of(logits_of(self.model, points))

    def of(self, logits: Tensor) -> Tensor:
        """The margin ``(n,)`` that these logits ``(n, c)`` amount to."""
        self._require_known(logits)
        upper = _strongest_but(logits, self.own) if self.rival is None else _logit(logits, self.rival)
        lower = _strongest_but(logits, self.rival) if self.own is None else _logit(logits, self.own)
        return upper - lower

    def pairs(self, logits: Tensor, candidates: int | None = None) -> list[Margin]:
        """The margins between two classes each, fixed at these logits, of which this margin is the greatest.

        Args:
            logits: Where to look ``(n, c)``.
            candidates: How many of the highest logits to look at, the own class among them; None: at most ten.
        """
        self._require_known(logits)
        if self.rival is not None:
            own = _without(logits, self.rival).argmax(1) if self.own is None else self.own
            return [replace(self, own=own)]
        count = min(10 if candidates is None else candidates, logits.shape[1]) - 1
        rivals = _without(logits, self.own).topk(count, dim=1).indices
        return [replace(self, rival=rival) for rival in rivals.unbind(1)]

    def __getitem__(self, index: Index) -> Margin:
        return replace(self, own=_selected(self.own, index), rival=_selected(self.rival, index))

    def _require_known(self, logits: Tensor) -> None:
        _require_among(self.own, "own", logits)
        _require_among(self.rival, "rival", logits)


@dataclass(frozen=True, eq=False)
class Loss:
    """Cross-entropy of the model's answer with the given labels: how wrong, in nats, each point is.

    Args:
        model: Maps inputs ``(n, *shape)`` to logits ``(n, c)``.
        labels: True labels: one for all points, or one a point ``(n,)``.
    """

    model: Model
    labels: Tensor | int

    def __post_init__(self) -> None:
        _require_classes(self.labels, "labels")

    def __call__(self, points: Tensor) -> Tensor:
        """Cross-entropy at each point ``(n,)``."""
        logits = logits_of(self.model, points)
        _require_among(self.labels, "labels", logits)
        labels = torch.as_tensor(self.labels, device=logits.device).expand(len(logits))
        return cross_entropy(logits, labels, reduction="none")

    def __getitem__(self, index: Index) -> Loss:
        labels = _selected(self.labels, index)
        assert labels is not None
        return replace(self, labels=labels)


def linearise(field: Field, points: Tensor) -> tuple[Tensor, Tensor]:
    """Values ``(n,)`` and gradients ``(n, *shape)`` of a field: one forward pass, one backward; no graph stays."""
    with torch.enable_grad():
        leaf, seen = watched(points)
        values = field(seen)
        (gradients,) = torch.autograd.grad(values.sum(), leaf)
    return values.detach(), gradients


def linearise_pairs(margin: Margin, points: Tensor, candidates: int | None) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """The margin against each of its strongest rivals in turn: one forward pass, one backward a rival.

    A margin with a rival of its own has that one alone. Gradients come one rival at a time, so that no more than
    one is held at once.

    Args:
        margin: The boundary asked about.
        points: Inputs ``(n, *shape)``.
        candidates: How many of the highest logits to look at, the own class among them; None for all of them up to
            ten classes, and for ten beyond.

    Returns:
        One after the other: rivals ``(n,)``, values ``(n,)`` and gradients ``(n, *shape)`` of ``f_rival − f_own``.
    """
    if candidates is not None:
        require_count(candidates, "candidates", 2)
    return pairs_seen(margin, Seen.at(margin.model, points), candidates)


@dataclass(frozen=True, eq=False)
class Seen:
    """One forward pass that can still be differentiated."""

    leaf: Tensor  # (n, *shape)
    logits: Tensor  # (n, c)

    @staticmethod
    def at(model: Model, points: Tensor) -> Seen:
        """The model's answer at the points, its graph kept."""
        with torch.enable_grad():
            leaf, clone = watched(points)
            return Seen(leaf, logits_of(model, clone))


def pairs_seen(margin: Margin, seen: Seen, candidates: int | None) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """What ``linearise_pairs`` yields, from a forward pass already made; its graph is used up."""
    pairs = margin.pairs(seen.logits.detach(), candidates)
    for left, pair in zip(reversed(range(len(pairs))), pairs, strict=True):
        with torch.enable_grad():
            values = pair.of(seen.logits)
        (gradients,) = torch.autograd.grad(values.sum(), seen.leaf, retain_graph=left > 0)
        yield strongest_rival(pair, seen.logits), values.detach(), gradients


def difference_pairs(
    margin: Margin, points: Tensor, candidates: int | None, basis: Tensor, step: float
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """What ``linearise_pairs`` yields, with gradients within a subspace, from m + 1 forward passes and no gradient.

    Args:
        margin: The boundary asked about.
        points: Inputs ``(n, *shape)``.
        candidates: As in ``linearise_pairs``.
        basis: Orthonormal directions ``(m, *shape)``, or each sample's own ``(n, m, *shape)``.
        step: Length of the displacements whose effect is divided by it.
    """
    directions = basis.expand(len(points), *basis.shape[-points.ndim :])
    with torch.no_grad():
        logits = logits_of(margin.model, points.clone())
        moved = [logits_of(margin.model, points + step * direction) for direction in directions.unbind(1)]
        for pair in margin.pairs(logits, candidates):
            values = pair.of(logits)
            slopes = torch.stack([(pair.of(there) - values) / step for there in moved], dim=1)
            gradients = torch.einsum("nm,nm...->n...", slopes, directions)
            yield strongest_rival(pair, logits), values, gradients


def strongest_rival(margin: Margin, logits: Tensor) -> Tensor:
    """The class ``(n,)`` on the far side of the margin at these logits."""
    if margin.rival is not None:
        return torch.as_tensor(margin.rival, device=logits.device).expand(len(logits))
    return _without(logits, margin.own).argmax(1)


def watched(points: Tensor) -> tuple[Tensor, Tensor]:
    """A leaf to differentiate by, and the non-leaf made from it that a model may see (and clobber)."""
    leaf = points.detach().requires_grad_()
    return leaf, leaf.clone()


def _require_classes(classes: object, name: str) -> None:
    require(isinstance(classes, (Tensor, Integral)), name, "be a class, or one a point (n,)", described(classes))


def _require_among(classes: Classes, name: str, logits: Tensor) -> None:
    """Refuse one class for all that the model does not have; a tensor is left to ``gather``, so that no GPU waits."""
    if isinstance(classes, Integral):
        count = logits.shape[1]
        require(0 <= classes < count, name, f"be a class from 0 to {count - 1}", classes)


def _column(classes: Classes, logits: Tensor) -> Tensor:
    return torch.as_tensor(classes, device=logits.device).expand(len(logits))[:, None]


def _logit(logits: Tensor, classes: Classes) -> Tensor:
    return logits.gather(1, _column(classes, logits))[:, 0]


def _without(logits: Tensor, classes: Classes) -> Tensor:
    return logits.scatter(1, _column(classes, logits), -torch.inf)


def _strongest_but(logits: Tensor, classes: Classes) -> Tensor:
    return _without(logits, classes).max(1).values


def _selected(classes: Classes, index: Index) -> Classes:
    return classes[index] if isinstance(classes, Tensor) and classes.ndim else classes
