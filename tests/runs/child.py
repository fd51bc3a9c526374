"""Carries out a run in a process of its own, saying each unit done, and waits to be killed some units on."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.runs import toy

from separatrix.runs import Part, Unit


def main(folder: Path, count: int, units: int) -> None:
    asked = toy.Asked()

    def work(unit: Unit) -> Part:
        if len(asked.units) == units:
            sys.stdin.read()
        return asked(unit)

    toy.carried(folder, count, work, lambda progress: print(progress.done, flush=True))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
