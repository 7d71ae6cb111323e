"""Eliminations by weighted sums, between two arms: likelihoods against other means."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from charted import runs_of
from scipy import integrate, stats

from dpaudit.core.algorithm import Accumulate, Algorithm, Keep, Play, Release, Respond, Rows, Step
from dpaudit.core.algorithms import load
from dpaudit.core.algorithms.dp_linear import DPLinear
from dpaudit.core.algorithms.zcdp_linear import ZCDPLinear
from dpaudit.core.arithmetic import FLOAT
from dpaudit.core.noise import Laplace, NoNoise
from dpaudit.core.notions import Kind, Notion
from dpaudit.errors import Unsupported
from dpaudit.exact import refuting, worst_loss
from dpaudit.exact.profile import law
from dpaudit.verdict import Status

FEATURES = [None, ((1.0, 0.0), (0.3, 0.9)), ((0.5, 0.5), (1.0, -0.2))]


def first_decided(name, features):
    """The instance and the shortest stream of it in which an elimination shows."""
    more = {} if features is None else {"features": features}
    for horizon in range(300, 2_000):
        algorithm = load(name, arms=2, horizon=horizon, **more)
        if sum(algorithm.plan(1, (0, 1)).rounds) < horizon:
            return algorithm, horizon
    raise AssertionError


def eliminated(algorithm, stream):
    """P(arm 0 goes) after the first phase, by scipy: a sum of two scaled draws is above a line."""
    plan = algorithm.plan(1, (0, 1))
    ends = np.cumsum([0, *plan.rounds])
    sums = [sum(stream[a:b]) for a, b in zip(ends, ends[1:], strict=False)]
    apart = np.subtract(plan.weights[1], plan.weights[0])
    line = float(np.mean(algorithm.width(1, (0, 1), FLOAT))) - float(np.dot(apart, sums))
    noise = algorithm.law()
    if hasattr(noise, "variance"):
        return stats.norm.sf(line / math.sqrt(float(noise.variance) * float(apart @ apart)))
    a, b = (stats.laplace(scale=float(noise.scale) * abs(part)) for part in apart)
    reach = 45 * max(a.std(), b.std())
    points = sorted({-reach, *np.clip([0.0, line, line - 1e-3, line + 1e-3], -reach, reach), reach})
    return sum(
        integrate.quad(lambda x: a.pdf(x) * b.sf(line - x), low, high, epsabs=1e-14, limit=400)[0]
        for low, high in zip(points, points[1:], strict=False)
    )


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("name", ["dp_linear", "zcdp_linear"])
def test_likelihoods_of_the_first_elimination(name, features):
    algorithm, horizon = first_decided(name, features)
    rounds = algorithm.plan(1, (0, 1)).rounds
    for share in (0.0, 0.2, 0.3, 0.45):
        stream = [0.0] * horizon
        for step in range(rounds[0], rounds[0] + int(share * rounds[1])):
            stream[step] = 1.0
        [goes] = [p for a, p in law(algorithm, stream).probabilities.items() if a[-1] == 1]
        assert goes.certified
        assert goes.middle == pytest.approx(eliminated(algorithm, stream), rel=1e-6, abs=1e-12)


def test_runs_of_the_declaration_agree():
    """1,000 seeded runs; the bound is six deviations, an error below 1e-8."""
    algorithm, horizon = first_decided("zcdp_linear", FEATURES[1])
    rounds = algorithm.plan(1, (0, 1)).rounds
    stream = [0.0] * horizon
    chances = {}
    for ones in range(0, rounds[1], 10):
        trial = [*([0.0] * rounds[0]), *([1.0] * ones)]
        trial += [0.0] * (horizon - len(trial))
        found = law(algorithm, trial).probabilities
        [goes] = [p.middle for actions, p in found.items() if actions[-1] == 1]
        chances[abs(goes - 0.5)] = goes, trial
    goes, stream = chances[min(chances)]
    assert 0.02 < goes < 0.98
    runs = 1_000
    rng = np.random.default_rng(5)
    seen = sum(run.arms[-1] == 1 for run in runs_of(algorithm, stream, runs, rng))
    assert abs(seen / runs - goes) < 6 * math.sqrt(goes * (1 - goes) / runs)


def test_the_largest_loss_is_enclosed_and_below_the_charge():
    found = worst_loss(load("dp_linear", arms=2, horizon=600), 600)
    assert found.loss.certified and 0.9 < found.loss.lower <= found.loss.upper < 1


@dataclass(frozen=True, kw_only=True)
class HalvedLinear(DPLinear):
    """Half the noise."""

    def law(self):
        return Laplace(super().law().scale / 2)


@dataclass(frozen=True, kw_only=True)
class MeanNoise(ZCDPLinear):
    """Noise of a fourth of the variance."""

    def law(self):
        return type(super().law())(variance=super().law().variance / 4)


def test_too_little_noise_is_refuted():
    found = worst_loss(HalvedLinear(arms=2, horizon=600), 600)
    assert found.loss.certified and found.loss.lower > 1.5
    notion = Notion(Kind.ZCDP, 0.5)

    def build(size):
        return MeanNoise(arms=2, horizon=size)

    [found] = refuting.judge(build, build(10**5), notion, [8, 10**5], 60)
    assert found.status is Status.REFUTED and found.certified


@dataclass(frozen=True, kw_only=True)
class Weighed(DPLinear):
    """One elimination after a pull of each arm, with weights of one's own."""

    matrix: tuple = ()

    def start(self):
        return ("play", 0)

    def step(self, state):
        what, arm = state
        if what == "play":
            return Step(Play(arm, 1), lambda _: ("release", arm))
        if what == "release":
            after = ("play", 1) if arm == 0 else ("keep", 0)
            return Step(Release(arm, Rows(arm, 0, 1), Laplace(Fraction(1))), lambda _: after)
        if what == "keep":
            keep = Keep((0, 1), ((0, 1), (0, 1)), lambda m: m.number(0.5), self.matrix)
            return Step(keep, lambda kept: ("end", kept[0]))
        return Step(Play(arm, 10), lambda _: state)


