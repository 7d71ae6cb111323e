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
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
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
    Respond,
    Stop,
    Toss,
)
from dpaudit.core.blind import looking
from dpaudit.core.canonical import Distrust, canonical, parameters
from dpaudit.core.notions import PURE, Tariff
from dpaudit.core.scores import RULES, winner_is_known
from dpaudit.core.walk import FOREIGN, Place, advised, begin, outcomes, shortened
from dpaudit.structure.ledger import Row, Runs, add, charge_of, heaviest

EXERCISED = 200  # decisions by rules of dpaudit
EXERCISES = 4  # of every rule of one's own


class OutOfBudget(Exception):
    """The walk met its limit before it had covered every transcript."""


@dataclass(frozen=True)
class Node:
    """A place, and what every row has been charged on the way."""

    place: Place
    charges: tuple[Runs, ...]

    @property
    def key(self) -> Any:
        """All that the walk from here on depends on, as plain data."""
        place = self.place
        return canonical(place.state), place.pulls, self.charges, place.written, place.idle


@dataclass
class Walk:
    """A walk that can be continued: `run` raises `OutOfBudget` and keeps what it has covered."""

    algorithm: Algorithm
    horizon: int
    tariff: Tariff = PURE
    worst: Row = Row(Fraction(0), 0, 0)
    seen: dict[Any, tuple[Node, Any]] = field(default_factory=dict)
    pending: list[tuple[int, int, Node]] = field(default_factory=list)
    pushed: int = 0
    exercised: int = 0
    deadline: float = math.inf

    def __post_init__(self) -> None:
        if said := looking(type(self.algorithm)):
            raise Distrust(said)
        self.parameters = parameters(self.algorithm)
        self.push(Node(begin(self.algorithm), ((),) * self.algorithm.arms))

    def push(self, node: Node) -> None:
        """Queue a node: earliest time first, so that an unfinished walk covers all short runs."""
        self.pushed += 1
        heapq.heappush(self.pending, (node.place.time, self.pushed, node))

    def run(self, states: float, deadline: float) -> None:
        """Visit every reachable node; return only if all were covered."""
        self.deadline = deadline
        while self.pending:
            node = self.pending[0][2]
            key = node.key
            if key not in self.seen:
                visited = len(self.seen)
                if visited >= states or time.monotonic() > deadline:
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

    def visit(self, node: Node) -> tuple[Any, list[Node]]:
        """Return what the step shows (as a key) and the nodes that can follow."""
        # a fresh place: the declaration is asked again, whatever it answered before
        place, charges = replace(node.place), node.charges
        request = place.request
        match request:
            case Play(arm, rounds):
                shown: Any = (Play, arm, rounds)
                over = place.time + rounds >= self.horizon
                answers: Iterable[Any] = [] if over else [place.rows(self.horizon)]
            case Release() | Accumulate() | Respond():
                charge, rows = charge_of(request, self.tariff), request.rows
                runs, largest, row = add(charges[rows.arm], rows, charge)
                charges = (*charges[: rows.arm], runs, *charges[rows.arm + 1 :])
                unit = self.tariff.unit
                self.pay(Row(largest, rows.arm, row) if unit == 1 else heaviest(charges, unit))
                shown = (type(request), canonical(request.register), canonical(rows), charge)
                answers = [None]
            case Choose() | Keep():
                self.judge(place)
                shown = (type(request), canonical(request.arms), canonical(request.registers))
                if isinstance(request, Keep):
                    shown += (canonical(request.weights),)
                answers = outcomes(request)  # 2^arms of them for a Keep
            case Toss(chances):
                # independent of the rewards, so it charges nothing, whatever side comes up
                shown, answers = (Toss, canonical(chances)), outcomes(request)
            case Stop(arm):
                shown, answers = (Stop, arm), []  # a function of the answers before it
        after = []
        for number, answer in enumerate(answers):
            if number % 1024 == 1023 and time.monotonic() > self.deadline:
                raise OutOfBudget
            after.append(Node(place.after(answer), charges))
        return (shown, *(canonical(follower.place.state) for follower in after)), after

    def judge(self, place: Place) -> None:
        """Distrust a rule that may touch the noise; a breach of the contract raises by itself."""
        if isinstance(place.request, Keep):
            _ = place.width
            return
        require_trusted(place)
        own = type(place.rule) not in RULES
        if own or self.exercised < EXERCISED:
            # A rule of one's own that left a trace of the registers for later steps would show
            # when every step is called again. Registers have no bounds.
            self.exercised += 1
            rng = np.random.default_rng(self.exercised)
            times = EXERCISES if own else 1
            shape = (times, len(place.request.arms))  # type: ignore[union-attr]
            registers = rng.standard_cauchy(shape) * 10.0 ** rng.integers(-2, 7, (times, 1))
            try:
                for x in (*registers, *rng.uniform(0.0, 1.0, shape)):
                    place.rule.winner(x, rng)
            except FOREIGN as error:
                place.breach("its rule", f"raised {advised(error)}")

    def pay(self, row: Row) -> None:
        """Keep the row that is charged most."""
        if row.charge > self.worst.charge:
            self.worst = row

    def visit_again(self, deadline: float) -> None:
        """Distrust a declaration whose steps or parameters have changed since the first visit."""
        self.deadline = deadline
        for node, shown in reversed(self.seen.values()):
            if time.monotonic() > deadline:
                raise OutOfBudget
            if self.visit(node)[0] != shown:
                raise Distrust(
                    f"step answered differently when called again at {shortened(node.place.state)}"
                )
        if parameters(self.algorithm) != self.parameters:
            raise Distrust("the algorithm's parameters changed while it was walked")

    @property
    def covered(self) -> int:
        """The longest horizon whose every transcript has been walked."""
        return self.pending[0][0] if self.pending else self.horizon


def require_trusted(place: Place) -> None:
    """Distrust a choice whose rule brings its own `winner`."""
    if not winner_is_known(place.rule):
        raise Distrust(
            f"the rule {type(place.rule).__name__} brings its own winner(), which holds the "
            "generator of the noise; a Score is trusted, and a random choice is a Toss"
        )
