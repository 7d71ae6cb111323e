"""A score of one's own by its formula: simulated, integrated, certified, and refuted by half noise.

Formulas that do not rise, or are not the same in doubles and intervals, are not certified.
"""

from __future__ import annotations

import runpy
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from dpaudit.core.algorithm import Release
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.environments import Bernoulli
from dpaudit.core.scores import Formula, Rule
from dpaudit.core.simulate import simulate
from dpaudit.errors import Unsupported
from dpaudit.exact import law, likelihood, worst_loss
from dpaudit.exact.balls.bounds import Written
from dpaudit.exact.balls.interval import Interval
from dpaudit.exact.balls.jets import JETS
from dpaudit.exact.paths import paths_of

EXAMPLE = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "bernstein.py"))
AdapBernstein, HalfTheNoise = EXAMPLE["AdapBernstein"], EXAMPLE["HalfTheNoise"]
BernsteinBound = EXAMPLE["BernsteinBound"]


def test_it_is_simulated():
    found = simulate(AdapBernstein(arms=2), Bernoulli((0.9, 0.1)), 2_000, runs=20, seed=1)
    assert 0 < found.regrets.mean() < 400  # playing the worse arm half of the time costs 800


def test_its_first_choice_is_an_integral():
    """Independent of the engine: equal levels compare clipped means, and ties at 0 and 1 count."""
    algorithm, stream = AdapBernstein(arms=2, epsilon=1.0), [1.0, 0.0, 0.0]
    (path,) = paths_of(algorithm, [0, 1, 0])
    first, second = (event.noise for event in path.events if isinstance(event, Release))

    def win(y):  # the first register is centred at 1
        least = -np.inf if y <= 0 else min(y, 1.0)
        return np.exp(second.log_density(y)) * (1 - first.cdf(least - 1.0))

    edges = (-90.0, 0.0, 1.0, 90.0)
    chance = sum(quad(win, a, b, epsabs=1e-13)[0] for a, b in pairwise(edges))
    found = likelihood(algorithm, [0, 1, 0], stream)
    assert found.certified
    assert found.lower - 1e-11 <= chance <= found.upper + 1e-11
    assert found.upper - found.lower < 1e-8


def test_its_law_is_certified_and_sums_to_one():
    algorithm, stream = AdapBernstein(arms=2), [1.0, 0.0, 0.5, 0.0, 1.0]
    exact, doubles = law(algorithm, stream), law(algorithm, stream, "float")
    assert exact.certified and exact.lower <= 1 <= exact.upper
    assert exact.upper - exact.lower < 1e-7
    for actions, found in exact.probabilities.items():
        other = doubles.probabilities[actions]
        assert found.log_lower <= other.log_upper and other.log_lower <= found.log_upper


def test_its_largest_loss_is_certified_and_half_the_noise_is_refuted():
    found = worst_loss(AdapBernstein(arms=2, epsilon=1.0), 4)
    assert found.loss.certified and found.complete
    assert 0.3 < found.loss.lower <= found.loss.upper <= 1
    assert found.loss.upper - found.loss.lower < 2e-6
    wrong = worst_loss(HalfTheNoise(arms=2, epsilon=1.0), 6)
    assert wrong.loss.certified and wrong.loss.lower > 1
    assert wrong.witness is not None and wrong.witness.loss.certified
    assert wrong.witness.loss.lower > 1


@dataclass(frozen=True)
class Falling(Formula):
    """Falls between 0.50 and 0.51, where doubles on a coarse grid do not look."""

    level: Any

    def formula(self, x: Any, m: Any) -> Any:
        return x + self.level - m.maximum(0 * x, (x - 0.5) * 3) + m.maximum(0 * x, (x - 0.51) * 3)


@dataclass(frozen=True)
class TwoFaced(Formula):
    """Says something else to doubles."""

    level: Any

    def formula(self, x: Any, m: Any) -> Any:
        return x + self.level if isinstance(x, np.ndarray | float) else 2 * x + self.level


@dataclass(frozen=True)
class Overridden(Formula):
    """Simulates another score than its formula."""

    level: Any

    def formula(self, x: Any, m: Any) -> Any:
        return x + self.level

    def value(self, x: Any) -> Any:
        return np.clip(x, 0, 1) * 0.5 + self.level


