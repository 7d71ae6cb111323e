"""Randomised response: exact charges, exact likelihoods, and no proof for what leaks."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.core.algorithm import Respond, Rows, Step, Toss
from dpaudit.core.algorithms.ldp_ucb_b import LDPUCBB
from dpaudit.core.arithmetic import FLOAT
from dpaudit.core.local import Local
from dpaudit.core.noise import Laplace
from dpaudit.core.notions import Kind, Notion
from dpaudit.core.response import UNIT, Response, exp_below, response_charge, truthful
from dpaudit.core.scores import Affine
from dpaudit.core.stream import run_stream
from dpaudit.errors import BadDeclaration, Unsupported
from dpaudit.exact import likelihood, worst_loss
from dpaudit.exact.finite import probability
from dpaudit.exact.paths import all_paths
from dpaudit.exact.profile import law
from dpaudit.structure import prove
from dpaudit.structure.prove import bound
from dpaudit.verdict import Status
from dpaudit.verify import Rejected, verify

inside = st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=10**6)


def ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


@settings(max_examples=60, deadline=None)
@given(inside, inside)
def test_a_charge_is_the_logarithm_rounded_up(one, zero):
    charge = response_charge(one, zero)
    with ctx.workprec(128):  # a charge may lie nearer to its logarithm than 53 bits tell
        logs = [abs((ball(p) / ball(q)).log()) for p, q in ((one, zero), (1 - one, 1 - zero))]
        assert all(log <= ball(charge) for log in logs) or one == zero
        assert any(ball(charge) - log <= ball(UNIT) + arb("1e-13") for log in logs)
    assert charge == response_charge(zero, one) == response_charge(1 - one, 1 - zero)


def test_an_answer_that_only_one_reward_can_give_is_charged_without_bound():
    half = Fraction(1, 2)
    assert response_charge(Fraction(1), half) == response_charge(half, Fraction(0)) == math.inf
    assert response_charge(Fraction(1), Fraction(1)) == 0


@settings(max_examples=40, deadline=None)
@given(st.fractions(Fraction(1, 10**4), 20, max_denominator=10**9))
def test_the_truthful_answer_costs_no_more_than_it_may(epsilon):
    true = truthful(epsilon)
    charge = response_charge(true, 1 - true)
    assert charge <= epsilon
    assert 0 <= float(epsilon - charge) <= 1e-12 + 1e-17 * math.exp(float(epsilon))
    with ctx.workprec(2000):
        assert ball(exp_below(epsilon)) < ball(epsilon).exp()


def by_hand(algorithm: Local, actions: tuple[int, ...], stream: Any) -> float:
    """Sum over all bits; each decision asks the rule itself, in doubles."""
    told = algorithm.law()
    total = 0.0
    for bits in product((0, 1), repeat=len(actions) - 1):
        sums, pulls = [0.0] * algorithm.arms, [0] * algorithm.arms
        weight = 1.0
        for t, arm in enumerate(actions):
            if t >= algorithm.arms:
                rule = algorithm.rule(np.array(pulls, dtype=float), float(t + 1), FLOAT)
                chosen = int(np.argmax(rule.value(np.array(sums))))
            else:
                chosen = t
            if chosen != arm:
                weight = 0.0
                break
            if t < len(bits):
                one = float(told.zero + (told.one - told.zero) * Fraction(stream[t]))
                weight *= one if bits[t] else 1 - one
                sums[arm] += bits[t]
                pulls[arm] += 1
        total += weight
    return total


@pytest.mark.parametrize("arms", [2, 3])
def test_likelihoods_are_sums_over_bits(arms):
    algorithm, stream = LDPUCBB(arms=arms, epsilon=1.5), (1.0, 0.25, 0.0, 1.0, 0.5, 1.0)
    found = law(algorithm, stream)
    assert found.certified and found.lower <= 1 <= found.upper
    for actions, value in found.probabilities.items():
        wanted = by_hand(algorithm, actions, stream)
        assert value.lower - 1e-12 <= wanted <= value.upper + 1e-12


def test_sums_of_many_streams_at_once_are_those_of_one():
    streams = [*product((0, 1), repeat=6)]
    at_once = [np.array(column, dtype=float) for column in zip(*streams, strict=True)]
    for path in all_paths(LDPUCBB(arms=2), 6):
        found = probability(path, at_once) * np.ones(len(streams))
        wanted = [probability(path, [*map(Fraction, stream)]) for stream in streams]
        assert found == pytest.approx([*map(float, wanted)], rel=1e-14)
        assert ((found == 0) == [not exactly for exactly in wanted]).all()


def test_the_largest_loss_is_that_of_binary_streams_and_none_in_between_exceeds_it():
    algorithm = LDPUCBB(arms=2, epsilon=0.8)
    found = worst_loss(algorithm, 5)
    assert found.loss.certified and found.complete and "[0,1]^T" in found.covers
    assert found.loss.upper <= 0.8 + 1e-12 and found.loss.width < 1e-12
    assert found.charge == Fraction(4, 5)
    rng = np.random.default_rng(3)
    for _ in range(40):
        stream, position = rng.random(5), int(rng.integers(5))
        other = stream.copy()
        other[position] = rng.random()
        for actions in ((0, 1, 0, 1, 0), (0, 1, 1, 0, 0)):
            pair = [likelihood(algorithm, actions, side).middle for side in (stream, other)]
            if min(pair) > 0:
                assert abs(math.log(pair[0] / pair[1])) <= found.loss.upper + 1e-9


@dataclass(frozen=True, kw_only=True)
class Told(Local):
    """UCB on any response."""

    one: Fraction = Fraction(3, 4)
    zero: Fraction = Fraction(1, 4)

    def law(self) -> Response:
        return Response(self.one, self.zero)

    def rule(self, pulls: Any, time: Any, m: Any) -> Affine:
        return Affine(m.sqrt(2 * m.log(time) / pulls), scale=1 / pulls)


@dataclass(frozen=True, kw_only=True)
class Twice(Told):
    """Asks about every reward again when the next one comes."""

    def release(self, rows: Rows) -> Respond:
        row = Rows(rows.arm, max(0, rows.first - 1), rows.first) if rows.first % 2 else rows
        return Respond(rows.arm, row, self.one, self.zero)


@pytest.fixture(scope="module")
def honest():
    """The charge of the right declaration."""
    return bound(Told(arms=2), 50)


def test_a_liar_pays_as_much_as_an_honest_respondent(honest, monkeypatch):
    liar = Told(arms=2, one=Fraction(1, 4), zero=Fraction(3, 4))
    found = bound(liar, 50)  # for both claims
    assert found.charge == honest.charge
    assert float(found.charge) == pytest.approx(math.log(3), abs=1e-11)
    monkeypatch.setattr(sys.modules[bound.__module__], "bound", lambda *given: found)
    assert prove(liar, 50, 1.0).status is Status.SILENT
    assert prove(liar, 50, 1.1).status is Status.PROVED


def test_two_responses_to_one_reward_are_charged_twice_and_refuted(honest):
    wrong = Twice(arms=2)
    assert bound(wrong, 50).charge == 2 * honest.charge
    found = worst_loss(wrong, 6, streams="binary", epsilon=1.1)
    assert found.loss.lower > 1.1 and found.witness is not None
    assert found.witness.loss.certified
    real = worst_loss(wrong, 6)
    assert real.loss.upper == math.inf and "responded to once" in real.covers


def test_a_mixture_of_responses_and_noise_is_refused():
    @dataclass(frozen=True, kw_only=True)
    class Mixed(Told):
        def release(self, rows: Rows) -> Any:
            from dpaudit.core.algorithm import Accumulate

            if rows.arm:
                return Accumulate(rows.arm, rows, Laplace(1))
            return super().release(rows)

    with pytest.raises(Unsupported, match="noise"):
        likelihood(Mixed(arms=2), (0, 1, 0, 1), (1.0, 0.0, 1.0, 1.0))
    with pytest.raises(Unsupported):
        worst_loss(Mixed(arms=2), 4)


@pytest.mark.parametrize("chance", [0.75, Fraction(5, 4), Fraction(-1, 4), 1, None])
def test_a_response_that_breaks_the_contract_is_one_line(chance):
    with pytest.raises(BadDeclaration, match="no Fraction in") as error:
        run_stream(Told(arms=2, one=chance), (1.0, 0.0, 1.0), np.random.default_rng(0))
    assert "\n" not in str(error.value)


def test_a_response_to_several_rows_is_refused():
    @dataclass(frozen=True, kw_only=True)
    class Wide(Told):
        def episode_length(self, pulls: Any) -> Any:
            return 2

    with pytest.raises(BadDeclaration, match="2 rows at once"):
        run_stream(Wide(arms=2), (1.0,) * 9, np.random.default_rng(0))


def test_a_certificate_of_responses_is_checked_anew():
    kept: list[Any] = []
    prove(LDPUCBB(arms=2), 30, 1.0, heard=kept.append)
    whole = {"dpaudit": "certificate", "schema": 2, "target": "ldp_ucb_b", "arms": 2}
    whole |= {"epsilon": "1", "charge": "1"}
    whole |= kept[0].evidence()
    verify(whole)
    release = next(state for state in whole["states"] if state[0] == "release")
    assert release[5] == "response"
    true = Fraction(release[6])
    for one in (true + Fraction(1, 10**9), Fraction(3, 4), Fraction(1), Fraction(5, 4)):
        release[6] = str(one)
        with pytest.raises(Rejected, match="a charge is wrong"):
            verify(whole)


@pytest.mark.parametrize("charge", ["-1", "-10", "-1000", "1000000"])
def test_a_response_that_pays_a_reward_back_is_no_certificate(charge):
    """A public coin with a negative charge makes room for a release that shows the reward."""
    coin = ["release", 1, 0, 0, 1, "response", "1/2", "1/2", charge, [2]]
    show = ["release", 1, 0, 0, 1, "1", "1/1000", "1000", [3]]
    whole = {"dpaudit": "certificate", "schema": 2, "target": "own.py:Own", "arms": 1}
    whole |= {"epsilon": "1", "charge": str(max(1000 + int(charge), 0)), "kind": "walk"}
    whole |= {"horizon": 2, "states": [["play", 0, 0, 1, [1]], coin, show, ["play", 1, 0, 1, []]]}
    with pytest.raises(Rejected, match="a charge is negative, or too large"):
        verify(whole)


def test_a_response_to_several_rows_is_no_certificate():
    coin = ["release", 2, 0, 0, 2, "response", "1/2", "1/2", "0", [2]]
    whole = {"dpaudit": "certificate", "schema": 2, "target": "own.py:Own", "arms": 1}
    whole |= {"epsilon": "1", "charge": "0", "kind": "walk", "horizon": 9}
    whole |= {"states": [["play", 0, 0, 2, [1]], coin, ["play", 2, 0, 9, []]]}
    with pytest.raises(Rejected, match="a response to several rows"):
        verify(whole)
    coin[4] = 1
    assert verify(whole).worst == 0


def test_a_local_algorithm_claims_local_privacy():
    assert LDPUCBB(arms=2, epsilon=0.5).claim.notion == Notion(Kind.LOCAL, 0.5)


@dataclass(frozen=True, kw_only=True)
class Rare(Told):
    """A coin that hardly ever shows its second side comes first."""

    chance: Fraction = Fraction(1, 10**320)

    def start(self) -> Any:
        return None

    def step(self, state: Any) -> Any:
        if state is None:
            both = (1 - self.chance, self.chance)
            return Step(Toss(both), lambda side: super(Rare, self).start())
        return super().step(state)


def test_a_coin_too_rare_for_doubles_is_refused_and_not_taken_for_impossible():
    with pytest.raises(Unsupported, match="too small for doubles"):
        worst_loss(Rare(arms=2), 4)
