"""Wherever a command is interrupted, the same command goes on, and ends with the same bytes."""

import errno
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import torch

from separatrix.runs import files
from separatrix.runs.files import Stage

ROOT = Path(__file__).parent.parent.parent


def words(archive, folder):
    return ["train", "mlp", "--data", archive, "--epochs", 2, "--batch-size", 32, "--out", folder]


def kept(folder):
    """The weights, by file, to the last bit."""
    return {path.name: path.read_bytes() for path in folder.glob("*.safetensors")}


@pytest.fixture
def whole(command, archive, tmp_path):
    """What an uninterrupted training leaves."""
    assert command(*words(archive, tmp_path / "whole")).code == 0
    return kept(tmp_path / "whole")


def test_interrupted_at_every_moment_of_every_write_it_ends_with_the_same_weights(
    command, archive, whole, tmp_path, monkeypatch
):
    struck = set()

    def reached(stage, path):
        moment = stage, path.name
        if moment not in struck:
            struck.add(moment)
            raise KeyboardInterrupt

    with monkeypatch.context() as interrupting:
        interrupting.setattr(files, "reached", reached)
        while (ended := command(*words(archive, tmp_path / "often"))).code == 3:
            assert ended.err.splitlines()[-1].startswith("separatrix: interrupted; to go on: separatrix train mlp")
    assert ended.code == 0
    assert len(struck) >= 4 * 5  # checkpoints of two epochs and their records, the weights, the log
    assert kept(tmp_path / "often") == whole


def test_a_full_disk_is_one_line_and_nothing_is_lost(command, archive, whole, tmp_path, monkeypatch):
    def reached(stage, path):
        if path.name.startswith("00002-") and stage is Stage.HALF:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))

    with monkeypatch.context() as filling:
        filling.setattr(files, "reached", reached)
        ended = command(*words(archive, tmp_path / "full"))
        assert ended.code == 2
        assert ended.err.count("\n") == 1
        assert ended.err.endswith(": No space left on device\n")
    ended = command(*words(archive, tmp_path / "full"))
    assert ended.err == "separatrix: going on after epoch 1 of 2\n"
    assert kept(tmp_path / "full") == whole


def test_another_number_of_threads_is_remarked_and_changes_nothing(command, archive, whole, tmp_path, monkeypatch):
    def reached(stage, path):
        if path.name.startswith("00002-"):
            raise KeyboardInterrupt

    with monkeypatch.context() as interrupting:
        interrupting.setattr(files, "reached", reached)
        assert command(*words(archive, tmp_path / "threads")).code == 3
    before = torch.get_num_threads()
    torch.set_num_threads(before + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            ended = command(*words(archive, tmp_path / "threads"))
    finally:
        torch.set_num_threads(before)
    remark = f"separatrix: Threads: going on with {before}, as the training began, not {before + 1}.\n"
    assert ended.err == remark + "separatrix: going on after epoch 1 of 2\n"
    assert kept(tmp_path / "threads") == whole


@pytest.mark.parametrize(("name", "code"), [("SIGKILL", -9), ("SIGINT", 3)])
def test_a_process_that_is_killed_goes_on(command, archive, whole, tmp_path, name, code):
    arguments = [str(word) for word in words(archive, tmp_path / "killed")]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.cli.child", "9", *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stderr.readline().startswith("HALF ")
        process.send_signal(getattr(signal, name))
        complaint = process.stderr.read()
        assert process.wait() == code
    assert ("interrupted; to go on: separatrix train mlp" in complaint) == (code == 3)
    assert "Traceback" not in complaint
    ended = command(*words(archive, tmp_path / "killed"))
    assert ended.code == 0
    assert ended.err == "separatrix: going on after epoch 1 of 2\n"
    assert [line.split()[1] for line in ended.out.splitlines()[:2]] == ["1/2", "2/2"]
    assert kept(tmp_path / "killed") == whole


def test_nobody_is_told_when_nobody_listens():
    read, write = os.pipe()
    os.close(read)
    asked = [sys.executable, "-m", "separatrix.cli", "data", "list"]
    answer = subprocess.run(asked, cwd=ROOT, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (answer.returncode, answer.stderr) == (3, b"")
