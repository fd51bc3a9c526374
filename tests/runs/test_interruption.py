"""Wherever a run is interrupted, the same call ends with the same bytes."""

import errno
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.runs import toy

from separatrix.runs import files, read_run
from separatrix.runs.files import Stage, unfinished

ROOT = Path(__file__).parent.parent.parent


class Struck(BaseException):
    """Nothing that anyone catches."""


class Moments:
    """Every stage of every write, numbered; something may happen at each."""

    def __init__(self, monkeypatch, happen=lambda number: None):
        self.seen = []
        self.happen = happen
        monkeypatch.setattr(files, "reached", self)

    def __call__(self, stage, path):
        self.seen.append((stage, path.name))
        self.happen(len(self.seen) - 1)


@pytest.fixture
def whole(tmp_path):
    return toy.held(toy.carried(tmp_path / "whole"))


def leftovers(folder):
    return [path for path in folder.rglob("*") if unfinished(path)]


def test_every_write_passes_all_stages(tmp_path, monkeypatch):
    moments = Moments(monkeypatch)
    run = toy.carried(tmp_path / "run")
    written = sorted(path.name for path in run.folder.rglob("*") if path.is_file())
    assert sorted({name for _, name in moments.seen}) == sorted(set(written))
    assert len(moments.seen) == 4 * (len(written) + 2)  # the manifest is written when opened, begun and ended
    assert [stage for stage, _ in moments.seen] == list(Stage) * (len(moments.seen) // 4)


def test_an_exception_at_any_moment_changes_nothing(tmp_path, monkeypatch, whole):
    count = len(every_moment(tmp_path, monkeypatch))
    for number in range(count):
        folder = tmp_path / str(number)
        moments = Moments(monkeypatch, lambda at, number=number: strike(at, number))
        with pytest.raises(Struck):
            toy.carried(folder)
        where = moments.seen[number]
        moments.happen = lambda at: None
        assert leftovers(folder) == [], where
        assert toy.held(toy.carried(folder)) == whole, where


def strike(at, number):
    if at == number:
        raise Struck


def every_moment(tmp_path, monkeypatch):
    moments = Moments(monkeypatch)
    toy.carried(tmp_path / "counted")
    return moments.seen


def test_death_at_any_moment_changes_nothing(tmp_path, monkeypatch, whole):
    """A copy of the folder as it is at a moment is what a process killed at that moment would leave."""
    run, copies = tmp_path / "run", []

    def copy(number):
        if run.exists():
            copies.append(shutil.copytree(run, tmp_path / f"copy-{number}"))

    moments = Moments(monkeypatch, copy)
    toy.carried(run)
    count = len(moments.seen)
    moments.happen = lambda number: None
    assert len(copies) == count - 1  # at the very first there is no folder yet
    assert sum(bool(leftovers(folder)) for folder in copies) == count // 2  # half and whole, of each write
    for folder in copies:
        assert toy.held(toy.carried(folder)) == whole, folder
        assert leftovers(folder) == []
        assert read_run(folder).manifest.state == "complete"


@pytest.mark.parametrize("number", [1, 9, 20, 33, 50])
def test_a_full_disk_is_said_as_it_is_and_nothing_is_lost(tmp_path, monkeypatch, whole, number):
    def fill(at):
        if at >= number:
            raise OSError(errno.ENOSPC, "No space left on device")

    moments = Moments(monkeypatch, fill)
    with pytest.raises(OSError, match="No space left on device"):
        toy.carried(tmp_path / "run")
    moments.happen = lambda at: None
    assert toy.held(toy.carried(tmp_path / "run")) == whole


def killed(folder, count, done, further):
    """Carry out a run in another process, and kill that once it has done so many units; how many it left done."""
    command = [sys.executable, "-m", "tests.runs.child", str(folder), str(count), str(done + further)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        said = [child.stdout.readline() for _ in range(done + 1)]
        child.kill()
    assert child.returncode == -signal.SIGKILL, said
    return len(list((folder / "units").glob("*.json")))


@pytest.mark.parametrize("done", [1, 5, 12])
def test_a_killed_run_is_continued(tmp_path, done):
    left = killed(tmp_path / "run", 20, done, further=4)
    assert done <= left <= done + 4
    asked = toy.Asked()
    run = toy.carried(tmp_path / "run", 20, asked)
    assert len(asked.units) == 20 - left
    assert leftovers(run.folder) == []
    assert toy.held(run) == toy.held(toy.carried(tmp_path / "whole", 20))
    assert run.manifest.sessions[0].seconds is None


@pytest.mark.slow
def test_a_run_killed_twenty_times_is_continued_each_time(tmp_path):
    left = 0
    for kill in range(20):
        before, left = left, killed(tmp_path / "run", 200, 1 + kill % 3, further=5)
        assert left > before
    run = toy.carried(tmp_path / "run", 200)
    assert toy.held(run) == toy.held(toy.carried(tmp_path / "whole", 200))
    assert len(run.manifest.sessions) == 21
