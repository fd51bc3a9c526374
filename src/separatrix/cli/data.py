"""``separatrix data``: data sets that have a name."""

from __future__ import annotations

from cyclopts import App
from rich.filesize import decimal
from rich.progress import DownloadColumn

from separatrix.checks import require
from separatrix.cli.printing import say, say_table
from separatrix.cli.progress import bar
from separatrix.data import available, get

app = App(
    name="data",
    help="""Find out about data sets that have a name, and get them.

Example: separatrix data list
""",
)


@app.command(name="list")
def list_() -> None:
    """List the data sets that have a name, how large they are and where they lie.

    Example: separatrix data list
    """
    rows = (
        (entry.name, decimal(entry.size), str(entry.found or "to be downloaded"), entry.licence, entry.address)
        for entry in available()
    )
    say_table(("name", "size", "where", "licence", "address"), rows)


@app.command(name="get")
def get_(*names: str) -> None:
    """Download data sets that are not on this machine yet; an interrupted download goes on where it was.

    Example: separatrix data get fashion-mnist mnist

    Args:
        names: Data sets as `separatrix data list` names them.
    """
    known = tuple(entry.name for entry in available())
    strays = [name for name in names if name not in known] if names else ["none"]
    require(not strays, "NAMES", f"be among {', '.join(known)}", ", ".join(strays))
    for name in names:
        with bar(DownloadColumn()) as shown:
            folder = get(name, shown.tell)
        say(f"{name} is in {folder}")
