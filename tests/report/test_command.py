"""``separatrix report``."""

from dataclasses import replace

import pytest
from tests.cli.toys import Command


@pytest.fixture
def command(capsys):
    return Command(capsys)


def test_a_run_becomes_a_page_in_its_folder(command, carry, small):
    run = carry(world=small)
    ended = command("report", run.folder)
    assert (ended.code, ended.out, ended.err) == (0, f"report  {run.folder / 'report.html'}\n", "")
    assert "<h1>lenet/sample on fashion-mnist test</h1>" in (run.folder / "report.html").read_text("utf-8")


def test_two_runs_become_one_page(command, carry, small, tmp_path):
    first, second = carry("a", small), carry("b", replace(small, strength=2.0))
    assert command("report", first.folder, second.folder).code == 0
    assert "difference B − A" in (first.folder / "compared.html").read_text("utf-8")
    assert command("report", first.folder, second.folder, "--out", tmp_path / "deep" / "x.html").code == 0
    assert (tmp_path / "deep" / "x.html").exists()


def test_a_section_of_ones_own_is_added(command, carry, small, tmp_path, monkeypatch):
    lines = (
        "from separatrix.report import Section, Told\n"
        "MINE = Section('margins', 'Mine', lambda runs: Told(('My words.',)))"
    )
    (tmp_path / "sections_of_mine.py").write_text(lines)
    monkeypatch.chdir(tmp_path)
    run = carry(world=small)
    ended = command("report", run.folder, "--sections", "sections_of_mine:MINE")
    assert ended.code == 0, ended.err
    text = (run.folder / "report.html").read_text("utf-8")
    assert "My words." in text
    again = f"separatrix report {run.folder} --sections sections_of_mine:MINE"
    assert again in text
    assert command(*again.split()[1:]).code == 0
    assert (run.folder / "report.html").read_text("utf-8") == text


def test_bad_requests_are_one_line(command, carry, small, tmp_path):
    run = carry(world=small)
    assert "hold a run" in command("report", tmp_path / "nowhere").complaint
    assert "--sections" in command("report", run.folder, "--sections", "no_such_module:X").complaint
    assert "--out" in command("report", run.folder, "--out", tmp_path).complaint
