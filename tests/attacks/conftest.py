"""Exact classifiers under attack."""

import pytest
import torch

from separatrix.testing import Affine


@pytest.fixture
def plane() -> Affine:
    """Two classes: the gradient of the loss is normal to the one boundary everywhere."""
    return Affine.random(2, 12, generator=torch.Generator().manual_seed(1))


@pytest.fixture
def points() -> torch.Tensor:
    return torch.randn(40, 3, 4, generator=torch.Generator().manual_seed(2), dtype=torch.float64)


@pytest.fixture
def pixels() -> torch.Tensor:
    return torch.rand(16, 3, 4, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
