"""A trained network on real images: batches agree within the tolerance of float32."""

import copy

import pytest
import torch
from benchmarks import networks

from separatrix import L2, DeepFool, Linf, load_data, minimal_perturbation, subspaces

SETTINGS = {"l2": {}, "linf": {"norm": Linf}, "within": {"subspace": subspaces.dct_block((1, 28, 28), 8)}}


@pytest.fixture(scope="module")
def lenet():
    return networks.load("lenet")


@pytest.fixture(scope="module")
def images():
    return load_data().points[:40]


def test_on_a_smooth_network_displacements_are_parallel_to_the_normal(images, settings):
    boundary = minimal_perturbation(networks.load("smooth-lenet"), images, method=DeepFool(candidates=3), **settings)
    assert boundary.alignment.median() >= 0.99
    assert (boundary.alignment <= 1 + 1e-5).all()


def batch_size_changes(network, points, batch_size, **settings):
    """Relative changes of the distances, and of their median, where the batches differ."""
    whole = minimal_perturbation(network, points, **settings)
    parts = minimal_perturbation(network, points, batch_size=batch_size, **settings)
    assert whole.found.all()
    change = (parts.distance / whole.distance - 1).abs()
    return change, (parts.distance.median() / whole.distance.median() - 1).abs()


@pytest.mark.parametrize("norm", [L2, Linf], ids=["l2", "linf"])
def test_batches_agree_within_the_tolerance_of_float32(lenet, norm):
    points = load_data().points[:200]
    change, _ = batch_size_changes(lenet, points, 39, method=DeepFool(candidates=3), refine=None, norm=norm)
    assert change.max() <= 1e-4
    assert (change <= 1e-5).double().mean() >= 0.95


@pytest.mark.parametrize(("norm", "share"), [(L2, 0.97), (Linf, 0.8)], ids=["l2", "linf"])
def test_few_refined_ends_tip_over_a_kink_in_another_batch(lenet, norm, share):
    points = load_data().points[:200]
    change, median = batch_size_changes(lenet, points, 39, method=DeepFool(candidates=3), norm=norm)
    assert (change <= 1e-4).double().mean() >= share
    assert median <= 1e-3


def test_batches_agree_in_float64(lenet, images):
    change, _ = batch_size_changes(copy.deepcopy(lenet).double(), images.double(), 9, method=DeepFool(candidates=3))
    assert change.max() <= 1e-9


def test_every_end_crosses_when_asked_again(lenet, images):
    boundary = minimal_perturbation(lenet, images, method=DeepFool(candidates=3))
    assert boundary.found.all()
    for size in (1, 13):
        for first in range(0, 40, size):
            part = boundary[first : first + size]
            with torch.no_grad():
                logits = lenet(part.end)
            own = logits.gather(1, part.own[:, None])[:, 0]
            others = logits.scatter(1, part.own[:, None], -torch.inf).amax(1)
            assert (others >= own).all()


def test_images_are_measured_from_the_models_own_region_right_or_wrong(lenet):
    data = load_data()
    with torch.no_grad():
        own = lenet(data.points[:1000]).argmax(1)
    wrong = (own != data.labels[:1000]).nonzero()[:8, 0]
    boundary = minimal_perturbation(lenet, data.points[wrong])
    assert torch.equal(boundary.own, own[wrong])
    assert (boundary.distance > 0).all()
    assert (boundary.rival != own[wrong]).all()
