"""A verdict speaks of the claimed instance and horizon; what is known of others is said so."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import pytest

from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.algorithms.dp_se import DPSE
from dpaudit.core.episodes import DoublingEpisodes
from dpaudit.core.noise import Laplace
from dpaudit.core.scores import Affine
from dpaudit.errors import InvalidArgument
from dpaudit.judging import check
from dpaudit.options import Options
from dpaudit.report import meaning
from dpaudit.structure import prove
from dpaudit.target import Target
from dpaudit.verdict import Status

EXACT = ("structure", "exact")


@dataclass(frozen=True, kw_only=True)
class Told(DoublingEpisodes):
    """Enough noise for the horizon that it is built for, but for instances below 10 rounds."""

    horizon: int

    def release(self, rows):
        right = super().release(rows)
        factor = Fraction(1, 4) if self.horizon < 10 else 1
        return replace(right, noise=Laplace(right.noise.scale * factor))

    def rule(self, pulls, time, m):
        return Affine(m.sqrt(2 * m.log(time) / pulls))


@dataclass(frozen=True, kw_only=True)
class Distrusted(Told):
    """The same, in a state that no proof trusts."""

    def start(self):
        return ListState(super().start())

    def step(self, state):
        plain = Told(arms=self.arms, epsilon=self.epsilon, horizon=self.horizon)
        right = plain.step(state[0])
        return replace(right, then=lambda answer: ListState(right.then(answer)))


class ListState(tuple):
    """A state with room for more than it shows."""

    def __new__(cls, state):
        return super().__new__(cls, (state,))


def judged(source, horizon, **options):
    options = {"methods": EXACT, "budget": 20.0} | options
    return check(Target("mine.py:Mine", source), Options(horizon=horizon, **options))


def test_a_horizon_among_the_parameters_makes_instances_whatever_else_is_said():
    class Forgotten(Told):
        anytime = True

    assert Forgotten.told() and not Forgotten(arms=2, horizon=9).claim.anytime
    assert not AdapUCB.told() and DPSE.told()


def test_a_violation_of_another_instance_does_not_outrank_the_proof_of_the_claimed_one():
    report = judged(Told, 1000, exact_horizon=3)
    assert [f.status for f in report.findings] == [Status.PROVED, Status.REFUTED]
    assert report.findings[1].instance == 3
    assert (report.verdict, report.covered, report.exit_code) == (Status.PROVED, 1000, 0)
    said = meaning(report)
    assert "The instance built for 3 rounds is another one, and does not have epsilon = 1." in said
    assert report.lower == 0.0  # what the other one loses is no bound on this one


def test_a_violation_of_another_instance_is_named_as_such_where_nothing_covers_the_claim():
    report = judged(Told, 1000, exact_horizon=3, methods=("exact",))
    assert (report.verdict, report.exit_code) == (Status.REFUTED, 1)
    said = meaning(report)
    assert "the instance of Mine built for 3 rounds does not have epsilon = 1." in said
    assert "The claimed one, built for 1,000 rounds, is another instance" in said


def test_the_claimed_instance_itself_is_refuted():
    report = judged(Told, 5, exact_horizon=5)
    assert (report.verdict, report.exit_code) == (Status.REFUTED, 1)
    assert "within the first 5 rounds of the claimed instance" in meaning(report)


@pytest.mark.parametrize("horizon", [12, 1000])
def test_what_holds_at_another_size_is_no_verdict_on_the_claim(horizon):
    report = judged(Distrusted, horizon, exact_horizon=11)
    structure, exact = report.findings
    assert structure.status is Status.SILENT and "ListState" in structure.reason
    assert exact.instance == 11
    assert (report.verdict, report.exit_code) == (Status.SILENT, 3)


def test_what_holds_at_the_claimed_size_is_green():
    report = judged(Distrusted, 11, exact_horizon=11, budget=60.0)
    assert report.findings[1].instance is None
    assert (report.verdict, report.covered, report.exit_code) == (Status.HOLDS, 11, 0)


def test_a_proof_that_the_budget_cut_short_says_how_far_it_got():
    """The walk of 10 arms' eliminations does not end in any budget of a test."""

    @dataclass(frozen=True, kw_only=True)
    class Outside(DPSE):
        def step(self, state):
            return super().step(state)  # not in the frame of phases

    report = judged(Outside(arms=10, horizon=10**7), 10**7, methods=("structure",), budget=3.0)
    found = report.findings[0]
    assert found.status is Status.PROVED and 0 < found.horizon < 10**7
    assert (report.verdict, report.exit_code) == (Status.PROVED, 3)
    assert report.covered == found.horizon and report.upper == float("inf")
    assert f"no action sequence of up to {report.covered:,} rounds" in meaning(report)
    assert "10,000,000 rounds were claimed" in meaning(report)


def test_a_partial_proof_is_no_longer_than_what_was_asked_again():
    """Steps that answer differently later are distrusted also where the budget ends the walk."""
    calls = [0]

    @dataclass(frozen=True, kw_only=True)
    class Moody(DPSE):
        def step(self, state):
            calls[0] += 1
            right = super().step(state)
            if calls[0] > 3000 and hasattr(right.request, "noise"):
                return replace(right, request=replace(right.request, noise=Laplace(10**9)))
            return right

    finding = prove(Moody(arms=10, horizon=10**7), 10**7, budget=2.0)
    assert finding.status is Status.SILENT


def test_nothing_is_judged_beyond_the_claim():
    with pytest.raises(InvalidArgument, match="exact_horizon=20 must be at most 10"):
        judged(AdapUCB, 10, exact_horizon=20)
