"""Numbers of a wider range: where doubles end, the same cells go on, and hold the truth."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb, ctx

from dpaudit.core.algorithms import load
from dpaudit.exact import likelihood
from dpaudit.exact.balls.interval import WIDE, Interval
from dpaudit.exact.climb import against_the_odds

pytestmark = pytest.mark.skipif(WIDE is None, reason="this machine has no numbers of 80 bits")


def test_exponentials_and_logarithms_hold_the_truth_far_below_doubles():
    x = np.random.default_rng(1).uniform(-10_900, 10_900, 400)
    found = Interval.of(x.astype(WIDE)).exp()
    back = found.log()
    with ctx.workprec(200):
        for i, value in enumerate(x):
            for ends, sign in ((found.lo, -1), (found.hi, 1)):
                mantissa, exponent = np.frexp(ends[i])
                high = float(mantissa)
                parts = arb(high) + arb(float(mantissa - WIDE(high)))
                apart = parts * arb(2) ** int(exponent) / arb(value).exp() - 1
                assert sign * apart >= 0 and abs(apart) < 1e-13
    assert back.lo.dtype == back.hi.dtype == np.float64
    assert np.all((back.lo <= x) & (x <= back.hi)) and np.all(back.hi - back.lo < 1e-9)


@pytest.mark.parametrize(("epsilon", "level"), [(1.0, 512), (4.0, 128)])
def test_runs_too_unlikely_for_doubles_are_certified(epsilon, level):
    """One reward of the last release is worth its charge on them, and no more."""
    algorithm = load("adap_klucb", arms=2, epsilon=epsilon)
    actions = against_the_odds(algorithm, level, 5000).actions
    stream = np.array(actions, dtype=float)
    base = likelihood(algorithm, actions, stream, "float")
    assert base.certified and base.log_upper < -745
    assert base.log_upper - base.log_lower < 1e-6
    moved = stream.copy()
    moved[np.flatnonzero(stream)[-1]] = 0.0
    other = likelihood(algorithm, actions, moved, "float")
    assert other.certified
    assert other.log_upper - base.log_lower > 0 and other.log_lower - base.log_upper <= epsilon
