"""``separatrix train``: what it trains, what it says, and what it finds."""

import re
from dataclasses import fields, replace

import numpy as np
import pytest
from tests.cli.toys import pictures

import separatrix
from separatrix.cli.recipes import Changes, Files, recipe_of
from separatrix.data import load_data
from separatrix.training import CATALOGUE, NetworkRecipe, Standard, accuracy

QUICK = ("--epochs", 2, "--batch-size", 16)


@pytest.fixture
def train(command, archive):
    """A multilayer perceptron on the small task, with further words."""
    return lambda *words: command("train", "mlp", "--data", archive, *QUICK, *words)


def spec(text):
    """What the line on loading names."""
    return re.search(r'load +separatrix\.load_model\("(.*)"\)', text)[1]


def test_epochs_accuracy_and_the_way_to_load_it_are_said(train, archive, folders):
    ended = train()
    assert (ended.code, ended.err) == (0, "")
    first, second, summary, file, load = ended.out.splitlines()
    for number, line in enumerate((first, second), 1):
        assert re.fullmatch(rf"epoch {number}/2  loss 0\.\d{{4}}  training +[\d.]+%  test +[\d.]+%  [\d.]+ s", line)
    assert spec(load) == f"zoo:mlp@{file.split()[1]}"
    assert str(folders / "separatrix_cache" / "networks" / "mlp-halves-") in file
    model = separatrix.load_model(spec(load))
    share = accuracy(model, load_data(archive, split="test"))
    assert summary == f"accuracy  {share:.2%} of the test labels, by the weights as they are kept"
    assert share > 0.9


def test_a_network_that_was_trained_is_found(train, monkeypatch):
    first = train()
    monkeypatch.setattr("separatrix.cli.networks.trained", None)
    assert train() == first


def test_networks_are_kept_where_it_is_said(train, tmp_path):
    text = train("--out", tmp_path / "mine").out
    assert spec(text).startswith(f"zoo:mlp@{tmp_path / 'mine'}")


def test_the_weights_folder_is_looked_in(train, monkeypatch, tmp_path):
    first = train("--out", tmp_path / "mine")
    monkeypatch.setenv("SEPARATRIX_WEIGHTS", str(tmp_path / "mine"))
    assert train() == first


@pytest.mark.parametrize(("target", "verdict"), [(0.5, "50.00%, reached"), (1.01, "101.00%, missed")])
def test_a_target_is_compared_with(command, archive, monkeypatch, target, verdict):
    recipe = NetworkRecipe("mlp", Files.at(archive), Standard(epochs=1, batch_size=16), target=target)
    monkeypatch.setattr("separatrix.cli.recipes.CATALOGUE", {"mlp/halves": recipe})
    ended = command("train", "mlp/halves")
    assert ended.code == 0
    assert f"target    {verdict}" in ended.out


def test_data_without_splits_are_said_to_have_none(command, tmp_path):
    images, labels = pictures(32, seed=0)
    np.savez(tmp_path / "whole.npz", images=images, labels=labels)
    ended = command("train", "mlp", "--data", tmp_path / "whole.npz", *QUICK)
    assert "these are the samples that it was trained on" in ended.out


def test_progress_is_not_on_stdout(train, monkeypatch):
    monkeypatch.setattr("separatrix.cli.progress._PAUSE", 0.0)
    ended = train()
    assert ended.code == 0
    assert "left" not in ended.out
    assert re.match(r"separatrix: mlp-halves-\w{8}: \d+%, 0:0\d:\d\d left", ended.err.splitlines()[1])


def test_a_folder_that_is_a_file_is_one_line(train, tmp_path):
    (tmp_path / "file").touch()
    ended = train("--out", tmp_path / "file")
    assert ended.code == 2
    assert ended.err.count("\n") == 1
    assert str(tmp_path / "file") in ended.err


def test_a_training_that_diverges_is_one_line(train):
    ended = train("--optimiser", "sgd", "--rate", 1e30)
    assert ended.code == 2
    assert ended.complaint.startswith("Training diverged in epoch 1")


def test_the_list_says_what_there_is_and_what_is_trained(command, archive, monkeypatch):
    recipes = {
        name: NetworkRecipe("mlp", Files.at(archive), Standard(epochs=1, seed=seed))
        for seed, name in enumerate(("mlp/one", "mlp/other"))
    }
    monkeypatch.setattr("separatrix.cli.recipes.CATALOGUE", recipes)
    monkeypatch.setattr("separatrix.cli.train.CATALOGUE", recipes)
    assert command("train", "mlp/other").code == 0
    head, one, other = command("train", "--list").out.splitlines()
    assert head.split() == ["network", "layers", "target", "epochs", "trained"]
    assert re.fullmatch(r"mlp/one +hidden layers 256, 256, 256 +1 +no", one)
    assert re.fullmatch(r"mlp/other +hidden layers 256, 256, 256 +1 +[\d.]+%, .*\.safetensors", other)


def test_the_whole_catalogue_is_listed(command):
    listed = [line.split()[0] for line in command("train", "--list").out.splitlines()[1:]]
    assert listed == list(CATALOGUE)


def test_every_setting_of_a_recipe_can_be_changed():
    changeable = {setting.name for setting in fields(Changes)}
    assert {setting.name for setting in fields(Standard)} | {"activation", "pooling"} == changeable


def test_changes_reach_the_recipe():
    changes = Changes(epochs=3, optimiser="sgd", augment="none", activation="silu", clip=1.0)
    entry = CATALOGUE["cnn-6/cifar10"]
    recipe = replace(entry.recipe, epochs=3, optimiser="sgd", augment=None, clip=1.0)
    assert recipe_of("cnn-6/cifar10", None, changes) == replace(entry, recipe=recipe, activation="silu")
    assert recipe_of("cnn-6", "cifar10") == entry


def test_a_target_belongs_to_its_recipe_whatever_the_seed():
    target = CATALOGUE["lenet/sample"].target
    assert recipe_of("lenet/sample", None).target == target
    assert recipe_of("lenet", "sample", Changes(seed=3)).target == target
    assert recipe_of("lenet/sample", None, Changes(epochs=3)).target is None


def test_data_of_ones_own_are_known_by_what_is_in_them(archive, tmp_path):
    recipe = recipe_of("mlp", str(archive))
    moved = archive.rename(tmp_path / "moved.npz")
    assert recipe_of("mlp", str(moved)).hash == recipe.hash
    images, labels = pictures(32, seed=2)
    np.savez(archive, images=images, labels=labels)
    assert recipe_of("mlp", str(archive)).hash != recipe.hash


def test_only_pixels_have_bounds(archive, tmp_path):
    images, labels = pictures(32, seed=2)
    np.savez(tmp_path / "numbers.npz", images=images.astype(np.float32), labels=labels)
    assert Files.at(archive).bounds == (0.0, 1.0)
    assert Files.at(tmp_path / "numbers.npz").bounds is None
