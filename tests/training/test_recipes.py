from dataclasses import FrozenInstanceError

import pytest
import torch
from torch import nn
from torch.nn.functional import log_softmax

from separatrix.training import AbstractRecipe, Batch, Standard


def batch(count=6, classes=3):
    points = torch.randn(count, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).float()
    return Batch(points, torch.arange(count) % classes, torch.arange(count), epoch=0)


def test_the_standard_loss_is_the_mean_cross_entropy():
    model, seen = nn.Linear(4, 3), batch()
    loss, logits = Standard().loss(model, seen)
    expected = -log_softmax(model(seen.points), 1)[range(6), seen.labels].mean()
    torch.testing.assert_close(loss, expected)
    assert torch.equal(logits, model(seen.points))


def test_label_smoothing_spreads_a_share_over_all_classes():
    model, seen = nn.Linear(4, 3), batch()
    plain, smooth = Standard().loss(model, seen)[0], Standard(label_smoothing=0.3).loss(model, seen)[0]
    evenly = -log_softmax(model(seen.points), 1).mean()
    torch.testing.assert_close(smooth, 0.7 * plain + 0.3 * evenly)


def test_one_score_stands_for_two_classes():
    loss, logits = Standard().loss(nn.Linear(4, 1), batch(classes=2))
    assert logits.shape == (6, 2)
    assert loss.isfinite()


def test_a_recipe_is_settings_and_cannot_change():
    with pytest.raises(FrozenInstanceError):
        Standard().rate = 1.0
    assert Standard(epochs=3) == Standard(epochs=3)
    with pytest.raises(TypeError, match="abstract"):
        AbstractRecipe()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epochs": -1}, "`epochs` must be a whole number ≥ 0; got -1"),
        ({"epochs": 1.5}, "`epochs` must be a whole number"),
        ({"batch_size": 0}, "`batch_size` must be a whole number ≥ 1; got 0"),
        ({"optimiser": "rmsprop"}, "`optimiser` must be one of 'adam', 'sgd'; got 'rmsprop'"),
        ({"rate": 0.0}, "`rate` must be a finite number above 0; got 0.0"),
        ({"schedule": "steps"}, "`schedule` must be one of 'one-cycle', 'cosine', 'triangular', 'constant'; got"),
        ({"momentum": 1.0}, r"`momentum` must lie in \[0, 1\); got 1.0"),
        ({"weight_decay": -1e-4}, "`weight_decay` must be at least 0; got -0.0001"),
        ({"augment": "flip"}, "`augment` must be one of 'crop', 'flip-crop'; got 'flip'"),
        ({"clip": 0}, "`clip` must be a finite number above 0; got 0"),
        ({"label_smoothing": 1.0}, r"`label_smoothing` must lie in \[0, 1\); got 1.0"),
        ({"seed": -1}, r"`seed` must be a whole number from 0 to 2\^63 − 1; got -1"),
        ({"seed": 2**63}, r"`seed` must be a whole number from 0 to 2\^63 − 1; got 9223372036854775808"),
    ],
)
def test_settings_out_of_range_are_refused_by_name(settings, message):
    with pytest.raises(ValueError, match=message):
        Standard(**settings)
