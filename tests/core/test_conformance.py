"""Every discovered algorithm: its fast simulation is its declaration.

Three claims. On the same noise tape and rewards, kernel and episode simulator take the same action
as the declaration at every step. Simulator and reference interpreter agree in the distribution of
pull-count vectors. An anytime algorithm plays the same prefix whatever the horizon.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from charted import one_chart
from scipy.stats import chi2_contingency

from dpaudit.cli import run as command
from dpaudit.core import algorithms, compiled, lockstep, sampled
from dpaudit.core.algorithm import Rows
from dpaudit.core.environments import Bernoulli
from dpaudit.core.episodes import Episodes
from dpaudit.core.local import Local
from dpaudit.core.outcome import RunBlock
from dpaudit.core.perstep import PerStep
from dpaudit.core.response import Response
from dpaudit.core.simulate import simulate
from dpaudit.core.stream import StreamRewards, interpret, run_stream
from dpaudit.core.unchanged import unchanged


def declared(name, arms, horizon, **values):
    """Build an algorithm with the horizon it may ask for."""
    known = algorithms.parameters(algorithms.find(name))
    if "horizon" in known:
        values["horizon"] = horizon
    return algorithms.load(name, arms=arms, **values)


class Tape:
    """A generator whose Laplace draws are read off a tape, in order; the rest is seeded."""

    def __init__(self, units, seed=0):
        self.units = units
        self.place = 0
        self.other = np.random.default_rng(seed)

    def laplace(self, loc=0.0, scale=1.0, size=None):
        count = 1 if size is None else size
        drawn = self.units[self.place : self.place + count]
        self.place += count
        return loc + scale * (drawn[0] if size is None else drawn)

    def beta(self, a, b):
        return self.other.beta(a, b)

    def normal(self, loc=0.0, scale=1.0, size=None):
        # noise is centred at a number and read off the tape; a rule draws around its registers
        if np.ndim(loc) == 0:
            return self.laplace(loc, scale, size)
        return self.other.normal(loc, scale, size)

    def random(self, size=None):
        return self.other.random(size)


class UniformTape(Tape):
    """Its uniform draws are read off the tape as well."""

    def random(self, size=None):
        return self.laplace(size=size)


class StreamTotals:
    """Totals of a fixed stream, read on; gaps that tell the arms apart."""

    def __init__(self, stream, arms):
        self.stream, self.time = stream, 0
        self.gaps = 10.0 ** np.arange(arms)

    def totals(self, arm, rounds, rng):
        (length,) = rounds if len(rounds) else (0,)
        part = self.stream[self.time : self.time + length]
        self.time += length
        return np.full(len(rounds), part.sum())


def reference_actions(algorithm, stream, units):
    rewards = StreamRewards(stream, algorithm.arms)
    tape = UniformTape if isinstance(algorithm, Local) else Tape
    return interpret(algorithm, len(stream), rewards, tape(units)).actions


def fast_actions(algorithm, stream, units):
    """The actions of the algorithm's own fast path on the same stream and tape, or None."""
    horizon, arms = len(stream), algorithm.arms
    if compiled.supports(algorithm):
        machine = compiled.Machine(algorithm)
        table = np.broadcast_to(stream[:, None], (horizon, arms))
        cut = horizon // 3
        return np.concatenate(
            [machine.advance(table[:cut], units[:cut]), machine.advance(table[cut:], units[cut:])]
        )
    decisions = lockstep.decisions(algorithm, horizon)
    if decisions is None:
        return None
    times = np.arange(1, horizon + 1)
    outcome = lockstep.run(decisions, RunBlock(StreamTotals(stream, arms), times, 1, Tape(units)))
    steps = np.diff(np.concatenate(([0.0], outcome.curve[0])))
    return np.round(np.log10(steps)).astype(int)


