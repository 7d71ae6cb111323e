"""Whatever a search does with its bettors, a bet is fixed before the block that it is placed on."""

import math
from unittest.mock import patch

import numpy as np
import pytest
from scipy.optimize import linprog

from dpaudit.core.algorithms import load
from dpaudit.sample import block, progress
from dpaudit.sample.audit import audit
from dpaudit.sample.bets import Wealth
from dpaudit.sample.boxes import DeclaredBox
from dpaudit.sample.plan import AuditPlan
from dpaudit.sample.runs import Runs
from dpaudit.sample.streams import candidates

EPSILON = 0.7


class Echo:
    """Step 2 plays the first reward by randomised response, exactly epsilon-tight; then coins."""

    arms, horizon = 2, 6

    def identity(self):
        return {"policy": "echo and coins"}

    def run(self, stream, runs, seed):
        rng = np.random.default_rng(seed)
        actions = rng.integers(0, 2, (runs, self.horizon))
        flipped = rng.random(runs) < 1 / (1 + math.exp(EPSILON))
        actions[:, 0], actions[:, 1] = 0, (stream.at(0) >= 0.5) ^ flipped
        return Runs.of_actions(actions)


def searching():
    """A search among many pairs, most of which tell nothing: its best bettors are lucky ones."""
    pairs = tuple(candidates(2, Echo.horizon, [3, 2]))
    return AuditPlan(Echo(), EPSILON, 0.05, 3000, 0, pairs)


def foreseeing():
    box = DeclaredBox(load("adap_klucb", arms=2, epsilon=EPSILON, alpha=1.0), 6)
    return AuditPlan(box, EPSILON, 0.05, 1000, 0, tuple(candidates(2, 6, [3, 2])[4:7]))


PLANS = [
    pytest.param(searching(), id="tables"),
    pytest.param(foreseeing(), id="foreseen", marks=pytest.mark.slow),
]


class Recorded(Wealth):
    """Wealth that writes down what is bet on the first piece of every block."""

    placed: list = []

    def update(self, prospect, pieces, left):
        if prospect is None:
            self.placed.append((None, b""))
        else:
            bets = self._placed(prospect, left)
            at = np.flatnonzero(prospect.alive == self.claim)
            rows = (*bets[:2], prospect.log_weights)
            words = b"".join(np.ascontiguousarray(row).tobytes() for row in rows)
            self.placed.append(((bets.stream[at], bets.neighbour[at]), words))
        super().update(prospect, pieces, left)


class Peeking(Recorded):
    """A broken one: it has seen the block."""

    def prospect(self, counts, *rest):
        self.asked = counts, rest
        return super().prospect(counts, *rest)

    def update(self, prospect, pieces, left):
        if prospect is not None and self.asked[0].shape == pieces[0].shape:
            counts, rest = self.asked
            prospect = super().prospect(counts + 20 * pieces.sum(axis=0), *rest)
        super().update(prospect, pieces, left)


def placed(plan, kind, changed):
    """Return what is bet, block by block; from block `changed` on, other runs are drawn."""
    blocks = []

    def other(box, pair, parted, rounds, key, seed, *rest):
        blocks.append((pair.name, rounds, tuple(parted)))
        late = 1000 if len(blocks) > changed else 0
        return block.judge(box, pair, parted, rounds, key, seed + late, *rest)

    with (
        patch.object(kind, "placed", []),
        patch.object(progress, "judge", other),
        patch.object(progress, "Wealth", kind),
        patch("dpaudit.sample.independence.Independence.confirm", lambda self, pairs: ""),
        patch("dpaudit.sample.boxes._rests_on", lambda text, source: {}),
    ):
        audit(plan)
        return [(where, words) for where, (_, words) in zip(blocks, kind.placed, strict=False)], [
            bets for bets, _ in kind.placed if bets is not None and len(bets[0])
        ]


@pytest.mark.parametrize("plan", PLANS)
def test_a_bet_is_the_same_whatever_comes_of_its_block(plan):
    """The pair, the bettors, their doubt, weights and stakes: all of it is known before."""
    usual, _ = placed(plan, Recorded, math.inf)
    broken, _ = placed(plan, Peeking, math.inf)
    mattered = 0
    for number in np.unique(np.linspace(len(usual) // 3, len(usual) - 2, 2).astype(int)).tolist():
        other, _ = placed(plan, Recorded, number)
        assert other[: number + 1] == usual[: number + 1]
        mattered += other[number + 1 :] != usual[number + 1 :]
    last = len(broken) - 1  # it is rich before long
    assert mattered and placed(plan, Peeking, last)[0][: last + 1] != broken


@pytest.mark.parametrize("plan", PLANS)
def test_no_bet_of_a_search_gains_from_any_private_target(plan):
    """E f(X) + E g(Y) over all P <= c Q, Q <= c P, by linear programs; 2 is what it may be."""
    _, bets = placed(plan, Recorded, math.inf)
    ratio, most = math.exp(EPSILON), 0.0
    for f, g in bets[:: max(1, len(bets) // 12)]:
        for own, other in zip(f[0], g[0], strict=True):
            one, none = np.eye(len(own)), np.zeros(len(own))
            found = linprog(
                -np.concatenate((own, other)),
                A_ub=np.block([[one, -ratio * one], [-ratio * one, one]]),
                b_ub=np.zeros(2 * len(own)),
                A_eq=[np.concatenate((none + 1, none)), np.concatenate((none, none + 1))],
                b_eq=[1.0, 1.0],
            )
            most = max(most, -found.fun)
    assert len(bets) > 3 and 2 - 1e-6 < most <= 2 + 1e-9
