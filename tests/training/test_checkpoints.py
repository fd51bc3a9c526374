"""A training interrupted anywhere and run again is the training without the interruption."""

import json
from dataclasses import replace

import pytest
import torch
from tests.training.toys import SHORT, pictures, same_weights, small_network, weights
from torch import nn

from separatrix.runs import files
from separatrix.training import Checkpoints, Standard, fit


class Faults:
    """Raises at the n-th stage that any write of a file reaches."""

    def __init__(self) -> None:
        self.seen, self.at = 0, None

    def __call__(self, stage, path):
        self.seen += 1
        if self.seen - 1 == self.at:
            raise KeyboardInterrupt

    def arm(self, at):
        self.seen, self.at = 0, at


@pytest.fixture
def faults(monkeypatch):
    faults = Faults()
    monkeypatch.setattr(files, "reached", faults)
    return faults


def trained(data, folder, recipe=SHORT, every=2):
    model = small_network()
    history = fit(model, data, recipe, test=data, checkpoints=Checkpoints(folder, every))
    return weights(model), history


def untimed(history):
    return [replace(epoch, seconds=0.0) for epoch in history.epochs]


STAGES = 4 * 2 * (2 + 2)  # of two files a checkpoint, one within and one after each of two epochs


@pytest.fixture(scope="module", params=[{"optimiser": "adam"}, {"optimiser": "sgd", "mixed_precision": True}])
def recipe(request):
    return replace(SHORT, **request.param)


@pytest.fixture(scope="module")
def uninterrupted(recipe, tmp_path_factory):
    return trained(pictures(24), tmp_path_factory.mktemp("whole"), recipe)


def test_every_stage_of_every_write_is_struck_below(data, tmp_path, faults):
    trained(data, tmp_path)
    assert faults.seen == STAGES


@pytest.mark.parametrize("stage", range(STAGES))
def test_an_interruption_at_any_stage_of_any_write_changes_no_weight(
    data, tmp_path, faults, recipe, uninterrupted, stage
):
    faults.arm(stage)
    with pytest.raises(KeyboardInterrupt):
        trained(data, tmp_path, recipe)
    faults.arm(None)
    again, history = trained(data, tmp_path, recipe)
    assert same_weights(again, uninterrupted[0])
    assert untimed(history) == untimed(uninterrupted[1])
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json", ".safetensors"]


def test_a_training_interrupted_at_every_write_in_turn_ends_all_the_same(data, tmp_path, faults):
    whole, _ = trained(data, tmp_path / "whole")
    for stage in (7, 3, 2, 1, 0, 6, 7):  # the later ones begin from where the earlier have come to
        faults.arm(stage)
        with pytest.raises(KeyboardInterrupt):
            trained(data, tmp_path / "run")
    faults.arm(None)
    assert same_weights(trained(data, tmp_path / "run")[0], whole)


def test_checkpoints_change_no_weight(data, tmp_path):
    model = small_network()
    fit(model, data, SHORT)
    assert same_weights(weights(model), trained(data, tmp_path)[0])


def test_an_interrupted_model_is_as_it_was_and_the_same_call_goes_on(data, tmp_path, faults):
    model = small_network()
    faults.arm(9)
    with pytest.raises(KeyboardInterrupt):
        fit(model, data, SHORT, checkpoints=tmp_path)
    assert same_weights(weights(model), weights(small_network()))
    assert not model.training
    faults.arm(None)
    fit(model, data, SHORT, checkpoints=tmp_path)
    assert same_weights(weights(model), trained(data, tmp_path / "whole")[0])


def test_a_training_that_is_done_gives_its_result_at_once(data, tmp_path):
    first, history = trained(data, tmp_path)
    steps = []
    model = small_network()
    again = fit(model, data, SHORT, test=data, checkpoints=Checkpoints(tmp_path), progress=steps.append)
    assert again == history
    assert same_weights(weights(model), first)
    assert steps == []


@pytest.fixture
def threads():
    """As many as there were, when the test is over."""
    before = torch.get_num_threads()
    yield before
    torch.set_num_threads(before)


def begun(data, folder, threads):
    """A training that was interrupted after its first epoch."""

    def fails(model, epoch, history):
        if epoch == 1:
            raise KeyboardInterrupt

    torch.set_num_threads(threads)
    with pytest.raises(KeyboardInterrupt):
        fit(small_network(), data, SHORT, [fails], checkpoints=folder)


def test_a_training_goes_on_with_as_many_threads_as_it_began_with(data, tmp_path, threads):
    begun(data, tmp_path, 1)
    torch.set_num_threads(2)
    used = []
    with pytest.warns(RuntimeWarning, match=r"^Threads: going on with 1, as the training began, not 2\.$"):
        fit(small_network(), data, SHORT, [lambda *_: used.append(torch.get_num_threads())], checkpoints=tmp_path)
    assert used == [1, 1]
    assert torch.get_num_threads() == 2
    fit(small_network(), data, SHORT, checkpoints=tmp_path)  # is done: nothing to be warned of


