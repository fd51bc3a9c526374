"""``separatrix survey`` and ``merge``: plan, tables, report, exit codes."""

import re

import pytest

from separatrix.runs import read_run

MODEL = ("survey", "--model", "tests.cli.surveyed:network", "--data", "sample", "--samples", "12")
QUICK = ("--questions", "tests.survey.toy:LENGTHS", "tests.survey.toy:SIGNS")


def test_a_survey_says_its_plan_and_where_everything_is(command, tmp_path):
    ended = command(*MODEL, *QUICK, "--out", str(tmp_path / "run"))
    assert (ended.code, ended.err) == (0, "")
    assert "How long are the points?" in ended.out
    assert "12 of 1,000 samples" in ended.out
    assert re.search(r"about \d+:\d\d:\d\d in all", ended.out)
    assert f"report  {tmp_path / 'run' / 'report.html'}" in ended.out
    assert read_run(tmp_path / "run").manifest.state == "complete"


def test_a_dry_run_does_nothing(command, tmp_path):
    ended = command(*MODEL, *QUICK, "--dry-run", "--out", str(tmp_path / "run"))
    assert (ended.code, ended.err) == (0, "")
    assert "How long are the points?" in ended.out
    assert not (tmp_path / "run").exists()


def test_shares_are_merged(command, tmp_path):
    shares = [str(tmp_path / number) for number in "123"]
    for number, share in enumerate(shares, 1):
        assert command(*MODEL, *QUICK, "--shard", f"{number}/3", "--out", share).code == 0
    ended = command("merge", str(tmp_path / "all"), *shares)
    assert ended.code == 0
    assert (tmp_path / "all" / "report.html").exists()
    command(*MODEL, *QUICK, "--out", str(tmp_path / "whole"))
    tables = [read_run(tmp_path / name).table("lengths") for name in ("all", "whole")]
    assert tables[0].equals(tables[1])


def test_a_missing_share_is_named(command, tmp_path):
    command(*MODEL, *QUICK, "--shard", "1/3", "--out", str(tmp_path / "1"))
    ended = command("merge", str(tmp_path / "all"), str(tmp_path / "1"))
    assert ended.code == 2
    assert "`sources` must hold every unit of their plan between them" in ended.err
    assert len(ended.err.splitlines()) == 1


def test_a_model_that_cannot_be_measured_ends_with_1_and_its_audit(command, tmp_path):
    words = [word.replace(":network", ":probabilities") for word in MODEL]
    ended = command(*words, "--out", str(tmp_path / "run"))
    assert ended.code == 1
    assert "`model` must return logits, before softmax" in ended.err
    assert len(ended.err.splitlines()) == 1
    assert "report  " in ended.out
    assert set(read_run(tmp_path / "run").tables()) == {"samples", "audit"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--model", "lenet"), "`--model` must be one of"),
        (("--data", "no-such.npz"), "`source` must be a file that is there"),
        (("--model", "no.such:thing"), "no module"),
        (("--data", "no-such-data"), "`source` must be one of"),
        (("--questions", "no-such"), "`--questions` must be among audit, margins"),
        (("--questions", "tests.survey.toy:model"), "be a Question; got function"),
        (("--sections", "no.such:SECTION"), "`--sections` must be among"),
        (("--shard", "2"), "`--shard` must be i/n"),
        (("--shard", "4/3"), "`shard` must be i/n"),
        (("--workers", "0"), "`--workers` must be"),
        (("--samples", "0"), "`samples` must be"),
        (("--device", "tpu"), "`--device` must be a device"),
    ],
)
def test_bad_requests_end_with_2_and_one_line(command, tmp_path, words, message):
    options = dict(zip(MODEL[1::2], MODEL[2::2], strict=True)) | {"--out": str(tmp_path / "run")} | dict([words])
    quick = () if words[0] == "--questions" else QUICK
    ended = command("survey", *(word for option in options.items() for word in option), *quick)
    assert ended.code == 2
    assert message in ended.err
    assert len(ended.err.splitlines()) == 1


def test_units_are_given_a_channel_at_a_time_or_all_at_once(command, tmp_path):
    words = ("--mean", "0.3", "--std", "0.5", "--bounds", "0", "1")
    assert command(*MODEL, *QUICK, *words, "--out", str(tmp_path / "one")).code == 0
    assert read_run(tmp_path / "one").manifest.config["bounds"] == [0, 1]
    several = command(*MODEL, *QUICK, "--mean", "0.3", "0.2", "0.1", "--out", str(tmp_path / "three"))
    assert several.code != 0
    assert "Unused" not in several.err


def test_units_of_a_network_with_a_name_are_its_own(command):
    ended = command("survey", "--model", "lenet/mnist", "--bounds", "0", "255")
    assert ended.code == 2
    assert "`--bounds` must be left out with lenet/mnist, which has its own" in ended.err


def test_what_the_audit_found_wanting_is_said(command, tmp_path):
    words = [word.replace(":network", ":noisy") for word in MODEL]
    ended = command(*words, "--questions", "audit", "--out", str(tmp_path / "run"))
    assert ended.code == 0
    assert re.search(r"audit   \d+ checks failed: ", ended.out)


@pytest.mark.slow
def test_all_questions_are_shared_among_workers(command, tmp_path):
    assert command(*MODEL, "--workers", "2", "--out", str(tmp_path / "run")).code == 0
    assert read_run(tmp_path / "run").manifest.state == "complete"


def test_data_must_be_named_for_a_model_that_brings_none(command, tmp_path):
    ended = command("survey", "--model", "tests.cli.surveyed:network", "--out", str(tmp_path))
    assert ended.code == 2
    assert "`--data` must be given with tests.cli.surveyed:network" in ended.err
