"""``separatrix check``: lines, files and exit codes."""

import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from tests.survey.gate_runs import Finding, survey_of

HOLDS, FAILS, UNDECIDED = "median(margins.l2) >= 0.5", "accuracy >= 0.99", "accuracy >= 0.91"
PAGE = Path(__file__).parents[2] / "docs" / "gate.md"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A survey of 400 samples."""
    return survey_of(tmp_path_factory.mktemp("survey") / "run").folder


@pytest.fixture(autouse=True)
def findings(monkeypatch):
    """What the audit is said to have found."""
    found = [Finding("eval mode", "passed")]
    stand_in = SimpleNamespace(findings=lambda run: tuple(found))
    monkeypatch.setitem(sys.modules, "separatrix.report.findings", stand_in)
    return found


@pytest.fixture
def check(command, run):
    """The command, asked for some rules."""
    return lambda *rules, options=(): command(
        "check", run, *(word for rule in rules for word in ("--rule", rule)), *options
    )


CODES = [
    ((HOLDS,), (), 0),
    ((FAILS,), (), 1),
    ((UNDECIDED,), (), 1),
    ((UNDECIDED,), ("--allow-undecided",), 0),
    ((HOLDS, FAILS), (), 1),
    ((FAILS, UNDECIDED), ("--allow-undecided",), 1),
    ((HOLDS, HOLDS), (), 0),
]


@pytest.mark.parametrize(("rules", "options", "code"), CODES)
def test_the_exit_code_says_whether_all_rules_hold(check, rules, options, code):
    ended = check(*rules, options=options)
    assert (ended.code, ended.err) == (code, "")
    assert len(ended.out.splitlines()) == len(set(rules))


def test_a_line_has_verdict_rule_number_interval_and_samples(check):
    lines = check(HOLDS, FAILS, UNDECIDED, "min(margins.l2) > 0").out.splitlines()
    number = r"\d[\d.e-]*"
    interval = rf"95 % interval {number} to {number}, 400 samples asked"
    patterns = [
        rf"holds      {re.escape(HOLDS)}  {number} input units \(upper bound, ℓ2\), {interval}, \d+ infinite",
        rf"fails      {re.escape(FAILS)}  {number} \(estimate\), {interval}",
        rf"undecided  {re.escape(UNDECIDED)}  {number} \(estimate\), {interval}, more samples would decide",
        rf"holds      min\(margins.l2\) > 0  {number} input units .*, no interval, 400 samples asked, \d+ infinite",
    ]
    assert all(re.fullmatch(pattern, line) for pattern, line in zip(patterns, lines, strict=True))


def test_rules_of_a_file_are_judged_with_the_others(check, tmp_path):
    file = tmp_path / "rules.txt"
    file.write_text(f"# the gate\n{FAILS} # too much\n", "utf-8")
    ended = check(HOLDS, options=("--rules", file))
    assert ended.code == 1
    assert [line.split()[0] for line in ended.out.splitlines()] == ["holds", "fails"]


def test_a_confidence_can_be_asked_for(check):
    assert ", 99 % interval " in check(HOLDS, options=("--confidence", "0.99")).out
    ended = check(HOLDS, options=("--confidence", "95"))
    assert (ended.code, ended.complaint) == (2, "`confidence` must be a number from 0.5 to below 1; got 95.")


REFUSED = [
    ("accuracy >= ", "In the rule `accuracy >= `, at character 13: expected a number; got the end of the rule."),
    ("accuracy >= 'x", "In the rule `accuracy >= 'x`, at character 13: expected a text that ends with '; got no end"),
    (
        "median(spam.l2) > 1",
        "In the rule `median(spam.l2) > 1`: the run has no table spam: that was not asked; the tab",
    ),
    ("median(margins.spam) > 1", "In the rule `median(margins.spam) > 1`: the table margins has no column spam; it h"),
    ("spam(margins.l2) > 1", "In the rule `spam(margins.l2) > 1`, at character 1: expected median, mean, min, max, sh"),
    ("__import__('os')", "In the rule `__import__('os')`, at character 1: expected median, mean, min, max, share, cou"),
    ("(" * 100_000, "A rule must have at most 1000 characters; got 100000: `(((((((((((((((((((((((((((((((((("),
    (
        "accuracy \x1b[2J>= 1",
        "In the rule `accuracy [2J>= 1`, at character 10: expected a character that can be seen; ",
    ),
]


@pytest.mark.parametrize(("rule", "message"), REFUSED, ids=range(len(REFUSED)))
def test_a_bad_rule_is_one_line(check, rule, message):
    ended = check(rule)
    assert ended.code == 2
    assert ended.complaint.startswith(message)
    assert ended.complaint.isprintable()


def test_each_bad_rule_is_a_line_and_none_is_judged(check):
    ended = check(HOLDS, "accuracy", "median")
    assert (ended.code, ended.out) == (2, "")
    assert [line[:40] for line in ended.err.splitlines()] == [
        "separatrix: In the rule `accuracy`, at c",
        "separatrix: In the rule `median`, at cha",
    ]


def test_a_bad_line_of_a_file_is_named(command, run, tmp_path):
    file = tmp_path / "rules.txt"
    file.write_text("\naccuracy = 1\n", "utf-8")
    ended = command("check", run, "--rules", file)
    assert ended.code == 2
    assert ended.complaint.startswith(f"{file}, line 2: In the rule `accuracy = 1`, at character 10: expected `>=`")
    ended = command("check", run, "--rules", tmp_path / "none.txt")
    assert (ended.code, ended.complaint) == (2, f"{tmp_path / 'none.txt'}: No such file or directory")


def test_half_a_survey_is_judged_only_where_that_is_allowed(command, tmp_path):
    half = survey_of(tmp_path / "half", 100, units=2, done=7).folder
    ended = command("check", half, "--rule", HOLDS)
    assert ended.code == 2
    assert ended.complaint.startswith(f"`RUN` must be complete; got 7 of 10 units in {half}, partial. Finish it")
    ended = command("check", half, "--rule", HOLDS, "--allow-partial")
    assert ended.code == 0
    assert ended.err == f"separatrix: warning: the run is not complete: 7 of 10 units in {half}, partial\n"


def test_an_audit_that_failed_is_a_warning_and_decides_nothing(check, findings):
    findings += [Finding("bounds <b>", "failed"), Finding("precision", "failed")]
    ended = check(HOLDS)
    assert ended.code == 0
    assert ended.err.startswith("separatrix: warning: checks of the audit failed: bounds <b>, precision; a rule `audit")
    ended = check(HOLDS, "audit.failed <= 0")
    assert ended.code == 1
    assert ended.out.splitlines()[1] == "fails      audit.failed <= 0  2 checks (count), no interval, 3 checks made"


def test_json_holds_every_number(check, tmp_path, findings):
    findings.append(Finding("bounds", "failed"))
    file = tmp_path / "new" / "gate.json"
    rules = (HOLDS, "max(margins.l2) < 1", UNDECIDED, "p1(margins.l2 where own = 3) > 0.1")
    ended = check(*rules, options=("--json", file))
    held = json.loads(file.read_bytes())
    assert [entry["rule"] for entry in held["rules"]] == list(rules)
    assert [entry["verdict"] for entry in held["rules"]] == [line.split()[0] for line in ended.out.splitlines()]
    assert (held["format"], held["passed"], held["confidence"], len(held["warnings"])) == (1, False, 0.95, 1)
    median, greatest, accuracy, percentile = held["rules"]
    assert median["low"] < median["value"] < median["high"]
    assert (median["kind"], median["unit"], median["norm"], median["samples"]) == (
        "upper bound",
        "input units",
        "ℓ2",
        400,
    )
    assert (greatest["value"], greatest["low"], greatest["high"]) == ("inf", None, None)
    assert (accuracy["kind"], accuracy["unit"]) == ("estimate", "")
    assert percentile["low"] == 0


def test_json_agrees_with_the_exit_code(check, tmp_path):
    for rules, options, code in CODES:
        ended = check(*rules, options=(*options, "--json", tmp_path / "gate.json"))
        assert ended.code == code
        assert json.loads((tmp_path / "gate.json").read_bytes())["passed"] == (code == 0)


def cases(file):
    """The suite and its test cases, by the name of the rule."""
    root = ElementTree.parse(file).getroot()
    assert root.tag == "testsuites"
    (suite,) = root
    return suite, {case.get("name"): case for case in suite.iter("testcase")}


def test_junit_has_a_case_a_rule(check, tmp_path, findings):
    findings.append(Finding("a\x00b & <c>", "failed"))
    file = tmp_path / "gate.xml"
    check(HOLDS, FAILS, UNDECIDED, options=("--junit", file))
    suite, found = cases(file)
    assert [suite.get(key) for key in ("tests", "failures", "errors", "skipped")] == ["3", "2", "0", "0"]
    assert list(found) == [HOLDS, FAILS, UNDECIDED]
    assert all(case.get("classname") and case.get("time") for case in found.values())
    assert found[HOLDS].find("failure") is None
    assert found[FAILS].find("failure").get("type") == "fails"
    assert found[UNDECIDED].find("failure").get("type") == "undecided"
    assert "samples asked, more samples would decide" in found[UNDECIDED].find("failure").text
    assert "ab & <c>" in suite.find("system-err").text


def test_junit_agrees_with_the_exit_code(check, tmp_path):
    file = tmp_path / "gate.xml"
    for rules, options, code in CODES:
        assert check(*rules, options=(*options, "--junit", file)).code == code
        suite, found = cases(file)
        failed = sum(case.find("failure") is not None for case in found.values())
        skipped = sum(case.find("skipped") is not None for case in found.values())
        assert (failed > 0) == (code == 1)
        assert (suite.get("failures"), suite.get("skipped")) == (str(failed), str(skipped))


def test_names_of_folders_cannot_spoil_the_files(command, run, tmp_path):
    folder = tmp_path / 'a "b" <c>\x01\x1b]\udc80 &amp;'
    folder.symlink_to(run)
    ended = command("check", folder, "--rule", HOLDS, "--junit", tmp_path / "x.xml", "--json", tmp_path / "x.json")
    assert ended.code == 0
    suite, _ = cases(tmp_path / "x.xml")
    assert suite.get("name").endswith('a "b" <c>] &amp;')
    assert json.loads((tmp_path / "x.json").read_bytes())["run"] == str(folder)


def test_files_are_whole_or_as_they_were(check, tmp_path, monkeypatch):
    file = tmp_path / "gate.json"
    file.write_text("before", "utf-8")

    def full(stage, path):
        raise OSError(28, "No space left on device", str(path))

    with monkeypatch.context() as patched:
        patched.setattr("separatrix.runs.files.reached", full)
        ended = check(HOLDS, options=("--json", file))
    assert ended.code == 2
    assert ended.err == f"separatrix: {file}: No space left on device\n"
    assert file.read_text("utf-8") == "before"
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["gate.json"]


def test_a_folder_without_a_run_is_refused(command, tmp_path):
    ended = command("check", tmp_path, "--rule", HOLDS)
    assert (ended.code, ended.complaint) == (2, f"`folder` must hold a run; got {tmp_path} without manifest.json.")


def test_the_lines_in_the_docs_look_like_this(check):
    shown = re.findall(r"^(?:holds|undecided)  .*$", PAGE.read_text("utf-8"), re.MULTILINE)
    rules = [re.sub(r"^\w+ +(.*?>= [\d.]+)  .*$", r"\1", line) for line in shown]
    said = check(*rules).out.splitlines()
    words = [[re.sub(r"[\d.]+", "0", line).split(", 0 infinite")[0] for line in lines] for lines in (shown, said)]
    assert len(shown) == 2
    assert words[0] == words[1]
