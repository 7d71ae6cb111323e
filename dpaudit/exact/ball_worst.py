"""Certified worst loss under affine scores for two arms: prefixes and suffixes in balls.

By the extremal-streams corollary the largest loss of a path is attained with one episode at its
own sum and all others at all-0 or all-1. With the others fixed, the likelihood of a path as a
function of one release's centre mu is the integral of f(y - mu) W(y), where W is the product of a
message of the decisions before (shared by all paths with that prefix) and a functional of those
after (shared by all with that suffix). Left and right of mu it splits into A + B, and its
derivative in mu is rate (B - A): no second evaluation.

The log-likelihood is concave in mu (Prekopa: the region is convex). So the steps 0 -> q with the
others at 1 and n -> n - q with the others at 0 are the largest, and the sup over q in [0, 1] lies
under the tangents.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpaudit.core.arithmetic import BALL, ball
from dpaudit.errors import Unsupported
from dpaudit.exact import ball_affine
from dpaudit.exact.ball_affine import Step
from dpaudit.exact.ball_chain import Chain, Drop
from dpaudit.exact.ball_exponential import Laplace, Piecewise, Unit
from dpaudit.exact.ball_moments import Moments


@dataclass(frozen=True)
class Curve:
    """phi(s): the log-likelihood of a path by one release's own sum, all others at `background`."""

    moments: Moments
    rate: Fraction
    lead: arb | None
    held_wins: bool
    divisor: Fraction

    def __call__(self, total: Fraction) -> tuple[arb, arb]:
        """Return phi and its derivative at an own sum."""
        centre, rate = ball(total / self.divisor), ball(self.rate)
        if self.lead is None:
            below, above = self.moments.at(centre)
            mass = below + above
            return (rate * mass / 2).log(), rate * (above - below) / (mass * ball(self.divisor))
        # the fresh register is forgotten: only its tail beyond x + lead counts
        kink = centre - self.lead
        below, above = self.moments.at(kink)
        left, right = self.moments.masses(kink)
        density = rate * (below + above) / 2
        if self.held_wins:
            mass, slope = right + (below - above) / 2, -density
        else:
            mass, slope = left + (above - below) / 2, density
        return mass.log(), slope / (mass * ball(self.divisor))


@dataclass(frozen=True)
class Bounds:
    """The loss lies between two balls; the lower one is attained by a step of this length."""

    lower: arb
    upper: arb
    step: Fraction


