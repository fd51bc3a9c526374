"""The best known distance of each image: the shortest that a fixed set of thorough searches finds, kept in a file.

``python -m benchmarks.reference --nets lenet mlp`` adds what the files lack (delete one to make it again), in minutes a
network on two cores. In ℓ2 the set is DDN-1000, ALMA-1000, FMN-1000 and FAB-100 of adversarial-library and ten starts
with forty slides of our own; in ℓ∞, where DDN and ALMA do not exist, the rest. Nothing counts that does not change the
answer when asked again alone.
"""

from __future__ import annotations

import argparse
import functools
import time
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from benchmarks import images, ours, peers
from benchmarks.cost import Floor
from benchmarks.measure import Setting, crossed, lengths
from benchmarks.methods import NORMS, Search
from benchmarks.networks import NETWORKS, load
from separatrix.norms import L2

FOLDER = Path(__file__).parent / "reference"
TYPICAL = {
    "lenet": {"l2": 0.55, "linf": 0.03},
    "mlp": {"l2": 0.55, "linf": 0.03},
    "smooth-lenet": {"l2": 0.55, "linf": 0.03},
    "mnist-lenet": {"l2": 1.5, "linf": 0.1},
    "mnist-lenet-robust": {"l2": 2.0, "linf": 0.35},
    "resnet18": {"l2": 0.11, "linf": 0.004},
}
"""Rough distances, to which the first steps of the peers are scaled."""


def searches(net: str, norm: str) -> dict[str, Search]:
    """The fixed set, by name."""
    typical = TYPICAL[net][norm]
    both: dict[str, Search] = {
        "Separatrix, 10 starts, 40 slides": ours.thorough,
        "adv-lib FAB-100": functools.partial(peers.fab, steps=100),
        "adv-lib FMN-1000": functools.partial(peers.fmn, steps=1000, stride=typical),
    }
    if NORMS[norm] != L2:
        return both
    return both | {
        "adv-lib DDN-1000": lambda model, points, own, _: peers.ddn(model, points, own, 1000, 2 * typical, factor=0.02),
        "adv-lib ALMA-1000": lambda model, points, own, _: peers.alma(model, points, own, 1000, typical / 5),
    }


def distances(search: Search, setting: Setting) -> Tensor:
    """Distance of each image by one search; infinite where its end does not leave the region ``(n,)``."""
    torch.manual_seed(0)
    ends = search(setting.model, setting.points.clone(), setting.own.clone(), setting.norm).detach()
    return lengths(setting, ends).where(crossed(setting.model, ends, setting.own), torch.inf).cpu()


def build(net: str, norm: str, device: torch.device | str, only: list[str]) -> None:
    """Run the searches that are not in the file yet; store every distance, each image's shortest, and who found it."""
    model = load(net, device)
    points, own = images.correct(net, model, device)
    setting = Setting(model, points, own, NORMS[norm], Floor(1.0, 1.0, {}))
    found = stored(net, norm)
    for name, search in searches(net, norm).items():
        if name in found or (only and not any(part in name for part in only)):
            continue
        began = time.perf_counter()
        found[name] = distances(search, setting)
        print(f"{net} {norm} {name}: {time.perf_counter() - began:.0f} s", flush=True)
        store(net, norm, found)
    report(found)


def stored(net: str, norm: str) -> dict[str, Tensor]:
    """Distances ``(n,)`` by search, as far as they are in the file."""
    path = FOLDER / f"{net}-{norm}.npz"
    if not path.exists():
        return {}
    with np.load(path) as file:
        return {str(name): torch.from_numpy(column) for name, column in zip(file["names"], file["all"].T, strict=True)}


def store(net: str, norm: str, found: dict[str, Tensor]) -> None:
    """Write the file."""
    FOLDER.mkdir(exist_ok=True)
    table = torch.stack(list(found.values()), 1)
    best, finder = table.min(1)
    arrays = {"distance": best.numpy(), "finder": finder.numpy().astype(np.uint8), "all": table.numpy()}
    np.savez_compressed(FOLDER / f"{net}-{norm}.npz", names=np.array(list(found)), **arrays)


def report(found: dict[str, Tensor]) -> None:
    """Print how often each search was the shortest, and how long its distances are."""
    best, finder = torch.stack(list(found.values()), 1).min(1)
    for column, (name, distance) in enumerate(found.items()):
        shortest, ratio = (finder == column).double().mean().item(), (distance / best).median().item()
        print(f"  {name}: shortest for {shortest:.0%}, median ratio {ratio:.4f}", flush=True)


def best_known(net: str, norm: str, device: torch.device | str) -> Tensor | None:
    """The stored distances ``(n,)``; ``None`` where nobody has made them."""
    path = FOLDER / f"{net}-{norm}.npz"
    if not path.exists():
        return None
    with np.load(path) as file:
        return torch.from_numpy(file["distance"]).to(device)


def main() -> None:
    """Make the files that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nets", nargs="+", choices=NETWORKS, default=["lenet", "mlp"])
    parser.add_argument("--norms", nargs="+", choices=NORMS, default=list(NORMS))
    parser.add_argument("--only", nargs="+", default=[], metavar="PART", help="searches whose name holds one of these")
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    torch.backends.cudnn.allow_tf32 = False
    for net in arguments.nets:
        for norm in arguments.norms:
            build(net, norm, arguments.device, arguments.only)


if __name__ == "__main__":
    main()
