"""The model checker: every public state that a declaration can reach up to the horizon.

A node is (public state, pull counts, charges of every row). The walk follows every answer that a
choice can get, remembers nodes by a key that holds all three, and so meets every path up to nodes
that behave alike. Charges are part of the key, as runs of equal charge: an algorithm may release
old rows again. Where every row of an arm is released once, as in doubling episodes, the runs are a
function of the pull counts and few, so the number of nodes is the number of public states.

A step is a pure function of the state in this model. The walk calls every step again after it has
ended, in reverse order, and distrusts a declaration that answers differently.
"""

from __future__ import annotations

import heapq
import math
import time
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.core.algorithm import (
    Accumulate,
    Algorithm,
    Choose,
    Keep,
    Play,
    Release,
    Rows,
    State,
    Step,
)
from dpaudit.core.arithmetic import FLOAT
from dpaudit.core.scores import BetaDraw, Imed, Score
from dpaudit.exact.paths import outcomes
from dpaudit.structure.canonical import Distrust, canonical, parameters
from dpaudit.structure.ledger import Row, Runs, add, charge_of

TRUSTED_WINNERS = (Score.winner, Imed.winner, BetaDraw.winner)
EXERCISED = 200


class OutOfBudget(Exception):
    """The walk met its limit before it had covered every transcript."""


@dataclass(frozen=True)
class Node:
    """A public state, the pull counts, and what every row has been charged on the way."""

    state: State
    pulls: tuple[int, ...]
    charges: tuple[Runs, ...]


