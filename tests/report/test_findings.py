"""Findings: each fails on the numbers that speak against it, and on no others; what is absent is said to be."""

from __future__ import annotations

import copy

import numpy as np
import pyarrow
import pytest

from separatrix.report.findings import Finding, findings
from separatrix.runs import Part, Unit, carry_out, open_run
from separatrix.survey.audit import CHECKS

COUNT = 200
IDS = np.arange(1000, 1000 + COUNT)


def sound():
    """The tables of a survey in which nothing speaks against the numbers."""
    l2 = np.linspace(0.1, 2, COUNT)
    flags, whole = np.ones(COUNT, dtype=bool), np.zeros(COUNT, dtype=int)
    margins = {"id": IDS, "own": whole, "l2_linf": l2 / 5, "linf_l2": 3 * l2}
    for norm, length in (("l2", l2), ("linf", l2 / 10)):
        margins |= {norm: length, f"{norm}_found": flags.copy(), f"{norm}_again": flags.copy()}
        margins |= {f"{norm}_alignment": np.full(COUNT, 0.99)}
    few = slice(0, 32)
    controls = {"id": IDS[few], "l2": l2[few].copy(), "doubled": 0.99 * l2[few], "starts": 0.98 * l2[few]}
    audit = {
        "id": -1,
        "check": [check.name for check in CHECKS],
        "value": 0.0,
        "limit": 0.5,
        "passed": [True] * len(CHECKS),
    }
    return {
        "samples": {"id": IDS, "label": whole.copy()},
        "audit": {**audit, "evidence": "All is well."},
        "margins": margins,
        "controls": {**controls, "gradient_free": 6 * l2[few]},
        "bands": within(l2, bands=3),
        "directions": {**within(4 * l2, bands=3), "kind": "random"},
        "robustness": robustness(l2),
    }


def within(l2, bands):
    return {"id": np.repeat(IDS, bands), "band": np.tile(np.arange(bands), COUNT), "distance": np.repeat(2 * l2, bands)}


def robustness(l2):
    rows = [
        (name, norm, method, radius, factor * radius > size * margin)
        for norm, size in (("ℓ∞", 0.1), ("ℓ2", 1.0))
        for method, factor in (("FGSM", 0.8), ("PGD", 0.99))
        for radius in (0.5 * size, size)
        for name, margin in zip(IDS, l2, strict=True)
    ]
    columns = map(np.array, zip(*rows, strict=True))
    return dict(zip(("id", "norm", "method", "radius", "fooled"), columns, strict=True))


def run_of(folder, tables, parts=1, classes=("a", "b", "c", "d")):
    """A run that holds these tables, each in so many parts."""
    config = {"survey": 1, "classes": list(classes), "samples": COUNT}
    units = [Unit(name, "m", "c", (part, *range(10, 41))) for name in tables for part in range(parts)]

    def work(unit):
        columns = {key: np.atleast_1d(np.asarray(value)) for key, value in tables[unit.name].items()}
        rows = max(map(len, columns.values()))
        full = {key: np.resize(value, rows) for key, value in columns.items()}
        return Part({unit.name: pyarrow.table({key: value[unit.ids[0] :: parts] for key, value in full.items()})})

    return carry_out(open_run(folder, config), units, work)


def found(folder, tables, parts=1, **settings):
    return {finding.name: finding for finding in findings(run_of(folder, tables, parts, **settings))}


def verdicts(found, verdict):
    return {name for name, finding in found.items() if finding.verdict == verdict}


def put(table, column, value, share=1.0):
    """Make the first rows of a column other ones."""

    def altered(tables):
        held = np.array(tables[table][column])
        count = max(1, round(share * len(held)))
        held[:count] = value(held[:count]) if callable(value) else value
        tables[table][column] = held

    return altered


def single_step_wins(tables):
    rows = tables["robustness"]
    rows["fooled"][(rows["method"] == "PGD") & (rows["norm"] == "ℓ∞")] = False


