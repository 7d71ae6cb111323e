"""Lower bounds under local and zero-concentrated privacy, and of linear bandits in [0, 1]."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom, norm

from dpaudit.cli import run
from dpaudit.regret_bounds import entropy, linear_unit, lower
from dpaudit.regret_bounds.bound import bernoulli
from dpaudit.regret_bounds.linear import LinearInstance
from dpaudit.regret_bounds.other_notions import local_bounds, zcdp_bounds
from dpaudit.regret_bounds.structural import bound_below


def test_no_local_channel_of_a_bit_tells_more_than_randomised_response():
    rng = np.random.default_rng(1)
    for _ in range(300):
        epsilon, (p, q) = rng.uniform(0.1, 3), rng.uniform(0.02, 0.98, 2)
        zero = rng.dirichlet(np.ones(4))
        one = zero * np.exp(rng.uniform(0, epsilon, 4))
        one /= one.sum()  # ratios stay within e^epsilon of one another, hence of 1
        first, second = ((1 - r) * zero + r * one for r in (p, q))
        told = float(np.sum(first * np.log(first / second)))
        shrink = math.tanh(epsilon / 2)
        seen = entropy.bernoulli(0.5 + shrink * (p - 0.5), 0.5 + shrink * (q - 0.5))
        assert told <= seen + 1e-12


def test_local_bounds_grow_as_epsilon_falls_and_end_at_those_without_privacy():
    instance, horizon = bernoulli((0.75, 0.5, 0.25)), 10**6
    values = [[b.value for b in local_bounds(instance, e, horizon)] for e in (0.1, 1.0, 40.0)]
    assert all(x > y for one, two in zip(values, values[1:], strict=False)
               for x, y in zip(one, two, strict=True))  # fmt: skip
    free = lower.coefficients(instance, 500.0).without_privacy * math.log(horizon)
    assert values[-1][0] == pytest.approx(free)
    assert values[-1][1] == pytest.approx(lower.bounded_public(3, horizon), rel=1e-3)


@pytest.mark.parametrize(("rho", "rows", "gap"), [(0.5, 3, 0.2), (0.05, 6, 0.3), (2.0, 4, 0.1)])
def test_coupled_tables_bound_the_relative_entropy_of_a_gaussian_sum(rho, rows, gap):
    # a mechanism that spends rho: the sum of the rows with N(0, 1 / (2 rho)), by quadrature
    x = np.linspace(-40, 40 + rows, 200_001)
    laws = []
    for mean in (0.5 - gap, 0.5 + gap):
        weights = binom.pmf(np.arange(rows + 1), rows, mean)
        sums = np.arange(rows + 1)[:, None]
        laws.append(weights @ norm.pdf(x, sums, math.sqrt(1 / (2 * rho))))
    p, q = (np.maximum(law, 1e-300) for law in laws)
    kl = np.trapezoid(p * np.log(p / q), x)
    mean = 2 * gap * rows
    assert 0 < kl <= rho * (mean**2 + mean)


def test_zcdp_bounds_fall_with_rho_and_are_never_above_the_horizon():
    instance = bernoulli((0.6, 0.4))
    found = [zcdp_bounds(instance, rho, 10**4)[2].value for rho in (1e-6, 1e-4, 1e-2, 1.0)]
    assert found == sorted(found, reverse=True) and found[0] < 10**4 / 8
    assert found[0] == pytest.approx(math.sqrt(2) / (32 * math.sqrt(1e-6)), rel=0.02)


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 5.0])
def test_orthogonal_arms_are_a_bandit_without_structure(epsilon):
    instance = LinearInstance(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), (0.7, 0.4, 0.5))
    found = linear_unit.coefficient(instance, epsilon)
    wanted = lower.coefficients(bernoulli((0.7, 0.4, 0.5)), epsilon).sharp
    assert found is not None and found.value == pytest.approx(wanted, rel=1e-6)


def test_the_linear_bound_is_that_of_every_alternative_on_a_line():
    # d = 2: alternatives that leave the best arm alone are one number; all of a fine grid
    features = ((1.0, 0.0), (0.0, 1.0), (0.7, 0.7), (0.3, 0.9))
    instance = LinearInstance(features, (0.6, 0.25))
    found = linear_unit.coefficient(instance, 0.5)
    assert found is not None and found.alternatives > 0
    before = np.array(instance.environment.means)[list(instance.others)]
    rates = []
    grid = np.geomspace(1e-3, 0.6, 10_000)
    for z in (*grid, *-grid):
        moved = instance.projected[:, 0] * z
        after = before + moved
        if (moved >= instance.costs).any() and (after > 1e-6).all() and (after < 1 - 1e-6).all():
            rates.append(linear_unit.information(before, after, 0.5))
    best, _ = bound_below(instance.costs, np.array(rates))
    assert best == pytest.approx(found.value, rel=0.01)


def test_means_outside_the_unit_interval_have_no_such_bound():
    assert (
        linear_unit.coefficient(LinearInstance(((1.0, 0.0), (0.0, 1.0)), (1.5, 0.2)), 1.0) is None
    )


@pytest.mark.parametrize(("dimension", "epsilon", "horizon"), [(3, 1.0, 10**6), (10, 1e-4, 10**7)])
def test_the_minimax_form_is_the_larger_of_its_two_parts(dimension, epsilon, horizon):
    public = math.sqrt(3 / 32) * dimension * math.sqrt(horizon) / 16
    private = dimension / (32 * math.tanh(epsilon / 2))
    assert linear_unit.minimax(dimension, epsilon, horizon) == pytest.approx(max(public, private))


BAD = [
    (["--rho", "0"], "rho=0.0 must be positive"),
    (["--rho", "1", "--local"], "exclude each other"),
    (["--rho", "x"], "must be a number"),
    (["--local", "--features", "1,0;0,1", "--theta", "1,0"], "no bounds under"),
]


@pytest.mark.parametrize(("words", "said"), BAD)
def test_what_has_no_bounds_is_refused_in_one_line(words, said, capsys):
    assert run(["bounds", *words]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


def test_bounds_of_other_notions_are_printed(capsys):
    assert run(["bounds", "--env", "C2", "--local", "--epsilon", "1"]) == 0
    assert "local epsilon 1" in capsys.readouterr().out
    assert run(["bounds", "--env", "C2", "--rho", "0.5"]) == 0
    assert "no problem-dependent bound of rho-zCDP is known" in " ".join(
        capsys.readouterr().out.split()
    )
