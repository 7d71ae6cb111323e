"""Noise on a lattice: integers until a release is public, in every interpreter."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest
from charted import runs_of
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

import dpaudit
from dpaudit import noise
from dpaudit.core import lattice, sampled
from dpaudit.core.algorithm import Release, Rows
from dpaudit.core.environments import Bernoulli, named
from dpaudit.core.episodes import DoublingEpisodes
from dpaudit.core.lattice import DiscreteGaussian, DiscreteLaplace, on_grid
from dpaudit.core.lockstep import ladder
from dpaudit.core.noise import Gaussian, Laplace, NoNoise
from dpaudit.core.notions import Kind, Notion
from dpaudit.core.outcome import RunBlock, checkpoints
from dpaudit.core.scores import Affine
from dpaudit.core.simulate import simulate
from dpaudit.core.stream import StreamRewards, interpret, run_stream
from dpaudit.core.walk import begin
from dpaudit.errors import BadDeclaration, InvalidArgument, Unsupported
from dpaudit.sample.lockstep import CumulativeRewards, run_many
from dpaudit.sample.streams import Stream
from dpaudit.structure import prove
from dpaudit.structure.accounting import judge
from dpaudit.verdict import Status

HORIZON = 3_000
PRIVATE = ["adap_ucb", "adap_klucb", "adap_moss", "adap_imed", "lazy_dp_ucb", "lazy_dp_ts"]
PRIVATE += ["dp_klucb", "dp_imed", "dp_ucb", "dp_se"]


def build(name, **given):
    told = {"horizon": HORIZON} if name in ("dp_ucb", "dp_se") else {}
    return dpaudit.load(name, arms=2, epsilon=0.7, **told, **given)


def releases(algorithm, rounds=HORIZON):
    """The releases on one path of the walk that every interpreter follows."""
    place, found = begin(algorithm), []
    while place.time < rounds:
        request = place.request
        if hasattr(request, "noise"):
            found.append(request)
            answer = None
        elif hasattr(request, "rounds"):
            answer = place.rows(rounds)
        else:
            answer = request.arms if hasattr(request, "width") else request.arms[-1]
        place = place.after(answer)
    return found


@pytest.mark.parametrize("name", PRIVATE)
def test_every_release_of_every_algorithm_is_on_the_lattice_with_the_same_rational(name):
    plain, drawn = releases(build(name)), releases(build(name, grid=12))
    assert len(plain) == len(drawn) > 1
    for one, two in zip(plain, drawn, strict=True):
        assert type(two.noise) is DiscreteLaplace
        assert (two.rows, two.divisor, two.register) == (one.rows, one.divisor, one.register)
        assert two.noise.cells(two.divisor) == 12
        # the scale in steps is g d b: exact, not through a double
        assert two.noise.steps == 12 * Fraction(two.divisor) * one.noise.scale
        assert two.noise.charge(1 / Fraction(two.divisor)) == one.noise.charge(
            1 / Fraction(one.divisor)
        )


def test_a_decimal_epsilon_is_its_rational():
    request = releases(dpaudit.load("adap_ucb", arms=2, epsilon=0.1, grid=1024))[2]
    assert request.noise.steps == 10240


@pytest.mark.parametrize("name", ["adap_ucb", "lazy_dp_ts", "dp_klucb"])
@pytest.mark.parametrize("grid", [1, 7, 1024])
def test_structure_proves_it_and_says_which_program(name, grid):
    finding = prove(build(name, grid=grid), 300)
    assert finding.status is Status.PROVED
    assert finding.epsilon_upper == 0.7
    assert finding.program is not None
    assert (finding.program.epsilon, finding.program.delta) == (0.7, 0.0)
    assert "run_stream" in finding.program.name and "unbiased" in finding.program.assumes


def test_a_proof_without_a_grid_is_not_said_of_the_program():
    finding = prove(build("dp_klucb"), 100)
    assert finding.status is Status.PROVED and finding.program is None


class Recorded(random.Random):
    """Counts the bits that were taken."""

    taken = 0

    def getrandbits(self, size):
        self.taken += 1
        return super().getrandbits(size)


def test_the_runner_draws_with_the_sampler_that_was_solved(monkeypatch):
    """Integers from `noise.laplace` alone, and nothing of numpy's laws, reach a register."""
    scales = []

    def laplace(scale, bits):
        assert isinstance(scale, Fraction)
        scales.append(scale)
        return solved(scale, bits)

    solved = noise.laplace
    assert lattice.laplace is solved
    monkeypatch.setattr(lattice, "laplace", laplace)
    rng = Recorded(3)  # it has no laplace, no normal and no random arrays
    trajectory = run_stream(build("adap_ucb", grid=64), np.linspace(0, 1, 50), rng)
    assert len(scales) == trajectory.releases > 5 and rng.taken > len(scales)
    assert set(scales) == {Fraction(640, 7), Fraction(1280, 7)}


