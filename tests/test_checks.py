"""Bad input is refused in one wording."""

import math

import pytest
import torch

from separatrix.checks import (
    require,
    require_batch,
    require_count,
    require_full_precision,
    require_points,
    require_positive,
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
    ],
    ids=["list", "vector", "empty", "integers", "not finite"],
)
def test_what_is_no_batch_of_inputs_is_refused(points, message):
    with pytest.raises(ValueError, match="`points` must") as caught:
        require_points(points)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.int64, torch.complex64, torch.bool])
def test_half_precision_and_the_like_are_refused(dtype):
    with pytest.raises(ValueError, match=f"^`weights` must be float32 or float64; got {dtype}. Convert with"):
        require_full_precision(dtype, "weights")


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
