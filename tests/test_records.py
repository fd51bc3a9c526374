"""What selects samples, whatever it is given as."""

import numpy as np
import pytest
import torch

from separatrix.records import rows


@pytest.mark.parametrize(
    ("index", "chosen"),
    [
        (3, [3]),
        (-1, [-1]),
        (np.int64(3), [3]),
        (np.uint8(3), [3]),
        (torch.tensor(3, dtype=torch.int32), [3]),
        ([2, 0, 2], [2, 0, 2]),
        (np.array([2, 0], dtype=np.uint16), [2, 0]),
        (torch.tensor([2, 0], dtype=torch.uint8), [2, 0]),
        ([], []),
        (np.array([]), []),
        (torch.tensor([]), []),
    ],
    ids=repr,
)
def test_any_whole_numbers_select(index, chosen):
    selected = rows(index)
    assert selected.dtype == torch.int64
    assert selected.tolist() == chosen


@pytest.mark.parametrize("mask", [[True, False], np.array([True, False]), torch.tensor([True, False])], ids=repr)
def test_a_mask_stays_a_mask(mask):
    assert rows(mask).dtype == torch.bool
    assert rows(mask).tolist() == [True, False]


def test_a_slice_stays_a_slice():
    assert rows(slice(1, 3)) == slice(1, 3)


@pytest.mark.parametrize(
    ("index", "got"),
    [
        ("a", "'a'"),
        (["a"], "['a']"),
        (None, "None"),
        (1.5, "1.5"),
        ([1.0, 2.0], "[1.0, 2.0]"),
        (torch.tensor([1.0]), "torch.float32"),
        (torch.tensor(1j), "torch.complex64"),
    ],
    ids=repr,
)
def test_what_selects_nothing_is_refused(index, got):
    with pytest.raises(ValueError, match=r"^`index` must be a slice, whole numbers or a mask; got ") as caught:
        rows(index)
    assert str(caught.value).endswith(f"got {got}.")
