"""Train the benchmark's networks on one GPU, in minutes: ``python -m benchmarks.train_networks --out FOLDER``.

Reads the raw data sets from the folder ``SEPARATRIX_DATA``. Writes, for each network, its weights rounded to float16
in shards of at most 15 MB, and a JSON log; every accuracy in the log is measured after the rounding.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks import raw_data
from benchmarks.networks import NETWORKS
from separatrix.models import load_weights, save_weights


@dataclass(frozen=True)
class Recipe:
    """How one network is trained; ``radius`` above 0 trains on ℓ∞ PGD examples of that size."""

    epochs: int
    batch: int
    rate: float
    optimiser: str = "adam"
    decay: float = 0.0
    augment: bool = False
    bfloat16: bool = False
    radius: float = 0.0
    attack_steps: int = 20
    warm_up: int = 0
    seed: int = 0


RECIPES = {
    "resnet18": Recipe(60, 256, 0.2, "sgd", decay=5e-4, augment=True, bfloat16=True),
    "mnist-lenet-robust": Recipe(50, 256, 1e-3, radius=0.3, warm_up=10),
    "mnist-lenet": Recipe(10, 256, 2e-3),
    "smooth-lenet": Recipe(20, 256, 2e-3),
    "lenet": Recipe(3, 128, 2e-3),
    "mlp": Recipe(6, 128, 2e-3),
}


@dataclass(frozen=True)
class Pixels:
    """One split of a data set, on the device that trains: uint8 images and labels."""

    images: Tensor
    labels: Tensor

    @staticmethod
    def read(name: str, split: str, device: torch.device, first: int | None = None) -> Pixels:
        """A split, or its first images."""
        images, labels = raw_data.load(name, split)
        return Pixels(images[:first].to(device), labels[:first].to(device))

    def batches(self, size: int, order: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """Images in [0, 1] and labels, in a given order; a short last batch is left out."""
        for chosen in order[: len(order) // size * size].view(-1, size):
            yield self.images[chosen].float() / 255, self.labels[chosen]


def flip_and_crop(images: Tensor) -> Tensor:
    """Each image mirrored or not, and moved by up to four pixels over black."""
    n, _, height, width = images.shape
    mirrored = torch.rand(n, device=images.device) < 0.5
    padded = functional.pad(torch.where(mirrored.view(-1, 1, 1, 1), images.flip(3), images), (4, 4, 4, 4))
    shift = torch.randint(0, 9, (2, n, 1), device=images.device)
    rows = (shift[0] + torch.arange(height, device=images.device)).view(n, 1, height, 1)
    columns = (shift[1] + torch.arange(width, device=images.device)).view(n, 1, 1, width)
    sample = torch.arange(n, device=images.device).view(n, 1, 1, 1)
    channel = torch.arange(images.shape[1], device=images.device).view(1, -1, 1, 1)
    return padded[sample, channel, rows, columns]


def attacked(model: nn.Module, images: Tensor, labels: Tensor, radius: float, steps: int) -> Tensor:
    """Images after ℓ∞ PGD on the cross-entropy from a random start, with steps of 2.5 · radius / steps."""
    step = 2.5 * radius / steps
    least, greatest = (images - radius).clamp(0, 1), (images + radius).clamp(0, 1)
    points = least + (greatest - least) * torch.rand_like(images)
    for _ in range(steps):
        points.requires_grad_()
        (slope,) = torch.autograd.grad(functional.cross_entropy(model(points), labels), points)
        points = (points.detach() + step * slope.sign()).clamp(least, greatest)
    return points


class Trainer:
    """One network, its optimiser and schedule; ``run`` trains it and keeps what happened in each epoch."""

    def __init__(self, name: str, recipe: Recipe, device: torch.device, first: int | None = None) -> None:
        torch.manual_seed(recipe.seed)
        self.name, self.recipe, self.device = name, recipe, device
        self.train = Pixels.read(NETWORKS[name].data, "train", device, first)
        self.test = Pixels.read(NETWORKS[name].data, "test", device, first)
        self.model = NETWORKS[name].card.classifier(seed=recipe.seed).to(device)
        if recipe.augment:
            self.model.to(memory_format=torch.channels_last)
        total = recipe.epochs * (len(self.train.labels) // recipe.batch)
        self.optimiser = self._optimiser()
        self.schedule = torch.optim.lr_scheduler.OneCycleLR(
            self.optimiser, recipe.rate, total_steps=total, pct_start=0.2, cycle_momentum=False
        )
        self.log: list[dict[str, float]] = []

    def _optimiser(self) -> torch.optim.Optimizer:
        if self.recipe.optimiser == "adam":
            return torch.optim.Adam(self.model.parameters(), self.recipe.rate)
        settings = {"momentum": 0.9, "nesterov": True, "weight_decay": self.recipe.decay}
        return torch.optim.SGD(self.model.parameters(), self.recipe.rate, **settings)

    def run(self) -> None:
        """Train for all epochs."""
        for epoch in range(self.recipe.epochs):
            began = time.perf_counter()
            loss = self._epoch(epoch)
            entry = {"epoch": epoch + 1, "loss": loss, "test_accuracy": accuracy(self.model, self.test)}
            self.log.append({**entry, "seconds": time.perf_counter() - began})
            print(f"{self.name} " + " ".join(f"{key} {value:.4g}" for key, value in self.log[-1].items()), flush=True)

    def _epoch(self, epoch: int) -> float:
        losses = []
        order = torch.randperm(len(self.train.labels), device=self.device)
        for images, labels in self.train.batches(self.recipe.batch, order):
            images = self._prepared(images, labels, epoch)
            self.model.train()
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.recipe.bfloat16):
                loss = functional.cross_entropy(self.model(images), labels)
            self.optimiser.zero_grad(set_to_none=True)
            loss.backward()
            self.optimiser.step()
            self.schedule.step()
            losses.append(loss.detach())
        return torch.stack(losses).mean().item()

    def _prepared(self, images: Tensor, labels: Tensor, epoch: int) -> Tensor:
        if self.recipe.augment:
            return flip_and_crop(images).contiguous(memory_format=torch.channels_last)
        if self.recipe.radius:
            radius = self.recipe.radius * min(1.0, (epoch + 1) / max(1, self.recipe.warm_up))
            return attacked(self.model.eval(), images, labels, radius, self.recipe.attack_steps)
        return images


@torch.no_grad()
def accuracy(model: nn.Module, data: Pixels, size: int = 500) -> float:
    """Share of labels that the model answers, in eval mode and float32."""
    model.eval()
    order = torch.arange(len(data.labels), device=data.labels.device)
    hits = [(model(images).argmax(1) == labels).sum() for images, labels in data.batches(min(size, len(order)), order)]
    return torch.stack(hits).sum().item() / len(order)


def robust_accuracy(model: nn.Module, data: Pixels, radius: float, size: int = 500) -> float:
    """Share of labels kept under 40 steps of PGD."""
    model.eval()
    order = torch.arange(len(data.labels), device=data.labels.device)
    hits = 0
    for images, labels in data.batches(min(size, len(order)), order):
        points = attacked(model, images, labels, radius, steps=40)
        hits += (model(points).argmax(1) == labels).sum().item()
    return hits / len(order)


def hardware(device: torch.device) -> str:
    """What trained: the GPU's name, or the processor's."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else platform.processor() or platform.machine()


