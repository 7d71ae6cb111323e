"""Numbers and laws that every engine leans on, against values written down by hand."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpaudit.core.algorithms import load
from dpaudit.core.arithmetic import BALL, exact
from dpaudit.core.noise import NOISES, Gaussian, Laplace, NoNoise
from dpaudit.core.stream import run_stream
from dpaudit.errors import InvalidArgument
from dpaudit.exact import worst_loss


@pytest.mark.parametrize(
    ("value", "rational"),
    [
        (Fraction(1, 3), Fraction(1, 3)),
        (0.1, Fraction(1, 10)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.int64(7), Fraction(7)),
        (2, Fraction(2)),
    ],
)
def test_a_parameter_stands_for_the_rational_that_it_writes(value, rational):
    assert exact(value) == rational and type(exact(value)) is Fraction


def test_what_is_no_number_stands_for_none():
    with pytest.raises(InvalidArgument):
        exact(Decimal("0.5"))


def test_functions_of_balls_hold_the_numbers():
    one = BALL.number(1)
    for name, value in (("exp", np.e), ("log", 0.0), ("sqrt", 1.0)):
        assert abs(float(getattr(BALL, name)(one)) - value) < 1e-12


@pytest.mark.parametrize("law", [Laplace(2), Gaussian(variance=4.0), NoNoise()])
def test_engines_know_the_laws_by_their_type(law):
    assert law.charge(Fraction(0)) == 0 and type(law) in NOISES


def test_laws_are_those_of_scipy_on_both_sides():
    x = np.array([-40.0, -3.0, -0.5, 0.0, 0.5, 3.0, 40.0])
    for law, known in (
        (Laplace(2), stats.laplace(scale=2)),
        (Gaussian(variance=4.0), stats.norm(scale=2)),
    ):
        assert law.cdf(x) == pytest.approx(known.cdf(x), rel=1e-12)
        assert law.log_density(x) == pytest.approx(known.logpdf(x), rel=1e-12)


def test_one_reward_is_a_stream():
    run = run_stream(load("adap_ucb", arms=2), [1.0], np.random.default_rng(0))
    assert (run.arms, run.rounds) == ((0,), (1,))


def test_which_streams_a_search_covers_is_said():
    algorithm = load("adap_ucb", arms=2)
    real = worst_loss(algorithm, 3, streams="real")
    binary = worst_loss(algorithm, 3, streams="binary")
    assert "streams in [0,1]^T" in real.covers and "binary streams" in binary.covers
    assert real.complete and binary.complete
