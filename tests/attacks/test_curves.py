"""Accuracy that remains within each radius."""

from __future__ import annotations

import pytest
import torch
from torch.testing import assert_close

from separatrix.attacks import BIM, FGSM, PGD, robust_accuracy, standing
from separatrix.norms import L2, Linf
from separatrix.search import minimal_perturbation
from separatrix.statistics import wilson
from separatrix.testing import Quadric

RADII = [0.0, 0.1, 0.3, 0.6, 1.0, 2.0]


@pytest.fixture
def labels(plane, points):
    labels = plane.label(points)
    labels[::5] = 1 - labels[::5]
    return labels


def exact(plane, points, labels, norm):
    correct = plane.label(points) == labels
    return correct[:, None] & (plane.distance(points, norm)[:, None] > torch.tensor(RADII).double())


@pytest.mark.parametrize(
    ("method", "norm"), [(FGSM(), L2), (FGSM(), Linf), (BIM(), L2), (BIM(), Linf), (PGD(steps=20), Linf)], ids=str
)
def test_on_a_plane_the_curve_is_the_exact_share(plane, points, labels, method, norm):
    curve = robust_accuracy(plane, points, labels, RADII, method=method, norm=norm, batch_size=16)
    assert torch.equal(curve.stands, exact(plane, points, labels, norm))
    assert_close(curve.accuracy, curve.stands.double().mean(0))
    assert curve.clean_accuracy == curve.accuracy[0] == 0.8
    assert 0 < curve.accuracy[2] < 0.8
    assert torch.equal(curve.stands, curve.raw_stands)


@pytest.mark.parametrize("norm", [L2, Linf], ids=str)
def test_minimal_distances_give_the_same_curve(plane, points, labels, norm):
    boundary = minimal_perturbation(plane, points, norm=norm)
    curve = standing(boundary, labels, RADII)
    assert torch.equal(curve.stands, exact(plane, points, labels, norm))
    assert curve.norm == norm
    assert torch.equal(curve.forwards, boundary.forwards)


def test_what_was_not_found_stands(plane, points, labels):
    boundary = minimal_perturbation(plane, points, refine=None, max_steps=1, retries=0)
    lost = boundary.found.logical_not()
    curve = standing(boundary, labels, [1e6])
    assert torch.equal(curve.stands[:, 0], lost & (labels == boundary.own))


def test_misclassified_samples_never_stand_and_are_not_attacked(plane, points, labels):
    curve = robust_accuracy(plane, points, labels, [1e-6, 1e-5], method=FGSM())
    assert not curve.stands[::5].any()
    assert not curve.correct[::5].any()
    assert (curve.forwards[::5] == 1).all()
    assert (curve.gradients[::5] == 0).all()
    assert (curve.gradients[1:5] == 2).all()
    nothing = robust_accuracy(plane, points, 1 - plane.label(points), RADII)
    assert nothing.clean_accuracy == 0
    assert not nothing.stands.any()


def test_a_sample_fooled_once_never_stands_at_a_larger_radius():
    band = Quadric(torch.tensor([[-2.0]]).double(), torch.tensor([3.0]).double(), -2.0)  # answers 1 in (1, 2)
    start, labels = torch.zeros(2, 1).double(), torch.tensor([0, 0])
    curve = robust_accuracy(band, start, labels, [0.5, 1.5, 3.0], method=FGSM())
    assert curve.raw_stands[0].tolist() == [True, False, True]
    assert curve.stands[0].tolist() == [True, False, False]
    assert curve.accuracy.tolist() == [1, 0, 0]
    assert curve.raw_accuracy.tolist() == [1, 0, 1]


def test_rows_do_not_depend_on_their_batch_nor_on_other_samples(plane, points, labels):
    whole = robust_accuracy(plane, points, labels, RADII)
    part = torch.tensor([5, 3, 8, 21])
    again = robust_accuracy(plane, points[part], labels[part], torch.tensor(RADII), ids=part, batch_size=1)
    assert torch.equal(whole.raw_stands[part], again.raw_stands)
    assert torch.equal(whole.forwards[part], again.forwards)
    assert torch.equal(again.ids, part)


def test_intervals_arewilsons_and_the_table_prints_them(plane, points, labels):
    curve = robust_accuracy(plane, points, labels, [0.0, 5.0], confidence=0.9)
    assert curve.intervals == (wilson(32, 40, 0.9), wilson(0, 40, 0.9))
    low, high = curve.intervals[0]
    assert f"0          80.0% ({100 * low:.1f}–{100 * high:.1f} %)" in str(curve)
    assert repr(curve) == "RobustnessCurve: 40 samples, 80.0% correct, 0.0% within 5 (ℓ∞)"
    assert len(curve) == 40
