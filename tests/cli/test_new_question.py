"""The worked example of the docs is short, runs, and is shown by the report."""

import re
import sys
from pathlib import Path

import pytest

from separatrix.runs import read_run

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "new-question.md").read_text("utf-8")
MODULES = dict(re.findall(r"<!-- (\w+\.py) -->\n```python\n(.*?)```", PAGE, re.DOTALL))


def test_question_and_section_together_take_under_sixty_lines():
    lines = [line for text in MODULES.values() for line in text.splitlines() if line.strip()]
    assert set(MODULES) == {"contrast.py", "contrast_section.py"}
    assert len(lines) < 60


@pytest.fixture
def beside(tmp_path, monkeypatch):
    """The folder of both modules, as the current one; they are forgotten afterwards."""
    for name, text in MODULES.items():
        (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in MODULES:
        sys.modules.pop(name.removesuffix(".py"), None)


def test_the_example_is_asked_stored_and_told(command, beside):
    words = ["--questions", "contrast:CONTRAST", "--sections", "contrast_section:CONTRAST", "--out", "out/pale"]
    ended = command("survey", "--model", "tests.cli.surveyed:network", "--data", "sample", "--samples", "9", *words)
    assert (ended.code, ended.err) == (0, "")
    left = read_run("out/pale").table("contrast").to_pydict()["left"]
    assert len(left) == 9
    assert all(0 <= level < 1 for level in left)
    page = Path("out/pale/report.html").read_text("utf-8")
    assert 'data-question="contrast"' in page
    assert "How many images are still answered as before" in page
    assert "The highest level tried at which the answer changed." in page
    assert command("check", "out/pale", "--rule", "min(contrast.left) >= 0").code == 0
