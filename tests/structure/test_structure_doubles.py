"""The certificate for doubles: its conditions, its numbers, and its theorem on a coarse sampler."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st

import dpaudit
from dpaudit.commands.explain import explained
from dpaudit.core.algorithm import Accumulate, Choose, Play, Release, Rows
from dpaudit.core.algorithms import find, names
from dpaudit.core.divergence import monotone_upper_bound, upper_bound
from dpaudit.core.episodes import DoublingEpisodes, Episodes
from dpaudit.core.noise import Laplace
from dpaudit.core.scores import Affine, KLBound, PrivateKLBound
from dpaudit.core.stream import run_stream
from dpaudit.core.walk import begin
from dpaudit.errors import Unsupported
from dpaudit.explain.doubles import LARGEST, LEAST, ForgedGenerator, breaking_pair
from dpaudit.structure import prove
from dpaudit.structure.program import TAU, Uncovered, real_program, require_monotone, shift_of

HORIZON = 10**7


def certificate(name, arms=2, horizon=HORIZON, **given):
    told = {"horizon": horizon} if find(name).told() else {}
    return real_program(dpaudit.load(name, arms=arms, epsilon=1.0, **told, **given), horizon, 1)


@pytest.mark.parametrize(
    ("name", "arms", "epsilon", "boundaries"),
    [
        ("adap_ucb", 2, 1 + 2.0**-31, 24),
        ("adap_ucb", 5, 1 + 2.0**-31, 85),
        ("adap_moss", 2, 1 + 2.0**-31, 24),
        ("adap_klucb", 2, 1 + 2.0**-31, 24),
        ("lazy_dp_ucb", 2, 1 + 2.0**-31, 23),
        ("dp_se", 4, None, 4),
    ],
)
def test_numbers_of_the_algorithms_that_it_covers(name, arms, epsilon, boundaries):
    program, why = certificate(name, arms)
    assert program is not None and why == ""
    if epsilon is not None:
        assert epsilon <= program.epsilon <= epsilon + 1e-15
    assert 1 < program.epsilon < 1 + 1e-8
    exact = boundaries * TAU * (1 + Fraction(math.exp(program.epsilon)))
    assert exact < Fraction(program.delta) < exact * (1 + Fraction(1, 10**9))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("dp_klucb", "adds releases up"),
        ("dp_imed", "adds releases up"),
        ("adap_imed", "Imed is not shown"),
        ("lazy_dp_ts", "BetaDraw is not shown"),
        ("dp_ucb", "more than the one register"),
    ],
)
def test_what_it_does_not_cover_says_why_and_what_helps(name, why):
    program, reason = certificate(name, horizon=2000)
    assert program is None
    assert why in reason and "--noise lattice" in reason
    on_lattice, reason = certificate(name, horizon=2000, grid=64)
    assert on_lattice is not None and on_lattice.delta == 0 and reason == ""


def test_the_finding_carries_it():
    finding = prove(dpaudit.load("adap_ucb", arms=2, epsilon=1.0), 1000)
    assert finding.program is not None and 0 < finding.program.delta < 1e-13
    assert "independent" in finding.program.assumes and "run_stream" in finding.program.name
    unproved = prove(dpaudit.load("adap_ucb", arms=2, epsilon=1.0), 1000, epsilon=0.5)
    assert unproved.program is None and unproved.rounding == ""


@dataclass(frozen=True, kw_only=True)
class Mine(DoublingEpisodes):
    """An own algorithm: every rule of it is looked at."""

    def rule(self, pulls, time, m):
        return Affine(m.sqrt(m.log(time) / pulls))


@dataclass(frozen=True, kw_only=True)
class Late(Mine):
    """A rule that falls in its register, at one decision of many."""

    def rule(self, pulls, time, m):
        scale = -1.0 if tuple(pulls) == (16.0, 4.0) else 1.0
        return Affine(m.sqrt(m.log(time) / pulls), scale)


@dataclass(frozen=True, kw_only=True)
class LatePrivate(Mine):
    """A rule of another kind, at one decision of many."""

    def rule(self, pulls, time, m):
        level = m.log(time) / pulls
        return PrivateKLBound(level, 1.0) if tuple(pulls) == (8.0, 64.0) else Affine(level)


@dataclass(frozen=True, kw_only=True)
class Twice(Mine):
    """The first reward is released again with every episode, at little cost."""

    def release(self, rows):
        return Release(rows.arm, Rows(rows.arm, 0, rows.stop), Laplace(10**9))


@dataclass(frozen=True, kw_only=True)
class Adding(Mine):
    """Releases add up, under the name of an overwritten register."""

    def release(self, rows):
        return Accumulate(rows.arm, rows, Laplace(1))


@dataclass(frozen=True, kw_only=True)
class Crossed(Mine):
    """Each arm shows the other's register."""

    def release(self, rows):
        return Release(1 - rows.arm, rows, Laplace(1))

    def registers(self, arm, pulls):
        return (1 - arm,)


