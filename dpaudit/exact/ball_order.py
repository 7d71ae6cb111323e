"""Affine choices among any number of arms: registers are integrated out one at a time, in balls.

Each choice says x_w + b_w >= x_k + b_k for every other arm k, so a path is a set of difference
constraints x_i - x_j >= c between independent Laplace releases. Integrating one release out between
its bounds gives M(min of upper bounds) - M(max of lower bounds), M its distribution function times
what it carries. Splitting by which bound is the max and which the min keeps every term a product of
functions of single releases under difference constraints, so the same step applies again until
nothing is left. The number of terms grows quickly: this is for short horizons.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from flint import arb

from dpaudit.core.algorithm import Accumulate, Choose, Release, Rows
from dpaudit.core.arithmetic import BALL, ball, exact
from dpaudit.core.scores import Affine
from dpaudit.errors import Unsupported
from dpaudit.exact.ball_affine import unit_of
from dpaudit.exact.ball_chain import single_release
from dpaudit.exact.ball_concave import Step, concave_step
from dpaudit.exact.ball_exponential import Laplace, Piecewise
from dpaudit.exact.paths import Decided, Path

LIMIT = 20_000

Constraints = dict[tuple[int, int], arb]  # (i, j): x_i - x_j >= value


@dataclass(frozen=True)
class Order:
    """The releases of a path that meet a decision, and all that its decisions say about them."""

    releases: tuple[Release, ...]
    duels: tuple[tuple[int, int, Decided], ...]  # winner's and loser's release, and the decision


def order_of(path: Path) -> Order:
    """Return a path's comparisons, or raise `Unsupported`."""
    releases: list[Release] = []
    duels: list[tuple[int, int, Decided]] = []
    current: dict[Hashable, int] = {}
    for event in path.events:
        if isinstance(event, Release | Accumulate):
            release = single_release(event, current)
            current[release.register] = len(releases)
            releases.append(release)
        elif isinstance(event, Decided):
            request = event.request
            if not isinstance(request, Choose) or any(len(g) != 1 for g in request.registers):
                raise Unsupported("Only choices on single registers are in this engine.")
            shown = [current[group[0]] for group in request.registers]
            if len(set(shown)) < len(shown):
                raise Unsupported("Two arms show the same release: it is no fresh draw on both.")
            winner = shown[request.arms.index(event.outcome)]
            duels += [(winner, other, event) for other in shown if other != winner]
    return Order(tuple(releases), tuple(duels))


def _constraints(order: Order) -> Constraints:
    found: Constraints = {}
    for winner, loser, event in order.duels:
        request = event.request
        assert isinstance(request, Choose)
        rule = request.rule(BALL)
        if not isinstance(rule, Affine) or not (isinstance(rule.scale, int) and rule.scale == 1):
            raise Unsupported(f"{type(rule).__name__} among three or more arms is not certified.")
        positions = {group[0]: i for i, group in enumerate(request.registers)}
        shift = {
            release: ball(rule.at(positions[order.releases[release].register]).shift)
            for release in (winner, loser)
        }
        _require(found, winner, loser, shift[loser] - shift[winner])
    return found


def _require(constraints: Constraints, i: int, j: int, value: arb) -> None:
    old = constraints.get((i, j))
    constraints[i, j] = value if old is None else arb.max(old, value)


def likelihood(order: Order, sums: Mapping[Rows, Fraction]) -> arb:
    """Enclose the probability of a path's comparisons."""
    constraints = _constraints(order)
    used = sorted({release for pair in constraints for release in pair})
    if not used:
        return arb(1)
    rates = {i: 1 / exact(order.releases[i].noise.scale) for i in used}  # type: ignore[attr-defined]
    unit = unit_of(list(rates.values()))
    functions = {}
    for i in used:
        release = order.releases[i]
        centre = ball(sums[release.rows] / exact(release.divisor))
        law = Laplace(rates[i], centre, unit)
        functions[i] = Piecewise.one(unit).times(law.density(arb(0)))
    return _integrate(arb(1), functions, constraints, [0])


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


def order_steps(order: Order, binary: bool) -> list[Step]:
    """Enclose the largest loss of every release that meets a decision: affine scores are concave.

    The curve of a release that wins all its decisions, or none, is monotone.
    """
    found = []
    for number, release in enumerate(order.releases):
        wins = [winner == number for winner, loser, _ in order.duels if number in (winner, loser)]
        if not wins:
            continue
        monotone = all(wins) or not any(wins)
        for background in (1, 0):
            sums = {r.rows: Fraction(background * len(r.rows)) for r in order.releases}

            def log(
                total: Fraction, release: Release = release, sums: dict[Rows, Fraction] = sums
            ) -> arb:
                return likelihood(order, {**sums, release.rows: total}).log()

            found.append(concave_step(log, release, background, whole=binary or monotone))
    return found
