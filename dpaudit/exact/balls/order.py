"""Affine choices among any number of arms: registers are integrated out one at a time, in balls.

Each choice says x_w + b_w >= x_k + b_k for every other arm k, so a path is a set of difference
constraints x_i - x_j >= c between independent Laplace releases. Integrating one release out between
its bounds gives M(min of upper bounds) - M(max of lower bounds), M its distribution function times
what it carries. Splitting by which bound is the max and which the min keeps every term a product of
functions of single releases under difference constraints, so the same step applies again until
nothing is left. The number of terms grows quickly: this is for short horizons.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from flint import arb

from dpaudit.core.algorithm import Choose
from dpaudit.core.arithmetic import BALL, ball, exact
from dpaudit.core.noise import Laplace as LaplaceNoise
from dpaudit.core.scores import Affine
from dpaudit.errors import Unsupported
from dpaudit.exact.balls.evaluated import ByEvaluation
from dpaudit.exact.balls.exponentials import unit_of
from dpaudit.exact.balls.piecewise import Laplace, Piecewise
from dpaudit.exact.region import Decision, Region

LIMIT = 20_000

Constraints = dict[tuple[int, int], arb]  # (i, j): x_i - x_j >= value


@dataclass(frozen=True)
class Order:
    """The releases of a region, and all that its decisions say about them."""

    region: Region
    duels: tuple[tuple[int, int, Decision], ...]  # winner's and loser's release, and the decision


def order_of(region: Region) -> Order:
    """Return a region's comparisons, or raise `Unsupported`."""
    duels: list[tuple[int, int, Decision]] = []
    for decision in region.decisions:
        if not isinstance(decision.request, Choose) or any(len(g) != 1 for g in decision.shown):
            raise Unsupported("Only choices on single registers are in this engine.")
        shown = [group[0] for group in decision.shown]
        if len(set(shown)) < len(shown):
            raise Unsupported("Two arms show the same release: it is no fresh draw on both.")
        winner = shown[decision.arms.index(decision.outcome)]
        duels += [(winner, other, decision) for other in shown if other != winner]
    return Order(region, tuple(duels))


def _constraints(order: Order) -> Constraints:
    found: Constraints = {}
    for winner, loser, decision in order.duels:
        assert isinstance(decision.request, Choose)
        rule = decision.request.rule(BALL)
        if type(rule) is not Affine or not (isinstance(rule.scale, int) and rule.scale == 1):
            raise Unsupported(f"{type(rule).__name__} among three or more arms is not certified.")
        shift = {
            release: ball(rule.at(decision.shown.index((release,))).shift)
            for release in (winner, loser)
        }
        _require(found, winner, loser, shift[loser] - shift[winner])
    return found


def _require(constraints: Constraints, i: int, j: int, value: arb) -> None:
    old = constraints.get((i, j))
    constraints[i, j] = value if old is None else arb.max(old, value)


def likelihood(order: Order, sums: Mapping[int, Fraction]) -> arb:
    """Enclose the probability of a region's comparisons by the sums of its episodes."""
    constraints = _constraints(order)
    used = sorted({release for pair in constraints for release in pair})
    if not used:
        return arb(1)
    rates = {i: rate_of(order.region, i) for i in used}
    unit = unit_of(list(rates.values()))
    functions = {}
    for i in used:
        centre = ball(sums[i] / order.region.episodes[i].divisor)
        law = Laplace(rates[i], centre, unit)
        functions[i] = Piecewise.one(unit).times(law.density(arb(0)))
    return _integrate(arb(1), functions, constraints, [0])


def rate_of(region: Region, episode: int) -> Fraction:
    """Return 1 / scale of a release's Laplace noise."""
    noise = region.episodes[episode].noise
    if not isinstance(noise, LaplaceNoise):
        raise Unsupported(f"{type(noise).__name__} noise is not in the certified engine.")
    return 1 / exact(noise.scale)


def _integrate(
    factor: arb, functions: dict[int, Piecewise], constraints: Constraints, count: list[int]
) -> arb:
    """Integrate a product of functions of single releases under difference constraints."""
    count[0] += 1
    if count[0] > LIMIT:
        raise Unsupported(f"A path of three or more arms needs more than {LIMIT} terms.")
    free = [i for i in functions if not any(i in pair for pair in constraints)]
    if free:
        for i in free:
            factor = factor * functions[i].integral()
        functions = {i: function for i, function in functions.items() if i not in free}
    if not functions:
        return factor

    def cases(i: int) -> int:
        low = sum(1 for a, _ in constraints if a == i)
        high = sum(1 for _, b in constraints if b == i)
        return max(low, 1) * max(high, 1)

    out = min(functions, key=cases)
    rest = {pair: value for pair, value in constraints.items() if out not in pair}
    lower = {j: value for (i, j), value in constraints.items() if i == out}  # x_out >= x_j + value
    upper = {i: -value for (i, j), value in constraints.items() if j == out}  # x_out <= x_i + value
    total = arb(0)
    lows: list[int | None] = [*lower] or [None]
    highs: list[int | None] = [*upper] or [None]
    for low, high in product(lows, highs):
        given = dict(rest)
        if low is not None:
            for j, value in lower.items():
                if j != low:  # x_low + lower[low] is the largest lower bound
                    _require(given, low, j, value - lower[low])
        if high is not None:
            for i, value in upper.items():
                if i != high:  # x_high + upper[high] is the smallest upper bound
                    _require(given, i, high, upper[high] - value)
        doubt = arb(1)
        if low is not None and high is not None:
            gap = lower[low] - upper[high]
            if low == high:
                if gap >= 0:
                    continue
                if not gap < 0:
                    doubt = arb(0.5, 0.5)  # empty, or as small as the difference below
            else:
                _require(given, high, low, gap)
        if _contradict(given):
            continue
        others = {i: function for i, function in functions.items() if i != out}
        part = arb(0)
        if high is not None:
            below = functions[out].mass_below(upper[high])
            part += _integrate(factor, _times(others, high, below), given, count)
            if low is not None:
                below = functions[out].mass_below(lower[low])
                part -= _integrate(factor, _times(others, low, below), given, count)
        elif low is not None:
            above = functions[out].mass_above(lower[low])
            part += _integrate(factor, _times(others, low, above), given, count)
        total += doubt * part
    return total


def _times(functions: dict[int, Piecewise], i: int, by: Piecewise) -> dict[int, Piecewise]:
    return {**functions, i: functions[i].product(by)}


def _contradict(constraints: Constraints) -> bool:
    """Are two constraints on the same pair certainly contradictory?"""
    return any(
        value + constraints[j, i] > 0
        for (i, j), value in constraints.items()
        if (j, i) in constraints
    )


class Orders:
    """Paths of affine choices among any number of arms: a concave curve for every release."""

    def __init__(self, regions: Sequence[Region]) -> None:
        self.orders = [order_of(region) for region in regions]

    def curves(self, number: int, background: int) -> Iterator[tuple[int, ByEvaluation]]:
        """Yield the releases that meet a decision; one that wins all or none is monotone."""
        order = self.orders[number]
        episodes = order.region.episodes
        sums = {i: Fraction(background * len(e)) for i, e in enumerate(episodes)}
        for index, episode in enumerate(episodes):
            wins = [winner == index for winner, loser, _ in order.duels if index in (winner, loser)]

            def log(total: Fraction, index: int = index) -> arb:
                return likelihood(order, {**sums, index: total}).log()

            if wins:
                monotone = all(wins) or not any(wins)
                yield index, ByEvaluation(log, len(episode), monotone)
