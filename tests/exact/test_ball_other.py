from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from certified_engine import path_log_likelihood, worst_loss
from flint import arb, ctx
from scipy.integrate import quad

from dpaudit import exact
from dpaudit.core.algorithm import Accumulate, Keep, Release, Rows
from dpaudit.core.algorithms import load
from dpaudit.core.arithmetic import FLOAT
from dpaudit.core.noise import Laplace
from dpaudit.core.stream import run_stream
from dpaudit.errors import Unsupported
from dpaudit.exact import finite
from dpaudit.exact.balls import exact_order, polytopes
from dpaudit.exact.paths import Decided, Path, Played, all_paths
from dpaudit.exact.region import region_of
from dpaudit.sample.lockstep import run_many
from dpaudit.sample.streams import Stream


def sloped(path):
    """Sums that put each arm's mean at (2 + arm) / 7."""
    return {
        event.rows: Fraction(len(event.rows) * (2 + event.rows.arm), 7)
        for event in path.events
        if isinstance(event, Release)
    }


@pytest.mark.parametrize(("arms", "horizon"), [(2, 3500), (2, 20000), (3, 6000), (4, 9000)])
def test_eliminations_sum_to_one(arms, horizon):
    with ctx.workprec(160):
        paths = list(all_paths(load("dp_se", arms=arms, horizon=horizon), horizon))
        total = sum((path_log_likelihood(path, sloped(path)).exp() for path in paths), arb(0))
    assert len(paths) > 2
    assert total.contains(1) and total.rad() < 1e-20


def test_elimination_contains_a_quadrature():
    path = next(p for p in all_paths(load("dp_se", arms=3, horizon=6000), 6000))
    region = region_of(path)
    ((epoch,),) = polytopes.parts_of(region)
    width = float(epoch.request.width(FLOAT))
    sizes = [episode.kind.divisor for episode in region.episodes]
    noise = region.episodes[0].kind.noise
    scale = float(noise.scale)
    centres = [Fraction(0), Fraction(1, 50), Fraction(1, 25)]
    for kept in product((True, False), repeat=3):
        if not any(kept):
            continue
        survivors = tuple(arm for arm in range(3) if kept[arm])
        sums = {i: centre * sizes[i] for i, centre in enumerate(centres)}
        part = (replace(epoch, outcome=survivors),)
        found = polytopes.probability(region, part, sums)
        value = float(found)

        def integrand(x, best, kept=kept):
            result = math.exp(noise.log_density(x - float(centres[best])))
            for arm in range(3):
                if arm != best:
                    low = float(noise.cdf(x - width - float(centres[arm])))
                    high = float(noise.cdf(x - float(centres[arm])))
                    result *= high - low if kept[arm] else low
            return result

        cuts = sorted({float(c) + w for c in centres for w in (0, width)})
        cuts = [cuts[0] - 45 * scale, *cuts, cuts[-1] + 45 * scale]
        total = sum(
            quad(integrand, a, b, args=(best,), limit=200, epsabs=1e-16)[0]
            for best in range(3)
            if kept[best]
            for a, b in zip(cuts[:-1], cuts[1:], strict=True)
        )
        assert abs(total - value) <= 1e-7 * value + 1e-13


def test_elimination_worst_loss_is_below_epsilon_and_replays():
    algorithm = load("dp_se", arms=2, horizon=4000, epsilon=1.0)
    found = worst_loss(algorithm, 4000)
    assert 0.99 < found.loss.lower <= found.loss.upper < 1
    assert found.loss.width < 1e-12
    assert found.witness.loss.certified
    assert abs(found.witness.loss.lower - found.loss.lower) < 1e-12


def test_elimination_of_three_arms_is_not_claimed():
    with pytest.raises(Unsupported, match="two arms"):
        worst_loss(load("dp_se", arms=3, horizon=6000), 6000)


