"""Questions asked of classifiers whose geometry is known."""

import numpy as np
import pytest
import torch
from tests.survey.known import Known, asked, known, network, pictures

from separatrix import L2, Classifier, Linf, subspaces
from separatrix.survey.question import Inputs
from separatrix.survey.questions.bands import BANDS
from separatrix.survey.questions.directions import DIRECTIONS, random_directions
from separatrix.survey.questions.margins import MARGINS
from separatrix.survey.questions.robustness import ROBUSTNESS
from separatrix.testing import Affine, Ball

SHAPE = (1, 8, 8)


def affine(classes, dimension=64, seed=1):
    return Affine.random(classes, dimension, generator=torch.Generator().manual_seed(seed))


def close(values, exact, rtol=1e-6):
    np.testing.assert_allclose(values, exact, rtol=rtol)


def flat_beyond(points):
    """Two classes; the boundary lies where the first input is −0.1, and at positive ones the model has no slope."""
    return (-points.flatten(1)[:, 0]).relu() - 0.1


# Margins


def test_margins_of_an_affine_classifier_are_exact_in_both_norms():
    model, points = affine(4), pictures(12)
    rows, _ = asked(MARGINS, known(model), points)
    close(rows["l2"], model.distance(points))
    close(rows["linf"], model.distance(points, Linf))
    close(rows["l2_linf"], Linf.length(model.foot(points) - points))
    close(rows["linf_l2"], 8 * model.distance(points, Linf))  # all coordinates move alike: √d times as long
    close(rows["l2_alignment"], 1)
    close(rows["linf_alignment"], 1)
    assert rows["own"].tolist() == model.label(points).tolist()
    for name in ("l2", "linf"):
        assert rows[f"{name}_found"].all()
        assert rows[f"{name}_again"].all()
        assert (rows[f"{name}_raw"] >= rows[name]).all()
    beyond = model.label(points + 1.001 * (model.foot(points) - points))
    assert rows["l2_rival"].tolist() == beyond.tolist()


def test_lengths_of_one_perturbation_keep_the_order_of_the_norms():
    rows, _ = asked(MARGINS, network(), pictures(12))
    for long, short in (("l2", "l2_linf"), ("linf_l2", "linf")):
        assert (rows[short] <= rows[long] * (1 + 1e-12)).all()
        assert (rows[long] <= 8 * rows[short] * (1 + 1e-12)).all()


def test_an_end_that_crossed_in_company_alone_is_told():
    """A model that moves its boundary away for a batch of one; the points begin at the same answer either way."""

    def moody(points):
        return points.flatten(1).sum(1) - (1.0 if len(points) > 1 else 1.5)

    rows, _ = asked(MARGINS, known(moody), 0.1 * pictures(5, (4,)))
    for name in ("l2", "linf"):
        assert rows[f"{name}_found"].all()
        assert not rows[f"{name}_again"].any()


def test_counts_are_those_of_the_model():
    seen = []

    def counted(points):
        seen.append(len(points))
        return affine(2, 4)(points)

    rows, _ = asked(MARGINS, known(counted), pictures(1, (4,)))
    checks = 2  # one look at the model at each search's door
    assert rows["forwards"].sum() == sum(seen) - checks
    assert rows["gradients"].sum() > 0


def test_points_that_are_not_found_stay_and_are_not_shown():
    points = torch.full((5, 1, 4, 4), 0.5, dtype=torch.float64)
    points[:, 0, 0, 0] = torch.tensor([50.0, -0.05, 60.0, -0.02, -0.07])
    rows, tensors = asked(MARGINS, known(flat_beyond), points)
    assert rows["l2_found"].tolist() == [False, True, False, True, True]
    close(rows["l2"], [np.inf, 0.05, np.inf, 0.08, 0.03])
    assert rows["linf_l2"].tolist()[0] == np.inf
    assert rows["l2_linf"].tolist()[2] == np.inf
    assert tensors["id"].tolist() == [4, 1, 3]
    assert all(tensor.isfinite().all() for tensor in tensors.values())


