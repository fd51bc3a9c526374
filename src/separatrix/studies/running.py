"""Carrying out a study: its networks made or found, its units measured, its claims decided, its finding stored."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import Tensor

from separatrix.checks import require
from separatrix.runs import Part, Run, Unit, carry_out, fingerprint, open_run, plain, write
from separatrix.runs import Progress as UnitProgress
from separatrix.runs.environment import versions
from separatrix.runs.files import read_sealed, write_sealed
from separatrix.studies.laboratory import Laboratory
from separatrix.studies.study import SCALES, Case, Scale, Study
from separatrix.studies.verdicts import Outcome, Verdict, overall
from separatrix.tables import Rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*")
FINDING, FIGURE = "finding.json", "figure.png"


@dataclass(frozen=True)
class Finding:
    """What a study came to at one scale.

    Args:
        study: Its name.
        scale: How large it was.
        question: What it asks.
        source: Where it was published.
        substitute: What stood in for the published networks and data; empty where nothing did.
        notes: What a reader of the numbers has to know.
        published: What was published, by quantity.
        measured: What was measured, by quantity.
        outcomes: What came of each claim.
        verdict: What came of all.
        rows: Rows of its table.
        seconds: By the clock on the wall, trainings left out.
        hardware: What it ran on.
        seeds: The seeds its networks were trained with.
        command: What makes it again.
    """

    study: str
    scale: Scale
    question: str
    source: str
    substitute: str
    notes: str
    published: Mapping[str, str]
    measured: Mapping[str, str]
    outcomes: tuple[Outcome, ...]
    verdict: Verdict
    rows: int
    seconds: float
    hardware: str
    seeds: tuple[int, ...]
    command: str

    @property
    def slug(self) -> str:
        """Study and scale as files have them."""
        return f"{self.study.replace('/', '-')}-{self.scale}"

    def write(self, path: Path) -> None:
        """Store the finding, sealed by a hash of itself."""
        write_sealed(path, asdict(self), indent=1)

    @staticmethod
    def read(path: Path) -> Finding:
        """A finding as it was stored."""
        content = read_sealed(path)
        require(content is not None, "finding", "be as it was stored", f"a changed {path}", "Run the study again.")
        assert content is not None
        outcomes = tuple(Outcome(**outcome) for outcome in content.pop("outcomes"))
        finding = Finding(**{**content, "outcomes": outcomes, "seeds": tuple(content["seeds"])})
        known = finding.scale in SCALES and _SLUG.fullmatch(finding.slug)
        require(bool(known), "finding", "be of a study and a scale", f"{finding.study}, {finding.scale} in {path}")
        return finding


def run_study(
    study: Study,
    scale: Scale,
    folder: Path,
    *,
    laboratory: Laboratory | None = None,
    progress: Callable[[UnitProgress], None] | None = None,
) -> Finding:
    """What the study comes to, its run kept in ``folder``, from where the same call goes on after an interruption.

    Args:
        study: What to carry out.
        scale: ``"smoke"``, ``"default"`` or ``"paper"``.
        folder: The run's own.
        laboratory: Where networks and data come from; by default what the study needs.
        progress: Called after each unit.
    """
    require(scale in SCALES, "scale", f"be one of {', '.join(map(repr, SCALES))}", repr(scale))
    settings = study.scales[scale]
    laboratory = laboratory or Laboratory(study.needs(settings))
    planned = study.cases(settings, laboratory)
    cases = {_unit(study, settings, laboratory, case): case for case in planned}
    require(len(cases) == len(planned), "cases", "all differ", f"{len(planned) - len(cases)} repeated")
    config = {"study": study.name, "scale": scale, "settings": settings, "version": versions()["separatrix"]}
    run = open_run(folder, config, inputs=laboratory.hashes, seeds=laboratory.seeds)
    run = carry_out(run, tuple(cases), _Work(study, settings, laboratory, cases), progress=progress)
    return _concluded(study, scale, run, laboratory.seeds)


@dataclass(frozen=True)
class _Work:
    """One unit of a study."""

    study: Study
    settings: Any
    laboratory: Laboratory
    cases: Mapping[Unit, Case]

    def __call__(self, unit: Unit) -> Part:
        measured = self.study.measure(self.settings, self.laboratory, self.cases[unit])
        tensors = {self.study.slug: measured.pictures} if measured.pictures else {}
        return Part({self.study.slug: measured.table}, tensors)


def _unit(study: Study, settings: object, laboratory: Laboratory, case: Case) -> Unit:
    config = fingerprint({"study": plain(settings), "case": plain(case.settings), "network": case.network})
    return Unit(study.slug, laboratory.hashes.get(case.network, ""), config, case.ids)


def _concluded(study: Study, scale: Scale, run: Run, seeds: tuple[int, ...]) -> Finding:
    rows = Rows.of(run.table(study.slug))
    outcomes = tuple(study.claims(study.scales[scale], rows))
    finding = Finding(
        study=study.name,
        scale=scale,
        question=study.question,
        source=study.source,
        substitute=study.substitutes.get(scale, ""),
        notes=study.notes,
        published=dict(study.published),
        measured=dict(study.quantities(rows)),
        outcomes=outcomes,
        verdict=overall(outcomes),
        rows=len(rows),
        seconds=round(sum(record.seconds for record in run.records().values()), 1),
        hardware=_hardware(run),
        seeds=seeds,
        command=f"separatrix study run {study.name} --scale {scale}",
    )
    write(run.folder / FIGURE, _png(study.draw(rows, _pictures(study, run))))
    finding.write(run.folder / FINDING)
    return finding


def _pictures(study: Study, run: Run) -> Mapping[str, Tensor]:
    kept = any(f"tensors/{study.slug}" in record.files for record in run.records().values())
    return run.tensors(study.slug) if kept else {}


def _hardware(run: Run) -> str:
    machines = [session.hardware for session in run.manifest.sessions]
    names = dict.fromkeys(f"{machine['gpu'] or machine['cpu']}" for machine in machines)
    return ", ".join(names)


def _png(figure: Figure) -> bytes:
    from matplotlib import pyplot as plt

    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=110, metadata={"Software": None})
    plt.close(figure)
    return buffer.getvalue()
