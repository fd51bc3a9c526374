"""The audit fires on models that are unsound in one way each, is silent on sound ones, and leaves all as they were."""

from __future__ import annotations

import copy
import random

import numpy as np
import pytest
import torch
from tests.survey import unsound
from tests.survey.unsound import DATA, WEIGHTS, answering, around, lenet, of
from torch import nn

from separatrix import Classifier, load_model
from separatrix.survey.audit import CHECKS
from separatrix.survey.questions.audit import AUDIT
from separatrix.testing import Affine, small_network

RANDOM = {"repeatability", "batch invariance", "order invariance", "logit noise", "true gradients"}
BATCH = {"batch invariance", "order invariance"}
ANSWERED = {check.name for check in CHECKS} - {"eval mode", "bounds", "units", "weights left"}

UNSOUND = {
    "training mode": (unsound.in_training, {"eval mode", "accepted"} | RANDOM),
    "noise": (lambda: around(lambda x: x + 0.1 * torch.randn_like(x)), RANDOM),
    "batch statistics": (lambda: around(lambda x: x - x.mean(0)), {"batch invariance"}),
    "place in the batch": (lambda: around(lambda x: x * torch.linspace(1, 0.5, len(x))[:, None, None, None]), BATCH),
    "softmax": (lambda: around(after=lambda logits: logits.softmax(1)), {"logits", "true gradients", "accepted"}),
    "sigmoid": (lambda: around(after=lambda logits: logits[:, 0].sigmoid()), {"logits", "accepted"}),
    "quantised": (lambda: unsound.quantised(8), {"zero gradients", "saturated loss", "true gradients"}),
    "saturated": (
        lambda: around(after=lambda logits: (1e3 * logits).tanh()),
        {"zero gradients", "saturated loss", "true gradients"},
    ),
    "steep": (lambda: around(after=lambda logits: 1e3 * logits), {"saturated loss"}),
    "false gradients": (lambda: around(unsound.Reversed.apply), {"true gradients"}),
    "bytes": (lambda: of(lenet(), bounds=(0, 255)), {"units"}),
    "other bounds": (lambda: of(lenet(), bounds=(-0.5, 0.5)), {"bounds", "accepted"}),
    "half precision": (lambda: of(unsound.Half()), {"precision", "logit noise", "accepted"}),
    "autocast": (lambda: answering(unsound.autocast), {"logit noise"}),
    "double logits": (lambda: around(after=lambda logits: logits.double()), {"precision", "accepted"}),
    "in place": (lambda: around(unsound.clobbered), {"input left", "accepted"}),
    "detached": (
        lambda: around(lambda x: x.detach()),
        {"differentiable", "zero gradients", "saturated loss", "true gradients", "accepted"},
    ),
    "optimisation": (lambda: of(unsound.Purified()), {"plain forward"}),
    "adapting": (lambda: of(unsound.Adapting()), {"weights left", "repeatability"} | BATCH),
    "raising": (lambda: answering(unsound.raising(RuntimeError("no\nmore"))), ANSWERED),
    "leaving": (lambda: answering(unsound.raising(SystemExit(3))), ANSWERED),
    "another shape": (lambda: of(nn.Sequential(nn.Flatten(), nn.Linear(9, 4))), ANSWERED),
}


BROKEN = {
    "half the time": (lambda: around(lambda x: x * (torch.rand(()) < 0.5)), {"repeatability"}),
    "NaN": (lambda: around(after=unsound.nan_somewhere), {"finite logits", "accepted"}),
    "one row": (lambda: around(after=lambda logits: logits.mean(0)), {"output shape"}),
    "a picture": (lambda: around(after=lambda logits: logits[:, :, None, None]), {"output shape"}),
    "a dict": (lambda: around(after=lambda logits: {"logits": logits}), {"output shape"}),
    "empty": (lambda: around(after=lambda logits: logits[:0]), {"output shape", "accepted"}),
    "not finite throughout": (lambda: around(after=lambda logits: logits / 0), {"finite logits", "zero gradients"}),
    "lazy": (lambda: of(nn.Sequential(nn.Flatten(), nn.LazyLinear(4))), {"weights left"}),
}


@pytest.fixture(autouse=True)
def chance():
    """Models that toss coins toss the same ones every time."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        yield


def audited(model, points=DATA.points, seed=0):
    return AUDIT.ask(model, points, DATA.ids[: len(points)], seed).values


def failed(values):
    return {check for check, passed in zip(values["check"], values["passed"], strict=True) if not passed}


def told(values, check):
    return values["evidence"][values["check"].index(check)]


@pytest.mark.parametrize("case", UNSOUND)
def test_it_fires_on_what_is_wrong_and_on_nothing_else(case):
    make, expected = UNSOUND[case]
    assert failed(audited(make())) == expected


@pytest.mark.parametrize("case", BROKEN)
def test_it_fires_on_models_with_which_nothing_can_be_done(case):
    make, expected = BROKEN[case]
    assert failed(audited(make())) >= expected


def test_every_check_fires_on_some_model():
    fired = set().union(*(expected for _, expected in (UNSOUND | BROKEN).values()))
    assert fired == {check.name for check in CHECKS}


class Function(nn.Module):
    """A function as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