def train(name: str, recipe: Recipe, device: torch.device, out: Path, first: int | None = None) -> None:
    """Train one network; write its weights and its log."""
    began = time.perf_counter()
    trainer = Trainer(name, recipe, device, first)
    trainer.run()
    files = save_weights(trainer.model, out / f"{name}.safetensors", half=True)
    load_weights(trainer.model, files[0])
    network = NETWORKS[name]
    log = {"network": name, "data": network.data, **network.card.entries(), "recipe": asdict(recipe)}
    log |= {"test_accuracy": accuracy(trainer.model, trainer.test), "files": [file.name for file in files]}
    if NETWORKS[name].data == "mnist":
        log["pgd40_linf_0.3_accuracy"] = robust_accuracy(trainer.model, trainer.test, 0.3)
    log |= {"seconds": time.perf_counter() - began, "hardware": hardware(device), "torch": torch.__version__}
    (out / f"{name}.json").write_text(json.dumps({**log, "epochs": trainer.log}, indent=1) + "\n")
    print({key: value for key, value in log.items() if key != "recipe"}, flush=True)


def main() -> None:
    """Read the command line and train the networks it names, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--nets", nargs="+", choices=RECIPES, default=["resnet18", "mnist-lenet-robust", "mnist-lenet", "smooth-lenet"]
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--smoke", action="store_true", help="one epoch of a few images: does it run?")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    torch.backends.cudnn.benchmark = True
    torch.set_float32_matmul_precision("high")
    for name in arguments.nets:
        recipe = replace(RECIPES[name], epochs=1, batch=64, attack_steps=2) if arguments.smoke else RECIPES[name]
        train(name, recipe, torch.device(arguments.device), arguments.out, first=192 if arguments.smoke else None)


if __name__ == "__main__":
    main()
