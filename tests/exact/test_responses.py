"""Responses beside other releases: the theorem of binary streams is for responses alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import pytest

from dpaudit.core.algorithm import (
    Accumulate,
    Algorithm,
    Choose,
    Play,
    Release,
    Respond,
    Rows,
    Step,
    Toss,
)
from dpaudit.core.noise import Laplace, NoNoise
from dpaudit.core.scores import Affine
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import likelihood, worst_loss

HALF = Fraction(1, 2)


def choice(shifts, scales):
    """The arm of the largest scale x + shift."""

    def rule(m):
        return Affine(m.number(shifts), m.number(scales))

    return Choose((0, 1), ((0,), (1,)), rule)


def followed(requests, state, end):
    """Ask for one request after the other, then go to what `end` makes of the last answer."""
    name, place = state
    if place + 1 < len(requests):
        return Step(requests[place], lambda _: (name, place + 1))
    return Step(requests[place], end)


@dataclass(frozen=True, kw_only=True)
class Stairs(Algorithm):
    """Three fair bits, and a sum of two rewards without noise in the same register."""

    epsilon: float = 1.5

    def start(self):
        return ("ask", 0)

    def step(self, state):
        if state[0] == "go":
            return Step(Play(state[1], 1), lambda _: state)
        bits = [Respond(0, Rows(0, i, i + 1), HALF, HALF) for i in range(3)]
        plain = Accumulate(0, Rows(0, 3, 5), NoNoise(), Fraction(4, 5))
        other = [Play(1, 1), Respond(1, Rows(1, 0, 1), HALF, HALF)]
        last = choice([Fraction(0), Fraction(11, 4)], [Fraction(1), Fraction(1, 100)])
        return followed([Play(0, 5), *bits, plain, *other, last], state, lambda arm: ("go", arm))


@dataclass(frozen=True, kw_only=True)
class Sides(Algorithm):
    """One side of a public coin uses responses; the other Laplace noise, and a hidden coin."""

    epsilon: float = 1.0

    def start(self):
        return ("toss", 0)

    def step(self, state):
        kind, place = state
        if kind == "toss":
            return Step(Toss((HALF, HALF)), lambda side: ("bits" if side == 0 else "noise", 0))
        if kind == "bits":
            table = [Play(0, 1), Respond(0, Rows(0, 0, 1), HALF, HALF)]
            table += [Play(1, 1), Respond(1, Rows(1, 0, 1), HALF, HALF)]
            table += [choice(Fraction(0), Fraction(1))]
            return followed(table, state, lambda arm: ("go", arm))
        if kind == "noise":
            law = Laplace(Fraction(1, 10))
            table = [Play(1, 1), Release(1, Rows(1, 0, 1), law)]
            table += [Play(0, 1), Release(0, Rows(0, 0, 1), law), Toss((HALF, HALF))]
            return followed(table, state, lambda side: ("swap", side))
        if kind == "swap":
            least = Fraction(3, 4) if place == 0 else Fraction(1, 4)
            asked = choice([Fraction(0), least], [Fraction(1), Fraction(1, 1000)])
            return Step(asked, lambda arm: ("go", arm if place == 0 else 1 - arm))
        return Step(Play(place, 1), lambda _: state)


def covers_every_reward(algorithm, horizon):
    """Whether a search over [0, 1]^T states an upper end; refusing is as good as none."""
    try:
        return worst_loss(algorithm, horizon).loss.upper < math.inf
    except Unsupported:
        return False


def test_a_sum_without_noise_beside_responses_is_not_covered_by_binary_streams():
    """It was, at log 4: rewards of 0.55 and 0 against 0.55 and 1 lose log 7."""
    one, other = (
        likelihood(Stairs(arms=2), [0, 0, 0, 0, 0, 1, 0], [0, 0, 0, 0.55, last, 0, 0])
        for last in (0.0, 1.0)
    )
    assert other.log_lower - one.log_upper > math.log(6.99)
    assert not covers_every_reward(Stairs(arms=2), 7)


def test_noise_on_one_side_of_a_coin_is_not_covered_by_responses_on_the_other():
    """It was, at 0.001: a reward of 0 against 1/2 loses 2.4."""
    one, other = (likelihood(Sides(arms=2), [1, 0, 0], [0, r, 0]) for r in (0.0, 0.5))
    assert one.log_lower - other.log_upper > 2.4 or other.log_lower - one.log_upper > 2.4
    assert not covers_every_reward(Sides(arms=2), 3)


def test_a_claim_without_its_number_is_named():
    class Unnumbered(Algorithm):
        def start(self):
            return None

        def step(self, state):
            return Step(Play(0, 1), lambda _: None)

    with pytest.raises(InvalidArgument, match="Unnumbered claims privacy without a parameter eps"):
        _ = Unnumbered(arms=2).claim


@dataclass(frozen=True, kw_only=True)
class Even(Algorithm):
    """A response of arm 0 as it is, against half of arm 1's and a half: equal at 1 and 1."""

    epsilon: float = 3.0

    def start(self):
        return ("ask", 0)

    def step(self, state):
        if state[0] == "go":
            return Step(Play(state[1], 1), lambda _: state)
        bits = [
            it
            for arm in (0, 1)
            for it in (
                Play(arm, 1),
                Respond(arm, Rows(arm, 0, 1), Fraction(9, 10), Fraction(1, 10)),
            )
        ]
        last = choice([Fraction(0), HALF], [Fraction(1), HALF])
        return followed([*bits, last], state, lambda arm: ("go", arm))


def test_lines_that_meet_on_a_rational_are_a_tie():
    """They agreed to 4096 bits, and no formula proved them equal; the earlier arm wins."""
    found = likelihood(Even(arms=2), [0, 1, 0], [1.0, 1.0, 0.0])
    assert found.certified and found.lower <= 0.9 <= found.upper  # whenever arm 0 answers 1