SOUND = {
    "lenet": lenet,
    "smooth lenet": lambda: load_model(f"zoo:smooth-lenet@{WEIGHTS / 'smooth-lenet.safetensors'}"),
    "mlp": lambda: load_model(f"zoo:mlp@{WEIGHTS / 'mlp.safetensors'}"),
    "one score": lambda: around(after=lambda logits: logits[:, :1] - logits[:, 1:2]),
    "scores without an axis": lambda: around(after=lambda logits: logits[:, 0] - logits[:, 1]),
    "log-probabilities": lambda: around(after=lambda logits: logits.log_softmax(1)),
    "no bounds": lambda: of(lenet(), bounds=None),
}


@pytest.mark.parametrize("case", SOUND)
def test_it_is_silent_on_sound_models(case):
    assert failed(audited(SOUND[case]())) == set()


@pytest.mark.parametrize("count", [1, 6])
def test_vectors_in_double_precision_are_sound_in_any_unit(count):
    plane = Affine.random(3, 5, generator=torch.Generator().manual_seed(0))
    points = 10 * torch.randn(count, 5, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    assert failed(audited(Classifier(Function(plane)).eval(), points)) == set()


@pytest.mark.parametrize(
    ("scale", "shift", "words"), [(255, 0, "look like 0 to 255"), (3, -1, "look standardised"), (1, 0, "pixels")]
)
def test_pictures_without_bounds_are_told_by_their_size(scale, shift, words):
    values = audited(of(small_network(), bounds=None), scale * torch.rand(6, 1, 8, 8).clamp(0.1, 0.9) + shift)
    assert words in told(values, "units")
    assert ("units" in failed(values)) == (words != "pixels")


def test_pixels_divided_once_too_often_are_told():
    assert failed(audited(lenet(), DATA.points / 255)) >= {"units"}
    assert "255 times as much" in told(audited(lenet(), DATA.points / 255), "units")


def test_evidence_names_what_is_wrong():
    values = audited(unsound.in_training())
    assert "in training mode: module.0." in told(values, "eval mode")
    assert "`model.eval()`" in told(values, "eval mode")
    assert "torch.float16 in module.network.module" in told(audited(of(unsound.Half())), "precision")
    assert told(audited(answering(unsound.raising(RuntimeError("no\nmore")))), "logits") == "RuntimeError: no."
    assert "module.scale" in told(audited(of(unsound.Adapting())), "weights left")


def test_every_row_passes_where_its_value_is_within_its_limit():
    values = audited(unsound.in_training())
    for value, limit, passed in zip(values["value"], values["limit"], values["passed"], strict=True):
        assert passed == (value <= limit)
    assert set(values["id"]) == {-1}


def state(model):
    tensors = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    modes = [part.training for part in model.modules()]
    return tensors, modes, [(weight.requires_grad, weight.grad) for weight in model.parameters()]


def drawn():
    return torch.get_rng_state().tolist(), random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002


class Restless(nn.Module):
    """Batch statistics kept up in training mode, weights that adapt, and random numbers of every kind."""

    def __init__(self):
        super().__init__()
        self.norm, self.network = nn.BatchNorm2d(1), unsound.Adapting()

    def forward(self, x):
        noise = torch.rand(()) + random.random() + np.random.rand()  # noqa: NPY002
        return self.network(self.norm(x)) + 1e-3 * noise


@pytest.mark.parametrize("make", [lenet, unsound.in_training, lambda: Classifier(copy.deepcopy(Restless()).train())])
def test_model_points_and_random_numbers_are_left_as_they_were(make):
    model, points = make(), DATA.points.clone()
    before, numbers = state(model), drawn()
    audited(model, points)
    after = state(model)
    assert all(torch.equal(after[0][name], tensor) for name, tensor in before[0].items())
    assert after[1:] == before[1:]
    assert drawn() == numbers
    assert torch.equal(points, DATA.points)
    assert not points.requires_grad


def test_a_user_may_interrupt():
    with pytest.raises(KeyboardInterrupt):
        audited(answering(unsound.raising(KeyboardInterrupt())))


def test_the_rows_make_a_table():
    part = AUDIT.part(lenet(), DATA.points, DATA.ids, 0)
    table = part.tables["audit"]
    assert table.column_names == ["id", "check", "value", "limit", "passed", "evidence"]
    assert table.num_rows == len(CHECKS)
    assert table.column("passed").to_pylist() == [True] * len(CHECKS)


def test_it_costs_no_more_than_it_says():
    asked = []
    audited(around(before=lambda x: (asked.append(len(x)), x)[1]))
    assert sum(asked) <= AUDIT.cost(None).forwards * len(DATA.points)
