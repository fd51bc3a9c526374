"""The ledger: what was published beside what was measured, for every study, on one page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from separatrix.runs import write
from separatrix.studies.running import FIGURE, FINDING, Finding
from separatrix.studies.study import SCALES

PAGE, FOLDER = "reproduction.md", "reproduction"

_HEAD = """# Reproduction

Every table and figure that has been made again: what was published beside what was measured here, and whether the claim
holds. A claim is a test on the study's own table; the verdict is computed from intervals (95 %, bootstrap over samples)
or p-values, for each training on its own: a claim must hold for all of them. Distances are upper bounds. Times leave
trainings out, and are by the clock on the wall, whatever else the machine had to do. Smoke runs show that a study runs:
they are too small to decide anything. `separatrix study ledger` makes this page.
"""


def write_ledger(runs: Path, docs: Path) -> Path:
    """Take over the findings of all runs in a folder, and write the page of all findings there are.

    Args:
        runs: Where studies were run; its findings replace older ones of the same study and scale.
        docs: Where the page ``reproduction.md`` goes, and the folder with findings and figures beside it.
    """
    for path in sorted(runs.glob(f"*/{FINDING}")):
        finding = Finding.read(path)
        write(docs / FOLDER / f"{finding.slug}.png", path.with_name(FIGURE).read_bytes())
        finding.write(docs / FOLDER / f"{finding.slug}.json")
    write(docs / PAGE, page(read_findings(docs / FOLDER)).encode())
    return docs / PAGE


def read_findings(folder: Path) -> list[Finding]:
    """All findings kept in a folder, study by study, from the smallest scale to the largest."""
    found = [Finding.read(path) for path in folder.glob("*.json")]
    return sorted(found, key=lambda finding: (finding.study, SCALES.index(finding.scale)))


def page(findings: Sequence[Finding]) -> str:
    """The ledger as Markdown: a table of verdicts, then the numbers."""
    return "\n".join([_HEAD, *_overview(findings), "", *_sections(findings)]).rstrip() + "\n"


def _overview(findings: Iterable[Finding]) -> Iterator[str]:
    yield "| study | source | scale | verdict | time | hardware |"
    yield "|---|---|---|---|--:|---|"
    for finding in findings:
        cells = (finding.scale, f"**{finding.verdict}**", _time(finding.seconds), finding.hardware)
        yield f"| [{finding.study}](#{finding.slug}) | {finding.source} | {' | '.join(cells)} |"


def _sections(findings: Iterable[Finding]) -> Iterator[str]:
    for finding in findings:
        yield from _section(finding)


def _section(finding: Finding) -> Iterator[str]:
    yield f'<a id="{finding.slug}"></a>\n'
    yield f"## {finding.study}, {finding.scale}\n"
    yield f"{finding.question} ({finding.source})\n"
    seeds = ", ".join(map(str, finding.seeds))
    facts = [f"{finding.rows:,} rows in {_time(finding.seconds)}", f"networks of seed {seeds}"]
    yield f"`{finding.command}`: {'; '.join(facts)}.\n"
    for remark in (finding.substitute and f"Substitute: {finding.substitute}.", finding.notes):
        if remark:
            yield f"{remark}\n"
    yield "| quantity | published | measured |"
    yield "|---|--:|--:|"
    for name in dict.fromkeys((*finding.published, *finding.measured)):
        yield f"| {name} | {finding.published.get(name, '–')} | {finding.measured.get(name, '–')} |"
    yield ""
    for outcome in finding.outcomes:
        yield f"- **{outcome.verdict}**: {outcome.claim}: {outcome.shown}"
    if not finding.outcomes:
        yield "- no claim at this scale: **reported**"
    yield f"\n![{finding.question}]({FOLDER}/{finding.slug}.png)\n"


def _time(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds / 60:.1f} min"