def test_system_randomness_runs_it():
    assert len(run_stream(build("adap_ucb", grid=64), [1.0] * 20, random.SystemRandom()).arms) > 3


@dataclass(frozen=True, kw_only=True)
class Shown(DoublingEpisodes):
    """What its rule sees is kept, to be looked at."""

    def rule(self, pulls, time, m):
        return Affine(0 * pulls)


@given(
    st.lists(st.floats(0, 1), min_size=12, max_size=12),
    st.integers(1, 3000),
    st.sampled_from(["nearest", "stochastic"]),
)
def test_sums_are_integers_and_one_reward_moves_them_by_a_grid_at_most(values, grid, rounding):
    rows = Rows(0, 0, len(values))
    rng = np.random.default_rng(0)

    def steps(rewards):
        held = StreamRewards(np.array(rewards), 1)
        held.play(0, len(rewards))
        return held.steps(rows, grid, rounding, rng)

    total = steps(values)
    assert type(total) is int and 0 <= total <= grid * len(values)
    apart = [steps([end, *values[1:]]) for end in (0.0, 1.0)]
    if rounding == "nearest":
        assert abs(apart[1] - apart[0]) == grid
        exact = sum(Fraction(value) * grid for value in values)
        assert abs(total - exact) <= Fraction(len(values), 2) + Fraction(1, 10**6)


@pytest.mark.parametrize("rounding", ["nearest", "stochastic"])
@pytest.mark.parametrize("reward", [0.0, 1.0, 0.25, 1 / 3, np.nextafter(1, 0), 5e-324, -0.7, 1.7])
def test_a_rounded_reward_is_one_of_the_grid(reward, rounding):
    found = lattice.rounded(np.full(200, reward), 3, rounding, np.random.default_rng(1))
    assert found.dtype == np.int64 and found.min() >= 0 and found.max() <= 3
    if reward in (0.0, 1.0) or (rounding == "nearest" and reward == 1 / 3):
        assert set(found) == {round(3 * reward)}


def test_stochastic_rounding_is_unbiased():
    found = lattice.rounded(np.full(100_000, 0.4), 3, "stochastic", np.random.default_rng(2))
    # Hoeffding: 1e5 draws in {1, 2}, wrong with probability below 1e-9
    assert abs(found.mean() - 1.2) < (np.log(2e9) / 2e5) ** 0.5


def test_sums_that_could_overflow_are_refused():
    with pytest.raises(InvalidArgument, match="too fine"):
        lattice.whole_sum(np.zeros(8, dtype=np.int64), 2**60)
    assert lattice.whole_sum(np.full(4, 2**60), 2**60) == 2**62
    assert ladder(build("adap_ucb", grid=2**50), 10_000) is None
    stream = Stream((0.5,), (2**40,))
    with pytest.raises(InvalidArgument, match="too fine"):
        stream.steps(5, 2**20)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"grid": 0}, "grid=0"),
        ({"grid": 2.0}, "must be an integer"),
        ({"grid": 8, "rounding": "up"}, "rounding=up"),
        ({"rounding": "nearest"}, "give a grid"),
    ],
)
def test_bad_grids_cost_one_line(given, message):
    with pytest.raises(InvalidArgument, match=message):
        build("adap_ucb", **given)


