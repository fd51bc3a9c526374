import torch

from separatrix.data import load_data, two_class
from separatrix.training import Named, TwoClass


def test_a_named_source_is_what_load_data_gives():
    source = Named("sample")
    assert source.load("train").fingerprint == load_data("sample", split="train").fingerprint
    assert str(source) == "sample"
    assert source.bounds == (0.0, 1.0)


def test_two_classes_are_drawn_by_their_settings():
    source = TwoClass(epsilon=3.0, sigma=0.5, dim=6, samples=10, seed=4, basis_seed=2)
    expected = two_class(3.0, 0.5, dim=6, samples=10, split="test", seed=4, basis_seed=2).data
    assert torch.equal(source.load("test").points, expected.points)
    assert not torch.equal(source.load("train").points, expected.points)
    assert str(source) == "two-class"
    assert source.bounds is None
