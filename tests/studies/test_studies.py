"""Declarations of studies, and their claims on tables that are made to hold or to break them."""

import math
from dataclasses import is_dataclass, replace

import numpy as np
import pytest
import torch

from separatrix.runs import plain
from separatrix.studies import SCALES, STUDIES
from separatrix.studies.features import Spectrum, diagonal_blocks
from separatrix.tables import Rows

NAMES = list(STUDIES)


@pytest.mark.parametrize("name", NAMES)
def test_a_study_says_what_it_asks_and_what_was_published(name):
    study = STUDIES[name]
    assert study.question.endswith("?")
    assert study.source
    assert study.published
    assert study.name == name
    assert set(study.scales) == set(SCALES)


@pytest.mark.parametrize("name", NAMES)
def test_settings_of_all_scales_are_of_one_kind_and_can_be_written_down(name):
    settings = list(STUDIES[name].scales.values())
    assert len({type(entry) for entry in settings}) == 1
    assert all(is_dataclass(entry) for entry in settings)
    assert len({str(plain(entry)) for entry in settings}) == len(SCALES)


@pytest.mark.parametrize("name", NAMES)
def test_the_smallest_scale_needs_nothing_that_is_not_bundled(name):
    study = STUDIES[name]
    sources = {str(recipe.data) for recipe in study.needs(study.scales["smoke"]).networks.values()}
    assert sources <= {"sample", "two-class"}


def test_blocks_are_as_many_as_published():
    counts = {side: len(diagonal_blocks((3, side, side), Spectrum(()))) for side in (28, 32, 224)}
    assert counts == {28: 21, 32: 13, 224: 14}


def test_blocks_keep_their_numbers_where_some_are_left_out():
    blocks = diagonal_blocks((1, 28, 28), Spectrum((), every=5))
    assert list(blocks) == [1, 6, 11, 16, 21]
    whole = diagonal_blocks((1, 28, 28), Spectrum(()))
    vectors = torch.rand(2, 1, 28, 28)
    assert torch.equal(blocks[16].project(vectors), whole[16].project(vectors))


def verdicts(name, rows):
    study = STUDIES[name]
    return [outcome.verdict for outcome in study.claims(study.scales["default"], Rows(rows))]


def table(parts):
    """Rows of several parts: names of columns to values, one or an array."""
    filled = [{key: np.broadcast_to(value, len(part["distance"])) for key, value in part.items()} for part in parts]
    return {key: np.concatenate([part[key] for part in filled]) for key in filled[0]}


def spread(middle, count=200):
    return middle * np.exp(np.random.default_rng(0).normal(scale=0.2, size=count))


def synthetic(along, across, apart, anyhow):
    margins = {"u1": along, "span{u1}⊥": across, "S_orth": apart, "S_rand": anyhow}
    return table([{"network": "n", "direction": name, "distance": spread(middle)} for name, middle in margins.items()])


def test_claims_on_the_known_feature():
    assert verdicts("features/synthetic", synthetic(2.5, 12, 100, 28)) == ["holds"] * 3
    assert verdicts("features/synthetic", synthetic(5.0, 12, 10, 28)) == ["does not hold"] * 3


def spectra(**ends):
    names = {"mnist": "lenet/mnist", "cifar": "lenet-32/cifar10"}
    return table(
        [
            {"network": names[name], "seed": 0, "block": block, "distance": spread(middle)}
            for name, middles in ends.items()
            for block, middle in enumerate(middles)
        ]
    )


def test_claims_on_the_spectrum():
    assert verdicts("features/spectrum", spectra(mnist=(4, 30, 60), cifar=(6, 3, 2))) == ["holds", "holds"]
    assert verdicts("features/spectrum", spectra(mnist=(4, 4, 4), cifar=(4, 4, 4))) == ["does not hold"] * 2
    assert verdicts("features/spectrum", spectra(mnist=(4, 30, 60))) == []


def test_medians_are_shown_as_walked_and_as_refined():
    rows = spectra(mnist=(4, 8), cifar=(1, 2))
    rows |= {"raw_distance": 2 * rows["distance"], "found": np.ones(len(rows["distance"]), dtype=bool)}
    shown = STUDIES["features/spectrum"].quantities(Rows(rows))
    walked, refined = (
        [float(number) for number in shown[f"lenet/mnist: {name}"].split()]
        for name in ("medians from low to high frequencies", "the same, refined")
    )
    assert walked == pytest.approx([2 * number for number in refined], rel=0.01)


