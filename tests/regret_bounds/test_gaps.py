"""d_inf, t_inf and d_epsilon against brute-force optimisation, and their certificates."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize_scalar
from scipy.stats import expon, norm, poisson

from dpaudit.core import divergence
from dpaudit.errors import InvalidArgument
from dpaudit.regret_bounds.finite import Finite, finite
from dpaudit.regret_bounds.laws import BernoulliLaw, Exponential, GaussianLaw, Poisson, RewardLaw

CLOSE = 1e-8


def least(function, low, high):
    """Minimise convex functions by golden section, which knows nothing of their derivatives.

    `function` maps an array of points, one per instance, to values.
    """
    low, high = np.array(low, dtype=float), np.array(high, dtype=float)
    ratio = (math.sqrt(5) - 1) / 2
    for _ in range(64):
        a, b = high - ratio * (high - low), low + ratio * (high - low)
        left = function(a) <= function(b)
        low, high = np.where(left, low, a), np.where(left, b, high)
    return function((low + high) / 2)


def kl(p, q):
    """Relative entropy along the last axis."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(p > 0, p * np.log(p / q), 0.0)
    return terms.sum(axis=-1)


def clipped(p, q, epsilon):
    """Return d_epsilon(P, P') of laws along the last axis by bisection on the clipping constant."""
    half = np.asarray(epsilon) / 2
    low, high = -half, half

    def law(t):
        return np.clip(p, np.exp(t - half)[..., None] * q, np.exp(t + half)[..., None] * q)

    for _ in range(48):
        t = (low + high) / 2
        short = law(t).sum(axis=-1) < 1
        low, high = np.where(short, t, low), np.where(short, high, t)
    found = law((low + high) / 2)
    return epsilon * 0.5 * np.abs(p - found).sum(axis=-1) + kl(found, q)


def random_pair(rng):
    x, y = np.sort(rng.uniform(0.001, 0.999, 2))
    return float(x), float(y), float(np.exp(rng.uniform(-4, 3)))


def two_points(mean):
    return np.stack([1 - mean, mean], axis=-1)


def test_bernoulli_gaps_against_brute_force_on_1000_instances():
    rng = np.random.default_rng(60)
    x, y, epsilon = np.array([random_pair(rng) for _ in range(1000)]).T
    laws = [BernoulliLaw(float(mean)) for mean in x]
    # P' ranges over every mean above y, Q over every mean between
    others = np.linspace(y, 0.99999, 200)
    brute = kl(two_points(x), two_points(others)).min(axis=0)
    ours = [law.kl_gap(best).upper for law, best in zip(laws, y, strict=True)]
    assert np.abs(np.array(ours) - brute).max() <= CLOSE
    brute = (0.5 * np.abs(two_points(x) - two_points(others)).sum(axis=-1)).min(axis=0)
    ours = [law.tv_gap(best).upper for law, best in zip(laws, y, strict=True)]
    assert np.abs(np.array(ours) - brute).max() <= CLOSE
    brute = least(lambda z: epsilon * abs(z - x) + kl(two_points(z), two_points(y)), x, y)
    ours = [law.private_gap(b, e).upper for law, b, e in zip(laws, y, epsilon, strict=True)]
    assert np.abs(np.array(ours) - brute).max() <= CLOSE


def test_bernoulli_gap_is_the_divergence_of_the_core():
    rng = np.random.default_rng(61)
    for _ in range(200):
        x, y, epsilon = random_pair(rng)
        ours = BernoulliLaw(x).private_gap(y, epsilon).upper
        assert ours == pytest.approx(float(divergence.private_bernoulli(x, y, epsilon)), abs=1e-12)


