"""Affine scores of any slopes on registers that add up releases: integrated out one by one.

The values z that registers show at the decisions of a path are the variables, each the first
release of its kind or an earlier value plus one fresh release (batches that accumulate, nodes of a
tree). A first value has a Laplace density; one that adds a release to another has the kernel (r /
2) e^(-r |z - z'|), which in either order is a product of two exponentials. A choice says z_w >= map
(z_l) for every other arm l, map being a rising line. So a likelihood is a sum of integrals of
products of functions of single variables under constraints z_i >= map(z_j), and stays one when a
variable is integrated out: between the largest of its lower bounds and the smallest of its upper
ones, each a rising function of another variable, lies a difference of masses, each a function of
one of these variables. Ties of two bounds have probability zero: all maps rise strictly.

Registers are counted from the centres of what they show, so the rewards move the lines. Every
register is followed within a window of `REACH` noise scales; it leaves it with a probability that
Chernoff bounds (E exp(t Z) = 1 / (1 - (t / rate)^2), t = 0.9 rate), which goes to the upper end.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

from flint import arb, ctx

from dpaudit.core.algorithm import Choose
from dpaudit.core.arithmetic import BALL, ball
from dpaudit.core.scores import Affine
from dpaudit.errors import Unsupported
from dpaudit.exact.balls.exact_order import TREE, rational
from dpaudit.exact.balls.rises import Rise, Slope, after, outermost
from dpaudit.exact.balls.taylor import ORDER, Beside, Factor, Growth, Peak, TaylorMass, Within
from dpaudit.exact.clock import ENDLESS, Clock
from dpaudit.exact.known import rule_in
from dpaudit.exact.region import Decision, Region, rate_of

PRECISION = 100
REACH = 45
STEP = 2.5  # of the first panels, in the smallest noise scales
MOST_TERMS = 400


@dataclass(frozen=True)
class Function:
    """A product of factors of one variable, its exponentials gathered in one rate."""

    rate: Fraction = Fraction(0)
    factors: tuple[Factor, ...] = ()

    @property
    def key(self) -> Hashable:
        """What tells it from others."""
        return self.rate, tuple(sorted(str(factor.key) for factor in self.factors))

    def tilted(self, rate: Fraction) -> Function:
        """Return the product with an exponential."""
        return replace(self, rate=self.rate + rate)

    def times(self, factor: Factor) -> Function:
        """Return the product with a factor."""
        return replace(self, factors=(*self.factors, factor))


Functions = dict[int, Function]
Constraints = dict[tuple[int, int], Rise]  # (i, j): z_i >= rise(z_j)
Link = tuple[int, int, Fraction]  # two values of a register, the rate of the release between them


class Integration:
    """Integrals over variables in a window, with everything that its terms share."""

    def __init__(self, rates: Sequence[Fraction], reach: int, clock: Clock) -> None:
        self.window, self.step = reach / float(min(rates)), STEP / float(max(rates))
        self.clock, self.terms, self.same = clock, 0, Slope(Fraction(1), arb(0))
        self.same.__dict__["inverse"] = self.same
        self._measures: dict[Hashable, TaylorMass] = {}
        self._rises: dict[Hashable, tuple[Rise, tuple[Rise, Rise]]] = {}
        self._falls: dict[Hashable, bool] = {}

    def require(self, constraints: Constraints, i: int, j: int, low: Rise) -> None:
        """Add z_i >= low(z_j)."""
        old = constraints.get((i, j), low)
        if old is not low:
            low = self._kept("largest", old, low)
        constraints[i, j] = low

    def _kept(self, kind: str, first: Rise, second: Rise) -> Rise:
        """Return the larger of two functions, or the second after the first, built once."""
        key = kind, id(first), id(second)
        if key not in self._rises:
            built = after(first, second) if kind == "then" else outermost((first, second), True)
            self._rises[key] = built, (first, second)
        return self._rises[key][0]

    def _then(self, first: Rise, second: Rise) -> Rise:
        if self.same in (first, second):
            return second if first is self.same else first
        return self._kept("then", first, second)

    def _measure(self, function: Function, above: bool) -> TaylorMass:
        key = function.key, above
        if key not in self._measures:
            if self.clock.late:
                raise Unsupported("There is no time for certified sums of releases.")
            factors: list[Factor] = [*function.factors]
            if function.rate or not factors:
                factors.append(Growth(function.rate))
            number = len(self._measures)
            built = TaylorMass(number, factors, self.window, above).measured(self.step)
            self._measures[key] = built
        return self._measures[key]

    def _descends(self, function: Function) -> bool:
        """Tell whether a function is smaller at the upper end: masses then count from there."""
        if function.key not in self._falls:
            parts = [Growth(function.rate), *function.factors]
            probe = TaylorMass(-1, parts, self.window, above=False)
            low, high = (probe.range(arb(x * self.window)).mid() for x in (-0.9, 0.9))
            self._falls[function.key] = bool(low > high)
        return self._falls[function.key]

    def integral(
        self, functions: Functions, constraints: Constraints, links: tuple[Link, ...]
    ) -> arb:
        """Enclose the integral of a product of functions under constraints, with kernels."""
        self.terms += 1
        if self.terms > MOST_TERMS:
            raise Unsupported(f"A path needs more than {MOST_TERMS} terms.")
        tied = {i for pair in constraints for i in pair} | {i for link in links for i in link[:2]}
        found = arb(1)
        for i in functions.keys() - tied:
            found = found * self._measure(functions[i], above=False).total
        functions = {i: function for i, function in functions.items() if i in tied}
        if not functions:
            return found
        out = min(functions, key=lambda i: self._cost(i, functions, constraints, links))
        mine = [link for link in links if out in link[:2]]
        rest = tuple(link for link in links if out not in link[:2])
        total = arb(0)
        for signs in product((-1, 1), repeat=len(mine)):
            tilted, given = dict(functions), dict(constraints)
            for sign, (i, j, rate) in zip(signs, mine, strict=True):
                other = j if i == out else i
                tilted[out] = tilted[out].tilted(sign * rate)
                tilted[other] = tilted[other].tilted(-sign * rate)
                above = (out, other) if sign < 0 else (other, out)
                self.require(given, *above, self.same)
            total += self._eliminated(out, tilted, given, rest)
        for _, _, rate in mine:
            total = total * ball(rate) / 2
        return found * total

    def _cost(
        self, i: int, functions: Functions, constraints: Constraints, links: tuple[Link, ...]
    ) -> tuple[bool, int, int]:
        """Order variables: exponentials that grow go first, then those with few neighbours."""
        own = [link for link in links if i in link[:2]]
        beside = {j for pair in constraints if i in pair for j in pair}
        beside |= {j for link in own for j in link[:2]}
        return not own and functions[i].rate == 0, len(beside), len(own)

    def _eliminated(
        self, out: int, functions: Functions, constraints: Constraints, links: tuple[Link, ...]
    ) -> arb:
        """Integrate one variable out, between every pair of its bounds that may be the tightest."""
        lower = {j: it for (i, j), it in constraints.items() if i == out}
        upper = {i: it.inverse for (i, j), it in constraints.items() if j == out}
        rest = {pair: it for pair, it in constraints.items() if out not in pair}
        others = {i: function for i, function in functions.items() if i != out}
        total = arb(0)
        for low, high in product([*lower] or [None], [*upper] or [None]):  # type: ignore[list-item]
            given = dict(rest)
            for j, edge in lower.items():  # the largest of the lower bounds
                if low is not None and j != low:
                    self.require(given, low, j, self._then(edge, lower[low].inverse))
            for i, edge in upper.items():  # the smallest of the upper bounds
                if high is not None and i != high:
                    self.require(given, i, high, self._then(upper[high], edge.inverse))
            down = high is None or (low is not None and self._descends(functions[out]))
            mass, sign = self._measure(functions[out], down), -1 if down else 1
            if low is not None and low == high:
                within = Within(mass, lower[low], upper[high])
                total += self.integral(_times(others, low, within), given, links)
                continue
            if low is not None and high is not None:
                self.require(given, high, low, self._then(lower[low], upper[high].inverse))
            if high is not None:
                part = Beside(mass, upper[high])
                total += sign * self.integral(_times(others, high, part), given, links)
            if low is not None:
                part = Beside(mass, lower[low])
                total -= sign * self.integral(_times(others, low, part), given, links)
        return total


def _times(functions: Functions, i: int, factor: Factor) -> Functions:
    return {**functions, i: functions[i].times(factor)}


def escape(rates: Sequence[Fraction], window: float) -> arb:
    """Bound the probability that a sum of Laplace draws leaves the window."""
    t = ball(Fraction(9, 10) * min(rates))
    bound = 2 * (-t * arb(window)).exp()
    for rate in rates:
        bound = bound / (1 - (t / ball(rate)) ** 2)
    return arb(bound.upper())


def applies(region: Region) -> bool:
    """Tell whether every decision is a choice by affine scores."""
    return all(
        isinstance(d.request, Choose) and type(rule_in(BALL, d.request)) is Affine
        for d in region.decisions
    )


def likelihood(region: Region, totals: Mapping[int, Fraction], clock: Clock = ENDLESS) -> arb:
    """Enclose the probability of a region by the sums of its releases.

    Raise `Unsupported` where a register is not an earlier value and one fresh release.
    """
    with ctx.workprec(PRECISION):
        cap, ctx.cap = ctx.cap, ORDER + 1
        try:
            return _Variables(region, totals, clock).likelihood()
        finally:
            ctx.cap = cap


class _Variables:
    """A region's variables, by the releases that they add up, and the constraints on them."""

    def __init__(self, region: Region, totals: Mapping[int, Fraction], clock: Clock) -> None:
        self.rates = [rate_of(episode) for episode in region.episodes]
        if not max(self.rates) <= 1000 * min(self.rates):
            raise Unsupported("Noise of such different scales does not fit on the panels.")
        self.centres = [totals[i] / e.divisor for i, e in enumerate(region.episodes)]
        self.integration = Integration(self.rates, REACH, clock)
        self.numbers: dict[frozenset[int], int] = {}
        self.functions: Functions = {}
        self.links: list[Link] = []
        self.constraints: Constraints = {}
        for decision in region.decisions:
            self._decided(decision)

    def likelihood(self) -> arb:
        """Enclose the probability; what leaves the window goes to the upper end."""
        found = self.integration.integral(self.functions, self.constraints, tuple(self.links))
        lost = arb(0)
        for group in self.numbers:
            lost += escape([self.rates[i] for i in group], self.integration.window)
        return arb.min(arb.max(found, arb(0)) + arb(0).union(lost), arb(1))

    def _number(self, group: Sequence[int]) -> int:
        """Return the variable that a register shows."""
        shown = frozenset(group)
        if shown in self.numbers:
            return self.numbers[shown]
        seen: frozenset[int] = frozenset().union(*self.numbers)
        fresh, rest = shown - seen, shown & seen
        if len(fresh) != 1 or (rest and rest not in self.numbers):
            raise Unsupported("A decision reads part of a sum that another decision read.")
        number, rate = len(self.numbers), self.rates[min(fresh)]
        if rest:
            self.links.append((self.numbers[rest], number, rate))
        self.functions[number] = Function(factors=() if rest else (Peak(rate),))
        self.numbers[shown] = number
        return number

    def _decided(self, decision: Decision) -> None:
        """Add that the winner's score is at least that of every other arm."""
        shown = [self._number(group) for group in decision.shown]
        if len(set(shown)) < len(shown):
            raise Unsupported("Two arms show the same release: it is no fresh draw on both.")
        winner = decision.arms.index(decision.outcome)
        lines = [self._line(decision, place) for place in range(len(shown))]
        own, shift = lines[winner]
        for place, (scale, other) in enumerate(lines):
            if place != winner:
                low = Slope(scale / own, (other - shift) / ball(own))
                self.integration.require(self.constraints, shown[winner], shown[place], low)

    def _line(self, decision: Decision, place: int) -> tuple[Fraction, arb]:
        """Return an arm's score, as a line in its register counted from the centre."""
        request: Any = decision.request
        rules: list[Any] = [rule_in(it, request) for it in (BALL, TREE)]
        arm, exact = (rule.at(place) for rule in rules)
        scale = rational(exact.scale)
        if scale is None or not scale > 0 or not ball(arm.scale).overlaps(ball(scale)):
            raise Unsupported("A slope is not known to be a positive rational.")
        centre = sum((self.centres[i] for i in decision.shown[place]), Fraction(0))
        return scale, ball(arm.shift) + ball(scale * centre)
