"""The words that a rule is made of, and the one wording in which a malformed rule is refused."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

LONGEST = 1000
"""Characters of a rule."""

_SHOWN = 60  # characters of a rule on either side of the place that an error is about

_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<name>[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*)
      | (?P<number>-?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)
      | (?P<text>"[^"]*"|'[^']*')
      | (?P<sign>>=|<=|!=|>|<|=|\(|\)|\.|,|/)""",
    re.VERBOSE,
)

Kind = Literal["name", "number", "text", "sign", "end"]


@dataclass(frozen=True)
class Token:
    """One word of a rule.

    Args:
        kind: What sort of word.
        text: As it is written; a text without its quotation marks.
        at: Where it begins, the first character of the rule being 1.
    """

    kind: Kind
    text: str
    at: int

    def __str__(self) -> str:
        return "the end of the rule" if self.kind == "end" else f"`{self.text[:_SHOWN]}`"


def scan(rule: str) -> list[Token]:
    """The words of a rule, and its end; refuses characters and quotation marks that no rule has."""
    _require_plain(rule)
    tokens, place = [], 0
    while place < len(rule):
        found = _TOKEN.match(rule, place)
        if found is None:
            raise _stray(rule, place)
        if found.lastgroup != "space":
            tokens.append(_token(found))
        place = found.end()
    return [*tokens, Token("end", "", len(rule) + 1)]


def malformed(rule: str, at: int, expected: str, got: object) -> ValueError:
    """What a malformed rule is refused with: the rule, the place, what was expected there."""
    start, end = max(0, at - 1 - _SHOWN), at - 1 + _SHOWN
    shown = "…" * (start > 0) + rule[start:end] + "…" * (end < len(rule))
    return ValueError(f"In the rule `{shown}`, at character {at}: expected {expected}; got {got}.")


def _require_plain(rule: str) -> None:
    if len(rule) > LONGEST:
        raise ValueError(f"A rule must have at most {LONGEST} characters; got {len(rule)}: `{rule[:_SHOWN]}…`.")
    for place, character in enumerate(rule):
        if not character.isprintable():
            shown = "".join(other if other.isprintable() else " " for other in rule)
            raise malformed(shown, place + 1, "a character that can be seen", f"U+{ord(character):04X}")


def _token(found: re.Match[str]) -> Token:
    text = found.group()
    at = found.start() + 1
    match found.lastgroup:
        case "name":
            return Token("name", text, at)
        case "number":
            return Token("number", text, at)
        case "text":
            return Token("text", text[1:-1], at)
        case _:
            return Token("sign", text, at)


def _stray(rule: str, place: int) -> ValueError:
    character = rule[place]
    if character in "\"'":
        return malformed(rule, place + 1, f"a text that ends with {character}", "no end of it")
    return malformed(rule, place + 1, "a name, a number, a text in quotation marks or a sign", f"`{character}`")