class Sharing:
    """Messages by prefix and functionals by suffix, all other episodes at one background."""

    def __init__(self, unit: Unit, background: int) -> None:
        self.unit, self.background = unit, background
        self.steps: dict[tuple[object, ...], tuple[int, Step]] = {}
        self.forward: dict[tuple[object, ...], Piecewise] = {}
        self.backward: dict[tuple[int, ...], Piecewise] = {(): Piecewise.one(unit)}

    def law(self, chain: Chain, release: int) -> Laplace:
        """Return a release's law with all its rewards at the background."""
        total = Fraction(self.background * len(chain.releases[release].rows))
        return ball_affine.law(chain, release, total, self.unit)

    def interned(self, chain: Chain, number: int) -> tuple[int, Step]:
        """Return a stage's step and its number; equal steps share it."""
        stage = chain.stages[number]
        last = number == len(chain.stages) - 1
        if stage.drop is Drop.BOTH and not last:
            raise Unsupported("Both registers are renewed between decisions.")
        lead = ball_affine.lead(stage.rule(BALL), stage.held)
        law = self.law(chain, stage.fresh)
        drop = Drop.FRESH if last else stage.drop
        identity = (lead.mid().man_exp(), lead.rad().man_exp())
        centre = chain.releases[stage.fresh]
        key = (identity, law.rate, centre.divisor, len(centre.rows), stage.held_wins, drop)
        found = self.steps.get(key)
        if found is None:
            found = len(self.steps), Step(lead, law, stage.held_wins, drop)
            self.steps[key] = found
        return found

    def curves(self, chain: Chain) -> Iterable[tuple[int, Curve]]:
        """Yield every release that enters a decision, with its curve."""
        steps = [self.interned(chain, number) for number in range(len(chain.stages))]
        numbers = tuple(number for number, _ in steps)
        first = chain.stages[0].older
        law = self.law(chain, first)
        start = (law.rate, chain.releases[first].divisor, len(chain.releases[first].rows))
        after = self._after(tuple(step for _, step in steps), numbers)
        yield first, Curve(Moments(after[0], law.k), law.rate, None, False, _divisor(chain, first))
        message = self.forward.get(start)
        if message is None:
            message = Piecewise.one(self.unit).times(law.density(arb(0)))
            self.forward[start] = message
        for i, (_, step) in enumerate(steps):
            release = chain.stages[i].fresh
            divisor = _divisor(chain, release)
            prefix = (*start, *numbers[: i + 1])
            if step.drop is Drop.HELD:
                beaten = self.forward.get((prefix, "mass"))
                if beaten is None:
                    over = message.mass_above if step.held_wins else message.mass_below
                    beaten = self.forward[prefix, "mass"] = over(-step.lead)
                weight = beaten.product(after[i + 1])
                moments, lead = Moments(weight, step.fresh.k), None
            else:
                weight = message.product(after[i + 1])
                moments, lead = Moments(weight, step.fresh.k), step.lead
            yield release, Curve(moments, step.fresh.rate, lead, step.held_wins, divisor)
            if i + 1 < len(steps):
                known = self.forward.get(prefix)
                if known is None:
                    known = ball_affine.decided(message, step)
                    self.forward[prefix] = known
                message = known

    def _after(self, steps: tuple[Step, ...], numbers: tuple[int, ...]) -> list[Piecewise]:
        """Return h_0..h_m: what the decisions after stage i multiply a held register's law by."""
        found = [self.backward[()]]
        for i in range(len(steps) - 1, -1, -1):
            key = numbers[i:]
            known = self.backward.get(key)
            if known is None:
                step, later = steps[i], found[-1]
                if step.drop is Drop.FRESH:
                    tail = step.fresh.below if step.held_wins else step.fresh.above
                    known = later.times(tail(step.lead))
                else:
                    inner = later.times(step.fresh.density(arb(0)))
                    beaten = inner.mass_below if step.held_wins else inner.mass_above
                    known = beaten(step.lead)
                self.backward[key] = known
            found.append(known)
        return found[::-1]


def _divisor(chain: Chain, release: int) -> Fraction:
    return Fraction(chain.releases[release].divisor)


def full_step(curve: Curve, start: Fraction, direction: int) -> Bounds:
    """Return the loss of a step of 1 from `start`, as equal lower and upper bounds."""
    loss = curve(start + direction)[0] - curve(start)[0]
    return Bounds(loss, loss, Fraction(1))


def any_step(curve: Curve, start: Fraction, direction: int) -> Bounds:
    """Enclose the sup over steps in [0, 1] of the loss: a concave function lies under tangents."""
    base, slope = curve(start)
    end, end_slope = curve(start + direction)
    loss, first, last = end - base, direction * slope, direction * end_slope
    if last >= 0:
        return Bounds(loss, loss, Fraction(1))
    if first <= 0:
        return Bounds(arb(0), arb(0), Fraction(0))
    under = arb.min(loss + arb.max(arb(0), -last), arb.max(arb(0), first))
    return Bounds(arb.max(arb(0), loss), under, Fraction(1))


def narrowed(curve: Curve, start: Fraction, direction: int, width: float) -> Bounds:
    """Return `any_step` with the concave maximum bisected until the bounds are `width` apart."""
    base = curve(start)[0]
    best = any_step(curve, start, direction)
    low, high = Fraction(0), Fraction(1)
    low_value, low_slope = arb(0), direction * curve(start)[1]
    for _ in range(200):
        if best.upper - best.lower < width:
            break
        middle = (low + high) / 2
        value, slope = curve(start + direction * middle)
        value, slope = value - base, direction * slope
        step = middle if value.lower() > best.lower.lower() else best.step
        lower = arb.max(best.lower, value)
        if slope > 0:
            low, low_value, low_slope = middle, value, slope
        elif slope < 0:
            high = middle
        else:
            break
        under = low_value + low_slope * ball(high - low)
        best = Bounds(lower, arb.min(best.upper, under), step)
    return best