def test_a_law_that_is_not_known_has_no_lattice():
    @dataclass(frozen=True)
    class Own(Laplace):
        pass

    rows = Rows(0, 0, 1)
    with pytest.raises(Unsupported, match="Own noise has no lattice law"):
        on_grid(Release(0, rows, Own(1)), 4)
    assert type(on_grid(Release(0, rows, NoNoise()), 4).noise) is NoNoise
    placed = on_grid(Release(0, rows, Gaussian(variance=0.25), 2), 4).noise
    assert placed == DiscreteGaussian(Fraction(1, 4), Fraction(1, 8))


@dataclass(frozen=True, kw_only=True)
class HalfCells(DoublingEpisodes):
    """A lattice that the rewards do not lie on."""

    def rule(self, pulls, time, m):
        return Affine(0 * pulls)

    def release(self, rows):
        return Release(rows.arm, rows, DiscreteLaplace(Fraction(1), Fraction(2, 3)))


@dataclass(frozen=True, kw_only=True)
class ByHand(HalfCells):
    """A lattice that is declared: the charge counts the divisor once."""

    def release(self, rows):
        step = Fraction(1, 5 * len(rows))
        law = DiscreteLaplace(Fraction(1, len(rows)), step)
        return Release(rows.arm, rows, law, divisor=len(rows))


@dataclass(frozen=True, kw_only=True)
class Bare(HalfCells):
    """No noise, which a grid leaves alone."""

    def release(self, rows):
        return Release(rows.arm, rows, NoNoise(), divisor=len(rows))


def test_without_noise_a_grid_changes_nothing():
    bare = Bare(arms=2, epsilon=1.0)
    assert ladder(bare, 100) is not None and ladder(replace(bare, grid=8), 100) is None
    runs = [
        run_stream(it, [0.3] * 20, np.random.default_rng(0)) for it in (bare, replace(bare, grid=8))
    ]
    assert runs[0] == runs[1]
    assert prove(replace(bare, grid=8), 20).status is Status.SILENT


def test_lattices_that_are_declared():
    with pytest.raises(BadDeclaration, match="no whole number"):
        prove(HalfCells(arms=2, epsilon=1.0), 10)
    finding = prove(ByHand(arms=2, epsilon=1.0), 10)
    assert finding.status is Status.PROVED and finding.epsilon_upper == 1
    assert prove(ByHand(arms=2, epsilon=1.0), 10, epsilon=0.99).status is Status.SILENT
    # lockstep reads rewards on the grid of the parameter; one that is declared is another
    assert ladder(ByHand(arms=2, epsilon=1.0), 100) is None
    assert ladder(ByHand(arms=2, epsilon=1.0, grid=8), 100) is None
    assert ladder(ByHand(arms=2, epsilon=1.0, grid=5), 100) is not None


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(3, 2), Fraction(8), Fraction(1024, 3)])
def test_lanes_are_the_solved_chain(scale):
    """A lane that is fed the bits of a scalar draw returns what that draw returns."""
    whole, part = scale.numerator, scale.denominator
    for seed in range(300):
        drawn = []

        def bits(size, source=random.Random(seed), drawn=drawn):  # noqa: B008
            value = source.getrandbits(size)
            if size:
                drawn.append(value << (64 - size))
            return value

        expected = noise.laplace(scale, bits)
        tape = iter(drawn)

        def words(lanes, tape=tape):
            assert lanes == 1
            return np.array([next(tape)], dtype=np.uint64)

        assert lattice.laplace_lanes(whole, part, words, 1).tolist() == [expected]
        assert next(tape, None) is None


