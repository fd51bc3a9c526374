"""Bad requests, each with its own line."""

import re

import pytest
import torch

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

SHAPE = (1, 8, 8)
ONES = torch.ones(2, *SHAPE)


def g():
    return torch.Generator().manual_seed(0)


BAD = {
    "empty shape": (lambda: full(()), "`shape` must hold the sizes of one input"),
    "size zero": (lambda: full((3, 0)), "`shape` must hold the sizes of one input"),
    "other shape": (lambda: full(SHAPE).project(torch.ones(2, 8, 8)), "`vectors` must have inputs of shape (1, 8, 8)"),
    "integers": (lambda: full(SHAPE).project(ONES.int()), "`vectors` must be floating-point"),
    "zero vector": (lambda: span(ONES * 0), "`vectors` must be nonzero; got 2 zero vectors"),
    "no vectors": (lambda: span(ONES[:0]), "`vectors` must have shape (m, *shape)"),
    "one flat vector": (lambda: span(torch.ones(8)), "`vectors` must have shape (m, *shape)"),
    "a list": (lambda: span([1.0]), "`vectors` must be a torch tensor"),
    "NaN": (lambda: span(ONES * float("nan")), "`vectors` must be finite"),
    "integer vectors": (lambda: span(ONES.int()), "`vectors` must be floating-point"),
    "unequal dimensions": (
        lambda: span_each(torch.stack([torch.eye(4)[:2], torch.ones(2, 4)])),
        "`vectors` must span as many dimensions for every sample; got [2, 1]",
    ),
    "m zero": (lambda: random(SHAPE, 0, generator=g()), "`m` must be a whole number ≥ 1; got 0"),
    "m above d": (lambda: random(SHAPE, 65, generator=g()), "`m` must be at most the 64 dimensions"),
    "m above d each": (lambda: random_each(SHAPE, 65), "`m` must be at most the 64 dimensions"),
    "m above within": (
        lambda: random_each(SHAPE, 5, within=dct_block(SHAPE, 2)),
        "`m` must be at most the dimension 4",
    ),
    "within another shape": (lambda: random_each(SHAPE, 1, within=full((8, 8))), "`within` must have inputs of shape"),
    "within one for each": (
        lambda: random(SHAPE, 1, generator=g(), within=random_each(SHAPE, 2)),
        "`within` must be one for all samples",
    ),
    "within too large": (
        lambda: random_each(SHAPE, 3, within=dct_block(SHAPE, 2), dense_limit=1),
        "`m` must keep the basis within 1 numbers inside another subspace",
    ),
    "no generator": (lambda: random(SHAPE, 2, generator=3), "`generator` must be a torch.Generator"),
    "seed": (lambda: random_each(SHAPE, 2, seed=0.5), "`seed` must be a whole number from 0 to 2^63 − 1; got 0.5"),
    "large seed": (lambda: random_each(SHAPE, 2, seed=2**63), "`seed` must be a whole number from 0 to 2^63 − 1"),
    "shape by one number": (lambda: random(64, 2, generator=g()), "`shape` must hold the sizes of one input"),
    "within a tensor": (lambda: random(SHAPE, 1, generator=g(), within=ONES), "`within` must be a Subspace or None"),
    "dense limit": (lambda: random_each(SHAPE, 2, dense_limit="a"), "`dense_limit` must be a whole number ≥ 0"),
    "no samples yet": (lambda: random_each(SHAPE, 2).project(ONES), "Choose the samples first: `subspace[ids]`"),
    "no basis yet": (lambda: random_each(SHAPE, 2).basis(), "`subspace` must have its samples chosen"),
    "without, no samples yet": (lambda: random_each(SHAPE, 2).without(ONES[:1]), "must have its samples chosen"),
    "open slice": (lambda: random_each(SHAPE, 2)[1:], "`index` must have an end"),
    "mask of no samples": (
        lambda: random_each(SHAPE, 2)[torch.tensor([True])],
        "`index` must hold ids (n,), whole numbers",
    ),
    "fractions for ids": (lambda: random_each(SHAPE, 2)[torch.ones(2)], "`index` must hold ids (n,), whole numbers"),
    "a table of ids": (
        lambda: random_each(SHAPE, 2)[torch.ones(2, 2).int()],
        "`index` must hold ids (n,), whole numbers; got torch.int32 of shape (2, 2)",
    ),
    "one index": (lambda: full(SHAPE)[0], "`index` must be a tensor or a slice of samples; got 0"),
    "iteration": (lambda: list(full(SHAPE)), "`index` must be a tensor or a slice of samples"),
    "ids": (lambda: full(SHAPE).realise(torch.ones(2, 2), like=ONES), "`ids` must have shape (n,)"),
    "without another shape": (lambda: full(SHAPE).without(full((8, 8))), "`other` must have inputs of shape (1, 8, 8)"),
    "flat DCT": (lambda: dct_block((64,), 2), "`shape` must have an image's height and width"),
    "flat bands": (lambda: dct_bands((64,)), "`shape` must have an image's height and width"),
    "flat words": (lambda: words((64,), generator=g()), "`shape` must have an image's height and width"),
    "block zero": (lambda: dct_block(SHAPE, 0), "`block` must be a whole number ≥ 1"),
    "block too low": (lambda: dct_block(SHAPE, 4, 5), "`row` must leave the 4 rows of the block within 8; got 5"),
    "block too far right": (lambda: dct_block(SHAPE, 4, 0, 5), "`column` must leave the 4 columns of the block"),
    "block too large": (lambda: dct_diagonal(SHAPE, 9, 1), "`block` must fit into the image's side of 8; got 9"),
    "step zero": (lambda: dct_diagonal(SHAPE, 2, 0), "`step` must be a whole number ≥ 1"),
    "width zero": (lambda: dct_bands(SHAPE, 0), "`width` must be a whole number ≥ 1"),
    "width too large": (lambda: dct_bands(SHAPE, 9), "`width` must be at most the image's side of 8"),
    "nothing to rotate": (lambda: rotated([], generator=g()), "`subspaces` must hold at least one"),
    "mixed shapes": (
        lambda: rotated([full(SHAPE), full((8, 8))], generator=g()),
        "`subspaces` must have inputs of shape",
    ),
    "rotating each": (lambda: rotated([random_each(SHAPE, 2)], generator=g()), "`subspaces` must each be one for all"),
    "one string": (lambda: words(SHAPE, "NIPS", generator=g()), "`words` must be a sequence of words"),
    "empty word": (lambda: words(SHAPE, ("A", " "), generator=g()), "`words` must be a sequence of words"),
    "numbers for words": (
        lambda: words(SHAPE, (1, 2), generator=g()),
        "`words` must be a sequence of words, none empty; got (1, 2)",
    ),
    "no words": (
        lambda: words(SHAPE, None, generator=g()),
        "`words` must be a sequence of words, none empty; got None",
    ),
    "words drawn by nothing": (
        lambda: words(SHAPE, generator=None),
        "`generator` must be a torch.Generator; got NoneType",
    ),
    "too many words": (lambda: words((1, 4, 4), ("I",), 16, generator=g()), "`dim` must be at most"),
    "count above rank": (
        lambda: leading(ONES, 2),
        "`count` must be at most the 1 dimension that `vectors` span; got 2",
    ),
    "angles of nothing": (lambda: principal_angles(None, full(SHAPE)), "`a` must be a Subspace; got None"),
    "angles of vectors": (lambda: principal_angles(full(SHAPE), ONES), "`b` must be a Subspace; got a tensor of shape"),
    "angles across shapes": (lambda: principal_angles(full(SHAPE), full((8, 8))), "`b` must have inputs of shape"),
    "draw from nothing": (
        lambda: full(SHAPE).complement().sample(1, generator=g()),
        "`subspace` must have at least one dimension; got complement of whole space",
    ),
}


@pytest.mark.parametrize(("request_", "message"), BAD.values(), ids=BAD)
def test_a_bad_request_is_refused_by_name(request_, message):
    with pytest.raises(ValueError, match=re.escape(message)) as refusal:
        request_()
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.int32])
def test_ids_are_whole_numbers_of_any_kind(dtype):
    family, ids = random_each(SHAPE, 2), torch.tensor([7, 3])
    assert torch.equal(family[ids.to(dtype)].basis(), family[ids].basis())
