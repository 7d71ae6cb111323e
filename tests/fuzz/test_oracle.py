"""The oracle against closed forms, and the checks against answers that are wrong."""

from __future__ import annotations

import math
from dataclasses import replace

import checks
import numpy as np
import pytest
from cases import Case
from checks import Tally, Truth, examine
from declarations import Pick, Program, Pull, Script, Tell, Trim
from framed import Framed
from frequencies import RUNS, frequencies
from oracle import Integral, all_paths
from scripted_rules import Index

from dpaudit.core.algorithm import Algorithm
from dpaudit.exact.likelihood import Likelihood

TOLD = (Tell(None, None, ("last", 1), ("Laplace", 1)),)
OPENING = (Pull(0), *TOLD, Pull(1), *TOLD)


def script(*body: object, opening: tuple[object, ...] = OPENING, arms: int = 2) -> Script:
    return Script(arms=arms, program=Program(opening, body, tuple(range(arms))))


def pick(shift: object = 0, kind: str = "affine", order: tuple[int, ...] = (0, 1)) -> Pick:
    return Pick(order, tuple((arm,) for arm in range(len(order))), Index(kind, shift))


def law(algorithm: Algorithm, stream: tuple[float, ...], rounds: int) -> dict[object, float]:
    found: dict[object, float] = {}
    for path in all_paths(algorithm, len(stream)):
        value = Integral(path, stream, rounds).value
        found[path.actions] = found.get(path.actions, 0.0) + value
    return found


def below(t: float) -> float:
    """P(X - Y < t) for two Laplace variables of scale 1."""
    tail = 0.25 * (2 + abs(t)) * math.exp(-abs(t))
    return tail if t < 0 else 1 - tail


@pytest.mark.parametrize("shift", [0, 0.75, (0.25, -0.5)])
@pytest.mark.parametrize("stream", [(0.0, 0.0, 0.0), (1.0, 0.0, 1.0), (0.5, 1.0, 0.0)])
def test_two_laplace_releases_are_compared_as_in_the_closed_form(shift, stream):
    lead = np.subtract(*shift) if isinstance(shift, tuple) else 0.0
    found = law(script(pick(shift), Pull(None)), stream, 6)
    assert found[0, 1, 1] == pytest.approx(below(stream[1] - stream[0] - lead), abs=1e-6)
    assert sum(found.values()) == pytest.approx(1.0, abs=1e-6)


def test_a_hidden_decision_adds_up_to_certainty():
    found = law(script(pick(0.25), Pull(0)), (0.0, 1.0, 0.0), 6)
    assert found == {(0, 1, 0): pytest.approx(1.0, abs=1e-6)}


def test_an_elimination_of_width_zero_keeps_the_larger():
    body = (Trim((0, 1), ((0,), (1,)), 0), Pull(None), *TOLD)
    found = law(script(*body), (1.0, 0.0, 0.0), 6)
    assert found[0, 1, 0] == pytest.approx(1 - below(-1.0), abs=1e-6)


def test_a_score_that_jumps_is_followed_where_its_winner_goes():
    # floor(x + shift): arm 1 wins only if it is a whole step ahead
    x = np.random.default_rng(0).laplace(size=(400_000, 2))
    share = (np.floor(x[:, 1]) > np.floor(x[:, 0])).mean()
    found = law(script(pick(0, "stair"), Pull(None)), (0.0, 0.0, 0.0), 8)
    # 400,000 seeded draws: off by more than 0.005 with probability below 2 exp(-20)
    assert found[0, 1, 1] == pytest.approx(share, abs=0.005)


def test_frequencies_follow_the_oracle():
    algorithm = script(pick(0.5), Pull(None), *TOLD)
    stream = (1.0, 0.0, 0.0, 1.0)
    counted = frequencies(algorithm, stream, RUNS, np.random.default_rng(1))
    for actions, value in law(algorithm, stream, 6).items():
        # Hoeffding: off by more than 0.008 with probability below 2 exp(-25)
        assert counted[actions] / RUNS == pytest.approx(value, abs=0.008)


CASE = Case(script(pick(0.25), Pull(None), *TOLD), 4, (1.0, 0.0, 1.0, 0.0))


def kinds(tally: Tally) -> set[str]:
    return {kind for kind, _, _ in tally.disagreements}


def test_nobody_disagrees_about_a_plain_declaration():
    tally = Tally()
    examine(CASE, tally)
    assert tally.disagreements == []
    assert tally.counts["certified"] and tally.counts["brute force"] and tally.counts["witnesses"]


def test_a_likelihood_that_is_off_is_noticed(monkeypatch):
    right = checks.likelihood

    def wrong(*given: object) -> Likelihood:
        found = right(*given)
        return Likelihood(found.log_lower + 0.01, found.log_upper + 0.01, found.certified)

    monkeypatch.setattr(checks, "likelihood", wrong)
    tally = Tally()
    examine(CASE, tally)
    assert {"likelihood ball against oracle", "sum of likelihoods ball"} <= kinds(tally)


def test_an_exception_that_is_no_refusal_is_noticed(monkeypatch):
    def broken(*given: object) -> None:
        raise IndexError("list index out of range")

    monkeypatch.setattr(checks, "likelihood", broken)
    tally = Tally()
    examine(CASE, tally)
    assert "likelihood ball raised" in kinds(tally)


def test_a_loss_out_of_place_is_noticed():
    truth = Truth(CASE, all_paths(CASE.algorithm, CASE.horizon))
    pairs = checks.brute_pairs(truth, CASE.horizon)
    pair = max(pairs, key=lambda known: known[0] - known[1] / 2)[2]
    loss, error = truth.loss(pair, checks.ROUNDS[-1])
    assert truth.differs(pair, loss - error, loss + error) == ""
    assert truth.differs(pair, 0.0, loss - 0.05) != ""
    assert truth.differs(pair, loss + 0.05, math.inf) != ""
    assert checks.reached(truth, pairs, loss - error)
    assert not checks.reached(truth, pairs, loss + 0.1)


def test_a_largest_loss_that_is_too_large_is_noticed(monkeypatch):
    right = checks.worst_loss

    def wrong(*given: object, **named: object) -> object:
        found = right(*given, **named)
        loss = replace(found.loss, lower=found.loss.lower + 0.05, upper=found.loss.upper + 0.05)
        return replace(found, loss=loss, witness=None)

    monkeypatch.setattr(checks, "worst_loss", wrong)
    monkeypatch.setattr(checks, "SECONDS", 600.0)
    monkeypatch.setattr(checks, "STREAMS", ("binary",))
    tally = Tally()
    examine(CASE, tally)
    assert "loss above brute force" in kinds(tally)


def test_decisions_that_leave_a_narrow_gap_together_are_all_seen():
    # each lets a half-line through; the value is the certified one, 2e7 seeded runs give 0.02527
    algorithm = Framed(arms=2, style="plain", lengths=(1,), noise=("Laplace", 0.7))
    paths = all_paths(algorithm, 6)
    (path,) = (path for path in paths if path.actions == (0, 1, 0, 1, 0, 0))
    assert Integral(path, (1, 0, 1, 1, 1, 0), 1).value == pytest.approx(0.025313, abs=2e-6)