# Pictures


def test_pictures_show_samples_from_the_nearest_to_the_farthest():
    model, points, ids = network(bounds=(0.0, 1.0)), pictures(40), torch.arange(40) + 100
    rows, tensors = asked(MARGINS, model, points, ids)
    distance = torch.from_numpy(rows["l2"].copy())
    shown = tensors["id"] - 100
    assert len(shown) == len(set(shown.tolist())) == 24
    assert distance[shown[0]] == distance.min()
    assert distance[shown[-1]] == distance.max()
    assert (distance[shown].diff() >= 0).all()


def test_pictures_agree_with_points_and_ends():
    model, points = network(bounds=(0.0, 1.0)), pictures(10)
    rows, tensors = asked(MARGINS, model, points)
    shown = tensors["id"]
    assert tensors["start"].dtype == torch.uint8
    assert torch.equal(tensors["start"], (255 * points[shown]).round().byte())
    for name, norm in (("l2", L2), ("linf", Linf)):
        added = tensors[f"{name}_added"]
        assert added.dtype == torch.float16
        assert added.shape == points.shape
        close(norm.length(added.double()), rows[name][shown], rtol=2e-3)
        beyond = model(points[shown] + 1.01 * added.double()).argmax(1)
        assert beyond.tolist() == rows[f"{name}_rival"][shown].tolist()


def test_pictures_without_bounds_span_all_greys():
    points = 7 * pictures(6) - 2
    _, tensors = asked(MARGINS, network(bounds=None), points)
    starts = tensors["start"].flatten(1)
    assert (starts.amin(1) == 0).all()
    assert (starts.amax(1) == 255).all()
    shown = points[tensors["id"]].flatten(1)
    close(tensors["low"], shown.amin(1))
    close(tensors["high"], shown.amax(1))


def test_pictures_of_one_grey_have_a_scale():
    _, tensors = asked(MARGINS, known(affine(2, 64)), torch.full((2, 1, 8, 8), 3.0, dtype=torch.float64))
    assert (tensors["low"] == 3).all()
    assert (tensors["high"] > tensors["low"]).all()


def test_large_pictures_are_reduced_by_means():
    points = pictures(2, (1, 4, 224))
    _, tensors = asked(MARGINS, known(affine(2, 4 * 224), (0.0, 1.0)), points)
    means = points[tensors["id"]].unflatten(2, (2, 2)).unflatten(4, (112, 2)).mean((3, 5))
    assert torch.equal(tensors["start"], (255 * means).round().byte())
    assert tensors["l2_added"].shape == tensors["linf_added"].shape == (2, 1, 2, 112)


@pytest.mark.parametrize("shape", [(64,), (5, 8, 8), (2, 32)], ids=str)
def test_points_that_are_no_pictures_leave_none(shape):
    model = affine(2, int(np.prod(shape)))
    rows, tensors = asked(MARGINS, known(model), pictures(3, shape))
    assert rows["l2_found"].all()
    assert tensors == {}


# Bands


@pytest.mark.parametrize("shape", [SHAPE, (3, 7, 9)], ids=str)
def test_bands_of_an_affine_classifier_are_exact(shape):
    model, points = affine(3, int(np.prod(shape))), pictures(6, shape)
    rows, _ = asked(BANDS, known(model), points)
    blocks = subspaces.dct_bands(shape, 2)
    assert rows.values("band") == list(range(len(blocks)))
    for band, block in enumerate(blocks):
        there = rows.where("band", band)
        assert there.values("dim") == [block.dim]
        close(there["distance"], model.distance(points, basis=block.basis().flatten(1)))


@pytest.mark.parametrize(("side", "bands"), [(28, 14), (32, 16), (45, 15), (64, 13)])
def test_bands_are_about_fourteen_and_cover_the_diagonal(side, bands):
    model, points = affine(2, side * side), pictures(1, (1, side, side))
    rows, _ = asked(BANDS, known(model), points)
    assert rows["band"].tolist() == list(range(bands))
    assert np.sqrt(rows["dim"]).sum() == side


