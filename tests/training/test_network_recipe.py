from dataclasses import dataclass, field, replace

import pytest
import torch
from tests.training.toys import Made

from separatrix.data import DataSet
from separatrix.training import CATALOGUE, AbstractRecipe, Named, NetworkRecipe, Standard, TwoClass

BASE = NetworkRecipe("lenet-32", Made(), Standard())


def hashes(*recipes):
    return len({recipe.hash for recipe in recipes})


def test_every_setting_is_in_the_hash():
    changed = (
        replace(BASE, architecture="nin"),
        replace(BASE, data=Made(count=41)),
        replace(BASE, data=Named("sample")),
        replace(BASE, recipe=Standard(epochs=3)),
        replace(BASE, activation="softplus"),
        replace(BASE, pooling="average"),
        BASE.reseeded(1),
    )
    assert hashes(BASE, *changed) == 1 + len(changed)


def test_equal_settings_have_equal_hashes_and_the_target_is_none():
    assert hashes(BASE, NetworkRecipe("lenet-32", Made(), Standard(epochs=10), target=0.9)) == 1
    assert BASE.reseeded(3).recipe.seed == 3
    assert BASE.reseeded(3).reseeded(0) == BASE


def test_recipes_of_different_kinds_have_different_hashes():
    @dataclass(frozen=True, kw_only=True)
    class Other(AbstractRecipe):
        def loss(self, model, batch):
            raise NotImplementedError

    assert hashes(BASE, replace(BASE, recipe=Other())) == 2


def test_a_setting_that_is_added_with_a_default_changes_no_hash():
    def made(*extra):
        @dataclass(frozen=True)
        class Source(Made):
            count: int = 40
            for name, default in extra:
                __annotations__[name] = int
                locals()[name] = field(default=default)

        return replace(BASE, data=Source())

    assert hashes(made(), made(("later", 0))) == 1
    assert hashes(made(), replace(BASE, data=replace(made(("later", 0)).data, later=1))) == 2


def test_the_name_of_the_files_says_what_is_in_them():
    stem = NetworkRecipe("nin", Named("cifar10"), Standard()).stem
    assert stem.startswith("nin-cifar10-")
    assert len(stem) == len("nin-cifar10-") + 8


def test_pictures_are_normalised_channel_by_channel():
    points = torch.rand(30, 3, 8, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    points = points * torch.tensor([1.0, 0.5, 0.1]).view(3, 1, 1) + torch.tensor([0.0, 0.1, 0.7]).view(3, 1, 1)
    data = DataSet(points, torch.arange(30) % 4, torch.arange(30), tuple("abcd"), "made")
    card = BASE.card(data)
    assert card.mean == pytest.approx(points.mean((0, 2, 3)).tolist(), abs=5e-5)
    assert card.std == pytest.approx(points.std((0, 2, 3), correction=0).tolist(), abs=5e-5)
    assert (card.classes, card.shape, card.bounds) == (4, (3, 8, 8), (0.0, 1.0))


def test_vectors_are_left_as_they_are():
    recipe = NetworkRecipe("mlp-10x500", TwoClass(dim=7, samples=20), Standard(), activation="softplus")
    card = recipe.card(recipe.data.load("train"))
    assert (card.mean, card.std, card.bounds) == (None, None, None)
    assert (card.classes, card.shape, card.activation) == (2, (7,), "softplus")


def test_an_unknown_architecture_is_refused():
    with pytest.raises(ValueError, match=r"`architecture` must be one of 'lenet', .*; got 'lenot'"):
        NetworkRecipe("lenot", Made(), Standard())


def test_the_hashes_of_the_catalogue_do_not_move():
    """A recipe whose hash moves is no longer found: change none that networks were trained by, add another."""
    assert {name: recipe.hash[:8] for name, recipe in CATALOGUE.items()} == {
        "lenet/sample": "04d62374",
        "lenet/mnist": "055c89b8",
        "fc500-150/mnist": "aaba2541",
        "lenet/fashion-mnist": "a1bb23b7",
        "lenet-32/cifar10": "2d5291c2",
        "cnn-6/cifar10": "b5fd6d2c",
        "nin/cifar10": "f68eaec9",
        "resnet-18/cifar10": "92b1616d",
        "mlp-10x500/two-class": "452c182f",
    }


def test_the_catalogue_is_called_by_architecture_and_data():
    assert all(name == f"{recipe.architecture}/{recipe.data}" for name, recipe in CATALOGUE.items())
    assert all(0.75 < recipe.target <= 1 for recipe in CATALOGUE.values())
