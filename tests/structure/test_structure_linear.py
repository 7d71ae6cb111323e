"""Linear elimination is proved by one law; a variant with a flaw in its releases never is."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from charted import runs_of

from dpaudit.core.algorithm import Release, Rows, Step
from dpaudit.core.algorithms import load
from dpaudit.core.algorithms.dp_linear import DPLinear
from dpaudit.core.algorithms.zcdp_linear import ZCDPLinear
from dpaudit.core.arithmetic import FLOAT
from dpaudit.core.linear import ReleasingSums, in_linear_phases
from dpaudit.core.noise import Gaussian, Laplace
from dpaudit.core.notions import Kind, Notion, Tariff
from dpaudit.structure import accounting, prove
from dpaudit.structure.linear import charge_of_law
from dpaudit.structure.walk import Walk
from dpaudit.verdict import Status

SHORT = 3_000


@pytest.mark.parametrize("arms", [2, 10, 50])
def test_both_are_proved_at_full_size(arms):
    found = prove(load("dp_linear", arms=arms, horizon=10**7), 10**7)
    assert (found.status, found.epsilon_upper, found.horizon) == (Status.PROVED, 1.0, 10**7)
    algorithm = load("zcdp_linear", arms=arms, horizon=10**7)
    found = accounting.judge(algorithm, 10**7, algorithm.claim.notion)
    assert (found.status, found.bracket.upper) == (Status.PROVED, 0.5)
    assert accounting.judge(algorithm, 10**7, Notion(Kind.ZCDP, 0.49)).status is Status.SILENT


@pytest.mark.parametrize("name", ["dp_linear", "zcdp_linear"])
@pytest.mark.parametrize("kind", [Kind.PURE, Kind.ZCDP, Kind.GDP])
@pytest.mark.parametrize("unit", [1, 3])
def test_one_law_charges_what_the_walk_over_all_survivors_does(name, kind, unit):
    algorithm, tariff = load(name, arms=3, horizon=20_000), Tariff(kind, unit)
    walk = Walk(algorithm, 20_000, tariff)
    try:
        walk.run(10**5, math.inf)
    except Exception:
        assert walk.worst.charge == math.inf
    assert unit * charge_of_law(algorithm, tariff).charge == walk.worst.charge


@dataclass(frozen=True, kw_only=True)
class Weighed(DPLinear):
    """Noise scaled by the weight of a sum, as if the weighted sum were released."""

    def step(self, state):
        found = super().step(state)
        if isinstance(found.request, Release):
            plan = self.plan(state.phase.number, state.phase.survivors)
            weight = max(abs(row[state.released]) for row in plan.weights)
            law = Laplace(Fraction(weight) / Fraction(self.epsilon))
            request = Release(found.request.register, found.request.rows, law)
            return Step(request, found.then)
        return found


@dataclass(frozen=True, kw_only=True)
class Twice(DPLinear):
    """Every sum is released twice; the second overwrites the first."""

    def step(self, state):
        match state:
            case ("again", ReleasingSums(phase, told)):
                rows, after = phase.played[told], ReleasingSums(phase, told + 1)
                return Step(Release(("more", rows.arm), rows, self.law()), lambda _: after)
            case ReleasingSums(phase, told) if told < len(phase.played):
                return Step(super().step(state).request, lambda _: ("again", state))
        return super().step(state)


@dataclass(frozen=True, kw_only=True)
class EveryPhase(DPLinear):
    """All rewards of an arm so far are released in each phase, for the price of one."""

    def step(self, state):
        found = super().step(state)
        if isinstance(found.request, Release):
            rows = found.request.rows
            everything = Rows(rows.arm, 0, rows.stop)
            return Step(Release(rows.arm, everything, self.law()), found.then)
        return found


@dataclass(frozen=True, kw_only=True)
class Deviation(ZCDPLinear):
    """The variance 1 / (2 rho) goes where the deviation is due."""

    rho: float = 2.0

    def law(self):
        return Gaussian(variance=self.variance() ** 2)


@dataclass(frozen=True, kw_only=True)
class Changing(DPLinear):
    """A law that changes each time it is asked for."""

    def law(self):
        SEEN.append(1)
        return Laplace(1 if len(SEEN) % 7 else Fraction(1, 1000))


@dataclass(frozen=True, kw_only=True)
class Looking(DPLinear):
    """A law that looks at who asks for it."""

    def law(self):
        return Laplace(1 if sys._getframe(1).f_locals.get("answer") else Fraction(1))


SEEN: list[int] = []
WRONG = (Weighed, Twice, EveryPhase, Deviation, Changing, Looking)


@pytest.mark.parametrize("kind", WRONG)
def test_none_of_the_wrong_ones_is_proved(kind):
    algorithm = kind(arms=3, horizon=100_000)
    notion = algorithm.claim.notion
    if notion.plain:
        found = prove(algorithm, 100_000, budget=20.0)
    else:
        found = accounting.judge(algorithm, 100_000, notion, 20.0)
    assert found.status is Status.SILENT, found.reason
    assert in_linear_phases(algorithm) is (kind in (Deviation, Changing, Looking))


def first_cut(kind, scale, sums):
    """Return the chance that both of two arms go on after the first phase, by a plain sum.

    An oracle of its own: weights and widths of the declaration, Laplace masses on a fine grid.
    """
    algorithm = kind(arms=2, horizon=SHORT, features=((1.0, 0.0), (0.0, 1.0)))
    plan = algorithm.plan(1, (0, 1))
    half = [w / 2 for w in DPLinear.width(algorithm, 1, (0, 1), FLOAT)]
    weight = plan.weights[0][0]
    grid = np.linspace(-40 * scale, 40 * scale, 4_001)
    mass = np.exp(-np.abs(grid) / scale)
    mass /= mass.sum()
    top = weight * (sums[0] + grid[:, None]) - half[0]
    low = weight * (sums[1] + grid[None, :]) + half[1]
    return float(mass @ (low >= top) @ mass)


def test_an_oracle_of_its_own_sees_the_right_loss_and_the_wrong_one():
    plan = DPLinear(arms=2, horizon=SHORT).plan(1, (0, 1))
    weight = plan.weights[0][0]
    edge = round(sum(DPLinear(arms=2, horizon=SHORT).width(1, (0, 1), FLOAT)) / 2 / weight)
    losses = {}
    for name, kind, scale in (("right", DPLinear, 1.0), ("weighed", Weighed, weight)):
        sums = edge + 12 * scale
        one, two = (first_cut(kind, scale, (sums + step, 0)) for step in (0.0, 1.0))
        losses[name] = math.log(one / two) if two else math.inf
    assert 0.7 < losses["right"] <= 1 + 1e-6
    assert losses["weighed"] > 2


def test_the_oracle_agrees_with_the_runner():
    # a single survivor is the second arm, both begin again with the first
    algorithm = DPLinear(arms=2, horizon=SHORT, features=((1.0, 0.0), (0.0, 1.0)))
    plan = algorithm.plan(1, (0, 1))
    ones = round(sum(algorithm.width(1, (0, 1), FLOAT)) / 2 / plan.weights[0][0])
    stream = np.zeros(sum(plan.rounds) + 1)
    stream[plan.rounds[0] : plan.rounds[0] + ones] = 1.0
    rng, runs = np.random.default_rng(5), 4_000
    both = sum(run.arms[-1] == 0 for run in runs_of(algorithm, stream, runs, rng)) / runs
    wanted = first_cut(DPLinear, 1.0, (ones, 0))
    assert 0.3 < wanted < 0.7
    assert abs(both - wanted) < 5 * math.sqrt(0.25 / runs)


def test_gaussian_noise_has_no_pure_epsilon():
    """Its charge is infinite, which is no bound and no failure."""
    algorithm = load("zcdp_linear", arms=3, horizon=10**4)
    found = prove(algorithm, 10**4, 1.0)
    assert (found.status, found.epsilon_upper) == (Status.SILENT, math.inf)
