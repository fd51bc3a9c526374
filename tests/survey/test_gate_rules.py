"""Rules of a gate: what is one, what is none, and that nothing else can happen."""

import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from separatrix.survey.gate import parse, read_rules
from separatrix.survey.gate.rules import (
    COMPARISONS,
    FUNCTIONS,
    RELATIONS,
    Accuracy,
    Condition,
    FailedFindings,
    RobustAccuracy,
    Rule,
    Statistic,
)

PAGE = (Path(__file__).parents[2] / "docs" / "gate.md").read_text("utf-8")

names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}(-[A-Za-z0-9_]{1,3})?", fullmatch=True)
numbers = st.floats(allow_nan=False, allow_infinity=False)
letters = st.characters(codec="utf-8").filter(lambda letter: letter.isprintable() and letter != '"')
texts = st.text(letters, max_size=8) | st.text(letters, max_size=4).map(lambda text: text.replace("'", "") + '"')
values = numbers | texts | st.booleans()
conditions = st.builds(Condition, names, st.sampled_from(RELATIONS), values)
functions = st.sampled_from([*FUNCTIONS, *(f"p{number}" for number in range(1, 100))])
filters = st.lists(conditions, max_size=3).map(tuple)


@st.composite
def statistics(draw):
    function, column = draw(functions), draw(names)
    inside = None
    if function in ("share", "count") and draw(st.booleans()):
        inside = Condition(column, draw(st.sampled_from(RELATIONS)), draw(values))
    return Statistic(function, draw(names), column, inside, draw(filters))


quantities = (
    statistics() | st.just(Accuracy()) | st.just(FailedFindings()) | st.builds(RobustAccuracy, texts, numbers, texts)
)
rules = st.builds(Rule, quantities, st.sampled_from(COMPARISONS), numbers)


@settings(deadline=None)
@given(rules)
@example(Rule(Statistic("p7", "where", "and", None, (Condition("where", "=", True),)), "<", -0.0))
def test_a_rule_written_and_read_again_is_the_same(rule):
    again = parse(str(rule))
    assert again == rule
    assert str(again) == str(rule)


WORDS = [
    *("median", "share", "count", "p5", "p0", "accuracy", "robust_accuracy", "audit", "failed", "margins", "l2"),
    *("where", "and", "true", "norm", "radius", "method", '"ℓ∞"', "'a'", '"', "'", "0.8", "-1", "8/255", "1e999", "/"),
    *("(", ")", ".", ",", "=", "!=", ">=", "<", " ", "\n", "\x00", "\u202e", "≥", "__import__"),
]


@settings(deadline=None, max_examples=300)
@given(st.text(max_size=60) | st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join))
def test_any_text_is_a_rule_or_refused(text):
    try:
        rule = parse(text)
    except ValueError as error:
        message = str(error)
    else:
        message = str(rule)
        assert parse(message) == rule
    assert message.isprintable()


@settings(deadline=None)
@given(rules, st.data())
def test_a_rule_with_one_word_missing_is_another_or_refused(rule, data):
    words = re.findall(r'"[^"]*"|\'[^\']*\'|[\w-]+|\W', str(rule))
    del words[data.draw(st.integers(0, len(words) - 1))]
    try:
        other = parse("".join(words))
    except ValueError:
        return
    assert parse(str(other)) == other


