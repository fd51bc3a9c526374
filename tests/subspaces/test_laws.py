"""Every kind of subspace obeys the laws of orthogonal projections, and agrees with its dense basis."""

import math

import pytest
import torch
from torch.testing import assert_close

from separatrix.subspaces import (
    dct_bands,
    dct_block,
    full,
    leading,
    random,
    random_each,
    rotated,
    span,
    span_each,
    words,
)

SHAPE = (2, 6, 7)
IDS = torch.tensor([4, 0, 9, 2, 7])


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def vectors(count=5, seed=1, shape=SHAPE):
    return torch.randn(count, *shape, dtype=torch.float64, generator=generator(seed))


ONE_FOR_ALL = {
    "full": lambda: full(SHAPE),
    "span": lambda: span(vectors(3)),
    "random": lambda: random(SHAPE, 11, generator=generator()),
    "random, nearly all": lambda: random(SHAPE, 80, generator=generator()),
    "random within": lambda: random(SHAPE, 5, generator=generator(), within=dct_block(SHAPE, 3)),
    "scrambled": lambda: random(SHAPE, 11, generator=generator(), dense_limit=1),
    "block": lambda: dct_block(SHAPE, 3, 2, 4),
    "atoms": lambda: dct_block(SHAPE, 3, 2, 2, only_diagonal=True),
    "band": lambda: dct_bands(SHAPE, 4)[1],
    "rotated": lambda: rotated([dct_block(SHAPE, 3)], generator=generator())[0],
    "scrambled rotation": lambda: rotated([dct_block(SHAPE, 3)], generator=generator(), dense_side=1)[0],
    "words": lambda: words(SHAPE, ("A", "B"), 4, generator=generator()),
    "leading": lambda: leading(vectors(6), 2),
    "complement": lambda: dct_block(SHAPE, 3).complement(),
    "without": lambda: dct_block(SHAPE, 4).without(vectors(2)),
    "without twice": lambda: dct_block(SHAPE, 4).without(vectors(2)).without(vectors(1, seed=5)),
    "flat": lambda: random((30,), 4, generator=generator(), dense_limit=1),
}
PER_SAMPLE = {
    "span each": lambda: span_each(vectors(15).reshape(5, 3, *SHAPE)),
    "random each": lambda: random_each(SHAPE, 6, seed=3)[IDS],
    "random each within": lambda: random_each(SHAPE, 6, seed=3, within=dct_block(SHAPE, 4))[IDS],
    "random each within each": lambda: random_each(SHAPE, 2, within=random_each(SHAPE, 6, seed=3))[IDS],
    "scrambled each": lambda: random_each(SHAPE, 6, dense_limit=1).realise(IDS, like=vectors()),
    "complement each": lambda: random_each(SHAPE, 6)[IDS].complement(),
    "block without each": lambda: dct_block(SHAPE, 4).without(random_each(SHAPE, 6)[IDS]),
    "each without block": lambda: random_each(SHAPE, 40)[IDS].without(dct_block(SHAPE, 2)),
}
every_kind = pytest.mark.parametrize(
    "make", [*ONE_FOR_ALL.values(), *PER_SAMPLE.values()], ids=[*ONE_FOR_ALL, *PER_SAMPLE]
)
each_per_sample = pytest.mark.parametrize("make", PER_SAMPLE.values(), ids=PER_SAMPLE)


def dense(subspace, given):
    rows = subspace.basis().flatten(-len(subspace.shape))
    return (rows.mT @ (rows @ given.flatten(1)[:, :, None]))[..., 0].reshape(given.shape)


@every_kind
def test_projection_agrees_with_the_dense_basis(make):
    subspace = make()
    given = vectors(shape=subspace.shape)
    assert_close(subspace.project(given), dense(subspace, given), atol=1e-10, rtol=0)


@every_kind
def test_the_basis_is_orthonormal_and_as_large_as_said(make):
    subspace = make()
    rows = subspace.basis().flatten(-len(subspace.shape))
    assert rows.shape[-2] == subspace.dim
    identity = torch.eye(subspace.dim, dtype=torch.float64).expand(*rows.shape[:-2], -1, -1)
    assert_close(rows @ rows.mT, identity, atol=1e-12, rtol=0)


@every_kind
def test_a_projection_is_idempotent_and_self_adjoint(make):
    subspace = make()
    a, b = vectors(seed=2, shape=subspace.shape), vectors(seed=3, shape=subspace.shape)
    projected = subspace.project(a)
    assert_close(subspace.project(projected), projected, atol=1e-10, rtol=0)
    inner = [(x * y).flatten(1).sum(1) for x, y in ((projected, b), (a, subspace.project(b)))]
    assert_close(*inner, atol=1e-10, rtol=0)


@every_kind
def test_a_subspace_and_its_complement_make_the_whole(make):
    subspace = make()
    given, rest = vectors(shape=subspace.shape), subspace.complement()
    assert subspace.dim + rest.dim == math.prod(subspace.shape)
    assert_close(subspace.project(given) + rest.project(given), given, atol=1e-10, rtol=0)
    assert_close(rest.project(subspace.project(given)), torch.zeros_like(given), atol=1e-10, rtol=0)


@every_kind
def test_samples_are_unit_vectors_of_the_subspace(make):
    subspace = make()
    drawn = subspace.sample(5, generator=generator(), dtype=torch.float64)
    assert_close(drawn.flatten(1).norm(dim=1), torch.ones(5, dtype=torch.float64))
    assert_close(subspace.fraction(drawn), torch.ones(5, dtype=torch.float64))


@every_kind
def test_single_precision_follows_double(make):
    subspace = make()
    given = vectors(shape=subspace.shape)
    single = subspace.project(given.float())
    assert single.dtype == torch.float32
    assert_close(single.double(), subspace.project(given), atol=1e-5, rtol=0)


@every_kind
def test_it_says_what_it_is_in_a_line(make):
    subspace = make()
    assert repr(subspace).endswith(f" of {subspace.shape}, dimension {subspace.dim}")
    assert len(repr(subspace)) < 140


@pytest.mark.parametrize("make", ONE_FOR_ALL.values(), ids=ONE_FOR_ALL)
def test_one_subspace_serves_any_selection_of_samples(make):
    subspace = make()
    assert subspace[2:4] is subspace
    assert subspace[torch.tensor([1, 1])] is subspace
    assert subspace.realise(IDS, like=vectors()) is subspace
    assert not subspace.per_sample
    assert subspace.samples is None


@each_per_sample
def test_a_selection_of_samples_keeps_each_its_own(make):
    subspace, given = make(), vectors()
    chosen = torch.tensor([3, 0, 3])
    assert subspace.per_sample
    assert subspace.samples == 5
    assert_close(subspace[chosen].project(given[chosen]), subspace.project(given)[chosen], atol=1e-14, rtol=0)
    assert_close(subspace[1:4].project(given[1:4]), subspace.project(given)[1:4], atol=1e-14, rtol=0)


@each_per_sample
def test_samples_have_different_subspaces(make):
    same = vectors(1).expand(5, *SHAPE)
    projected = make().project(same)
    assert (projected[1:] - projected[0]).flatten(1).norm(dim=1).min() > 0.1


@each_per_sample
def test_every_sample_needs_its_vector(make):
    with pytest.raises(ValueError, match="`vectors` must hold one vector for each of the 5 samples"):
        make().project(vectors(4))


@every_kind
def test_the_global_random_state_is_left_alone(make):
    before = torch.get_rng_state()
    subspace = make()
    subspace.project(vectors(shape=subspace.shape))
    subspace.basis()
    assert torch.equal(torch.get_rng_state(), before)
