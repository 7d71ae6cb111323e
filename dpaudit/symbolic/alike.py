"""Merged states go on alike: some merges are followed on both sides, and must not differ.

Equal keys say that two states cannot differ in what they will do. Here that is tried: both are
run on with the same outcomes of their branches for some rounds, and arms, branches, laws of draws,
coins and keys must stay the same. It covers the merges that it takes and the paths that it follows,
a share that is thinned out as they become many.
"""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import TYPE_CHECKING

from dpaudit.errors import DpauditError
from dpaudit.symbolic.ledger import Fixed
from dpaudit.symbolic.run import Run

if TYPE_CHECKING:
    from dpaudit.symbolic.states import State
    from dpaudit.symbolic.walk import SymbolicWalk

ALL = 16  # merges that are all taken; later ever fewer
SEGMENTS = 16  # that are followed from each
SHARE, START = 0.1, 0.2  # of the walk's time, and seconds before that counts
OUTCOMES = 64  # branches of a segment whose outcome is drawn


class Unlike(DpauditError):
    """Two states that were merged go on in different ways: a bug in dpaudit."""


class Doubts:
    """Which merges of a walk are tried, and how."""

    def __init__(self) -> None:
        self.merges = 0
        self.spent, self.start = 0.0, math.nan
        self.rng = random.Random(19)

    def met(self, walk: SymbolicWalk, one: State, two: State) -> None:
        """Try a merge, if it is its turn and there is time."""
        now = walk.clock()
        self.merges += 1
        self.start = now if self.merges == 1 else self.start
        if self.merges % max(1, self.merges // ALL):
            return
        if self.spent > START + SHARE * (now - self.start):
            return
        self._follow(walk, one, two)
        self.spent += walk.clock() - now

    def _follow(self, walk: SymbolicWalk, one: State, two: State) -> None:
        """Run both states on, and raise if they differ."""
        follower = replace(walk, heard=None)
        follower.doubts = None
        for _ in range(SEGMENTS):
            if one.time >= walk.horizon:
                return
            prefix = tuple(self.rng.randrange(10**6) for _ in range(OUTCOMES))
            leaves = [follower.segment(state, state.time, prefix) for state in (one, two)]
            if leaves[0].arms != leaves[1].arms or len({_told(leaf.run) for leaf in leaves}) > 1:
                raise _unlike(one, leaves[0].run)
            if any(leaf.run.unmatched for leaf in leaves):
                return  # their keys differ by design: what comes after is never merged
            at = one.time + len(leaves[0].arms)
            after = [
                follower.settled(state, leaf, at, Fixed())
                for state, leaf in zip((one, two), leaves, strict=True)
            ]
            if after[0] is None or after[1] is None:
                return  # a charge is too large: it is that of the walk to say
            if after[0].key != after[1].key:
                raise _unlike(one, leaves[0].run)
            one, two = after[0], after[1]


def _told(run: Run) -> object:
    """Return what a segment did, without names: branches, draws, coins, how much it depends on."""
    drawn = [(law.kind, law.scale) for name, law in sorted(run.laws.items()) if name > run.first]
    coins = [coin.charge for coin in run.coins]
    return tuple(run.trace), tuple(drawn), tuple(coins), len(run.forms)


def _unlike(state: State, run: Run) -> Unlike:
    where = f" at {run.forms[-1].place}" if run.forms else ""
    return Unlike(
        f"two states of round {state.time} that were taken for one go on in different ways{where}"
    )