def test_many_lanes_have_the_law_and_are_independent():
    scale = Fraction(5, 2)
    # against the exact masses: wrong with probability below 1e-9 in all
    draws = 400_000
    found = lattice.many_laplace(scale, np.random.default_rng(11), draws)
    law = DiscreteLaplace(scale, Fraction(1))
    for z in range(-6, 7):
        p = float(np.exp(law.log_density(z)))
        width = np.sqrt(2 * draws * p * np.log(2e10)) + np.log(2e10)
        assert abs(np.sum(found == z) - draws * p) <= width
    # neighbours in the array are independent: the covariance of 0s
    zero = (found == 0).astype(float)
    p = zero.mean()
    assert abs(np.mean(zero[1:] * zero[:-1]) - p * p) < 6 * p / np.sqrt(draws)


@given(
    st.fractions(Fraction(1, 4), 6, max_denominator=8),
    st.fractions(Fraction(1, 8), 2, max_denominator=8),
)
def test_the_law_is_a_law(scale, step):
    for law in (DiscreteLaplace(scale, step), DiscreteGaussian(scale, step)):
        k = np.arange(-2000, 2001) * float(step)
        mass = np.exp(law.log_density(k))
        assert abs(mass.sum() - 1) < 1e-9
        middles = k + 0.5 * float(step)
        assert np.max(np.abs(np.cumsum(mass) - law.cdf(middles))) < 1e-9
        # a multiple of its unit
        assert np.allclose(law.unit().log_density(k / float(step)), law.log_density(k), atol=1e-9)


def test_lockstep_gives_the_registers_of_the_reference():
    """The same integers make the same doubles, run by run or all at once."""
    for grid in (1024, 12):
        algorithm = dpaudit.load("adap_ucb", arms=2, epsilon=0.3, grid=grid)
        climb = ladder(algorithm, 5000)
        assert climb is not None and climb.grid == grid and len(climb.laws) == 2
        rng = np.random.default_rng(0)
        for arm, rung in ((0, 0), (1, 5), (0, 9)):
            rows = Rows(arm, climb.edges[rung], climb.edges[rung + 1])
            request = on_grid(algorithm.release(rows), grid)
            total = int(rng.integers(0, grid * len(rows)))
            z = climb.integers(np.array([arm]), np.array([rung]), rng, {})
            doubles = (total + z) / (grid * climb.divisor[arm, rung])
            assert doubles[0] == float((total + int(z[0])) * request.noise.step)
            assert climb.laws[climb.law[arm, rung]].steps == request.noise.steps


@pytest.mark.parametrize("rounding", [None, "stochastic"])
def test_many_runs_are_runs_of_the_reference(rounding):
    """First choices in lockstep (or one by one) against those of the stream runner."""
    algorithm = dpaudit.load("adap_ucb", arms=2, epsilon=1.0, alpha=0.4, grid=4, rounding=rounding)
    stream, runs = Stream((0.9, 0.3, 0.6), (1, 1, 1)), 1500
    many = run_many(algorithm, stream, runs, np.random.default_rng(1))
    rng = np.random.default_rng(2)
    reference = [run.arms[2] for run in runs_of(algorithm, stream.array(), runs, rng)]
    gap = abs(np.mean(many.arms[:, 2] == 1) - np.mean(np.array(reference) == 1))
    assert gap < 2 * np.sqrt(np.log(4e9) / (2 * runs))  # Hoeffding on both, below 1e-9
    assert (ladder(algorithm, 8) is None) == (rounding is not None)


