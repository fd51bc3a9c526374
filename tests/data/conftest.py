import pytest
import torch


@pytest.fixture(autouse=True)
def folders(tmp_path_factory, monkeypatch):
    """Where data is looked for, in a test: two empty folders, and no network."""
    given, cache = tmp_path_factory.mktemp("given"), tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("SEPARATRIX_DATA", str(given))
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setenv("no_proxy", "*")
    return given, cache / "separatrix" / "data"


@pytest.fixture
def given(folders):
    return folders[0]


@pytest.fixture
def images():
    """Seven colour images of 32 × 32, as bytes."""
    return torch.randint(0, 256, (7, 3, 32, 32), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def labels():
    return torch.tensor([3, 1, 4, 1, 5, 9, 2])
