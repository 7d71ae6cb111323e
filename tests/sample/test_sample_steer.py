"""Steered pairs are on the edge, and what is foreseen of sequences is their exact law."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from dpaudit.core.algorithms import load
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.noise import Laplace
from dpaudit.core.scores import BetaDraw, Formula
from dpaudit.exact.likelihood import likelihood
from dpaudit.sample.aim import Aim, AimedEpisode
from dpaudit.sample.audit import audit
from dpaudit.sample.boxes import DeclaredBox
from dpaudit.sample.cells import KeyCells, learned
from dpaudit.sample.conditional import WORTH, foreseen, log_ratios, scorable
from dpaudit.sample.lockstep import run_many
from dpaudit.sample.plan import AuditPlan
from dpaudit.sample.runs import History, Runs
from dpaudit.sample.steer import along_a_path, steered
from dpaudit.sample.streams import Pair, Stream, candidates
from dpaudit.sample.transcript import HALVINGS, transcripts
from dpaudit.target import resolve
from dpaudit.verdict import Status

UNIT = (0.0, 0.5, 1.0)


def test_a_pair_of_an_aim_has_the_sum_and_its_last_reward_changed():
    base = Stream.constant(1.0, 20)
    pair = Aim(4, 10, 2.75, 0.5).pair(base, "")
    expected = [1.0] * 4 + [1.0, 1.0, 0.75, 0.0, 0.0, 0.0] + [1.0] * 10
    assert pair.stream.array().tolist() == expected
    assert (pair.position, pair.value) == (9, 1.0)
    whole = Aim(4, 10, 5.0, 0.5).pair(base, "")
    assert whole.stream.array()[4:10].tolist() == [1.0] * 5 + [0.0]


def test_an_aim_at_a_fixed_edge_goes_to_the_tail_of_the_noise():
    """With the edge known, one more reward in the tail changes the odds by e^epsilon exactly."""
    target = AimedEpisode(0, 100, 1.0, 1.0, Laplace(1), np.full(5, 40.0))
    aim = target.aim(later=10**6, whole=True)
    low, high = target.reached(np.array([aim.total])), target.reached(np.array([aim.total + 1]))
    ratio = max(math.log(high[0] / low[0]), math.log((1 - low[0]) / (1 - high[0])))
    assert ratio == pytest.approx(1.0, abs=1e-12)
    assert aim.promise > 0.95


@pytest.mark.parametrize("name", ["adap_ucb", "adap_klucb", "dp_klucb", "adap_imed"])
def test_thresholds_part_winning_from_losing(name):
    algorithm = load(name, arms=3, epsilon=1.0)
    told = transcripts(algorithm, Stream.constant(1.0, 60), 40, np.random.default_rng(0))
    outcomes = []
    for play in range(3, 8):
        runs = np.flatnonzero(told.runs.starts[:, play] < 60)
        for arm in range(3):
            arms = np.full(len(runs), arm)
            held = told.before(play, runs)[0][:, arm]
            edge = told.threshold(play, arms, runs, held - 100, held + 100)
            won = told.runs.arms[runs, play] == arm
            assert np.all(np.where(won, held >= edge - 1e-6, held <= edge + 1e-6))
            outcomes += won.tolist()
    assert 0 < sum(outcomes) < len(outcomes)


@dataclass(frozen=True)
class Bent(Formula):
    """A score of one's own, which writes down how many rows it is asked for at once."""

    level: Any
    asked: ClassVar[list[int]] = []

    def formula(self, x, m):
        self.asked.append(np.size(x))
        return x + self.level + m.sqrt(self.level * (self.level + 2 * x))


@dataclass(frozen=True)
class OneRow(Bent):
    """The same, which refuses more than a row."""

    def formula(self, x, m):
        if np.ndim(x) > 1:
            raise ValueError("one row")
        return super().formula(x, m)


class Own(AdapUCB):
    kind: ClassVar[type[Bent]] = Bent

    def rule(self, pulls, time, m):
        return self.kind(m.log(time) / pulls)


class OwnByRow(Own):
    kind = OneRow