def assert_same_actions(name):
    rng = np.random.default_rng(20260101)
    for case in range(12):
        arms = 2 + case % 3
        horizon = int(rng.integers(arms, 90))
        values = {} if case % 2 else {"epsilon": float(rng.choice([0.2, 1.0, 5.0]))}
        if "epsilon" not in algorithms.parameters(algorithms.find(name)):
            values = {}
        algorithm = declared(name, arms, horizon, **values)
        stream = rng.random(horizon)
        if case % 4:
            stream = stream.round()
        units = rng.laplace(size=horizon)
        if isinstance(algorithm, Local) and isinstance(algorithm.law(), Response):
            units = rng.random(size=horizon)
        fast = fast_actions(algorithm, stream, units)
        if fast is None:
            # what it asks for between episodes is its own
            assert not unchanged(algorithm, Episodes, ("ask",))
            return
        np.testing.assert_array_equal(fast, reference_actions(algorithm, stream, units))


class RowByRow:
    """Rewards drawn one at a time when they are played: the slow, plain reference."""

    def __init__(self, environment, rng):
        self.environment, self.rng = environment, rng
        self.kept = [[] for _ in environment.means]

    def play(self, arm, rounds):
        self.kept[arm].extend(self.environment.rewards(np.full(rounds, arm), self.rng).tolist())

    def total(self, rows):
        return sum(self.kept[rows.arm][rows.first : rows.stop])


def sampling_case(name):
    """An instance where pull counts vary: environment, horizon, reference runs."""
    algorithm = algorithms.find(name)
    if not issubclass(algorithm, Episodes):
        return Bernoulli((0.46, 0.6)), 4000, 400  # epochs take thousands of rounds
    if issubclass(algorithm, Local):
        return Bernoulli((0.3, 0.6)), 70, 300  # the first dozens of pulls may be due
    if issubclass(algorithm, PerStep):
        return Bernoulli((0.3, 0.6)), 14, 300
    return Bernoulli((0.2, 0.8)), 200, 400


def pull_counts_of_reference(algorithm, environment, horizon, runs, seed):
    rng = np.random.default_rng(seed)
    counts = Counter()
    with one_chart(algorithm):
        for _ in range(runs):
            path = interpret(algorithm, horizon, RowByRow(environment, rng), rng)
            counts[tuple(np.bincount(path.actions, minlength=algorithm.arms))] += 1
    return counts


def homogeneity(first, second):
    """The p-value of a chi-square test that two counters sample the same law; rare cells pooled."""
    total = first + second
    frequent = [key for key, count in total.items() if count >= 20]
    rows = []
    for counter in (first, second):
        row = [counter[key] for key in frequent]
        rows.append([*row, sum(counter.values()) - sum(row)])
    table = np.array(rows)
    table = table[:, table.sum(axis=0) > 0]
    assert table.shape[1] > 1, "the pull counts do not vary: the comparison would be empty"
    return chi2_contingency(table).pvalue


def simulated_counts(algorithm, environment, horizon, runs, seed):
    result = simulate(algorithm, environment, horizon, runs, seed=seed)
    return Counter(map(tuple, result.pulls_per_run.tolist()))


def assert_same_distribution(name):
    # A p-value below 1e-8 under equality: a false alarm has probability 1e-8 per algorithm.
    environment, horizon, runs = sampling_case(name)
    algorithm = declared(name, 2, horizon)
    slow = pull_counts_of_reference(algorithm, environment, horizon, runs, seed=1)
    # without a fast path its runs take as long as the reference's, from which only rewards differ
    fast_path = compiled.supports(algorithm) or lockstep.decisions(algorithm, horizon) is not None
    times = 4 if fast_path else 1
    fast = simulated_counts(algorithm, environment, horizon, times * runs, seed=2)
    assert homogeneity(slow, fast) > 1e-8


def assert_same_prefix(name):
    if algorithms.find(name).told():
        assert "horizon" in algorithms.parameters(algorithms.find(name))
        return
    algorithm = declared(name, 3, 40)
    stream = np.random.default_rng(5).integers(0, 2, 40).astype(float)
    whole = run_stream(algorithm, stream, np.random.default_rng(6)).actions
    for horizon in range(1, 40):
        part = run_stream(algorithm, stream[:horizon], np.random.default_rng(6)).actions
        np.testing.assert_array_equal(part, whole[:horizon])


@pytest.mark.parametrize("name", algorithms.names())
def test_fast_path_follows_the_declaration_action_by_action(name):
    assert_same_actions(name)


