"""Claims, charges and conversions against numerical integration of the densities."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, stats

import dpaudit.testing
from dpaudit.core import conversions
from dpaudit.core.arithmetic import exact
from dpaudit.core.noise import Gaussian, Laplace, NoNoise
from dpaudit.core.notions import Kind, Notion, Stated, Tariff
from dpaudit.errors import InvalidArgument
from dpaudit.implied import RARE, implied
from dpaudit.report import text

ONE = Fraction(1)


def renyi(law, order):
    """The Renyi divergence of a law shifted by one, by quadrature of the densities."""

    def log_ratio(x):
        p, q = float(law.log_density(x)), float(law.log_density(x - 1))
        return math.exp(order * p + (1 - order) * q)

    mass = sum(integrate.quad(log_ratio, a, b, limit=200)[0] for a, b in PIECES)
    return math.log(mass) / (order - 1)


PIECES = ((-60, -5), (-5, 0), (0, 1), (1, 6), (6, 60))


def hockey_stick(law, epsilon):
    """The delta of a law shifted by one, by quadrature."""

    def excess(x):
        p, q = float(law.log_density(x)), float(law.log_density(x - 1))
        return max(0.0, math.exp(p) - math.exp(epsilon + q))

    return sum(integrate.quad(excess, a, b, limit=400, epsabs=1e-12)[0] for a, b in PIECES)


@pytest.mark.parametrize("scale", [0.7, 1.0, 2.5])
@pytest.mark.parametrize("law", [Laplace, lambda s: Gaussian(variance=s * s)])
def test_zcdp_and_delta_are_those_of_the_densities(law, scale):
    noise = law(scale)
    rho = float(noise.zcdp(ONE))
    attained = [renyi(noise, order) / order for order in (1.0001, 1.3, 2.0, 4.0)]
    assert max(attained) <= rho * (1 + 1e-6)
    assert max(attained) == pytest.approx(rho, rel=2e-3)
    for epsilon in (0.05, 0.3, 1.0):
        found = float(noise.delta(ONE, Fraction(epsilon)))
        assert found == pytest.approx(hockey_stick(noise, epsilon), abs=1e-8)


@pytest.mark.parametrize("c", [0.1, 0.5, 1.0, 3.0])
def test_no_test_of_laplace_noise_beats_its_gaussian(c):
    mu = math.sqrt(conversions.laplace_to_gdp(Fraction(c)))
    curve = [
        conversions.gdp_to_delta(Fraction(mu) ** 2, Fraction(e))
        - conversions.laplace_to_delta(Fraction(c), Fraction(e))
        for e in np.linspace(0, c, 25)
    ]
    assert min(curve) > -1e-15  # delta of the law is below that of the Gaussian everywhere
    assert abs(curve[0]) < 1e-12  # and touches it at epsilon = 0, so that mu is the least
    loose = math.sqrt(conversions.pure_to_gdp(Fraction(c)))
    assert mu < loose == pytest.approx(2 * stats.norm.ppf(1 / (1 + math.exp(-c))), rel=1e-9)


@pytest.mark.parametrize("c", [0.2, 1.0, 4.0])
def test_randomised_response_is_the_worst_pure_law(c):
    p = 1 / (1 + math.exp(-c))
    laws = np.array([p, 1 - p]), np.array([1 - p, p])

    def order(a):
        return math.log((laws[0] ** a * laws[1] ** (1 - a)).sum()) / (a - 1) / a

    rho = float(conversions.pure_to_zcdp(Fraction(c)))
    assert order(1 + 1e-6) == pytest.approx(rho, rel=1e-5)
    assert all(order(a) <= rho * (1 + 1e-9) for a in (1.1, 1.5, 2, 5, 40))
    for e in (0.1, c / 2, c, c + 1):
        exact = np.maximum(laws[0] - math.exp(e) * laws[1], 0).sum()
        found = float(conversions.pure_to_delta(Fraction(c), Fraction(e)))
        assert found == pytest.approx(exact, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(
    c=st.fractions(Fraction(1, 10**6), 30), e=st.fractions(Fraction(1, 10**3), 30),
    more=st.fractions(0, 3),
)  # fmt: skip
def test_conversions_are_ordered(c, e, more):
    """More loss is worth no less, a special law no more than any, a delta at most 1."""
    assert conversions.laplace_to_zcdp(c) <= conversions.pure_to_zcdp(c) <= c**2 / 2
    assert conversions.laplace_to_gdp(c) <= conversions.pure_to_gdp(c)
    special, general = conversions.laplace_to_delta(c, e), conversions.pure_to_delta(c, e)
    assert 0 <= special <= general <= 1
    mu = conversions.laplace_to_gdp(c)
    assert special <= conversions.gdp_to_delta(mu, e) <= conversions.gdp_to_delta(mu + more, e)
    assert conversions.gdp_to_delta(mu, e) <= conversions.zcdp_to_delta(mu / 2, e)


def test_a_zcdp_bound_is_near_the_best_order():
    def log_delta(order, rho=0.1, epsilon=1.0):
        power = (order - 1) * (order * rho - epsilon) + order * math.log1p(-1 / order)
        return power - math.log(order - 1)

    best = optimize.minimize_scalar(log_delta, bounds=(1.01, 50), method="bounded").fun
    found = conversions.zcdp_to_delta(Fraction(1, 10), ONE)
    assert float(found) == pytest.approx(math.exp(best), rel=1e-6)


def test_small_numbers_stay_sharp():
    tiny = Fraction(1, 10**9)
    assert conversions.laplace_to_zcdp(tiny) == pytest.approx(tiny**2 / 2, rel=1e-8)
    assert conversions.gdp_to_delta(Fraction(1, 100), ONE) == pytest.approx(
        stats.norm.cdf(0.05 - 10) - math.e * stats.norm.cdf(-0.05 - 10), rel=1e-6
    )
    assert 0 < conversions.gdp_to_delta(ONE, Fraction(200)) < Fraction(1, 10**1000)


def test_without_noise_nothing_is_bounded():
    gauss = Gaussian(variance=4)
    assert gauss.charge(ONE) == gauss.charge(ONE / 10**9) == math.inf and gauss.charge(0 * ONE) == 0
    bare = NoNoise()
    assert bare.zcdp(ONE) == bare.gdp(ONE) == bare.charge(ONE) == math.inf
    assert bare.delta(ONE, ONE) == 1 and bare.zcdp(Fraction(0)) == 0


def test_groups_are_charged_for_what_they_move_together():
    gauss, laplace = Gaussian(variance=2), Laplace(1)
    assert Tariff(Kind.ZCDP, 3).price(gauss, ONE, 10) == 3 * gauss.zcdp(ONE)
    assert Tariff(Kind.ZCDP, 3).price(gauss, ONE, 2) == 2 * gauss.zcdp(ONE)
    assert Tariff(Kind.PURE, 3).price(laplace, ONE, 10) == 1
    assert Tariff(Kind.ZCDP, 2).price(laplace, ONE, 5) == laplace.zcdp(2 * ONE) / 2
    assert Tariff(Kind.LOCAL).price(laplace, ONE, 2) == math.inf
    assert Tariff(Kind.LOCAL).price(laplace, ONE, 1) == 1


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"epsilon": 1.0, "delta": 1.0}, "delta=1.0 must be below 1."),
        ({"epsilon": 1.0, "delta": 0.0}, "delta=0.0 must be positive."),
        ({"delta": 0.1}, "delta=0.1 belongs to an epsilon; give --epsilon as well."),
        ({"rho": 0.0}, "rho=0.0 must be positive."),
        ({"mu": math.inf}, "mu=inf must be finite."),
        ({"rho": 1.0, "mu": 1.0}, "claim=--rho --mu exclude each other"),
        ({"rho": 1.0, "local": True}, "claim=--local --rho exclude each other."),
        ({"epsilon": 1.0, "delta": 0.1, "local": True}, "--local --delta exclude each other."),
        ({"unit": 0}, "unit=0 must be at least 1."),
        ({"unit": 10**6}, "unit=1,000,000 must be at most 1,000."),
    ],
)
def test_bad_claims_are_one_line(stated, message):
    with pytest.raises(InvalidArgument) as raised:
        Stated(**stated)
    assert message in str(raised.value) and "\n" not in str(raised.value)


def test_what_is_not_stated_is_the_algorithms_own():
    own = Notion(Kind.ZCDP, 0.5)
    assert Stated().judged(own) == own and Stated().judged(None) == Notion(Kind.PURE, 1.0)
    assert Stated(unit=3).judged(own) == Notion(Kind.ZCDP, 0.5, unit=3)
    assert Stated(local=True).judged(Notion(Kind.PURE, 2.0)) == Notion(Kind.LOCAL, 2.0)
    assert Stated(epsilon=1.0, delta=0.1).numbers({"epsilon"}) == {}
    assert Stated(rho=0.2).numbers({"rho", "beta"}) == {"rho": 0.2}
    assert (
        str(Notion(Kind.APPROXIMATE, 1.0, 1e-5, 2)) == "(epsilon, delta) = (1, 1e-05) for 2 rewards"
    )


def test_doubles_are_above_what_they_stand_for():
    for value in (Fraction(1, 3), Fraction(2, 3), Fraction(1, 2**4096), Fraction(10**400)):
        assert conversions.double_above(value) >= value
        root = conversions.root_above(value)
        assert root == math.inf or Fraction(repr(root)) ** 2 >= value


def test_conversions_are_never_below_the_number_that_they_name():
    """Against 80 digits of mpmath: at least the truth, and above it by less than a double shows."""
    import mpmath

    with mpmath.workdps(80):

        def quantile(p):
            return -mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * p)

        for number in range(1, 12):
            c, e = Fraction(number, 7), Fraction(number, 19)
            x, y = (mpmath.mpf(it.numerator) / it.denominator for it in (c, e))
            normal, exp = mpmath.ncdf, mpmath.exp
            named = {
                conversions.pure_to_zcdp(c): x * mpmath.tanh(x / 2),
                conversions.pure_to_gdp(c): 4 * quantile(1 / (1 + exp(x))) ** 2,
                conversions.pure_to_delta(c, e): (exp(x) - exp(y)) / (1 + exp(x)),
                conversions.laplace_to_zcdp(c): x - 1 + exp(-x),
                conversions.laplace_to_gdp(c): 4 * quantile(exp(-x / 2) / 2) ** 2,
                conversions.laplace_to_delta(c, e): 1 - exp((y - x) / 2),
                conversions.gdp_to_delta(c**2, e): (
                    normal(x / 2 - y / x) - exp(y) * normal(-x / 2 - y / x)
                ),
            }
            for found, truth in named.items():
                over = mpmath.mpf(found.numerator) / found.denominator / truth - 1
                assert 0 <= over < 1e-16, (c, e, found)


def test_a_proof_says_what_it_implies():
    report = dpaudit.testing.assert_global_dp("adap_ucb", horizon=50, method="structure")
    rho, mu, delta = report.implies
    assert rho.upper == pytest.approx(math.tanh(0.5)) and rho.measure == "rho"
    assert mu.upper == pytest.approx(2 * stats.norm.ppf(1 / (1 + math.exp(-1))))
    assert delta.upper == pytest.approx((math.e - math.exp(0.5)) / (1 + math.e))
    assert "rho <= 0.462118, mu <= 1.23204, delta <= 0.28765 at" in text(report)
    report = dpaudit.testing.assert_global_dp("adac_ucb", horizon=50, method="structure")
    one, rare = report.implies
    assert one.measure == "delta at epsilon = 1" and 0.1 < one.upper < 0.3
    assert rare.upper <= RARE


def test_what_is_only_measured_implies_nothing():
    report = dpaudit.testing.assert_global_dp("adap_ucb", horizon=50, method="structure")
    measured = replace(report.findings[0], certified=False, epsilon_upper=0.1)
    assert replace(report, findings=(*report.findings, measured)).implies == report.implies


@pytest.mark.parametrize("level", [1e-3, 0.1, 0.5, 3.0, 40.0])
def test_what_a_level_implies_is_never_below_the_truth(level):
    """Against closed forms of mechanisms that have the level exactly."""
    gaussian = implied(Notion(Kind.GDP, level), level)
    assert exact(gaussian[0].upper) >= exact(level) ** 2 / 2
    of_rho = implied(Notion(Kind.ZCDP, level**2 / 2), level**2 / 2)
    for found in (*gaussian[1:], *of_rho):
        e = float(found.measure.rpartition(" = ")[2])
        law = stats.norm.cdf(level / 2 - e / level)
        law -= math.exp(e + stats.norm.logcdf(-level / 2 - e / level))
        assert found.upper >= law * (1 - 1e-9)
    assert gaussian[-1].upper <= 1.01 * RARE and of_rho[-1].upper <= 1.01 * RARE
    of_local = implied(Notion(Kind.LOCAL, level), level)
    assert (of_local[0].measure, of_local[0].upper) == ("epsilon", level)
    assert of_local[1:] == implied(Notion(Kind.PURE, level), level)
    assert implied(Notion(Kind.APPROXIMATE, level, 0.1), 0.05) == ()


def test_a_bound_below_the_claim_implies_more():
    assert implied(Notion(Kind.PURE, 1.0), 0.5) == implied(Notion(Kind.PURE, 0.5), 0.5)
    for kind, level in product((Kind.PURE, Kind.ZCDP, Kind.GDP), (1e-300, 1e5, 1.7e308)):
        for found in implied(Notion(kind, level), level):
            assert 0 < found.upper < math.inf
            assert not found.measure.startswith("delta") or found.upper < 1


@given(st.integers(-1200, 1200), st.integers(1, 10**20))
def test_a_root_is_rounded_up_and_no_further_than_a_double(power, mantissa):
    square = mantissa * Fraction(2) ** power
    found = conversions.root_above(square)
    assert found == math.inf or Fraction(repr(found)) ** 2 >= square
    below = math.nextafter(math.nextafter(found, 0), 0)
    assert found in (0.0, 5e-324, math.inf) or Fraction(repr(below)) ** 2 < square
