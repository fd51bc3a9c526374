"""What the machinery of surveys costs: ``python -m benchmarks.surveys`` (about ten minutes on two cores).

Three measurements, each in this very process's surroundings: how much faster two workers of one thread are than one
worker of one thread; what share of the time on units of about a second is not the units' own; and how memory and the
report grow with the number of samples, up to 100,000 of a small synthetic model. Writes ``results/surveys.json``.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from torch import nn

from benchmarks.clock import timed, wait_for_quiet
from benchmarks.networks import load
from benchmarks.run import circumstances
from separatrix.classifier import Classifier
from separatrix.data import DataSet, load_data
from separatrix.data.synthetic import two_class
from separatrix.randomness import uniform
from separatrix.survey import Processes, survey
from separatrix.survey.questions import AUDIT, CONTROLS, DIRECTIONS, MARGINS
from separatrix.survey.running import REPORT

RESULTS = Path(__file__).parent / "results" / "surveys.json"
COUNTS = (1_000, 10_000, 100_000)
LARGE = (AUDIT, MARGINS, CONTROLS, DIRECTIONS)
CPU = torch.device("cpu")


@dataclass(frozen=True)
class Given:
    """A LeNet and images, for worker processes."""

    def __call__(self) -> tuple[nn.Module, DataSet]:
        return load("lenet"), load_data("sample", split="test")


def parallel(samples: int) -> dict[str, object]:
    """Seconds of margins by one and by two workers of one thread each, the start of the processes included."""
    model, data = Given()()
    seconds: dict[int, float] = {}
    others: dict[int, float] = {}
    for workers in (1, 2):
        with tempfile.TemporaryDirectory() as folder:
            engine = Processes(workers, threads=1)
            ask = partial(survey, model, data, out=folder, questions=(MARGINS,), samples=samples, workers=engine)
            wait_for_quiet()
            _, timing = timed(partial(ask, maker=Given()), CPU)
            seconds[workers], others[workers] = timing.seconds, timing.others
    return {
        "samples": samples,
        "one": seconds[1],
        "two": seconds[2],
        "ratio": seconds[1] / seconds[2],
        "others": max(others.values()),
    }


def overhead(samples: int) -> dict[str, object]:
    """Share of a survey's time by one process that is not spent in its units, the report left out."""
    model, data = Given()()
    with tempfile.TemporaryDirectory() as folder:
        survey(model, data, out=folder, questions=(MARGINS,), samples=64)  # what is loaded once
    with tempfile.TemporaryDirectory() as folder:
        run = survey(model, data, out=folder, questions=(MARGINS,), samples=samples)
        units = [record.seconds for record in run.records().values()]
        took = run.manifest.seconds
    return {"units": len(units), "seconds": sum(units), "longest": max(units), "share": 1 - sum(units) / took}


def large(samples: int, folder: str) -> dict[str, object]:
    """Peak memory beyond that at the start, time, and the size of the report, of one survey in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.surveys", "large", str(samples), folder]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    measured: dict[str, object] = json.loads(done.stdout)
    return measured


def synthetic(samples: int) -> tuple[Classifier, DataSet]:
    """A small network with fixed random weights, and points of two classes."""
    features = two_class(dim=20, samples=samples, split="test")
    layers = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 2)).eval()
    for number, weight in enumerate(layers.parameters()):
        with torch.no_grad():
            weight.copy_(
                uniform(number, torch.arange(len(weight)), weight.shape[1:] or (1,)).reshape(weight.shape) - 0.5
            )
    return Classifier(layers), features.data


def one_large(samples: int, folder: str) -> None:
    """What ``large`` runs: prints its measurements as JSON."""
    model, data = synthetic(samples)
    survey(model, data, out=f"{folder}/warm-{samples}", questions=LARGE, samples=64)
    before, start = _peak(), time.perf_counter()
    run = survey(model, data, out=f"{folder}/{samples}", questions=LARGE, samples=samples)
    entries = {"samples": samples, "seconds": time.perf_counter() - start, "grown": _peak() - before}
    entries |= {"rows": run.manifest.rows, "report": (run.folder / REPORT).stat().st_size}
    print(json.dumps(entries))


def _peak() -> int:
    """Bytes of memory that the process has held at most."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main(words: Sequence[str]) -> None:
    """Measure everything, print it, and store it."""
    if words:
        return one_large(int(words[1]), words[2])
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        found = {
            **circumstances(CPU),
            "parallel": parallel(1_000),
            "overhead": overhead(1_000),
            "large": [large(count, folder) for count in COUNTS],
        }
    RESULTS.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(json.dumps(found, indent=1, ensure_ascii=False))
    return None


if __name__ == "__main__":
    main(sys.argv[1:])
