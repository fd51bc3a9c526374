"""A survey whose every row can be foretold, to be interrupted, continued, shared out and spoilt."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow
import torch

from separatrix.runs import Part, Progress, Run, Unit, carry_out, open_run

CONFIG = {"samples": 12, "method": {"class": "DeepFool", "overshoot": 0.02}}
INPUTS = {"weights": "ab" * 32, "data": "cd" * 32}
SCHEMA = pyarrow.schema(
    [
        pyarrow.field("id", pyarrow.int64()),
        pyarrow.field("distance", pyarrow.float64(), metadata={"norm": "ℓ2", "unit": "pixels", "kind": "bound"}),
    ],
    metadata={"question": "margins"},
)


def plan(count: int = 3, size: int = 4, name: str = "margins") -> list[Unit]:
    starts = range(0, count * size, size)
    return [Unit(name, "model", "config", tuple(range(start, start + size))) for start in starts]


def work(unit: Unit) -> Part:
    ids = torch.tensor(unit.ids)
    rows = {"id": list(unit.ids), "distance": ids.double().sqrt().tolist()}
    tensors = {"normals": torch.stack([ids.cos(), ids.sin()], dim=1)}
    counts = {"gradients": 2 * len(ids)}
    return Part({unit.name: pyarrow.table(rows, schema=SCHEMA)}, {"boundary": tensors}, counts)


def carried(
    folder: Path,
    count: int = 3,
    work: Callable[[Unit], Part] = work,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    return carry_out(open_run(folder, CONFIG, inputs=INPUTS, seeds=[0]), plan(count), work, progress=progress)


def held(run: Run) -> dict[str, bytes]:
    """All that a run's units have left, byte for byte, and its tables as they are read."""
    kinds = ("tables", "tensors")
    files = [path for kind in kinds for path in sorted((run.folder / kind).rglob("*")) if path.is_file()]
    parts = {str(path.relative_to(run.folder)): path.read_bytes() for path in files}
    return parts | {name: as_bytes(run.table(name)) for name in run.tables()}


def as_bytes(table: pyarrow.Table) -> bytes:
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue().to_pybytes()


class Asked:
    """Work that remembers which units it was asked for."""

    def __init__(self) -> None:
        self.units: list[Unit] = []

    def __call__(self, unit: Unit) -> Part:
        self.units.append(unit)
        return work(unit)