def test_rewards_of_pieces_are_rounded_like_rewards():
    stream = Stream((0.3, 0.8, 0.5), (3, 2, 4))
    pieces, single = CumulativeRewards(stream, 2), StreamRewards(stream.array(), 2)
    for held in (pieces, single):
        for arm, rounds in ((0, 2), (1, 3), (0, 4)):
            held.play(arm, rounds)
    rng = np.random.default_rng(0)
    for rows in (Rows(0, 0, 2), Rows(0, 1, 6), Rows(1, 0, 3)):
        assert pieces.steps(rows, 7, "nearest", rng) == single.steps(rows, 7, "nearest", rng)
    array = np.rint(stream.array() * 7).astype(int)
    assert [int(stream.steps(n, 7)) for n in range(1, 10)] == np.cumsum(array).tolist()


def test_simulations_on_the_lattice_have_the_regret_of_the_line():
    plain = dpaudit.load("adap_ucb", arms=5, epsilon=1.0)
    results = [
        simulate(algorithm, named("C2"), 20_000, 250, seed)
        for seed, algorithm in enumerate((plain, replace(plain, grid=1024)))
    ]
    errors = [result.standard_error for result in results]
    gap = abs(results[0].regrets.mean() - results[1].regrets.mean())
    assert gap < 6 * np.hypot(*errors)
    assert results[1].parameters["grid"] == 1024


def test_the_reference_simulator_runs_it_too():
    algorithm = dpaudit.load("dp_ucb", arms=2, epsilon=1.0, horizon=64, grid=8)
    rng, environment = np.random.default_rng(0), Bernoulli((0.2, 0.8))
    result = sampled.run(algorithm, RunBlock(environment, checkpoints(64), 3, rng))
    assert result.pulls.sum() == 3 * 64
    rewards = sampled.SampledRewards(Bernoulli((0.5, 0.5)), np.random.default_rng(1))
    assert rewards.steps(Rows(0, 0, 9), 8, "nearest", None) == 8 * rewards.total(Rows(0, 0, 9))


def test_a_tape_of_zero_noise_releases_the_rounded_sum(monkeypatch):
    monkeypatch.setattr(lattice, "laplace", lambda scale, bits: 0)
    algorithm = Shown(arms=2, epsilon=1.0, grid=10)
    seen = []

    class Watching(StreamRewards):
        def steps(self, rows, grid, rounding, rng):
            seen.append((rows, super().steps(rows, grid, rounding, rng)))
            return seen[-1][1]

    stream = np.array([0.04, 0.96, 0.55, 0.44, 0.0, 1.0])
    interpret(algorithm, 6, Watching(stream, 2), np.random.default_rng(0))
    assert seen[0] == (Rows(0, 0, 1), 0) and seen[1] == (Rows(1, 0, 1), 10)


def masses(law, reach=4000):
    """Its probabilities from their definition, in doubles that share nothing with the charges."""
    if isinstance(law, DiscreteLaplace):
        weight = [math.exp(-abs(k) * float(law.step / law.scale)) for k in range(-reach, reach + 1)]
    else:
        variance = float(law.variance / law.step**2)
        weight = [math.exp(-k * k / (2 * variance)) for k in range(-reach, reach + 1)]
    return np.array(weight) / math.fsum(weight)


LAWS = [
    DiscreteLaplace(Fraction(1), Fraction(1, 5)),
    DiscreteLaplace(Fraction(3, 7), Fraction(1, 4)),
    DiscreteLaplace(Fraction(2), Fraction(1)),
    DiscreteGaussian(Fraction(1), Fraction(1, 5)),
    DiscreteGaussian(Fraction(1, 3), Fraction(1, 4)),
    DiscreteGaussian(Fraction(1, 8), Fraction(1)),
]


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("epsilon", ["0", "0.1", "0.7", "1", "3"])
def test_delta_is_the_sum_over_the_lattice(law, epsilon):
    p = masses(law)
    for moved in (1, 2, 5):
        sensitivity = moved * law.step
        q = np.concatenate((np.zeros(moved), p[:-moved]))
        truth = math.fsum(np.maximum(p - math.exp(float(epsilon)) * q, 0.0))
        found = float(law.delta(sensitivity, Fraction(epsilon)))
        assert found == pytest.approx(truth, rel=1e-9, abs=1e-14)
        # the continuous row would prove a false number, by its own formula
        assert found <= float(law.delta(sensitivity + law.step, Fraction(epsilon)))


