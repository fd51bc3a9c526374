"""Carrying out a survey: the audit first, then every other question, and the report of whatever is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import nn

from separatrix.checks import require, require_count
from separatrix.classifier import Classifier, require_model
from separatrix.data import DataSet
from separatrix.runs import Part, Progress, Run, Unit, carry_out, open_run, read_run
from separatrix.runs.units import Engine, one_by_one
from separatrix.survey.engines import Processes
from separatrix.survey.plan import SAMPLE_COLUMNS, SAMPLES, plan
from separatrix.survey.question import Question
from separatrix.survey.questions import AUDIT, QUESTIONS
from separatrix.survey.subject import Handed, Maker, Subject, as_classifier
from separatrix.tables import as_table

if TYPE_CHECKING:
    from separatrix.report import Section

REPORT = "report.html"
"""The report in the folder of a run."""


class NotMeasurable(ValueError):
    """A model that nothing but the audit could be asked of; its message says why.

    Args:
        reason: What the library's own door says.
        run: What there is: the samples and the audit.
    """

    def __init__(self, reason: str, run: Run) -> None:
        super().__init__(reason)
        self.run = run


@dataclass(frozen=True)
class Shard:
    """The share of a plan that one machine does: every ``of``-th unit, from the ``number``-th on, counted from 1."""

    number: int = 1
    of: int = 1

    def __post_init__(self) -> None:
        sound = type(self.number) is int and type(self.of) is int and 1 <= self.number <= self.of
        require(sound, "shard", "be i/n with 1 ≤ i ≤ n", f"{self.number}/{self.of}")

    def take(self, units: Sequence[Unit]) -> tuple[Unit, ...]:
        """Its units."""
        return tuple(units[self.number - 1 :: self.of])


def survey(
    model: nn.Module,
    data: DataSet,
    *,
    out: Path | str,
    questions: Sequence[Question] = QUESTIONS,
    samples: int = 200,
    seed: int = 0,
    name: str = "",
    workers: int | Engine = 1,
    shard: Shard = Shard(),
    maker: Maker | None = None,
    sections: Sequence[Section] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """The whole picture of a model: every question asked of some samples, in a folder with a report.

    The audit is asked first; a model that cannot be measured ends there, with ``NotMeasurable`` and a report that says
    why. An interruption loses the units at work; the same call goes on. What there is can be read at any moment.

    Args:
        model: Logits for points in the units of the data, in eval mode; a ``Classifier`` keeps bounds and
            normalisation. It comes back as it was.
        data: Labelled points.
        out: The folder of the run: new, empty, or that of an earlier call with the same model, data, samples and seed,
            which may have asked other questions.
        questions: What to ask.
        samples: How many samples to ask about, drawn by chance.
        seed: Of the choice of samples and of all that is random.
        name: What the report calls the model; by default the name of its class.
        workers: Processes that share the work, or an engine such as ``Processes(2, threads=1)``; 1 is this process.
        shard: The share of the work to do here; shares are put together by ``runs.merge_runs``.
        maker: Makes model and data anew in a worker process; by default copies are sent.
        sections: What the report is made of; by default all there are.
        progress: Called before the first unit and after each.
    """
    subject = Subject(as_classifier(model), data, name or _called(model), samples, seed)
    planned = plan(subject, questions)
    run = open_run(out, subject.config, inputs=subject.hashes, seeds=(seed,))
    work = _Work(maker or Handed(model, data), seed, planned.questions)
    share = shard.take(planned.units)
    with _reported(run.folder, sections):
        first = [unit for unit in share if unit.name in (SAMPLES, AUDIT.name)]
        if first:
            carry_out(run, first, work, plan=planned.units)
        _require_measurable(subject, questions, run)
        return carry_out(run, share, work, plan=planned.units, engine=_engine(workers), progress=progress)


@contextmanager
def _reported(folder: Path, sections: Sequence[Section] | None) -> Iterator[None]:
    """Whatever ends the work, the report is of what is there."""
    try:
        yield
    finally:
        run = read_run(folder)
        if run.records():
            from separatrix.report import SECTIONS, write_report  # brings matplotlib: too heavy for `import separatrix`

            write_report([run], folder / REPORT, sections=SECTIONS if sections is None else sections)


def _engine(workers: int | Engine) -> Engine:
    if callable(workers):
        return workers
    require_count(workers, "workers")
    return one_by_one if workers == 1 else Processes(workers, devices=tuple(range(torch.cuda.device_count())))


def _called(model: nn.Module) -> str:
    return type(model.module if isinstance(model, Classifier) else model).__name__


def _require_measurable(subject: Subject, questions: Sequence[Question], run: Run) -> None:
    """Refuse what no other question could be asked of, in the words of the library's own door."""
    others = [question for question in questions if question.name != AUDIT.name]
    if not others:
        return
    gradient = subject.differentiable and any("gradients" in question.needs for question in others)
    try:
        require_model(subject.model, subject.points(subject.ids[:8].tolist()), gradient=gradient)
    except ValueError as error:
        raise NotMeasurable(str(error), read_run(run.folder)) from error


@dataclass(eq=False)
class _Work:
    """What computes one unit; a worker process gets it without the model, and makes that when it is needed first."""

    maker: Maker
    seed: int
    questions: Mapping[str, Question]
    made: Subject | None = None

    def __call__(self, unit: Unit) -> Part:
        """What the unit's question leaves, for the unit's samples."""
        subject = self._subject()
        data = subject.at(unit.ids)
        if unit.name == SAMPLES:
            values = {"id": data.ids, "label": data.labels}
            return Part({SAMPLES: as_table(SAMPLE_COLUMNS, values, len(data))})
        points = subject.points(unit.ids)
        return self.questions[unit.name].part(subject.model, points, data.ids.to(points.device), self.seed)

    def _subject(self) -> Subject:
        if self.made is None:
            model, data = self.maker()
            self.made = Subject(as_classifier(model), data, name="", samples=1, seed=self.seed)
        return self.made

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "made": None}
