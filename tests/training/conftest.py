import pytest
from tests.training.toys import pictures


@pytest.fixture
def data():
    return pictures(24)
