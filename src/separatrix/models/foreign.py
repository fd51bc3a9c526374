"""Models of other libraries, with the normalisation that they were trained with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

from separatrix.checks import require
from separatrix.classifier import Classifier

Units = tuple[list[float], list[float]]
"""Mean and standard deviation, one number a channel, of pixels in [0, 1]."""

_SIDE = 256  # of the pictures that a library's preprocessing is asked about


def timm(name: str, pretrained: bool, own_units: bool) -> Classifier:
    """``timm.create_model``, with mean and std of ``pretrained_cfg``."""
    library = _library("timm", "timm")
    with _naming("timm", name):
        module = library.create_model(name, pretrained=pretrained)
    return _classifier(module, lambda: _configured(module.pretrained_cfg), own_units)


def torchvision(name: str, pretrained: bool, own_units: bool) -> Classifier:
    """``torchvision.models.get_model``, normalised as its weights do; ``name@WEIGHTS`` picks those weights."""
    models = _library("torchvision.models", "torchvision")
    architecture, _, which = name.partition("@")
    with _naming("torchvision", name):
        weights = models.get_model_weights(architecture)[which or "DEFAULT"]
        module = models.get_model(architecture, weights=weights if pretrained else None)
    return _classifier(module, lambda: _affine(weights.transforms()(_black_and_white())), own_units)


def hugging_face(name: str, pretrained: bool, own_units: bool) -> Classifier:
    """A Hugging Face model for image classification, in float32, normalised as its image processor does.

    Its attention is the plain one, which can be differentiated twice.
    """
    library = _library("transformers", "huggingface")
    maker, attention = library.AutoModelForImageClassification, {"attn_implementation": "eager"}
    with _naming("hf", name):
        if pretrained:
            module = maker.from_pretrained(name, **attention)
        else:
            module = maker.from_config(library.AutoConfig.from_pretrained(name), **attention)
    return _classifier(module.float(), lambda: _processed(library, name), own_units, logits_of_answer)


def logits_of_answer(answer: Any) -> Tensor:  # noqa: ANN401
    """The logits in what a Hugging Face model returns."""
    logits: Tensor = answer.logits
    return logits


def _classifier(
    module: nn.Module, units: Callable[[], Units], own_units: bool, logits: Callable[[Any], Tensor] | None = None
) -> Classifier:
    mean, std = units() if own_units else (None, None)
    return Classifier(module, mean, std, (0.0, 1.0), logits)


def _configured(config: dict[str, Any]) -> Units:
    known = "mean" in config and "std" in config
    require(known, "spec", "name a model whose mean and std timm knows", "one without", "Give `mean` and `std`.")
    return list(config["mean"]), list(config["std"])


def _processed(library: Any, name: str) -> Units:  # noqa: ANN401
    with _naming("hf", name, "Or give `mean` and `std`."):
        processor = library.AutoImageProcessor.from_pretrained(name)
        pictures = [picture.permute(1, 2, 0).numpy() for picture in _black_and_white()]
        answer = processor(images=pictures, return_tensors="pt")
    return _affine(answer["pixel_values"])


def _black_and_white() -> Tensor:
    """A black picture and a white one, as bytes ``(2, 3, h, w)``: what becomes of them tells any normalisation."""
    picture = torch.zeros(3, _SIDE, _SIDE, dtype=torch.uint8)
    return torch.stack([picture, picture + 255])


def _affine(pair: Tensor) -> Units:
    """Mean and std of the x ↦ (x − mean) / std that takes 0 and 1 to the two pictures, read at their centre."""
    black, white = pair[:, :, pair.shape[2] // 2, pair.shape[3] // 2].double()
    std = 1 / (white - black)
    return (-black * std).tolist(), std.tolist()


def _library(name: str, extra: str) -> Any:  # noqa: ANN401
    package = name.partition(".")[0]
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in (package, name):
            raise ImportError(f"{package} is installed, but needs {error.name}.") from error
        raise ImportError(f"Such models need {package}: pip install 'separatrix[{extra}]'") from error
    except (ImportError, RuntimeError, OSError) as error:
        raise ImportError(f"{package} is installed, but does not import: {_first_line(error)}") from error


@contextmanager
def _naming(scheme: str, name: str, fix: str = "") -> Iterator[None]:
    """Whatever a library says of a name that it does not know, or cannot fetch, is said in one line."""
    try:
        yield
    except (ValueError, RuntimeError, OSError, LookupError, AttributeError) as error:
        reason = f"got '{scheme}:{name}': {_first_line(error)}"
        raise ValueError(f"`spec` must name a model that can be loaded; {reason} {fix}".rstrip()) from error


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