@pytest.mark.parametrize("name", algorithms.names())
def test_simulator_and_reference_agree_in_distribution(name):
    assert_same_distribution(name)


@pytest.mark.parametrize("name", algorithms.names())
def test_anytime_algorithms_do_not_see_the_horizon(name):
    assert_same_prefix(name)


@pytest.mark.parametrize("name", algorithms.names())
def test_states_are_public_hashable_and_steps_pure(name):
    algorithm = declared(name, 2, 50)
    state = algorithm.start()
    assert hash(state) == hash(algorithm.start())
    first, second = algorithm.step(state), algorithm.step(state)
    assert first.request == second.request
    assert first.then(Rows(0, 0, 1)) == second.then(Rows(0, 0, 1))


def test_the_comparison_of_distributions_can_fail():
    environment, horizon, runs = sampling_case("adap_ucb")
    algorithm = declared("adap_ucb", 2, horizon)
    wrong = replace(algorithm, epsilon=1.3)
    slow = pull_counts_of_reference(algorithm, environment, horizon, runs, seed=1)
    fast = simulated_counts(wrong, environment, horizon, 4 * runs, seed=2)
    assert homogeneity(slow, fast) < 1e-8


def test_the_comparison_of_actions_can_fail():
    algorithm = declared("dp_ucb", 2, 60)
    rng = np.random.default_rng(3)
    stream, units = rng.integers(0, 2, 60).astype(float), 20 * rng.laplace(size=60)
    shifted = np.roll(units, 1)
    fast, slow = (
        fast_actions(algorithm, stream, shifted),
        reference_actions(algorithm, stream, units),
    )
    assert not np.array_equal(fast, slow)


def test_reference_interpreter_on_sampled_sums_agrees_with_row_by_row():
    # lazily drawn sums (with bridges between edges) against one reward at a time; p < 1e-8
    algorithm = declared("ucb", 2, 16)
    environment = Bernoulli((0.3, 0.6))
    slow = pull_counts_of_reference(algorithm, environment, 16, 250, seed=7)
    block = RunBlock(environment, np.array([1, 16]), 250, np.random.default_rng(8))
    outcome = sampled.run(algorithm, block)
    assert homogeneity(slow, Counter(map(tuple, outcome.pulls.tolist()))) > 1e-8


NEW_ALGORITHM = '''
"""Adap-Explore (nobody, never): Algorithm 1 around an index with a cube-root width."""

from dataclasses import dataclass
from typing import Any

from dpaudit.core.arithmetic import Arithmetic
from dpaudit.core.episodes import DoublingEpisodes
from dpaudit.core.scores import Affine, Score


@dataclass(frozen=True, kw_only=True)
class AdapExplore(DoublingEpisodes):
    """Doubling episodes with a wide bonus."""

    width: float = 1.0

    def rule(self, pulls: Any, time: Any, m: Arithmetic) -> Score:
        """Return the index as a shift of the private mean."""
        return Affine(m.number(self.width) * m.sqrt(m.log(time)) / pulls)
'''


@pytest.fixture
def new_algorithm(tmp_path, monkeypatch):
    (tmp_path / "adap_explore.py").write_text(NEW_ALGORITHM.lstrip())
    monkeypatch.setattr(algorithms, "__path__", [*algorithms.__path__, str(tmp_path)])
    yield "adap_explore"
    sys.modules.pop("dpaudit.core.algorithms.adap_explore", None)


def test_a_new_algorithm_is_one_file(new_algorithm, capsys):
    assert len(NEW_ALGORITHM.strip().splitlines()) <= 22
    assert new_algorithm in algorithms.names()
    assert command(["list"]) == 0
    assert "adap_explore" in capsys.readouterr().out
    simulation = ["simulate", new_algorithm, "--horizon", "1e6", "--runs", "3", "--json", "-"]
    assert command([*simulation, "--param", "width=0.5"]) == 0
    assert '"width": 0.5' in capsys.readouterr().out
    assert_same_actions(new_algorithm)
    assert_same_distribution(new_algorithm)
    assert_same_prefix(new_algorithm)
