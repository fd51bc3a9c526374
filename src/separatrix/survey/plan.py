"""What a survey will do: its questions, the units they are cut into, and what that is going to take."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from time import perf_counter

import torch
from torch import Tensor, nn

from separatrix.checks import described, require
from separatrix.classifier import device_of, logits_of
from separatrix.precision import full_precision
from separatrix.runs import Unit, fingerprint
from separatrix.runs.environment import versions
from separatrix.survey.question import Cost, Question, missing
from separatrix.survey.subject import Subject
from separatrix.tables import Column

SAMPLES = "samples"
"""The table of the samples themselves: their names and true labels."""

SAMPLE_COLUMNS = (
    Column("id", "identity", meaning="Name of the sample."),
    Column("label", "label", meaning="True class of the sample."),
)

_SMALL, _MANY, _FEW = 2**14, 64, 32  # input dimensions up to which a unit has many samples; how many, otherwise
_PROBED = 16  # points that the pace is measured on
_WHY = {"gradients": "the model has no gradient", "images": "the points are no pictures"}


@dataclass(frozen=True)
class Pace:
    """How fast a model answers, in seconds a sample.

    Args:
        forward: A forward pass.
        gradient: A gradient, its own forward pass left out.
    """

    forward: float
    gradient: float

    def seconds(self, cost: Cost) -> float:
        """What a sample takes that costs so much."""
        return cost.forwards * self.forward + cost.gradients * self.gradient


@dataclass(frozen=True)
class Entry:
    """One question, and the units it is cut into.

    Args:
        question: Which.
        units: What is computed and stored at once, in order.
        cost: Of each sample.
    """

    question: Question
    units: tuple[Unit, ...]
    cost: Cost

    @property
    def samples(self) -> int:
        """How many samples are asked about."""
        return sum(len(unit.ids) for unit in self.units)

    def seconds(self, pace: Pace) -> float:
        """What it will take at this pace, roughly."""
        return self.samples * pace.seconds(self.cost)


@dataclass(frozen=True)
class Plan:
    """The units of a survey: a function of the model, the data, the questions, and how many samples are asked about.

    Args:
        samples: The unit that keeps the samples' names and labels.
        entries: Its questions, in their order.
        unasked: Why the others are not asked, by their names.
    """

    samples: Unit
    entries: tuple[Entry, ...]
    unasked: Mapping[str, str]

    @property
    def units(self) -> tuple[Unit, ...]:
        """All units, the first of every question before the second of any: so that what is there tells of all."""
        rounds = zip_longest(*(entry.units for entry in self.entries))
        return (self.samples, *(unit for unit in chain.from_iterable(rounds) if unit is not None))

    @property
    def questions(self) -> dict[str, Question]:
        """The questions, by their names."""
        return {entry.question.name: entry.question for entry in self.entries}

    def seconds(self, pace: Pace) -> float:
        """What all of it will take at this pace, roughly."""
        return sum(entry.seconds(pace) for entry in self.entries)


def plan(subject: Subject, questions: Sequence[Question]) -> Plan:
    """What asking these questions about a subject comes to."""
    strays = [described(question) for question in questions if not isinstance(question, Question)]
    require(not strays, "questions", "hold questions, such as those of `survey.QUESTIONS`", ", ".join(strays))
    names = [question.name for question in questions]
    require(len(names) > 0, "questions", "hold at least one question", "none")
    require(len(set(names)) == len(names) and SAMPLES not in names, "questions", "have names of their own", names)
    lacking = {question.name: missing(question, subject.inputs, subject.differentiable) for question in questions}
    unasked = {name: _WHY[needs[0]] for name, needs in lacking.items() if needs}
    asked = [question for question in questions if question.name not in unasked]
    entries = tuple(Entry(question, _units(subject, question), question.cost(subject.inputs)) for question in asked)
    return Plan(_samples(subject), entries, unasked)


def pace(model: nn.Module, points: Tensor) -> Pace | None:
    """How fast a model answers a few points; None where it does not."""
    probe = points[:_PROBED].to(device_of(model, points))
    try:
        with full_precision():
            forward = _timed(model, probe, gradient=False)
            return Pace(forward, max(_timed(model, probe, gradient=True) - forward, 0.0))
    except Exception:  # the audit says what is wrong with it
        return None


def _timed(model: nn.Module, probe: Tensor, *, gradient: bool) -> float:
    """Seconds a sample, the better of two tries."""
    return min(_once(model, probe, gradient) for _ in range(2)) / len(probe)


def _once(model: nn.Module, probe: Tensor, gradient: bool) -> float:
    leaf = probe.detach().requires_grad_(gradient)
    start = perf_counter()
    with torch.set_grad_enabled(gradient):
        total = logits_of(model, leaf.clone()).amax(1).sum()
        if gradient:
            torch.autograd.grad(total, leaf)
    if probe.is_cuda:
        torch.cuda.synchronize(probe.device)
    return perf_counter() - start


def _samples(subject: Subject) -> Unit:
    ids = tuple(subject.ids.tolist())
    return Unit(SAMPLES, "", fingerprint({"data": subject.hashes["data"], "version": versions()["separatrix"]}), ids)


def _units(subject: Subject, question: Question) -> tuple[Unit, ...]:
    settings = {
        "question": question.name,
        "columns": [column.name for column in question.columns],
        "data": subject.hashes["data"],
        "seed": subject.seed,
        "version": versions()["separatrix"],
    }
    config = fingerprint(settings)
    cut = _cut(subject.ids[: question.samples], subject.inputs.dim)
    return tuple(Unit(question.name, subject.hashes["model"], config, tuple(ids.tolist())) for ids in cut)


def _cut(ids: Tensor, dim: int) -> Iterator[Tensor]:
    """Units of nearly equal size."""
    most = _MANY if dim <= _SMALL else _FEW
    return iter(ids.tensor_split(math.ceil(len(ids) / most)))
