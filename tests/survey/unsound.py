"""A sound network, and models made from it that are unsound in one way each."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path

import torch
from torch import Tensor, nn

from separatrix import Classifier, load_data, load_model

WEIGHTS = Path(__file__).parents[2] / "weights"
DATA = load_data("sample", split="test").select(slice(6))


@cache
def lenet() -> Classifier:
    """Trained on images like those of the bundled sample."""
    return load_model(f"zoo:lenet@{WEIGHTS / 'lenet.safetensors'}")


class Around(nn.Module):
    """The network with something before it and something after it."""

    def __init__(self, before=lambda x: x, after=lambda logits: logits) -> None:
        super().__init__()
        self.network, self.before, self.after = lenet(), before, after

    def forward(self, x: Tensor) -> Tensor:
        return self.after(self.network(self.before(x)))


class Reversed(torch.autograd.Function):
    """Nothing, with a gradient that points the other way."""

    @staticmethod
    def forward(context, x):
        return x

    @staticmethod
    def backward(context, gradient):
        return -gradient


class Purified(nn.Module):
    """A few steps of gradient descent on the input before it is answered."""

    def __init__(self) -> None:
        super().__init__()
        self.network = lenet()

    def forward(self, x: Tensor) -> Tensor:
        with torch.enable_grad():
            leaf = x.detach().requires_grad_()
            (slope,) = torch.autograd.grad(self.network(leaf).logsumexp(1).sum(), leaf)
        return self.network(x - 0.01 * slope)


class Adapting(nn.Module):
    """A weight that every answer moves."""

    def __init__(self) -> None:
        super().__init__()
        self.network, self.scale = lenet(), nn.Parameter(torch.ones(()))

    def forward(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            self.scale.mul_(1.01)
        return self.scale * self.network(x)


class Half(nn.Module):
    """The network in half precision, between conversions."""

    def __init__(self) -> None:
        super().__init__()
        self.network = copy.deepcopy(lenet()).half()

    def forward(self, x: Tensor) -> Tensor:
        return self.network(x.half()).float()


def autocast(x: Tensor) -> Tensor:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return lenet()(x).float()


def clobbered(x: Tensor) -> Tensor:
    return x.mul_(0.9)


def raising(error: BaseException):
    def model(x: Tensor) -> Tensor:
        raise error

    return model


def nan_somewhere(logits: Tensor) -> Tensor:
    return torch.where(logits == logits.amax(), torch.nan, logits)


def in_training() -> Classifier:
    model = Classifier(nn.Sequential(nn.Dropout(0.2), lenet()), bounds=(0, 1)).eval()
    model.module[0].train()
    return model


def of(module: nn.Module, bounds: tuple[float, float] | None = (0, 1)) -> Classifier:
    return Classifier(module, bounds=bounds).eval()


def around(before=lambda x: x, after=lambda logits: logits) -> Classifier:
    return of(Around(before, after))


def quantised(levels: int) -> Classifier:
    """Pixels rounded to a few levels: the gradient is zero wherever it exists, while a step changes the answer."""
    return around(before=lambda x: (x * levels).round() / levels)


def answering(model) -> Classifier:
    """A function instead of the network."""

    class Answering(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return model(x)

    return of(Answering())