def test_claims_on_the_random_basis():
    assert verdicts("features/random-basis", spectra(mnist=(4, 4.2, 4), cifar=(1, 1, 1))) == ["holds"] * 2
    assert verdicts("features/random-basis", spectra(mnist=(4, 4, 40))) == ["does not hold"]


def accuracies(deepfool, lbfgs, fgsm, steps, ratio):
    """Lengths in ℓ2 by method, steps, and what DeepFool's length is in ℓ∞, by that of FGSM."""
    lengths = {("DeepFool", "ℓ2"): deepfool, ("L-BFGS", "ℓ2"): lbfgs, ("FGSM", "ℓ2"): fgsm}
    lengths |= {("DeepFool", "ℓ∞"): ratio, ("FGSM", "ℓ∞"): 1.0}
    parts = [
        {"network": "n", "seed": 0, "method": name, "norm": norm, "steps": steps, "distance": spread(middle)}
        for (name, norm), middle in lengths.items()
    ]
    rows = table(parts)
    return {**rows, "relative": rows["distance"]}


def test_claims_on_the_methods():
    assert verdicts("deepfool/accuracy", accuracies(0.2, 0.25, 1.0, 2, 0.4)) == ["holds"] * 4
    assert verdicts("deepfool/accuracy", accuracies(0.5, 0.25, 0.5, 5, 0.8)) == ["does not hold"] * 4


def test_what_was_published_of_the_methods_is_there_whole():
    published = STUDIES["deepfool/accuracy"].published
    assert published["lenet-32/cifar10: ρ̂ ℓ∞ FGSM"] == "0.028"
    assert published["fc500-150/mnist: time an image, DeepFool, L-BFGS and FGSM"] == "50 ms, > 2 s, 10 ms"
    assert published["GoogLeNet/ImageNet: ρ̂ ℓ2 FGSM"] == "4.7e-2"
    assert published["CaffeNet/ImageNet: test error of these images"] == "42.6 %"
    assert len(published) == 4 * 7 + 2 * 3


def banded(betas, found=True):
    parts = [{"network": "n", "seed": 0, "band": -1, "dim": 100, "found": True, "distance": spread(1.0)}]
    parts += [
        {"network": "n", "seed": 0, "band": band, "dim": 25, "found": found, "distance": 2 * beta * spread(1.0)}
        for band, beta in enumerate(betas)
    ]
    return {**(rows := table(parts)), "size": np.ones(len(rows["distance"]))}


def test_claims_on_the_bands():
    assert verdicts("deepfool/bands", banded(range(1, 11))) == ["holds"]
    assert verdicts("deepfool/bands", banded(range(10, 0, -1))) == ["does not hold"]


def test_the_ratio_of_a_band_is_one_by_chance_and_unknown_where_nothing_was_met():
    study = STUDIES["deepfool/bands"]
    shown = study.quantities(Rows(banded([1, 2])))
    assert shown["n: β from low to high frequencies"] == "1 2"
    shown = study.quantities(Rows(banded([1, 2], found=False)))
    assert shown["n: β from low to high frequencies"] == "nan nan"


@pytest.mark.parametrize(("hits", "verdict"), [(200, "holds"), (184, "inconclusive"), (150, "does not hold")])
def test_claims_on_words(hits, verdict):
    rows = {"found": np.arange(200) < hits, "seed": np.zeros(200)}
    assert verdicts("deepfool/watermark", rows) == [verdict]


def test_a_claim_must_hold_for_every_training():
    good, bad = synthetic(2.5, 12, 100, 28), synthetic(2.5, 5, 100, 28)
    bad["network"] = np.full(len(bad["network"]), "m")
    both = {key: np.concatenate([good[key], bad[key]]) for key in good}
    assert verdicts("features/synthetic", both) == ["holds", "inconclusive", "holds"]


def test_medians_are_those_of_all_samples_found_or_not():
    rows = synthetic(2.5, 12, 100, 28)
    rows = {**rows, "raw_distance": rows["distance"], "found": np.ones(len(rows["distance"]), dtype=bool)}
    rows["raw_distance"] = np.where(rows["direction"] == "S_orth", math.inf, rows["raw_distance"])
    assert STUDIES["features/synthetic"].quantities(Rows(rows))["S_orth"] == "inf / inf / inf"


def test_a_study_without_all_scales_is_refused():
    study = STUDIES["deepfool/bands"]
    with pytest.raises(ValueError, match="`scales` must be smoke, default, paper; got smoke"):
        replace(study, scales={"smoke": study.scales["smoke"]})
