"""What a question of a survey is: what it asks, what it needs and costs, and the rows it leaves."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from torch import Tensor

from separatrix.checks import require
from separatrix.classifier import Classifier
from separatrix.runs import Part
from separatrix.tables import Column, as_table

Need = Literal["gradients", "images"]
"""What a question asks of a model or of its inputs, besides answers: a gradient; height and width as last two axes."""


@dataclass(frozen=True)
class Cost:
    """Evaluations of the model a sample takes, as far as is known beforehand.

    Args:
        forwards: Forward passes.
        gradients: Gradients of one logit or margin.
    """

    forwards: float
    gradients: float = 0.0


@dataclass(frozen=True)
class Inputs:
    """What is known of a model and its data before anything is asked.

    Args:
        shape: Shape of one point.
        classes: How many classes the model tells apart.
    """

    shape: tuple[int, ...]
    classes: int

    @property
    def dim(self) -> int:
        """Input dimensions d."""
        return math.prod(self.shape)

    @property
    def image(self) -> bool:
        """Whether a point is a picture: one or three channels, height and width."""
        return len(self.shape) == 3 and self.shape[0] in (1, 3) and min(self.shape[1:]) >= 4


@dataclass(frozen=True, eq=False)
class Answered:
    """What a question found out about a batch of samples.

    Args:
        values: For each column a tensor or an array with one entry a row, or one value for all rows. A question may
            leave several rows a sample; the rows of a sample stand together, in the order of the batch.
        tensors: Named tensors ``(k, …)`` that pictures are made from, one entry for each of k chosen samples.
    """

    values: Mapping[str, Any]
    tensors: Mapping[str, Tensor] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True)
class Question:
    """One question that a survey asks of any model: a table of its own, a row for each sample and item.

    Args:
        name: Of the question and of its table: letters, digits, hyphens and underscores.
        asks: The question itself, in one sentence.
        columns: What its table holds, ``id`` among them; each with its kind, unit, norm and meaning.
        ask: ``ask(model, points, ids, seed)`` for a batch of points ``(n, *shape)`` named by ids ``(n,)``: what it
            found. A function of these alone, whatever the batch; random numbers are drawn by seed and id.
        cost: What a sample costs, from what is known of the inputs.
        needs: What it cannot be asked without.
        samples: At most so many samples are asked about; None is all.
    """

    name: str
    asks: str
    columns: tuple[Column, ...]
    ask: Callable[[Classifier, Tensor, Tensor, int], Answered]
    cost: Callable[[Inputs], Cost]
    needs: tuple[Need, ...] = ()
    samples: int | None = None

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns]
        require(len(set(names)) == len(names) and "id" in names, "columns", "all differ, with `id` among them", names)
        silent = [column.name for column in self.columns if not column.meaning]
        require(not silent, "columns", "say what they mean", f"nothing for {', '.join(silent)}")

    def part(self, model: Classifier, points: Tensor, ids: Tensor, seed: int) -> Part:
        """What asking about a batch leaves in a run."""
        answered = self.ask(model, points, ids, seed)
        rows = len(answered.values["id"])
        tensors = {self.name: answered.tensors} if answered.tensors else {}
        return Part({self.name: as_table(self.columns, answered.values, rows)}, tensors)


def missing(question: Question, inputs: Inputs, differentiable: bool) -> Sequence[Need]:
    """What a question needs and cannot have here."""
    had = {"gradients": differentiable, "images": inputs.image}
    return [need for need in question.needs if not had[need]]
