"""Every primitive of the certified grids against Arb at 300 bits: it must contain the truth."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.core.arithmetic import ball
from dpaudit.core.noise import Laplace
from dpaudit.exact.balls import interval as rounding
from dpaudit.exact.balls.beyond import Beyond, tail
from dpaudit.exact.balls.bounds import Entropy
from dpaudit.exact.balls.interval import Interval, outward
from dpaudit.exact.balls.own_sum import Moving, _share, _steps, mesh_steps
from dpaudit.exact.balls.piecewise import Piecewise
from dpaudit.exact.balls.roots import (
    Order,
    Theta,
    divergence_of,
    lower_mean,
    upper_bound,
)
from dpaudit.exact.balls.threshold import Placed, Rivals
from dpaudit.exact.balls.weight import (
    Masses,
    Weight,
    cumulative,
    piece,
)
from dpaudit.exact.trees import Batch

many = settings(max_examples=150, deadline=None)
REAL = st.floats(-50, 50, allow_subnormal=False)
OPEN = st.floats(1e-9, 1 - 1e-9)
LEVEL = st.floats(1e-3, 30)


def one_on(grid: np.ndarray) -> Weight:
    """Return the constant 1."""
    cells = np.zeros(len(grid) - 1)
    ones = Interval.of(np.ones(len(grid))), Interval.of(cells + 1)
    return Weight(*ones, Interval.of(cells), Interval.of(cells))


@pytest.fixture(autouse=True)
def _precise():
    with ctx.workprec(300):
        yield


def number(x: float) -> arb:
    """The double itself, not the decimal that it prints."""
    return arb(float(x))


def contains(interval: Interval, value: arb, index: int | None = None) -> bool:
    low, high = (
        (interval.lo, interval.hi) if index is None else (interval.lo[index], interval.hi[index])
    )
    # at 300 bits only a value on the very edge is in doubt
    return not (value < number(low) or value > number(high))


def test_doubles_are_ieee_with_gradual_underflow() -> None:
    """What the intervals take for granted: no flushing to zero, rounding to nearest even."""
    tiny = np.full(9, np.finfo(float).tiny)
    assert np.all(tiny / 2 > 0)
    assert np.all(tiny * 0.25 > 0)
    assert np.all((1 + np.full(9, 2.0**-53)) == 1)
    assert np.all((1 + np.full(9, 1.5 * 2.0**-53)) == 1 + 2.0**-52)


@many
@given(st.floats(-690, 690))
def test_exp_contains(x: float) -> None:
    assert contains(Interval.of(np.array([x])).exp(), number(x).exp(), 0)


@many
@given(st.floats(5e-324, 1e308))
def test_log_contains(x: float) -> None:
    assert contains(Interval.of(np.array([x])).log(), number(x).log(), 0)


@many
@given(st.floats(1e-15, 1e-3), st.sampled_from([-1, 1]))
def test_log_near_one_contains(x: float, sign: int) -> None:
    y = 1 + sign * x
    assert contains(Interval.of(np.array([y])).log(), number(y).log(), 0)


@many
@given(st.floats(1e-300, 1e300), st.floats(1e-300, 1e300))
def test_quotients_contain(a: float, b: float) -> None:
    with np.errstate(over="ignore", under="ignore"):
        found = Interval.of(np.array([a])).over(Interval.of(np.array([b])))
    assert contains(found, number(a) / number(b), 0)


@many
@given(st.floats(0, 1e-100), st.floats(0, 1e-100))
def test_products_that_underflow_contain(a: float, b: float) -> None:
    found = Interval.of(np.array([a])).times(Interval.of(np.array([b])))
    assert contains(found, number(a) * number(b), 0)


@many
@given(st.fractions(max_denominator=10**9), st.integers(0, 400))
def test_doubles_around_balls(value: Fraction, bits: int) -> None:
    middle = ball(value)
    wide = middle.union(middle + arb(2) ** -bits)
    found = outward(wide)
    for low, high in ((rounding.below(wide), rounding.above(wide)), (found.lo, found.hi)):
        assert number(low) <= wide
        assert number(high) >= wide


@many
@given(st.fractions(0, 10**6, max_denominator=10**12))
def test_a_radius_given_to_a_ball_is_rounded_up(value: Fraction) -> None:
    radius = ball(value).upper()
    assert arb(0, radius).upper() >= radius


@many
@given(st.floats(0, 1e3), st.floats(0, 1e3))
def test_shares_contain(b: float, a: float) -> None:
    found = _share(np.array([b]), np.array([a]))
    if a + b == 0:
        assert (found.lo[0], found.hi[0]) == (-1, 1)
        return
    value = (number(b) - number(a)) / (number(b) + number(a))
    # the rounding of a + b is covered by the caller's allowance
    assert number(found.lo[0]) - number(1e-15) <= value <= number(found.hi[0]) + number(1e-15)


def test_shares_of_vanishing_masses_promise_nothing() -> None:
    found = _share(np.array([0.0, 1e-300]), np.array([1e-300, 0.0]))
    assert np.all(found.lo == -1)
    assert np.all(found.hi == 1)


def density_mass(a: arb, b: arb, centre: arb, rate: arb) -> arb:
    """Laplace mass of [a, b] by its distribution function, the centre not inside."""
    if a >= centre:
        return ((-(rate * (a - centre))).exp() - (-(rate * (b - centre))).exp()) / 2
    return ((rate * (b - centre)).exp() - (rate * (a - centre)).exp()) / 2


@many
@given(REAL, st.floats(1e-12, 5), REAL, st.floats(0.01, 64))
def test_laplace_pieces_contain(a: float, length: float, centre: float, rate: float) -> None:
    b = a + length
    if a < centre < b:
        centre = a
    found = piece(np.array([a]), np.array([b]), centre, outward(number(rate)))
    assert contains(found, density_mass(number(a), number(b), number(centre), number(rate)), 0)


@many
@given(st.floats(-800, 800))
def test_laplace_distribution_contains(z: float) -> None:
    x = number(z)
    value = x.exp() / 2 if z < 0 else 1 - (-x).exp() / 2
    assert contains(cumulative(Interval.of(np.array([z]))), value, 0)


def kl(m: arb, v: arb) -> arb:
    q = 1 - (-v).exp()
    return m * (m.log() - q.log()) + (1 - m) * ((1 - m).log() + v)


@many
@given(OPEN, st.floats(1e-6, 60))
def test_divergences_contain(m: float, v: float) -> None:
    assert contains(divergence_of(np.array([m]), np.array([v])), kl(number(m), number(v)), 0)


@many
@given(OPEN, LEVEL)
def test_upper_bounds_contain_their_root(m: float, level: float) -> None:
    found = upper_bound(Interval.of(np.array([m])), outward(number(level)))
    low, high = float(found.lo[0]), float(found.hi[0])
    if low > -math.log1p(-m):
        assert kl(number(m), number(low)) <= number(level)
    if math.isfinite(high):
        assert kl(number(m), number(high)) >= number(level)
        assert high - low < 1e-5 * (1 + high)


@many
@given(st.floats(1e-3, 30), LEVEL)
def test_lower_means_contain_their_root(above: float, level: float) -> None:
    v = level + above
    found = lower_mean(Interval.of(np.array([v])), outward(number(level)))
    low, high = float(found.lo[0]), float(found.hi[0])
    if low > 0:
        assert kl(number(low), number(v)) >= number(level)
    if high < 1 and number(high) < 1 - (-number(v)).exp():
        assert kl(number(high), number(v)) <= number(level)
    assert low <= high


def _pair(one: float, two: float, first: bool) -> Rivals:
    scale = outward(number(1.0))
    own, other = (Placed(Entropy(o), scale, o) for o in (outward(number(x)) for x in (one, two)))
    return Rivals(own, other, Order.BELOW if one < two else Order.ABOVE, first)


@settings(max_examples=40, deadline=None)
@given(st.floats(0.2, 6), st.floats(0.2, 6), st.booleans())
def test_threshold_slopes_and_bends_bound_secants(one: float, two: float, first: bool) -> None:
    """Mean-value theorem: a secant's slope is below the bound, and so is the change of secants."""
    if abs(one - two) < 0.05:
        two = one + 0.05
    x = np.linspace(0.02, 0.98, 49) - one
    found = _pair(one, two, first).threshold(x)
    h = x[1] - x[0]
    inner = np.isfinite(found.at.lo) & np.isfinite(found.at.hi)
    for i in np.flatnonzero(inner[:-1] & inner[1:]):
        least = (found.at.lo[i + 1] - found.at.hi[i]) / h
        most = (found.at.hi[i + 1] - found.at.lo[i]) / h
        assert least <= found.slope.hi[i] * (1 + 1e-9)
        assert most >= found.slope.lo[i] * (1 - 1e-9)
    pairs = np.flatnonzero(inner[:-2] & inner[1:-1] & inner[2:])
    for i in pairs:
        spread = 4 * np.max(found.at.hi[i : i + 3] - found.at.lo[i : i + 3]) / h**2
        middle = 0.5 * (found.at.lo + found.at.hi)
        second = (middle[i + 2] - 2 * middle[i + 1] + middle[i]) / h**2
        slack = spread + 1e-9 * abs(second)
        assert second <= max(found.bend.hi[i : i + 2]) + slack
        assert second >= min(found.bend.lo[i : i + 2]) - slack