def fooled_early(tables):
    rows = tables["robustness"]
    rows["fooled"][(rows["method"] == "PGD") & (rows["norm"] == "ℓ2")] = True


def unreachable(tables):
    margins = tables["margins"]
    margins["l2_found"][:20], margins["l2"][:20] = False, np.inf


AGAINST = {
    "labels": (put("margins", "own", 1), {"labels"}),
    "again-l2": (put("margins", "l2_again", False, 0.1), {"again-l2"}),
    "again-linf": (put("margins", "linf_again", False, 0.1), {"again-linf"}),
    "not found": (unreachable, {"found-l2", "order-l2", "order-bands", "order-directions", "attacked-below-l2"}),
    "alignment-l2": (put("margins", "l2_alignment", 0.5, 0.5), {"alignment-l2"}),
    "alignment-linf": (put("margins", "linf_alignment", 0.5, 0.8), {"alignment-linf"}),
    "linf beaten": (put("margins", "l2_linf", lambda length: 0.4 * length, 0.1), {"order-linf"}),
    "l2 beaten": (put("margins", "linf_l2", lambda length: 0.3 * length, 0.1), {"order-l2"}),
    "steps": (put("controls", "doubled", lambda length: 0.5 * length), {"controls-doubled"}),
    "starts": (put("controls", "starts", lambda length: 0.9 * length), {"controls-starts"}),
    "only with starts": (
        put("controls", "l2", np.inf),
        {"controls-doubled", "controls-starts", "controls-gradient-free"},
    ),
    "blind": (put("controls", "gradient_free", 0.01, 0.01), {"controls-gradient-free"}),
    "bands": (put("bands", "distance", lambda length: 0.4 * length, 0.1), {"order-bands"}),
    "directions": (put("directions", "distance", lambda length: 0.1 * length, 0.1), {"order-directions"}),
    "single step": (single_step_wins, {"single-step-linf"}),
    "fooled early": (fooled_early, {"attacked-below-l2"}),
    "audit": (put("audit", "passed", False, 0.01), {"audit-eval-mode"}),
}

HARMLESS = {
    "one crossing": put("margins", "l2_again", False, 0.005),
    "some corners": put("margins", "linf_alignment", 0.8, 0.3),
    "one band": put("bands", "distance", lambda length: 0.4 * length, 0.001),
    "wrong answers": put("margins", "own", 1, 0.4),
    "a hair": put("controls", "gradient_free", lambda length: length / 6 * 0.995, 0.5),
    "margins of zero": put("controls", "l2", 0.0, 0.1),
    "no alignment known": put("margins", "l2_alignment", np.nan, 0.5),
    "no boundary within": put("bands", "distance", np.inf, 0.5),
}


TOLD = {"attacked-above-l2", "attacked-above-linf"}


def test_nothing_speaks_against_sound_numbers(tmp_path):
    seen = found(tmp_path, sound())
    assert verdicts(seen, "told") == TOLD
    assert verdicts(seen, "passed") == set(seen) - TOLD
    assert len(seen) == len(CHECKS) + 19
    for finding in seen.values():
        assert isinstance(finding, Finding)
        assert all((finding.title, finding.value, finding.evidence, finding.samples))


@pytest.mark.parametrize("case", AGAINST)
def test_each_fails_on_what_speaks_against_it_and_no_other(tmp_path, case):
    alter, expected = AGAINST[case]
    tables = sound()
    alter(tables)
    assert verdicts(found(tmp_path, tables), "failed") == expected


def test_every_finding_but_what_is_only_told_can_fail(tmp_path):
    able = set().union(*(expected for _, expected in AGAINST.values())) | {"found-linf", "attacked-below-linf"}
    names = {name for name in found(tmp_path, sound()) if not name.startswith("audit-")}
    assert names - TOLD <= able


