"""What holds for every command: its help, its exit codes, and one line where something went wrong."""

import errno
import logging
import os
import shlex
import signal
import subprocess
import sys
import tomllib
from functools import reduce
from importlib import import_module
from pathlib import Path

import pytest

from separatrix import __version__
from separatrix.cli.app import app
from separatrix.studies import STUDIES
from separatrix.training import CATALOGUE

ROOT = Path(__file__).parent.parent.parent

LEAVES = [
    "survey",
    "merge",
    "report",
    "check",
    "data list",
    "data get",
    "doctor",
    "train",
    "study list",
    "study run",
    "study ledger",
]
COMMANDS = ["", "data", "study", *LEAVES]


def example(text):
    (line,) = [line for line in text.splitlines() if line.startswith("Example: ")]
    return shlex.split(line.removeprefix("Example: "))


@pytest.mark.parametrize("words", COMMANDS)
def test_help_shows_an_example_that_is_understood(command, words):
    ended = command(*words.split(), "--help")
    assert (ended.code, ended.err) == (0, "")
    name, *rest = example(ended.out)
    assert name == "separatrix"
    assert app.parse_args(rest)[0] is not None
    assert " ".join(rest).startswith(words)


@pytest.mark.parametrize("words", LEAVES)
def test_every_parameter_is_explained_in_a_sentence(words):
    leaf = reduce(lambda group, word: group[word], words.split(), app)
    helps = [str(argument.parameter.help) for argument in leaf.assemble_argument_collection(parse_docstring=True)]
    assert all(text.endswith(".") and text.count(". ") == 0 for text in helps)


def test_without_a_command_there_is_help(command):
    ended = command()
    assert ended.code == 0
    assert all(name in ended.out for name in ("data", "doctor", "train", "study", "--debug"))


def test_the_version_is_said(command):
    ended = command("--version")
    assert (ended.code, ended.out, ended.err) == (0, f"separatrix {__version__}\n", "")


def test_the_command_that_is_installed_is_this_one(monkeypatch):
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    module, _, name = scripts["separatrix"].partition(":")
    handler = signal.getsignal(signal.SIGINT)
    handlers = []
    monkeypatch.setattr("separatrix.cli.app.main", lambda: handlers.append(signal.getsignal(signal.SIGINT)) or 7)
    assert getattr(import_module(module), name)() == 7
    assert handlers == [handler]


STOPPED_EARLY = """
import importlib.abc, os, signal, sys
from separatrix_command import main

class Stopping(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "torch":
            os.kill(os.getpid(), signal.SIGINT)
            sys.exit("SIGINT did nothing")

signal.signal(signal.SIGINT, signal.{handler})
sys.meta_path.insert(0, Stopping())
sys.argv[1:] = ["train", "--out", "my networks"]
sys.exit(main())
"""


@pytest.mark.parametrize(
    ("handler", "code", "complaint"),
    [
        ("default_int_handler", 3, "separatrix: interrupted; to go on: separatrix train --out 'my networks'\n"),
        ("SIG_IGN", 1, "SIGINT did nothing\n"),
    ],
)
def test_ctrl_c_is_one_line_while_the_command_is_still_being_imported(handler, code, complaint):
    asked = [sys.executable, "-c", STOPPED_EARLY.format(handler=handler)]
    ended = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (code, "", complaint)


BAD = [
    ("trian", 'Unknown command "trian". Did you mean "train"? Available commands: '),
    ("data gte mnist", 'Unknown command "gte". Did you mean "get"? Available commands: list, get.'),
    ("data get", "`NAMES` must be among sample, fashion-mnist, mnist, cifar10, svhn; got none."),
    ("data get mnist imagenet", "`NAMES` must be among sample, fashion-mnist, mnist, cifar10, svhn; got imagenet."),
    ("train --epoch 3", "Unknown option: --epoch. Did you mean --epochs?"),
    ("train --epochs three", 'Invalid value for --epochs: unable to convert "three" into int.'),
    ("train --epochs -1", "`epochs` must be a whole number ≥ 0; got -1."),
    ("train --optimiser lion", 'Invalid value "lion" for --optimiser. Choose from: "adam", "sgd".'),
    ("train --rate nan", "`rate` must be a finite number above 0; got nan."),
    ("train lenet", "`--data` must be given with an architecture; got none. For instance:"),
    ("train lenet/mnist --data mnist", "`--data` must be left out with lenet/mnist, which names its data; got mnist."),
    ("train lennet", f"`NETWORK` must be {', '.join(CATALOGUE)}; or, with --data, lenet, "),
    ("train lenet --data imagenet", "`--data` must be one of sample, fashion-mnist, mnist, cifar10, svhn, a folder"),
    ("train --device abacus", "`--device` must be a device that PyTorch can use here; got abacus: "),
    ("study run", f"`NAMES` must be among {', '.join(STUDIES)}; or use --all; got none."),
    ("study run features/synthetic --all", f"`NAMES` must be among {', '.join(STUDIES)}; or use --all; got features/"),
    ("study run features/sinthetic", f"`NAMES` must be among {', '.join(STUDIES)}; got features/sinthetic."),
    ("study run --all --scale huge", 'Invalid value "huge" for --scale. Choose from: "smoke", "default", "paper".'),
    (
        "check nowhere",
        "`--rule` must be given at least once, or --rules name a file with rules; got none. For instance:",
    ),
    ("check nowhere --rule accuracy>=1", "`folder` must hold a run; got nowhere without manifest.json."),
    ("check nowhere --rule accuracy>=x", "In the rule `accuracy>=x`, at character 11: expected a number; got `x`."),
    ("study ledger --runs nowhere", "`--runs` must be a folder that studies were run in; got nowhere. Run a study"),
]


