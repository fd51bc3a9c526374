"""Rules judged: a rule holds where the whole interval of its number keeps it, and fails where none of it does."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from separatrix.checks import require
from separatrix.runs import Run
from separatrix.statistics import FEWEST
from separatrix.survey.gate import intervals
from separatrix.survey.gate.columns import Held, Mask, Tables, is_flag, is_text, meant, present
from separatrix.survey.gate.intervals import Estimate, Ids, Numbers
from separatrix.survey.gate.parsing import for_each
from separatrix.survey.gate.rules import Accuracy, Comparison, FailedFindings, RobustAccuracy, Rule, Statistic
from separatrix.tables import Column

if TYPE_CHECKING:
    from separatrix.report.findings import Finding

Verdict = Literal["holds", "fails", "undecided"]

CHECKS = "checks"
"""Unit of what counts findings instead of rows."""


@dataclass(frozen=True)
class Measured:
    """What a run says about one quantity.

    Args:
        estimate: The number and its interval; NaN where no row has a value.
        column: What the number is: its kind, its unit, its norm.
        samples: Samples that entered; none for what is about the model as a whole.
        rows: Rows that entered; more than samples where one has several.
        left_out: Rows without a value, which did not enter.
        infinite: Rows whose value is infinite, which did.
        interval: Whether the number has an interval at all.
        note: What else must be known, in words.
    """

    estimate: Estimate
    column: Column
    samples: int
    rows: int
    left_out: int = 0
    infinite: int = 0
    interval: bool = True
    note: str = ""


@dataclass(frozen=True)
class Judged:
    """A rule, what was measured, and the verdict."""

    rule: Rule
    measured: Measured
    verdict: Verdict


def judge(run: Run, rules: Iterable[Rule], confidence: float = 0.95) -> tuple[Judged, ...]:
    """The verdict of each rule on what a run holds.

    Args:
        run: A survey's, or any whose tables name samples by ``id``.
        rules: As ``parse`` gives them.
        confidence: Coverage of the intervals, from 0.5 to below 1.
    """
    sound = 0.5 <= confidence < 1
    require(sound, "confidence", "be a number from 0.5 to below 1", f"{confidence:g}")
    return tuple(for_each(partial(_judged, Tables(run), confidence), rules))


def missing(run: Run) -> str:
    """What a run lacks, in words; empty for a complete one."""
    planned, done, state = len(run.units()), len(run.records()), run.manifest.state
    if state == "complete" and done == planned:
        return ""
    return f"{done} of {planned} units in {run.folder}, {state}"


def require_whole(run: Run) -> None:
    """Refuse a run of which a part is missing."""
    lack = missing(run)
    fix = "Finish it with the command that began it, or judge what is there with --allow-partial."
    require(not lack, "RUN", "be complete", lack, fix)


def verdict(comparison: Comparison, bound: float, low: float, high: float) -> Verdict:
    """What an interval says about a comparison."""
    match comparison:
        case ">=":
            holds, fails = low >= bound, high < bound
        case ">":
            holds, fails = low > bound, high <= bound
        case "<=":
            holds, fails = high <= bound, low > bound
        case "<":
            holds, fails = high < bound, low >= bound
    return "holds" if holds else "fails" if fails else "undecided"


def _judged(tables: Tables, confidence: float, rule: Rule) -> Judged:
    try:
        measured = _measured(rule, tables, confidence)
    except ValueError as error:
        error.add_note(f"In the rule `{rule.text or rule}`")
        raise
    found = measured.estimate
    known = not math.isnan(found.value)
    sides = verdict(rule.comparison, rule.bound, found.low, found.high)
    return Judged(rule, measured, sides if known else "undecided")


def _measured(rule: Rule, tables: Tables, confidence: float) -> Measured:
    match rule.quantity:
        case Statistic() as asked:
            return _statistic(asked, tables, confidence)
        case Accuracy():
            return _accuracy(tables, confidence)
        case RobustAccuracy() as asked:
            return _robust_accuracy(asked, tables, confidence)
        case FailedFindings():
            return _failed(tables)


def _statistic(asked: Statistic, tables: Tables, confidence: float) -> Measured:
    held = tables[asked.table]
    held.column(asked.column)
    held = held.where(asked.where)
    if asked.function == "count":
        return _count(held, asked)
    if asked.function == "share":
        return _share(held, asked, confidence)
    return _number(held, asked, confidence)


def _number(held: Held, asked: Statistic, confidence: float) -> Measured:
    """A percentile, a mean, or one end of the values."""
    _require_numbers(held, asked)
    column, entries = held.column(asked.column), held.rows[asked.column].astype(np.float64)
    there = ~np.isnan(entries)
    values, ids = entries[there], held.ids[there]
    least = 0.0 if column.kind in ("upper bound", "count") else -math.inf
    found = _estimate(asked, values, ids, confidence, least) if len(values) else intervals.unknown(least)
    infinite, interval = int(np.isinf(values).sum()), asked.function not in ("min", "max")
    note = _about_mean(ids, infinite) if asked.function == "mean" else ""
    return replace(_of_rows(found, column, held.ids, there), infinite=infinite, interval=interval, note=note)


def _estimate(asked: Statistic, values: Numbers, ids: Ids, confidence: float, least: float) -> Estimate:
    if asked.percentile is not None:
        return intervals.percentile(values, ids, asked.percentile / 100, confidence, least)
    if asked.function == "mean":
        return intervals.mean(values, ids, confidence, least)
    return intervals.exact(float(values.min() if asked.function == "min" else values.max()))


def _about_mean(ids: Ids, infinite: int) -> str:
    few = 0 < len(np.unique(ids)) < FEWEST
    notes = ["infinite values make the mean infinite"] * (infinite > 0)
    notes += [f"the interval of a mean takes {FEWEST} samples"] * few
    return "; ".join(notes)


def _share(held: Held, asked: Statistic, confidence: float) -> Measured:
    hits, there = meant(held, asked), present(held.rows[asked.column])
    column = replace(held.column(asked.column), unit="")
    return _of_share(hits, held.ids, there, column, confidence)


def _of_share(hits: Mask, ids: Ids, there: Mask, column: Column, confidence: float) -> Measured:
    found = intervals.share(hits[there], ids[there], confidence) if there.any() else Estimate(math.nan, 0.0, 1.0)
    return _of_rows(found, column, ids, there)


def _count(held: Held, asked: Statistic) -> Measured:
    """How many rows keep a condition or have their flag set; of other columns, how many have a value."""
    entries = held.rows[asked.column]
    there = present(entries)
    hits = there & meant(held, asked) if asked.condition or is_flag(entries) else there
    column = replace(held.column(asked.column), unit="")
    return replace(_of_rows(intervals.exact(float(hits.sum())), column, held.ids, there), interval=False)


def _accuracy(tables: Tables, confidence: float) -> Measured:
    names = [name for name in ("margins", "robustness") if name in tables.names]
    held = tables[names[0] if names else "margins"].where(())
    right, there = _right(held, tables)
    return _of_share(right, held.ids, there, Column("accuracy", "estimate"), confidence)


def _robust_accuracy(asked: RobustAccuracy, tables: Tables, confidence: float) -> Measured:
    """An upper bound: an attack that is stronger may fool more."""
    held = tables["robustness"].where(asked.where)
    right, there = _right(held, tables)
    column = Column("robust_accuracy", "upper bound", norm=str(held.entries("norm")[0]))
    return _of_share(right & ~held.entries("fooled"), held.ids, there, column, confidence)


def _right(held: Held, tables: Tables) -> tuple[Mask, Mask]:
    """Which rows answer the label of their sample, and for which one is known."""
    samples = tables["samples"]
    order = np.argsort(samples.ids)
    known, labels = samples.ids[order], samples.entries("label")[order]
    places = np.searchsorted(known, held.ids).clip(max=len(known) - 1)
    there = known[places] == held.ids
    return there & (held.entries("own") == labels[places]), there


def _failed(tables: Tables) -> Measured:
    """How many findings failed; where no audit was asked, that none failed proves nothing, and is refused."""
    tables["audit"]
    found = tuple(finding for finding in findings_of(tables.run) if finding.verdict != "told")
    asked = [finding for finding in found if finding.verdict != "not asked"]
    failed, undecided = (sum(finding.verdict == which for finding in asked) for which in ("failed", "undecided"))
    silent = len(found) - len(asked)
    notes = [f"{silent} of {len(found)} checks were not asked"] * bool(silent)
    notes += [f"{undecided} of them undecided: more samples would tell"] * bool(undecided)
    column = Column("audit.failed", "count", CHECKS)
    estimate = intervals.exact(float(failed)) if asked else intervals.unknown(0.0)
    return Measured(estimate, column, 0, len(asked), interval=False, note="; ".join(notes))


def findings_of(run: Run) -> tuple[Finding, ...]:
    """What the audit of a run found."""
    from separatrix.report.findings import findings

    return findings(run)


def _require_numbers(held: Held, asked: Statistic) -> None:
    column, entries = held.column(asked.column), held.rows[asked.column]
    named = column.kind in ("identity", "label")
    sort = "a flag" if is_flag(entries) else "a text" if is_text(entries) else f"of the kind {column.kind}"
    if named or is_flag(entries) or is_text(entries):
        fix = "share and count ask of those"
        raise ValueError(f"{asked.function} needs a column of numbers; {held.name}.{asked.column} is {sort}: {fix}.")


def _of_rows(found: Estimate, column: Column, ids: Ids, there: Mask) -> Measured:
    rows = int(there.sum())
    samples = len(np.unique(ids[there & (ids >= 0)]))
    return Measured(found, column, samples, rows, left_out=len(ids) - rows)