@dataclass(frozen=True, kw_only=True)
class Tiny(Mine):
    """Means so large that doubles overflow."""

    def release(self, rows):
        return Release(rows.arm, rows, Laplace(Fraction(10**250)), Fraction(1, 10**250))


@pytest.mark.parametrize("kind", [Late, LatePrivate, Twice, Adding, Crossed, Tiny])
def test_a_declaration_of_ones_own_that_misses_a_condition(kind):
    program, why = real_program(kind(arms=2, epsilon=1.0), 400, 1)
    assert program is None and "because" in why


def test_a_declaration_of_ones_own_that_meets_them():
    assert real_program(Mine(arms=2, epsilon=1.0), 400, 1)[0] is not None
    program, why = real_program(Mine(arms=6, epsilon=1.0), 10**6, 1)
    assert program is None and "decisions to look at" in why


def test_what_ships_has_one_kind_of_rule_in_every_state():
    """The certificate looks at some states of what ships; this looks at all of a small size."""
    for name in names():
        kind = find(name)
        if not issubclass(kind, Episodes):
            continue
        told = {"horizon": 70} if kind.told() else {}
        algorithm = dpaudit.load(name, arms=2, **told)
        found, pending, seen = set(), [begin(algorithm)], set()
        while pending:
            place = pending.pop()
            key = type(place.state), place.state  # named tuples of two kinds may be equal
            if place.time >= 70 or key in seen or len(seen) > 400:
                continue
            seen.add(key)
            if isinstance(place.request, Play):
                pending.append(place.after(place.rows(10**6)))
            elif isinstance(place.request, Choose):
                found.add(type(place.rule))
                pending += [place.after(arm) for arm in place.request.arms]
            elif hasattr(place.request, "chances"):
                pending += [place.after(side) for side in range(len(place.request.chances))]
            else:
                pending.append(place.after(None))
        assert len(found) == 1, name


@pytest.mark.parametrize(
    "rule",
    [
        Affine(0.0, -1.0),
        Affine(np.array([0.0, np.inf])),
        Affine(0.0, 0.0),
        KLBound(-0.1),
        KLBound(1e-250),
        KLBound(np.nan),
        PrivateKLBound(0.1, 1.0),
    ],
)
def test_rules_that_are_not_shown_to_be_monotone(rule):
    with pytest.raises(Uncovered):
        require_monotone(rule)


def longest_losses(algorithm, horizon):
    """The most decisions that one register loses, by following every path."""

    @cache
    def lost(state, arm):
        place = seen[state]
        best = 0
        for winner in place.request.arms:
            if winner == arm:
                continue
            best = max(best, 1 + after(place, winner, arm))
        return best

    def after(place, winner, arm):
        following = advance(place.after(winner))
        return 0 if following is None else lost(following, arm)

    def advance(place):
        while not isinstance(place.request, Choose):
            answer = None
            if isinstance(place.request, Play):
                answer = place.rows(horizon)
                if place.time + len(answer) >= horizon:
                    return None
            place = place.after(answer)
        seen[place.state] = place
        return place.state

    seen = {}
    first = advance(begin(algorithm))
    return 0 if first is None else max(lost(first, arm) for arm in range(algorithm.arms))


@pytest.mark.parametrize("name", ["adap_ucb", "lazy_dp_ucb"])
@pytest.mark.parametrize("arms", [2, 3])
@pytest.mark.parametrize("horizon", [2, 3, 4, 9, 10, 11, 40, 70])
def test_boundaries_are_those_of_the_longest_path(name, arms, horizon):
    program, _ = certificate(name, arms, horizon)
    assert program is not None
    boundaries = program.delta / (float(TAU) * (1 + math.exp(program.epsilon)))
    oracle = longest_losses(dpaudit.load(name, arms=arms, epsilon=1.0), horizon)
    assert round(boundaries) == oracle