@dataclass
class Walk:
    """A walk that can be continued: `run` raises `OutOfBudget` and keeps what it has covered."""

    algorithm: Algorithm
    horizon: int
    worst: Row = Row(Fraction(0), 0, 0)
    seen: dict[Any, tuple[Node, Any]] = field(default_factory=dict)
    pending: list[tuple[int, int, Node]] = field(default_factory=list)
    pushed: int = 0
    exercised: int = 0

    def __post_init__(self) -> None:
        self.parameters = parameters(self.algorithm)
        arms = self.algorithm.arms
        self.push(Node(self.algorithm.start(), (0,) * arms, ((),) * arms))

    def push(self, node: Node) -> None:
        """Queue a node: earliest time first, so that an unfinished walk covers all short runs."""
        self.pushed += 1
        heapq.heappush(self.pending, (sum(node.pulls), self.pushed, node))

    def run(self, states: float, deadline: float) -> None:
        """Visit every reachable node, then every node again; return only if all were covered."""
        while self.pending:
            node = self.pending[0][2]
            key = (canonical(node.state), node.pulls, node.charges)
            if key not in self.seen:
                visited = len(self.seen)
                if visited >= states or (visited % 64 == 0 and time.monotonic() > deadline):
                    raise OutOfBudget
                shown, after = self.visit(node)
                self.seen[key] = node, shown
            else:
                after = []
            if self.worst.charge == math.inf:
                raise OutOfBudget
            heapq.heappop(self.pending)
            for follower in after:
                self.push(follower)
        self.visit_again(deadline)

    def visit(self, node: Node) -> tuple[Any, list[Node]]:
        """Return what the step shows (as a key) and the nodes that can follow."""
        step = self.step(node.state)
        request, pulls = step.request, node.pulls
        match request:
            case Play(arm, rounds):
                played = sum(pulls) + rounds
                if played >= self.horizon:
                    return (Play, arm, rounds), []
                rows = Rows(arm, pulls[arm], pulls[arm] + rounds)
                pulls = (*pulls[:arm], rows.stop, *pulls[arm + 1 :])
                after = [Node(self.follow(step, rows), pulls, node.charges)]
                shown: Any = (Play, arm, rounds)
            case Release() | Accumulate():
                rows, charge = charge_of(request, pulls)
                charges = node.charges
                if len(rows):
                    runs, largest, row = add(charges[rows.arm], rows, charge)
                    charges = (*charges[: rows.arm], runs, *charges[rows.arm + 1 :])
                    self.pay(Row(largest, rows.arm, row))
                after = [Node(self.follow(step, None), pulls, charges)]
                shown = (type(request), canonical(request.register), canonical(rows), charge)
            case Choose() | Keep():
                answers = list(outcomes(request))
                after = [Node(self.follow(step, it), pulls, node.charges) for it in answers]
                shown = (type(request), canonical(request.arms), canonical(request.registers))
        return (shown, *(canonical(follower.state) for follower in after)), after

    def step(self, state: State) -> Step:
        """Return the step of a state, once it is one that the proof speaks of."""
        try:
            step = self.algorithm.step(state)
        except Exception as error:
            raise Distrust(f"step raised {type(error).__name__} ({error}) at {state!r}") from error
        if type(step) is not Step:
            raise Distrust(f"step returned a {type(step).__name__}, not a Step")
        request, arms = step.request, self.algorithm.arms
        match request:
            case Play(arm, rounds) if type(request) is Play:
                if type(arm) is not int or not 0 <= arm < arms:
                    raise Distrust(f"it plays arm {arm!r} of {arms}")
                if type(rounds) is not int or rounds < 1:
                    raise Distrust(f"it plays {rounds!r} rounds")
            case Release() | Accumulate():
                pass
            case Choose() | Keep() if type(request) in (Choose, Keep):
                self.judge(request)
            case _:
                raise Distrust(f"{type(request).__name__} is not a request that the ledger knows")
        return step

    def judge(self, request: Choose | Keep) -> None:
        """Distrust a choice among other things than arms, or a rule that may touch the noise."""
        known = set(range(self.algorithm.arms))
        if not request.arms or len(set(request.arms)) != len(request.arms):
            raise Distrust(f"it chooses among {request.arms!r}")
        if not set(request.arms) <= known or len(request.registers) != len(request.arms):
            raise Distrust(f"it chooses among {request.arms!r} by {len(request.registers)} scores")
        try:
            if isinstance(request, Keep):
                # Within a negative or undefined width of the best lies not even the best.
                if not request.width(FLOAT) >= 0:
                    raise Distrust("it keeps arms within a width that is not at least 0")
                return
            rule = request.rule(FLOAT)
            trusted = type(rule).winner in TRUSTED_WINNERS and "winner" not in vars(rule)
            if trusted and self.exercised < EXERCISED:
                self.exercised += 1
                # A rule that left a trace of the registers for later steps would show when every
                # step is called again.
                rng = np.random.default_rng(self.exercised)
                rule.winner(rng.uniform(0.0, 1.0, len(request.arms)), rng)
        except Distrust:
            raise
        except Exception as error:
            raise Distrust(f"its rule raised {type(error).__name__} ({error})") from error
        if not trusted:
            raise Distrust(
                f"the rule {type(rule).__name__} brings its own winner(), which holds the generator"
                " of the noise; a Score is trusted"
            )

    def follow(self, step: Step, answer: Any) -> State:
        """Return the state after an answer."""
        try:
            return step.then(answer)
        except Exception as error:
            raise Distrust(f"then raised {type(error).__name__} ({error})") from error

    def pay(self, row: Row) -> None:
        """Keep the row that is charged most."""
        if row.charge > self.worst.charge:
            self.worst = row

    def visit_again(self, deadline: float) -> None:
        """Distrust a declaration whose steps or parameters have changed since the first visit."""
        for number, (node, shown) in enumerate(reversed(self.seen.values())):
            if number % 64 == 0 and time.monotonic() > deadline:
                raise OutOfBudget
            if self.visit(node)[0] != shown:
                raise Distrust(f"step answered differently when called again at {node.state!r}")
        if parameters(self.algorithm) != self.parameters:
            raise Distrust("the algorithm's parameters changed while it was walked")

    @property
    def covered(self) -> int:
        """The longest horizon whose every transcript has been walked."""
        return self.pending[0][0] if self.pending else self.horizon
