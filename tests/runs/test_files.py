"""A file is there whole, or not at all."""

import hashlib
import os
import subprocess
import sys

import pytest

from separatrix.runs import files
from separatrix.runs.files import Stage, digest, read_sealed, sweep, unfinished, write, write_sealed

OLD, NEW = b"old and short", b"new, and somewhat longer"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "deep" / "down" / "file.bin"


def strike(monkeypatch, stage, error):
    """Raise at a stage of every write from now on."""

    def reached(at, path):
        if at is stage:
            raise error

    monkeypatch.setattr(files, "reached", reached)


@pytest.mark.parametrize("content", [b"", b"x", NEW, bytes(10**6)])
def test_what_is_written_is_there_under_its_hash(path, content):
    assert write(path, content) == digest(path) == hashlib.sha256(content).hexdigest()
    assert path.read_bytes() == content
    assert list(path.parent.iterdir()) == [path]


def test_stages_follow_each_other_and_show_what_they_say(path, monkeypatch):
    write(path, OLD)
    seen = []

    def reached(stage, target):
        temporary = [other.read_bytes() for other in target.parent.iterdir() if unfinished(other)]
        seen.append((stage, temporary, target.read_bytes()))

    monkeypatch.setattr(files, "reached", reached)
    write(path, NEW)
    assert seen == [
        (Stage.BEFORE, [], OLD),
        (Stage.HALF, [NEW[: len(NEW) // 2]], OLD),
        (Stage.WHOLE, [NEW], OLD),
        (Stage.AFTER, [], NEW),
    ]


def test_all_of_a_file_is_on_the_disk_before_it_takes_its_place(path, monkeypatch):
    write(path, OLD)
    synced = []
    monkeypatch.setattr("os.fsync", lambda file: synced.append((os.fstat(file).st_size, path.read_bytes())))
    write(path, NEW)
    assert synced == [(len(NEW), OLD)]


@pytest.mark.parametrize("stage", Stage)
@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device")], ids=["ctrl-c", "disk"])
def test_an_interrupted_write_leaves_the_old_file_or_the_new_one_and_no_other(path, monkeypatch, stage, error):
    write(path, OLD)
    strike(monkeypatch, stage, error)
    with pytest.raises(type(error)):
        write(path, NEW)
    assert path.read_bytes() == (NEW if stage is Stage.AFTER else OLD)
    assert list(path.parent.iterdir()) == [path]


def test_a_write_whose_temporary_file_is_swept_away_is_done_again(path, monkeypatch):
    swept = []

    def reached(stage, target):
        if stage is Stage.WHOLE and not swept:
            swept.append(sweep(target.parent))

    monkeypatch.setattr(files, "reached", reached)
    write(path, NEW)
    assert swept == [1]
    assert path.read_bytes() == NEW


def test_sweeping_takes_what_interrupted_writes_left_and_nothing_else(path):
    write(path, OLD)
    left = path.with_name(f".{path.name}.12-ab.unfinished")
    left.write_bytes(NEW)
    assert unfinished(left)
    assert not unfinished(path)
    assert sweep(path.parent.parent) == 1
    assert list(path.parent.iterdir()) == [path]


def test_a_file_is_readable_by_whom_the_system_lets(path):
    write(path, NEW)
    umask = os.umask(0)
    os.umask(umask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask


def test_sealed_objects_come_back(path):
    content = {"name": "ℓ∞", "numbers": [1, 2.5, -1e-300], "within": {"b": None, "a": True}}
    write_sealed(path, content, indent=2)
    assert read_sealed(path) == content


def test_a_sealed_object_with_any_byte_changed_is_none(path):
    write_sealed(path, {"unit": "margins", "rows": 12})
    sound = path.read_bytes()
    spoilt = [sound[:place] + bytes([sound[place] ^ 1]) + sound[place + 1 :] for place in range(len(sound) - 1)]
    for content in spoilt:
        path.write_bytes(content)
        assert read_sealed(path) is None, content


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"3", b"{}", b"\xff\xfe", b'{"rows": 12}', b"[" * 200_000],
    ids=["nothing", "list", "number", "empty", "no text", "no seal", "a chasm"],
)
def test_what_was_not_sealed_is_none(path, content):
    assert read_sealed(path) is None
    write(path, content)
    assert read_sealed(path) is None


def test_an_import_of_runs_stays_light():
    heavy = "pyarrow, safetensors.torch, pandas"
    question = f"import separatrix.runs, sys; print([name for name in '{heavy}'.split(', ') if name in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", question], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
