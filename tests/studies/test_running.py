"""Studies carried out: kept, continued, judged, and written into the ledger."""

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure

from separatrix.runs import read_run
from separatrix.studies import Case, Finding, Laboratory, Measured, Needs, Samples, Study, run_study, write_ledger
from separatrix.studies.ledger import page
from separatrix.studies.verdicts import above, bootstrap, median
from separatrix.tables import Column, as_table
from separatrix.training import Named


@dataclass(frozen=True)
class Dice:
    """How many throws of how many dice."""

    dice: int = 3
    throws: int = 20


COLUMNS = (Column("die", "label"), Column("eyes", "count"))


def throws(settings, _, case):
    die = int(case.settings["die"])
    eyes = np.random.default_rng(die).integers(1, 7, size=settings.throws)
    return Measured(as_table(COLUMNS, {"die": die, "eyes": eyes}, settings.throws), {"first": torch.tensor([die])})


def drawn(rows, pictures):
    figure = Figure()
    figure.subplots().plot(rows["eyes"])
    assert pictures["first"].tolist() == rows.values("die")
    return figure


STUDY = Study(
    name="games/dice",
    question="Do dice show more than two eyes?",
    source="Hands",
    published={"median": "3.5"},
    scales={"smoke": Dice(), "default": Dice(throws=50), "paper": Dice(throws=90)},
    needs=lambda _: Needs({}, {}),
    cases=lambda settings, _: [Case("", {"die": die}) for die in range(settings.dice)],
    measure=throws,
    quantities=lambda rows: {"median": f"{median(rows['eyes'])}", "throws": str(len(rows))},
    claims=lambda settings, rows: [above("the median is above two", bootstrap(median, rows["eyes"]), 2)],
    draw=drawn,
    substitutes={"smoke": "few throws"},
    notes="Dice are cubes.",
)


def test_a_finding_is_kept_beside_its_run(tmp_path):
    finding = run_study(STUDY, "smoke", tmp_path / "run")
    assert finding == Finding.read(tmp_path / "run" / "finding.json")
    assert finding.verdict == "holds"
    assert finding.rows == 60
    assert finding.measured["throws"] == "60"
    assert finding.substitute == "few throws"
    assert (tmp_path / "run" / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert read_run(tmp_path / "run").manifest.state == "complete"


class Interrupted(Exception):
    """Stands for whatever ends a process."""


def test_an_interrupted_study_goes_on_where_it_was(tmp_path):
    asked = []

    def hindered(settings, laboratory, case):
        asked.append(case.settings["die"])
        if asked == [0, 1]:
            raise Interrupted
        return throws(settings, laboratory, case)

    with pytest.raises(Interrupted):
        run_study(replace(STUDY, measure=hindered), "smoke", tmp_path / "run")
    finding = run_study(replace(STUDY, measure=hindered), "smoke", tmp_path / "run")
    assert asked == [0, 1, 1, 2]
    whole = run_study(STUDY, "smoke", tmp_path / "whole")
    assert finding.measured == whole.measured
    assert read_run(tmp_path / "run").table("games-dice").equals(read_run(tmp_path / "whole").table("games-dice"))


def test_another_scale_needs_another_folder(tmp_path):
    run_study(STUDY, "smoke", tmp_path)
    with pytest.raises(ValueError, match=r"`config` must be that of the run in .*; got scale: smoke → default"):
        run_study(STUDY, "default", tmp_path)


def test_an_unknown_scale_is_refused(tmp_path):
    with pytest.raises(ValueError, match="`scale` must be one of 'smoke', 'default', 'paper'; got 'huge'"):
        run_study(STUDY, "huge", tmp_path)


def test_progress_is_told_unit_by_unit(tmp_path):
    told = []
    run_study(STUDY, "smoke", tmp_path, progress=told.append)
    assert [progress.done for progress in told] == [0, 1, 2, 3]


def test_samples_are_drawn_by_chance_and_the_same_every_time():
    samples = Samples(Named("sample"), 20)
    data = samples.load()
    assert len(data) == 20
    assert (data.ids.diff() > 0).all()
    assert torch.equal(data.ids, samples.load().ids)
    assert not torch.equal(data.ids, replace(samples, seed=1).load().ids)
    assert len(Samples(Named("sample"), 10**6).load()) == 1000


def test_a_laboratory_names_its_samples_by_their_content():
    laboratory = Laboratory(Needs({}, {"few": Samples(Named("sample"), 5)}))
    assert laboratory.hashes == {"samples of few": laboratory.data("few").fingerprint}
    assert laboratory.ids("few") == tuple(laboratory.data("few").ids.tolist())
    assert laboratory.networks == laboratory.seeds == ()


def test_the_ledger_shows_published_beside_measured(tmp_path):
    for scale in ("default", "smoke"):
        run_study(STUDY, scale, tmp_path / "runs" / scale)
    path = write_ledger(tmp_path / "runs", tmp_path / "docs")
    text = path.read_text("utf-8")
    assert text.index("games/dice](#games-dice-smoke)") < text.index("games/dice](#games-dice-default)")
    assert "| median | 3.5 | " in text
    assert "| throws | – | 60 |" in text
    assert "**holds**: the median is above two" in text
    assert "Substitute: few throws." in text
    assert "`separatrix study run games/dice --scale smoke`" in text
    for scale in ("smoke", "default"):
        assert (path.parent / "reproduction" / f"games-dice-{scale}.png").exists()


def test_the_ledger_keeps_what_is_not_run_again(tmp_path):
    run_study(STUDY, "smoke", tmp_path / "one" / "run")
    run_study(STUDY, "default", tmp_path / "two" / "run")
    for runs in ("one", "two", "none"):
        text = write_ledger(tmp_path / runs, tmp_path / "docs").read_text("utf-8")
    assert "games-dice-smoke" in text
    assert "games-dice-default" in text


def test_a_study_that_claims_nothing_is_reported(tmp_path):
    finding = run_study(replace(STUDY, claims=lambda settings, rows: ()), "smoke", tmp_path)
    assert finding.verdict == "reported"
    assert "no claim at this scale" in page([finding])


def test_a_finding_that_was_edited_or_leads_elsewhere_is_refused(tmp_path):
    finding = run_study(STUDY, "smoke", tmp_path / "runs" / "one")
    path = tmp_path / "runs" / "one" / "finding.json"
    path.write_text(path.read_text("utf-8").replace('"holds"', '"fails"'), "utf-8")
    with pytest.raises(ValueError, match=r"`finding` must be as it was stored; got a changed .*finding\.json"):
        write_ledger(tmp_path / "runs", tmp_path / "docs")
    replace(finding, scale="../../../gone").write(path)
    with pytest.raises(ValueError, match="`finding` must be of a study and a scale"):
        write_ledger(tmp_path / "runs", tmp_path / "docs")
    assert not list(tmp_path.glob("gone*"))


def test_repeated_cases_are_refused(tmp_path):
    twice = replace(STUDY, cases=lambda settings, _: [Case("", {"die": 0})] * 2)
    with pytest.raises(ValueError, match="`cases` must all differ; got 1 repeated"):
        run_study(twice, "smoke", tmp_path)


def test_a_finding_is_plain_json(tmp_path):
    run_study(STUDY, "smoke", tmp_path)
    content = json.loads((tmp_path / "finding.json").read_text("utf-8"))
    assert content["outcomes"][0]["verdict"] == "holds"
    assert content["scale"] == "smoke"
