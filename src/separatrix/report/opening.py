"""What stands before and after the sections: who was asked what, the summary, the glossary, where it all comes from."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from functools import partial

from separatrix.report.beside import median_row, same_samples
from separatrix.report.numbers import median_of, number
from separatrix.report.sections.margins import margins_of
from separatrix.report.shown import NORMS, Numbers, Shown, flags
from separatrix.report.told import Section, Table
from separatrix.runs.manifest import Manifest
from separatrix.tables import Column

LIMITS = (
    "Distances are upper bounds: a change of that length was found and checked; a shorter one may exist. Comparisons "
    "of models hold only as far as the search is as good for both; the audit says what more effort would have changed.",
    "Margins are measured without a box: a change may leave the range of valid inputs, so that what lies beyond the "
    "boundary need not be a valid picture. Attacks in the section on robustness stay inside the model's bounds.",
    "Which region is left is always the model's own answer, right or wrong. True labels enter accuracy alone.",
    "Intervals are at 95 % and say what another choice of samples could have changed; not what another training, "
    "another seed or a better search could.",
    "All of it is about these samples. Nothing follows for inputs unlike them.",
)
"""What none of the numbers say."""


_UNACCEPTABLE = {"accepted": "The audit shows why; the model is not one that can be measured:"}
_UNDIFFERENTIABLE = {
    "differentiable": "Questions that need gradients cannot be asked of this model:",
    **_UNACCEPTABLE,
}


def title(runs: Sequence[Shown]) -> str:
    """What the page is about."""
    if len(runs) == 1:
        return f"{runs[0].model} on {runs[0].data}"
    first, second = runs
    return f"{first.model} and {second.model}" if first.model != second.model else f"{first.model}, twice"


def headline(runs: Sequence[Shown]) -> str:
    """The first thing to know, in a sentence."""
    for norm, name in NORMS.items():
        known = [shown for shown in runs if (values := _margins(shown, norm)) is not None and len(values)]
        if len(known) == 2:
            return _both(known, norm, name)
        if known:
            return _half(known[0], norm, name)
    return "No margins have been measured yet."


def _both(runs: Sequence[Shown], norm: str, name: str) -> str:
    _, first, second, difference, _ = median_row("", runs, partial(margins_of, norm))
    change = "" if difference in ("other samples", "–") else f": a difference of {difference}"
    return f"Median {name} margin {first} in A and {second} in B, {runs[0].unit_of('margins', norm)}{change}."


def _margins(shown: Shown, norm: str) -> Numbers | None:
    rows = shown.rows("margins")
    return margins_of(norm, shown).known.values if rows is not None and norm in rows.columns else None


def _half(shown: Shown, norm: str, name: str) -> str:
    median, unit = median_of(margins_of(norm, shown).values), shown.unit_of("margins", norm)
    if math.isinf(median.value):
        return f"{shown.lead}No boundary was found for half of the {median.count:,} samples or more."
    return (
        f"{shown.lead}Half of {median.count:,} samples change their answer within a distance of {number(median.value)} "
        f"(95 % interval {number(median.low)} to {number(median.high)}) in {name}, {unit}."
    )


def facts(shown: Shown) -> dict[str, str]:
    """What was asked, and how far it has come."""
    config, manifest = shown.config, shown.run.manifest
    model, data = config.get("model"), config.get("data")
    weights, whole_set = (
        held.get(key) if isinstance(held, dict) else None for held, key in ((model, "parameters"), (data, "samples"))
    )
    samples = _count(config.get("samples"))
    return {
        "model": shown.model + (f", {_count(weights)} parameters" if weights is not None else ""),
        "data": shown.data,
        "samples": f"{samples} of {_count(whole_set)}" if whole_set is not None else samples,
        "input": _input(shown.shape),
        "bounds": f"{shown.bounds[0]:g} to {shown.bounds[1]:g}" if shown.bounds else "none known",
        "seed": str(config.get("seed", ", ".join(map(str, manifest.seeds)) or "none")),
        "begun": manifest.created.replace("T", " ").replace("+00:00", " UTC") or "not known",
        "version": f"separatrix {config.get('version', 'not known')}",
        "state": state(shown),
    }


def _input(shape: Sequence[int]) -> str:
    sides = [" × ".join(map(str, shape))] if len(shape) > 1 else []
    return " = ".join([*sides, f"{math.prod(shape):,} dimensions"]) if shape else "not known"


def state(shown: Shown) -> str:
    """Whether it is complete, in words."""
    done, planned = len(shown.records), len(shown.units)
    if shown.complete:
        return "complete"
    return f"{done:,} of {planned:,} units done" if planned else "nothing done yet"


def remarks(section: Section, runs: Sequence[Shown]) -> list[str]:
    """For which runs there is nothing to tell, or only of a part."""
    return [f"{shown.lead}{text}" for shown in runs if (text := _remark(section, shown))]


def _remark(section: Section, shown: Shown) -> str:
    done, planned = shown.progress(section.question)
    if shown.rows(section.question) is None:
        if not planned:
            reason = _refused(shown, _UNDIFFERENTIABLE) or _no_pictures(shown)
            return f"Not asked in this run. {reason}".rstrip()
        refused = _refused(shown, _UNACCEPTABLE)
        return f"Not asked. {refused}" if refused else f"No rows yet: {done:,} of {planned:,} units are done."
    return f"Partial: {done:,} of {planned:,} units are done; the numbers are about those." if done < planned else ""


def _refused(shown: Shown, reasons: Mapping[str, str]) -> str:
    """Why no question could be asked, in the words of the audit; empty where it saw no reason."""
    rows = shown.rows("audit")
    if rows is None or not {"check", "passed", "evidence"} <= rows.columns.keys():
        return ""
    told = zip(rows["check"].tolist(), flags(rows["passed"]), rows["evidence"].tolist(), strict=True)
    found = {str(check): str(evidence) for check, passed, evidence in told if not passed}
    return next((f"{words} {found[check]}" for check, words in reasons.items() if check in found), "")


def _no_pictures(shown: Shown) -> str:
    """Why questions about pictures were not asked, where others were; empty where points may be pictures."""
    pictures = not shown.shape or (len(shown.shape) == 3 and shown.shape[0] in (1, 3))
    return "" if pictures or "margins" not in shown.tables else "The points are no pictures, which it may need."


def comparison(runs: Sequence[Shown]) -> str:
    """How two runs may be compared; empty for one."""
    if len(runs) == 1:
        return ""
    if same_samples(runs):
        return (
            "Both runs asked about samples of the same data. Where a number rests on the same samples in both, ten or "
            "more, its difference B − A has an interval from resampling them together."
        )
    return "The runs asked about different data: their numbers stand beside each other, without differences."


def glossary(runs: Sequence[Shown]) -> list[Table]:
    """What the columns of each table mean, in the words of their schemas."""
    head = ("column", "what it says", "kind", "unit", "norm")
    found: dict[str, dict[str, Column]] = {}
    for shown in runs:
        for name in shown.tables:
            found.setdefault(name, {}).update({column.name: column for column in shown.columns(name)})
    return [Table(name, head, tuple(map(_entry, columns.values()))) for name, columns in found.items() if columns]


def _entry(column: Column) -> tuple[object, ...]:
    return (column.name, column.meaning or "–", column.kind, column.unit, column.norm)


def provenance(runs: Sequence[Shown], sources: Sequence[str] = ()) -> list[Table]:
    """Where each run comes from: hashes, versions, hardware, times, and how to make this page again.

    Args:
        runs: One run, or two.
        sources: What a command line calls the sections that were added to the page.
    """
    again = ["separatrix", "report", *(str(each.run.folder) for each in runs)]
    again += ["--sections", *sources] * bool(sources)
    return [_origin(shown, shlex.join(again)) for shown in runs]


def _origin(shown: Shown, again: str) -> Table:
    manifest = shown.run.manifest
    rows: list[tuple[object, ...]] = [
        ("folder", str(shown.run.folder)),
        ("settings, SHA-256", manifest.config_hash),
        *((f"{name}, SHA-256", value) for name, value in manifest.inputs.items()),
        ("seeds", ", ".join(map(str, manifest.seeds)) or "none"),
        ("units", f"{len(shown.records):,} of {len(shown.units):,} done"),
        *((f"rows of {name}", f"{rows:,}") for name, rows in manifest.rows.items()),
        ("time at work", f"{manifest.seconds:,.1f} s{_killed(manifest)}"),
        ("begun, last written", f"{manifest.created}, {manifest.updated}"),
        ("this page again", again),
    ]
    for session in manifest.sessions[-1:]:
        rows.append(("versions", ", ".join(f"{name} {held}" for name, held in session.versions.items())))
        rows.append(("hardware", ", ".join(f"{name} {held}" for name, held in session.hardware.items() if held)))
    return Table(f"Run {shown.letter}".strip(), ("what", "value"), tuple(rows))


def _killed(manifest: Manifest) -> str:
    """Calls of which it is not known how long they took."""
    killed = sum(session.seconds is None for session in manifest.sessions)
    return f", without {killed} call{'s' if killed > 1 else ''} that did not come to an end" if killed else ""


def _count(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else "not known" if value is None else str(value)
