import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def script():
    return runpy.run_path(str(ROOT / "docs" / "draw_layers.py"))


def test_the_drawing_in_the_docs_is_current(script):
    assert script["draw"](script["layers"]()) in (ROOT / "docs" / "layers.md").read_text("utf-8")


def test_every_layer_is_drawn_from_top_to_bottom(script):
    rows = script["layers"]()
    assert rows[0] == ["cli"]
    assert rows[-1] == ["checks"]
    assert ["models", "data"] in rows
    drawn = script["draw"]([["above"], ["left", "right"]])
    assert [line.strip("│ ") for line in drawn.splitlines()[2:5]] == ["above", f"├{'─' * 72}┤", "left   right"]


def test_an_import_of_the_package_stays_light():
    heavy = "matplotlib, scipy, pandas, pyarrow, rich, cyclopts"
    question = f"import separatrix, sys; print([name for name in '{heavy}'.split(', ') if name in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", question], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
