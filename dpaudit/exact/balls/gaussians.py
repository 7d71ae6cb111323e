"""Gaussian releases with affine scores, in trees: certified likelihoods by error functions.

An elimination asks of two registers that nothing reads again how far apart they are: normal tails.

A function of a register x is a product of factors: what another register, by its law or with what
others say of it, has on one side of x + lead. Each is entire and monotone, and its derivative is a
product of densities and factors again, so Taylor series of any order follow from its value at one
point. An integral is a sum over panels of its Taylor sum, with the remainder enclosed by the
coefficient on the whole panel; panels are halved until that is small. What lies more than `REACH`
deviations from a release's centre is a ball from 0 to the normal tail.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from typing import NamedTuple

from flint import arb, arb_poly, arb_series, ctx

from dpaudit.core.algorithm import Keep
from dpaudit.core.arithmetic import ball, exact
from dpaudit.core.noise import Gaussian
from dpaudit.errors import Unsupported
from dpaudit.exact import algebra
from dpaudit.exact.algebra import Algebra, Curve, Message
from dpaudit.exact.balls import polytopes
from dpaudit.exact.balls.exponentials import ConcaveLog, Margin, margin_of
from dpaudit.exact.region import Batch, Region
from dpaudit.exact.trees import Edge, Forest, forest_of

ORDER = 16
PRECISION = 128
REACH = 10
SMALL = 1e-20  # of a panel's remainder
HALVINGS = 24
KEPT = 4096  # masses that paths and streams share
WIDER = arb(0, 1e-12)  # a panel's Taylor sum also holds just beyond its ends


def applies(region: Region) -> bool:
    """Tell whether every release has Gaussian noise."""
    laws = [type(episode.kind.noise) for episode in region.episodes]
    return bool(laws) and all(law is Gaussian for law in laws)


@dataclass(frozen=True)
class Normal:
    """The law of a release around its centre."""

    mean: Fraction
    variance: Fraction

    @cached_property
    def centre(self) -> arb:
        """The centre as a ball."""
        return ball(self.mean)

    @cached_property
    def deviation(self) -> arb:
        """The deviation as a ball."""
        return ball(self.variance).sqrt()

    @property
    def key(self) -> Hashable:
        """What tells it from others."""
        return self.mean, self.variance

    def series(self, x: arb) -> arb_series:
        """Return the Taylor series of the density around x, which may be a wide ball."""
        z = arb_series([x - self.centre, 1]) / self.deviation
        scale = self.deviation * (2 * arb.pi()).sqrt()
        return (-z * z / 2).exp() / scale

    def above(self, x: arb) -> arb:
        """Return the probability of more than x."""
        return ((x - self.centre) / (self.deviation * arb(2).sqrt())).erfc() / 2

    def beyond(self, x: arb, upper: bool) -> arb:
        """Return the probability of more than x, or of less."""
        return self.above(x) if upper else Normal(-self.mean, self.variance).above(-x)

    def between(self, low: arb | None, minus_high: arb | None) -> arb:
        """Return the probability of at least `low` and at most `-minus_high`, as far as given."""
        if low is None:
            return arb(1) if minus_high is None else self.beyond(-minus_high, upper=False)
        if minus_high is None:
            return self.above(low)
        if low > self.centre:
            return arb.max(self.above(low) - self.above(-minus_high), arb(0))
        return arb.max(self.beyond(-minus_high, False) - self.beyond(low, False), arb(0))


def of_monotone(function: Callable[[arb], arb], x: arb) -> arb:
    """Return the ball of a monotone function from its values at both ends."""
    return function(x.lower()).union(function(x.upper()))


@dataclass(frozen=True)
class Factor:
    """How much of a law or a measure is above (or below) x + lead, as a function of x."""

    mass: Normal | Mass
    lead: arb
    upper: bool

    @property
    def key(self) -> Hashable:
        """What tells it from others."""
        lead = self.lead.mid().man_exp(), self.lead.rad().man_exp()
        return self.mass.key, lead, self.upper

    def series(self, x: arb) -> arb_series:
        """Return the Taylor series around x."""
        at = x + self.lead
        value = of_monotone(partial(self.mass.beyond, upper=self.upper), at)
        rise = self.mass.series(at).integral()
        return value - rise if self.upper else value + rise


class Stretch(NamedTuple):
    """A stretch, the mass before it, and the mass of its first part, by the length of that.

    The Taylor sum's last coefficient encloses the remainder.
    """

    start: arb
    width: arb
    before: arb
    mass: arb_poly


@dataclass
class Mass:
    """A weight times a release's density, as a measure: how much lies below a point."""

    law: Normal
    factors: Sequence[Factor]
    key: Hashable
    panels: list[Stretch] = field(default_factory=list)

    def __post_init__(self) -> None:
        reach = REACH * self.law.deviation.upper()
        self.first, self.last = (self.law.centre - reach).lower(), (self.law.centre + reach).upper()
        outside = self.law.above(self.law.centre + reach).upper()
        self.outside = arb(0).union(outside)  # of what is not on a panel, on either side
        total = self.outside
        step = (self.law.deviation / 2).mid()
        start = self.first
        while start < self.last:
            stop = (start + step).mid()
            total = self._add(start, stop, total, 0)
            start = stop
        self.starts = [float(panel.start) for panel in self.panels]
        self.end = start
        self.total = total + self.outside

    def _add(self, start: arb, stop: arb, before: arb, depth: int) -> arb:
        """Put panels from one point to another; return the mass up to its end."""
        width = stop - start
        rest = self.series(start.union(stop) + WIDER * width)[ORDER]
        power = width ** (ORDER + 1) / (ORDER + 1)
        if depth < HALVINGS and not abs(rest * power) < SMALL:
            middle = (start + width / 2).mid()
            before = self._add(start, middle, before, depth + 1)
            return self._add(middle, stop, before, depth + 1)
        around = self.series(start)
        mass = arb_poly([*(around[k] for k in range(ORDER)), rest]).integral()
        panel = Stretch(start, width, before, mass)
        self.panels.append(panel)
        return before + panel.mass(width)

    def series(self, x: arb) -> arb_series:
        """Return the Taylor series of the density around x, which may be a wide ball."""
        found = self.law.series(x)
        for factor in self.factors:
            found = found * factor.series(x)
        return found

    def beyond(self, x: arb, upper: bool) -> arb:
        """Return the mass above x, or below."""
        return self.total - self.below(x) if upper else self.below(x)

    def below(self, x: arb) -> arb:
        """Return the mass below x."""
        if x < self.first:
            return self.outside
        if x > self.end:
            return self.total - self.outside
        if not (x >= self.first and x <= self.end):
            return self.outside.union(self.total)
        panel = self.panels[max(bisect_right(self.starts, float(x.mid())) - 1, 0)]
        step = x - panel.start
        if not (step >= -panel.width * 1e-13 and step <= panel.width * (1 + arb("1e-13"))):
            raise Unsupported("A threshold is too wide for a panel.")
        return panel.before + panel.mass(step)


