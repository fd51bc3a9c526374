"""``separatrix doctor``: whether all that the library needs is there."""

from __future__ import annotations

from rich.text import Text

from separatrix.cli.endings import CHECK_FAILED, DONE
from separatrix.cli.health import Check, examined
from separatrix.cli.printing import say

_COLOURS = {"ok": "green", "warn": "yellow", "fail": "bold red"}


def doctor() -> int:
    """Look whether libraries, data, folders and hardware are as they should be; ends with 1 if something fails.

    Example: separatrix doctor
    """
    levels = [_said(check) for check in examined()]
    say(", ".join(f"{levels.count(level)} {level}" for level in _COLOURS))
    return CHECK_FAILED if "fail" in levels else DONE


def _said(check: Check) -> str:
    say(Text.assemble((f"{check.level:4}", _COLOURS[check.level]), f"  {check.subject:16}  {check.found}"))
    return check.level
