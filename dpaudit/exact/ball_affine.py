"""Chains under affine scores: exact messages in piecewise exponential polynomials.

The held register x beats the fresh register y when x + c > y, with c the difference of the two
bonuses. Ties have probability zero. Every step is one product with a Laplace density or tail, or
one antiderivative, so the only error is the radius of the balls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

from flint import arb

from dpaudit.core.arithmetic import BALL, ball
from dpaudit.core.scores import Affine, Rule
from dpaudit.errors import Unsupported
from dpaudit.exact.ball_chain import Chain, Drop, Stage
from dpaudit.exact.ball_exponential import Laplace, Piecewise, Unit


@dataclass(frozen=True)
class Step:
    """A stage with its numbers: the held arm's lead c, the fresh law, who wins, who is dropped."""

    lead: arb
    fresh: Laplace
    held_wins: bool
    drop: Drop


def unit_of(rates: Sequence[Fraction]) -> Unit:
    """Return the largest rate of which all rates are integer multiples."""
    denominator = lcm(*(rate.denominator for rate in rates))
    return Unit(Fraction(gcd(*(int(rate * denominator) for rate in rates)), denominator))


def lead(rule: Rule, held: int) -> arb:
    """Return c: the held register x beats the fresh y when x + c > y."""
    if not isinstance(rule, Affine):
        raise Unsupported(f"{type(rule).__name__} is not affine.")
    own, other = rule.at(held), rule.at(1 - held)
    if own.scale is not other.scale and not (
        ball(own.scale).is_exact() and own.scale == other.scale
    ):
        raise Unsupported("Affine scores of different slopes are not in the chain engine.")
    gap: arb = (ball(own.shift) - ball(other.shift)) / ball(own.scale)
    return gap


def law(chain: Chain, release: int, total: Fraction, unit: Unit) -> Laplace:
    """Return a release's law for a sum of rewards."""
    return Laplace(chain.rate(release), ball(chain.centre(release, total)), unit)


def step_of(chain: Chain, stage: Stage, total: Fraction, unit: Unit) -> Step:
    """Return a stage's numbers for the fresh release's sum of rewards."""
    gap = lead(stage.rule(BALL), stage.held)
    return Step(gap, law(chain, stage.fresh, total, unit), stage.held_wins, stage.drop)


def decided(message: Piecewise, step: Step) -> Piecewise:
    """Return the message of the register that stays, as a function of it alone."""
    if step.drop is Drop.HELD:
        beaten = message.mass_above if step.held_wins else message.mass_below
        return beaten(-step.lead).times(step.fresh.density(arb(0)))
    tail = step.fresh.below if step.held_wins else step.fresh.above
    return message.times(tail(step.lead))


def likelihood(chain: Chain, sums: Mapping[int, Fraction]) -> arb:
    """Return the ball of the probability of a chain; `sums` by the number of the release."""
    unit = unit_of([chain.rate(release) for release in range(len(chain.releases))])
    total = arb(1)
    message: Piecewise | None = None
    for stage in chain.stages:
        if message is None:
            first = law(chain, stage.older, sums[stage.older], unit)
            message = Piecewise.one(unit).times(first.density(arb(0)))
        message = decided(message, step_of(chain, stage, sums[stage.fresh], unit))
        if stage.drop is Drop.BOTH:
            total *= message.integral()
            message = None
    return total
