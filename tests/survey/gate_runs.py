"""Runs made by hand, with the tables of a survey and numbers drawn from a seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow

from separatrix.runs import Part, Run, Unit, carry_out, open_run
from separatrix.tables import Column, as_table

CONFIG = {"survey": 1, "model": {"name": "toy", "parameters": 3}, "samples": 0, "seed": 0}

SAMPLES = (Column("id", "identity"), Column("label", "label"))
MARGINS = (
    Column("id", "identity"),
    Column("own", "label"),
    Column("l2", "upper bound", "input units", "ℓ2"),
    Column("linf", "upper bound", "input units", "ℓ∞"),
    Column("l2_found", "flag"),
    Column("l2_alignment", "estimate"),
)
BANDS = (
    Column("id", "identity"),
    Column("band", "label"),
    Column("distance", "upper bound", "input units", "ℓ2"),
)
ROBUSTNESS = (
    Column("id", "identity"),
    Column("own", "label"),
    Column("norm", "label"),
    Column("method", "label"),
    Column("radius", "estimate", "input units"),
    Column("fooled", "flag"),
)
AUDIT = (Column("id", "identity"), Column("check", "label"), Column("value", "estimate"), Column("passed", "flag"))

RADII = (2 / 255, 8 / 255)
SETTINGS = [(norm, method, radius) for norm in ("ℓ∞", "ℓ2") for method in ("FGSM", "PGD") for radius in RADII]


@dataclass(frozen=True)
class Finding:
    """As much of a finding as the gate looks at."""

    title: str
    verdict: str


def run_of(folder: Path, tables: Mapping[str, pyarrow.Table], units: int = 1, done: int | None = None) -> Run:
    """A run with these tables; each cut into units, of which some may not be done."""
    plan = [Unit(name, "model", "config", (number,)) for name in tables for number in range(units)]

    def work(unit: Unit) -> Part:
        table = tables[unit.name]
        rows = np.array_split(np.arange(table.num_rows), units)[unit.ids[0]]
        return Part({unit.name: table.take(pyarrow.array(rows))})

    return carry_out(open_run(folder, CONFIG), plan[:done], work, plan=plan)


def survey_of(folder: Path, samples: int = 400, seed: int = 0, **options: int) -> Run:
    """A whole survey of a model that answers nine labels in ten, with margins spread around one."""
    return run_of(folder, survey_tables(samples, seed), **options)


def survey_tables(samples: int, seed: int) -> dict[str, pyarrow.Table]:
    draw = np.random.default_rng(seed)
    ids, label = np.arange(samples), draw.integers(10, size=samples)
    own = np.where(draw.random(samples) < 0.9, label, (label + 1) % 10)
    l2 = draw.lognormal(sigma=0.5, size=samples)
    found = draw.random(samples) < 0.97
    fooled = np.concatenate([draw.random(samples) < 0.1 + 10 * radius for *_, radius in SETTINGS])
    bands = 4
    return {
        "samples": as_table(SAMPLES, {"id": ids, "label": label}, samples),
        "margins": margins(l2, found=found, own=own),
        "bands": as_table(
            BANDS,
            {
                "id": np.repeat(ids, bands),
                "band": np.tile(np.arange(bands), samples),
                "distance": np.repeat(l2, bands) * np.tile(1.0 + np.arange(bands), samples),
            },
            bands * samples,
        ),
        "robustness": as_table(
            ROBUSTNESS,
            {
                "id": np.tile(ids, len(SETTINGS)),
                "own": np.tile(own, len(SETTINGS)),
                "norm": np.repeat([norm for norm, *_ in SETTINGS], samples),
                "method": np.repeat([method for _, method, _ in SETTINGS], samples),
                "radius": np.repeat([radius for *_, radius in SETTINGS], samples),
                "fooled": fooled,
            },
            len(SETTINGS) * samples,
        ),
        "audit": audit_table([True, True, False]),
    }


def margins(l2: Iterable[float], found: Any = True, own: Any = 0, ids: Any = None) -> pyarrow.Table:
    """The table of margins with these distances, infinite where not found."""
    l2 = np.asarray(l2, dtype=np.float64)
    found = np.broadcast_to(found, l2.shape) & np.isfinite(l2)
    values = {
        "id": np.arange(len(l2)) if ids is None else ids,
        "own": own,
        "l2": np.where(found, l2, np.inf),
        "linf": np.where(found, l2, np.inf) / 10,
        "l2_found": found,
        "l2_alignment": np.where(found, 0.999, np.nan),
    }
    return as_table(MARGINS, values, len(l2))


def audit_table(passed: list[bool]) -> pyarrow.Table:
    """The table of an audit, a check a row."""
    checks = ["eval mode", "precision", "bounds", "repeatability"][: len(passed)]
    return as_table(AUDIT, {"id": -1, "check": checks, "value": 0.0, "passed": passed}, len(passed))