@dataclass(frozen=True)
class Library(Formula):
    """Leaves the arithmetic it is given."""

    level: Any

    def formula(self, x: Any, m: Any) -> Any:
        return np.tanh(x) + self.level


class Inverted(BernsteinBound):
    """Is certified by another inverse than its formula's."""

    def inverse_upper(self, v: Any) -> Any:
        return self.inverse(v)


@pytest.mark.parametrize("kind", [Falling, TwoFaced, Overridden, Library, Inverted])
def test_what_is_not_shown_is_not_certified(kind):
    class Own(AdapUCB):
        def rule(self, pulls: Any, time: Any, m: Any) -> Any:
            return kind(m.log(time) / pulls)

    try:
        found = likelihood(Own(arms=2), [0, 1, 0, 0], [1, 0, 1, 0])
    except Unsupported:
        return
    assert not found.certified


class Smallest(BernsteinBound):
    """A run plays the smallest register, whatever the formula says."""

    def winner(self, x: Any, rng: Any) -> Any:
        return np.argmin(x, axis=-1)


class Negated(BernsteinBound):
    def compared(self, x: Any) -> Any:
        return -x


class Swapped(BernsteinBound):
    def at(self, arm: Any) -> Any:
        return BernsteinBound(self.level[1 - arm])


class Relative(BernsteinBound):
    """Each arm's score falls with the other's register where a run asks for both."""

    def formula(self, x: Any, m: Any) -> Any:
        return x - 0.5 * x[..., ::-1] if np.ndim(x) else 0.5 * x


class Neighbour(BernsteinBound):
    def formula(self, x: Any, m: Any) -> Any:
        return x[..., ::-1] + 0.0 if isinstance(x, np.ndarray) and x.shape[-1] == 2 else 1.0 * x


class Drawing(Rule):
    def winner(self, x: Any, rng: Any) -> Any:
        return np.argmin(x, axis=-1)


@dataclass(frozen=True, kw_only=True)
class Ruled(AdapUCB):
    made: Any = None

    def rule(self, pulls: Any, time: Any, m: Any) -> Any:
        return self.made(m.log(time) / pulls)


@pytest.mark.parametrize("made", [Smallest, Negated, Swapped, Relative, Neighbour, Drawing])
def test_what_a_run_decides_otherwise_is_refused_and_never_holds(made):
    """A winner of one's own was integrated as the largest score: a certified number, and HOLDS."""
    algorithm = Ruled(arms=2, made=made if made is not Drawing else lambda _: Drawing())
    for engine in ("ball", "float"):
        with pytest.raises(Unsupported, match=made.__name__):
            likelihood(algorithm, [0, 1, 0, 0], [1, 0, 1, 0], engine=engine)
    for streams in ("real", "binary"):
        with pytest.raises(Unsupported, match=made.__name__):
            worst_loss(algorithm, 4, streams=streams)


@pytest.mark.parametrize("level", [None, -np.inf, "0.1", np.nan])
def test_odd_parameters_of_a_formula_are_refused_in_one_line(level):
    with pytest.raises(Unsupported, match="BernsteinBound") as error:
        worst_loss(Ruled(arms=2, made=lambda _: BernsteinBound(level)), 4)
    assert "\n" not in str(error.value)


UNIT = st.floats(0.05, 1.0)


@given(UNIT, UNIT, st.floats(0.0, 0.05))
def test_jets_contain_the_derivatives_of_balls(level, x, width):
    """Against power series in Arb, which share no code with the intervals."""
    from flint import arb_series

    def formula(x, m, level):
        return m.sqrt(level * (level + 2 * x)) + m.log(1 + x) / m.exp(x) - m.maximum(x, -1) * x

    box = Interval(np.array([x]), np.array([x + width]))
    found = formula(JETS.variable(box), JETS, JETS.number(level))

    class Series:
        sqrt = staticmethod(lambda s: s.sqrt())
        log = staticmethod(lambda s: s.log())
        exp = staticmethod(lambda s: s.exp())
        maximum = staticmethod(lambda s, _: s)

    for inside in (x, x + 0.37 * width, x + width):
        at = arb_series([arb(inside), arb(1)], 4)
        value = formula(at, Series, arb(str(level)))
        for part, order in ((found.value, 1), (found.first, 1), (found.second, 2)):
            place = {id(found.value): 0, id(found.first): 1, id(found.second): 2}[id(part)]
            true = float(value[place] * order)
            slack = 1e-12 * (1 + abs(true))
            assert part.lo[0] - slack <= true <= part.hi[0] + slack