STILL = Interval.of(np.zeros(1))


def exponential(grid: np.ndarray, b: float) -> Weight:
    """The weight e^(b x) on the grid, with its own derivatives."""
    at = (Interval.of(grid) * b).exp()
    low, high = np.minimum(at.lo[:-1], at.lo[1:]), np.maximum(at.hi[:-1], at.hi[1:])
    return Weight(at, Interval(low, high), b * Interval(low, high), b * (b * Interval(low, high)))


@settings(max_examples=40, deadline=None)
@given(
    st.fractions(Fraction(-1, 2), Fraction(3, 2), max_denominator=7),
    st.sampled_from([Fraction(1, 2), Fraction(3), Fraction(2) ** 20]),
    st.floats(-1.9, 1.9),
    st.floats(-2, 2),
    st.booleans(),
)
def test_masses_beyond_a_threshold_contain_the_closed_form(
    centre: Fraction, rate: Fraction, cut: float, b: float, below: bool
) -> None:
    """Also for a centre that is no double under a sharp law: the law moves by that rounding."""
    if rate > 100:
        cut = float(centre) + 20 * cut / float(rate)
    near = float(centre) + np.linspace(-60, 60, 241) / max(float(rate), 30.0)
    grid = np.unique(np.concatenate([np.linspace(-3, 3, 121), near, [float(centre)]]))
    at = np.full(2, cut)
    theta = Theta(Interval(at, at), STILL, STILL)
    found = Beyond(Masses(grid, rate, centre), theta, below)(exponential(grid, b)).at
    mu, r, slope = ball(centre), ball(rate), number(b)

    def part(low: arb, high: arb, sign: int) -> arb:
        """The integral of (rate / 2) e^(b t - rate |t - mu|) on one side of the centre."""
        k = slope - sign * r
        if k == 0:
            return r / 2 * (sign * r * mu).exp() * (high - low)
        return r / 2 * (sign * r * mu).exp() * ((k * high).exp() - (k * low).exp()) / k

    ends = [number(grid[0]), number(cut)] if below else [number(cut), number(grid[-1])]
    if ends[0] < mu < ends[1]:
        value = part(ends[0], mu, -1) + part(mu, ends[1], 1)
    else:
        value = part(*ends, -1 if ends[1] <= mu else 1)
    edge = number(grid[0]) if below else number(grid[-1])
    outer = (-(r * abs(edge - mu))).exp() / 2 * (slope * edge).exp()
    assert contains(found, value + outer, 0)
    assert found.hi[0] - found.lo[0] < 2e-2 * (1 + found.hi[0])


