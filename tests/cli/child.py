"""The command in a process of its own: it says when it has come to a moment of its writing, and waits to be killed."""

from __future__ import annotations

import sys
from pathlib import Path

from separatrix.cli import main
from separatrix.runs import files
from separatrix.runs.files import Stage


def wait_at(moment: int) -> None:
    """Stop at the stage of a write with this number, counted from 0."""
    left = iter(range(moment))

    def reached(stage: Stage, path: Path) -> None:
        if next(left, None) is None:
            sys.stderr.write(f"{stage.name} {path.name}\n")
            sys.stderr.flush()
            sys.stdin.read()

    files.reached = reached


if __name__ == "__main__":
    wait_at(int(sys.argv[1]))
    sys.exit(main(sys.argv[2:]))