@pytest.mark.parametrize("case", HARMLESS)
def test_few_exceptions_are_no_failure(tmp_path, case):
    tables = sound()
    HARMLESS[case](tables)
    assert verdicts(found(tmp_path, tables), "failed") == set()


def test_small_samples_do_not_fail_by_one_case(tmp_path):
    tables = sound()
    tables["margins"] = {name: np.array(column)[:20] for name, column in tables["margins"].items()}
    tables["margins"]["l2_alignment"][:6] = 0.5
    assert found(tmp_path, tables)["alignment-l2"].verdict == "passed"


def test_what_pgd_missed_is_told_and_not_judged(tmp_path):
    tables = sound()
    tables["robustness"]["fooled"][:] = False
    seen = found(tmp_path, tables)["attacked-above-linf"]
    assert seen.verdict == "told"
    assert seen.value.startswith("100.0 %")
    assert "no fault" in seen.evidence


def few(tables, count):
    """The same survey of its first samples alone."""
    first = set(IDS[:count].tolist())
    return {
        name: {
            column: values if np.ndim(values) == 0 or "check" in table else np.array(values)[_rows_of(table, first)]
            for column, values in table.items()
        }
        for name, table in tables.items()
    }


def _rows_of(table, ids):
    return [row for row, sample in enumerate(np.atleast_1d(table["id"]).tolist()) if sample in ids]


SINGLE = {
    "found-l2": put("margins", "l2_found", False, 0.001),
    "order-linf": put("margins", "l2_linf", lambda length: 0.4 * length, 0.001),
    "order-bands": put("bands", "distance", lambda length: 0.1 * length, 0.005),  # all three of one sample
    "order-directions": put("directions", "distance", lambda length: 0.1 * length, 0.005),
    "controls-gradient-free": put("controls", "gradient_free", 0.001, 0.001),
    "controls-doubled": put("controls", "doubled", 0.01, 1.0),
}


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("case", SINGLE)
def test_one_sample_of_few_fails_nothing(tmp_path, case, count):
    tables = few(sound(), count if case != "controls-doubled" else min(count, 5))
    SINGLE[case](tables)
    seen = found(tmp_path, tables)
    assert seen[case].verdict == "undecided"
    assert "ask more" in seen[case].evidence
    assert verdicts(seen, "failed") <= {"attacked-below-l2"}


def test_a_crossing_that_is_none_is_certain_evidence(tmp_path):
    tables = few(sound(), 8)
    put("margins", "l2_again", False, 0.001)(tables)
    assert verdicts(found(tmp_path, tables), "failed") == {"again-l2"}


def test_rows_of_one_sample_count_once(tmp_path):
    """One row of each of 30 samples is no less than three rows of each."""
    tables, all_rows = sound(), sound()
    tables["bands"]["distance"][:90:3] *= 0.1
    all_rows["bands"]["distance"][:90] *= 0.1
    seen = [found(tmp_path / str(n), each)["order-bands"] for n, each in enumerate((tables, all_rows))]
    assert [each.verdict for each in seen] == ["failed"] * 2
    assert seen[0].value == seen[1].value
    assert seen[0].evidence.startswith("30 of 200 samples")
    assert seen[0].samples == COUNT


@pytest.mark.parametrize(
    ("classes", "right", "count", "verdict"),
    [
        (10, 0, 5, "undecided"),
        (10, 0, 20, "failed"),
        (100, 0, 20, "failed"),
        (1000, 0, 20, "failed"),
        (1000, 0, 3, "undecided"),
        (1000, 1, 200, "failed"),
        (10, 18, 200, "failed"),
        (10, 40, 200, "passed"),
        (10, 2, 3, "passed"),
        (2, 14, 20, "undecided"),
        (2, 100, 200, "failed"),
        (2, 130, 200, "passed"),
    ],
)
def test_a_model_has_to_be_better_than_guessing(tmp_path, classes, right, count, verdict):
    ids = np.arange(count)
    tables = {
        "samples": {"id": ids, "label": np.full(count, classes - 1)},
        "margins": {"id": ids, "own": np.where(ids < right, classes - 1, 0)},
    }
    assert found(tmp_path, tables, classes=("a", "b"))["labels"].verdict == verdict


