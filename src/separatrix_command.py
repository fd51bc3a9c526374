"""The command ``separatrix`` from its first moment on, before anything that takes time is imported."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from types import FrameType

_INTERRUPTED = 3  # as in separatrix.cli.endings, which is not imported yet


def main() -> int:
    """Do what the command line asks; the exit code.

    PyTorch alone takes a second to import. An interruption meanwhile ends the process at once: nothing is begun, and
    an exception could be swallowed by whatever module is half imported.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    from separatrix.cli.app import main as command

    signal.signal(signal.SIGINT, before)
    return command()


def _leave(_: int, __: FrameType | None) -> None:
    asked = shlex.join(["separatrix", *sys.argv[1:]])
    os.write(2, f"separatrix: interrupted; to go on: {asked}\n".encode())
    os._exit(_INTERRUPTED)