def test_the_rows_of_the_continuous_laws_are_unsound_here():
    laplace, gaussian = LAWS[0], LAWS[3]
    one, tenth = Fraction(1), Fraction(1, 10)
    assert float(laplace.delta(one, tenth)) == pytest.approx(0.36475, abs=5e-6)
    assert laplace.delta(one, tenth) > Laplace(1).delta(one, tenth)
    assert float(gaussian.delta(one, one)) == pytest.approx(0.12752, abs=5e-6)
    assert gaussian.delta(one, one) > Gaussian(variance=1).delta(one, one)
    assert gaussian.gdp(one) == math.inf and gaussian.charge(one) == math.inf
    with pytest.raises(InvalidArgument, match="must be a multiple"):
        laplace.delta(Fraction(1, 3), tenth)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_renyi_divergences_stay_below_the_zcdp_charge(law):
    p = masses(law, 700)
    for moved in (1, 3):
        q, shifted = p[:-moved], p[moved:]
        inside = (q > 1e-250) & (shifted > 1e-250)
        ratio = np.log(q[inside]) - np.log(shifted[inside])
        rho = float(law.zcdp(moved * law.step))
        for alpha in (1.01, 1.5, 2.0, 5.0, 20.0):
            log_total = logsumexp(np.log(q[inside]) + (alpha - 1) * ratio)
            assert log_total / (alpha - 1) <= alpha * rho * (1 + 1e-9)


def test_concentrated_privacy_on_a_lattice_is_proved_with_the_same_rho():
    algorithm = dpaudit.load("adac_ucb", arms=2, grid=32)
    finding = judge(algorithm, 200, Notion(Kind.ZCDP, algorithm.rho))
    assert finding.status is Status.PROVED and finding.bracket.upper == algorithm.rho
    assert finding.program is not None and finding.program.epsilon is None
    assert judge(algorithm, 200, Notion(Kind.ZCDP, 0.9 * algorithm.rho)).status is Status.SILENT
    assert judge(algorithm, 200, Notion(Kind.GDP, 10.0)).status is Status.SILENT
    trajectory = run_stream(algorithm, [0.5] * 30, random.SystemRandom())
    assert len(trajectory.actions) == 30


def test_responses_have_no_lattice():
    with pytest.raises(Unsupported, match="no lattice law"):
        prove(dpaudit.load("ldp_ucb_b", arms=2, epsilon=1.0, grid=8), 30, epsilon=1.0)


def test_noise_that_is_drawn_ahead_is_used_once_and_in_order(monkeypatch):
    """Each release gets draws of its own law, none twice, whatever was left over."""
    climb = ladder(dpaudit.load("adap_ucb", arms=2, epsilon=1.0, grid=8), 500)
    made = {}

    def numbered(law, rng, size):
        first = made.get(law, 0)
        made[law] = first + size
        return np.arange(first, first + size) + 10**6 * climb.laws.index(law)

    monkeypatch.setattr(DiscreteLaplace, "integers", numbered)
    left, seen = {}, []
    rng = np.random.default_rng(0)
    for _ in range(200):
        count = int(rng.integers(1, 30))
        arm, rung = rng.integers(0, 2, count), rng.integers(0, 4, count)
        drawn = climb.integers(arm, rung, rng, left)
        assert np.array_equal(drawn // 10**6, climb.law[arm, rung])
        seen += drawn.tolist()
    assert len(seen) == len(set(seen))
    for number in range(2):
        own = [z for z in seen if z // 10**6 == number]
        assert own == sorted(own) and own[0] == 10**6 * number and own[-1] - own[0] == len(own) - 1
