"""Measure Separatrix and its peers side by side: ``python -m benchmarks.run`` (see README.md beside this file)."""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import subprocess
import warnings
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import torch

from benchmarks import images
from benchmarks.cost import floor
from benchmarks.measure import Patience, Setting, measure
from benchmarks.methods import NORMS
from benchmarks.networks import NETWORKS, load
from benchmarks.ours import OURS
from benchmarks.peers import PEERS
from benchmarks.reference import best_known

HERE = Path(__file__).parent
PACKAGES = ("torch", "numpy", "adv-lib", "foolbox", "adversarial-robustness-toolbox", "torchattacks", "secml-torch")
COLUMNS = {
    "images": ("n", "4d"),
    "found": ("found", "6.1%"),
    "median": ("median", "8.4f"),
    "mean": ("mean", "8.4f"),
    "ratio_median": ("ratio", "7.4f"),
    "ratio_p90": ("p90", "6.3f"),
    "near_ratio_p90": ("near90", "6.3f"),
    "alignment_median": ("align", "6.3f"),
    "forwards": ("fwd", "7.1f"),
    "gradients": ("grad", "7.1f"),
    "seconds": ("s", "8.2f"),
    "ideal_seconds": ("ideal s", "8.2f"),
    "overhead": ("s/ideal", "6.2f"),
    "floors": ("floors", "7.1f"),
}


def version(package: str) -> str:
    """An installed package's version."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def commit() -> str:
    """The commit measured, marked where the tree differs from it; ``GIT_COMMIT`` outside a clone."""
    try:
        ask = ("git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*")
        return subprocess.run(ask, cwd=HERE, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return os.environ.get("GIT_COMMIT", "unknown")


def hardware(device: torch.device) -> str:
    """The GPU's name, or the processor's and how many threads are used."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()}, {torch.get_num_threads()} threads"


def circumstances(device: torch.device) -> dict[str, object]:
    """What a reader needs to know about a run."""
    versions = {"python": platform.python_version()} | {package: version(package) for package in PACKAGES}
    date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return {"commit": commit(), "date": date, "hardware": hardware(device), "versions": versions}


def rows(net: str, arguments: argparse.Namespace, floors: dict[str, object]) -> Iterator[dict[str, object]]:
    """Every method that applies to one network, norm by norm."""
    model = load(net, arguments.device)
    points, own = images.correct(net, model, arguments.device)
    points, own = points[: arguments.images], own[: arguments.images]
    least = floor(model, points, quiet=3 * arguments.quiet)
    floors[net] = asdict(least)
    print(
        f"\n{net}: a forward {1e6 * least.forward:.1f} µs, with a gradient {1e6 * least.both:.1f} µs an image",
        flush=True,
    )
    patience = Patience(arguments.runs, limit=arguments.limit, quiet=arguments.quiet)
    for norm in arguments.norms:
        best = best_known(net, norm, arguments.device)
        setting = Setting(model, points, own, NORMS[norm], least, best if best is None else best[: len(points)])
        print(f"\n{net} {norm}\n{'method':48}" + " ".join(heading(name) for name in COLUMNS), flush=True)
        for method in (*OURS, *PEERS):
            if method.applies(net, norm, arguments.only):
                yield {"net": net, "norm": norm} | measure(method, setting, patience)


def heading(name: str) -> str:
    """A column's title, as wide as its numbers."""
    title, form = COLUMNS[name]
    return f"{title:>{form.split('.')[0].rstrip('d')}}"


def line(row: dict[str, object]) -> str:
    """A row of the table printed while measuring."""
    cells = [
        f"{row[name]:{form}}" if row.get(name) is not None else f"{'–':>{form.split('.')[0].rstrip('d')}}"
        for name, (_, form) in COLUMNS.items()
    ]
    return f"{row['method']:48}" + (str(row["error"]) if "error" in row else " ".join(cells))


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nets", nargs="+", choices=NETWORKS, default=["mlp", "lenet"])
    parser.add_argument("--norms", nargs="+", choices=NORMS, default=list(NORMS))
    parser.add_argument("--only", nargs="+", default=[], metavar="PART", help="methods whose name holds one of these")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--images", type=int, default=512, help="at most so many images")
    parser.add_argument("--runs", type=int, default=2, help="timed runs of a method; the best counts")
    parser.add_argument("--limit", type=int, default=600, help="seconds that one run may take")
    parser.add_argument("--quiet", type=float, default=4.0, help="seconds to wait for an idle machine before each run")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, help="JSON file; by default results/<device>.json for a run of all methods")
    return parser.parse_args()


def main() -> None:
    """Measure, print the table, write JSON."""
    arguments = parse()
    warnings.filterwarnings("ignore")  # other libraries'
    torch.set_num_threads(arguments.threads)
    torch.backends.cudnn.allow_tf32 = False
    device = torch.device(arguments.device)
    out = arguments.out or (None if arguments.only else HERE / "results" / f"{device.type}.json")
    floors: dict[str, object] = {}
    measured: list[dict[str, object]] = []
    record = circumstances(device) | {"floors": floors, "rows": measured}
    for net in arguments.nets:
        for row in rows(net, arguments, floors):
            measured.append(row)
            print(line(row), flush=True)
            if out:
                out.parent.mkdir(parents=True, exist_ok=True)
                out.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
