"""What is shown of progress: on stderr, with the time left, and nothing that stays in a terminal."""

import io
import re
from types import SimpleNamespace

import pytest
from rich.progress import DownloadColumn

from separatrix.cli.printing import say
from separatrix.cli.progress import bar


@pytest.fixture
def clock(monkeypatch):
    """Time that passes when it is told to."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr("separatrix.cli.progress.time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


class Terminal(io.StringIO):
    """A stream that a person reads."""

    def isatty(self):
        return True

    @property
    def frames(self):
        """What was shown, one line after the other, without colours."""
        plain = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", self.getvalue())
        return [line.strip() for line in re.split(r"[\r\n]", plain) if line.strip()]


@pytest.fixture
def watched(monkeypatch):
    """Called within a test, it puts a terminal in the place of stderr."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")

    def watched():
        terminal = Terminal()
        monkeypatch.setattr("sys.stderr", terminal)
        return terminal

    return watched


def test_elsewhere_there_is_a_line_now_and_then(clock, capsys):
    with bar() as shown:
        for second in range(41):
            clock.now = float(second)
            shown.tell("training", second, 80)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "separatrix: training: 12%, 0:01:10 left",
        "separatrix: training: 25%, 0:01:00 left",
        "separatrix: training: 38%, 0:00:50 left",
        "separatrix: training: 50%, 0:00:40 left",
    ]


def test_time_left_goes_by_what_was_done_since_it_went_on(clock, capsys):
    with bar() as shown:
        shown.tell("training", 50, 100)
        clock.now = 10.0
        shown.tell("training", 75, 100)
    assert capsys.readouterr().err == "separatrix: training: 75%, 0:00:10 left\n"


def test_what_is_short_is_not_spoken_of(clock, capsys):
    with bar() as shown:
        for number, name in enumerate(("one", "other", "one again")):
            clock.now = 9.0 * number
            shown.tell(name, 1, 2)
    assert capsys.readouterr().err == ""


def test_of_what_has_no_known_end_nothing_is_foretold(clock, capsys):
    with bar() as shown:
        shown.tell("file", 1, 0)
        clock.now = 60.0
        shown.tell("file", 2, 0)
    assert capsys.readouterr().err == ""


def test_a_terminal_shows_title_share_and_time(watched, capsys):
    terminal = watched()
    with bar(DownloadColumn()) as shown:
        shown.tell("file.gz", 0, 2_000_000)
        shown.tell("file.gz", 500_000, 2_000_000)
    assert re.match(r"file.gz ━+.* 25% 0.5/2.0 MB ", terminal.frames[-1])
    assert terminal.getvalue().endswith("\x1b[2K")  # the line is erased
    assert capsys.readouterr().out == ""


def test_a_terminal_shows_one_thing_at_a_time(watched):
    terminal = watched()
    with bar() as shown:
        shown.tell("first", 1, 2)
        shown.tell("second", 1, 4)
    assert not any("first" in frame and "second" in frame for frame in terminal.frames)
    assert re.match(r"second ━+.* 25% ", terminal.frames[-1])


def test_lines_of_the_result_find_an_empty_line(watched, capsys):
    terminal = watched()
    with bar() as shown:
        shown.tell("training", 1, 2)
        with shown.aside():
            assert terminal.getvalue().endswith("\x1b[2K")
            say("epoch 1")
        shown.tell("training", 2, 2)
        assert not terminal.getvalue().endswith("\x1b[2K")
    assert capsys.readouterr().out == "epoch 1\n"


def test_what_is_over_before_it_is_told_shows_nothing(watched):
    terminal = watched()
    with bar():
        pass
    assert terminal.frames == []
