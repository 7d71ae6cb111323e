"""Declarations of one decision, whose likelihoods and losses are worked out by hand.

Two releases, x = r0 + Z0 and y = r1 + Z1 with Laplace noise of scales s and t; arm 0 wins where
x >= y. With d = r0 - r1 the tail of Z1 - Z0 gives, for different scales and d <= 0,

    P(arm 0) = (t^2 e^(d/t) - s^2 e^(d/s)) / (2 (t^2 - s^2)),

and (2 - d) e^d / 4 where both scales are 1; for d > 0 by symmetry. Each release holds one reward,
so the likelihood is monotone in it and the largest loss is at rewards 0 and 1.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from flint import arb, ctx, fmpq
from scripted import BOTH, CHOSEN, choose, scripted, show

from dpaudit.core.algorithm import Accumulate, Algorithm, Play, Release, Rows
from dpaudit.core.arithmetic import exact
from dpaudit.core.noise import Laplace
from dpaudit.errors import Unsupported
from dpaudit.exact import likelihood, recompute, worst_loss
from dpaudit.exact.horizons import judge
from dpaudit.exact.paths import all_paths
from dpaudit.exact.profile import law
from dpaudit.exact.region import region_of
from dpaudit.exact.trees import forest_of
from dpaudit.verdict import Status

PATIENCE, SHORT = 100.0, 2.0  # seconds; where a short search ends early, it claims no more
CASES = [(1, 1), (1, 2), (Fraction(1, 2), 3), (Fraction(7, 10), Fraction(1, 3))]


def declared(s: Any, t: Any) -> Algorithm:
    return scripted(Play(0, 1), Play(1, 1), show(0, 0, s), show(1, 0, t), choose(0, 1), CHOSEN)


def ball(value: Any) -> arb:
    fraction = exact(value)
    return arb(fmpq(fraction.numerator, fraction.denominator))


def first_wins(s: Any, t: Any, d: Fraction) -> arb:
    """The formula above, in balls of 300 bits."""
    if d > 0:
        return 1 - first_wins(s, t, -d)
    a, b, x = ball(s), ball(t), ball(d)
    if s == t:
        return (2 - x / a) * (x / a).exp() / 4
    return (b**2 * (x / b).exp() - a**2 * (x / a).exp()) / (2 * (b**2 - a**2))


def truth(s: Any, t: Any, winner: int, r0: Any, r1: Any) -> arb:
    chance = first_wins(s, t, exact(r0) - exact(r1))
    return chance if winner == 0 else 1 - chance


@pytest.mark.parametrize(("s", "t"), CASES)
def test_certified_likelihoods_contain_the_formula(s, t):
    for winner, r0, r1 in product((0, 1), (0.0, 0.1, 1.0), (0.0, 0.3, 1.0)):
        with ctx.workprec(300):
            found = likelihood(declared(s, t), (0, 1, winner), (r0, r1, 0.0))
            log = truth(s, t, winner, r0, r1).log()
            assert found.certified
            assert arb(found.log_lower) < log < arb(found.log_upper)
            assert arb(found.lower) < log.exp() < arb(found.upper)
            assert found.log_upper - found.log_lower < 1e-12
            rough = likelihood(declared(s, t), (0, 1, winner), (r0, r1, 0.0), "float")
            assert rough.certified
            assert arb(rough.log_lower) < log < arb(rough.log_upper)


def largest(s: Any, t: Any) -> arb:
    """The largest loss: every winner, either reward changed, the other one at 0 or 1."""
    found = arb(0)
    for winner, other, changed in product((0, 1), (0, 1), (0, 1)):
        ends = [(x, other) if changed == 0 else (other, x) for x in (0, 1)]
        low, high = (truth(s, t, winner, *end).log() for end in ends)
        found = found.max(abs(high - low))
    return found


@pytest.mark.parametrize(("s", "t"), CASES)
@pytest.mark.parametrize("streams", ["real", "binary"])
def test_certified_losses_contain_the_formula(s, t, streams):
    with ctx.workprec(300):
        found = worst_loss(declared(s, t), 3, streams=streams)
        assert found.loss.certified
        assert found.complete
        assert arb(found.loss.lower) < largest(s, t) < arb(found.loss.upper)
        assert found.loss.width < 1e-8
        assert found.witness is not None
        assert recompute(found.witness, declared(s, t)).loss.lower > found.loss.lower - 1e-8


def status(algorithm: Algorithm, epsilon: float, horizon: int, budget: float) -> Status:
    [finding] = judge(lambda size: algorithm, algorithm, epsilon, [horizon], budget)
    return finding.status


@pytest.mark.parametrize(("s", "t"), CASES[:2])
def test_verdicts_turn_at_the_enclosure_and_decide_nothing_inside(s, t):
    algorithm = declared(s, t)
    loss = worst_loss(algorithm, 3).loss
    assert status(algorithm, loss.upper, 3, PATIENCE) is Status.HOLDS
    assert status(algorithm, loss.lower, 3, PATIENCE) is Status.SILENT
    assert status(algorithm, math.nextafter(loss.upper, 0), 3, PATIENCE) is Status.SILENT
    assert status(algorithm, loss.lower - 1e-9, 3, PATIENCE) is Status.REFUTED


def twice(register: int) -> Release:
    """The first reward of arm 0 once more."""
    return show(0, 0, register=register)


NOT_EXTREMAL = {
    "a reward in two releases": (
        scripted(*BOTH, choose(0, 1), CHOSEN, twice(0), choose(0, 1), CHOSEN),
        4,
    ),
    "a reward in two releases of one arm's sum": (
        scripted(*BOTH, twice(2), choose((0, 2), 1), CHOSEN),
        3,
    ),
    "two releases that add up": (
        scripted(
            Play(0, 2), Play(1, 1), show(0, 0), show(1, 0), show(0, 1, register=2),
            choose((0, 2), 1), CHOSEN,
        ),
        4,
    ),
    "a register that adds up": (
        scripted(
            *BOTH, choose(0, 1), CHOSEN,
            Accumulate(0, Rows(0, 0, 1), Laplace(1)), choose(0, 1), CHOSEN,
        ),
        4,
    ),
    "a reward in two releases where arm 1 was chosen": (
        scripted(
            Play(0, 2), Play(1, 1), show(0, 0), show(1, 0), choose(0, 1), CHOSEN,
            lambda chosen: show(0, 0 if chosen else 1), choose(0, 1), CHOSEN,
        ),
        5,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_EXTREMAL)
def test_where_the_theorem_fails_nothing_is_claimed_for_all_streams(name):
    algorithm, horizon = NOT_EXTREMAL[name]
    try:
        found = worst_loss(algorithm, horizon, budget=10 * SHORT)
    except Unsupported:
        return
    assert found.loss.upper == math.inf
    if found.complete:
        assert "extremal" not in found.method
        assert "lower bound" in found.covers


@pytest.mark.parametrize("name", NOT_EXTREMAL)
def test_where_the_theorem_fails_nothing_holds(name):
    algorithm, horizon = NOT_EXTREMAL[name]
    assert status(algorithm, 100.0, horizon, SHORT) is Status.SILENT


@pytest.mark.parametrize(
    "name", ["a reward in two releases of one arm's sum", "two releases that add up"]
)
def test_a_sum_of_releases_is_no_register_of_a_tree(name):
    """A tree integrates one release per register: of a sum it would leave all but one out."""
    algorithm, horizon = NOT_EXTREMAL[name]
    for path in all_paths(algorithm, horizon):
        with pytest.raises(Unsupported, match="registers that hold a single release"):
            forest_of(region_of(path))


HIDDEN = {
    "a play that no decision moves": (scripted(*BOTH, choose(0, 1), Play(0, 1)), 3),
    "a decision that another one hides": (
        scripted(
            Play(0, 2), Play(1, 1), show(0, 0), show(1, 0), choose(0, 1),
            show(0, 1), choose(0, 1), CHOSEN,
        ),
        4,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HIDDEN)
def test_paths_that_show_as_the_same_actions_count_together(name):
    """The loss of a path is no loss of its actions where several paths show as these."""
    algorithm, horizon = HIDDEN[name]
    try:
        found = worst_loss(algorithm, horizon, budget=SHORT)
    except Unsupported:
        return
    laws = {it: law(algorithm, it) for it in product((0.0, 0.5, 1.0), repeat=horizon)}
    most = 0.0
    for stream, place, value in product(laws, range(horizon), (0.0, 0.5, 1.0)):
        other = laws[(*stream[:place], value, *stream[place + 1 :])].probabilities
        ours = laws[stream].probabilities
        most = max(most, *(it.log_upper - other[a].log_lower for a, it in ours.items() if it.upper))
    assert found.loss.lower <= most + 1e-9 and found.loss.upper == math.inf
    assert status(algorithm, 100.0, horizon, SHORT) is Status.SILENT
