"""``separatrix study``: studies listed, run, continued and written into the ledger."""

import re
from dataclasses import replace

import matplotlib
import pytest
from tests.cli.toys import DICE, LOADED, throws

from separatrix.studies import STUDIES, Needs, Samples
from separatrix.training import Named, NetworkRecipe, Standard, TwoClass


@pytest.fixture(autouse=True)
def games(monkeypatch, tmp_path):
    """Two small studies instead of the others, run where nothing else is."""
    monkeypatch.chdir(tmp_path)
    backend = matplotlib.get_backend()
    games = {study.name: study for study in (DICE, LOADED)}
    monkeypatch.setattr("separatrix.cli.study.STUDIES", games)
    yield games
    matplotlib.use(backend)


def test_the_list_has_a_line_for_each_study(command, monkeypatch):
    ended = command("study", "list")
    assert (ended.code, ended.err) == (0, "")
    head, dice, _ = ended.out.splitlines()
    assert head.split() == ["study", "source", "question", "scales"]
    for text in (DICE.name, DICE.source, DICE.question, "smoke, default, paper"):
        assert text in dice
    monkeypatch.setattr("separatrix.cli.study.STUDIES", STUDIES)
    assert [line.split()[0] for line in command("study", "list").out.splitlines()[1:]] == list(STUDIES)


def test_published_stands_beside_measured_and_claims_have_verdicts(command, tmp_path):
    ended = command("study", "run", "games/dice", "--scale", "smoke")
    assert (ended.code, ended.err) == (0, "")
    said = [line.split() for line in ended.out.splitlines()]
    assert ended.out.startswith("games/dice, smoke: holds\nDo dice show more than one eye? (Hands, Table 7)\n")
    assert ["median", "3.5"] in [line[:2] for line in said]
    assert ["throws", "–", "40"] in said
    assert re.search(r"^holds +the median is above one +\d \(\d to \d\) against > 1$", ended.out, re.MULTILINE)
    assert "Substitute: fewer dice.\nDice are cubes.\n" in ended.out
    assert "figure  out/studies/games-dice-smoke/figure.png" in ended.out
    assert (tmp_path / "out" / "studies" / "games-dice-smoke" / "figure.png").is_file()


def test_a_claim_that_does_not_hold_is_a_result(command):
    ended = command("study", "run", "games/loaded")
    assert ended.code == 0
    assert ended.out.startswith("games/loaded, default: does not hold\n")


def test_all_studies_are_run_where_it_is_said(command, tmp_path):
    ended = command("study", "run", "--all", "--scale", "smoke", "--out", tmp_path / "here")
    assert ended.code == 0
    folders = sorted(path.name for path in (tmp_path / "here").iterdir())
    assert folders == ["games-dice-smoke", "games-loaded-smoke"]


def test_a_study_that_cannot_be_run_does_not_keep_the_others(command, games, monkeypatch):
    def unreachable(_):
        raise ConnectionError("mnist could not be fetched.")

    monkeypatch.setitem(games, "games/dice", replace(DICE, needs=unreachable))
    ended = command("study", "run", "--all")
    assert ended.code == 2
    assert ended.out.startswith("games/loaded, default: ")
    assert ended.err == "separatrix: games/dice: mnist could not be fetched.\n"


def test_every_study_that_cannot_be_run_is_a_line(command, games, monkeypatch):
    def missing(_):
        raise ImportError("needs timm.")

    for study in (DICE, LOADED):
        monkeypatch.setitem(games, study.name, replace(study, needs=missing))
    ended = command("study", "run", "--all")
    assert ended.code == 2
    assert ended.err.splitlines() == [f"separatrix: {name}: needs timm." for name in games]


def test_an_interrupted_study_goes_on_with_the_same_command(command, games, monkeypatch):
    asked = []

    def hindered(settings, laboratory, case):
        asked.append(case.settings["die"])
        if asked == [0, 1]:
            raise KeyboardInterrupt
        return throws(settings, laboratory, case)

    monkeypatch.setitem(games, "games/dice", replace(DICE, measure=hindered))
    ended = command("study", "run", "games/dice")
    assert ended.code == 3
    assert ended.complaint == "interrupted; to go on: separatrix study run games/dice"
    assert command("study", "run", "games/dice").code == 0
    assert asked == [0, 1, 1, 2]


def test_progress_is_not_on_stdout(command, monkeypatch):
    monkeypatch.setattr("separatrix.cli.progress._PAUSE", 0.0)
    ended = command("study", "run", "games/dice")
    assert "separatrix: games/dice, default: 33%" in ended.err
    assert "33%" not in ended.out


def test_networks_are_trained_and_data_found_before_the_study_begins(command, games, monkeypatch):
    source = TwoClass(dim=4, samples=40)
    recipe = NetworkRecipe("mlp", source, Standard(epochs=1))
    needs = Needs({"mlp": recipe}, {"made": Samples(source, 5), "bundled": Samples(Named("sample"), 5)})
    monkeypatch.setitem(games, "games/dice", replace(DICE, needs=lambda _: needs))
    monkeypatch.setattr("separatrix.cli.progress._PAUSE", 0.0)
    ended = command("study", "run", "games/dice")
    assert ended.code == 0
    titles = [line.split(":")[1].strip() for line in ended.err.splitlines()]
    assert list(dict.fromkeys(titles)) == [recipe.stem, "games/dice, default"]


def test_the_ledger_takes_over_what_was_found(command, tmp_path):
    command("study", "run", "--all", "--scale", "smoke")
    ended = command("study", "ledger")
    assert (ended.code, ended.out, ended.err) == (0, "the ledger is docs/reproduction.md\n", "")
    page = (tmp_path / "docs" / "reproduction.md").read_text("utf-8")
    assert all(name in page for name in ("games/dice", "games/loaded"))