_kept: dict[Hashable, Mass] = {}


def mass_of(law: Normal, factors: Sequence[Factor]) -> Mass:
    """Return a measure, kept for other paths and streams that begin alike."""
    key = law, tuple(factor.key for factor in factors)
    found = _kept.get(key)
    if found is None:
        if len(_kept) >= KEPT:
            _kept.clear()
        found = _kept[key] = Mass(law, tuple(factors), key)
    return found


class Normals(Algebra[list[Factor]]):
    """The algebra of products of normal tails and masses."""

    def duel(self, tree: Forest, edge: Edge) -> Margin:
        return margin_of(tree, edge)

    def times(self, first: list[Factor], second: list[Factor]) -> list[Factor]:
        return first + second

    def message(self, function: list[Factor] | None, sent: Message) -> list[Factor]:
        law = law_of(sent.kind, sent.centre)
        shift = -sent.duel.lead if sent.of_first else sent.duel.lead
        with working():
            mass = law if function is None else mass_of(law, function)
        return [Factor(mass, shift, upper=not sent.below)]

    def log_total(self, function: list[Factor], kind: Batch, centre: Fraction) -> arb:
        with working():
            return _log(mass_of(law_of(kind, centre), function).total)

    def curve(self, function: list[Factor], kind: Batch) -> Curve:
        """Return the log-likelihood by a release's own sum: a region of half-spaces is convex."""

        def log(total: Fraction) -> arb:
            return self.log_total(function, kind, kind.centre(total))

        return Curve(ConcaveLog(log, kind.rows).largest)


def law_of(kind: Batch, centre: Fraction) -> Normal:
    """Return the law of a release at a centre."""
    return Normal(centre, exact(kind.noise.variance))  # type: ignore[attr-defined]


@contextmanager
def working() -> Iterator[None]:
    """Work with the precision and the length of series that masses ask for."""
    cap, ctx.cap = ctx.cap, ORDER + 1
    try:
        with ctx.workprec(PRECISION):
            yield
    finally:
        ctx.cap = cap


def _log(probability: arb) -> arb:
    if not probability > 0:
        raise Unsupported("The likelihood is too small for the panels of Gaussian noise.")
    return probability.log()


def log_likelihood(region: Region, totals: Mapping[int, Fraction]) -> arb:
    """Return a ball around the log-probability of a region with Gaussian noise alone."""
    if any(isinstance(it.request, Keep) for it in region.decisions):
        with working():
            return _log(_kept_arms(region, totals))
    tree = forest_of(region)
    centres = {i: kind.centre(totals[i]) for i, kind in tree.kinds.items()}
    with ctx.workprec(PRECISION):
        found: arb = algebra.log_likelihood(Normals(), tree, centres)
        return found


def _kept_arms(region: Region, totals: Mapping[int, Fraction]) -> arb:
    """Return the probability of eliminations between two arms: intervals of normal polytopes."""
    found = arb(1)
    for part in polytopes.parts_of(region):
        releases = polytopes.releases_of(part)
        if len(releases) != 2:
            raise Unsupported("Gaussian eliminations are certified between two arms.")
        i, j = releases
        kinds = ((region.episodes[k].kind, totals[k]) for k in releases)
        one, two = (law_of(kind, kind.centre(total)) for kind, total in kinds)
        apart, total = Normal(one.mean - two.mean, one.variance + two.variance), arb(0)
        keys = (i, j, polytopes.ONE), (j, i, polytopes.ONE)
        for given in polytopes.outcomes(part):
            if given.keys() - {*keys}:
                raise Unsupported("Gaussian eliminations are certified beside equal slopes.")
            total += apart.between(*map(given.get, keys))
        found *= total
    return found
