"""Linear bandits: the programme against closed forms and discretisation, its certificates, rho."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog

from dpaudit.errors import InvalidArgument
from dpaudit.regret_bounds import linear
from dpaudit.regret_bounds.clipped import ClippedLinear
from dpaudit.regret_bounds.document import describe_linear
from dpaudit.regret_bounds.laws import GaussianLaw
from dpaudit.regret_bounds.linear import LinearInstance
from dpaudit.regret_bounds.structural import Constraint, complement, solve
from dpaudit.regret_bounds.table import Setting

ORTHOGONAL = LinearInstance(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), (1.0, 0.6, 0.3))
SKEW = LinearInstance(((1.0, 0.0), (0.0, 1.0), (0.9, 0.3)), (1.0, 0.2))
NARROW = LinearInstance(((1.0, 0.0), (0.99, 0.02), (0.0, 1.0)), (1.0, 0.1))
SPATIAL = LinearInstance(
    ((1.0, 0, 0), (0, 1.0, 0), (0, 0, 1.0), (0.9, 0.2, 0.3), (0.5, 0.5, 0.5)), (1.0, 0.1, 0.3)
)


def huber(u, knee):
    u = np.abs(u)
    return np.where(u <= knee, u**2 / 2, knee * u - knee**2 / 2)


def random_instance(rng, arms, dimension):
    while True:
        features = rng.normal(size=(arms, dimension))
        theta = rng.normal(size=dimension)
        means = np.sort(features @ theta)
        if means[-1] - means[-2] > 0.2:
            return LinearInstance(tuple(map(tuple, features.tolist())), tuple(theta.tolist()))


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 3.0])
def test_orthogonal_arms_have_closed_forms(epsilon):
    found = linear.structural(ORTHOGONAL, epsilon)
    gaps = ORTHOGONAL.costs
    knee = epsilon / math.sqrt(2 * math.pi)
    assert found.rho == pytest.approx((2.0, 2.0))
    assert found.rho_valid == pytest.approx((2.0, 2.0))
    assert found.without_privacy.lower == pytest.approx(sum(2 / gaps))
    paper = sum(gaps / np.minimum(gaps**2 / 2, 6 * epsilon * gaps))
    assert found.paper.lower == pytest.approx(paper)
    assert found.sharp.lower == pytest.approx(sum(gaps / huber(gaps, knee)))
    refined = sum(g / GaussianLaw(0.0).private_gap(float(g), epsilon).upper for g in gaps)
    assert found.refined == pytest.approx(refined)
    for certificate in (found.paper, found.corrected, found.sharp):
        assert certificate.gap <= 1e-6 * certificate.upper


@pytest.mark.parametrize("instance", [SKEW, NARROW])
@pytest.mark.parametrize("epsilon", [0.05, 1.0])
def test_two_dimensions_are_one_linear_programme(instance, epsilon):
    """The alternatives move along one line, so each arm gives a single constraint."""
    knee = epsilon / math.sqrt(2 * math.pi)
    vectors = instance.projected[:, 0]
    rows = np.array(
        [huber(vectors * (g / v), knee) for g, v in zip(instance.costs, vectors, strict=True)]
    )
    found = linprog(instance.costs, A_ub=-rows, b_ub=-np.ones(len(rows)))
    sharp = linear.structural(instance, epsilon).sharp
    assert sharp.lower == pytest.approx(found.fun, rel=1e-6)
    assert sharp.upper == pytest.approx(found.fun, rel=1e-6)


def test_three_dimensions_against_a_discretisation():
    epsilon = 0.3
    knee = epsilon / math.sqrt(2 * math.pi)
    vectors, rows = SPATIAL.projected, []
    for direction, gap in zip(vectors, SPATIAL.costs, strict=True):
        base = direction * gap / (direction @ direction)
        free = complement(direction[None, :])[:, 0]
        for t in np.linspace(-6, 6, 4001):
            rows.append(huber(vectors @ (base + t * free), knee))
    rows = np.array(rows)
    found = linprog(SPATIAL.costs, A_ub=-rows, b_ub=-np.ones(len(rows)))
    sharp = linear.structural(SPATIAL, epsilon).sharp
    assert sharp.lower == pytest.approx(found.fun, rel=1e-4)
    assert found.fun <= sharp.upper * (1 + 1e-6)


def test_certificates_hold_when_recomputed():
    rng = np.random.default_rng(90)
    for _ in range(10):
        instance = random_instance(rng, int(rng.integers(3, 7)), int(rng.integers(2, 4)))
        epsilon = float(np.exp(rng.uniform(-3, 1)))
        knee = epsilon / math.sqrt(2 * math.pi)
        found = linear.structural(instance, epsilon).sharp
        assert 0 <= found.gap <= 1e-5 * found.upper
        # below: each alternative makes some arm overtake, and the multipliers price the arms
        vectors, costs = instance.projected, instance.costs
        used = np.zeros(len(costs))
        for z, y in zip(found.alternatives, found.multipliers, strict=True):
            u = vectors @ np.array(z)
            assert np.any(u >= costs * (1 - 1e-9))
            used += y * huber(u, knee)
        assert np.all(used <= costs * (1 + 1e-9))
        assert sum(found.multipliers) == pytest.approx(found.lower)
        # above: the allocation tells every sampled alternative apart
        alpha = np.array(found.alpha)
        assert float(costs @ alpha) == pytest.approx(found.upper)
        for direction, gap in zip(vectors, costs, strict=True):
            base = direction * gap / (direction @ direction)
            free = complement(direction[None, :])
            for _ in range(200):
                z = base + free @ (rng.normal(size=free.shape[1]) * rng.choice([0.1, 1, 5]))
                assert float(alpha @ huber(vectors @ z, knee)) >= 1 - 1e-6


def test_the_direct_programme_is_at_least_the_corrected_one():
    rng = np.random.default_rng(91)
    for _ in range(6):
        instance = random_instance(rng, 4, 3)
        found = linear.structural(instance, float(np.exp(rng.uniform(-4, 1))))
        assert found.without_privacy.lower <= found.sharp.upper * (1 + 1e-6)
        assert found.corrected.lower <= found.sharp.upper * (1 + 1e-6)
        assert found.sharp.lower <= found.refined * (1 + 1e-12)


def test_rho_over_bases_bounds_every_weighting_and_the_papers_does_not():
    rng = np.random.default_rng(92)
    broken = 0
    for _ in range(20):
        instance = random_instance(rng, 5, 3)
        arms = np.array(instance.features)
        for arm in instance.others:
            x = arms[arm] - arms[instance.star]
            largest = 0.0
            for _ in range(100):
                w = np.exp(rng.normal(size=len(arms)) * 4)
                h = (arms.T * w) @ arms
                largest = max(largest, float(np.abs(w * (arms @ np.linalg.solve(h, x))).sum()))
            assert largest <= instance.rho_valid(arm) * (1 + 1e-6)
            broken += largest > instance.rho(arm) * (1 + 1e-6)
    assert broken > 0


def test_rho_over_bases_is_the_largest_of_the_basic_solutions():
    arms = np.array(SPATIAL.features)
    x = arms[1] - arms[SPATIAL.star]
    solutions = [
        np.abs(np.linalg.solve(arms[list(b)].T, x)).sum()
        for b in itertools.combinations(range(5), 3)
        if abs(np.linalg.det(arms[list(b)])) > 1e-9
    ]
    assert SPATIAL.rho_valid(1) == pytest.approx(max(solutions))


def test_the_papers_constant_is_flagged_where_nothing_supports_it():
    assert not linear.structural(NARROW, 0.05).paper_implied
    document = describe_linear(NARROW, Setting(0.05, 10**6), 0, 0, 1)
    printed = next(b for b in document["bounds"] if "paper's rho" in b.name)
    assert printed.standing == "not established"
    assert linear.structural(ORTHOGONAL, 0.05).paper_implied


def test_a_parallel_arm_adds_no_constraint():
    parallel = LinearInstance(((1.0, 0.0), (0.5, 0.0), (0.0, 1.0)), (1.0, 0.2))
    alone = LinearInstance(((1.0, 0.0), (0.0, 1.0)), (1.0, 0.2))
    left, right = (linear.structural(i, 0.5).sharp.lower for i in (parallel, alone))
    assert left == pytest.approx(right)


def test_quadratic_constraints_are_norms():
    """||a||^2 in H(alpha)^-1 at the solution meets its limit, by the definition of the norm."""
    found = linear.structural(SPATIAL, 0.2).corrected
    kappa = 0.2 / math.sqrt(2 * math.pi)
    h = (SPATIAL.projected.T * np.array(found.alpha)) @ SPATIAL.projected
    for i, arm in enumerate(SPATIAL.others):
        gap = SPATIAL.costs[i]
        norm = SPATIAL.projected[i] @ np.linalg.pinv(h) @ SPATIAL.projected[i]
        limit = min(gap**2 / 2, kappa * SPATIAL.rho_valid(arm) * gap)
        assert norm <= limit * (1 + 1e-6)


def test_minimax_forms():
    for epsilon in (0.001, 1.0, 30.0):
        for horizon in (1, 10**4, 10**8):
            assert linear.minimax_paper(3, epsilon, horizon) <= linear.minimax_sharp(
                3, epsilon, horizon
            )


def test_a_run_sits_above_the_bound_and_below_its_own():
    document = describe_linear(ORTHOGONAL, Setting(1.0, 10**6), 10, 3, 1)
    (row,) = document["measured"]
    assert row["verdict"] == "within its bounds"
    assert row["per_log"] > row["coefficient"]


def test_clipped_moments_against_sampling():
    environment = ClippedLinear(SKEW)
    rng = np.random.default_rng(93)
    drawn = environment.rewards(np.repeat([0, 1, 2], 200_000), rng).reshape(3, -1)
    assert np.all((drawn >= 0) & (drawn <= 1))
    error = drawn.std(axis=1) / math.sqrt(200_000)
    # six standard errors: fails with probability below 1e-8
    assert np.all(np.abs(drawn.mean(axis=1) - environment.means) <= 6 * error)
    assert environment.deviations == pytest.approx(drawn.std(axis=1), rel=0.02)
    order = np.argsort(environment.means)
    assert np.array_equal(order, np.argsort(SKEW.environment.means))


@pytest.mark.parametrize("size", [1e-3, 1e3])
def test_units_of_the_features_do_not_matter(size):
    scaled = LinearInstance(
        tuple(tuple(size * x for x in feature) for feature in SPATIAL.features),
        tuple(x / size for x in SPATIAL.theta),
    )
    left, right = linear.structural(scaled, 0.3), linear.structural(SPATIAL, 0.3)
    assert left.sharp.lower == pytest.approx(right.sharp.lower, rel=1e-6)
    assert left.corrected.lower == pytest.approx(right.corrected.lower, rel=1e-6)
    assert left.rho_valid == pytest.approx(right.rho_valid)


@pytest.mark.parametrize("size", [1e-3, 1e3])
@pytest.mark.parametrize("epsilon", [1e-4, 100.0])
def test_extreme_gaps_are_solved(size, epsilon):
    extreme = LinearInstance(SPATIAL.features, tuple(size * x for x in SPATIAL.theta))
    found = linear.structural(extreme, epsilon)
    for certificate in (found.without_privacy, found.paper, found.corrected, found.sharp):
        assert certificate.gap <= 2e-6 * certificate.upper
    assert found.refined >= found.sharp.lower


def test_no_constraints_cost_nothing():
    assert solve(np.ones(2), np.eye(2), []).upper == 0.0


def test_infinite_knee_is_the_square():
    constraint = Constraint(np.array([1.0]), 1.0, 2.0, math.inf)
    assert constraint.rate(np.array([3.0])) == pytest.approx([9.0])


@pytest.mark.parametrize(
    ("features", "theta", "message"),
    [
        (((1.0, 0.0), (0.0, 1.0)), (1.0, 1.0), "must have a unique best arm."),
        (((1.0, 0.0), (0.5, 0.0)), (1.0, 1.0), "must span the 2 dimensions of theta."),
        (((1.0, 0.0), (0.5,)), (1.0, 1.0), "must have the 2 coordinates of theta."),
        (((1.0,),), (1.0,), "must name at least two arms."),
        (((1.0, math.nan), (0.0, 1.0)), (1.0, 0.0), "must be finite"),
    ],
)
def test_bad_linear_instances_cost_one_line(features, theta, message):
    with pytest.raises(InvalidArgument) as error:
        LinearInstance(features, theta)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
