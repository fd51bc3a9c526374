"""``separatrix survey`` and ``separatrix merge``: the whole picture of a model, on one machine or on several."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal

import torch
from cyclopts import Parameter

from separatrix.checks import require, require_count
from separatrix.classifier import Classifier
from separatrix.cli.devices import require_device
from separatrix.cli.endings import CHECK_FAILED, DONE
from separatrix.cli.networks import fetch, made
from separatrix.cli.pieces import questions_named, sections_and
from separatrix.cli.printing import remark, say, say_table
from separatrix.cli.progress import bar
from separatrix.data import DataSet, available, load_data
from separatrix.models import load_model
from separatrix.report import write_report
from separatrix.report.findings import findings
from separatrix.runs import Progress, Run, merge_runs, open_run
from separatrix.survey import (
    NotMeasurable,
    Pace,
    Plan,
    Shard,
    Subject,
    pace,
    plan,
)
from separatrix.survey import survey as carried_out
from separatrix.survey.running import REPORT
from separatrix.training import CATALOGUE, Named, trained

_DEFAULT = "lenet/sample"
_SEVERAL = Parameter(consume_multiple=True, negative="")


@dataclass(frozen=True, kw_only=True)
class Subjected:
    """What is surveyed, as a command line says it.

    Args:
        model: A network from `separatrix train --list`, zoo:<architecture>@<weights>, timm:<name>, torchvision:<name>,
            hf:<organisation>/<name>, or <package.module>:<factory>.
        data: A data set from `separatrix data list`, a folder of pictures or an .npz archive; by default what the
            network was trained on.
        split: The part of the data that samples are drawn from.
        size: Scale and cut pictures to a square of this side.
        crop: Keep this share of the shorter side of pictures.
        mean: Subtract this from the input, one number or one a channel, instead of what comes with the model.
        std: Divide the centred input by this, likewise.
        bounds: Say the least and the greatest value that an input may have.
        device: Compute here, such as cpu or cuda:0; by default on a GPU where there is one.
    """

    model: str = _DEFAULT
    data: str | None = None
    split: Literal["train", "test"] = "test"
    size: int | None = None
    crop: float = 1.0
    mean: Annotated[tuple[float, ...] | None, _SEVERAL] = None
    std: Annotated[tuple[float, ...] | None, _SEVERAL] = None
    bounds: Annotated[tuple[float, float] | None, _SEVERAL] = None
    device: str | None = None

    def __call__(self) -> tuple[Classifier, DataSet]:
        """The model, where it is to compute, and the data."""
        return self._loaded().to(self.place), load_data(self.source, split=self.split, size=self.size, crop=self.crop)

    @property
    def place(self) -> str:
        """The device to compute on."""
        return self.device or ("cuda" if torch.cuda.is_available() else "cpu")

    @property
    def source(self) -> str:
        """Where the data come from."""
        if self.data is not None:
            return self.data
        own = CATALOGUE[self.model].data if self.model in CATALOGUE else None
        fix = "For instance: --data cifar10"
        require(isinstance(own, Named), "--data", f"be given with {self.model}", "none", fix)
        assert isinstance(own, Named)
        return own.name

    def prepare(self) -> None:
        """Train and download what has a name and is not there yet."""
        known = self.model in CATALOGUE
        rule = f"be one of {', '.join(CATALOGUE)}, or say where it comes from, such as timm:resnet18"
        require(known or ":" in self.model, "--model", rule, self.model)
        units = {"--mean": self.mean, "--std": self.std, "--bounds": self.bounds}
        given = [name for name, values in units.items() if values is not None]
        require(not (known and given), " ".join(given), f"be left out with {self.model}, which has its own", "them")
        if self.model in CATALOGUE:
            made(CATALOGUE[self.model], device=self.device)
        if self.source in (entry.name for entry in available()):
            fetch(Named(self.source))

    def _loaded(self) -> Classifier:
        if self.model in CATALOGUE:
            return trained(CATALOGUE[self.model])
        return load_model(self.model, mean=_one_or_all(self.mean), std=_one_or_all(self.std), bounds=self.bounds)


def survey(
    *,
    subject: Annotated[Subjected, Parameter(name="*")] = Subjected(),
    questions: Annotated[tuple[str, ...], _SEVERAL] = (),
    sections: Annotated[tuple[str, ...], _SEVERAL] = (),
    samples: int = 200,
    seed: int = 0,
    out: Path = Path("out/survey"),
    workers: int = 1,
    shard: str = "1/1",
    dry_run: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Measure a model from all sides and write a report; interrupted, the same command goes on.

    Example: separatrix survey --model lenet/sample --samples 100 --out out/lenet

    Args:
        subject: What is surveyed.
        questions: Ask these alone, by name or as package.module:NAME; by default all there are.
        sections: Add these sections to the report, as package.module:NAME.
        samples: Ask about so many samples, drawn by chance.
        seed: Draw samples and all that is random by this number.
        out: Keep tables and report in this folder.
        workers: Share the work among so many processes, on as many GPUs as there are or on a share of the cores each.
        shard: Do the i-th of n shares of the work, i/n; `separatrix merge` puts them together.
        dry_run: Say what would be done and what it would take, and do nothing.
    """
    require_device(subject.device)
    require_count(workers, "--workers")
    asked, told, share = questions_named(questions), sections_and(sections), _shard(shard)
    subject.prepare()
    model, data = subject()
    about = Subject(model, data, subject.model, samples, seed)
    planned = plan(about, asked)
    _say_plan(about, planned, pace(model, about.points(about.ids[:16].tolist())), share.of * workers)
    if dry_run:
        return DONE
    open_run(out, about.config, inputs=about.hashes, seeds=(seed,))
    with bar() as shown:

        def tell(progress: Progress) -> None:
            shown.tell("survey", progress.done, progress.units)

        try:
            run = carried_out(
                model,
                data,
                out=out,
                questions=asked,
                samples=samples,
                seed=seed,
                name=subject.model,
                workers=workers,
                shard=share,
                maker=subject,
                sections=told,
                progress=tell,
            )
        except NotMeasurable as refused:
            remark(str(refused))
            _conclude(refused.run)
            return CHECK_FAILED
    _conclude(run)
    return DONE


