"""Bad input is refused in one wording."""

import math

import numpy as np
import pytest
import torch

from separatrix.checks import (
    as_tensor,
    described,
    few,
    number_each,
    require,
    require_batch,
    require_count,
    require_each,
    require_full_precision,
    require_generator,
    require_points,
    require_positive,
    require_range,
    require_seed,
)


def test_the_wording_is_name_rule_value_and_fix():
    require(True, "name", "never fail", "anything")
    with pytest.raises(ValueError, match=r"^`radius` must be above 0; got -1\.$"):
        require(False, "radius", "be above 0", -1)
    with pytest.raises(
        ValueError, match=r"^`model` must be in eval mode; got training mode\. Call `model\.eval\(\)`\.$"
    ):
        require(False, "model", "be in eval mode", "training mode", "Call `model.eval()`.")


@pytest.mark.parametrize("number", [1, 7, 10**12])
def test_counts_are_whole_numbers(number):
    require_count(number, "count")


@pytest.mark.parametrize("number", [0, -1, 1.0, True, "1", None, math.inf, torch.tensor(3)])
def test_what_is_no_count_is_refused(number):
    with pytest.raises(ValueError, match=r"^`count` must be a whole number ≥ 1; got "):
        require_count(number, "count")


@pytest.mark.parametrize("number", [1, 1e-300, 2.5])
def test_positive_numbers_pass(number):
    require_positive(number, "radius")


@pytest.mark.parametrize("number", [0, -1.0, math.inf, math.nan, True, "1", None])
def test_what_is_not_positive_is_refused(number):
    with pytest.raises(ValueError, match=r"^`radius` must be a finite number above 0; got "):
        require_positive(number, "radius")


@pytest.mark.parametrize("points", [torch.zeros(1, 1), torch.rand(2, 3, 4, 5), torch.zeros(3, 2, dtype=torch.float64)])
def test_batches_of_finite_inputs_pass(points):
    require_points(points)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([[1.0]], "`points` must be a torch tensor (n, *shape); got list."),
        (torch.zeros(3), "`points` must be a batch (n, *shape); got shape (3,)."),
        (torch.zeros(2, 0), "`points` must hold at least one point; got shape (2, 0)."),
        (torch.zeros(2, 2).int(), "`points` must be float32 or float64; got torch.int32."),
        (torch.tensor([[1.0], [math.nan], [math.inf]]), "`points` must be finite; got NaN or inf in 2 of 3 points."),
        (torch.eye(3).to_sparse(), "`points` must be a dense tensor with data; got torch.sparse_coo."),
        (torch.empty(3, 2, device="meta"), "`points` must be a dense tensor with data; got a tensor without data."),
    ],
    ids=["list", "vector", "empty", "integers", "not finite", "sparse", "meta"],
)
def test_what_is_no_batch_of_inputs_is_refused(points, message):
    with pytest.raises(ValueError, match="`points` must") as caught:
        require_points(points)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.int64, torch.complex64, torch.bool])
def test_half_precision_and_the_like_are_refused(dtype):
    with pytest.raises(ValueError, match=f"^`weights` must be float32 or float64; got {dtype}. Convert with"):
        require_full_precision(dtype, "weights")


def test_advice_on_pixels_is_for_pixels():
    with pytest.raises(ValueError, match="divide by 255"):
        require_full_precision(torch.uint8, "points")
    with pytest.raises(ValueError, match=r"got torch\.int64\. Convert with `\.float\(\)`\.$"):
        require_full_precision(torch.int64, "logits", pixels=False)


@pytest.mark.parametrize("seed", [0, 7, 2**63 - 1])
def test_seeds_are_what_64_bits_hold(seed):
    require_seed(seed)


@pytest.mark.parametrize("seed", [-1, 2**63, 2**64, 1.0, True, None, "0", torch.tensor(3)])
def test_what_is_no_seed_is_refused(seed):
    with pytest.raises(ValueError, match=r"^`seed` must be a whole number from 0 to 2\^63 − 1; got "):
        require_seed(seed)
    with pytest.raises(ValueError, match=r"^`basis_seed` must be a whole number from 0 to "):
        require_seed(seed, "basis_seed")


