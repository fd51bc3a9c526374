"""A classifier takes inputs in the units of the data, and says what is wrong with a model."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from separatrix import Classifier
from separatrix.classifier import device_of, logits_of, require_model
from separatrix.testing import small_network

POINTS = torch.rand(5, 3, 4, 4, generator=torch.Generator().manual_seed(0))


def network(channels=3):
    layers = nn.Sequential(nn.Flatten(), nn.Linear(channels * 16, 4))
    with torch.no_grad():
        layers[1].weight.copy_(torch.randn(4, channels * 16, generator=torch.Generator().manual_seed(1)))
    return layers.eval()


NETWORK = network()


@pytest.mark.parametrize("form", [list, tuple, torch.tensor])
def test_channels_are_centred_and_divided(form):
    mean, std = [0.1, 0.2, 0.3], [0.5, 2.0, 4.0]
    channels = [(POINTS[:, place] - mean[place]) / std[place] for place in range(3)]
    expected = NETWORK(torch.stack(channels, 1))
    assert_close(Classifier(NETWORK, form(mean), form(std))(POINTS), expected)


def test_one_number_stands_for_all_channels():
    assert_close(Classifier(NETWORK, 0.5, 0.25)(POINTS), NETWORK((POINTS - 0.5) / 0.25))
    assert_close(Classifier(NETWORK, mean=0.5)(POINTS), NETWORK(POINTS - 0.5))
    assert_close(Classifier(NETWORK, std=0.25)(POINTS), NETWORK(POINTS / 0.25))
    assert_close(Classifier(NETWORK)(POINTS), NETWORK(POINTS))


def test_a_vector_has_its_features_for_channels():
    layer = nn.Linear(3, 2).eval()
    points = torch.rand(4, 3, generator=torch.Generator().manual_seed(0))
    mean = torch.tensor([1.0, 2.0, 3.0])
    assert_close(Classifier(layer, mean)(points), layer(points - mean))


def test_logits_are_taken_out_of_what_a_network_returns():
    class Answers(nn.Module):
        def forward(self, x):
            return {"logits": NETWORK(x)}

    assert_close(Classifier(Answers().eval(), logits=lambda out: out["logits"])(POINTS), NETWORK(POINTS))


def test_normalisation_goes_where_the_module_goes_and_is_not_saved():
    module = network().double()
    classifier = Classifier(module, mean=[0.1, 0.2, 0.3])
    assert classifier.mean.dtype == torch.float64
    assert set(classifier.state_dict()) == {f"module.{name}" for name in module.state_dict()}


def test_wrapping_changes_no_mode():
    module = nn.Sequential(network(), nn.Dropout())
    module[0].eval()
    module[1].train()
    assert Classifier(module).training == module.training
    assert not module[0].training
    assert module[1].training
    assert not Classifier(network()).training


def test_arguments_are_not_shared():
    mean = torch.zeros(3)
    classifier = Classifier(NETWORK, mean)
    mean += 1
    assert_close(classifier(POINTS), NETWORK(POINTS))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bounds": (1, 0)}, r"`bounds` must be a pair \(least, greatest\); got \(1, 0\)"),
        ({"bounds": (0, 1, 2)}, "`bounds` must be a pair"),
        ({"std": 0.0}, r"`std` must be above 0; got 0\.0"),
        ({"std": [1.0, -1.0, 1.0]}, "`std` must be above 0"),
        ({"mean": torch.zeros(3, 4, 4)}, r"`mean` must be one number, or one a channel; got shape \(3, 4, 4\)"),
    ],
)
def test_bad_normalisation_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Classifier(NETWORK, **settings)


@pytest.mark.parametrize("form", [lambda score: score, lambda score: score[:, None]], ids=["(n,)", "(n, 1)"])
def test_one_score_stands_for_two_logits(form):
    score = POINTS.flatten(1).sum(1) - 24
    logits = logits_of(lambda x: form(x.flatten(1).sum(1) - 24), POINTS)
    assert_close(logits, torch.stack([torch.zeros(5), score], 1))
    assert require_model(lambda x: form(x.flatten(1).sum(1) - 24), POINTS) == 2


def test_the_number_of_classes_is_told():
    assert require_model(NETWORK, POINTS) == 4
    assert require_model(lambda x: NETWORK(x).detach(), POINTS, gradient=False) == 4


def test_the_device_is_that_of_the_parameters():
    assert device_of(NETWORK.to("cpu"), POINTS).type == "cpu"
    assert device_of(network().to("meta"), POINTS).type == "meta"
    assert device_of(lambda x: x, POINTS.to("meta")).type == "meta"


def test_constant_models_are_not_mistaken_for_probabilities():
    assert require_model(lambda x: 0 * NETWORK(x) + 0.25, POINTS) == 4


def test_bounds_allow_rounding_and_nothing_more():
    classifier = Classifier(NETWORK, bounds=(0, 1))
    require_model(classifier, POINTS * 1.00005)
    with pytest.raises(ValueError, match=r"`points` must lie within the model's bounds \[0, 1\]"):
        require_model(classifier, POINTS * 2)


def test_every_part_in_training_mode_is_named():
    module = nn.Sequential(nn.Sequential(nn.Dropout(), nn.Dropout()), nn.Dropout(), NETWORK).eval()
    module[0].train()
    with pytest.raises(ValueError, match=r"in eval mode; got training mode in 0, 0\.0, 0\.1\. Call `model\.eval\(\)`"):
        require_model(module, POINTS)
    module.train()
    with pytest.raises(ValueError, match="and 5 more"):
        require_model(module, POINTS)
    NETWORK.eval()


def test_asking_leaves_no_trace():
    model, points = small_network(), torch.rand(20, 1, 8, 8)
    asked = []
    require_model(lambda x: (asked.append(len(x)), model(x))[1], points)
    assert sum(asked) <= 8
    assert not points.requires_grad
    assert all(parameter.grad is None for parameter in model.parameters())
