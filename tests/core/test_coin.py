"""A public coin: free, exact, and nothing that a register can get into."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from charted import runs_of

from dpaudit.core.algorithm import Toss
from dpaudit.core.algorithms.dp_greedy import DPGreedy
from dpaudit.core.episodes import DoublingEpisodes
from dpaudit.core.scores import Affine, Rule
from dpaudit.core.stream import run_stream, side_edges, tossed
from dpaudit.errors import BadDeclaration
from dpaudit.exact import likelihood, worst_loss
from dpaudit.exact.profile import law
from dpaudit.sample.lockstep import run_many
from dpaudit.sample.streams import Stream
from dpaudit.structure import prove
from dpaudit.structure.prove import bound
from dpaudit.verdict import Status
from dpaudit.verify import Rejected, verify

STREAM = (1.0, 0.0, 1.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class Plain(DoublingEpisodes):
    """The same rule, never overruled."""

    def rule(self, pulls: Any, time: Any, m: Any) -> Affine:
        return Affine(m.number(0))


@dataclass(frozen=True, kw_only=True)
class Coined(Plain):
    chances: Any = ()

    def explored(self, pulls: tuple[int, ...]) -> Any:
        return self.chances


@pytest.mark.parametrize(
    "chances",
    [(0.25,), (Fraction(3, 2),), (Fraction(-1, 2),), (True,), (Fraction(1, 2),) * 3],
    ids=["a double", "above 1", "negative", "a bool", "more sides than arms"],
)
def test_a_coin_that_breaks_the_contract_is_one_line(chances):
    with pytest.raises(BadDeclaration, match="coin|arm") as error:
        for seed in range(40):
            run_stream(Coined(arms=2, chances=chances), STREAM, np.random.default_rng(seed))
    assert "\n" not in str(error.value)


def test_a_side_without_a_chance_never_comes_up():
    class Uniform:
        value = 0.0

        def random(self):
            return self.value

    rng = Uniform()
    for rng.value, side in ((0.0, 1), (0.49, 1), (0.5, 3), (math.nextafter(1, 0), 3)):
        assert tossed(Toss((0, Fraction(1, 2), 0, Fraction(1, 2), 0)), rng) == side
    assert side_edges((Fraction(1, 3), Fraction(2, 3))).tolist() == [1 / 3, 1.0]


def test_a_likelihood_is_the_mixture_over_the_coin():
    chances = Fraction(1, 5), Fraction(3, 10)
    for actions, chance in (((0, 1, 0), chances[0]), ((0, 1, 1), chances[1])):
        ruled = likelihood(Plain(arms=2), actions, STREAM[:3])
        mixed = likelihood(Coined(arms=2, chances=chances), actions, STREAM[:3])
        assert mixed.certified
        wanted = float(chance) + 0.5 * ruled.middle
        assert mixed.lower <= wanted + 1e-12 and mixed.upper >= wanted - 1e-12
        assert mixed.upper - mixed.lower < 1e-9


def test_likelihoods_of_mixtures_add_up_and_match_runs():
    algorithm = DPGreedy(arms=2, epsilon=2.0)
    found = law(algorithm, STREAM)
    assert found.certified and found.lower <= 1 <= found.upper
    rng, runs = np.random.default_rng(5), 4000
    counts = Counter(tuple(it.actions.tolist()) for it in runs_of(algorithm, STREAM, runs, rng))
    for actions, value in found.probabilities.items():
        # Hoeffding: a share of 4000 runs is off by 0.05 with probability below 2 exp(-20)
        assert abs(counts[actions] / runs - value.middle) < 0.05


def test_coins_cost_nothing_and_the_proof_looks_at_every_side():
    for arms in (2, 5):
        greedy, plain = DPGreedy(arms=arms), Plain(arms=arms)
        assert bound(greedy, 10**6).charge == bound(plain, 10**6).charge == 1


@dataclass(frozen=True, kw_only=True)
class LateFlaw(DPGreedy):
    """Only an arm that the coin has explored twice is released with half the noise."""

    def explored(self, pulls: tuple[int, ...]) -> tuple[Fraction, ...]:
        return (Fraction(0), Fraction(1, 1000)) if pulls[1] < 4 else ()

    def rule(self, pulls: Any, time: Any, m: Any) -> Affine:
        return Affine(m.number(np.array([10**6, 0])))

    def released_length(self, pulls: int) -> Fraction:
        return Fraction(pulls, 2) if pulls != 4 else Fraction(pulls)


def test_a_flaw_behind_an_unlikely_side_is_not_proved():
    assert bound(LateFlaw(arms=2), 1000).charge == 2


def test_the_largest_loss_mixes_the_paths_of_an_action_sequence():
    found = worst_loss(DPGreedy(arms=2), 5, streams="binary")
    plain = worst_loss(Plain(arms=2), 5, streams="binary")
    assert "public coin" in found.covers and found.complete
    assert 0.05 < found.loss.upper < plain.loss.lower < 1
    assert found.witness is not None
    pair = (found.witness.stream, found.witness.neighbour)
    first, second = (
        likelihood(DPGreedy(arms=2), found.witness.actions, side).middle for side in pair
    )
    assert abs(math.log(first / second)) == pytest.approx(found.loss.lower, abs=1e-4)


def test_a_certificate_names_the_coin_and_a_forged_one_is_rejected():
    kept: list[Any] = []
    prove(DPGreedy(arms=2), 40, heard=kept.append)
    evidence = kept[0].evidence()
    whole = {"dpaudit": "certificate", "schema": 2, "target": "mine", "arms": 2}
    whole |= {"epsilon": "1", "charge": "1"}
    whole |= evidence
    verify(whole)
    coin = next(state for state in evidence["states"] if state[0] == "toss")
    right = coin[2]
    for wrong in (["1/2", "1/2"], ["0", *right[1:]], ["-1", "1", "1"]):
        coin[2] = wrong
        with pytest.raises(Rejected):
            verify(whole)
    coin[2] = right
    coin[3] = coin[3][:-1]
    with pytest.raises(Rejected, match="an answer is missing"):
        verify(whole)


@dataclass(frozen=True)
class Drawing(Rule):
    """Epsilon-greedy by hand: it draws from the generator that it is given."""

    def winner(self, x: Any, rng: Any) -> Any:
        return rng.integers(len(x)) if rng.random() < 0.1 else np.argmax(x)


@dataclass(frozen=True, kw_only=True)
class ByHand(DoublingEpisodes):
    def rule(self, pulls: Any, time: Any, m: Any) -> Rule:
        return Drawing()


def test_a_rule_that_draws_is_refused_with_the_way_out():
    found = prove(ByHand(arms=2), 1000)
    assert found.status is Status.SILENT and "a random choice is a Toss" in found.reason


@dataclass(frozen=True, kw_only=True)
class Peeking(Plain):
    """Takes what a release answers for a register and tosses a coin of that chance."""

    def step(self, state: Any) -> Any:
        if isinstance(state, tuple) and state and state[0] == "told":
            return Toss((state[1], 1 - state[1]))
        step = super().step(state)
        if type(step.request).__name__ == "Release":
            return type(step)(step.request, lambda answer: ("told", answer))
        return step


def test_a_coin_whose_chance_reads_a_register_cannot_be_written():
    # a release answers nothing, so there is nothing that a state or a coin could hold
    with pytest.raises(BadDeclaration, match="step raised TypeError"):
        run_stream(Peeking(arms=2), STREAM, np.random.default_rng(0))
    with pytest.raises(BadDeclaration, match="step raised TypeError"):
        prove(Peeking(arms=2), 100)


@dataclass(frozen=True, kw_only=True)
class Due(Plain):
    """An arm with too few pulls goes first, and a coin explores while the counts are low."""

    def due(self, pulls: tuple[int, ...]) -> int | None:
        return next((arm for arm, n in enumerate(pulls) if 4 * n < sum(pulls) // 2), None)

    def explored(self, pulls: tuple[int, ...]) -> tuple[Fraction, ...]:
        return (Fraction(1, 3), Fraction(1, 3)) if sum(pulls) % 3 == 0 else ()


@pytest.mark.parametrize("arms", [2, 3])
def test_runs_in_lockstep_play_what_is_due_and_toss_as_one_run_does(arms):
    played = set()
    for seed in range(30):
        stream = np.random.default_rng(seed).random(80).round()
        rng = np.random.default_rng(seed)
        wanted = run_stream(Due(arms=arms), stream, rng).actions.tolist()
        rng = np.random.default_rng(seed)
        found = run_many(Due(arms=arms), Stream.of(stream), 1, rng)
        assert found.actions(0).tolist() == wanted
        played.add(tuple(wanted))
    assert len(played) > 5