def test_a_generator_is_one_of_torch():
    require_generator(torch.Generator())
    with pytest.raises(ValueError, match=r"^`generator` must be a torch\.Generator; got NoneType\.$"):
        require_generator(None)


@pytest.mark.parametrize("bounds", [(0, 1), [-1.0, 2.5], (np.float32(0), np.int64(3)), (-math.inf, math.inf)])
def test_ranges_have_two_ends(bounds):
    require_range(bounds, "bounds")


@pytest.mark.parametrize("bounds", [1, None, "01", ("a", "b"), (1, 0), (0, 0), (0, 1, 2), (0, math.nan), (False, True)])
def test_what_is_no_range_is_refused(bounds):
    with pytest.raises(ValueError, match=r"^`bounds` must be a pair \(least, greatest\); got "):
        require_range(bounds, "bounds")


@pytest.mark.parametrize("values", ["a", ["a", "b"], None, {1: 2}, object(), [2**70], [1, [2]]])
def test_what_makes_no_tensor_is_refused(values):
    with pytest.raises(ValueError, match=r"^`ids` must hold whole numbers; got "):
        as_tensor(values, "ids", "hold whole numbers")


@pytest.mark.parametrize("values", [2, 2.0, np.float32(2), torch.tensor(2), torch.full((3,), 2), torch.full((3,), 2.0)])
def test_one_number_serves_every_point(values):
    numbers = number_each(values, "radius", torch.zeros(3, 5, dtype=torch.float64))
    assert numbers.tolist() == [2.0, 2.0, 2.0]
    assert numbers.dtype == torch.float64


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (True, "be a number, or one a point (n,); got True."),
        ("a", "be a number, or one a point (n,); got 'a'."),
        ([1.0, 2.0], "be a number, or one a point (n,); got [1.0, 2.0]."),
        (1j, "be a number, or one a point (n,); got 1j."),
        (10**400, "be a number, or one a point (n,); got 1000"),
        (torch.ones(3, dtype=torch.complex64), "hold real numbers; got torch.complex64."),
        (torch.tensor(True), "hold real numbers; got torch.bool."),
        (torch.ones(2), "have shape (3,), one entry a point; got shape (2,)."),
    ],
)
def test_what_is_no_number_for_each_is_refused(values, message):
    with pytest.raises(ValueError, match=r"^`radius` must") as caught:
        number_each(values, "radius", torch.zeros(3, 5))
    assert str(caught.value).startswith(f"`radius` must {message}")


def test_the_numbers_that_break_a_rule_are_named():
    values = torch.tensor([1.0, -2.0, -2.0, math.nan, 0.5, -3.0, -4.0])
    require_each(values[:1] >= 0, "radius", "be ≥ 0", values[:1])
    with pytest.raises(ValueError, match=r"^`radius` must be ≥ 0; got -2, nan, -3 and 1 more\.$"):
        require_each(values >= 0, "radius", "be ≥ 0", values)


def test_a_value_is_shown_on_one_line_however_large():
    assert described("l2") == "'l2'"
    assert described(torch.zeros(2, 3)) == "a tensor of shape (2, 3)"
    for large in (list(range(10**5)), np.zeros((50, 50))):
        assert "\n" not in described(large)
        assert len(described(large)) < 200


def test_of_many_names_a_few_are_said():
    assert few(["a", "b", "c"]) == "a, b, c"
    assert few(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"


def test_one_entry_a_point():
    require_batch(torch.zeros(3), "radius", 3)
    require_batch(torch.zeros(3, dtype=torch.int32), "ids", 3, integer=True)
    with pytest.raises(ValueError, match=r"^`ids` must have shape \(3,\), one entry a point; got shape \(3, 1\)"):
        require_batch(torch.zeros(3, 1), "ids", 3)
    for dtype in (torch.bool, torch.float32, torch.complex64):
        with pytest.raises(ValueError, match=r"^`ids` must hold whole numbers; got"):
            require_batch(torch.zeros(3, dtype=dtype), "ids", 3, integer=True)
    with pytest.raises(ValueError, match=r"^`ids` must be a torch tensor of 3 entries; got int"):
        require_batch(5, "ids", 3)