@pytest.mark.parametrize("absent", sound())
def test_absent_tables_are_not_asked(tmp_path, absent):
    tables = sound()
    del tables[absent]
    seen = found(tmp_path, tables)
    assert verdicts(seen, "failed") == set()
    unasked = verdicts(seen, "not asked")
    assert unasked
    for name in unasked:
        assert seen[name].value == ""
        assert seen[name].samples == 0
        assert absent in seen[name].evidence


def test_an_empty_run_is_not_asked_anything(tmp_path):
    seen = {finding.name: finding for finding in findings(open_run(tmp_path, {}))}
    assert verdicts(seen, "not asked") == set(seen)
    assert "audit" in seen


@pytest.mark.parametrize("table", sound())
def test_absent_columns_are_not_asked(tmp_path, table):
    for number, column in enumerate(sound()[table]):
        tables = sound()
        del tables[table][column]
        assert verdicts(found(tmp_path / str(number), tables), "failed") == set()


@pytest.mark.parametrize("table", sound())
def test_rows_of_interrupted_runs_are_judged_as_far_as_they_go(tmp_path, table):
    tables = copy.deepcopy(sound())
    tables[table] = {name: np.resize(np.array(column), 3) for name, column in tables[table].items()}
    assert verdicts(found(tmp_path, tables), "failed") == set()


def test_findings_do_not_depend_on_how_rows_were_cut(tmp_path):
    tables = sound()
    put("margins", "l2_again", False, 0.1)(tables)
    whole, parted = found(tmp_path / "whole", tables), found(tmp_path / "parted", tables, parts=3)
    for name in whole:
        if not name.startswith("audit-"):
            assert parted[name] == whole[name]


def test_of_several_audits_the_worst_counts(tmp_path):
    values = [1e-7, 0.3, np.nan]
    audit = {"id": -1, "check": "repeatability", "value": values, "limit": 0.1, "passed": [True, False, False]}
    seen = found(tmp_path, {"audit": {**audit, "evidence": ["fine", "differs", "RuntimeError: no."]}})
    assert seen["audit-repeatability"].verdict == "failed"
    assert seen["audit-repeatability"].evidence == "RuntimeError: no."
    assert seen["audit-repeatability"].samples == 32
    assert seen["audit-repeatability"].title == "The same answer twice"


def test_one_error_is_told_once(tmp_path):
    checks = ["eval mode", "logits", "repeatability", "logit noise", "precision"]
    evidence = ["Fine.", *(f"KeyError: 'boom'. Advice {n}, and more." for n in range(3)), "TypeError: no. Advice."]
    value, passed = [0.0, np.nan, np.nan, np.nan, np.nan], [True, False, False, False, False]
    audit = {"id": -1, "check": checks, "value": value, "limit": 0.1, "passed": passed, "evidence": evidence}
    seen = {name: each for name, each in found(tmp_path, {"audit": audit}).items() if name.startswith("audit-")}
    assert verdicts(seen, "failed") == {"audit-errors", "audit-precision"}
    assert verdicts(seen, "not asked") == {"audit-logits", "audit-repeatability", "audit-logit-noise"}
    assert seen["audit-errors"].evidence.count("boom") == 1
    assert "Advice" not in seen["audit-errors"].evidence
    assert "Logits smooth to rounding" in seen["audit-errors"].evidence
    assert not any("boom" in seen[name].evidence for name in verdicts(seen, "not asked"))


def test_checks_of_others_are_shown_by_their_own_name(tmp_path):
    audit = {"id": -1, "check": "moon phase", "value": 0.2, "limit": 1.0, "passed": True, "evidence": "Full."}
    assert found(tmp_path, {"audit": audit})["audit-moon-phase"].title == "Moon phase"