@pytest.mark.parametrize(("words", "message"), BAD)
def test_a_bad_request_is_refused_in_one_line(command, words, message):
    ended = command(*words.split())
    assert ended.code == 2
    assert ended.complaint.startswith(message)


def raising(monkeypatch, error):
    """The doctor comes upon an error."""

    def examined():
        raise error

    monkeypatch.setattr("separatrix.cli.doctor.examined", examined)


ERRORS = [
    (ValueError("`radius` must be positive; got -1."), "`radius` must be positive; got -1."),
    (ImportError("Such models need timm: pip install 'separatrix[timm]'"), "Such models need timm: pip install 'sep"),
    (ConnectionError("mnist could\nnot be fetched."), "mnist could not be fetched."),
    (FileNotFoundError(errno.ENOENT, "No such file or directory", "/a b"), "/a b: No such file or directory"),
    (OSError(errno.ENOSPC, "No space left on device", "/full"), "/full: No space left on device"),
    (FloatingPointError("Training diverged."), "Training diverged."),
    (KeyError("margin"), "unexpected: KeyError: 'margin'; run with --debug"),
    (RuntimeError("shapes\ndiffer"), "unexpected: RuntimeError: shapes differ; run with --debug"),
]


@pytest.mark.parametrize(("error", "message"), ERRORS)
def test_an_error_is_one_line_and_its_place_is_shown_on_demand(command, monkeypatch, error, message):
    raising(monkeypatch, error)
    ended = command("doctor")
    assert ended.code == 2
    assert ended.complaint.startswith(message)
    for words in (("doctor", "--debug"), ("--debug", "doctor")):
        shown = command(*words)
        assert shown.code == 2
        assert "Traceback (most recent call last)" in shown.err
        assert shown.err.splitlines()[-1].startswith(f"separatrix: {message}")


def test_several_errors_are_a_line_each(command, monkeypatch):
    one, other = ValueError("one"), KeyError("other")
    other.add_note("games/dice")
    raising(monkeypatch, ExceptionGroup("both", [one, other]))
    ended = command("doctor")
    assert ended.code == 2
    assert ended.err.splitlines() == [
        "separatrix: one",
        "separatrix: games/dice: unexpected: KeyError: 'other'; run with --debug",
    ]


def test_an_interruption_says_how_to_go_on(command, monkeypatch):
    raising(monkeypatch, KeyboardInterrupt())
    ended = command("doctor", "--debug")
    assert ended.code == 3
    assert ended.complaint == "interrupted; to go on: separatrix doctor --debug"


def test_words_with_spaces_are_quoted(command, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("separatrix.cli.train.made", stopped)
    ended = command("train", "--out", "my networks")
    assert ended.complaint == "interrupted; to go on: separatrix train --out 'my networks'"


@pytest.fixture
def unwilling():
    """A process that SIGTERM does nothing to."""
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGTERM, before)


def test_sigterm_interrupts_as_ctrl_c_does_and_only_while_a_command_runs(command, monkeypatch, unwilling):

    def examined():
        os.kill(os.getpid(), signal.SIGTERM)
        yield from ()

    monkeypatch.setattr("separatrix.cli.doctor.examined", examined)
    ended = command("doctor")
    assert ended.code == 3
    assert ended.complaint == "interrupted; to go on: separatrix doctor"
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN


@pytest.mark.parametrize("words", ["", "train --help", "data list", "study list", "train --list", "doctor"])
def test_nothing_is_coloured_where_no_terminal_is(command, words):
    ended = command(*words.split())
    assert ended.out
    assert "\x1b" not in ended.out + ended.err


def test_a_terminal_is_coloured(command, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[32mok" in command("doctor").out


def test_the_root_logger_is_left_alone(command):
    before = logging.root.handlers[:], logging.root.level
    command("data", "list")
    assert (logging.root.handlers, logging.root.level) == before
