"""Do alignment and gap say which distances to distrust? ``python -m benchmarks.distrust`` (a few minutes on two cores).

On an adversarially trained network and its cleanly trained twin: how much longer distances are than the best known,
by how nearly the displacement is parallel to the normal, and how far the methods of ``Best`` lie apart. Writes
``results/distrust.json``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import torch
from torch import Tensor

import separatrix as sx
from benchmarks import images
from benchmarks.networks import load
from benchmarks.ours import FAST, PAIR
from benchmarks.reference import best_known
from benchmarks.run import circumstances

NETWORKS = ("mnist-lenet", "mnist-lenet-robust")
METHODS = {"DeepFool": FAST, "DDN": sx.DDN(steps=100), "Best of both": PAIR}
ALIGNMENTS = (-1.0, 0.5, 0.9, 0.97, 1.01)
COUNT = 128


def rows(net: str) -> Iterator[dict[str, object]]:
    """One row a method and range of alignments: samples, median and 90th percentile of the ratio, median gap."""
    model = load(net)
    points, _ = images.correct(net, model)
    best = best_known(net, "l2", "cpu")
    assert best is not None
    for name, method in METHODS.items():
        boundary = sx.minimal_perturbation(model, points[:COUNT], method=method)
        ratio = boundary.distance / best[:COUNT]
        for low, high in pairwise(ALIGNMENTS):
            chosen = (boundary.alignment >= low) & (boundary.alignment < high)
            if chosen.any():
                gap = boundary.gap[chosen].median().item() if method is PAIR else None
                yield {
                    "net": net,
                    "method": name,
                    "from": low,
                    "to": min(high, 1.0),
                    "gap": gap,
                    **spread(ratio[chosen]),
                }


def spread(ratio: Tensor) -> dict[str, float]:
    """Number of samples, median and 90th percentile of their ratio to the best known."""
    median, high = ratio.double().quantile(torch.tensor([0.5, 0.9], dtype=torch.float64)).tolist()
    return {"samples": len(ratio), "median": median, "p90": high}


def main() -> None:
    """Measure, print, write."""
    measured = [row for net in NETWORKS for row in rows(net)]
    for row in measured:
        gap = "" if row["gap"] is None else f"  gap {row['gap']:.2f}"
        span = f"alignment {row['from']:5.2f} to {row['to']:.2f}"
        ratio = f"{row['samples']:4d} samples, ratio {row['median']:.3f}, 90th percentile {row['p90']:.3f}"
        print(f"{row['net']:20} {row['method']:14} {span}: {ratio}{gap}")
    record = {**circumstances(torch.device("cpu")), "rows": measured}
    (Path(__file__).parent / "results" / "distrust.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
