"""What the exact check makes of its engines: how far, how sure, and when it keeps silent."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from fractions import Fraction

import pytest

from dpaudit.core.algorithms import load
from dpaudit.deadline import Expired
from dpaudit.errors import Unsupported
from dpaudit.exact import horizons, worst_loss
from dpaudit.exact.horizons import judge, sizes
from dpaudit.judging import PrivacyClaim, Report
from dpaudit.verdict import Enclosure, Finding, Status

ADAP = load("adap_ucb", arms=2)
# neither the time that the real search took nor its charge is what these tests are about
REAL = replace(worst_loss(ADAP, 3), seconds=0.0, charge=None)


PATIENT = 100.0


def answering(monkeypatch, answers):
    """Let the engine answer `answers[horizon, streams]`, an enclosure and changes of the result."""
    asked = []

    def answer(algorithm, horizon, *, streams, budget, epsilon):
        asked.append((horizon, streams))
        given = answers[horizon, streams] if (horizon, streams) in answers else answers[horizon]
        if isinstance(given, Exception):
            raise given
        ends, changes = given if isinstance(given[1], dict) else (given, {})
        changes = {"certified": True, **changes}
        loss = Enclosure(*ends, changes.pop("certified"))
        return replace(REAL, loss=loss, horizon=horizon, streams=streams, **changes)

    monkeypatch.setattr(horizons, "worst_loss", answer)
    return asked


@pytest.fixture(autouse=True)
def no_hunt(monkeypatch):
    monkeypatch.setattr(horizons, "hunt", lambda *_: None)
    monkeypatch.setattr(horizons, "MARGIN", math.inf)  # every horizon is judged


def test_horizons_are_left_out_where_a_longer_one_is_quick(monkeypatch):
    monkeypatch.setattr(horizons, "MARGIN", 3.0)
    asked = answering(monkeypatch, dict.fromkeys([3, 4, 5, 6, 7], (0.1, 0.2)))
    finding = only([3, 4, 5, 6, 7])
    assert asked == [(3, "binary"), (3, "real"), (7, "real")]
    assert (finding.status, finding.horizon) == (Status.HOLDS, 7)
    # a longer run that fits no theorem does not keep the shorter ones from being judged
    answers = dict.fromkeys([3, 4, 5, 6], (0.1, 0.2)) | {7: Unsupported("no theorem")}
    asked = answering(monkeypatch, answers)
    finding = only([3, 4, 5, 6, 7])
    assert [horizon for horizon, _ in asked] == [3, 3, 7, 4, 5, 6, 7]
    assert (finding.status, finding.horizon) == (Status.HOLDS, 6)
    assert "no theorem" in finding.reason
    asked = answering(monkeypatch, dict.fromkeys([3, 4, 5], ((0.1, 0.2), {"certified": False})))
    only([3, 4, 5])
    assert (4, "real") in asked


def only(build_horizons, epsilon=1.0, **options):
    findings = judge(lambda horizon: ADAP, ADAP, epsilon, build_horizons, PATIENT, **options)
    assert len(findings) == 1
    return findings[0]


def test_sizes_begin_with_the_first_decision():
    assert list(sizes(2, 64)) == [3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64]
    assert list(sizes(5, 20)) == [6, 7, 8, 12, 16, 20]
    assert list(sizes(10, 20)) == [12, 16, 20]
    assert list(sizes(2, 2)) == []


def test_a_search_ends_where_a_proof_leaves_nothing_above_it(monkeypatch):
    monkeypatch.setattr(horizons, "hunt", lambda *_: pytest.fail("a proved claim is not hunted"))
    tight = dict.fromkeys(sizes(2, 64), (1 - 1e-7, 1.0))
    asked = answering(monkeypatch, tight)
    finding = only(list(sizes(2, 64)), ceiling=1.0)
    assert (asked[-1], finding.horizon) == ((16, "real"), 16)
    assert finding.reason.endswith("A proof leaves less than 1e-6 above it: it ended here.")
    # what is looser than the proof, and what no proof bounds, is searched as far as can be
    for answers, ceiling in ((dict.fromkeys(tight, (0.9, 1.0)), 1.0), (tight, math.inf)):
        answering(monkeypatch, answers)
        monkeypatch.setattr(horizons, "hunt", lambda *_: None)
        assert only(list(sizes(2, 64)), ceiling=ceiling).horizon == 64


def test_the_last_horizon_is_what_counts(monkeypatch):
    answering(monkeypatch, {3: (0.1, 0.2), 4: (0.3, 0.4)})
    finding = only([3, 4])
    assert finding.status is Status.HOLDS
    assert (finding.horizon, finding.epsilon_lower, finding.epsilon_upper) == (4, 0.3, 0.4)


def test_a_loss_that_falls_with_the_horizon_is_discarded(monkeypatch):
    answering(monkeypatch, {3: (0.3, 0.4), 4: (0.1, 0.2), 5: (0.5, 0.6)})
    finding = only([3, 4, 5])
    assert finding.status is Status.SILENT
    assert (finding.horizon, finding.epsilon_lower, finding.epsilon_upper) == (5, 0.5, math.inf)
    assert "T = 4 fell below shorter horizons" in finding.reason


def test_an_engine_that_breaks_is_silent(monkeypatch):
    answering(monkeypatch, {3: (0.3, 0.4), 4: StopIteration()})
    finding = only([3, 4])
    assert finding.horizon == 3
    assert "A bug in dpaudit ended it at T = 4 (StopIteration)." in finding.reason


@pytest.mark.parametrize("changes", [{"complete": False}, {"certified": False}])
def test_less_than_every_pair_never_holds(monkeypatch, changes):
    answering(monkeypatch, {3: ((0.3, 0.4), changes)})
    finding = only([3])
    assert finding.status is Status.SILENT
    assert finding.epsilon_upper == math.inf


def test_binary_streams_alone_never_hold(monkeypatch):
    asked = answering(monkeypatch, {3: (0.1, math.inf), 4: (0.3, 0.4), 5: (0.3, 0.4)})
    finding = only([3, 4, 5])
    assert asked == [(3, "binary"), (3, "real"), (4, "binary"), (5, "binary")]
    assert finding.status is Status.SILENT
    assert finding.epsilon_upper == math.inf


def test_epsilon_inside_the_enclosure_decides_nothing(monkeypatch):
    answering(monkeypatch, {3: (0.9, 1.1)})
    finding = only([3])
    assert finding.status is Status.SILENT
    assert "too close to epsilon" in finding.reason


def test_a_violation_that_does_not_stand_recomputing_is_no_refutation(monkeypatch):
    answering(monkeypatch, {3: (1.5, 1.6)})
    finding = only([3])
    assert finding.status is Status.SILENT
    assert "not confirmed" in finding.reason


def test_the_bracket_prefers_certainty_and_ignores_error_probabilities():
    exact = Finding("exact", Status.SILENT, "", epsilon_lower=0.5, certified=True, horizon=4)
    measured = replace(exact, epsilon_lower=0.6, certified=False, horizon=8)
    sampled = replace(exact, check="sample", epsilon_lower=0.7, error=1e-6, horizon=100)
    claim = PrivacyClaim("a", "a", {}, 1.0, 2, 100, True, "", True)
    assert Report(Status.SILENT, claim, (exact, measured, sampled)).lower == 0.5
    assert Report(Status.SILENT, claim, (measured, sampled)).lower == 0.6
    assert Report(Status.SILENT, claim, (replace(exact, instance=4), measured)).lower == 0.6
    assert Report(Status.SILENT, claim, (sampled,)).lower == 0.0


def test_the_charge_closes_what_no_computation_can(monkeypatch):
    # a computed end is never exactly 1
    answering(monkeypatch, {4: ((0.9999, 1.0000001), {"charge": Fraction(1)})})
    found = only([4])
    assert (found.status, found.epsilon_lower, found.epsilon_upper) == (Status.HOLDS, 0.9999, 1.0)
    assert "The upper end is the charge" in found.reason and "1.0000001" in found.reason


def test_a_charge_below_what_is_attained_is_not_believed(monkeypatch):
    answering(monkeypatch, {3: ((0.9999, 1.0000001), {"charge": Fraction(1, 2)})})
    found = only([3])
    assert (found.status, found.epsilon_upper) == (Status.SILENT, 1.0000001)
    assert "too close to epsilon" in found.reason


def test_the_charge_comes_with_the_loss():
    assert worst_loss(ADAP, 3).charge == Fraction(1, 2)
    assert worst_loss(ADAP, 4).charge == 1


def test_the_words_of_an_end_are_of_what_was_being_judged(monkeypatch):
    """A completed row beside "the budget ended during" the same horizon contradicted itself."""

    def ended(at):
        def answer(algorithm, horizon, *, streams, budget, epsilon):
            if (horizon, streams) == at:
                raise Expired
            return replace(REAL, loss=Enclosure(0.1, 0.2, True), horizon=horizon, streams=streams)

        monkeypatch.setattr(horizons, "worst_loss", answer)
        return only([3, 4]).reason

    assert "ended during T = 3." in ended((3, "binary"))
    assert "ended during the other streams of T = 3." in ended((3, "real"))
    assert "ended during T = 4." in ended((4, "real"))

    def leap(self, place, deadline):
        if place:
            raise Expired
        return place

    monkeypatch.setattr(horizons.Search, "_furthest", leap)
    assert ended(None).endswith("The budget ended after T = 3.")


def test_a_search_that_was_completed_says_why_it_has_no_upper_end(monkeypatch):
    doubt = {"certified": False, "doubt": "Own: the formula does not certainly rise at 0."}
    answering(monkeypatch, {3: ((0.3, 0.4), doubt)})
    assert "Not certified (Own: the formula does not certainly rise at 0), so" in only([3]).reason
    answering(monkeypatch, {3: (0.1, math.inf), 4: (0.3, 0.4)})
    assert "a part of [0,1]^T, so no upper end is stated." in only([3, 4]).reason
    answering(monkeypatch, {3: (0.1, 0.2)})
    assert "no upper end" not in only([3]).reason


def test_the_seconds_of_a_check_hold_its_hunt(monkeypatch):
    monkeypatch.setattr(horizons, "hunt", lambda *_: time.sleep(0.05))
    answering(monkeypatch, {3: (0.1, 0.2)})
    assert only([3]).seconds >= 0.05


def test_a_hunt_that_overruns_leaves_the_search_its_time(monkeypatch):
    monkeypatch.setattr(horizons, "hunt", lambda *_: time.sleep(60))
    monkeypatch.setattr(horizons, "GRACE", 0.01)
    answering(monkeypatch, {3: (0.1, 0.2)})
    assert only([3], hunting=1e-4).status is Status.HOLDS