def test_bands_are_as_many_on_large_pictures():
    assert BANDS.cost(Inputs((3, 224, 224), 10)) == BANDS.cost(Inputs((1, 28, 28), 10))


def test_no_band_is_nearer_than_the_margin():
    model, points = network(), pictures(6)
    margins, _ = asked(MARGINS, model, points)
    rows, _ = asked(BANDS, model, points)
    nearest = np.array([rows.where("id", sample)["distance"].min() for sample in range(6)])
    assert (nearest >= margins["l2"]).all()


# Directions


def test_directions_of_an_affine_classifier_are_exact():
    model, points, ids = affine(3), pictures(8), torch.arange(8) + 30
    rows, _ = asked(DIRECTIONS, known(model), points, ids, seed=5)
    for draw in range(3):
        there = rows.where("kind", "random").where("draw", draw)
        along = random_directions(ids, SHAPE, 5, draw).flatten(1)
        exact = [float(model.distance(points[row : row + 1], basis=along[row : row + 1])) for row in range(8)]
        reach = 4 * L2.length(points).numpy()
        assert (there["found"] == (np.array(exact) < reach)).all()
        close(there["distance"], np.where(there["found"], exact, np.inf))
        assert set(there["dim"].tolist()) == {1}


def test_random_subspaces_of_an_affine_classifier_are_exact():
    model, points, ids = affine(3), pictures(8), torch.arange(8) + 30
    rows, _ = asked(DIRECTIONS, known(model), points, ids, seed=5)
    semi = rows.where("kind", "semi-random")
    assert semi.values("dim") == [2, 4]
    for dim in (2, 4):
        there = semi.where("dim", dim)
        bases = subspaces.random_each(SHAPE, dim, seed=5)[ids].basis().flatten(2)
        exact = [float(model.distance(points[row : row + 1], basis=bases[row])) for row in range(8)]
        close(there["distance"], exact)
        assert there["draw"].tolist() == [0] * 8


@pytest.mark.parametrize(
    ("shape", "dims"), [((1,), [1]), ((2,), [2]), ((3,), [2, 3]), ((4, 3), [2, 4]), ((200,), [3, 12])], ids=str
)
def test_directions_are_asked_of_points_of_any_shape(shape, dims):
    model, points = affine(2, int(np.prod(shape))), pictures(4, shape)
    rows, _ = asked(DIRECTIONS, known(model), points)
    assert rows.where("kind", "semi-random").values("dim") == dims
    assert rows.where("kind", "random").values("draw") == [0, 1, 2]
    whole = rows.where("dim", int(np.prod(shape))).where("kind", "semi-random")
    if len(whole):
        close(whole["distance"], model.distance(points))


def test_random_directions_are_longer_ways_than_the_margin():
    model, points = network(), pictures(6)
    margins, _ = asked(MARGINS, model, points)
    rows, _ = asked(DIRECTIONS, model, points)
    for sample in range(6):
        assert (rows.where("id", sample)["distance"] >= margins["l2"][sample]).all()


# Robustness


def beside_a_plane(margins):
    """A plane in 64 dimensions and points at these ℓ2 distances before it; at negative ones, beyond it."""
    model = affine(2)
    normal = model.weight[1] - model.weight[0]
    points = pictures(len(margins)).flatten(1)
    height = (points @ normal + model.bias[1] - model.bias[0]) / normal.norm()
    points = points - (height + torch.as_tensor(margins))[:, None] * normal / normal.norm()
    return model, points.reshape(-1, *SHAPE)


def fooled(rows, norm, method):
    """Radii, and who was fooled within each ``(n, k)``."""
    chosen = rows.where("norm", norm).where("method", method)
    radii = np.array(chosen.values("radius"))
    return radii, chosen["fooled"].reshape(-1, len(radii))


