"""A fingerprint is the same for the same function of the same numbers, and another after any change."""

import copy

import pytest
import torch
from torch import nn

from separatrix import Classifier
from separatrix.models import fingerprint, load_weights, network, save_weights


@pytest.fixture
def model():
    return network("resnet-18-half", shape=(3, 8, 8))


def changed(model, change):
    other = copy.deepcopy(model)
    with torch.no_grad():
        change(other)
    return other


@pytest.mark.parametrize(
    "change",
    [
        lambda model: model.eval(),
        lambda model: model.requires_grad_(False),
        lambda model: model.to(memory_format=torch.channels_last),
        lambda model: model.load_state_dict(model.state_dict()),
        lambda model: model.register_forward_hook(lambda *_: None),
    ],
    ids=["mode", "requires_grad", "memory format", "reload", "hook"],
)
def test_what_moves_no_logit_leaves_it(model, change):
    assert fingerprint(changed(model, change)) == fingerprint(model)


@pytest.mark.parametrize(
    "change",
    [
        lambda model: model[0].weight[3, 1, 2, 0].mul_(1.001),
        lambda model: model[1].running_var[5].add_(1e-6),
        lambda model: model.double(),
        lambda model: model.insert(0, nn.Identity()),
        lambda model: setattr(model[1], "eps", 1e-3),
        lambda model: setattr(model[3], "activation1", nn.SiLU()),
    ],
    ids=["weight", "buffer", "precision", "layer", "setting", "activation"],
)
def test_any_change_changes_it(model, change):
    assert fingerprint(changed(model, change)) != fingerprint(model)


def test_normalisation_is_part_of_a_model(model):
    prints = {
        fingerprint(Classifier(model, mean, std))
        for mean, std in [(None, None), (0.5, None), (None, 0.5), ([0.5] * 3, None), (0.5, 0.5), (0.25, 0.5)]
    }
    assert len(prints) == 6


def test_numbers_are_told_apart_from_their_shape():
    first, second = nn.Module(), nn.Module()
    first.register_buffer("a", torch.zeros(2, 3))
    second.register_buffer("a", torch.zeros(3, 2))
    assert fingerprint(first) != fingerprint(second)


def test_it_survives_a_save_and_a_load(model, tmp_path):
    save_weights(model, tmp_path / "net.safetensors", shard_bytes=10**6)
    other = network("resnet-18-half", shape=(3, 8, 8), seed=1)
    assert fingerprint(other) != fingerprint(model)
    load_weights(other, tmp_path / "net.safetensors")
    assert fingerprint(other) == fingerprint(model)


def test_equal_code_has_one_whatever_its_address():
    class Layer(nn.Module):
        def extra_repr(self):
            return f"{object()}"

    assert fingerprint(Layer()) == fingerprint(Layer())


def test_what_is_no_module_is_refused():
    with pytest.raises(ValueError, match=r"`model` must be a torch\.nn\.Module; got function"):
        fingerprint(lambda x: x)