def random_finite(rng, points):
    support = np.sort(rng.uniform(-2, 3, points))
    weights = rng.dirichlet(np.full(points, rng.choice([0.3, 1.0, 3.0])))
    if rng.random() < 0.2:
        gone = rng.integers(points)
        if weights[gone] < 0.999:
            weights[gone] = 0.0
            weights /= weights.sum()
    law = finite(support, weights)
    if support[-1] - law.mean < 1e-3:  # next to nothing to gain: draw again
        return random_finite(rng, points)
    best = law.mean + rng.uniform(0.02, 0.98) * (support[-1] - law.mean)
    return law, support, weights, best, float(np.exp(rng.uniform(-3, 3)))


def test_finite_tv_gap_against_a_linear_programme():
    rng = np.random.default_rng(62)
    for _ in range(300):
        points = int(rng.integers(2, 8))
        law, support, weights, best, _ = random_finite(rng, points)
        # variables: P' and u >= |P' - P|
        eye = np.eye(points)
        upper = np.vstack(
            [np.hstack([eye, -eye]), np.hstack([-eye, -eye]), np.hstack([-support, 0 * support])]
        )
        limit = np.concatenate([weights, -weights, [-best]])
        found = linprog(
            np.concatenate([np.zeros(points), np.full(points, 0.5)]),
            A_ub=upper,
            b_ub=limit,
            A_eq=[np.concatenate([np.ones(points), np.zeros(points)])],
            b_eq=[1.0],
            bounds=(0, None),
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        assert law.tv_gap(best).upper == pytest.approx(found.fun, abs=CLOSE)
        assert law.tv_gap(best).width <= 1e-12


def test_finite_gaps_against_brute_force_on_1000_instances():
    """Three points: on the edge of the constraint P' has one free coordinate, its middle weight.

    Golden section over it; for d_epsilon the inner law by its clipped form.
    """
    rng = np.random.default_rng(63)
    cases = [random_finite(rng, 3) for _ in range(1000)]
    a, b, c = np.array([case[1] for case in cases]).T
    weights = np.array([case[2] for case in cases])
    best, epsilon = np.array([case[3:] for case in cases]).T

    def other(middle):
        top = (best - a - middle * (b - a)) / (c - a)
        return np.maximum(np.stack([1 - middle - top, middle, top], axis=-1), 1e-300)

    high = np.minimum((c - best) / (c - b), (best - a) / (b - a))
    zero = np.zeros_like(high)
    brute = least(lambda middle: kl(weights, other(middle)), zero, high)
    ours = np.array([case[0].kl_gap(case[3]).upper for case in cases])
    assert np.abs(ours - brute).max() <= CLOSE
    brute = least(lambda m: 0.5 * np.abs(weights - other(m)).sum(axis=-1), zero, high)
    ours = np.array([case[0].tv_gap(case[3]).upper for case in cases])
    assert np.abs(ours - brute).max() <= CLOSE
    brute = least(lambda middle: clipped(weights, other(middle), epsilon), zero, high)
    ours = np.array([case[0].private_gap(case[3], case[4]).upper for case in cases])
    assert np.abs(ours - brute).max() <= CLOSE


def test_finite_certificates_are_tight_and_ordered():
    rng = np.random.default_rng(65)
    for _ in range(300):
        law, _, _, best, epsilon = random_finite(rng, int(rng.integers(2, 9)))
        private, plain, distance = (
            law.private_gap(best, epsilon),
            law.kl_gap(best),
            law.tv_gap(best),
        )
        assert private.width <= 1e-10
        assert plain.width <= 1e-10
        assert private.upper <= min(plain.upper, epsilon * distance.upper) + 1e-12


def test_two_point_laws_agree_with_bernoulli():
    rng = np.random.default_rng(66)
    for _ in range(100):
        x, y, epsilon = random_pair(rng)
        two, one = finite((0, 1), (1 - x, x)), BernoulliLaw(x)
        for left, right in (
            (two.kl_gap(y), one.kl_gap(y)),
            (two.tv_gap(y), one.tv_gap(y)),
            (two.private_gap(y, epsilon), one.private_gap(y, epsilon)),
        ):
            assert left.upper == pytest.approx(right.upper, abs=1e-11)
        assert two.free_epsilon(y) == pytest.approx(one.free_epsilon(y), rel=1e-6)


def density(law):
    match law:
        case GaussianLaw(mean, deviation):
            return norm(mean, deviation).pdf, np.linspace(mean - 14, mean + 14, 50_001)
        case Exponential(mean):
            return expon(scale=mean).pdf, np.linspace(0, 60 * max(mean, 1), 100_001)
        case Poisson(mean):
            return poisson(mean).pmf, np.arange(0, 400)
    raise TypeError(law)


LAWS: list[tuple[RewardLaw, float]] = [
    (GaussianLaw(0.2), 0.9),
    (GaussianLaw(0.0, 2.0), 3.0),
    (Exponential(0.5), 0.8),
    (Exponential(1.0), 1.05),
    (Poisson(2.0), 3.5),
    (Poisson(0.3), 0.4),
]


@pytest.mark.parametrize(("law", "best"), LAWS)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_families_against_numerical_integration(law, best, epsilon):
    """KL, TV and d_epsilon of the member at `best`, from the densities on a fine grid."""
    p, grid = density(law)
    q, _ = density(law.member(best))
    step = 1.0 if isinstance(law, Poisson) else grid[1] - grid[0]
    weights, other = p(grid) * step, q(grid) * step
    weights, other = weights / weights.sum(), other / other.sum()
    keep = (weights > 1e-290) & (other > 1e-290)
    tolerance = 1e-10 if isinstance(law, Poisson) else 2e-6
    divergences = kl(weights[keep], other[keep])
    assert law.kl_gap(best).upper == pytest.approx(divergences, abs=tolerance * 10)
    distance = 0.5 * np.abs(weights - other).sum()
    assert law.tv_gap(best).upper == pytest.approx(distance, abs=tolerance * 10)
    brute = clipped(weights, np.maximum(other, 1e-300), epsilon)
    found = law.private_gap(best, epsilon)
    assert found.upper == pytest.approx(brute, abs=tolerance * 10)
    assert found.width <= 1e-11


def test_poisson_gaps_against_brute_force_on_random_instances():
    rng = np.random.default_rng(67)
    grid = np.arange(0, 200)
    for _ in range(300):
        mean, epsilon = float(rng.uniform(0.01, 20)), float(np.exp(rng.uniform(-3, 2)))
        best = mean + float(np.exp(rng.uniform(-4, 1.5)))
        law = Poisson(mean)
        weights, other = poisson(mean).pmf(grid), poisson(best).pmf(grid)
        keep = weights > 0
        assert law.kl_gap(best).upper == pytest.approx(kl(weights[keep], other[keep]), abs=CLOSE)
        distance = 0.5 * np.abs(weights - other).sum()
        assert law.tv_gap(best).upper == pytest.approx(distance, abs=CLOSE)
        brute = clipped(weights, np.maximum(other, 1e-300), epsilon)
        assert law.private_gap(best, epsilon).upper == pytest.approx(brute, abs=CLOSE)


@given(
    st.floats(0.0, 1.0),
    st.floats(0.0, 1.0),
    st.floats(1e-3, 30.0),
)
@settings(max_examples=200, deadline=None)
def test_private_gap_is_at_most_both_parts(x, y, epsilon):
    x, y = min(x, y), max(x, y)
    law = BernoulliLaw(x)
    private = law.private_gap(y, epsilon).upper
    if y == 1:
        assert private == math.inf
        return
    assert 0 <= private <= min(law.kl_gap(y).upper, epsilon * law.tv_gap(y).upper) * (1 + 1e-9)


def test_privacy_is_free_exactly_from_the_threshold_on():
    law, best = BernoulliLaw(0.1), 0.8
    threshold = law.free_epsilon(best)
    assert threshold == pytest.approx(math.log(36))
    assert law.private_gap(best, threshold * 1.001).upper == law.kl_gap(best).upper
    assert law.private_gap(best, threshold * 0.99).upper < law.kl_gap(best).upper


def test_tiny_gaps_keep_their_digits():
    for gap in (1e-6, 1e-9, 1e-12):
        x = 0.3
        y = x + gap
        exact = (y - x) ** 2 / (2 * x * (1 - x))
        assert BernoulliLaw(x).kl_gap(y).upper == pytest.approx(exact, rel=1e-4)
        assert Exponential(1.0).kl_gap(1 + gap).upper == pytest.approx(
            ((1 + gap) - 1) ** 2 / 2, rel=1e-4
        )


def test_the_right_limits_at_the_ends():
    assert BernoulliLaw(0.5).kl_gap(1.0).upper == math.inf
    assert BernoulliLaw(0.5).private_gap(1.0, 1.0).upper == math.inf
    assert BernoulliLaw(0.0).kl_gap(0.5).upper == pytest.approx(math.log(2))
    assert BernoulliLaw(0.0).free_epsilon(0.5) == math.inf
    assert BernoulliLaw(0.7).kl_gap(0.7).upper == 0.0
    assert Poisson(0.0).kl_gap(2.0).upper == pytest.approx(2.0)
    assert Poisson(0.0).private_gap(2.0, 50.0).upper == pytest.approx(2.0)
    assert finite((0, 1), (1, 0)).kl_gap(0.5).upper == pytest.approx(math.log(2))
    assert finite((0, 1), (0.5, 0.5)).kl_gap(1.0).upper == math.inf


@pytest.mark.parametrize(
    "law",
    [GaussianLaw(0.0), GaussianLaw(100.0, 0.01), Exponential(0.3), Poisson(3.0), Poisson(1e-9),
     BernoulliLaw(0.3), finite((0, 0.5, 1, 40), (0.3, 0.3, 0.4, 0.0))],
)  # fmt: skip
def test_extreme_budgets_and_gaps_neither_overflow_nor_lose_order(law):
    for gap in (1e-6, 0.5, 30.0):
        before = 0.0
        for epsilon in (1e-12, 1e-6, 1.0, 50.0, 599.0, 1e6):
            found = law.private_gap(law.mean + gap, epsilon)
            both = law.kl_gap(law.mean + gap).upper, epsilon * law.tv_gap(law.mean + gap).upper
            assert found.upper <= min(both) * (1 + 1e-6) + 1e-13
            assert found.upper >= before * (1 - 1e-6) - 1e-13
            before = found.lower


def test_minimisation_over_larger_means_does_not_help_one_parameter_families():
    rng = np.random.default_rng(68)
    for law in (GaussianLaw(0.1), Exponential(0.7), Poisson(1.3)):
        for _ in range(20):
            best, epsilon = law.mean + float(rng.uniform(0.1, 2)), float(np.exp(rng.uniform(-2, 2)))
            at_best = law.private_gap(best, epsilon).upper
            further = minimize_scalar(
                lambda m, law=law, e=epsilon: law.private_gap(m, e).upper,
                bounds=(best, best + 3),
                method="bounded",
            )
            assert further.fun >= at_best - 1e-9


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: BernoulliLaw(1.5), "mean=1.5 must lie in"),
        (lambda: BernoulliLaw(math.nan), "mean=nan"),
        (lambda: Exponential(0.0), "mean=0.0 must be positive."),
        (lambda: Poisson(-1.0), "mean=-1.0"),
        (lambda: GaussianLaw(0.0, -1.0), "deviation=-1.0 must be positive."),
        (lambda: Finite((0.0, 1.0), (0.5, 0.6)), "must be a distribution."),
        (lambda: Finite((0.0, 0.0), (0.5, 0.5)), "must not repeat a point."),
        (lambda: BernoulliLaw(0.5).private_gap(0.6, 0.0), "epsilon=0.0 must be positive."),
    ],
)
def test_bad_laws_cost_one_line(build, message):
    with pytest.raises(InvalidArgument) as error:
        build()
    assert message in str(error.value)
    assert "\n" not in str(error.value)