@given(
    st.lists(st.floats(0, 1), min_size=3, max_size=40),
    st.floats(0, 1),
    st.floats(0.05, 20),
    st.integers(1, 50),
)
def test_computed_means_are_as_close_as_it_says(rewards, other, scale, divisor):
    """The runner's own arithmetic on two neighbouring lists, in exact rationals."""
    request = Release(0, Rows(0, 0, len(rewards)), Laplace(scale), divisor)
    means = [math.fsum(it) / float(divisor) for it in (rewards, [other, *rewards[1:]])]
    distance = abs(Fraction(means[0]) - Fraction(means[1])) / Fraction(scale)
    assert distance <= shift_of(request, len(rewards))


def laplace_cdf(z):
    z = arb(z)
    return (z.exp() / 2) if z < 0 else 1 - (-z).exp() / 2


def test_the_distance_of_numpys_noise_to_the_law():
    """At extreme, middle and random uniforms; a generator is made to draw them."""
    rng = np.random.default_rng(0)
    ends = [*range(1, 60), *range(LARGEST - 60, LARGEST + 1), *range(2**52 - 40, 2**52 + 40)]
    places = ends + [int(k) for k in rng.integers(1, 2**53, 1500)]
    places += [2**j + d for j in range(3, 53) for d in (-1, 0, 1)]
    places += [2**53 - 2**j + d for j in range(3, 52) for d in (-1, 0, 1)]
    generator, total = ForgedGenerator(places), 2**53 - 1
    with ctx.workprec(200):
        for k in places:
            value = laplace_cdf(generator.laplace(0.0, 1.0))
            for rank in (k - 1, k):
                gap = abs(value - arb(fmpq(rank, total)))
                assert gap < arb(fmpq(TAU.numerator, TAU.denominator)), k


def test_a_forged_generator_draws_what_numpy_draws():
    uniforms = [1, 2**52 - 1, 2**52, 2**53 - 1, 987654321987]
    generator = ForgedGenerator(uniforms)
    for k in uniforms:
        u = k * 2.0**-53
        expected = 3.0 * math.log(u + u) if u < 0.5 else -3.0 * math.log(2.0 - u - u)
        assert generator.laplace(0.0, 3.0) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    ("function", "exact", "ulps"),
    [
        (np.log, lambda x: x.log(), 1),
        (np.log1p, lambda x: x.log1p(), 4),
        (np.expm1, lambda x: x.expm1(), 4),
    ],
)
def test_logarithms_are_as_accurate_as_is_assumed(function, exact, ulps):
    rng = np.random.default_rng(1)
    x = np.concatenate((rng.random(1500), 10.0 ** rng.uniform(-15, 0, 1500)))
    x = -x if function is np.expm1 else x
    with ctx.workprec(200):
        for one, value in zip(x, function(x), strict=True):
            if value:
                assert abs(arb(value) - exact(arb(one))) <= ulps * math.ulp(value)


LEVELS = [1e-9, 1e-4, 0.03, 0.7, 3.0, 50.0]


def means_of(rng, count):
    near = 10.0 ** rng.uniform(-12, 0, count)
    return np.concatenate((rng.random(2 * count), near, 1 - near))


def test_the_kl_score_never_falls_and_the_bound_of_the_mean_itself_does():
    rng = np.random.default_rng(2)
    mean = means_of(rng, 20_000)
    above = np.nextafter(mean, 2.0)
    falls = 0
    for level in LEVELS:
        falls += int(np.sum(upper_bound(above, level) < upper_bound(mean, level)))
        score = KLBound(level)
        assert not np.any(score.compared(above) < score.compared(mean))
        cell = np.floor(mean * 2**40)
        cell = cell[cell < 2**40 - 1]
        low, high = (monotone_upper_bound((cell + up) / 2**40, level) for up in (0, 1))
        # it rises by 2^-40 (1 + v), less the error of either
        assert np.all(high - low >= (1 + low) * (2.0**-40 - 2.0**-44))
    assert falls > 1000


def test_the_computed_kl_bound_is_as_accurate_as_its_proof_needs():
    """d(p, q) at v +- 2^-46 (1 + v), in balls, lies on either side of the level."""
    rng = np.random.default_rng(3)
    with ctx.workprec(300):
        for level in LEVELS:
            means = np.floor(means_of(rng, 40) * 2**40) / 2**40
            for p in means[(means > 0) & (means < 1)].tolist():
                v = float(monotone_upper_bound(p, level))
                for sign in (-1, 1):
                    moved = arb(v) + sign * arb(2) ** -46 * (1 + arb(v))
                    exact, log_q = arb(p), (-(-moved).exp()).log1p()
                    if sign < 0 and not log_q > exact.log():
                        continue  # below the mean the divergence falls: the root is above
                    value = exact * (exact.log() - log_q)
                    value += (1 - exact) * ((1 - exact).log() + moved)
                    assert (value > level) if sign > 0 else (value < level), (p, level)


