"""A trained network on real images: batches agree within the tolerance of float32."""

import pytest
import torch
from benchmarks import networks

from separatrix import DeepFool, Linf, Slide, load_data, minimal_perturbation


@pytest.fixture(scope="module")
def lenet():
    return networks.load("lenet")


@pytest.fixture(scope="module")
def images():
    return load_data().points[:40]


@pytest.mark.parametrize("norm", [{}, {"norm": Linf}], ids=["l2", "linf"])
def test_batches_agree_within_the_tolerance_of_float32(lenet, images, norm):
    settings = {"method": DeepFool(candidates=3), "refine": Slide(steps=5), **norm}
    whole = minimal_perturbation(lenet, images, **settings)
    parts = minimal_perturbation(lenet, images, batch_size=9, **settings)
    change = (parts.distance / whole.distance - 1).abs()
    assert whole.found.all()
    assert change.max() <= 1e-4
    assert (change <= 1e-5).double().mean() >= 0.95


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
