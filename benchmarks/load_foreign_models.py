"""Load one model of each other library and ask for minimal perturbations: ``python -m benchmarks.load_foreign_models``.

To be run where timm, torchvision and transformers are installed: ``pip install
'separatrix[timm,torchvision,huggingface]'``. Nothing is downloaded: weights are random, and the Hugging Face models
are made in a temporary folder. The table says of each model whether it loaded, whether its normalisation is what the
library's own preprocessing does to a random picture, how many of two boundaries were found and how far they are, and
whether second derivatives exist. The exit code is 1 if a model failed whose library is installed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import torch
from torch import Tensor

import separatrix as sx

SIDE = 224
Preprocess = Callable[[Tensor], Tensor]
"""Bytes ``(3, 224, 224)`` to what the library feeds its network."""


@dataclass(frozen=True)
class Case:
    """A model's name, whether its weights are read from a file, and the library's own preprocessing."""

    spec: str
    preprocess: Preprocess
    pretrained: bool = False


def of_timm() -> list[Case]:
    """A convolutional network and a transformer."""
    timm = import_module("timm")

    def preprocess(name: str) -> Preprocess:
        config = timm.data.resolve_model_data_config(timm.create_model(name))
        mean, std = (torch.tensor(config[key]).view(3, 1, 1) for key in ("mean", "std"))
        return lambda picture: (picture / 255 - mean) / std

    return [
        Case(f"timm:{name}", preprocess(name)) for name in ("resnet18", "vit_tiny_patch16_224", "mobilenetv3_small_100")
    ]


def of_torchvision() -> list[Case]:
    """A convolutional network of two generations of weights, and a transformer."""
    models = import_module("torchvision.models")
    names = {"resnet18": "DEFAULT", "resnet50": "IMAGENET1K_V1", "vit_b_16": "IMAGENET1K_SWAG_LINEAR_V1"}
    weights = {f"{name}@{which}": models.get_model_weights(name)[which] for name, which in names.items()}
    resized = {name: member.transforms(resize_size=SIDE, crop_size=SIDE) for name, member in weights.items()}
    return [Case(f"torchvision:{name}", preprocess) for name, preprocess in resized.items()]


def of_transformers(folder: Path) -> list[Case]:
    """A small vision transformer and a small residual network, once with weights from a file and once without."""
    library = import_module("transformers")
    layers = {"hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 3, "intermediate_size": 96}
    made = {
        "vit": library.ViTForImageClassification(library.ViTConfig(image_size=SIDE, num_labels=10, **layers)),
        "resnet": library.ResNetForImageClassification(library.ResNetConfig(depths=[1, 1, 1, 1], num_labels=10)),
    }
    processor = library.ViTImageProcessor(size={"height": SIDE, "width": SIDE})
    for name, model in made.items():
        model.save_pretrained(folder / name)
        processor.save_pretrained(folder / name)

    def preprocess(picture: Tensor) -> Tensor:
        array = picture.permute(1, 2, 0).numpy()
        return processor(images=[array], return_tensors="pt")["pixel_values"][0]

    return [Case(f"hf:{folder / name}", preprocess, pretrained) for name in made for pretrained in (True, False)]


def units_differ(model: sx.Classifier, preprocess: Preprocess) -> float:
    """Greatest difference between the classifier's normalised input and the library's, in units of the latter."""
    picture = torch.randint(0, 256, (3, SIDE, SIDE), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    mean, std = (channels.cpu().view(-1, 1, 1) for channels in (model.mean, model.std))
    return float(((picture / 255 - mean) / std - preprocess(picture)).abs().max())


def bends(model: sx.Classifier, points: Tensor) -> bool:
    """Whether the gradient of a logit can be differentiated again."""
    points = points.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(points)[:, 0].sum(), points, create_graph=True)
    (second,) = torch.autograd.grad(gradient.square().sum(), points, allow_unused=True)
    return second is None or bool(second.isfinite().all())


def row(case: Case, device: str) -> str:
    """One line of the table; it raises where a model cannot be loaded or measured."""
    model = sx.load_model(case.spec, pretrained=case.pretrained)
    differ = units_differ(model, case.preprocess)
    assert differ < 1e-4, f"normalisation differs by {differ:.2g}"
    model = model.to(device)
    points = torch.rand(2, 3, SIDE, SIDE, generator=torch.Generator().manual_seed(1)).to(device)
    boundary = sx.minimal_perturbation(model, points)
    assert bends(model, points), "second derivatives are not finite"
    distances = " ".join(f"{distance:.3g}" for distance in boundary.distance.tolist())
    return (
        f"{int(boundary.found.sum())} of 2 found at {distances}; units within {differ:.0e}; second derivatives finite"
    )


def main() -> int:
    """Print the table; 1 if a model of an installed library failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    device = parser.parse_args().device
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for make in (of_timm, of_torchvision, lambda: of_transformers(Path(folder))):
            try:
                cases = make()
            except (ImportError, RuntimeError) as error:
                print(f"not installed: {str(error).splitlines()[0]}")
                continue
            for case in cases:
                failures += not _tried(case, device)
    return int(failures > 0)


def _tried(case: Case, device: str) -> bool:
    kind = "weights" if case.pretrained else "random"
    try:
        print(f"{case.spec:48} {kind:8} {row(case, device)}", flush=True)
    except Exception as error:  # one model's failure must not hide the others'
        print(f"{case.spec:48} {kind:8} FAILED: {type(error).__name__}: {error}", flush=True)
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
