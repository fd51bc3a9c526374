import pytest
from tests.report.made import World, carried

from separatrix.report import write_report

EVIL = '<img src=x onerror="window.hacked=1">'
"""What must never become an element, wherever it stands."""


@pytest.fixture(autouse=True)
def nobody_pulls_the_plug(monkeypatch):
    monkeypatch.setattr("os.fsync", lambda file: None)


@pytest.fixture
def carry(tmp_path):
    """Runs by name, each in a folder of its own."""
    return lambda name="run", world=World(), share=1.0: carried(tmp_path / name, world, share)


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    """The page of a whole survey, made once."""
    folder = tmp_path_factory.mktemp("whole")
    return write_report([carried(folder / "run", World())], folder / "report.html")


@pytest.fixture
def small():
    """A survey that is quick to tell of."""
    return World(samples=60, size=30, questions=("margins",))


@pytest.fixture
def hostile():
    """A survey all of whose names want to be HTML, TeX or the end of a script."""
    classes = tuple(f'{EVIL}</script>$\\frac{{"{number}\x00&' for number in range(10))
    model = f"</script><script>window.hacked=1</script>{EVIL}"
    return World(samples=60, size=30, model=model, classes=classes, evidence=f"{EVIL} ' onmouseover='alert(1)")