def test_attacks_fool_exactly_within_the_margin_of_a_plane():
    """In ℓ2 ten steps from a random point of the ball end a little beside its outermost point."""
    model, points = beside_a_plane(np.geomspace(0.008, 0.4, 24) * np.tile([1, -1], 12))
    rows, _ = asked(ROBUSTNESS, known(model), points)
    exact = {"ℓ∞": model.distance(points, Linf).numpy(), "ℓ2": model.distance(points).numpy()}
    for norm, method, slack in (("ℓ∞", "FGSM", 1e-9), ("ℓ∞", "PGD", 1e-9), ("ℓ2", "PGD", 0.05)):
        radii, answers = fooled(rows, norm, method)
        ratio = radii / exact[norm][:, None]
        assert answers[ratio > 1 + slack].all()
        assert not answers[ratio < 1 - 1e-9].any()
        assert (answers.any(0) & ~answers.all(0)).sum() >= 3
    assert rows["own"].tolist() == ([0] * 18 + [1] * 18) * 12


def test_the_box_of_the_model_is_kept():
    def bright(points):
        return points.flatten(1).sum(1) - 64.05

    points = torch.ones(3, *SHAPE, dtype=torch.float64)
    assert asked(ROBUSTNESS, known(bright), points)[0]["fooled"].any()
    assert not asked(ROBUSTNESS, known(bright, (0.0, 1.0)), points)[0]["fooled"].any()


@pytest.mark.parametrize("bounds", [None, (0.0, 1.0), (-1.0, 1.0), (0.0, 255.0)])
def test_radii_are_parts_of_the_range(bounds):
    reach = 1.0 if bounds is None else bounds[1] - bounds[0]
    rows, _ = asked(ROBUSTNESS, network(bounds=bounds), pictures(2))
    levels = np.array([0.25, 1, 4, 8, 16, 64])
    for method in ("FGSM", "PGD"):
        close(fooled(rows, "ℓ∞", method)[0], reach * levels / 255, rtol=1e-5)
    close(fooled(rows, "ℓ2", "PGD")[0], reach * 4 * levels / 255, rtol=0.05)


def test_a_sample_fooled_at_a_radius_is_fooled_at_larger_ones():
    """Signed steps of 8/255 end in a small ball that those of 16/255 leap over."""
    model = known(Ball(0.01))
    points = torch.full((1, 2), 0.03, dtype=torch.float64)
    rows, _ = asked(ROBUSTNESS, model, points)
    assert fooled(rows, "ℓ∞", "FGSM")[1].tolist() == [[False, False, False, True, True, True]]


def test_curves_never_rise():
    rows, _ = asked(ROBUSTNESS, network(), pictures(16))
    for norm, method in (("ℓ∞", "FGSM"), ("ℓ∞", "PGD"), ("ℓ2", "PGD")):
        radii, answers = fooled(rows, norm, method)
        assert (np.diff(radii) > 0).all()
        assert (answers[:, 1:] >= answers[:, :-1]).all()
        assert answers.any()
        assert not answers.all()


def test_only_points_whose_margin_is_within_the_radius_are_fooled_by_it():
    """The margin is an upper bound: nearly all that PGD fools lies beyond it."""
    model, points = network(), pictures(16)
    margins, _ = asked(MARGINS, model, points)
    rows, _ = asked(ROBUSTNESS, model, points)
    for norm, name in (("ℓ∞", "linf"), ("ℓ2", "l2")):
        radii, answers = fooled(rows, norm, "PGD")
        within = radii >= margins[name][:, None]
        assert answers.any()
        assert (within | ~answers).mean() > 0.97


def test_a_training_model_is_refused_before_it_is_asked():
    module = Known(affine(2, 4))
    model = Classifier(module.train())
    for question in (MARGINS, DIRECTIONS, ROBUSTNESS):
        with pytest.raises(ValueError, match="be in eval mode"):
            asked(question, model, pictures(2, (4,)))
