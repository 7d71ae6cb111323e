"""A lock of another notion than pure epsilon: written, read back, and compared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpaudit.cli import run
from dpaudit.core.notions import Kind, Notion, Stated, read_notion, read_stated
from dpaudit.gate import lock as locks
from dpaudit.gate.compare import weakened
from dpaudit.judging import PrivacyClaim, Report
from dpaudit.options import Options
from dpaudit.sources import Sources
from dpaudit.testing import assert_global_dp
from dpaudit.verdict import Bracket, Finding, Status

RHO = Notion(Kind.ZCDP, 0.5)


def reported(notion=RHO, upper=0.5, verdict=Status.PROVED):
    claim = PrivacyClaim("t", "t", {}, float("inf"), 2, 10, True, notion.neighbours, True, notion)
    inside = Bracket(notion.measure, 0.0, upper, certified=True)
    found = Finding("structure", verdict, "r", arms=2, horizon=10, bracket=inside)
    return Report(verdict, claim, (found,), covered=10)


def locked(notion=RHO):
    options = Options(horizon=10, stated=Stated(rho=0.5))
    return locks.entry_of("t", "t", options, reported(notion), Sources({}, {}))


def test_a_lock_reads_back(tmp_path):
    locks.write(tmp_path / "l", locks.Lock([locked()]))
    [entry] = locks.read(tmp_path / "l").claims
    assert read_notion(entry.notion) == RHO and (entry.epsilon, entry.upper) == ("inf", "0.5")
    assert locks.options_of(entry).stated == Stated(rho=0.5)


@pytest.mark.parametrize(
    ("notion", "said"),
    [
        (replace(RHO, level=0.51), "claims rho = 0.51, locked was rho = 0.5."),
        (Notion(Kind.GDP, 0.5), "claims mu = 0.5, locked was rho = 0.5."),
    ],
)
def test_a_weaker_or_another_claim_is_noticed(notion, said):
    assert said in [problem.message for problem in weakened(locked(), reported(notion))]


def test_notions_whose_level_has_one_name_are_told_apart():
    [problem, *_] = weakened(locked(Notion(Kind.PURE, 1.0)), reported(Notion(Kind.LOCAL, 1.0)))
    assert "epsilon = 1 (local DP), locked was epsilon = 1 (pure global DP)" in problem.message


def test_what_is_as_strong_is_no_problem():
    assert not weakened(locked(), reported())
    assert not weakened(locked(), reported(replace(RHO, level=0.4), 0.4))
    assert not weakened(locked(), reported(replace(RHO, unit=2)))
    [problem] = weakened(locked(replace(RHO, unit=2)), reported())
    assert "for 2 rewards" in problem.message
    [problem] = weakened(locked(), reported(upper=0.6))
    assert problem.message == "rho <= 0.5 became rho <= 0.6."


@pytest.mark.parametrize(
    "texts", [{"kind": "zcdp", "mu": "1", "unit": "1"}, {"kind": "own", "unit": "1"}, {}]
)
def test_a_damaged_notion_is_not_believed(texts):
    with pytest.raises(ValueError, match="claim|Kind"):
        read_notion(texts)
    with pytest.raises(ValueError, match="claim"):
        read_stated({"sigma": "1"})


def test_lock_and_gate_speak_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    sizes = ["--horizon", "200", "--method", "structure"]
    assert run(["lock", "adac_ucb", "--rho", "0.5", *sizes]) == 0
    assert run(["gate"]) == 0
    assert "rho*(200) <= 0.5" in capsys.readouterr().out
    assert run(["lock", "--update", "--rho", "0.6"]) == 2


def test_assertions_state_notions():
    report = assert_global_dp("adac_ucb", rho=0.5, horizon=100, method="structure")
    assert report.claim.notion == RHO and report.bracket.upper == 0.5
    report = assert_global_dp("adap_ucb", 2.0, unit=2, horizon=100, method="structure", alpha=3.1)
    assert report.claim.judged == Notion(Kind.PURE, 2.0, unit=2)
