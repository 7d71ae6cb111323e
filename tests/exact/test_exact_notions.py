"""What pairs attain under other notions, and Gaussian likelihoods, against independent oracles."""

from __future__ import annotations

import math
import time
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from charted import runs_of
from scipy import integrate, stats

from dpaudit import load
from dpaudit.core.algorithms.adac_ucb import AdacUCB
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.notions import Kind, Notion
from dpaudit.errors import Unsupported
from dpaudit.exact import law, likelihood, profile
from dpaudit.exact.attained import Pairs, hockey_stick, renyi_rate, shortcut
from dpaudit.exact.refuting import judge
from dpaudit.structure.accounting import judge as prove
from dpaudit.verdict import Status

ADAP = AdapUCB(arms=2, alpha=3.1)
AT = Notion(Kind.APPROXIMATE, 0.1, 0.2)


def test_extremal_streams_are_no_shortcut_for_delta():
    """Third reward flipped: others 1, 1, ., 0, 1; the best all-0 or all-1; 1, 1, ., 0.5, 0."""
    pairs = Pairs(ADAP, 5, AT, "ball")
    binary = pairs.look((1.0, 1.0, 0.0, 0.0, 1.0), (1.0, 1.0, 1.0, 0.0, 1.0)).value
    real = pairs.look((1.0, 1.0, 0.0, 0.5, 0.0), (1.0, 1.0, 1.0, 0.5, 0.0)).value
    short = shortcut(pairs).value
    assert binary.certified and real.certified and short.certified
    assert [round(it.lower, 6) for it in (binary, short, real)] == [0.191790, 0.190581, 0.200238]
    assert short.upper < binary.lower < real.lower
    with pytest.raises(Unsupported):
        shortcut(Pairs(ADAP, 5, Notion(Kind.PURE, 1.0), "ball"))


def test_the_check_finds_it_and_refutes_below_it():
    [found] = judge(lambda horizon: ADAP, ADAP, AT, [5], 60.0)
    assert found.status is Status.REFUTED and found.bracket.lower > 0.2
    assert "no shortcut" in found.reason and found.certified
    [found] = judge(lambda horizon: ADAP, ADAP, Notion(Kind.APPROXIMATE, 0.1, 0.3), [4], 60.0)
    assert found.status is Status.SILENT


def test_an_event_that_takes_too_long_leaves_what_was_found(monkeypatch):
    def endless(*_):
        time.sleep(60)
        yield

    monkeypatch.setattr("dpaudit.exact.refuting.sequences", endless)
    [found] = judge(lambda horizon: ADAP, ADAP, Notion(Kind.APPROXIMATE, 0.1, 0.3), [3], 1.0)
    assert found.horizon == 3 and found.bracket.lower > 0 and "Attained" in found.reason


def test_sums_over_actions_agree_with_the_profile():
    stream, other = [1.0, 0.0, 1.0, 1.0], [1.0, 0.0, 0.0, 1.0]
    p, q = law(ADAP, stream), law(ADAP, other)
    doubles = profile(ADAP, stream, other)
    found = hockey_stick(p, q, Fraction(1, 10))
    assert found.lower <= doubles.delta(0.1) + 1e-9 and found.upper >= doubles.delta(0.1) - 1e-9
    rate = renyi_rate(p, q, 3.0)
    divergence = np.logaddexp.reduce(3 * doubles.log_p - 2 * doubles.log_q) / 2
    assert rate.lower == pytest.approx(divergence / 3, rel=1e-6)
    assert rate.upper - rate.lower < 1e-12


ADAC = AdacUCB(arms=2, rho=0.5, beta=0.3)
STREAM = (1.0, 0.0, 1.0, 1.0, 0.0)


def test_gaussian_likelihoods_add_up_to_one_and_are_narrow():
    found = law(ADAC, STREAM)
    assert found.certified and found.lower <= 1 <= found.upper
    widths = [p.log_upper - p.log_lower for p in found.probabilities.values()]
    assert max(widths) < 1e-13


def test_gaussian_likelihoods_are_those_of_real_runs():
    runs, rng = 4_000, np.random.default_rng(5)
    seen = Counter(tuple(it.actions.tolist()) for it in runs_of(ADAC, STREAM, runs, rng))
    for actions, p in law(ADAC, STREAM).probabilities.items():
        low, high = stats.binom.ppf([1e-8, 1 - 1e-8], runs, p.middle)
        assert low <= seen[actions] <= high


def test_gaussian_noisy_maxima_against_quadrature():
    """Two decisions by hand: arm 0 wins twice against the first release of arm 1."""
    rho, beta = 0.5, 0.3
    sigma = 2 / math.sqrt(2 * rho)  # after the first pull, n = 1/2

    def bonus(pulls, time):
        n = pulls / 2
        return math.sqrt(beta * (1 / (2 * n) + 1 / (rho * n * n)) * math.log(time))

    x0, x1, x2 = 1.0, 0.0, 1.0  # the rewards; the second release of arm 0 has n = 1

    def chance(y):
        first = stats.norm.sf(y, x0, sigma)  # equal bonuses at t = 3
        lead = bonus(1, 4) - bonus(2, 4)
        second = stats.norm.sf(y + lead, x2, sigma / 2)
        return stats.norm.pdf(y, x1, sigma) * first * second

    value = integrate.quad(chance, -40, 40, points=(0, 1), epsabs=1e-13, limit=400)[0]
    found = likelihood(ADAC, (0, 1, 0, 0), (x0, x1, x2, 0.0))
    assert found.certified and found.lower == pytest.approx(value, abs=1e-10)


@pytest.mark.parametrize("notion", [Notion(Kind.ZCDP, 0.5), Notion(Kind.GDP, 1.0)])
def test_attained_lies_below_what_is_proved(notion):
    found, whole = Pairs(ADAC, 4, notion, "ball").binary()
    assert whole and 0 < found.value.lower < prove(ADAC, 4, notion).bracket.upper


def test_a_group_attains_more_than_one_reward():
    one, _ = Pairs(ADAP, 5, Notion(Kind.PURE, 1.0), "ball").binary()
    two, _ = Pairs(ADAP, 5, Notion(Kind.PURE, 1.0, unit=2), "ball").binary()
    assert one.value.lower < two.value.lower < 2


def test_without_noise_everything_is_refuted():
    plain = load("ucb", arms=2)
    for notion in (Notion(Kind.ZCDP, 5.0), Notion(Kind.APPROXIMATE, 1.0, 0.5)):
        [found] = judge(lambda horizon: plain, plain, notion, [3, 4], 30.0)
        assert found.status is Status.REFUTED and found.certified
