"""Steered pairs are on the edge, and scores of whole sequences are the exact log-ratios."""

import math

import numpy as np
import pytest

from dpaudit.core.algorithms import load
from dpaudit.core.noise import Laplace
from dpaudit.sample.aim import Aim, Target
from dpaudit.sample.audit import audit
from dpaudit.sample.boxes import DeclaredBox
from dpaudit.sample.conditional import log_ratios, sampled, sampled_scores, scorable
from dpaudit.sample.lockstep import run_many
from dpaudit.sample.plan import AuditPlan
from dpaudit.sample.runs import History
from dpaudit.sample.scores import exact_score, sequence_scores
from dpaudit.sample.steer import along_a_path, steered
from dpaudit.sample.streams import Pair, Stream
from dpaudit.sample.transcript import transcripts
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
    target = Target(0, 100, 1.0, 1.0, Laplace(1), np.full(5, 40.0))
    aim = target.aim(later=10**6, whole=True)
    low, high = target.reached(np.array([aim.total])), target.reached(np.array([aim.total + 1]))
    ratio = max(math.log(high[0] / low[0]), math.log((1 - low[0]) / (1 - high[0])))
    assert ratio == pytest.approx(1.0, abs=1e-12)
    assert aim.promise > 0.95


@pytest.mark.parametrize("name", ["adap_ucb", "dp_klucb", "adap_imed"])
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


@pytest.mark.parametrize("name", ["adap_ucb", "adap_klucb"])
def test_scores_of_whole_sequences_are_near_the_exact_ones(name):
    """Log-odds of an average of bounded weights over at least 30 runs of the sequence."""
    algorithm = load(name, arms=2, epsilon=1.0, alpha=0.3)
    pair = Pair("x", Stream.constant(1.0, 6), 2, 0.0)
    history = History(0, 6)
    sides = sampled(algorithm, pair, [3])
    [known] = sampled_scores(sides, pair, [history])
    keys, first, counts = np.unique(history(sides[0].runs), return_index=True, return_counts=True)
    common = np.flatnonzero(counts >= 30)
    assert len(common) >= 2
    for place in common.tolist():
        expected = exact_score(algorithm, pair, 6, *sides[0].runs.plays(int(first[place])))
        assert known[int(keys[place])] == pytest.approx(expected, abs=0.12)


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


def test_exact_scores_replace_the_sampled_ones_of_frequent_sequences():
    algorithm = load("adap_ucb", arms=2, epsilon=1.0)
    pair = Pair("x", Stream.constant(1.0, 10), 2, 0.0)
    whole = next(s for s in sequence_scores(algorithm, pair, [1], 2) if s.history == History(0, 10))
    sampled_only = sequence_scores(algorithm, pair, [1], 0)[0]
    changed = [key for key in whole.known if whole.known[key] != sampled_only.known[key]]
    assert len(changed) == 2


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