SAME = [
    ("median(margins.l2)>=0.8", " median ( margins . l2 )\t>= 0.8 "),
    ("median(a.b where c = 1) < 2", "median(a.b, where c=1.0) < 2e0"),
    ("share(a.b where c) > 0.5", "share(a.b where c = true) > 1/2"),
    ('count(a.b = "x") <= 0', "count(a.b = 'x') <= -0.0"),
    ('robust_accuracy(norm="l2",radius=1,method="PGD")>0', "robust_accuracy(method='PGD', norm='l2', radius=1.)>0"),
    ("median(a.b\nwhere c = 1\r\nand d = 2) > 1", "median(a.b where c = 1 and d = 2) > 1"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_spelling_is_free_where_the_meaning_is_one(one, other):
    assert parse(one) == parse(other)


def test_a_rule_says_what_it_was_written_as():
    assert parse(" accuracy>=1/2 ").text == "accuracy>=1/2"
    assert str(parse("accuracy>=1/2")) == "accuracy >= 0.5"
    assert parse("median(a.b) > 8/255").bound == 8 / 255


BAD = [
    ("", 1, "median, mean, min, max", "the end of the rule"),
    ("median", 7, "`(`", "the end of the rule"),
    ("median(", 8, "the name of a table", "the end of the rule"),
    ("median(margins)", 15, "`.`", "`)`"),
    ("median(margins.)", 16, "the name of a column", "`)`"),
    ("median(margins.2l) > 1", 16, "the name of a column", "`2`"),
    ("median(margins.l2", 18, "`where` or `)`", "the end of the rule"),
    ("median(margins.l2)", 19, "`>=` or `>` or `<=` or `<`", "the end of the rule"),
    ("median(margins.l2) = 3", 20, "`>=` or `>` or `<=` or `<`", "`=`"),
    ("median(margins.l2) >= x", 23, "a number", "`x`"),
    ("median(margins.l2) >= 3 4", 25, "the end of the rule", "`4`"),
    ("median(margins.l2) >= 0x10", 24, "the end of the rule", "`x10`"),
    ("median(margins.l2) >= 1,000", 24, "the end of the rule", "`,`"),
    ("median(margins.l2) >= '1'", 23, "a number", "`1`"),
    ("medain(margins.l2) >= 3", 1, "median, mean, min, max", "`medain`"),
    ("p0(margins.l2) > 1", 1, "median, mean, min, max", "`p0`"),
    ("p07(margins.l2) > 1", 1, "median, mean, min, max", "`p07`"),
    ("p100(margins.l2) > 1", 1, "median, mean, min, max", "`p100`"),
    ("p99.5(margins.l2) > 1", 4, "`(`", "`.`"),
    ("median(margins.l2 > 3) > 1", 19, "`where` or `)`; only share and count may compare", "`>`"),
    ("median(median(margins.l2)) > 1", 14, "`.`", "`(`"),
    ("median(margins.l2 where) > 1", 24, "the name of a column", "`)`"),
    ("median(margins.l2 where own = ) > 1", 31, "a number, a text in quotation marks, true or false", "`)`"),
    ("median(margins.l2 where own == 3) > 1", 30, "a number, a text", "`=`"),
    ("median(margins.l2 where own = 3 or own = 4) > 1", 33, "`)`", "`or`"),
    ("median(margins.l2, own = 3) > 1", 20, "`where`", "`own`"),
    ("accuracy() > 1", 9, "`>=` or `>`", "`(`"),
    ("accuracy >= nan", 13, "a number", "`nan`"),
    ("accuracy >= inf", 13, "a number", "`inf`"),
    ("accuracy >= 1e999", 13, "a finite number", "`1e999`"),
    ("accuracy >= 1/0", 13, "a finite number", "`1`"),
    ("accuracy >= --1", 13, "a name, a number, a text in quotation marks or a sign", "`-`"),
    ("accuracy >= 90 %", 16, "a name, a number, a text in quotation marks or a sign", "`%`"),
    ("accuracy ≥ 1", 10, "a name, a number, a text in quotation marks or a sign", "`≥`"),
    ("robust_accuracy() > 1", 17, "norm or radius or method", "`)`"),
    ('robust_accuracy(norm="ℓ2") > 1', 1, "robust_accuracy(norm=…, radius=…, method=…)", "no radius and no method"),
    ('robust_accuracy(norm="ℓ2", norm="ℓ2") > 1', 28, "norm, radius, method, each once", "`norm`"),
    ('robust_accuracy(eps="ℓ2") > 1', 17, "norm, radius, method, each once", "`eps`"),
    ("robust_accuracy(norm=2) > 1", 22, "a text in quotation marks", "`2`"),
    ('robust_accuracy(radius="2") > 1', 24, "a number", "`2`"),
    ('robust_accuracy(norm="ℓ2) > 1', 22, 'a text that ends with "', "no end of it"),
    ("audit.passed > 1", 7, "`failed`, or a function", "`passed`"),
    ("accuracy\x1b[31m >= 1", 9, "a character that can be seen", "U+001B"),
    ("accuracy\u202e >= 1", 9, "a character that can be seen", "U+202E"),
    ("accuracy\x00 >= 1", 9, "a character that can be seen", "U+0000"),
]


@pytest.mark.parametrize(("text", "at", "expected", "got"), BAD)
def test_a_malformed_rule_is_refused_at_its_place(text, at, expected, got):
    with pytest.raises(ValueError, match="In the rule") as refused:
        parse(text)
    message = str(refused.value)
    assert f", at character {at}: expected {expected}" in message
    assert message.endswith(f"; got {got}.")


HOSTILE = [
    "__import__('os').system('touch hacked')",
    "median(__import__('os').l2) >= 1",
    "median(margins.l2) >= __import__('os')",
    "(lambda: 1)() >= 1",
    "median(../../etc.passwd) >= 1",
    "median(margins.l2 where own = 1; drop) >= 1",
    "(" * 999,
    "median(" * 140,
    "[" * 100_000,
    "a" * 10_000_000,
    "median(margins.l2) >= " + "9" * 900,
    "median(margins.l2 where " + "a = 1 and " * 97 + ") > 1",
    "9" * 900,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_refused_in_a_short_line(text):
    with pytest.raises(ValueError, match="rule") as refused:
        parse(text)
    message = str(refused.value)
    assert len(message) < 450
    assert "\n" not in message


def test_the_rule_is_shown_around_the_place_where_it_is_long():
    with pytest.raises(ValueError, match="In the rule") as refused:
        parse("median(margins.l2 where " + "own = 1 and " * 50 + "there is the slip) > 1")
    assert "…" in str(refused.value)
    assert "there is the slip" in str(refused.value)


def test_rules_in_a_file_are_lines_with_comments(tmp_path):
    file = tmp_path / "rules.txt"
    lines = (
        "\ufeff# a gate",
        "",
        "accuracy >= 0.9  # nine in ten",
        '  count(a.b = "#") <= 0 # "quoted"\r',
        "accuracy>=0.9",
    )
    file.write_text("\n".join(lines), "utf-8")
    assert [rule.text for rule in read_rules(["audit.failed < 1"], file)] == [
        "audit.failed < 1",
        "accuracy >= 0.9",
        'count(a.b = "#") <= 0',
    ]


def test_every_malformed_line_of_a_file_is_named(tmp_path):
    file = tmp_path / "rules.txt"
    file.write_text('accuracy >= \naccuracy >= 1\ncount(a.b = "x) > 1 # one\n', "utf-8")
    with pytest.raises(ExceptionGroup) as refused:
        read_rules([], file)
    notes = [error.__notes__ for error in refused.value.exceptions]
    assert notes == [[f"{file}, line 1"], [f"{file}, line 3"]]
    assert "a text that ends with" in str(refused.value.exceptions[1])


@pytest.mark.parametrize("content", [b"", b"# nothing\n\n"])
def test_a_gate_without_rules_is_refused(tmp_path, content):
    file = tmp_path / "rules.txt"
    file.write_bytes(content)
    with pytest.raises(ValueError, match="`--rule` must be given at least once"):
        read_rules([], file)


def test_a_file_that_is_no_text_is_refused(tmp_path):
    file = tmp_path / "rules.bin"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="must be a text file in UTF-8"):
        read_rules([], file)


def documented():
    """The ten rules of the docs, as a file."""
    (block,) = re.findall(r"<!-- rules -->\n```\n(.*?)```", PAGE, re.DOTALL)
    return block


def test_the_docs_show_ten_rules(tmp_path):
    file = tmp_path / "rules.txt"
    file.write_text(documented(), "utf-8")
    rules = read_rules([], file)
    assert len(rules) == len(documented().splitlines()) == 10
    shown = {type(rule.quantity) for rule in rules}
    assert shown == {Statistic, Accuracy, RobustAccuracy, FailedFindings}


def test_the_grammar_in_the_docs_has_every_word():
    (grammar,) = re.findall(r"```ebnf\n(.*?)```", PAGE, re.DOTALL)
    words = set(re.findall(r'"([a-z_]+|[<>=!]+)"', grammar))
    assert {*FUNCTIONS, *RELATIONS, *COMPARISONS} <= words
    assert {"accuracy", "robust_accuracy", "audit", "failed", "where", "and", "norm", "radius", "method"} <= words
    defined = re.findall(r"^(\w+) +=", grammar, re.MULTILINE)
    used = set(re.findall(r"(?<![\"'\w])[a-z]{4,}(?![\"'\w])", re.sub(r'"[^"]*"|\'[^\']*\'', "", grammar)))
    assert used - {"any", "character"} <= {*defined, "true", "false", "but"}
