"""What an attack of fixed size came to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from separatrix.checks import require
from separatrix.norms import Norm
from separatrix.records import Index, joined, mapped, rows


@dataclass(frozen=True, eq=False, repr=False)
class Perturbed:
    """Points moved by at most a radius, and whether that fooled the model.

    A sample that was not fooled keeps the perturbation that raised the loss most: that an attack failed does not show
    that none can succeed.

    Attributes:
        start: Points given ``(n, *shape)``.
        end: Points perturbed, within the radius and the box ``(n, *shape)``.
        labels: Classes to get away from: those given, or the model's own answers at ``start`` ``(n,)``.
        answer: The model's answer at ``end`` ``(n,)``.
        fooled: Whether the answer differs from the label; with targets, whether it is the target ``(n,)``.
        radius: Length allowed ``(n,)``.
        forwards: Evaluations of the model ``(n,)``.
        gradients: Gradients of the loss ``(n,)``.
        ids: Numbers that name the samples ``(n,)``.
        norm: The norm the radius is in.
        targets: Classes to get to ``(n,)``, if any were asked for.
    """

    start: Tensor
    end: Tensor
    labels: Tensor
    answer: Tensor
    fooled: Tensor
    radius: Tensor
    forwards: Tensor
    gradients: Tensor
    ids: Tensor
    norm: Norm
    targets: Tensor | None = None

    @property
    def perturbation(self) -> Tensor:
        """Displacement end − start ``(n, *shape)``."""
        return self.end - self.start

    @property
    def length(self) -> Tensor:
        """Length of the displacement ``(n,)``: at most the radius, up to the rounding of the points."""
        return self.norm.length(self.perturbation)

    @property
    def share_fooled(self) -> float:
        """Share of the samples fooled: a lower bound on what the radius allows; NaN for an empty batch."""
        return float(self.fooled.double().mean())

    def __len__(self) -> int:
        return len(self.start)

    def __getitem__(self, index: Index) -> Perturbed:
        chosen = rows(index)
        return mapped(self, lambda tensor: tensor[chosen])

    def __repr__(self) -> str:
        if len(self) == 0:
            return f"Perturbed: no samples, {self.norm}"
        least, greatest = float(self.radius.min()), float(self.radius.max())
        within = f"{least:.3g}" if least == greatest else f"{least:.3g}–{greatest:.3g}"
        cost = f"{_mean(self.gradients):.1f} gradients and {_mean(self.forwards):.1f} forwards a point"
        return f"Perturbed: {int(self.fooled.sum())} of {len(self)} fooled within {within} ({self.norm}); {cost}"

    def to(self, device: torch.device | str) -> Perturbed:
        """The same answer on another device."""
        return mapped(self, lambda tensor: tensor.to(device))

    @staticmethod
    def cat(parts: Iterable[Perturbed]) -> Perturbed:
        """One answer from several, in their order; of one norm, and all with targets or all without."""
        answers = list(parts)
        require(len(answers) > 0, "parts", "hold at least one answer", "none")
        norms = sorted({str(part.norm) for part in answers})
        require(len(norms) == 1, "parts", "share one norm", " and ".join(norms))
        targeted = sum(part.targets is not None for part in answers)
        require(targeted in (0, len(answers)), "parts", "all have targets, or none", f"{targeted} of {len(answers)}")
        return joined(answers)


def _mean(counts: Tensor) -> float:
    return float(counts.double().mean())
