"""Algorithms without noise: exact comparisons of scores, and what is not one of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import certified_engine as ball
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.core.algorithm import Accumulate, Choose, Release, Rows
from dpaudit.core.algorithms.adap_klucb import AdapKLUCB
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.arithmetic import FLOAT
from dpaudit.core.noise import Laplace, NoNoise
from dpaudit.core.scores import Affine, BetaDraw, KLBound
from dpaudit.core.stream import run_stream
from dpaudit.errors import Unsupported
from dpaudit.exact import likelihood, worst_loss
from dpaudit.exact.balls.exact_order import winner
from dpaudit.exact.finite import follow

PULLS = np.array([2, 3, 5])


def affine(m):
    return Affine(m.sqrt(m.log(7) / PULLS), m.number(1) / m.number(PULLS))


def kl(m):
    return KLBound(m.log(7) / m.number(PULLS), scale=m.number(1) / m.number(PULLS))


def shifted_kl(m):
    """Its means are no rationals."""
    return KLBound(m.log(7) / m.number(PULLS), shift=m.log(3) - 1, scale=m.number(1))


def choose(rule, arms=3):
    return Choose(tuple(range(arms)), tuple((arm,) for arm in range(arms)), rule)


@pytest.mark.parametrize("rule", [affine, kl, shifted_kl])
@given(values=st.lists(st.fractions(-1, 6, max_denominator=50), min_size=3, max_size=3))
def test_the_winner_is_that_of_doubles_where_these_can_tell(rule, values):
    scores = rule(FLOAT).value(np.array([float(value) for value in values]))
    first, second = np.sort(scores)[::-1][:2]
    if first > second + 1e-9:
        assert winner(choose(rule), values) == int(np.argmax(scores))


def plateaus(m):
    """Three arms of one level; means below 0 and above 1 are clipped."""
    return KLBound(m.log(7) * m.number(np.ones(3)))


@pytest.mark.parametrize(
    ("values", "arm"),
    [((-2, -1, 0), 0), ((-2, -1, Fraction(1, 9)), 2), ((0, 1, 2), 1), ((Fraction(1, 3),) * 3, 0)],
)
def test_equal_scores_keep_the_earlier_arm(values, arm):
    assert winner(choose(plateaus), [Fraction(value) for value in values]) == arm


def test_nothing_is_guessed():
    """log 4 = 2 log 2, by formulas that are not the same tree; and a rule that draws."""

    def equal(m):
        return Affine(np.array([m.log(4), 2 * m.log(2)], dtype=object))

    values = [Fraction(1, 2), Fraction(1, 2)]
    with pytest.raises(Unsupported, match="agree to 4096 bits"):
        winner(choose(equal, arms=2), values)
    with pytest.raises(Unsupported, match="BetaDraw"):
        winner(choose(lambda m: BetaDraw(m.number(PULLS[:2])), arms=2), values)


@dataclass(frozen=True, kw_only=True)
class NoiseOnTheSecondArm(AdapUCB):
    """The first choice is always the second arm, whose mean is noisy from then on.

    The path that plays the first arm alone never meets noise, and never happens.
    """

    def release(self, rows: Rows) -> Release:
        plain = rows.arm == 0 or rows.first == 0
        return Release(rows.arm, rows, NoNoise() if plain else Laplace(1), divisor=len(rows))

    def rule(self, pulls, time, m):
        return Affine(m.number(np.array([0, 10])) * (4 - time) + m.number(np.array([0, 0.25])))


def test_noise_behind_a_plain_decision_is_not_overlooked():
    """At T = 4 one noisy comparison decides: the loss is at most 1, far from infinite."""
    algorithm = NoiseOnTheSecondArm(arms=2, epsilon=1.0)
    with pytest.raises(Unsupported, match="noise"):
        follow(algorithm, [Fraction(0)] * 4)
    with pytest.raises(Unsupported):
        ball.worst_loss(algorithm, 4)
    with pytest.raises(Unsupported):
        worst_loss(algorithm, 4)


@dataclass(frozen=True, kw_only=True)
class PlainKLUCB(AdapKLUCB):
    """adap_klucb on plain means, or on plain sums that are divided as they are compared."""

    sums: bool = False

    def release(self, rows: Rows) -> Release | Accumulate:
        if not self.sums:
            return Release(rows.arm, rows, NoNoise(), divisor=len(rows))
        return Accumulate(rows.arm, rows, NoNoise())

    def rule(self, pulls, time, m):
        each = m.number(1) / pulls if self.sums else m.number(1)
        return KLBound(m.log(time) / (10 * pulls), scale=each)


@pytest.mark.parametrize("sums", [False, True])
def test_what_happens_without_noise_is_what_the_program_plays(sums):
    """KL bounds saturate: registers that are off by a constant tie, and the first arm wins."""
    algorithm, rng = PlainKLUCB(arms=2, sums=sums), np.random.default_rng(7)
    for _ in range(8):
        stream = rng.integers(0, 5, 12) / 4
        played = run_stream(algorithm, stream, rng).actions.tolist()
        path = follow(algorithm, [Fraction(reward) for reward in stream])
        assert path.actions.tolist() == played
        assert likelihood(algorithm, played, stream).log_lower == 0.0
        other = [*played[:-1], 1 - played[-1]]
        assert likelihood(algorithm, other, stream).log_upper == -np.inf
