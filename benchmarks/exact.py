"""How near the exact distance searches come on tiny ReLU networks: ``python -m benchmarks.exact``.

For random networks of up to twelve hidden units the shortest way out is known, from all activation patterns (ℓ2) or a
mixed-integer programme (ℓ∞). Prints, for one walk and for several, the share of the points whose distance is within one
per cent of it, and the least ratio, which may not fall below 1. Writes ``results/exact.json``.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor

from benchmarks.methods import NORMS
from benchmarks.run import circumstances
from separatrix import minimal_perturbation
from separatrix.norms import Norm
from separatrix.testing import exact_distance, tiny_network

SHAPES = ((2, (6,), 2), (2, (12,), 3), (3, (6, 6), 3), (4, (12,), 4), (6, (10,), 3), (8, (8,), 2), (8, (6, 6), 4))
"""Inputs, hidden units of each layer, classes."""
NEAR = 0.01
Shape = tuple[int, tuple[int, ...], int]


def ratios(shape: Shape, norm: Norm, starts: list[int], count: int, seed: int) -> Iterator[Tensor]:
    """Distance found over the exact one of each point, for each number of starts; unreachable points are left out."""
    inputs, hidden, classes = shape
    generator = torch.Generator().manual_seed(1000 * seed + inputs + 10 * sum(hidden))
    network = tiny_network(inputs, hidden, classes, generator=generator)
    points = torch.randn(count, inputs, generator=generator, dtype=torch.float64)
    exact = exact_distance(network, points, norm)
    for number in starts:
        distance = minimal_perturbation(network, points, norm=norm, starts=number).distance
        yield (distance / exact)[exact.isfinite()]


def summary(ratio: Tensor) -> dict[str, float]:
    """Points, share within one per cent, least, median and greatest ratio."""
    near = (ratio <= 1 + NEAR).double().mean().item()
    extremes = {"least": ratio.min().item(), "median": ratio.median().item(), "greatest": ratio.max().item()}
    return {"points": len(ratio), "within_1_percent": near, **extremes}


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=40, help="points a network")
    parser.add_argument("--seeds", type=int, default=3, help="networks of each shape")
    parser.add_argument("--starts", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "exact.json")
    arguments = parser.parse_args()
    rows = []
    for name, norm in NORMS.items():
        collected: list[list[Tensor]] = [[] for _ in arguments.starts]
        for seed, shape in itertools.product(range(arguments.seeds), SHAPES):
            found = ratios(shape, norm, arguments.starts, arguments.points, seed)
            for part, ratio in zip(collected, found, strict=True):
                part.append(ratio)
        for number, parts in zip(arguments.starts, collected, strict=True):
            rows.append({"norm": name, "starts": number, **summary(torch.cat(parts))})
            print("  ".join(f"{key} {value:.6g}" if key != "norm" else value for key, value in rows[-1].items()))
    arguments.out.write_text(json.dumps({**circumstances(torch.device("cpu")), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
