"""Rules judged on runs: the numbers, the verdicts, and what is refused."""

import math
import re
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.survey.gate_runs import Finding, audit_table, margins, run_of, survey_of, survey_tables
from tests.survey.test_gate_rules import documented

from separatrix.boundary import percentile
from separatrix.runs import read_run
from separatrix.survey.gate import intervals, judge, parse, read_rules, require_whole
from separatrix.survey.gate.evaluation import verdict
from separatrix.survey.gate.output import as_junit, as_line, shown
from separatrix.survey.gate.rules import COMPARISONS
from separatrix.tables import Rows

FINDINGS = [Finding("eval mode", "passed"), Finding("bounds", "failed"), Finding("doubled steps", "not asked")]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A survey of 400 samples."""
    return survey_of(tmp_path_factory.mktemp("survey") / "run", units=4)


@pytest.fixture
def findings(monkeypatch):
    """What the audit is said to have found."""
    found = list(FINDINGS)
    stand_in = SimpleNamespace(findings=lambda run: tuple(found))
    monkeypatch.setitem(sys.modules, "separatrix.report.findings", stand_in)
    return found


def asked(run, rule, confidence=0.95):
    (judged,) = judge(run, [parse(rule)], confidence)
    return judged


def estimate(run, quantity):
    return asked(run, f"{quantity} >= 0").measured.estimate


def rows(run, table):
    return Rows.of(run.table(table))


@pytest.mark.parametrize("bound", [-1.0, 0.5, 1.0, 1.5, 2.0, 3.0, math.inf])
@pytest.mark.parametrize(("low", "high"), [(1.0, 2.0), (1.0, 1.0), (0.0, math.inf), (math.inf, math.inf)])
def test_a_rule_and_its_negation_never_both_hold(low, high, bound):
    opposite = {">=": "<", ">": "<=", "<=": ">", "<": ">="}
    mirrored = {"holds": "fails", "fails": "holds", "undecided": "undecided"}
    for comparison in COMPARISONS:
        found = verdict(comparison, bound, low, high)
        assert verdict(opposite[comparison], bound, low, high) == mirrored[found]


@settings(deadline=None)
@given(st.lists(st.floats(-9, 9), min_size=2, max_size=2), st.floats(-9, 9), st.floats(0, 1), st.floats(0, 1))
def test_a_narrower_interval_never_turns_a_clear_verdict(ends, bound, start, stop):
    low, high = sorted(ends)
    inner = sorted(min(max(low + (high - low) * share, low), high) for share in (start, stop))
    for comparison in COMPARISONS:
        clear = verdict(comparison, bound, low, high)
        assert clear in ("undecided", verdict(comparison, bound, *inner))


def test_numbers_are_those_of_the_table(run):
    held = rows(run, "margins")
    lengths = np.sort(held["l2"])
    for percent in (1, 5, 50, 90, 99):
        assert estimate(run, f"p{percent}(margins.l2)").value == percentile(torch.tensor(lengths), percent / 100)
    assert estimate(run, "median(margins.l2)") == estimate(run, "p50(margins.l2)")
    assert estimate(run, "min(margins.l2)").value == lengths[0]
    assert estimate(run, "max(margins.l2)").value == lengths[-1] == math.inf
    assert estimate(run, "mean(margins.l2)").value == math.inf
    found = held["l2_found"]
    assert estimate(run, "mean(margins.l2 where l2_found)").value == pytest.approx(held["l2"][found].mean(), rel=1e-12)
    assert estimate(run, "share(margins.l2_found)").value == found.mean()
    assert estimate(run, "share(margins.l2 > 0.5)").value == (lengths > 0.5).mean()
    assert estimate(run, "count(margins.l2_found)").value == found.sum()
    assert estimate(run, "count(margins.l2 > 0.5)").value == (lengths > 0.5).sum()
    assert estimate(run, "count(margins.l2)").value == len(lengths)
    assert estimate(run, "count(margins.l2_alignment)").value == found.sum()
    assert estimate(run, 'count(audit.check != "bounds")').value == 2


def test_filters_choose_rows(run):
    held = rows(run, "bands")
    low = held.chosen((held["band"] < 3) & (held["distance"] > 1))
    found = asked(run, "min(bands.distance where band < 3 and distance > 1) > 0").measured
    assert (found.estimate.value, found.rows) == (low["distance"].min(), len(low))
    assert found.samples == len(np.unique(low["id"])) < found.rows


def test_accuracy_is_the_share_of_answers_that_are_labels(run):
    held, labels = rows(run, "margins"), rows(run, "samples")["label"]
    judged = asked(run, "accuracy >= 0.5")
    assert judged.measured.estimate.value == (held["own"] == labels).mean()
    assert (judged.verdict, judged.measured.samples) == ("holds", 400)


def test_accuracy_takes_the_answers_from_wherever_they_are(tmp_path):
    tables = survey_tables(60, 3)
    whole = run_of(tmp_path / "whole", tables)
    without = run_of(tmp_path / "without", {name: tables[name] for name in ("robustness", "samples")})
    assert estimate(without, "accuracy") == estimate(whole, "accuracy")
    assert asked(without, "accuracy > 0").measured.samples == 60


def test_labels_are_found_by_id_and_missing_ones_left_out(tmp_path):
    tables = survey_tables(60, 3)
    shuffled = tables["samples"].take(np.random.default_rng(0).permutation(60)[:50])
    judged = asked(run_of(tmp_path / "run", {**tables, "samples": shuffled}), "accuracy > 0")
    own, samples = tables["margins"].column("own").to_pylist(), Rows.of(shuffled)
    right = [own[number] == label for number, label in zip(samples["id"], samples["label"], strict=True)]
    assert judged.measured.estimate.value == np.mean(right)
    assert (judged.measured.samples, judged.measured.left_out) == (50, 10)


@pytest.mark.parametrize("norm", ["ℓ∞", "linf", "Linf"])
@pytest.mark.parametrize("radius", ["8/255", "0.0314", "0.031372549"])
def test_robust_accuracy_is_of_one_attack_and_one_radius(run, norm, radius):
    held, labels = rows(run, "robustness"), rows(run, "samples")["label"]
    chosen = held.where("norm", "ℓ∞").where("method", "PGD").where("radius", 8 / 255)
    truth = ((chosen["own"] == labels) & ~chosen["fooled"]).mean()
    judged = asked(run, f'robust_accuracy(norm="{norm}", radius={radius}, method="PGD") > 0')
    measured = judged.measured
    assert measured.estimate.value == truth
    assert (measured.samples, measured.column.kind, measured.column.norm) == (400, "upper bound", "ℓ∞")


def test_verdicts_follow_the_interval_and_not_the_number(run):
    found = estimate(run, "median(margins.l2)")
    cases = [(found.low, "holds"), (found.value, "undecided"), (found.high, "undecided"), (found.high + 1e-9, "fails")]
    for bound, expected in cases:
        assert asked(run, f"median(margins.l2) >= {bound!r}").verdict == expected
    assert asked(run, f"median(margins.l2) <= {found.high!r}").verdict == "holds"
    assert asked(run, f"median(margins.l2) < {found.low!r}").verdict == "fails"


def test_few_samples_leave_a_rule_undecided_and_more_decide_it(tmp_path):
    verdicts = [
        asked(survey_of(tmp_path / str(samples), samples), "median(margins.l2) >= 0.8").verdict for samples in (5, 2000)
    ]
    assert verdicts == ["undecided", "holds"]


def test_more_samples_seldom_turn_a_clear_verdict_round():
    """Samples made larger step by step: of a true median of 1, `>= 0.9` holds and `>= 1.1` fails in the end."""
    turned = 0
    for seed in range(100):
        lengths = np.random.default_rng(seed).lognormal(sigma=0.5, size=3000)
        found = [intervals.percentile(lengths[:size], np.arange(size), 0.5, 0.95, 0.0) for size in (10, 50, 200, 3000)]
        for bound, end in ((0.9, "holds"), (1.1, "fails")):
            verdicts = [verdict(">=", bound, estimate.low, estimate.high) for estimate in found]
            assert verdicts[-1] == end
            turned += not {"undecided", end}.issuperset(verdicts)
    assert turned <= 4


def test_the_order_of_rows_and_their_units_play_no_part(run, tmp_path):
    tables = survey_tables(400, 0)
    draw = np.random.default_rng(5)
    shuffled = {name: table.take(draw.permutation(table.num_rows)) for name, table in tables.items()}
    other = run_of(tmp_path / "other", shuffled)
    for quantity in (
        "median(margins.l2)",
        "p5(bands.distance where band = 1)",
        "mean(bands.distance where band != 1)",
        "mean(margins.l2 where l2_found)",
        "share(margins.l2 > 0.7)",
        "accuracy",
        'robust_accuracy(norm="ℓ2", radius=2/255, method="FGSM")',
    ):
        assert estimate(run, quantity) == estimate(other, quantity)


def test_infinite_distances_count_and_values_that_are_none_do_not(tmp_path):
    run = run_of(tmp_path / "run", {"margins": margins([1.0] * 40 + [math.inf] * 60)})
    distance = asked(run, "median(margins.l2) >= 5")
    assert (distance.verdict, distance.measured.infinite, distance.measured.left_out) == ("undecided", 60, 0)
    assert distance.measured.estimate.value == math.inf
    alignment = asked(run, "median(margins.l2_alignment) >= 0.99").measured
    assert (alignment.rows, alignment.left_out, alignment.infinite) == (40, 60, 0)


def test_a_mean_says_what_makes_it_infinite(run):
    judged = asked(run, "mean(margins.l2) >= 0.5")
    assert judged.measured.note == "infinite values make the mean infinite"
    assert asked(run, "mean(margins.l2 where l2_found) >= 0.5").measured.note == ""


def test_nothing_measured_decides_nothing(tmp_path):
    run = run_of(tmp_path / "run", {"margins": margins([math.inf] * 30)})
    for rule in (
        "median(margins.l2_alignment) >= 0",
        "max(margins.l2_alignment) < 9",
        "share(margins.l2_alignment>0)<2",
    ):
        judged = asked(run, rule)
        assert (judged.verdict, judged.measured.rows, judged.measured.left_out) == ("undecided", 0, 30)
        assert math.isnan(judged.measured.estimate.value)


def test_what_has_no_interval_is_decided_by_the_number(run):
    for quantity in ("min(margins.l2)", "count(margins.l2)", "max(margins.linf)"):
        measured = asked(run, f"{quantity} >= 0").measured
        assert not measured.interval
        assert measured.estimate.low == measured.estimate.value == measured.estimate.high


def test_a_higher_confidence_widens_intervals(run):
    for quantity in ("median(margins.l2)", "mean(margins.l2 where l2_found)", "accuracy"):
        narrow, wide = (asked(run, f"{quantity} > 0", confidence).measured.estimate for confidence in (0.5, 0.99))
        assert wide.low < narrow.low <= narrow.value <= narrow.high < wide.high


@pytest.mark.parametrize("confidence", [0.0, 0.49, 1.0, math.nan])
def test_a_confidence_that_means_nothing_is_refused(run, confidence):
    with pytest.raises(ValueError, match=r"`confidence` must be a number from 0\.5 to below 1"):
        asked(run, "accuracy > 0", confidence)


def test_findings_that_failed_are_counted(run, findings):
    judged = asked(run, "audit.failed <= 0")
    assert (judged.verdict, judged.measured.estimate.value) == ("fails", 1.0)
    assert judged.measured.note == "1 of 3 checks were not asked"
    assert "2 checks made" in as_line(judged)
    findings[1] = replace(findings[1], verdict="passed")
    assert asked(run, "audit.failed <= 0").verdict == "holds"


def test_what_is_told_is_no_check_and_what_is_undecided_is_told(run, findings):
    findings[:] = [Finding(name, verdict) for name, verdict in zip("abc", ("passed", "told", "undecided"), strict=True)]
    judged = asked(run, "audit.failed <= 0")
    assert (judged.verdict, judged.measured.rows) == ("holds", 2)
    assert judged.measured.note == "1 of them undecided: more samples would tell"


def test_a_line_stands_once_in_each_case(run):
    verdicts = judge(
        run, [parse(f"{quantity} >= 1") for quantity in ("median(margins.l2)", "accuracy", "p99(margins.l2)")]
    )
    assert {one.verdict for one in verdicts} == {"holds", "fails", "undecided"}
    for allowed in (False, True):
        text = as_junit(verdicts, run="x", confidence=0.95, warnings=(), allow_undecided=allowed).decode()
        text = text.replace("&gt;", ">")
        assert [text.count(as_line(one)) for one in verdicts] == [1, 1, 1]
        assert [text.count(shown(one)) for one in verdicts] == [1, 1, 1]


def test_the_findings_are_those_of_the_report(run):
    from separatrix.report.findings import findings

    verdicts = [finding.verdict for finding in findings(run)]
    judged = asked(run, "audit.failed <= 0")
    assert judged.measured.estimate.value == verdicts.count("failed")
    assert judged.measured.rows == len(verdicts) - verdicts.count("not asked") - verdicts.count("told") > 0


def test_an_audit_that_was_not_asked_has_not_passed(tmp_path, findings):
    run = run_of(tmp_path / "run", {"margins": margins([1.0])})
    with pytest.raises(ValueError, match="no table audit: that was not asked"):
        asked(run, "audit.failed <= 0")


def test_an_audit_of_which_nothing_was_asked_decides_nothing(tmp_path, findings):
    run = run_of(tmp_path / "run", {"audit": audit_table([True])})
    findings[:] = [Finding("eval mode", "not asked")]
    assert asked(run, "audit.failed <= 0").verdict == "undecided"


def test_every_rule_in_the_docs_can_be_judged(run, findings, tmp_path):
    file = tmp_path / "rules.txt"
    file.write_text(documented(), "utf-8")
    judged = judge(run, read_rules([], file))
    assert len(judged) == 10
    assert {one.verdict for one in judged} <= {"holds", "fails", "undecided"}
    assert not any(math.isnan(one.measured.estimate.value) for one in judged)


REFUSED = [
    ("median(margin.l2) >= 1", "the run has no table margin: that was not asked; the tables are samples, margins,"),
    ("median(margins.l3) >= 1", "the table margins has no column l3; it has id, own, l2, "),
    ("median(margins.l2 where l3 = 1) >= 1", "the table margins has no column l3; it has id, own, l2, "),
    (
        "median(margins.own) > 1",
        "median needs a column of numbers; margins.own is of the kind label: share and count ask",
    ),
    ("max(margins.id) > 1", "max needs a column of numbers; margins.id is of the kind identity"),
    ("mean(margins.l2_found) > 1", "mean needs a column of numbers; margins.l2_found is a flag"),
    ("p5(audit.check) > 1", "p5 needs a column of numbers; audit.check is a text"),
    ("share(margins.l2) > 1", "l2 is no flag: ask for share(margins.l2 > 0.5), or the like."),
    ("share(audit.check) > 1", 'check is no flag: ask for share(audit.check = "…"), or the like.'),
    ("median(margins.l2 where own = 11) > 1", "own of the table margins is never 11; it is 0, 1, 2,"),
    ("median(margins.l2 where own = 1.001) > 1", "own of the table margins is never 1.001; it is 0, 1, 2,"),
    ("share(robustness.fooled where radius = 0.031) > 1", "radius of the table robustness is never 0.031; it is"),
    ('share(robustness.fooled where method = "pgd") > 1', 'method of the table robustness is never "pgd"; it is'),
    (
        'share(robustness.fooled where norm != "l1") > 1',
        'norm of the table robustness is never "l1"; it is "ℓ∞", "ℓ2".',
    ),
    ('share(robustness.fooled where norm > "l1") > 1', "norm of the table robustness has no order: use = or !=; got"),
    ("share(robustness.fooled where fooled > true) > 1", "fooled of the table robustness has no order"),
    ("share(robustness.fooled where fooled = 1) > 1", "fooled of the table robustness is a flag: compare it with true"),
    ("share(robustness.fooled where norm = 2) > 1", "norm of the table robustness is a text: compare it with one in"),
    ('median(margins.l2 where own = "7") > 1', "own of the table margins is a number: compare it with one; got"),
    ("median(margins.l2 where l2 < 0) > 1", "the table margins has no rows where l2 < 0."),
    ("median(margins.l2 where own = 1 and own = 2) > 1", "the table margins has no rows where own = 1 and own = 2."),
    ('robust_accuracy(norm="ℓ2", radius=1, method="PGD") > 0', "radius of the table robustness is never 1; it is"),
]


@pytest.mark.parametrize(("rule", "message"), REFUSED)
def test_a_rule_about_what_is_not_there_is_refused(run, rule, message):
    with pytest.raises(ValueError, match=re.escape(message)) as refused:
        asked(run, rule)
    assert refused.value.__notes__ == [f"In the rule `{rule}`"]


def test_every_rule_that_is_refused_is_named(run):
    with pytest.raises(ExceptionGroup) as refused:
        judge(run, [parse("min(a.b) > 1"), parse("accuracy > 0"), parse("min(c.d) > 1")])
    assert [error.__notes__ for error in refused.value.exceptions] == [
        ["In the rule `min(a.b) > 1`"],
        ["In the rule `min(c.d) > 1`"],
    ]


def test_half_a_run_is_refused(tmp_path):
    half = survey_of(tmp_path / "run", 40, units=2, done=7)
    with pytest.raises(ValueError, match=r"`RUN` must be complete; got 7 of 10 units in .*, partial\. Finish it"):
        require_whole(half)


def test_a_complete_run_that_has_lost_a_unit_is_refused(tmp_path):
    run = survey_of(tmp_path / "run", 40, units=2)
    require_whole(run)
    next(iter((run.folder / "units").glob("*.json"))).unlink()
    with pytest.raises(ValueError, match="got 9 of 10 units"):
        require_whole(read_run(run.folder))
