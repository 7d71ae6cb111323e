"""A recommendation ends the run and belongs to the output: every interpreter shows it alike."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from charted import runs_of

from dpaudit.core.algorithm import Choose, Play, Release, Stop
from dpaudit.core.algorithms.adap_tt import AdapTT
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.environments import Bernoulli
from dpaudit.core.episodes import DoublingEpisodes
from dpaudit.core.noise import Laplace, NoNoise
from dpaudit.core.scores import Affine, Challenger
from dpaudit.core.simulate import simulate
from dpaudit.core.stream import StreamRewards, run_stream
from dpaudit.errors import BadDeclaration, InvalidArgument
from dpaudit.exact import likelihood, worst_loss
from dpaudit.exact.profile import law
from dpaudit.explain.draw import story
from dpaudit.explain.record import Recorder, Stopped
from dpaudit.structure import prove
from dpaudit.structure.always import at_every_horizon
from dpaudit.structure.prove import bound
from dpaudit.verdict import Status
from dpaudit.verify import Rejected, verify

STREAM = (1.0, 0.0, 1.0, 0.0, 1.0)


@dataclass(frozen=True, kw_only=True)
class Best(DoublingEpisodes):
    """Pulls both arms once and recommends the larger; `noisy` or not."""

    noisy: bool = True
    recommends: Any = None

    def ask(self, pulls: tuple[int, ...], answers: tuple[Any, ...]) -> Any:
        if answers:
            return Stop(answers[0] if self.recommends is None else self.recommends)
        return self.choice(pulls)

    def rule(self, pulls: Any, time: Any, m: Any) -> Affine:
        return Affine(m.number(0))

    def release(self, rows: Any) -> Release:
        return Release(rows.arm, rows, Laplace(1) if self.noisy else NoNoise())


def below(t: float) -> float:
    """P(X - Y < t) for two Laplace variables of scale 1."""
    tail = 0.25 * (2 + abs(t)) * math.exp(-abs(t))
    return tail if t < 0 else 1 - tail


def test_a_recommendation_is_as_likely_as_its_decision():
    found = law(Best(arms=2), STREAM)
    assert set(found.probabilities) == {(0, 1, 2, 2, 2), (0, 1, 3, 3, 3)}
    assert found.certified and found.lower <= 1 <= found.upper
    assert found.probabilities[0, 1, 2, 2, 2].middle == pytest.approx(below(1.0), abs=1e-12)
    assert likelihood(Best(arms=2), (0, 1, 0, 0, 0), STREAM).upper == 0.0
    with pytest.raises(InvalidArgument, match="recommendations"):
        likelihood(Best(arms=2), (0, 1, 4, 4, 4), STREAM)


def test_runs_stop_where_their_decision_says():
    counts = {2: 0, 3: 0}
    rng = np.random.default_rng(0)
    for run in runs_of(Best(arms=2), STREAM, 2000, rng):
        actions = run.actions
        assert actions[:2].tolist() == [0, 1] and len(set(actions[2:].tolist())) == 1
        counts[int(actions[2])] += 1
    # Hoeffding: 2000 runs are off by 0.07 with probability below 2 exp(-19)
    assert abs(counts[2] / 2000 - below(1.0)) < 0.07


def test_the_largest_loss_counts_the_recommendation():
    found = worst_loss(Best(arms=2), 4)
    assert found.complete and found.loss.certified
    # one reward moves the difference by 1: log of P(X - Y < 1) / P(X - Y < 0), or the like
    brute = max(
        abs(math.log(below(a - b) / below(c - b)))
        for a, b, c in ((0, 0, 1), (0, 1, 1), (1, 0, 0), (1, 1, 0))
    )
    assert found.loss.upper == pytest.approx(brute, abs=1e-9)
    assert 0.1 < found.loss.lower < 1


def test_a_recommendation_without_noise_is_refuted_and_never_proved():
    leaky = Best(arms=2, noisy=False)
    assert bound(leaky, 10).charge == math.inf
    assert prove(leaky, 10).status is Status.SILENT
    found = worst_loss(leaky, 4, epsilon=1.0)
    assert found.loss.lower == math.inf and found.witness is not None
    assert max(found.witness.actions) >= 2


def test_an_arm_that_there_is_not_cannot_be_recommended():
    for arm in (2, -1, 0.0):
        with pytest.raises(BadDeclaration, match="recommends arm"):
            run_stream(Best(arms=2, recommends=arm), STREAM, np.random.default_rng(0))


@dataclass(frozen=True, kw_only=True)
class Asks(Best):
    what: Any = None

    def ask(self, pulls: tuple[int, ...], answers: tuple[Any, ...]) -> Any:
        return self.what if answers else self.choice(pulls)


def test_what_is_asked_before_an_episode_plays_and_releases_nothing():
    rows = Release(0, None, Laplace(1))  # type: ignore[arg-type]
    for what in (Play(0, 5), rows, None, True, "0"):
        with pytest.raises(BadDeclaration, match="no question and no arm"):
            run_stream(Asks(arms=2, what=what), STREAM, np.random.default_rng(0))


def test_the_certificate_of_a_run_that_stops():
    kept: list[Any] = []
    found = prove(AdapTT(arms=2), 12, heard=kept.append)
    assert found.status is Status.PROVED
    whole = {"dpaudit": "certificate", "schema": 2, "target": "adap_tt", "arms": 2}
    whole |= {"epsilon": "1", "charge": "1"}
    whole |= kept[0].evidence()
    verify(whole)
    stop = next(state for state in whole["states"] if state[0] == "stop")
    stop[2] = 2
    with pytest.raises(Rejected):
        verify(whole)
    stop[2], stop[3] = 0, [len(whole["states"]) - 1]
    with pytest.raises(Rejected, match="an answer is missing"):
        verify(whole)


def test_adap_tt_is_proved_for_many_arms_and_in_its_frame():
    assert at_every_horizon(AdapTT(arms=5)) == 1
    found = prove(AdapTT(arms=5), 10**7)
    assert found.status is Status.PROVED and found.always
    assert bound(AdapTT(arms=2), 200).charge == bound(AdapUCB(arms=2), 200).charge


def test_adap_tt_recommends_the_best_arm():
    algorithm, wrong, stopped = AdapTT(arms=3, epsilon=2.0), 0, 0
    result = simulate(algorithm, Bernoulli((0.9, 0.2, 0.1)), 200_000, 60, seed=4)
    assert (result.pulls_per_run.sum(axis=1) <= 200_000).all()
    rng = np.random.default_rng(7)
    stream = np.zeros(60_000)  # what pays is the stream here: any recommendation is as good
    for run in runs_of(algorithm, stream, 40, rng):
        stopped += int(run.arms[-1] >= 3)
    assert stopped == 0  # equal arms: a recommendation within an error of 0.05 is rare
    ended = result.pulls_per_run.sum(axis=1)
    assert (ended < 200_000).mean() > 0.5
    for run in np.flatnonzero(ended < 200_000):
        wrong += int(result.pulls_per_run[run].argmax() != 0)
    assert wrong <= 12


def test_the_challenger_is_never_the_leader_and_costs_least():
    rule = Challenger(1, np.array([1.0, 1.0, 2.0, 1.0]))
    rng = np.random.default_rng(0)
    assert rule.winner(np.array([0.4, 0.9, 0.7, 0.45]), rng) == 2
    assert rule.winner(np.array([0.4, 0.9, 0.1, 0.45]), rng) == 3
    assert rule.winner(np.array([0.5, 9.0, -9.0, 0.5]), rng) == 0
    many = rule.winner(np.random.default_rng(1).normal(size=(50, 4)), rng)
    assert many.shape == (50,) and (many != 1).all()


def test_explain_says_that_it_stops():
    events = Recorder(
        Best(arms=2), 5, StreamRewards(np.array(STREAM), 2), np.random.default_rng(0)
    ).run()
    assert isinstance(events[-1], Stopped)
    told = run_stream(Best(arms=2), STREAM, np.random.default_rng(0)).actions
    assert told[-1] == 2 + events[-1].arm
    assert any("the run stops and recommends arm" in line for line in story(events, 80))


@pytest.mark.parametrize("wrong", [{"error": 1.0}, {"top": 1.5}, {"error": 0.0}])
def test_parameters_out_of_range(wrong):
    with pytest.raises(InvalidArgument):
        AdapTT(arms=2, **wrong)


def test_the_questions_of_adap_tt():
    algorithm = AdapTT(arms=3)
    assert isinstance(algorithm.ask((1, 1, 1), ()), Choose)
    assert algorithm.ask((1, 1, 1), (2, 2)) == Stop(2)
    assert algorithm.ask((1, 1, 1), (2, 0, 1)).chances == (Fraction(1, 2),) * 2
    assert algorithm.ask((1, 1, 1), (2, 0, 1, 0)) == 2
    assert algorithm.ask((1, 1, 1), (2, 0, 1, 1)) == 1
    assert AdapTT(arms=2).ask((1, 1), (1, 0, 1)) == 0