def test_a_mesh_without_positive_masses_bounds_nothing() -> None:
    """Vanishing lower ends must never narrow the upper end."""
    grid = np.linspace(0, 1, 17)
    kind = Batch(Laplace(1.0), Fraction(1), 1)
    cells = np.zeros((1, 16))
    endless = Interval(cells - np.inf, cells + np.inf)
    unknown = Weight(
        Interval(np.zeros((1, 17)), np.ones((1, 17))), Interval(cells, cells + 1), endless, endless
    )
    found = Moving(kind, 16, grid)(unknown)
    with np.errstate(invalid="ignore"):
        (steps,) = mesh_steps(found, 16, 1.0, rising=True)
    assert steps.upper == np.inf


def test_tails_of_certain_thresholds_are_certain() -> None:
    grid = np.linspace(-1, 2, 31)
    law = Masses(grid, Fraction(1), Fraction(0))
    for cut, chance in ((np.inf, 1.0), (-np.inf, 0.0)):
        theta = Theta(Interval.of(np.full(2, cut)), STILL, STILL)
        found = tail(law, theta, below=True).at
        assert np.all(found.lo <= chance)
        assert np.all(found.hi >= chance)


def test_integrals_beside_a_point_that_overlaps_a_breakpoint_contain_the_closed_form() -> None:
    """Of e^-2|t| on either side of x, for all x in a ball that reaches from below 0 to 0.0011."""
    law = Piecewise.laplace(Fraction(1), Fraction(2), arb(0))
    below, above = (law.running(right)(arb("0.0005 +/- 0.0006")) for right in (0, 1))
    for x in map(arb, ("-0.00009", "0", "0.0005", "0.00109")):
        tail = (-2 * abs(x)).exp() / 2
        sides = (tail, 1 - tail) if x < 0 else (1 - tail, tail)
        assert below.contains(sides[0]) and above.contains(sides[1])


