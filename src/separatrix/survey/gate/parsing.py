"""Rules read from text by recursive descent: nothing of them is ever run, and whatever is no rule is refused."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from separatrix.checks import require
from separatrix.survey.gate.rules import (
    COMPARISONS,
    CONDITIONAL,
    FUNCTIONS,
    RELATIONS,
    Accuracy,
    Comparison,
    Condition,
    FailedFindings,
    Quantity,
    Relation,
    RobustAccuracy,
    Rule,
    Statistic,
    Value,
)
from separatrix.survey.gate.tokens import Token, malformed, scan

_SPACES = str.maketrans("\t\r\n", "   ")
_PERCENTILE = re.compile(r"p[1-9][0-9]?")
_BEFORE_COMMENT = re.compile(r"""(?:[^#"']|"[^"]*"|'[^']*')*""")
_QUANTITY = (
    f"{', '.join(FUNCTIONS)} or p1 to p99 with a column in parentheses, or accuracy, robust_accuracy(…) or audit.failed"
)
_SETTINGS = ("norm", "radius", "method")

Given = TypeVar("Given")
Made = TypeVar("Made")


def parse(text: str) -> Rule:
    """The rule that a text says; refuses every other text with a ``ValueError`` that names the place.

    Args:
        text: Such as ``median(margins.l2) >= 0.8``; the grammar is in ``docs/gate.md``.
    """
    text = text.translate(_SPACES)
    reader = _Reader(text, scan(text))
    quantity, comparison, bound = reader.quantity(), reader.comparison(), reader.number()
    reader.end()
    return Rule(quantity, comparison, bound, text.strip())


def read_rules(texts: Iterable[str], file: Path | None = None) -> tuple[Rule, ...]:
    """The rules of a gate, each once; all that are malformed are refused together.

    Args:
        texts: Rules one by one.
        file: One rule a line; what follows a ``#`` outside of quotation marks is a comment.
    """
    lines = [] if file is None else _lines(file)
    rules = for_each(_located, [*(("", text) for text in texts), *lines])
    fix = 'For instance: --rule "median(margins.l2) >= 0.8"'
    require(len(rules) > 0, "--rule", "be given at least once, or --rules name a file with rules", "none", fix)
    return tuple(dict.fromkeys(rules))


def for_each(make: Callable[[Given], Made], given: Iterable[Given]) -> list[Made]:
    """What is made from each; where some are refused, all that are, in one group."""
    made, errors = [], []
    for one in given:
        try:
            made.append(make(one))
        except ValueError as error:
            errors.append(error)
    if errors:
        raise errors[0] if len(errors) == 1 else ExceptionGroup("rules refused", errors)
    return made


def _lines(file: Path) -> list[tuple[str, str]]:
    """The lines of a file that are no comment alone, and where each is."""
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"`--rules` must be a text file in UTF-8; got {file}, with other bytes in it.") from error
    lines = ((f"{file}, line {number}", _uncommented(line)) for number, line in enumerate(text.split("\n"), 1))
    return [(where, line) for where, line in lines if line]


def _uncommented(line: str) -> str:
    """A line up to its comment; all of it where a quotation mark is not closed, so that this is what is refused."""
    found = _BEFORE_COMMENT.match(line)
    assert found is not None
    comment = line[found.end() : found.end() + 1] == "#"
    return (found.group() if comment else line).strip()


def _located(given: tuple[str, str]) -> Rule:
    where, text = given
    try:
        return parse(text)
    except ValueError as error:
        if where:
            error.add_note(where)
        raise


@dataclass(eq=False)
class _Reader:
    """Goes through the words of one rule, once, from left to right; the grammar has no nesting to be lost in."""

    rule: str
    tokens: list[Token]
    place: int = 0

    @property
    def next(self) -> Token:
        return self.tokens[self.place]

    def quantity(self) -> Quantity:
        name = self.take("name", _QUANTITY)
        match name.text:
            case "accuracy":
                return Accuracy()
            case "robust_accuracy":
                return self.robust_accuracy(name)
            case "audit" if self.next.text == ".":
                return self.failed_findings()
        if name.text not in FUNCTIONS and not _PERCENTILE.fullmatch(name.text):
            raise self.refused(_QUANTITY, name)
        return self.statistic(name.text)

    def failed_findings(self) -> FailedFindings:
        self.sign(".")
        name = self.take("name", "`failed`")
        if name.text != "failed":
            raise self.refused("`failed`, or a function around the column, such as count(audit.passed = false)", name)
        return FailedFindings()

    def robust_accuracy(self, name: Token) -> RobustAccuracy:
        self.sign("(")
        given: dict[str, Value] = {}
        while not given or self.skip(","):
            setting = self.take("name", " or ".join(_SETTINGS))
            if setting.text not in _SETTINGS or setting.text in given:
                raise self.refused(f"{', '.join(_SETTINGS)}, each once", setting)
            self.sign("=")
            given[setting.text] = (
                self.number() if setting.text == "radius" else self.take("text", "a text in quotation marks").text
            )
        self.sign(")")
        missing = [setting for setting in _SETTINGS if setting not in given]
        if missing:
            raise self.refused("robust_accuracy(norm=…, radius=…, method=…)", f"no {' and no '.join(missing)}", name.at)
        norm, radius, method = (given[setting] for setting in _SETTINGS)
        assert isinstance(norm, str)
        assert isinstance(radius, float)
        assert isinstance(method, str)
        return RobustAccuracy(norm, radius, method)

    def statistic(self, function: str) -> Statistic:
        self.sign("(")
        table = self.take("name", "the name of a table").text
        self.sign(".")
        column = self.take("name", "the name of a column").text
        condition = self.inside(function, column)
        where = self.filters()
        self.sign(")", "`)`" if where else "`where` or `)`")
        return Statistic(function, table, column, condition, where)

    def inside(self, function: str, column: str) -> Condition | None:
        if self.next.text not in RELATIONS or self.next.kind != "sign":
            return None
        if function not in CONDITIONAL:
            raise self.refused("`where` or `)`; only share and count may compare a column", self.next)
        return Condition(column, self.relation(), self.value())

    def filters(self) -> tuple[Condition, ...]:
        if self.skip(",") and not self.at_word("where"):
            raise self.refused("`where`", self.next)
        if not self.at_word("where"):
            return ()
        self.place += 1
        conditions = [self.condition()]
        while self.at_word("and"):
            self.place += 1
            conditions.append(self.condition())
        return tuple(conditions)

    def condition(self) -> Condition:
        column = self.take("name", "the name of a column").text
        if self.next.kind == "sign" and self.next.text in RELATIONS:
            return Condition(column, self.relation(), self.value())
        return Condition(column, "=", True)

    def relation(self) -> Relation:
        return self.one_of(RELATIONS)

    def comparison(self) -> Comparison:
        return self.one_of(COMPARISONS)

    def value(self) -> Value:
        if self.next.kind == "text":
            return self.take("text", "a text").text
        if self.at_word("true") or self.at_word("false"):
            return self.take("name", "a truth value").text == "true"
        return self.number("a number, a text in quotation marks, true or false")

    def number(self, expected: str = "a number") -> float:
        start = self.next
        number = self.decimal(expected)
        if self.skip("/"):
            below = self.decimal(expected)
            number = number / below if below else math.nan
        if not math.isfinite(number):
            raise self.refused("a finite number", start)
        return number

    def decimal(self, expected: str) -> float:
        return float(self.take("number", expected).text)

    def end(self) -> None:
        if self.next.kind != "end":
            raise self.refused("the end of the rule", self.next)

    def one_of(self, signs: tuple[Made, ...]) -> Made:
        token = self.next
        for sign in signs:
            if token.kind == "sign" and token.text == sign:
                self.place += 1
                return sign
        raise self.refused(" or ".join(f"`{sign}`" for sign in signs), token)

    def sign(self, text: str, expected: str = "") -> None:
        if not self.skip(text):
            raise self.refused(expected or f"`{text}`", self.next)

    def skip(self, sign: str) -> bool:
        there = self.next.kind == "sign" and self.next.text == sign
        self.place += there
        return there

    def at_word(self, word: str) -> bool:
        return self.next.kind == "name" and self.next.text == word

    def take(self, kind: str, expected: str) -> Token:
        token = self.next
        if token.kind != kind:
            raise self.refused(expected, token)
        self.place += 1
        return token

    def refused(self, expected: str, got: Token | str, at: int | None = None) -> ValueError:
        place = got.at if isinstance(got, Token) else at or self.next.at
        return malformed(self.rule, place, expected, got)
