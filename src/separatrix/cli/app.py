"""The commands, and what becomes of each: an exit code, and a line on stderr where something went wrong."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from cyclopts import App

from separatrix import __version__
from separatrix.cli.check import check
from separatrix.cli.data import app as data
from separatrix.cli.doctor import doctor
from separatrix.cli.endings import DONE, stoppable, told
from separatrix.cli.report import report
from separatrix.cli.study import app as study
from separatrix.cli.survey import merge, survey
from separatrix.cli.train import train

_HELP = """Measure, map and reshape the decision boundaries of neural-network classifiers.

Example: separatrix survey --samples 50
"""
_EPILOGUE = (
    "Every command ends with 0 when it is done, 1 when a check has failed, 2 when it could not do what was asked, "
    "3 when it was interrupted and the same command goes on. With --debug it shows where an error comes from."
)
_DEBUG = "--debug"

app = App(
    name="separatrix",
    help=_HELP,
    help_epilogue=_EPILOGUE,
    help_format="plaintext",
    version=f"separatrix {__version__}",
    exit_on_error=False,
    print_error=False,
    suppress_keyboard_interrupt=False,
    result_action="return_value",
)
app.command(survey)
app.command(merge)
app.command(data)
app.command(doctor)
app.command(train)
app.command(study)
app.command(check)
app.command(report)


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what a command line asks; the exit code: 0, 1, 2 or 3.

    Args:
        arguments: The words after ``separatrix``; by default those that the process was started with.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        with stoppable():
            code: int | None = app([word for word in words if word != _DEBUG])
            sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:
        return told(error, words, debug=_DEBUG in words)
    return code or DONE