class CoarseGenerator:
    """A Laplace sampler with a handful of uniforms: the theorem's sampler, much enlarged."""

    def __init__(self, size, draws):
        self.values = [self.quantile((2 * i + 1) / (2 * size)) for i in range(size)]
        self.draws = iter(draws)

    @staticmethod
    def quantile(u):
        return math.log(2 * u) if u < 0.5 else -math.log(2 - 2 * u)

    def laplace(self, loc, scale):
        return loc + scale * self.values[next(self.draws, 0)]


@pytest.mark.parametrize(("name", "horizon", "size"), [("adap_ucb", 4, 4), ("adap_klucb", 4, 5)])
def test_the_theorem_holds_for_a_coarse_sampler_by_enumeration(name, horizon, size):
    """Every draw of every release, every event: delta stays below (1 + e^epsilon') D tau."""
    algorithm = dpaudit.load(name, arms=2, epsilon=3.0, alpha=0.3)
    releases = horizon - 1
    tau = 0.5 / size  # the k-th value is the law's quantile at the middle of its step

    def law(stream):
        counts = Counter()
        for draws in product(range(size), repeat=releases):
            actions = run_stream(algorithm, stream, CoarseGenerator(size, draws)).actions
            counts[tuple(actions.tolist())] += 1
        return {actions: count / size**releases for actions, count in counts.items()}

    program, _ = real_program(algorithm, horizon, 1)
    assert program is not None
    boundaries = round(program.delta / (float(TAU) * (1 + math.exp(program.epsilon))))
    bound = (1 + math.exp(program.epsilon)) * boundaries * tau
    worst = 0.0
    for base in ([0.0] * horizon, [1.0] * horizon, [0.3, 0.8] * horizon):
        base = base[:horizon]
        one = law(base)
        for position in range(horizon - 1):
            other = law([1.0 - r if t == position else r for t, r in enumerate(base)])
            for p, q in ((one, other), (other, one)):
                excess = (max(0.0, p[a] - math.e**program.epsilon * q.get(a, 0.0)) for a in p)
                worst = max(worst, sum(excess))
    assert 0 < worst <= bound  # and pure epsilon fails, as it does for numpy's


@pytest.mark.parametrize(
    ("name", "epsilon", "rounds", "lead"),
    [("adap_ucb", 1.0, 513, 72), ("adap_moss", 1.0, 513, 72), ("lazy_dp_ucb", 1.0, 511, 72)]
    + [("adap_ucb", 3.0, 129, 24), ("adap_ucb", 0.5, 1025, 145)],
)
def test_the_pair_that_breaks_pure_epsilon_in_doubles(name, epsilon, rounds, lead):
    algorithm = dpaudit.load(name, arms=2, epsilon=epsilon)
    found = breaking_pair(algorithm)
    assert (len(found.actions), found.lead) == (rounds, lead)
    differing = [t for t in range(rounds) if found.stream[t] != found.neighbour[t]]
    assert differing == [found.position]
    # possible on the stream: replayed here again, on the same uniforms
    again = run_stream(algorithm, found.stream, ForgedGenerator(found.uniforms))
    assert tuple(again.actions.tolist()) == found.actions
    # impossible on the neighbour: with the extreme draws, and with all others near them
    for first in (LEAST, LEAST + 1, LEAST + 2, 2**52):
        for second in (LARGEST, LARGEST - 1, LARGEST - 2, 2**52):
            uniforms = (*found.uniforms[:-2], first, second)
            shown = run_stream(algorithm, found.neighbour, ForgedGenerator(uniforms)).actions
            assert tuple(shown.tolist()) != found.actions
    assert 1 <= found.pairs <= 4 and found.program.delta < 1e-12


def test_there_is_no_such_pair_on_a_lattice():
    with pytest.raises(Unsupported, match="lattice"):
        breaking_pair(dpaudit.load("adap_ucb", arms=2, epsilon=1.0, grid=64))
    with pytest.raises(Unsupported, match="adds releases up"):
        breaking_pair(dpaudit.load("dp_klucb", arms=2, epsilon=1.0))


def test_the_command_tells_it():
    text = "\n".join(line for line, _ in explained(None, "adap_ucb", {}, None, 0, 80, True))
    for part in ("they differ at round 329", "probability exactly 0", "2^106", "0 x128, 1 x129"):
        assert part in " ".join(text.split())
