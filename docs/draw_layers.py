"""Draws the layers of the package into docs/layers.md, from the contract that `lint-imports` checks.

`python docs/draw_layers.py` writes the drawing; with `--check` it only says whether the drawing is current.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "layers.md"
WIDTH = 72
DRAWING = re.compile(r"(?<=<!-- drawing -->\n).*(?=<!-- end of drawing -->)", re.DOTALL)


def layers() -> list[list[str]]:
    """The modules of each layer, top layer first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    (contract,) = (contract for contract in settings["contracts"] if contract["id"] == "layers")
    return [[name.strip(" ()") for name in re.split(r"[|:]", layer)] for layer in contract["layers"]]


def draw(rows: list[list[str]]) -> str:
    """One box a layer, top layer first."""
    boxes = [f"│{'   '.join(row):^{WIDTH}}│" for row in rows]
    between = f"├{'─' * WIDTH}┤"
    body = f"\n{between}\n".join(boxes)
    return f"```text\n┌{'─' * WIDTH}┐\n{body}\n└{'─' * WIDTH}┘\n```\n"


def main(check: bool) -> int:
    """Exit code: 1 when asked to check and the drawing is out of date."""
    page = PAGE.read_text("utf-8")
    current = DRAWING.sub(lambda _: draw(layers()), page)
    if check and page != current:
        print("docs/layers.md is out of date: run `make docs`.")
        return 1
    PAGE.write_text(current, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(check="--check" in sys.argv[1:]))
