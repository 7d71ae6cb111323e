"""Which findings make which verdict: no weaker rule would do."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from dpaudit.errors import Contradiction
from dpaudit.examination import Examined
from dpaudit.judging import Case, PrivacyClaim, Report, verdict
from dpaudit.options import Options
from dpaudit.report import known
from dpaudit.verdict import Enclosure, Finding, Status, combine, exit_code

PROVED, HOLDS, SILENT, REFUTED = Status.PROVED, Status.HOLDS, Status.SILENT, Status.REFUTED


def found(status: Status, horizon: int) -> Finding:
    check = {PROVED: "structure", SILENT: "sample"}.get(status, "exact")
    return Finding(check, status, "reason", horizon=horizon)


@pytest.mark.parametrize(
    ("findings", "horizon", "expected"),
    [
        ([], 10, (SILENT, 0)),
        ([(SILENT, 10)], 10, (SILENT, 0)),
        ([(PROVED, 10)], 10, (PROVED, 10)),
        ([(PROVED, 4)], 10, (PROVED, 4)),
        ([(PROVED, 40)], 10, (PROVED, 10)),
        ([(HOLDS, 4), (SILENT, 10)], 10, (HOLDS, 4)),
        ([(HOLDS, 6), (PROVED, 4)], 10, (HOLDS, 6)),
        ([(HOLDS, 4), (PROVED, 6)], 10, (PROVED, 6)),
        ([(HOLDS, 6), (PROVED, 6)], 10, (PROVED, 6)),
        ([(HOLDS, 20), (PROVED, 10)], 10, (PROVED, 10)),
        ([(REFUTED, 6), (PROVED, 5)], 10, (REFUTED, 6)),
        ([(REFUTED, 6), (HOLDS, 5)], 10, (REFUTED, 6)),
        ([(REFUTED, 6), (REFUTED, 4)], 10, (REFUTED, 4)),
        ([(REFUTED, 10)], 10, (REFUTED, 10)),
        ([(REFUTED, 11)], 10, (SILENT, 0)),
        ([(REFUTED, 11), (PROVED, 10)], 10, (PROVED, 10)),
    ],
)
def test_verdicts_and_the_rounds_that_they_cover(findings, horizon, expected):
    for order in (findings, findings[::-1]):
        assert combine([found(*it) for it in order], horizon) == expected


@pytest.mark.parametrize("proved", [6, 7, 10, 99])
def test_a_proof_that_covers_a_refutation_contradicts_it(proved):
    for order in ([(PROVED, proved), (REFUTED, 6)], [(REFUTED, 6), (PROVED, proved)]):
        with pytest.raises(Contradiction):
            combine([found(*it) for it in order], 10)


def test_green_only_where_the_claimed_horizon_is_covered():
    for status in (PROVED, HOLDS):
        codes = [exit_code(status, covered, 10) for covered in (0, 9, 10, 11)]
        assert codes == [3, 3, 0, 0]
    assert [exit_code(REFUTED, covered, 10) for covered in (0, 9, 10)] == [1, 1, 1]
    assert [exit_code(SILENT, covered, 10) for covered in (0, 9, 10)] == [3, 3, 3]


def test_an_enclosure_has_its_ends_in_order():
    for lower, upper in ((1.0, 0.5), (math.nan, 1.0), (0.0, math.nan), (math.inf, 0.0)):
        with pytest.raises(ValueError, match="lower <= upper"):
            Enclosure(lower, upper, certified=True)
    assert Enclosure(1.0, 1.0, certified=True).width == 0
    assert Enclosure(0.25, 1.0, certified=True).width == 0.75
    assert Enclosure(math.inf, math.inf, certified=True).width == 0


def reported(*findings: Finding) -> Report:
    claim = PrivacyClaim("t", "t", {}, 1.0, 2, 10, True, "one reward of the stream", True)
    return Report(SILENT, claim, findings)


def bounded(lower: float, upper: float, horizon: int = 10, **more: Any) -> Finding:
    return Finding(
        "exact", SILENT, "", lower, upper, **{"certified": True, **more}, horizon=horizon
    )


def test_the_bracket_uses_only_what_speaks_of_the_claim():
    plain = bounded(0.5, 2.0)
    assert (reported(plain).lower, reported(plain).upper) == (0.5, 2.0)
    shorter, longer = bounded(0.75, 0.8, 9), bounded(0.25, 1.5, 11)
    assert reported(plain, shorter).lower == 0.75  # a run contains every shorter one
    assert reported(plain, shorter).upper == 2.0
    assert reported(plain, longer).upper == 1.5  # and is contained in every longer one
    assert reported(bounded(0.9, 1.0, 11)).lower == 0.0
    assert reported(plain, bounded(0.75, 0.8, instance=5)).lower == 0.5
    assert reported(plain, bounded(0.75, 0.8, instance=5)).upper == 2.0
    assert reported(plain, bounded(0.75, math.inf, error=1e-6)).lower == 0.5
    assert reported(plain, bounded(0.75, math.inf, certified=False)).lower == 0.5
    assert reported(bounded(0.75, math.inf, certified=False)).lower == 0.75
    assert (reported().lower, reported().upper) == (0.0, math.inf)


def test_partial_is_neither_green_nor_silent():
    claim = reported().claim
    for status in (PROVED, HOLDS):
        assert Report(status, claim, (), covered=9).partial
        assert Report(status, claim, (), covered=9).exit_code == 3
        assert not Report(status, claim, (), covered=10).partial
        assert Report(status, claim, (), covered=10).exit_code == 0
        assert Report(status, claim, (), covered=10, interrupted=True).exit_code == 130
    assert not Report(SILENT, claim, (), covered=9).partial


def test_another_instance_does_not_speak_for_the_claimed_one():
    case = Case(None, {}, reported().claim, None, None, 0)  # type: ignore[arg-type]
    other = Finding("exact", HOLDS, "", horizon=10, instance=5)
    assert verdict([other], case) == (SILENT, 0)
    assert verdict([other, found(HOLDS, 4)], case) == (HOLDS, 4)
    assert verdict([found(HOLDS, 10)], case) == (HOLDS, 10)


def test_where_a_charge_of_code_is_too_large_a_few_rounds_do_not_hold_for_the_claim(monkeypatch):
    from dpaudit import affine, code

    few = Finding("exact", HOLDS, "all of 5 rounds", epsilon_upper=0.9, horizon=5, certified=True)
    monkeypatch.setattr(affine, "judged", lambda *given: few)
    given = {"options": Options(), "read": None, "source": None, "end": 0.0}
    case = code._Case("own.py:Policy", 2, print, **given)
    assert case.exact(1.0) == [few]  # nothing is known of its charges
    case.proved = SimpleNamespace(lead=SimpleNamespace(path=(0,) * 99))
    (found,) = case.exact(1.0)
    assert (found.status, found.epsilon_upper) == (SILENT, math.inf)
    assert found.reason.startswith("No violation within 5 rounds.")


def test_no_crash_is_green_and_no_refutation_is_lost_in_one():
    claim = reported().claim
    for status, code in ((PROVED, 2), (HOLDS, 2), (SILENT, 2), (REFUTED, 1)):
        report = Report(status, claim, (), covered=10)
        asked = Examined("t", "t", True, Options(), report)
        assert replace(asked, crashed=True).exit_code == code
        assert asked.exit_code == report.exit_code


def test_a_level_that_runs_have_refuted_is_below_the_loss():
    level = replace(found(REFUTED, 26), check="sample", epsilon_lower=1.0, error=1e-6)
    assert known(level) == "1 < epsilon*(26)."
    assert known(replace(level, status=SILENT)) == ""
    assert known(replace(level, error=None)) == "1 <= epsilon*(26)."