@pytest.mark.parametrize("name", ["ucb", "kl_ucb"])
def test_noiseless_paths_happen_once_and_agree_with_the_runner(name):
    algorithm, horizon = load(name, arms=2), 7
    rng = np.random.default_rng(3)
    for _ in range(6):
        stream = [Fraction(int(k), 2) for k in rng.integers(0, 3, horizon)]
        paths = [*all_paths(algorithm, horizon)]
        chances = {tuple(path.actions): finite.probability(path, stream) for path in paths}
        happened = [actions for actions, chance in chances.items() if chance == 1]
        assert len(paths) == len(chances) and {*chances.values()} == {0, 1}
        ran = run_stream(algorithm, [float(r) for r in stream], rng)
        assert happened == [tuple(ran.actions)]


@pytest.mark.parametrize("name", ["ucb", "kl_ucb"])
def test_without_noise_the_loss_is_infinite(name):
    algorithm = load(name, arms=2)
    found = exact.worst_loss(algorithm, 8)
    assert found.loss.lower == math.inf
    witness = found.witness
    one, two = (
        finite.follow(algorithm, [Fraction(r) for r in stream]).actions
        for stream in (witness.stream, witness.neighbour)
    )
    assert np.array_equal(one, witness.actions)
    assert not np.array_equal(one, two)


def test_kl_bounds_in_balls_solve_their_equation():
    for mean, level in ((Fraction(1, 3), 0.7), (Fraction(99, 100), 0.01), (Fraction(1, 100), 5.0)):
        with ctx.workprec(200):
            v = exact_order.upper_bound(mean, arb(level))
            p, q = arb(mean.numerator) / mean.denominator, 1 - (-v).exp()
            gap = p * (p / q).log() + (1 - p) * ((1 - p) / (1 - q)).log() - level
            assert gap.contains(0) and v.rad() < 1e-45


def test_a_tie_at_mean_one_is_a_tie_in_doubles_too():
    """49 (1 / 49) rounds below 1: without care arm 1 would win from step 51 on."""
    algorithm, horizon = load("kl_ucb", arms=2), 120
    exactly = finite.follow(algorithm, [Fraction(1)] * horizon).actions
    declared = run_stream(algorithm, [1.0] * horizon, np.random.default_rng(0)).actions
    compiled = run_many(algorithm, Stream.constant(1.0, horizon), 1, np.random.default_rng(0))
    np.testing.assert_array_equal(declared, exactly)
    np.testing.assert_array_equal(compiled.actions(0), exactly)


def elimination(registers, *added):
    """One release of each arm, and more on top of them, before arm 0 alone is kept."""
    noise = Laplace(1)
    rows = [Rows(0, 0, 1), Rows(1, 0, 1)]
    releases = [Release(arm, rows[arm], noise) for arm in (0, 1)]
    releases += [Accumulate(arm, rows[arm], noise) for arm in added]
    keep = Decided(Keep((0, 1), registers, lambda m: m.number(1)), (0,))
    played = tuple(Played(part, start) for start, part in enumerate(rows))
    path = Path((*played, *releases, keep), 2)
    return path_log_likelihood(path, {part: Fraction(1, 2) for part in rows})


def test_eliminations_of_one_release_are_refused():
    """A release that is shown by both arms is not two fresh draws."""
    with pytest.raises(Unsupported):
        elimination(((0,), (0,)))


def test_eliminations_of_sums_are_certified():
    """x_0 + x_1 - x_2 >= 1/2, three draws of rate 1: by the density (1 + |s|) e^-|s| / 4 of two."""

    def density(s):
        return (1 + abs(s)) * math.exp(-abs(s)) / 4

    def tail(s):
        return 0.5 * math.exp(-s) if s > 0 else 1 - 0.5 * math.exp(s)

    parts = [(-40, 0), (0, 0.5), (0.5, 40)]
    expected = sum(quad(lambda s: density(s) * tail(0.5 - s), a, b)[0] for a, b in parts)
    found = elimination(((0,), (1,)), 0)
    assert abs(math.exp(found.mid()) - expected) < 1e-9 and found.rad() < 1e-20
