"""What counts as weaker, rule by rule."""

from __future__ import annotations

import math

import pytest
from test_gate_lock import entry

from dpaudit.commands.lock import _heard
from dpaudit.formats.result import ProblemRule
from dpaudit.gate.compare import problems, weakened
from dpaudit.gate.lock import LockedFinding
from dpaudit.gate.run import _seconds
from dpaudit.judging import PrivacyClaim, Report
from dpaudit.message import summary
from dpaudit.verdict import Finding, Status

SAME = {"mine.py": "00"}


def claim(epsilon=1.0, horizon=1000, anytime=True):
    return PrivacyClaim("t", "t", {}, epsilon, 2, horizon, anytime, "one reward", own=True)


def structure(upper=1.0, status=Status.PROVED, horizon=1000):
    return Finding("structure", status, "why", epsilon_upper=upper, horizon=horizon)


def exact(lower=0.5, upper=math.inf, status=Status.SILENT, horizon=4, certified=True):
    return Finding("exact", status, "why", lower, upper, certified, 2, horizon)


def report(verdict, *findings, **changes):
    concluded = [f.horizon for f in findings if f.status in (Status.PROVED, Status.HOLDS)]
    return Report(verdict, claim(**changes), findings, covered=max(concluded, default=0))


def rules(locked, found, sources=SAME):
    return [problem.rule for problem in problems(locked, found, sources)]


PROVED = report(Status.PROVED, structure(), exact())


def test_the_same_or_stronger_is_no_problem():
    assert rules(entry(), PROVED) == []
    assert rules(entry(verdict=Status.SILENT, upper="inf"), PROVED) == []
    assert rules(entry(upper="2.0"), PROVED) == []
    assert rules(entry(epsilon="1.5"), PROVED) == []


def test_a_larger_lower_bound_below_the_claim_is_no_problem():
    assert rules(entry(lower="0.1"), report(Status.PROVED, structure(), exact(0.9))) == []


@pytest.mark.parametrize("verdict", [Status.HOLDS, Status.SILENT])
def test_a_weaker_verdict(verdict):
    found = report(verdict, structure(status=Status.SILENT), exact(status=verdict))
    assert rules(entry(), found) == [ProblemRule.VERDICT]


def test_a_refutation_is_one_problem_not_three():
    found = report(Status.REFUTED, exact(lower=1.5, status=Status.REFUTED))
    assert rules(entry(), found) == [ProblemRule.REFUTED]
    assert rules(entry(), found, {"mine.py": "11"}) == [ProblemRule.REFUTED, ProblemRule.SOURCE]
    assert [it.rule for it in weakened(entry(), found)] == [ProblemRule.VERDICT, ProblemRule.LOWER]


def test_a_refutation_that_was_accepted_is_no_problem():
    found = report(Status.REFUTED, exact(lower=1.5, status=Status.REFUTED))
    assert rules(entry(verdict=Status.REFUTED, upper="inf"), found) == []


def test_an_upper_bound_that_grows():
    above = math.nextafter(1.0, 2.0)
    grown = report(Status.PROVED, structure(above), epsilon=1.5)
    assert rules(entry(epsilon="1.5"), grown) == [ProblemRule.UPPER]
    lost = report(Status.PROVED, structure(math.inf))
    assert rules(entry(), lost) == [ProblemRule.UPPER]


def test_an_enclosure_may_differ_in_its_last_digits_only():
    locked = entry(verdict=Status.HOLDS, upper="0.5")
    for upper, expected in ((0.5 * (1 + 1e-12), []), (0.5 * (1 + 1e-8), [ProblemRule.UPPER])):
        found = report(Status.HOLDS, exact(0.4, upper, Status.HOLDS, horizon=1000))
        assert rules(locked, found) == expected


def test_a_lower_bound_above_the_claim():
    found = report(Status.SILENT, exact(lower=1.0001))
    assert rules(entry(verdict=Status.SILENT, upper="inf"), found) == [ProblemRule.LOWER]
    assert rules(entry(verdict=Status.SILENT, upper="inf"), report(Status.SILENT, exact(1.0))) == []


def test_a_weaker_claim():
    assert rules(entry(), report(Status.PROVED, structure(), epsilon=1.0000001)) == [
        ProblemRule.CLAIM
    ]
    assert rules(entry(), report(Status.PROVED, structure(), anytime=False)) == [ProblemRule.CLAIM]
    short = report(Status.PROVED, structure(horizon=999), horizon=999)
    assert rules(entry(), short) == [ProblemRule.CLAIM]


def test_holding_at_a_smaller_size():
    held = LockedFinding("exact", Status.HOLDS, 8, "0.5", "0.9", True, None)
    locked = entry(verdict=Status.HOLDS, covered=8, upper="inf", findings=[held])
    small = report(Status.HOLDS, exact(0.5, 0.9, Status.HOLDS, horizon=4))
    assert rules(locked, small) == [ProblemRule.VERDICT]
    large = report(Status.HOLDS, exact(0.5, 0.9, Status.HOLDS, horizon=8))
    assert rules(locked, large) == []


def test_proving_fewer_rounds():
    part = report(Status.PROVED, structure(horizon=900))
    [problem] = weakened(entry(upper="inf"), part)
    assert problem.rule is ProblemRule.VERDICT
    said = "PROVED up to 900 rounds, locked were 1,000; `gate --budget SECONDS` gives it more time."
    assert problem.message == said
    assert weakened(entry(covered=900, upper="inf"), part) == []
    assert "up to 900 of 1,000 rounds" in summary(part, "mine")
    assert "rounds" not in summary(PROVED, "mine")
    assert "a larger --budget" in _heard("mine", part)[-1] and len(_heard("mine", PROVED)) == 1


def test_a_proof_that_its_time_ended_gets_more_of_it():
    whole, part = entry(), entry(covered=900)
    assert _seconds(part) == 2 * _seconds(whole) == 2 * float(whole.options.budget)
    assert _seconds(entry(verdict=Status.SILENT, covered=0)) == _seconds(whole)


def test_source_that_changed_appeared_or_vanished():
    for sources, said in (
        ({"mine.py": "11"}, "mine.py."),
        ({"mine.py": "00", "new.py": "22"}, "new.py (new)."),
        ({}, "mine.py (gone)."),
    ):
        [problem] = problems(entry(), PROVED, sources)
        assert problem.rule is ProblemRule.SOURCE
        assert said in problem.message and "lock --update" in problem.message
