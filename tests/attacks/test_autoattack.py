"""AutoAttack, where its package is installed, and what is said where it is not."""

from __future__ import annotations

import sys

import pytest
import torch
from torch import nn

from separatrix.attacks import AutoAttack, perturb
from separatrix.classifier import Classifier
from separatrix.norms import L2, Linf


@pytest.fixture
def images():
    return torch.rand(6, 1, 8, 8, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def model():
    linear = nn.Linear(64, 4)
    with torch.no_grad():
        linear.weight.copy_(torch.randn(4, 64, generator=torch.Generator().manual_seed(1)))
        linear.bias.zero_()
    return Classifier(nn.Sequential(nn.Flatten(), linear).eval(), bounds=(0, 1))


def test_without_the_package_the_extra_is_named(model, images, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyautoattack", None)
    with pytest.raises(ImportError, match=r"`AutoAttack` needs pyautoattack: pip install 'separatrix\[autoattack\]'"):
        perturb(model, images, radius=0.1, method=AutoAttack())


@pytest.mark.parametrize("norm", [L2, Linf], ids=str)
def test_it_stays_within_radius_and_box_and_leaves_the_random_state_alone(model, images, norm):
    pytest.importorskip("pyautoattack")
    state, tracer = torch.random.get_rng_state(), sys.gettrace()
    radius = torch.tensor([0.0, 3.0, 3.0, 3.0, 3.0, 3.0])
    answer = perturb(model, images, radius=radius, method=AutoAttack(), norm=norm)
    assert torch.equal(state, torch.random.get_rng_state())
    assert sys.gettrace() is tracer
    assert answer.fooled.tolist() == [False, True, True, True, True, True]
    assert (answer.length <= radius + 1e-6).all()
    assert answer.end.min() >= 0
    assert answer.end.max() <= 1
    assert torch.equal(answer.answer, model(answer.end).argmax(1))
    assert (answer.forwards[1:] > 10).all()
    assert (answer.gradients[1:] > 0).all()
    assert answer.gradients[0] == 0
