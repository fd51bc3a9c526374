"""Verdicts as lines, as JUnit XML and as JSON: for people, and for the machines that run other people's checks."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from separatrix.survey.gate.evaluation import CHECKS, Judged, Measured

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold."""


def as_line(judged: Judged, confidence: float = 0.95) -> str:
    """The verdict, the rule as written, its number, the interval, and what it rests on."""
    return f"{judged.verdict:9}  {judged.rule.text or judged.rule}  {shown(judged, confidence)}"


def shown(judged: Judged, confidence: float = 0.95) -> str:
    """The number that decided, with its interval and what it rests on."""
    measured = judged.measured
    words = [_number(measured), _interval(measured, confidence), _asked(measured), *_remarks(measured)]
    if judged.verdict == "undecided":
        words.append("more samples would decide" if measured.rows else "no row has a value")
    return ", ".join(words)


def passed(verdicts: Sequence[Judged], *, allow_undecided: bool = False) -> bool:
    """Whether the gate opens: every rule holds, or is undecided where that is allowed."""
    fine = ("holds", "undecided") if allow_undecided else ("holds",)
    return all(judged.verdict in fine for judged in verdicts)


def as_json(
    verdicts: Sequence[Judged], *, run: str, confidence: float, warnings: Sequence[str], allow_undecided: bool
) -> bytes:
    """An object with an entry a rule; infinite numbers are the texts ``"inf"`` and ``"-inf"``, unknown ones null."""
    content = {
        "format": 1,
        "run": run,
        "confidence": confidence,
        "passed": passed(verdicts, allow_undecided=allow_undecided),
        "rules": [_entry(judged) for judged in verdicts],
        "warnings": list(warnings),
    }
    return (
        json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False).encode("utf-8", "backslashreplace") + b"\n"
    )


def as_junit(
    verdicts: Sequence[Judged], *, run: str, confidence: float, warnings: Sequence[str], allow_undecided: bool
) -> bytes:
    """A test case a rule: a failure where it fails or is undecided; skipped where being undecided is allowed."""
    failures = sum(judged.verdict == "fails" for judged in verdicts)
    undecided = sum(judged.verdict == "undecided" for judged in verdicts)
    failures, skipped = (failures, undecided) if allow_undecided else (failures + undecided, 0)
    counts = {"tests": len(verdicts), "failures": failures, "errors": 0, "skipped": skipped}
    root = ElementTree.Element("testsuites", _attributes({"name": "separatrix check", **counts}))
    suite = ElementTree.SubElement(
        root, "testsuite", _attributes({"name": f"separatrix check {run}", **counts, "time": 0})
    )
    for judged in verdicts:
        _add_case(suite, judged, confidence, allow_undecided)
    if warnings:
        ElementTree.SubElement(suite, "system-err").text = _clean("\n".join(warnings))
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _add_case(suite: ElementTree.Element, judged: Judged, confidence: float, allow_undecided: bool) -> None:
    name = judged.rule.text or str(judged.rule)
    attributes = {"classname": "separatrix.check", "name": name, "time": 0}
    case = ElementTree.SubElement(suite, "testcase", _attributes(attributes))
    line, message = _clean(as_line(judged, confidence)), {"message": f"{judged.verdict}: {_number(judged.measured)}"}
    if judged.verdict == "undecided" and allow_undecided:
        ElementTree.SubElement(case, "skipped", _attributes(message)).text = line
    elif judged.verdict != "holds":
        ElementTree.SubElement(case, "failure", _attributes({**message, "type": judged.verdict})).text = line
    else:
        ElementTree.SubElement(case, "system-out").text = line


def _entry(judged: Judged) -> dict[str, Any]:
    measured, column = judged.measured, judged.measured.column
    estimate = measured.estimate
    return {
        "rule": judged.rule.text or str(judged.rule),
        "verdict": judged.verdict,
        "value": _plain(estimate.value),
        "low": _plain(estimate.low) if measured.interval else None,
        "high": _plain(estimate.high) if measured.interval else None,
        "samples": measured.samples,
        "rows": measured.rows,
        "left_out": measured.left_out,
        "infinite": measured.infinite,
        "kind": column.kind,
        "unit": column.unit,
        "norm": column.norm,
        "note": measured.note,
    }


def _plain(number: float) -> float | str | None:
    if math.isnan(number):
        return None
    return number if math.isfinite(number) else f"{number:g}"


def _number(measured: Measured) -> str:
    value, column = measured.estimate.value, measured.column
    number = "no number" if math.isnan(value) else f"{value:.4g} {column.unit}".rstrip()
    is_what = ", ".join(word for word in (column.kind, column.norm) if word)
    return f"{number} ({is_what})"


def _interval(measured: Measured, confidence: float) -> str:
    if not measured.interval:
        return "no interval"
    return f"{100 * confidence:g} % interval {measured.estimate.low:.4g} to {measured.estimate.high:.4g}"


def _asked(measured: Measured) -> str:
    if not measured.samples:
        return f"{measured.rows:,} {'checks made' if measured.column.unit == CHECKS else 'rows'}"
    samples = f"{measured.samples:,} samples asked"
    return samples if measured.rows == measured.samples else f"{samples}, {measured.rows:,} rows"


def _remarks(measured: Measured) -> list[str]:
    counts = {"infinite": measured.infinite, "without a value left out": measured.left_out}
    return [f"{count:,} {words}" for words, count in counts.items() if count] + [measured.note] * bool(measured.note)


def _attributes(attributes: dict[str, Any]) -> dict[str, str]:
    return {name: _clean(str(value)) for name, value in attributes.items()}


def _clean(text: str) -> str:
    """The text without what XML cannot hold."""
    return _FORBIDDEN.sub("", text)