def test_runs_that_only_aim_ask_a_rule_of_ones_own_once_for_all():
    """Run by run, an audit of such a declaration spent its time before the first run counted."""
    edges = []
    for algorithm in (Own(arms=2, epsilon=1.0), OwnByRow(arms=2, epsilon=1.0)):
        Bent.asked.clear()
        told = transcripts(algorithm, Stream.constant(1.0, 60), 300, np.random.default_rng(1))
        runs = np.flatnonzero(told.runs.starts[:, 3] < 60)
        arms = np.zeros(len(runs), dtype=int)
        held = told.before(3, runs)[0][:, 0]
        edges.append(told.threshold(3, arms, runs, held - 100, held + 100))
        won = told.runs.arms[runs, 3] == 0
        assert np.all(np.where(won, held >= edges[-1] - 1e-6, held <= edges[-1] + 1e-6))
        assert 0 < won.sum() < len(won)
        assert (len(Bent.asked) < 300) == (algorithm.kind is Bent)
        # runs that count are asked one by one: a rule could let them hang together
        Bent.asked.clear()
        run_many(algorithm, Stream.constant(1.0, 6), 300, np.random.default_rng(1))
        assert len(Bent.asked) >= 300 and set(Bent.asked) == {2}
    assert np.array_equal(*edges)


@pytest.mark.parametrize("name", ["adap_moss", "adap_klucb", "dp_klucb"])
@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_thresholds_of_a_score_are_those_of_its_winners(name, reward, monkeypatch):
    """By inverses and by bisection of who wins; at the end of a plateau the earliest arm does."""
    told = transcripts(
        load(name, arms=3, epsilon=1.0),
        Stream.constant(reward, 60),
        60,
        np.random.default_rng(1),
    )
    runs = np.flatnonzero(told.runs.starts[:, 4] < 60)
    near, far = np.full(len(runs), -90.0), np.full(len(runs), 90.0)
    cases = [(4, np.full(len(runs), arm), runs, near, far) for arm in range(3)]
    found = [told.threshold(*case) for case in cases]
    monkeypatch.setattr("dpaudit.sample.transcript.Score", BetaDraw)  # a rule without an inverse
    for edge, case in zip(found, cases, strict=True):
        assert np.abs(edge - told.threshold(*case)).max() < 180 / 2**HALVINGS
    # a bound that is 1 can be tied with, which is not enough for a later arm
    assert any((edge == 90).any() for edge in found) == (name != "adap_moss")


@pytest.mark.parametrize("name", ["adap_ucb", "adap_klucb"])
def test_the_foreseen_law_is_the_exact_one(name):
    """Ratios are log-odds of an average of bounded weights over at least 200 runs."""
    algorithm = load(name, arms=2, epsilon=1.0, alpha=0.3)
    pair = Pair("x", Stream.constant(1.0, 6), 2, 0.0)
    history, runs = History(0, 6), 2000
    [law] = [it.table for it in foreseen(algorithm, pair, runs, [3]) if it.history == history]
    counts, rounds = law.counts[:2] + law.counts[2:], 2 * law.rounds
    assert rounds == WORTH * runs
    assert np.abs(counts.sum(axis=1) - rounds).max() <= 2 * len(law.values)
    common = np.flatnonzero(counts.min(axis=0) >= rounds / 20)
    assert len(common) >= 2
    rows = np.stack([np.arange(64) >> k & 1 for k in range(6)], axis=1)
    actions = dict(zip(history(Runs.of_actions(rows)).tolist(), rows, strict=True))
    for place in common.tolist():
        exact = [
            likelihood(algorithm, actions[int(law.values[place])], side.array(), engine="float")
            for side in (pair.stream, pair.neighbour)
        ]
        expected = [side.middle for side in exact]
        # 5 standard deviations of a share of 4000 runs
        assert counts[:, place] / rounds == pytest.approx(expected, abs=5 * 0.5 / 4000**0.5)
        ratio = math.log(counts[0, place] / counts[1, place])
        assert ratio == pytest.approx(math.log(expected[0] / expected[1]), abs=0.06)


