"""Linear phased elimination: designs, widths, signed weights, and the simulator beside one loop."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.core.algorithm import Algorithm, Keep, Play, Release, Step
from dpaudit.core.algorithms import load
from dpaudit.core.arithmetic import BALL, FLOAT
from dpaudit.core.design import optimal_design, spanned
from dpaudit.core.environments import Bernoulli
from dpaudit.core.noise import Laplace
from dpaudit.core.simulate import simulate
from dpaudit.core.stream import decide, run_stream, shown
from dpaudit.core.walk import Place
from dpaudit.errors import BadDeclaration, InvalidArgument

NAMES = ("dp_linear", "zcdp_linear")


def sphere(arms, dimension, seed):
    points = np.random.default_rng(seed).normal(size=(arms, dimension))
    points /= np.linalg.norm(points, axis=1)[:, None]
    return tuple(map(tuple, points.tolist()))


def built(name, features, horizon=10**6, **values):
    return load(name, arms=len(features), features=features, horizon=horizon, **values)


@dataclass(frozen=True, kw_only=True)
class Once(Algorithm):
    """Two plays, two releases, then one elimination as the fields say."""

    width: object = 1.0
    weights: object = None
    private = False

    def start(self):
        return 0

    def step(self, state):
        request = [
            Play(0, 1),
            Play(1, 1),
            Keep((0, 1), (("x", "y"), ("x", "y")), lambda m: self.width, self.weights),
        ]
        return Step(request[min(state, 2)], lambda _: state + 1)


def kept(widths, weights, registers):
    algorithm = Once(arms=2, width=widths, weights=weights)
    place = Place(algorithm, 2, (1, 1), 2, frozenset("xy"))
    return decide(place, shown(place, registers), None)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.floats(-3, 3), min_size=4, max_size=4),
    st.lists(st.floats(0, 4), min_size=2, max_size=2),
    st.lists(st.floats(-5, 5), min_size=2, max_size=2),
)
def test_an_arm_goes_when_its_band_lies_below_anothers(weights, widths, registers):
    (a, b, c, d), (x, y) = weights, registers
    found = kept(tuple(widths), ((a, b), (c, d)), {"x": x, "y": y})
    values = [Fraction(a) * Fraction(x) + Fraction(b) * Fraction(y)]
    values.append(Fraction(c) * Fraction(x) + Fraction(d) * Fraction(y))
    apart = (Fraction(widths[0]) + Fraction(widths[1])) / 2
    if abs(abs(values[0] - values[1]) - apart) > 1e-12:
        rest = {0: values[0] + apart < values[1], 1: values[1] + apart < values[0]}
        assert found == tuple(arm for arm in (0, 1) if not rest[arm])


BREACHES = [
    ({"weights": ((1, 2),)}, "weighs registers"),
    ({"weights": ((1, 2), (1,))}, "weighs registers"),
    ({"weights": [(1, 2), (3, 4)]}, "weighs registers"),
    ({"weights": ((1, float("nan")), (1, 1))}, "no finite number"),
    ({"weights": ((1, True), (1, 1))}, "no finite number"),
    ({"weights": ((1, 10**400), (1, 1))}, "no finite number"),
    ({"width": (1.0, -0.5)}, "not at least 0"),
    ({"width": (1.0, 1.0, 1.0)}, "not one number per arm"),
    ({"width": (1.0, float("nan"))}, "not at least 0"),
]


@pytest.mark.parametrize(("values", "said"), BREACHES)
def test_weights_and_widths_keep_the_contract(values, said):
    place = Place(Once(arms=2, **values), 2, (1, 1), 2, frozenset("xy"))
    with pytest.raises(BadDeclaration, match=said):
        _ = place.width


def test_the_design_of_a_quadratic_is_known():
    grid = tuple((1.0, x, x * x) for x in np.linspace(0, 1, 11).tolist())
    design = optimal_design(grid, 1e-6)
    assert design.support == (0, 5, 10)
    assert design.weights == pytest.approx([1 / 3] * 3, abs=1e-4)


@pytest.mark.parametrize(("arms", "dimension", "seed"), [(8, 3, 0), (40, 3, 1), (60, 10, 2)])
def test_designs_are_within_their_tolerance(arms, dimension, seed):
    features = sphere(arms, dimension, seed)
    design = optimal_design(features, 0.01)
    points, weights = np.array(features), np.zeros(arms)
    weights[list(design.support)] = design.weights
    inverse = np.linalg.inv(sum(w * np.outer(a, a) for w, a in zip(weights, points, strict=True)))
    g = max(a @ inverse @ a for a in points)
    assert weights.sum() == pytest.approx(1) and (weights >= 0).all()
    assert g == pytest.approx(design.g) and dimension - 1e-9 <= g <= dimension * 1.01


def test_arms_of_a_subspace_have_a_design_of_its_dimension():
    features = ((1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (1.0, 1.0, 0.0))
    assert spanned(np.array(features)).shape == (3, 2)
    assert optimal_design(features, 0.01).g <= 2.02
    assert optimal_design(features[:1], 0.01).g == pytest.approx(1)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(4))
def test_every_half_width_is_at_most_tau(name, seed):
    algorithm = built(name, sphere(12, 3, seed))
    left = tuple(range(12))
    for number, survivors in ((1, left), (2, left[3:]), (4, left[5:7]), (6, left[:3])):
        widths = algorithm.width(number, survivors, FLOAT)
        assert (widths / 2 <= 2.0 ** -(number + 1)).all()
        certain = algorithm.width(number, survivors, BALL)
        for plain, ball in zip(widths, certain, strict=True):
            assert abs(ball - float(plain)) < 1e-12


@pytest.mark.parametrize("name", NAMES)
def test_estimates_are_unbiased_and_stay_within_their_widths(name):
    # an estimate leaves its band with probability below 1 / (4 T): none in 2,000 at T = 10^12
    features = sphere(8, 3, 5)
    algorithm = built(name, features, 10**12)
    everyone = tuple(range(8))
    plan = algorithm.plan(1, everyone)
    means = 0.5 + 0.4 * np.array(features) @ np.array([0.6, -0.5, 0.3])
    means -= 0.5  # <a, theta> itself; rewards are shifted into [0, 1] by the sums below
    weights, counts = np.array(plan.weights), np.array(plan.rounds)
    chosen = means[list(plan.support)]
    assert weights @ (counts * chosen) == pytest.approx(means, abs=1e-12)
    rng = np.random.default_rng(7)
    halves = algorithm.width(1, everyone, FLOAT) / 2
    for _ in range(2_000):
        rewards = rng.binomial(counts, 0.5 + chosen) - 0.5 * counts
        noise = np.array([algorithm.law().sample(rng) for _ in counts])
        assert (np.abs(weights @ (rewards + noise) - means) <= halves).all()


def one_loop(algorithm, means, rng):
    """Return the pulls of one run: single rewards, the plan of the declaration, own rules."""
    pulls, left, number, time = np.zeros(len(means), int), tuple(range(len(means))), 1, 0
    while True:
        plan, sums = algorithm.plan(number, left), []
        played = (
            zip(plan.support, plan.rounds, strict=True) if len(left) > 1 else [(left[0], 10**9)]
        )
        for arm, rounds in played:
            rounds = min(rounds, algorithm.horizon - time)
            sums.append((rng.random(rounds) < means[arm]).sum())
            pulls[arm] += rounds
            time += rounds
            if time == algorithm.horizon:
                return pulls
        told = [total + algorithm.law().sample(rng) for total in sums]
        estimates = [sum(w * x for w, x in zip(row, told, strict=True)) for row in plan.weights]
        halves = [w / 2 for w in algorithm.width(number, left, FLOAT)]
        best = max(e - h for e, h in zip(estimates, halves, strict=True))
        ends = zip(left, estimates, halves, strict=True)
        left, number = tuple(arm for arm, e, h in ends if e + h >= best), number + 1


@pytest.mark.parametrize(("name", "theta"), [("dp_linear", 0.4), ("zcdp_linear", 0.56)])
def test_the_simulator_agrees_with_a_loop_over_single_rewards(name, theta):
    # the second arm is on the edge of the first elimination; compared at error 1e-6
    features = ((1.0, 0.0), (0.0, 1.0), (0.7, 0.7))
    means, runs = (0.6, theta, 0.7 * (0.6 + theta)), 150
    algorithm = built(name, features, 3_000)
    quick = simulate(algorithm, Bernoulli(means), 3_000, 4_000, seed=1).pulls_per_run
    rng = np.random.default_rng(3)
    slow = np.array([one_loop(algorithm, means, rng) for _ in range(runs)])
    for arm in range(3):
        spread = np.sqrt(quick[:, arm].var() / len(quick) + quick[:, arm].var() / runs)
        assert abs(quick[:, arm].mean() - slow[:, arm].mean()) <= 5.0 * spread + 1e-9
    assert quick[:, 1].std() > 0


@pytest.mark.parametrize("name", NAMES)
def test_the_stream_runner_releases_no_phase_that_is_cut(name):
    algorithm = built(name, ((1.0, 0.0), (0.0, 1.0)), 5_000)
    first = sum(algorithm.plan(1, (0, 1)).rounds)
    for horizon, releases in ((first - 1, 0), (first + 1, 2)):
        told = np.random.default_rng(0)
        short = built(name, ((1.0, 0.0), (0.0, 1.0)), 5_000)
        assert run_stream(short, np.ones(horizon), told).releases == releases


BAD = [
    ({"features": ((1.0, 0.0), (2.0, 0.0), (3.0, 0.0))}, "span"),
    ({"features": ((1.0, 0.0), (0.0, 1.0))}, "3 rows"),
    ({"features": ((1.0, 0.0), (0.0,), (1.0, 1.0))}, "one length"),
    ({"features": ((1.0, 0.0), (0.0, float("nan")), (1.0, 1.0))}, "finite"),
    ({"features": "abc"}, "row of numbers"),
    ({"tolerance": 0.0}, "tolerance"),
]


@pytest.mark.parametrize(("values", "said"), BAD)
def test_features_that_cannot_serve_are_refused_in_one_line(values, said):
    with pytest.raises(InvalidArgument, match=said) as error:
        load("dp_linear", arms=3, horizon=1_000, **values)
    assert "\n" not in str(error.value)


def test_a_design_that_does_not_converge_is_refused_in_one_line():
    with pytest.raises(InvalidArgument, match="no design within 1e-16") as error:
        built("dp_linear", sphere(60, 10, 2), tolerance=1e-16)
    assert "\n" not in str(error.value)


def test_a_release_of_a_linear_phase_reads_the_rows_of_its_own_play():
    algorithm = built("dp_linear", sphere(5, 2, 3), 10**7)
    place, seen = Place(algorithm, algorithm.start(), (0,) * 5), []
    while not isinstance(place.request, Keep):
        answer = None
        if isinstance(place.request, Play):
            answer = place.rows(10**7)
            seen.append(answer)
        else:
            assert isinstance(place.request, Release)
            assert place.request.rows == seen.pop(0) and place.request.noise == Laplace(1)
        place = place.after(answer)
    assert not seen
