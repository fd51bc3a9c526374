import numpy as np
import pytest
from tests.cli.toys import Command, pictures


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    """Where the command looks and writes, in a test: empty folders, and no network."""
    for variable in ("SEPARATRIX_DATA", "SEPARATRIX_CACHE", "SEPARATRIX_WEIGHTS", "XDG_CACHE_HOME"):
        folder = tmp_path / variable.lower()
        folder.mkdir()
        monkeypatch.setenv(variable, str(folder))
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    return tmp_path


@pytest.fixture(autouse=True)
def nobody_pulls_the_plug(monkeypatch):
    """Syncing to the disk guards against the loss of power alone, and is most of what a short training takes."""
    monkeypatch.setattr("os.fsync", lambda file: None)


@pytest.fixture
def command(capsys):
    """The command itself, in this process."""
    return Command(capsys)


@pytest.fixture
def archive(tmp_path):
    """A small task of one's own, in two splits."""
    train, test = pictures(96, seed=0), pictures(24, seed=1)
    path = tmp_path / "halves.npz"
    np.savez(path, train_images=train[0], train_labels=train[1], test_images=test[0], test_labels=test[1])
    return path
