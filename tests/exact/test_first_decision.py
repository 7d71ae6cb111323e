"""What a first decision attains, against the law of a difference of two draws by other means."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pytest
from flint import arb, ctx
from scipy import integrate, stats

from dpaudit import load
from dpaudit.core.arithmetic import FLOAT
from dpaudit.core.notions import Kind, Notion
from dpaudit.exact import refuting
from dpaudit.exact.balls.gaussians import Normal
from dpaudit.exact.profile import law
from dpaudit.exact.sequences import first_decision
from dpaudit.structure.accounting import judge
from dpaudit.verdict import Status

NOTIONS = (Notion(Kind.ZCDP, 0.5), Notion(Kind.APPROXIMATE, 0.5, 0.5), Notion(Kind.GDP, 1.0))


def instance(name, horizon):
    return load(name, arms=2, horizon=horizon)


def survival(algorithm, means):
    """P(arm 0 survives the first elimination), by scipy."""
    noise, width = algorithm.noise(1, 2), float(algorithm.width(1, 2, FLOAT))
    apart = means[1] - means[0]
    if hasattr(noise, "variance"):
        return stats.norm.cdf((width - apart) / math.sqrt(2 * float(noise.variance)))
    scale = float(noise.scale)
    one = stats.laplace(scale=scale)
    ends = (width - apart + np.array([-40, -5, 0, 5, 40]) * scale).tolist()
    points = sorted({*ends, -40 * scale, 0.0, 40 * scale})
    return sum(
        integrate.quad(lambda x: one.pdf(x) * one.cdf(width - apart + x), a, b, epsabs=1e-13)[0]
        for a, b in zip(points, points[1:], strict=False)
    )


@pytest.mark.parametrize("name", ["dp_se", "zcdp_se"])
def test_the_law_after_the_first_elimination(name):
    found = list(first_decision(partial(instance, name), NOTIONS[0], 10**6, math.inf))
    assert found and all(it.value.certified for it in found)
    for pair in found[:4]:
        horizon = len(pair.stream)
        algorithm = instance(name, horizon)
        rounds = algorithm.phase_length(1, 2)
        for stream in (pair.stream, pair.neighbour):
            means = [sum(stream[:rounds]) / rounds, sum(stream[rounds : 2 * rounds]) / rounds]
            kept = law(algorithm, stream).probabilities
            [stays] = [p for actions, p in kept.items() if actions[-1] == 0]
            assert stays.certified and stays.upper - stays.lower < 1e-9
            assert stays.middle == pytest.approx(survival(algorithm, means), abs=1e-9)


@pytest.mark.parametrize(("name", "notion"), list(product(["dp_se", "zcdp_se"], NOTIONS)))
def test_attained_is_above_nothing_and_at_most_what_is_proved(name, notion):
    found = list(first_decision(partial(instance, name), notion, 10**6, math.inf))
    best = max(found, key=lambda it: it.value.lower)
    claimed = instance(name, len(best.stream))
    proved = judge(claimed, len(best.stream), notion).bracket.upper
    assert 0.02 < best.value.lower <= proved < 1.5
    changed = [a != b for a, b in zip(best.stream, best.neighbour, strict=True)]
    assert sum(changed) == 1


def test_too_much_is_refuted_by_the_first_decision():
    """An elimination built for epsilon = 2, judged as one of rho = 0.1."""
    build = partial(load, "dp_se", arms=2, epsilon=2.0)
    notion = Notion(Kind.ZCDP, 0.1)
    sizes = [8, 10_000]
    [found] = refuting.judge(lambda size: build(horizon=size), build(horizon=99), notion, sizes, 60)
    assert found.status is Status.REFUTED and found.certified and found.horizon < 10_000


def test_one_path_alone_decides_nothing():
    assert not list(first_decision(partial(instance, "dp_se"), NOTIONS[0], 1000, math.inf))


@pytest.mark.parametrize("ends", [(-1, 0.5), (0.5, 2), (2, 3), (None, 1), (1, None), (2, 1)])
def test_what_lies_between_two_ends_is_enclosed(ends):
    low, high = ends
    with ctx.workprec(100):
        given = (None if low is None else arb(low)), (None if high is None else arb(-high))
        found = Normal(Fraction(1, 3), Fraction(2)).between(*given)
    law = stats.norm(1 / 3, math.sqrt(2))
    below, above = -math.inf if low is None else low, math.inf if high is None else high
    assert float(found) == pytest.approx(max(law.cdf(above) - law.cdf(below), 0.0), abs=1e-12)