def test_sequences_that_never_come_again_are_not_believed_in():
    """Each of 200 runs of 10,000 steps is its own: nothing is foreseen of the next ones."""
    algorithm = load("dp_klucb", arms=5, epsilon=1.0)
    pair = Pair("x", Stream.constant(0.0, 10_000), 7, 1.0)
    whole = next(it for it in foreseen(algorithm, pair, 100, [1]) if it.history.stop == 10_000)
    told = learned(whole, whole.table)
    assert told is not None
    cells, _, belief = told
    assert isinstance(cells, KeyCells)
    assert belief[:, 0].min() >= 0.9 * belief.sum(axis=1).max()


def test_conditional_ratios_are_within_the_claim_and_unbiased():
    """The average of w' / w over runs on the stream is 1: the neighbour's law is one, too."""
    algorithm = load("adap_ucb", arms=3, epsilon=1.0)
    pair = Pair("x", Stream.constant(0.0, 40), 3, 1.0)
    told = transcripts(algorithm, pair.stream, 4000, np.random.default_rng(1))
    ratios = log_ratios(told, pair)
    assert np.abs(ratios).max() <= 1.0 + 1e-9
    assert np.abs(ratios).max() > 0.3
    weights = np.exp(-ratios)
    # a mean of 4000 weights in [1/e, e]: a deviation of 0.13 has probability below 1e-6
    assert weights.mean() == pytest.approx(1.0, abs=0.13)


def test_a_declared_flaw_is_found_without_runs_that_seek_it():
    """Noise of 0.8: the pair is foreseen among all, and every run is on it or on one as good."""
    algorithm = resolve("mutants/noise_080").build(6, {"arms": 2, "epsilon": 1.0, "alpha": 1.0})
    pairs = (*steered(algorithm, 6, [1, 5], 4000), *candidates(2, 6, [1, 2]))
    plan = AuditPlan(DeclaredBox(algorithm, 6), 1.0, 0.05, 10_000, 1, pairs)
    report = audit(plan)
    assert report.status is Status.REFUTED
    [judged] = report.hypotheses
    # what was foreseen is no count of runs
    assert judged.hits <= judged.rounds <= report.runs // 2


def test_what_has_no_registers_to_aim_at_is_left_alone():
    assert steered(load("ucb", arms=2), 100, [0], 1000) == []
    assert not scorable(load("ucb", arms=2), 100)
    assert not scorable(load("lazy_dp_ts", arms=2), 100)
    assert scorable(load("adap_moss", arms=3), 100)


def test_steered_pairs_repeat_and_are_binary_where_rewards_are():
    algorithm = load("adap_ucb", arms=3, epsilon=1.0)
    pairs = steered(algorithm, 1000, [1, 5], 5000, count=3)
    assert pairs == steered(algorithm, 1000, [1, 5], 5000, count=3)
    assert len(pairs) == 3
    for pair in pairs:
        assert set(pair.stream.values) <= {0.0, 1.0}
        assert pair.stream.horizon == 1000


def test_an_elimination_is_steered_to_its_first_edge():
    algorithm = load("dp_se", arms=3, epsilon=1.0, horizon=20_000)
    pair = steered(algorithm, 20_000, [0], 5000, rewards=UNIT)[0]
    rng = np.random.default_rng(0)
    sides = [run_many(algorithm, s, 60, rng) for s in (pair.stream, pair.neighbour)]
    keys = [History(0, 20_000)(runs) for runs in sides]
    assert all(len(np.unique(side)) > 1 for side in keys)


def test_a_path_pays_every_arm_its_own_reward():
    algorithm = load("adap_ucb", arms=2, epsilon=1.0)
    stream = along_a_path(algorithm, 50, (1.0, 0.0))
    assert stream.horizon == 50
    assert stream.array()[:2].tolist() == [1.0, 0.0]


def test_a_steered_audit_shows_most_of_epsilon_at_ten_million_steps():
    algorithm = load("adap_klucb", arms=3, epsilon=1.0)
    pairs = tuple(steered(algorithm, 10**7, [0, 5], 2000, count=2, rewards=UNIT))
    plan = AuditPlan(DeclaredBox(algorithm, 10**7), 1.0, 1e-3, 6000, 0, pairs, favoured=2)
    report = audit(plan)
    assert report.status is Status.SILENT
    assert report.lower > 0.4
