import matplotlib as mpl
import pytest
import torch

from separatrix.boundary import BoundaryPoints
from separatrix.norms import L2
from separatrix.plots import margin_distribution, nearest_samples

mpl.use("Agg")


@pytest.fixture
def boundary():
    """Four grey images of zeros, moved by 0.3, 0.1, nowhere (not found) and 0.2 in one pixel."""
    start = torch.zeros(4, 1, 5, 6)
    end = start.clone()
    end[:, 0, 0, 0] = torch.tensor([0.3, 0.1, torch.nan, 0.2])
    normals = torch.zeros_like(start)
    normals[:, 0, 0, 0] = 1
    found = torch.tensor([True, True, False, True])
    own, rival = torch.tensor([0, 1, 0, 1]), torch.tensor([1, 2, -1, 0])
    count = torch.ones(4, dtype=torch.long)
    return BoundaryPoints(
        start,
        end,
        normals,
        found,
        own,
        rival,
        count,
        torch.ones(4),
        torch.ones(4),
        count,
        count,
        count,
        torch.arange(4),
        L2,
    )


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    mpl.pyplot.close("all")


def test_the_curve_is_the_share_of_samples_within_each_distance(boundary):
    axes = margin_distribution(boundary, unit="pixels in [0, 1]")
    radii, shares = axes.lines[0].get_data()
    assert radii == pytest.approx([0, 0.1, 0.2, 0.3])
    assert shares == pytest.approx([0, 0.25, 0.5, 0.75])
    assert axes.get_title(loc="left") == "Margins in ℓ2: 4 samples, 1 not found"
    assert axes.get_xlabel() == "distance to the boundary, ℓ2, pixels in [0, 1] (upper bounds)"


def test_the_median_counts_samples_not_found(boundary):
    assert [text.get_text() for text in margin_distribution(boundary).texts] == ["median 0.2"]
    assert not margin_distribution(boundary[[2, 2, 0]]).texts


def test_nearest_samples_come_in_order_with_their_classes(boundary):
    axes = nearest_samples(boundary, classes=("bag", "coat", "shirt"), count=2)
    assert len(axes.images) == 2 * 3
    assert [text.get_text() for text in axes.texts] == ["coat", "shirt\n0.1", "coat", "bag\n0.2"]


def test_classes_without_names_are_numbers(boundary):
    texts = nearest_samples(boundary, count=1).texts
    assert [text.get_text() for text in texts] == ["1", "2\n0.1"]


def test_what_is_added_is_drawn_on_its_own_scale(boundary):
    added = nearest_samples(boundary, count=1).images[1].get_array()
    assert added.shape == (5, 6, 3)
    assert added[0, 0, 0] > added[0, 0, 2]
    assert (added[1:] == added[1, 0]).all()


def test_only_samples_found_are_shown(boundary):
    assert len(nearest_samples(boundary, count=9).images) == 3 * 3
    assert not nearest_samples(boundary[[2]]).images


def test_axes_can_be_given(boundary):
    _, axes = mpl.pyplot.subplots()
    assert margin_distribution(boundary, ax=axes) is axes
    assert nearest_samples(boundary, ax=axes) is axes


def test_what_is_not_an_image_is_refused(boundary):
    flat = torch.zeros(4, 30)
    points = BoundaryPoints(flat, flat, flat, *list(vars(boundary).values())[3:])
    with pytest.raises(ValueError, match="`boundary` must be about images of one or three channels"):
        nearest_samples(points)
