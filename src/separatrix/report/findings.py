"""Can the numbers of a run be believed? Every check of it, from its tables alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from separatrix.report.finding import Finding as Finding
from separatrix.report.findings_of_controls import of_controls
from separatrix.report.findings_of_margins import of_margins
from separatrix.report.findings_of_others import of_others
from separatrix.report.numbers import number
from separatrix.report.shown import Numbers, Shown, column, flags
from separatrix.runs import Run
from separatrix.tables import Rows

_TITLES = {
    "eval mode": "In evaluation mode",
    "precision": "In full precision",
    "bounds": "Inputs within the model's bounds",
    "units": "Inputs in the units they seem to be in",
    "output shape": "One row of logits a sample",
    "finite logits": "Logits without NaN or infinity",
    "input left": "Inputs left as they were",
    "logits": "Logits, not probabilities",
    "repeatability": "The same answer twice",
    "batch invariance": "The same answer alone and in a batch",
    "order invariance": "The same answer in any order",
    "logit noise": "Logits smooth to rounding",
    "plain forward": "No optimisation in the forward pass",
    "differentiable": "Differentiable in its input",
    "zero gradients": "No gradient of zero",
    "saturated loss": "No loss without a gradient",
    "true gradients": "Gradients true to what steps do",
    "accepted": "Accepted by every question",
    "weights left": "Weights left as they were",
}
_ASKED = ("check", "value", "limit", "passed", "evidence")


def findings(run: Run) -> tuple[Finding, ...]:
    """What speaks for and against the numbers of a run, whatever tables it has.

    First each check of the model that the audit made, then those that the measurements allow: whether crossings are
    crossings, whether lengths agree with each other, and whether more effort or other means find shorter ones.
    """
    shown = Shown(run)
    return (*_of_audit(shown), *of_margins(shown), *of_controls(shown), *of_others(shown))


def _of_audit(shown: Shown) -> Iterator[Finding]:
    rows = shown.rows("audit")
    if rows is None or not set(_ASKED) <= rows.columns.keys():
        reason = "The model was not audited: the run holds no rows of audit, which was not asked or not finished."
        yield Finding("audit", "Audit of the model", "not asked", "", reason, 0)
        return
    samples = sum(len(unit.ids) for unit in shown.records if unit.name == "audit")
    found = [_of_check(str(check), looked, samples) for check, looked in rows.groups("check").items()]
    errors = _errors(rows)
    for error, checks in errors.items():
        yield _of_error(error, [_title(check) for check in checks], samples)
    raised = {_name(check) for checks in errors.values() for check in checks}
    yield from (_unmade(finding) if finding.name in raised else finding for finding in found)


def _errors(rows: Rows) -> dict[str, list[str]]:
    """Errors that kept more than one check from being made, and those checks."""
    broken = ~flags(rows["passed"]) & np.isnan(column(rows, "value"))
    checks: dict[str, list[str]] = {}
    for check, evidence in zip(rows["check"][broken].tolist(), rows["evidence"][broken].tolist(), strict=True):
        named = checks.setdefault(str(evidence).partition(". ")[0].rstrip("."), [])
        if str(check) not in named:
            named.append(str(check))
    return {error: named for error, named in checks.items() if len(named) > 1}


def _of_error(error: str, titles: Sequence[str], samples: int) -> Finding:
    evidence = f"{error}. The model raised that where it was asked for: {'; '.join(titles)}. Mend it first."
    title = "Answers without an error"
    return Finding("audit-errors", title, "failed", f"{len(titles)} checks not made", evidence, samples)


def _unmade(finding: Finding) -> Finding:
    return replace(finding, verdict="not asked", value="", evidence="Not made: the model raised an error.", samples=0)


def _of_check(check: str, rows: Rows, samples: int) -> Finding:
    """The worst of a check's rows, of which there is one for each batch that was audited."""
    passed, value = flags(rows["passed"]), column(rows, "value")
    worst = min(range(len(rows)), key=lambda row: (bool(passed[row]), -_size(value, row)))
    found, limit = (number(float(column(rows, name)[worst])) for name in ("value", "limit"))
    return Finding(
        name=_name(check),
        title=_title(check),
        verdict="passed" if passed[worst] else "failed",
        value=f"{found} (limit {limit})",
        evidence=str(rows["evidence"][worst]),
        samples=samples,
    )


def _name(check: str) -> str:
    return f"audit-{check.replace(' ', '-')}"


def _title(check: str) -> str:
    return _TITLES.get(check, check[:1].upper() + check[1:])


def _size(values: Numbers, row: int) -> float:
    """How bad a value is; what raised an error has none, and is worst."""
    return math.inf if math.isnan(values[row]) else float(values[row])