def test_steps_on_a_mirrored_mesh_are_sums_from_the_other_end() -> None:
    ends = (np.array([0.1]), np.array([0.2]), np.array([1]), np.array([3]))
    found = [_steps(*ends, 2, 4, rising)[0] for rising in (True, False)]
    assert [(it.own, it.other) for it in found] == [
        (Fraction(1, 2), Fraction(3, 2)),
        (Fraction(3, 2), Fraction(1, 2)),
    ]


def test_a_mass_still_grows_where_its_threshold_is_beyond_the_grid() -> None:
    grid = np.linspace(-1, 1, 21)
    at = np.array([1.2, 1.6])
    theta = Theta(Interval(at, at), Interval.of(np.ones(1)), STILL)
    found = Beyond(Masses(grid, Fraction(1), Fraction(0)), theta, below=True)(one_on(grid))
    assert found.first.hi[0] >= 0.5 * np.exp(-at[0])  # the density at the threshold
    assert found.second.lo[0] <= -0.5 * np.exp(-at[0])  # which falls


def line(x: np.ndarray, slope: float, shift: float) -> Theta:
    """The threshold slope x + shift, enclosed."""
    rising, cells = Interval.of(np.full(len(x) - 1, slope)), np.zeros(len(x) - 1)
    return Theta(slope * Interval.of(x) + shift, rising, Interval.of(cells))


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1, 2)]),
    st.sampled_from([Fraction(1, 2), Fraction(3), Fraction(40)]),
    st.floats(0.2, 2.0),
    st.floats(-1.5, 1.5),
    st.floats(-2, 2),
    st.booleans(),
)
def test_derivatives_of_masses_contain_the_closed_form(
    centre: Fraction, rate: Fraction, slope: float, shift: float, b: float, below: bool
) -> None:
    """The mass of e^(b t) beyond a t that moves with x, and the tail itself (b = 0)."""
    grid = np.unique(np.append(np.linspace(-3, 3, 61), float(centre)))
    x = np.linspace(-1, 1, 23)
    theta, law = line(x, slope, shift), Masses(grid, rate, centre)
    mass = Beyond(law, theta, below)(exponential(grid, b))
    alone = tail(law, theta, below)
    r, sign = float(rate), 1 if below else -1
    for i in range(len(x) - 1):
        for u in np.linspace(0.03, 0.97, 5):
            at = slope * (x[i] + u * (x[i + 1] - x[i])) + shift
            side = 1 if at < float(centre) else -1
            for weight, power in ((mass, b), (alone, 0.0)):
                if weight is mass and abs(at) > 2.9:
                    continue
                f = sign * r / 2 * np.exp(power * at - r * abs(at - float(centre)))
                first, second = f * slope, (power + side * r) * f * slope**2
                margin = 1e-12 * (abs(first) + abs(second))
                assert weight.first.lo[i] - margin <= first <= weight.first.hi[i] + margin
                assert weight.second.lo[i] - margin <= second <= weight.second.hi[i] + margin


def test_many_functions_at_once_are_what_each_is_alone() -> None:
    grid = np.linspace(-3, 3, 121)
    law = Masses(grid, Fraction(2), Fraction(0))
    x = np.linspace(-1, 1, 23)
    beyond = Beyond(law, line(x, 1.5, 0.1), below=True)
    alone = [exponential(grid, b) for b in (-1.0, 0.5, 2.0)]
    many = Weight.stacked(alone)
    for one, of_many in zip(alone, beyond(many).split(), strict=True):
        found = beyond(one)
        for name in ("at", "range", "first", "second"):
            for end in ("lo", "hi"):
                assert np.array_equal(
                    getattr(getattr(found, name), end), getattr(getattr(of_many, name), end)
                )
    totals = law.total(many)
    assert [law.total(one).lo for one in alone] == pytest.approx(totals.lo, rel=1e-13)


def test_widths_are_of_third_order_in_the_cells() -> None:
    """Halving the cells divides the width of a mass by about eight, not by four."""
    widths = []
    for cells in (40, 80, 160):
        grid = np.linspace(-3, 3, 2 * cells + 1)
        found = Masses(grid, Fraction(2), Fraction(0)).total(exponential(grid, 1.3))
        widths.append(found.hi - found.lo)
    assert widths[0] > 6 * widths[1] > 36 * widths[2] > 0
