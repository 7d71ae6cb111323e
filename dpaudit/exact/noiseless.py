"""Algorithms without noise: the likelihood of a path is 0 or 1, decided in exact arithmetic.

Register values and pull counts stay rationals; logarithms and roots are Arb balls whose precision
is raised until two scores separate. Equal values of equal formulas are ties, which the earliest arm
wins. Nothing is decided by rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.core.algorithm import Keep
from dpaudit.core.arithmetic import BALL, exact
from dpaudit.core.noise import NoNoise
from dpaudit.core.scores import Affine, KLBound
from dpaudit.errors import Unsupported
from dpaudit.exact.ball_symbolic import TREE
from dpaudit.exact.region import Region


class _Rational:
    """Parameters as exact rationals, transcendental functions of them as balls."""

    def number(self, value: Any) -> Any:
        return np.frompyfunc(_rational, 1, 1)(value)

    def log(self, x: Any) -> Any:
        return BALL.log(np.frompyfunc(_ball, 1, 1)(x))

    def sqrt(self, x: Any) -> Any:
        return BALL.sqrt(np.frompyfunc(_ball, 1, 1)(x))

    def exp(self, x: Any) -> Any:
        return BALL.exp(np.frompyfunc(_ball, 1, 1)(x))

    def maximum(self, x: Any, y: Any) -> Any:
        lift = np.frompyfunc(_ball, 1, 1)
        return BALL.maximum(lift(x), lift(y))


def _rational(value: Any) -> Any:
    from flint import arb, fmpq

    if isinstance(value, arb | fmpq):
        return value
    number = exact(value)
    return fmpq(number.numerator, number.denominator)


def _ball(value: Any) -> Any:
    from flint import arb

    return arb(_rational(value))


_PRECISIONS = (64, 256, 1024, 4096)


def applies(region: Region) -> bool:
    """Return whether no release of a region carries noise."""
    return all(isinstance(episode.noise, NoNoise) for episode in region.episodes)


def happens(region: Region, rewards: Sequence[float]) -> bool:
    """Return whether a stream leads down a path; it then does so with probability 1."""
    rows = [exact(float(reward)) for reward in rewards]
    values = [
        sum((rows[t] for part in episode.steps for t in part), Fraction(0)) / episode.divisor
        for episode in region.episodes
    ]
    for decision in region.decisions:
        if isinstance(decision.request, Keep):
            raise Unsupported("Elimination without noise is not supported by the exact engine.")
        shown = [sum((values[i] for i in group), Fraction(0)) for group in decision.shown]
        if decision.arms[_winner(decision.request.rule, shown)] != decision.outcome:
            return False
    return True


def _winner(rule: Any, x: list[Fraction]) -> int:
    best = 0
    for challenger in range(1, len(x)):
        if _beats(rule, x, challenger, best):
            best = challenger
    return best


def _beats(rule: Any, x: list[Fraction], challenger: int, best: int) -> bool:
    """Return whether a later position's score is strictly larger."""
    from flint import ctx

    if x[challenger] == x[best] and _same_formula(rule, challenger, best):
        return False
    before = ctx.prec
    try:
        for precision in _PRECISIONS:
            ctx.prec = precision
            scores = rule(_Rational())
            if not isinstance(scores, Affine | KLBound):
                kind = type(scores).__name__
                raise Unsupported(f"The exact engine cannot compare {kind} without noise.")
            one, two = scores.at(challenger), scores.at(best)
            compare = _affine if isinstance(scores, Affine) else _kl
            answer = compare(one, x[challenger], two, x[best])
            if answer is not None:
                return answer
    finally:
        ctx.prec = before
    raise Unsupported("Two scores agree to 4096 bits; the exact engine will not guess a tie.")


def _same_formula(rule: Any, one: int, two: int) -> bool:
    """Return whether two positions' scores are the same expression, hence the same function."""
    try:
        trees = rule(TREE)
        return bool(trees.at(one) == trees.at(two))
    except TypeError:  # a formula outside the four operations and their functions
        return False


def _affine(one: Any, x: Fraction, two: Any, y: Fraction) -> bool | None:
    a, b = _ball(one.value(_rational(x))), _ball(two.value(_rational(y)))
    return True if a > b else False if a < b else None


def _kl(one: Any, x: Fraction, two: Any, y: Fraction) -> bool | None:
    """Compare two upper bounds q by v = -log(1 - q), infinite where the mean is 1."""
    means = [score.scale * _rational(value) + score.shift for score, value in ((one, x), (two, y))]
    tops = [_at_least_one(mean) for mean in means]
    if None in tops:
        return None
    if tops[0] or tops[1]:
        return bool(tops[0] and not tops[1])
    bounds = [
        _upper(mean, _ball(score.level)) for mean, score in zip(means, (one, two), strict=True)
    ]
    if bounds[0] is None or bounds[1] is None:
        return None
    return True if bounds[0] > bounds[1] else False if bounds[0] < bounds[1] else None


def _at_least_one(mean: Any) -> bool | None:
    if mean >= 1:
        return True
    return False if mean < 1 else None


def _upper(mean: Any, level: Any) -> Any:
    """Return a ball around v = -log(1 - q) for the largest q with d(mean, q) <= level."""
    from flint import arb, ctx

    if mean <= 0:
        return level
    if not mean > 0:
        return None
    mean = _ball(mean)
    rest = 1 - mean
    entropy = -mean * mean.log() - rest * rest.log()

    def excess(v: Any) -> Any:
        return rest * v - mean * (1 - (-v).exp()).log() - entropy - level

    low, high = arb((-rest.log()).lower()), arb(((level + entropy) / rest + 1).upper())
    for _ in range(ctx.prec):
        middle = arb(((low + high) / 2).mid())
        sign = excess(middle)
        if sign > 0:
            high = middle
        elif sign < 0:
            low = middle
        else:
            break
    return low.union(high)
