"""Stand-ins for libraries that are not installed: their public names, and a network that any of them might hold."""

import sys
from types import ModuleType, SimpleNamespace

import pytest
import torch
from torch import nn

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def network():
    """Pixels to three logits, of random weights, in training mode."""
    return nn.Sequential(nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(12, 3), nn.Dropout())


def normalised(pictures):
    """Bytes ``(n, 3, h, w)`` as the libraries' own preprocessing makes them, in float64."""
    return (pictures.double() / 255 - torch.tensor(MEAN).view(3, 1, 1)) / torch.tensor(STD).view(3, 1, 1)


@pytest.fixture
def units():
    """Mean and standard deviation that every stand-in normalises with."""
    return torch.tensor(MEAN), torch.tensor(STD)


@pytest.fixture
def install(monkeypatch):
    """Puts modules made of names into ``sys.modules``: ``install("timm", create_model=…)``."""

    def put(name, **names):
        module = ModuleType(name)
        vars(module).update(names)
        monkeypatch.setitem(sys.modules, name, module)
        return module

    return put


@pytest.fixture
def timm(install):
    def create_model(name, pretrained):
        if not name.startswith("resnet18"):
            raise RuntimeError(f"Unknown model ({name})")
        model = network()
        if pretrained:
            nn.init.ones_(model[2].weight)
        model.pretrained_cfg = {"mean": MEAN, "std": STD} if name != "resnet18.bare" else {}
        return model

    return install("timm", create_model=create_model)


class Weights:
    """As torchvision's enumerations: members by name, ``DEFAULT`` among them, each with its transforms."""

    def __init__(self, value):
        self.value = value

    def transforms(self):
        return normalised


MEMBERS = {"IMAGENET1K_V1": Weights(1.0), "IMAGENET1K_V2": Weights(2.0), "DEFAULT": Weights(2.0)}


@pytest.fixture
def torchvision(install):
    def get_model(name, weights):
        model = network()
        if weights is not None:
            nn.init.constant_(model[2].weight, weights.value)
        return model

    def get_model_weights(name):
        if name != "resnet18":
            raise ValueError(f"Unknown model {name}")
        return MEMBERS

    models = install("torchvision.models", get_model=get_model, get_model_weights=get_model_weights)
    return install("torchvision", models=models)


class Answering(nn.Module):
    """Wraps its logits as Hugging Face models do, and may hold half-precision weights."""

    def __init__(self):
        super().__init__()
        self.inner = network()

    def forward(self, pixel_values):
        return SimpleNamespace(logits=self.inner(pixel_values))


class Processor:
    """As Hugging Face's image processors: pictures with their channels last, in arrays, to a dict of tensors."""

    def __call__(self, images, return_tensors):
        assert return_tensors == "pt"
        pictures = torch.stack([torch.as_tensor(image).permute(2, 0, 1) for image in images])
        return {"pixel_values": normalised(pictures).float()}


class FromHub:
    """What ``from_pretrained`` and ``from_config`` of the automatic classes were called with."""

    def __init__(self, make):
        self.make, self.calls = make, []

    def from_pretrained(self, name, **settings):
        if name == "no/such":
            raise OSError(f"{name} is not a local folder and is not a valid model identifier.\nMore advice.")
        if name == "no/processor" and self.make is Processor:
            raise OSError("no preprocessor_config.json")
        self.calls.append(("pretrained", name, settings))
        return self.make()

    def from_config(self, config, **settings):
        self.calls.append(("config", config, settings))
        return self.make()


@pytest.fixture
def transformers(install):
    return install(
        "transformers",
        AutoModelForImageClassification=FromHub(lambda: Answering().half()),
        AutoConfig=FromHub(lambda: "config"),
        AutoImageProcessor=FromHub(Processor),
    )


@pytest.fixture
def absent(monkeypatch):
    """No library of models can be imported, whatever is installed."""
    monkeypatch.delitem(sys.modules, "torchvision.models", raising=False)
    for name in ("timm", "torchvision", "transformers"):
        monkeypatch.setitem(sys.modules, name, None)
