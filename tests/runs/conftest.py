import pytest


@pytest.fixture(autouse=True)
def nobody_pulls_the_plug(monkeypatch):
    """Syncing to the disk guards against the loss of power alone, and is most of what a short run takes."""
    monkeypatch.setattr("os.fsync", lambda file: None)