def test_the_number_of_threads_comes_back_after_an_interruption(data, tmp_path, threads):
    begun(data, tmp_path, 1)
    with pytest.warns(RuntimeWarning, match="^Threads"):
        begun(data, tmp_path, 2)
    assert torch.get_num_threads() == 2


@pytest.mark.parametrize("kept", [None, 0, -1, "2"])
def test_a_checkpoint_that_names_no_threads_is_gone_on_with_as_asked(data, tmp_path, threads, kept):
    begun(data, tmp_path, 1)
    path = tmp_path / "checkpoint.json"
    files.write_sealed(path, {**files.read_sealed(path), "threads": kept})
    torch.set_num_threads(2)
    fit(small_network(), data, SHORT, checkpoints=tmp_path)
    assert Checkpoints(tmp_path).threads == 2


def test_callbacks_hear_of_the_epoch_that_a_training_goes_on_from(data, tmp_path):
    def fails(model, epoch, history):
        if epoch == 1:
            raise KeyboardInterrupt

    told = []
    with pytest.raises(KeyboardInterrupt):
        fit(small_network(), data, SHORT, [fails], checkpoints=tmp_path)
    fit(small_network(), data, SHORT, [lambda model, epoch, history: told.append(epoch)], checkpoints=tmp_path)
    assert told == [1, 2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"recipe": replace(SHORT, rate=0.5)}, r"got recipe\.rate: 0\.002 → 0\.5\. Give this training another folder"),
        ({"recipe": replace(SHORT, epochs=3, clip=None)}, r"recipe\.clip: 1 → null; recipe\.epochs: 2 → 3"),
        ({"model": small_network(seed=1)}, r"got model: [0-9a-f]{12}… → [0-9a-f]{12}…"),
        ({"data": pictures(24, seed=1)}, r"got data\.content: [0-9a-f]{12}… → "),
        ({"data": pictures(24, name="other")}, r"got data\.name: made → other"),
        ({"test": pictures(24)}, r"got test: null → absent; test\.content: absent → "),
    ],
)
def test_the_checkpoints_of_another_training_are_refused_with_the_difference(tmp_path, change, message):
    request = {"data": pictures(24), "recipe": SHORT, "checkpoints": tmp_path}
    fit(small_network(), **request)
    kept = sorted((path.name, path.read_bytes()) for path in tmp_path.iterdir())
    with pytest.raises(ValueError, match=r"`checkpoints` must be those of this training.*" + message):
        fit(**({"model": small_network()} | request | change))
    assert sorted((path.name, path.read_bytes()) for path in tmp_path.iterdir()) == kept


@pytest.mark.parametrize("kind", [".json", ".safetensors"])
@pytest.mark.parametrize("damage", [lambda content: content[:-9], lambda content: content[:90] + b"7" + content[91:]])
def test_a_damaged_checkpoint_is_refused_by_its_path(data, tmp_path, kind, damage):
    trained(data, tmp_path)
    (path,) = tmp_path.glob(f"*{kind}")
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=f"`checkpoints` must hold a sound checkpoint; got .*{path.name}, which is"):
        trained(data, tmp_path)


def test_a_checkpoint_that_lost_its_tensors_is_refused(data, tmp_path):
    trained(data, tmp_path)
    next(tmp_path.glob("*.safetensors")).unlink()
    with pytest.raises(ValueError, match=r"must hold a sound checkpoint.*missing or damaged\. Delete the folder"):
        trained(data, tmp_path)


def test_what_is_in_the_folder_besides_stays(data, tmp_path):
    (tmp_path / "notes.safetensors").write_bytes(b"mine")
    trained(data, tmp_path)
    assert (tmp_path / "notes.safetensors").read_bytes() == b"mine"
    record = json.loads((tmp_path / "checkpoint.json").read_text())
    assert record["standing"]["epoch"] == 2
    assert record["config"]["recipe"]["class"] == "Standard"


def test_weights_used_twice_and_numbers_without_axes_are_kept(data, tmp_path):
    def tied():
        layer = nn.Linear(64, 64)
        with torch.no_grad():
            layer.weight.copy_(torch.eye(64))
        return nn.Sequential(nn.Flatten(), layer, nn.BatchNorm1d(64), layer, nn.Linear(64, 2))

    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = tied()
        start = weights(model)
    fit(model, data, Standard(epochs=1, batch_size=8), checkpoints=tmp_path)
    again = tied()
    again.load_state_dict(start)
    fit(again, data, Standard(epochs=1, batch_size=8), checkpoints=tmp_path)
    assert same_weights(weights(again), weights(model))


@pytest.mark.parametrize("every", [0, -1, 1.5])
def test_checkpoints_come_every_whole_number_of_steps(tmp_path, every):
    with pytest.raises(ValueError, match="`every` must be a whole number ≥ 1"):
        Checkpoints(tmp_path, every)