@given(UNIT, st.floats(1e-6, 1 - 1e-6))
def test_a_stated_bound_inverts_itself(level, mean):
    score = BernsteinBound(level)
    bound = Written(score, BernsteinBound(JETS.number(level)))
    v = bound.value(Interval.of(np.array([mean])))
    found = bound.inverse(v)
    assert found.lo[0] <= mean <= found.hi[0]
    assert found.hi[0] - found.lo[0] < 1e-12
    assert v.lo[0] <= score.value(mean) * (1 + 1e-15) and score.value(mean) <= v.hi[0] * (1 + 1e-15)


@dataclass(frozen=True)
class Saturating(Formula):
    """Scores of two arms that differ by 1e-7 at most, and hardly rise at the ends."""

    level: Any
    low = -0.25
    high = 1.3

    def formula(self, x, m):
        return self.level - 1 / (1 + m.exp(8 * (x - 0.5)))


@dataclass(frozen=True, kw_only=True)
class NearTies(AdapBernstein):
    def rule(self, pulls, time, m):
        return Saturating(m.number(1e-7) * m.log(time) / pulls)


def test_a_crossing_that_is_hardly_known_costs_no_cells():
    """The scores cross where the formula is flat: in doubt over much of the line."""
    found = likelihood(NearTies(arms=2), [0, 1, 1, 0, 1], [0.9, 0.1, 0.9, 0.9, 1 / 3])
    assert found.certified
    assert found.log_upper - found.log_lower < 1e-2
    loss = worst_loss(NearTies(arms=2, epsilon=2.0), 4, streams="binary").loss
    assert loss.certified and loss.upper - loss.lower < 1e-2


@dataclass(frozen=True)
class Shaped(Formula):
    """A formula of any shape."""

    level: Any
    shape: Any

    def formula(self, x, m):
        return self.shape(x, m, self.level)


SHAPES = {
    "straight": lambda x, m, level: x + level,
    "square": lambda x, m, level: x * x + level,
    "fourth power": lambda x, m, level: x**4 + level,
    "fourth power from above": lambda x, m, level: level - (1 - x) ** 4,
    "capped": lambda x, m, level: -m.maximum(-x - level, -1),
    "flat below": lambda x, m, level: m.maximum(x, 0.5) + level,
    "constant": lambda x, m, level: 0 * x + level,
}


def shaped(name):
    class Own(AdapUCB):
        def rule(self, pulls: Any, time: Any, m: Any) -> Any:
            return Shaped(m.sqrt(m.log(time) / pulls) / 2, SHAPES[name])

    return Own(arms=2)


@pytest.mark.parametrize("name", SHAPES)
def test_the_inverses_of_a_formula_are_the_ends_of_its_plateaus(name):
    score, x = Shaped(0.5, SHAPES[name]), np.linspace(-1, 2, 3001)
    values = score.value(x)
    for v in (*values[::100], values[0] - 0.1, values[-1] + 0.1):
        least, most = float(score.inverse(v)), float(score.inverse_upper(v))
        assert (values[x > least + 1e-9] >= v).all() and (values[x < least - 1e-9] < v).all()
        assert (values[x < most - 1e-9] <= v).all() and (values[x > most + 1e-9] > v).all()


def test_plateaus_of_formulas_have_their_mass_and_those_of_rounding_none():
    """The fourth power is flat to doubles up to 1e-4: a likelihood of that would be off by 1e-5."""
    actions, stream = [0, 1, 0], [0.0, 1.0, 0.0]
    one, two = (likelihood(shaped(name), actions, stream) for name in ("straight", "square"))
    assert two.log_lower <= one.log_upper and one.log_lower <= two.log_upper
    assert likelihood(shaped("constant"), actions, stream).upper == 1
    for name in ("capped", "flat below"):  # ties go to the first arm
        assert one.upper < likelihood(shaped(name), actions, stream).lower
    for name in ("fourth power", "fourth power from above"):
        with pytest.raises(Unsupported, match="doubles cannot tell"):
            likelihood(shaped(name), actions, stream)