def merge(
    out: Path,
    /,
    *runs: Path,
    sections: Annotated[tuple[str, ...], _SEVERAL] = (),
) -> None:
    """Put shares of one survey together, and write the report of the whole.

    Example: separatrix merge out/whole out/share-1 out/share-2

    Args:
        out: Keep the whole in this folder, a new one or an empty one.
        runs: The folders of all shares.
        sections: Add these sections to the report, as package.module:NAME.
    """
    require(len(runs) > 0, "RUNS", "be the folders of all shares", "none")
    told = sections_and(sections)
    run = merge_runs(runs, out)
    write_report([run], out / REPORT, told)
    _conclude(run)


def _shard(text: str) -> Shard:
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    require(found is not None, "--shard", "be i/n, such as 1/3", text)
    assert found is not None
    return Shard(int(found[1]), int(found[2]))


def _say_plan(subject: Subject, planned: Plan, speed: Pace | None, parallel: int) -> None:
    say(f"{subject.name} on {subject.data.name}: {len(subject.ids):,} of {len(subject.data):,} samples")
    rows = (
        (
            entry.question.name,
            entry.question.asks,
            f"{entry.samples:,}",
            f"{entry.cost.forwards:.0f} + {entry.cost.gradients:.0f}",
            "?" if speed is None else _duration(entry.seconds(speed) / parallel),
        )
        for entry in planned.entries
    )
    say_table(("question", "what it asks", "samples", "forwards + gradients each", "about"), rows)
    for name, reason in planned.unasked.items():
        say(f"{name} is not asked: {reason}")
    if speed is not None:
        say(f"about {_duration(planned.seconds(speed) / parallel)} in all")
    say()


def _conclude(run: Run) -> None:
    manifest = run.manifest
    failed = [finding.title for finding in findings(run) if finding.verdict == "failed"]
    if failed:
        say(f"audit   {len(failed)} checks failed: {', '.join(failed)}")
    say(f"tables  {manifest.done} of {manifest.planned} units, {manifest.state}, in {run.folder}")
    say(f"report  {run.folder / REPORT}")


def _duration(seconds: float) -> str:
    return str(timedelta(seconds=max(round(seconds), 1)))


def _one_or_all(values: tuple[float, ...] | None) -> float | tuple[float, ...] | None:
    return values[0] if values is not None and len(values) == 1 else values