def test_any_signs_are_right_or_refused():
    """Against an integral over a grid of both draws; what is no difference of two is refused."""
    stream = [1.0, 0.0, 0.0]
    z = stats.laplace.ppf((np.arange(2_000) + 0.5) / 2_000)
    for matrix in [((1.0, 0.0), (0.0, 1.0)), ((2.0, -1.0), (0.5, 1.0)), ((1.0, 0.5), (0.75, 2.0))]:
        x, y = (1 + z)[:, None], z[None, :]
        (a, b), (c, d) = matrix
        apart = (a - c) * x + (b - d) * y
        share = float(np.mean(apart < -0.5))  # arm 0 goes: arm 1 is played
        weighed = Weighed(arms=2, horizon=3, matrix=matrix)
        [goes] = [p for acts, p in law(weighed, stream).probabilities.items() if acts[-1] == 1]
        assert goes.certified and goes.middle == pytest.approx(share, abs=2e-3)
    tiny, huge = ((Fraction(1, 10**400), 0), (0, 1)), ((1.0, 0.0), (0.0, 1e90))
    with pytest.raises(Unsupported, match="too large or too small"):
        law(Weighed(arms=2, horizon=3, matrix=tiny), stream)
    assert law(Weighed(arms=2, horizon=3, matrix=huge), stream).certified
    for matrix in [((1.0, 0.0), (1.0, 1.0)), ((1.0, 1.0), (0.0, 0.5)), ((0.0, 1.0), (0.0, 0.5))]:
        with pytest.raises(Unsupported, match="Weighted sums"):
            law(Weighed(arms=2, horizon=3, matrix=matrix), stream)


def test_without_noise_and_of_responses_weights_are_not_forgotten():
    """These sums add registers up as they are, and say so where they have weights."""

    @dataclass(frozen=True, kw_only=True)
    class Bare(Weighed):
        told: bool = False

        def step(self, state):
            found = super().step(state)
            request = found.request
            if isinstance(request, Release):
                bare = replace(request, noise=NoNoise())
                bit = Respond(request.register, request.rows, Fraction(3, 4), Fraction(1, 4))
                return replace(found, request=bit if self.told else bare)
            return found

    for told in (False, True):
        bare = Bare(arms=2, horizon=3, matrix=((0.0, 1.0), (1.0, 0.0)), told=told)
        with pytest.raises(Unsupported, match="weighted sums"):
            law(bare, [1.0, 0.0, 0.0])
        with pytest.raises(Unsupported, match="weighted sums"):
            worst_loss(bare, 3)


def test_a_weighed_register_that_adds_up_releases_is_refused():
    @dataclass(frozen=True, kw_only=True)
    class Adds(Weighed):
        def step(self, state):
            found = super().step(state)
            if state == ("play", 1):
                again = Accumulate(0, Rows(0, 0, 1), Laplace(Fraction(1)))
                return Step(again, lambda _: ("second", 1))
            if state[0] == "second":
                return Step(Play(1, 1), lambda _: ("release", 1))
            return found

    with pytest.raises(Unsupported, match="adds up releases"):
        law(Adds(arms=2, horizon=3, matrix=((1.0, 0.0), (0.0, 1.0))), [1.0, 0.0, 0.0])


@dataclass(frozen=True, kw_only=True)
class NoWidth(Algorithm):
    """Both arms survive an elimination of width 0 with probability 0; only then is noise small."""

    arms: int = 2
    epsilon: float = 1.0
    weights: tuple | None = None

    def start(self):
        return 0, None

    def step(self, state):
        at, rows = state
        if at in (0, 2, 5, 7):
            return Step(Play(0 if at in (0, 5) else 1, 1), lambda played: (at + 1, played))
        if at in (1, 3, 6, 8):
            noise = Laplace(Fraction(2) if at < 4 else Fraction(1, 10))
            return Step(Release(0 if at in (1, 6) else 1, rows, noise), lambda _: (at + 1, None))
        if at in (4, 9):
            keep = Keep((0, 1), ((0,), (1,)), lambda m: m.number(0), self.weights)
            both = (5, None) if at == 4 else (10, None)
            return Step(keep, lambda kept: both if len(kept) == 2 else (10 + kept[0], None))
        return Step(Play(at - 10, 1), lambda _: state)


@pytest.mark.parametrize("weights", [None, ((Fraction(2),), (Fraction(3),))])
def test_paths_that_nobody_takes_lose_nothing(weights):
    """Against every pair of binary streams, by likelihoods."""
    algorithm = NoWidth(weights=weights)
    laws = {it: law(algorithm, it).probabilities for it in product((0.0, 1.0), repeat=5)}
    most = 0.0
    for stream, place in product(laws, range(5)):
        other = (*stream[:place], 1 - stream[place], *stream[place + 1 :])
        for actions, one in laws[stream].items():
            if one.upper > 0:
                most = max(most, one.log_upper - laws[other][actions].log_lower)
    found = worst_loss(algorithm, 5).loss
    assert found.lower - 1e-9 <= most <= found.upper + 1e-9
    assert found.certified and most < 0.5
