"""A trained network is made once, and found again by what it was made of."""

import json

import pytest
import torch
from tests.training.toys import Made

from separatrix import load_model
from separatrix.models import fingerprint
from separatrix.runs import digest
from separatrix.training import CATALOGUE, NetworkRecipe, Standard, accuracy, networks, trained

RECIPE = NetworkRecipe("lenet-32", Made(), Standard(epochs=2, batch_size=8), target=0.5)


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    """No network of this machine is found by chance."""
    monkeypatch.setenv(networks.CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv(networks.WEIGHTS_VARIABLE, str(tmp_path / "weights"))


@pytest.fixture
def no_training(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError

    return lambda: monkeypatch.setattr(networks, "fit", refuse)


def log_in(folder):
    (path,) = folder.glob("*.json")
    return json.loads(path.read_text())


def test_a_network_is_trained_once_and_found_again(tmp_path, no_training):
    steps = []
    first = trained(RECIPE, progress=steps.append)
    assert len(steps) == 10
    no_training()
    again = trained(RECIPE)
    assert fingerprint(first) == fingerprint(again)
    assert not first.training
    assert not again.training
    assert [path.suffix for path in sorted((tmp_path / "cache" / "networks").iterdir())] == [".json", ".safetensors"]


def test_what_is_returned_is_what_the_rounded_file_holds(tmp_path):
    model = trained(RECIPE, folder=tmp_path)
    (path,) = tmp_path.glob("*.safetensors")
    assert fingerprint(model) == fingerprint(load_model(f"zoo:lenet-32@{path}"))
    assert all(torch.equal(weights, weights.half().float()) for weights in model.parameters())
    assert all(weights.dtype == torch.float32 for weights in model.parameters())


def test_the_log_says_how_the_network_was_made(tmp_path):
    model = trained(RECIPE, folder=tmp_path)
    log = log_in(tmp_path)
    assert log["hash"] == RECIPE.hash
    assert log["test_accuracy"] == accuracy(model, Made().load("test"))
    assert log["target"] == 0.5
    assert log["recipe"]["epochs"] == len(log["epochs"]) == 2
    assert log["data"]["source"] == {"class": "Made", "count": 40}
    assert log["data"]["fingerprint"] == Made().load("train").fingerprint
    assert log["files"] == {path.name: digest(path) for path in tmp_path.glob("*.safetensors")}
    assert log["parameters"] == sum(weights.numel() for weights in model.parameters())
    assert {"seed", "seconds", "hardware", "versions", "threads", "mean", "std", "bounds"} <= log.keys()


def test_seeds_make_networks_of_their_own(tmp_path):
    models = [trained(RECIPE, seed=seed, folder=tmp_path) for seed in (0, 1)]
    assert fingerprint(models[0]) != fingerprint(models[1])
    assert fingerprint(models[0]) == fingerprint(trained(RECIPE, folder=tmp_path))
    assert len(list(tmp_path.glob("*.json"))) == 2


def test_kept_weights_are_found_before_anything_is_trained(tmp_path, no_training):
    model = trained(RECIPE, folder=tmp_path / "weights")
    no_training()
    assert fingerprint(trained(RECIPE)) == fingerprint(model)
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: path.write_bytes(path.read_bytes()[:-2])])
@pytest.mark.parametrize("suffix", [".json", ".safetensors"])
def test_what_is_lost_or_damaged_is_made_anew(tmp_path, damage, suffix):
    model = trained(RECIPE, folder=tmp_path)
    damage(next(tmp_path.glob(f"*{suffix}")))
    assert fingerprint(trained(RECIPE, folder=tmp_path)) == fingerprint(model)
    assert log_in(tmp_path)["hash"] == RECIPE.hash


def test_an_interrupted_training_is_gone_on_with(tmp_path):
    whole = trained(RECIPE, folder=tmp_path / "whole")

    def interrupt(at):
        if (at.epoch, at.step) == (1, 3):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trained(RECIPE, folder=tmp_path / "run", progress=interrupt)
    steps = []
    assert fingerprint(trained(RECIPE, folder=tmp_path / "run", progress=steps.append)) == fingerprint(whole)
    assert {at.epoch for at in steps} == {1}


@pytest.mark.filterwarnings("ignore:Threads")
def test_the_log_says_with_how_many_threads_the_training_was_computed(tmp_path):
    def interrupt(at):
        if (at.epoch, at.step) == (1, 3):
            raise KeyboardInterrupt

    before = torch.get_num_threads()
    with pytest.raises(KeyboardInterrupt):
        trained(RECIPE, folder=tmp_path, progress=interrupt)
    try:
        torch.set_num_threads(before + 1)
        trained(RECIPE, folder=tmp_path)
    finally:
        torch.set_num_threads(before)
    assert log_in(tmp_path)["threads"] == before


def test_the_global_random_state_stays(tmp_path):
    before = torch.get_rng_state()
    trained(RECIPE, folder=tmp_path)
    assert torch.equal(before, torch.get_rng_state())


def test_the_cache_is_where_it_is_asked_to_be(monkeypatch, tmp_path):
    assert networks.cache() == tmp_path / "cache"
    monkeypatch.delenv(networks.CACHE_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert networks.cache() == tmp_path / "xdg" / "separatrix"


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"network": "lenet/minst"}, f"`network` must be one of .*'{next(iter(CATALOGUE))}'.*; got 'lenet/minst'"),
        ({"network": 7}, "`network` must be a name or a NetworkRecipe; got 7"),
        ({"network": RECIPE, "seed": -1}, "`seed` must be a whole number from 0 to .*; got -1"),
    ],
)
def test_unknown_networks_are_refused(request_, message):
    with pytest.raises(ValueError, match=message):
        trained(**request_)
