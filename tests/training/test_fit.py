"""What a training is: a function of its seed that leaves everything else as it was."""

from dataclasses import dataclass, replace
from itertools import pairwise

import pytest
import torch
from tests.training.toys import SHORT, pictures, same_weights, small_network, weights
from torch import nn

from separatrix import Classifier
from separatrix.data import DataSet
from separatrix.training import AbstractRecipe, Batch, Progress, Standard, accuracy, fit


def trained(data, recipe=SHORT, seed=0, **settings):
    model = small_network(seed)
    fit(model, data, recipe, **settings)
    return weights(model)


@pytest.mark.parametrize("change", [{}, {"optimiser": "sgd", "rate": 0.1}, {"mixed_precision": True}])
def test_the_loss_falls_and_the_classes_are_learnt(change):
    model, data, test = small_network(), pictures(96), pictures(40, seed=1)
    history = fit(model, data, replace(Standard(epochs=6, batch_size=16, rate=1e-2), **change), test=test)
    assert history.loss[-1] < 0.5 * history.loss[0]
    assert history.accuracy == accuracy(model, test) > 0.95
    assert history.epochs[0].train_accuracy < 0.9 < history.epochs[-1].train_accuracy
    assert history.seconds > 0


@pytest.mark.parametrize(
    "change", [{}, {"optimiser": "sgd"}, {"mixed_precision": True}, {"optimiser": "sgd", "momentum": 0}]
)
def test_the_same_seed_gives_the_same_weights_to_the_last_bit(data, change):
    recipe = replace(SHORT, **change)
    first = trained(data, recipe)
    with torch.random.fork_rng():
        torch.manual_seed(123)
        assert same_weights(first, trained(data, recipe))
    assert not same_weights(first, trained(data, replace(recipe, seed=1)))


def test_every_seed_of_63_bits_trains(data):
    largest, next_to_it = (trained(data, replace(SHORT, seed=2**63 - less)) for less in (1, 2))
    assert not same_weights(largest, next_to_it)


def test_the_order_of_the_samples_in_memory_does_not_matter(data):
    shuffled = data.select(torch.randperm(len(data), generator=torch.Generator().manual_seed(0)))
    assert same_weights(trained(data), trained(shuffled))


def test_the_global_random_state_stays(data):
    before = torch.get_rng_state()
    trained(data)
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize(
    "surroundings", [torch.no_grad, torch.inference_mode, lambda: torch.autocast("cpu", torch.bfloat16)]
)
def test_the_surroundings_of_the_call_do_not_matter(data, surroundings):
    model = small_network()
    with surroundings():
        fit(model, data, SHORT)
    assert same_weights(weights(model), trained(data))


@pytest.mark.parametrize("mode", [True, False])
def test_the_model_comes_back_in_eval_mode_without_gradients(data, mode):
    model = small_network().train(mode)
    held = list(model.parameters())
    fit(model, data, SHORT)
    assert not any(part.training for part in model.modules())
    assert all(one is other and one.grad is None for one, other in zip(held, model.parameters(), strict=True))
    assert all(parameter.is_contiguous() for parameter in model.parameters())


def test_frozen_parameters_stay(data):
    model = small_network()
    model.module[0].requires_grad_(False)
    before = weights(model)
    fit(model, data, SHORT)
    after = weights(model)
    assert torch.equal(before["module.0.weight"], after["module.0.weight"])
    assert not torch.equal(before["module.6.weight"], after["module.6.weight"])
    assert [parameter.requires_grad for parameter in model.parameters()] == [False, False, True, True, True, True]


def test_no_epoch_is_no_change(data):
    model = small_network()
    history = fit(model, data, Standard(epochs=0), test=data)
    assert len(history) == 0
    assert same_weights(weights(model), weights(small_network()))


def test_callbacks_are_told_of_every_epoch_in_their_order(data):
    told = []

    def note(name):
        return lambda model, epoch, history: told.append((name, epoch, len(history), model.training, weights(model)))

    model = small_network()
    history = fit(model, data, SHORT, [note("first"), note("second")])
    assert [entry[:4] for entry in told] == [
        (name, epoch, epoch, False) for epoch in range(3) for name in ("first", "second")
    ]
    assert same_weights(told[0][4], weights(small_network()))
    assert same_weights(told[-1][4], weights(model))
    assert len(history) == 2


def test_a_callback_that_changes_the_mode_and_draws_numbers_changes_no_weight(data):
    def rude(model, epoch, history):
        model.train()
        torch.rand(5)

    with torch.random.fork_rng():
        assert same_weights(trained(data), trained(data, callbacks=[rude]))


def test_progress_is_reported_after_each_step(data):
    told: list[Progress] = []
    trained(data, progress=told.append)
    assert [(at.epoch, at.step) for at in told] == [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3)]
    assert {(at.epochs, at.steps) for at in told} == {(2, 3)}
    assert told[-1].share == 1
    assert len(told[-1].history) == 1


@dataclass(frozen=True, kw_only=True)
class Watched(AbstractRecipe):
    """Notes what a recipe is handed; its loss has the slope ``slope`` in every weight."""

    notes: list
    slope: float = 1.0

    def loss(self, model, batch):
        self.notes.append((batch, model.training, [parameter.detach().clone() for parameter in model.parameters()]))
        logits = model(batch.points)
        return 0 * logits.sum() + self.slope * sum(parameter.sum() for parameter in model.parameters()), logits


