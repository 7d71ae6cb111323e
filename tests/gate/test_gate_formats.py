"""JUnit, SARIF and annotations against their published rules, with texts hard to escape."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schema_checks import DATA, json_errors, xml_errors

from dpaudit.formats import annotations, junit, sarif
from dpaudit.formats.result import ClaimResult, CodeLine, Problem, ProblemRule, exit_code
from dpaudit.judging import PrivacyClaim, Report
from dpaudit.verdict import Finding, Status

SARIF = DATA / "sarif-schema-2.1.0.json"

CLAIM = PrivacyClaim(
    "mine.py:Mine", "Mine", {"arms": 2}, 1.0, 2, 1000, True, "one reward", own=True
)
REPORT = Report(Status.REFUTED, CLAIM, (Finding("exact", Status.REFUTED, "why", 1.5),))
REFUTED = ClaimResult(
    "mine.py:Mine",
    "mine.py:Mine",
    REPORT,
    (
        Problem(ProblemRule.REFUTED, "epsilon = 1 is refuted."),
        Problem(ProblemRule.SOURCE, "changed."),
    ),
    Status.PROVED,
    ("a note",),
    "line one\nline two: 100 %, really",
    "python -m dpaudit replay x.json",
    CodeLine("src/my file.py", 12),
    1.23456,
)
VANISHED = ClaimResult("gone", "gone", None, (Problem(ProblemRule.VANISHED, "no file gone.py."),))
FINE = ClaimResult(
    "fine", "fine", replace(REPORT, verdict=Status.PROVED, covered=CLAIM.horizon), seconds=1234.5
)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
problems = st.builds(Problem, st.sampled_from(list(ProblemRule)), texts)
results = st.builds(
    ClaimResult,
    claim=texts,
    target=texts,
    report=st.sampled_from([REPORT, None]),
    problems=st.lists(problems, max_size=3).map(tuple),
    details=texts,
    place=st.one_of(st.none(), st.builds(CodeLine, texts.filter(bool), st.integers(1, 999))),
    seconds=st.floats(0, 1e5),
)


patient = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def plain(results):
    return json.loads(json.dumps(sarif.render(results)))


@patient
@given(st.lists(results, max_size=3))
def test_sarif_is_valid_whatever_the_texts(found):
    log = plain(found)
    assert not json_errors(log, SARIF)
    [run] = log["runs"]
    assert len(run["results"]) == sum(len(result.problems) for result in found)
    ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(ids[it["ruleIndex"]] == it["ruleId"] for it in run["results"])


def test_the_schema_check_can_fail():
    log = plain([REFUTED])
    for spoil in (
        lambda run: run["tool"]["driver"].pop("name"),
        lambda run: run["results"][0].update(level="grave"),
        lambda run: run["results"][0].update(surprise=1),
        lambda run: run["results"][0].pop("message"),
        lambda run: run["results"][0]["locations"][0]["physicalLocation"]["region"].update(
            startLine=0
        ),
        lambda run: run["results"][0].update(ruleIndex="0"),
    ):
        wrong = copy.deepcopy(log)
        spoil(wrong["runs"][0])
        assert json_errors(wrong, SARIF)


def test_rule_ids_are_stable_and_fingerprints_do_not_move_with_lines():
    assert {rule.name: rule.id for rule in ProblemRule} == {
        "REFUTED": "DPA001", "VERDICT": "DPA002", "UPPER": "DPA003", "LOWER": "DPA004",
        "SOURCE": "DPA005", "VANISHED": "DPA006", "CLAIM": "DPA007", "UNDECIDED": "DPA008",
        "CONFORMS": "DPA009",
    }  # fmt: skip

    def prints(result):
        found = plain([result])["runs"][0]["results"]
        return [it["partialFingerprints"]["dpauditClaim/v1"] for it in found]

    moved = replace(REFUTED, place=CodeLine("elsewhere.py", 99), details="other", seconds=9.0)
    assert prints(REFUTED) == prints(moved)
    assert len(set(prints(REFUTED) + prints(replace(REFUTED, claim="other")))) == 4


def test_sarif_points_at_the_file():
    found = plain([REFUTED])["runs"][0]["results"][0]
    where = found["locations"][0]["physicalLocation"]
    assert where["artifactLocation"]["uri"] == "src/my%20file.py"
    assert where["region"]["startLine"] == 12
    assert "line two" in found["message"]["text"]


def parsed(found):
    return ElementTree.fromstring(junit.render(found, {"dpaudit": "1", "odd\x00": "\x1b"}).encode())


@patient
@given(st.lists(results, max_size=3))
def test_junit_is_valid_whatever_the_texts(found):
    root = parsed(found)
    assert not xml_errors(root)
    suite = root.find("testsuite")
    assert int(suite.get("tests")) == len(suite.findall("testcase")) == len(found)
    red = sum(bool(case.findall("failure")) for case in suite.findall("testcase"))
    broken = sum(bool(case.findall("error")) for case in suite.findall("testcase"))
    assert (red, broken) == (int(suite.get("failures")), int(suite.get("errors")))


def test_junit_says_what_failed():
    root = parsed([REFUTED, VANISHED, FINE])
    suite = root.find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    failure = suite.find("testcase/failure")
    assert failure.get("type") == "DPA001 ClaimRefuted"
    assert failure.text == REFUTED.details
    assert suite.get("time") == "1235.735"


def test_the_xsd_check_can_fail():
    for spoil in (
        lambda root: root.find("testsuite").attrib.pop("errors"),
        lambda root: root.find("testsuite").set("time", "soon"),
        lambda root: ElementTree.SubElement(root.find("testsuite/testcase"), "properties"),
        lambda root: root.find("testsuite/testcase").set("file", "x"),
        lambda root: ElementTree.SubElement(root, "testcase"),
    ):
        root = parsed([REFUTED])
        spoil(root)
        assert xml_errors(root)


def runner(line):
    """Parse a workflow command as the runner does: first `::`, properties, then the data."""
    assert line.startswith("::")
    head, data = line[2:].split("::", 1)
    name, _, rest = head.partition(" ")
    pairs = dict(pair.split("=", 1) for pair in rest.split(",")) if rest else {}

    def back(text, more=()):
        for code, sign in (*more, ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
            text = text.replace(code, sign)
        return text

    extra = (("%3A", ":"), ("%2C", ","))
    return name, {key: back(value, extra) for key, value in pairs.items()}, back(data)


@patient
@given(st.lists(results, max_size=2))
def test_annotations_survive_the_runner(found):
    lines = list(annotations.render(found))
    expected = [(result, problem) for result in found for problem in result.problems]
    assert len(lines) == len(expected)
    for line, (result, problem) in zip(lines, expected, strict=True):
        assert "\n" not in line and "\r" not in line
        name, pairs, data = runner(line)
        assert name == ("warning" if problem.rule is ProblemRule.UNDECIDED else "error")
        assert data.startswith(f"{result.claim}: {problem.message}")
        assert pairs["title"] == f"dpaudit {problem.rule.id} {problem.rule.label}"
        if result.place is not None:
            assert (pairs["file"], pairs["line"]) == (result.place.file, str(result.place.line))


@pytest.mark.parametrize(
    ("found", "code"),
    [([], 0), ([FINE], 0), ([FINE, VANISHED], 4), ([VANISHED, REFUTED], 1), ([REFUTED], 1)],
)
def test_exit_codes(found, code):
    assert exit_code(found) == code
