"""``separatrix study``: tables and figures of the source documents, made again."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter
from rich.progress import DownloadColumn

from separatrix.checks import require
from separatrix.cli.endings import EXPECTED
from separatrix.cli.networks import made
from separatrix.cli.printing import say, say_table
from separatrix.cli.progress import bar
from separatrix.data import load_data
from separatrix.runs import Progress
from separatrix.studies import STUDIES, Finding, Needs, Scale, Study, run_study, write_ledger
from separatrix.studies.running import FIGURE
from separatrix.training import Named

app = App(
    name="study",
    help="""Make tables and figures of the source documents again, and test what they claim.

Example: separatrix study list
""",
)

_RUNS = Path("out/studies")


@app.command(name="list")
def list_() -> None:
    """List the studies: what they ask, and where it was published.

    Example: separatrix study list
    """
    rows = ((study.name, study.source, study.question, ", ".join(study.scales)) for study in STUDIES.values())
    say_table(("study", "source", "question", "scales"), rows)


@app.command
def run(
    *names: str,
    scale: Scale = "default",
    all_: Annotated[bool, Parameter(name="--all", negative="", show_default=False)] = False,
    out: Path = _RUNS,
) -> None:
    """Run studies and show what was published beside what is measured; interrupted, the same command goes on.

    Example: separatrix study run features/synthetic --scale smoke

    Args:
        names: Studies as `separatrix study list` names them.
        scale: How much is computed: for seconds, for minutes on two cores, or as much as was published.
        all_: Run all studies.
        out: The folder that each run gets a folder of its own in.
    """
    import matplotlib

    matplotlib.use("Agg")
    errors: list[Exception] = []
    for study in _chosen(names, all_):
        try:
            _show(*_carried_out(study, scale, out))
        except EXPECTED as error:
            error.add_note(study.name)
            errors.append(error)
    if errors:
        raise errors[0] if len(errors) == 1 else ExceptionGroup("studies that could not be run", errors)


@app.command
def ledger(*, runs: Path = _RUNS, docs: Path = Path("docs")) -> None:
    """Write what all studies have found on one page, published beside measured.

    Example: separatrix study ledger --docs docs

    Args:
        runs: The folder that studies were run in.
        docs: The folder that the page goes to.
    """
    fix = "Run a study first: separatrix study run --all --scale smoke"
    require(runs.is_dir(), "--runs", "be a folder that studies were run in", runs, fix)
    say(f"the ledger is {write_ledger(runs, docs)}")


def _chosen(names: tuple[str, ...], everything: bool) -> Iterable[Study]:
    known = ", ".join(STUDIES)
    require(bool(names) != everything, "NAMES", f"be among {known}; or use --all", ", ".join(names) or "none")
    strays = [name for name in names if name not in STUDIES]
    require(not strays, "NAMES", f"be among {known}", ", ".join(strays))
    return STUDIES.values() if everything else [STUDIES[name] for name in dict.fromkeys(names)]


def _carried_out(study: Study, scale: Scale, out: Path) -> tuple[Finding, Path]:
    """What a study found, and the folder of its run."""
    _provide(study.needs(study.scales[scale]))
    folder, title = out / f"{study.slug}-{scale}", f"{study.name}, {scale}"
    with bar() as shown:

        def tell(progress: Progress) -> None:
            shown.tell(title, progress.done, progress.units)

        return run_study(study, scale, folder, progress=tell), folder


def _provide(needs: Needs) -> None:
    """Train and download what a study needs, before it needs it."""
    for recipe in needs.networks.values():
        made(recipe)
    for samples in needs.samples.values():
        if isinstance(samples.source, Named):
            with bar(DownloadColumn()) as shown:
                load_data(samples.source.name, split="test", progress=shown.tell)


def _show(finding: Finding, folder: Path) -> None:
    say(f"{finding.study}, {finding.scale}: {finding.verdict}")
    say(f"{finding.question} ({finding.source})")
    for line in (finding.substitute and f"Substitute: {finding.substitute}.", finding.notes):
        if line:
            say(line)
    say()
    _show_numbers(finding)
    say(f"figure  {folder / FIGURE}")
    say(f"table   {finding.rows:,} rows in {folder}, {finding.seconds:.1f} s{_seeds(finding)}")
    say()


def _show_numbers(finding: Finding) -> None:
    names = dict.fromkeys((*finding.published, *finding.measured))
    beside = ((name, finding.published.get(name, "–"), finding.measured.get(name, "–")) for name in names)
    say_table(("quantity", "published", "measured"), beside)
    say()
    if finding.outcomes:
        outcomes = ((outcome.verdict, outcome.claim, outcome.shown) for outcome in finding.outcomes)
        say_table(("verdict", "claim", "measured"), outcomes)
        say()


def _seeds(finding: Finding) -> str:
    return f", networks of seed {', '.join(map(str, finding.seeds))}" if finding.seeds else ""