def points_on_a_line(count):
    return DataSet(
        torch.arange(count).float()[:, None], torch.zeros(count).long(), torch.arange(count), ("a", "b"), "line"
    )


def watched(count=10, **settings):
    notes = []
    fit(nn.Linear(1, 2), points_on_a_line(count), Watched(notes=notes, **settings))
    return notes


def test_an_epoch_passes_every_sample_once_in_batches_of_equal_size():
    notes = watched(count=10, epochs=2, batch_size=4)
    assert [len(batch.labels) for batch, _, _ in notes] == [4, 3, 3, 4, 3, 3]
    epochs = [torch.cat([batch.ids for batch, _, _ in notes if batch.epoch == epoch]).tolist() for epoch in range(2)]
    assert [sorted(ids) for ids in epochs] == [list(range(10))] * 2
    assert epochs[0] != epochs[1] != list(range(10))
    assert all(torch.equal(batch.points[:, 0].long(), batch.ids) for batch, _, _ in notes)
    assert all(training for _, training, _ in notes)


def moves(notes):
    return [
        max(float((b - a).abs().max()) for a, b in zip(one[2], other[2], strict=True)) for one, other in pairwise(notes)
    ]


def test_the_rate_follows_the_schedule_at_the_middle_of_each_step():
    notes = watched(epochs=1, batch_size=1, optimiser="sgd", momentum=0.0, rate=0.5, schedule="cosine")
    expected = [0.25 * (1 + float(torch.cos(torch.tensor(torch.pi * (step + 0.5) / 10)))) for step in range(9)]
    assert moves(notes) == pytest.approx(expected, abs=1e-5)


def test_a_long_gradient_is_shortened_and_a_short_one_is_not():
    plain = {"epochs": 1, "batch_size": 5, "optimiser": "sgd", "momentum": 0.0, "rate": 0.1, "schedule": "constant"}
    assert moves(watched(**plain, slope=100.0)) == pytest.approx([10.0], rel=1e-4)
    assert moves(watched(**plain, slope=100.0, clip=4.0)) == pytest.approx([0.2], rel=1e-4)  # four weights: 4 / √4 each
    assert moves(watched(**plain, slope=0.5, clip=4.0)) == pytest.approx([0.05], rel=1e-4)


def test_training_that_diverges_says_so():
    with pytest.raises(FloatingPointError, match=r"diverged in epoch 1: its loss is nan\. Lower `rate`"):
        watched(epochs=3, slope=float("nan"))


def test_mixed_precision_runs_forward_passes_in_bfloat16_and_keeps_weights_in_float32(data):
    seen = []
    model = small_network()
    model.module[0].register_forward_hook(lambda part, inputs, output: seen.append((part.training, output.dtype)))
    fit(model, data, replace(SHORT, mixed_precision=True), test=data)
    assert {dtype for training, dtype in seen if training} == {torch.bfloat16}
    assert {dtype for training, dtype in seen if not training} == {torch.float32}
    assert all(parameter.dtype == torch.float32 for parameter in model.parameters())


def test_a_model_in_double_precision_is_trained_in_it(data):
    single, double = small_network(), small_network().double()
    assert Standard().loss(double, Batch(data.points.double(), data.labels, data.ids, 0))[0].dtype == torch.float64
    histories = [fit(model, data, SHORT) for model in (single, double)]
    assert all(parameter.dtype == torch.float64 for parameter in double.parameters())
    assert histories[1].loss == pytest.approx(histories[0].loss, rel=0.2)
    assert histories[1].loss != histories[0].loss


def test_any_torch_data_set_will_do(data):
    items = torch.utils.data.TensorDataset(data.points, data.labels)
    model = small_network()
    history = fit(model, items, SHORT, test=items)
    assert history.accuracy == accuracy(model, data)


FOUR_CLASSES = replace(pictures(4), labels=torch.arange(4), classes=tuple("abcd"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": lambda points: points}, "`model` must be a torch.nn.Module; got function"),
        ({"model": small_network().requires_grad_(False)}, "`model` must have parameters that require a gradient"),
        ({"model": Classifier(nn.Sequential(nn.Flatten(), nn.Linear(9, 2)))}, "`points` must have a shape the model"),
        ({"model": small_network().half()}, "`model` must be float32 or float64; got torch.float16"),
        ({"data": torch.utils.data.DataLoader(pictures(4))}, "`data` must be a data set, not a loader of one"),
        (
            {"data": replace(pictures(4), labels=torch.arange(4), classes=tuple("abcd"))},
            "`data` must have labels below 2",
        ),
        (
            {"test": replace(pictures(4), labels=torch.arange(4), classes=tuple("abcd"))},
            "`test` must have labels below 2",
        ),
        ({"data": points_on_a_line(3), "model": nn.Linear(1, 2)}, "`recipe` must augment images"),
        ({"recipe": 5}, r"`recipe` must be a recipe, such as Standard\(\); got 5"),
    ],
)
def test_bad_requests_are_refused_by_name(change, message):
    request = {"model": small_network(), "data": pictures(4), "recipe": SHORT} | change
    with pytest.raises(ValueError, match=message):
        fit(**request)
