"""The cosine transform against its definition."""

import math

import pytest
import torch
from torch.testing import assert_close

from separatrix import cosine
from separatrix.cosine import dct, dct2, dct_matrix, idct, idct2


def test_the_matrix_is_orthonormal_and_its_rows_are_cosines():
    matrix = dct_matrix(12)
    assert_close(matrix @ matrix.T, torch.eye(12, dtype=torch.float64), atol=1e-14, rtol=0)
    assert_close(matrix[0], torch.full((12,), 12**-0.5, dtype=torch.float64))
    assert math.isclose(matrix[3, 5], math.sqrt(2 / 12) * math.cos(math.pi / 12 * 3 * 5.5))


def test_the_matrix_is_made_once_in_each_precision():
    assert dct_matrix(9) is dct_matrix(9)
    assert dct_matrix(9, dtype=torch.float32).dtype == torch.float32


def test_a_matrix_first_made_in_inference_mode_serves_gradients_later():
    with torch.inference_mode():
        dct_matrix(37)
    points = torch.ones(2, 37, 37, dtype=torch.float64, requires_grad=True)
    dct2(points).square().sum().backward()
    assert_close(points.grad, 2 * points.detach())


def test_there_and_back_on_images():
    images = torch.randn(4, 3, 6, 9, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    coefficients = dct2(images)
    assert_close(coefficients.flatten(1).norm(dim=1), images.flatten(1).norm(dim=1))
    assert_close(idct2(coefficients), images)
    assert_close(coefficients[..., 0, 0], images.mean((-2, -1)) * math.sqrt(54))


@pytest.mark.parametrize("size", [1, 2, 5, 16, 31])
def test_the_fast_transform_equals_the_matrix(size, monkeypatch):
    values = torch.randn(3, size, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    expected = dct(values, (1, 2))
    monkeypatch.setattr(cosine, "_LONGEST_MATRIX", 0)
    assert_close(dct(values, (1, 2)), expected, atol=1e-13, rtol=0)
    assert_close(idct(expected, (1, 2)), values, atol=1e-13, rtol=0)
