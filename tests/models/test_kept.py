"""The networks that are kept in the repository."""

import json
from pathlib import Path

import pytest

from separatrix.models.card import require_recorded

FOLDER = Path(__file__).parents[2] / "weights"
LOGS = sorted(FOLDER.glob("*.json"))
README = (FOLDER / "README.md").read_text("utf-8")


@pytest.mark.parametrize("log", LOGS, ids=[log.stem for log in LOGS])
def test_the_readme_names_every_network_with_the_accuracy_in_its_log(log):
    (row,) = [line for line in README.splitlines() if line.startswith(f"| `{log.stem}` |")]
    assert f" {json.loads(log.read_bytes())['test_accuracy']:.1%}".replace("%", " %") in row


@pytest.mark.parametrize("log", LOGS, ids=[log.stem for log in LOGS])
def test_weights_are_those_that_their_log_is_of(log):
    recorded = json.loads(log.read_bytes())["files"]
    kept = [path for path in FOLDER.glob(f"{log.stem}*.safetensors") if path.name in recorded]
    assert sorted(path.name for path in kept) == (sorted(recorded) if kept else [])
    if kept:
        require_recorded(kept[0])


def test_every_file_of_weights_is_of_a_network():
    recorded = {name for log in LOGS for name in json.loads(log.read_bytes())["files"]}
    assert {path.name for path in FOLDER.glob("*.safetensors")} <= recorded
    assert all(path.stat().st_size <= 15_000_000 for path in FOLDER.glob("*.safetensors"))
