"""What each form of subspace holds, and how large it is."""

import math

import pytest
import torch
from torch.testing import assert_close

from separatrix.cosine import dct2, dct_matrix
from separatrix.subspaces import (
    dct_bands,
    dct_block,
    dct_diagonal,
    full,
    leading,
    principal_angles,
    random,
    random_each,
    rotated,
    span,
    span_each,
    words,
)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def gaussian(*sizes, seed=1):
    return torch.randn(*sizes, dtype=torch.float64, generator=generator(seed))


@pytest.mark.parametrize(
    ("shape", "block", "step", "count", "dim"),
    [((1, 28, 28), 8, 1, 21, 64), ((3, 32, 32), 8, 2, 13, 192), ((3, 224, 224), 16, 16, 14, 768)],
)
def test_published_diagonals(shape, block, step, count, dim):
    blocks = dct_diagonal(shape, block, step)
    assert [each.dim for each in blocks] == [dim] * count
    assert repr(blocks[-1]).startswith(f"{block}×{block} DCT block at ({step * (count - 1)}, {step * (count - 1)})")
    assert [each.dim for each in dct_diagonal(shape, block, step, only_diagonal=True)] == [dim // block] * count


def test_bands_at_224_are_23_with_a_narrow_last():
    bands = dct_bands((3, 224, 224))
    assert [band.dim for band in bands] == [300] * 22 + [48]


def test_bands_scale_with_the_image():
    assert [band.dim for band in dct_bands((28, 28))] == [4] * 14
    assert [band.dim for band in dct_bands((1, 5, 8), 2)] == [4, 4, 2]
    assert dct_bands((4, 1, 1))[0].dim == 4


def test_a_block_keeps_its_coefficients_and_no_other():
    images = gaussian(4, 2, 9, 9)
    kept = torch.zeros(9, 9, dtype=torch.float64)
    kept[2:5, 4:7] = 1
    assert_close(dct2(dct_block((2, 9, 9), 3, 2, 4).project(images)), dct2(images) * kept, atol=1e-12, rtol=0)
    assert_close(
        dct2(dct_block((2, 9, 9), 3, 2, 4, only_diagonal=True).project(images))[:, :, 2:5, 4:7],
        dct2(images)[:, :, 2:5, 4:7] * torch.eye(3, dtype=torch.float64),
        atol=1e-12,
        rtol=0,
    )


def test_the_basis_of_a_block_is_made_of_cosine_atoms():
    matrix = dct_matrix(6)
    assert_close(dct_block((6, 6), 2, 1, 3).basis()[1], torch.outer(matrix[1], matrix[4]))


def test_nested_subspaces_project_in_one_step():
    images = gaussian(3, 1, 12, 12)
    small, large = dct_block((1, 12, 12), 3, 2, 2), dct_block((1, 12, 12), 6, 1, 1)
    assert_close(small.project(large.project(images)), small.project(images), atol=1e-10, rtol=0)
    assert (small.fraction(images) <= large.fraction(images)).all()


def test_of_dependent_vectors_as_many_count_as_are_independent():
    basis = gaussian(3, 2, 5)
    assert span(torch.cat([basis, basis[:1] - 2 * basis[1:2], 1e-9 * basis])).dim == 3
    assert span(torch.cat([basis, 0.3 * basis[:1] + basis[1:2]]).float()).dim == 3
    assert span(gaussian(50, 2, 5)).dim == 10


def test_close_directions_are_told_apart():
    pair = torch.tensor([[1.0, 0.0, 0.0], [1.0, 1e-3, 0.0]])
    assert span(pair).dim == 2


def test_a_random_subspace_holds_the_square_root_of_its_share():
    given = gaussian(100, 400)
    for m in (10, 50):
        for drawn in (random((400,), m, generator=generator()), random_each((400,), m)[torch.arange(100)]):
            five_sigma = 5 / math.sqrt(2 * m * 100)
            assert abs(drawn.fraction(given).mean() / math.sqrt(m / 400) - 1) < five_sigma + 1 / (4 * m)


@pytest.mark.parametrize("m", [200, 1000])
def test_scrambled_cosines_hold_it_too_even_of_smooth_images(m):
    ramp = torch.linspace(0, 1, 32, dtype=torch.float64).expand(1, 3, 32, 32)
    scrambled = random((3, 32, 32), m, generator=generator(), dense_limit=1)
    assert scrambled.dim == m
    assert "DCT × random signs" in repr(scrambled)
    assert abs(scrambled.fraction(ramp).item() / math.sqrt(m / 3072) - 1) < 0.15


def test_a_random_subspace_follows_its_generator():
    first, again, other = (random((8, 8), 4, generator=generator(seed)) for seed in (5, 5, 6))
    assert torch.equal(first.basis(), again.basis())
    assert principal_angles(first, other).max() > 0.1


def test_a_random_subspace_lies_within():
    outer = dct_block((1, 10, 10), 6).without(gaussian(2, 1, 10, 10))
    inner = random((1, 10, 10), outer.dim - 1, generator=generator(), within=outer)
    assert_close(outer.project(inner.basis()), inner.basis(), atol=1e-12, rtol=0)


@pytest.mark.parametrize(("dense_limit", "within"), [(10**6, None), (1, None), (10**6, dct_block((1, 6, 6), 4))])
def test_a_sample_has_its_subspace_whatever_the_batch(dense_limit, within):
    ids, given = torch.tensor([3, 1, 8, 5]), gaussian(4, 1, 6, 6)
    drawn = random_each((1, 6, 6), 7, seed=2, within=within, dense_limit=dense_limit)
    together = drawn.realise(ids, like=given).project(given)
    for i in range(4):
        alone = drawn.realise(ids[i : i + 1], like=given).project(given[i : i + 1])
        assert_close(together[i : i + 1], alone, atol=1e-13, rtol=0)
    assert_close(drawn[ids].project(given), together, atol=1e-13, rtol=0)
    shuffled = torch.tensor([2, 0, 3, 1])
    assert_close(
        drawn.realise(ids[shuffled], like=given).project(given[shuffled]), together[shuffled], atol=1e-13, rtol=0
    )


def test_rows_and_ids_of_a_batch_suit_every_kind():
    given, ids = gaussian(6, 4, 4), torch.arange(10, 16)
    rows = slice(2, 5)
    own = span_each(gaussian(6, 2, 4, 4))
    drawn = random_each((4, 4), 2)
    for subspace, expected in ((own, own.project(given)), (drawn, drawn[ids].project(given)), (full((4, 4)), given)):
        batch = subspace.batch(rows).realise(ids[rows], like=given)
        assert_close(batch.project(given[rows]), expected[rows])
        assert_close(batch[1:].project(given[3:5]), expected[3:5])


def test_before_samples_are_chosen_position_is_the_id():
    given = gaussian(3, 4, 4)
    drawn = random_each((4, 4), 2)
    assert_close(drawn[2:5].project(given), drawn[torch.tensor([2, 3, 4])].project(given))


def test_seeds_and_precisions():
    given, ids = gaussian(3, 4, 4), torch.arange(3)
    single = random_each((4, 4), 2, seed=1).realise(ids, like=given.float())
    double = random_each((4, 4), 2, seed=1).realise(ids, like=given)
    other = random_each((4, 4), 2, seed=2).realise(ids, like=given)
    assert single.rows.value.dtype == torch.float32
    assert_close(single.basis(), double.basis(), atol=1e-6, rtol=0)
    assert (principal_angles(double, other).amax(1) > 0.1).all()


def test_many_samples_are_remade_a_few_at_a_time(monkeypatch):
    given, drawn = gaussian(7, 4, 4), random_each((4, 4), 2)[torch.arange(7)]
    expected = drawn.project(given)
    monkeypatch.setattr("separatrix.subspaces.randoms._REMADE_AT_ONCE", 70)
    assert_close(drawn.project(given), expected)


def test_without_leaves_the_directions_perpendicular():
    taken, given = gaussian(3, 1, 8, 8), gaussian(5, 1, 8, 8, seed=2)
    left = dct_block((1, 8, 8), 5).without(taken)
    assert left.dim == 25 - 3
    assert_close(
        left.project(given).flatten(1) @ taken.flatten(1).T, torch.zeros(5, 3, dtype=torch.float64), atol=1e-12, rtol=0
    )
    assert (dct_block((1, 8, 8), 5).fraction(left.project(given)) > 1 - 1e-12).all()


def test_without_what_is_perpendicular_takes_nothing():
    block = dct_block((1, 8, 8), 3)
    assert block.without(dct_block((1, 8, 8), 3, 4, 4)) is block
    assert block.without(block).dim == 0
    assert torch.equal(block.without(block).project(gaussian(2, 1, 8, 8)), torch.zeros(2, 1, 8, 8, dtype=torch.float64))


def test_without_each_samples_own_normal():
    normals, given = gaussian(4, 1, 6, 6), gaussian(4, 1, 6, 6, seed=2)
    left = dct_block((1, 6, 6), 4).without(span_each(normals[:, None]))
    assert left.dim == 15
    assert left.per_sample
    assert_close(
        (left.project(given) * normals).flatten(1).sum(1), torch.zeros(4, dtype=torch.float64), atol=1e-12, rtol=0
    )


def test_a_complement_needs_no_basis():
    rest = dct_block((3, 224, 224), 16).complement()
    assert rest.dim == 3 * 224**2 - 768
    assert abs(rest.fraction(torch.ones(1, 3, 224, 224)).item()) < 1e-3


def test_the_complement_of_drawn_subspaces_waits_for_its_ids():
    given, ids = gaussian(3, 4, 4), torch.tensor([5, 6, 1])
    drawn = random_each((4, 4), 2)
    rest = drawn.complement().realise(ids, like=given)
    assert_close(rest.project(given) + drawn.realise(ids, like=given).project(given), given)


@pytest.mark.parametrize("dense_side", [4096, 1])
def test_rotated_blocks_lie_to_each_other_as_before(dense_side):
    blocks = dct_diagonal((2, 8, 8), 4, 2)
    turned = rotated(blocks, generator=generator(), dense_side=dense_side)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        expected = principal_angles(blocks[a], blocks[b])
        assert_close(principal_angles(turned[a], turned[b]), expected, atol=1e-7, rtol=0)
    assert [each.dim for each in turned] == [32] * 3
    assert principal_angles(turned[0], blocks[0]).max() > 0.5


@pytest.mark.parametrize("dense_side", [4096, 1])
def test_rotated_blocks_prefer_no_image(dense_side):
    smooth = torch.linspace(0, 1, 16, dtype=torch.float64).expand(1, 1, 16, 16)
    blocks = dct_diagonal((1, 16, 16), 8, 8)
    assert blocks[0].fraction(smooth) > 0.99
    assert blocks[1].fraction(smooth) < 0.1
    for turned in rotated(blocks, generator=generator(), dense_side=dense_side):
        assert abs(turned.fraction(smooth).item() - 0.5) < 0.2


def test_words_are_alike_in_every_channel_and_as_many_as_published():
    spelt = words((3, 28, 28), generator=generator())
    assert spelt.dim == 3 * 28 * 28 // 228
    rows = spelt.basis()
    assert_close(rows[:, 0], rows[:, 2])
    assert "NIPS, SPAIN, 2016" in repr(spelt)


def test_words_are_written_at_many_places():
    spelt = words((1, 64, 64), ("HI",), 40, generator=generator())
    held = spelt.basis().square().sum((0, 1))
    assert (held > 1e-3).double().mean() > 0.5


def test_leading_directions_hold_the_most():
    scales = torch.tensor([9.0, 5.0, 2.0, 0.1], dtype=torch.float64)
    frame = span(gaussian(4, 3, 4)).basis()
    mixed = torch.linalg.qr(gaussian(20, 4)).Q * scales
    found = leading((mixed @ frame.flatten(1)).reshape(20, 3, 4), 2)
    assert_close(principal_angles(found, span(frame[:2])), torch.zeros(2, dtype=torch.float64), atol=1e-12, rtol=0)
    assert_close((found.basis()[0] * frame[0]).sum().abs(), torch.tensor(1.0, dtype=torch.float64))


def test_principal_angles_of_planes_turned_by_known_angles():
    for small, large in ((1e-9, 1.2), (0.3, math.pi / 2), (0.0, 1e-6)):
        frame = torch.eye(6, dtype=torch.float64)
        turned = torch.stack(
            [math.cos(t) * frame[i] + math.sin(t) * frame[i + 3] for i, t in enumerate((small, large))]
        )
        angles = principal_angles(span(frame[:3]), span(turned))
        assert_close(angles, torch.tensor([small, large], dtype=torch.float64), atol=1e-15, rtol=1e-9)
        assert_close(principal_angles(span(turned), span(frame[:3])), angles)


def test_a_subspace_makes_no_angle_with_one_that_holds_it():
    assert principal_angles(dct_block((9, 9), 2, 1, 1), dct_block((9, 9), 4)).abs().max() < 1e-14
    assert_close(principal_angles(*dct_diagonal((9, 9), 3, 3)[:2]), torch.full((9,), math.pi / 2, dtype=torch.float64))


def test_conversions_happen_once():
    subspace = span(gaussian(2, 4, 4))
    given = gaussian(3, 4, 4).float()
    subspace.project(given)
    assert subspace.rows.like(given) is subspace.rows.like(given)


def test_projections_carry_gradients():
    for subspace in (dct_block((4, 4), 2), random((4, 4), 3, generator=generator(), dense_limit=1)):
        given = gaussian(2, 4, 4).requires_grad_()
        subspace.project(given).square().sum().backward()
        assert_close(given.grad, 2 * subspace.project(given.detach()))


def test_chosen_samples_stay_chosen_whatever_they_are_called():
    given, ids = gaussian(4, 4, 4), torch.tensor([50, 70, 90, 110])
    chosen = random_each((4, 4), 3, seed=3)[ids]
    there = chosen.realise(torch.arange(4), like=given)
    assert_close(there.project(given), chosen.project(given))
    assert_close(chosen[1:3].project(given[1:3]), chosen.project(given)[1:3])
    with pytest.raises(ValueError, match="`ids` must name the 4 samples of the subspace; got 2 ids"):
        chosen.realise(torch.arange(2), like=given)


def test_random_subspaces_within_given_ones_are_cut_into_batches():
    given, ids = gaussian(6, 4, 4), torch.arange(6)
    drawn = random_each((4, 4), 2, seed=1, within=span_each(gaussian(6, 5, 4, 4)))
    whole = drawn.realise(ids, like=given).project(given)
    for rows in (slice(0, 2), slice(2, 6)):
        assert_close(drawn.batch(rows).realise(ids[rows], like=given).project(given[rows]), whole[rows])


def test_equal_subspaces_are_the_same_and_others_are_not():
    vectors = gaussian(2, 4, 4)
    for one, other in ((span(vectors), span(vectors.clone())), (dct_block((4, 4), 2), dct_block((4, 4), 2))):
        assert one.same_as(other)
    assert not span(vectors).same_as(span(vectors + 1))
    assert not dct_block((4, 4), 2).same_as(dct_block((4, 4), 3))
    assert not dct_block((4, 4), 2).same_as(full((4, 4)))


def test_spans_of_several_batches_are_joined_and_unlike_ones_are_not():
    vectors, given = gaussian(6, 2, 4, 4), gaussian(6, 4, 4)
    whole = span_each(vectors)
    joined = whole[:2].joined([whole[2:]])
    assert_close(joined.project(given), whole.project(given))
    assert whole.joined([span_each(gaussian(3, 1, 4, 4))]) is None
    assert full((4, 4)).joined([dct_block((4, 4), 2)]) is None
