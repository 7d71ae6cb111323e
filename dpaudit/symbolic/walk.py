"""The walk: every path of the code, by rounds, with equal states merged.

A state is a settled copy of the policy's data with the ledger's live part. From it the code runs on
until a round branches; that round is made once per outcome, from the last copy. Its leaves are
settled and put into the layer of their round, where equal ones meet and keep the larger charges.
The walk ends at the horizon, at the first charge above epsilon, or when its time is over: then
everything up to the earliest layer that is left has been covered.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from inspect import signature
from typing import Any

from dpaudit.symbolic.alike import Doubts
from dpaudit.symbolic.arrays import array
from dpaudit.symbolic.chance import Source
from dpaudit.symbolic.doubles import REWARD, DrawTally, Found, looked_at
from dpaudit.symbolic.drivers import STYLES, Driver, actions_of
from dpaudit.symbolic.joining import Leaf, joined
from dpaudit.symbolic.ledger import Failure, Fixed, Ledger
from dpaudit.symbolic.roots import Roots
from dpaudit.symbolic.run import NOWHERE, UNIT, WHOLE, CodeLine, Escape, Exact, Run, active
from dpaudit.symbolic.snapshot import Copier
from dpaudit.symbolic.states import State as State
from dpaudit.symbolic.states import forget, key_of, path_of, replaced_values, twins
from dpaudit.symbolic.values import Linear, Tracked

MOST_LEAVES = 4000  # of one round of one state
SEGMENT = 16  # rounds without a branch until the next copy
DRIVERS = {driver.name: driver for driver in STYLES}
SLACK = Fraction(1, 10**13)


@dataclass(frozen=True)
class Subject:
    """The loaded code: how to build the policy, how to call it, and what belongs to it."""

    build: Callable[[], Any]
    driver: Callable[[Any], Driver | None]
    arms: int
    files: frozenset[str]
    roots: Roots
    reached: set[int] = field(default_factory=set)
    """The blocks of the code that were followed, by the numbers of their probes."""
    compiled: bool = False

    def copier(self, replace: dict[int, Tracked] | None = None, **how: Any) -> Copier:
        """Return a copier that knows the judged code's own classes."""
        return Copier(self.roots, replace, **how)

    def unchanged(self) -> None:
        """Raise if something at module level has changed."""
        if name := self.roots.changed():
            raise Escape(
                f"{name} changes while the policy runs", "keep state in the policy object itself"
            )


@dataclass
class WalkOutcome:
    """What a walk has found."""

    horizon: int
    """Rounds that every path has been followed for."""
    charge: Fraction = Fraction(0)
    stretches: int = 0
    """Parts of paths between states, one decision or a few long; equal states are merged."""
    rounds: int = 0
    failure: Failure | None = None
    path: tuple[int, ...] = ()
    releases: dict[CodeLine, str] = field(default_factory=dict)
    kinds: set[str] = field(default_factory=set)
    """The laws of all that was drawn."""
    rounded: bool = False
    """Whether rewards have met arithmetic of doubles."""
    late: bool = False
    joined: bool = False
    """Whether branches on raw rewards were joined again."""
    whole: bool = False
    """Whether the code is a function of the whole stream, followed path by path."""
    reached: frozenset[int] = frozenset()
    """The blocks of the code that were followed."""
    files: frozenset[str] = frozenset()
    """The files that were read."""
    pace: list[tuple[int, float]] = field(default_factory=list)
    """When so many rounds of every path had been followed."""


@dataclass(frozen=True)
class Move:
    """One leaf of a state, for a certificate: what happened, what was fixed, where it leads."""

    before: State | None
    after: State
    """Its own state; `into` is the equal one that was there before, if there was."""
    into: State
    run: Run
    fixed: Fixed
    rounds: int


@dataclass
class SymbolicWalk:
    """One exploration of a subject."""

    subject: Subject
    horizon: int
    epsilon: Fraction
    deadline: float
    apart: bool = True
    merging: bool = True
    joining: bool = True
    heard: Callable[[Move], None] | None = None
    rewards: tuple[Exact, Exact] = UNIT
    clock: Callable[[], float] = time.monotonic
    doubles: Found | None = None
    """What is to be found of the program in doubles, if that is asked."""
    far: Callable[[int], Any] = lambda at: None
    """Who is told how many rounds have been followed."""

    def __post_init__(self) -> None:
        self.doubts: Doubts | None = Doubts() if self.doubles is None else None
        self.most = self.epsilon * (1 + SLACK)
        self.layers: dict[int, dict[Any, State]] = {}
        self.times: list[int] = []
        self.found = WalkOutcome(0)

    def explore(self) -> WalkOutcome:
        """Walk, and return what was found."""
        self._explore()
        self.found.reached = frozenset(self.subject.reached)
        self.found.files = self.subject.files
        return self.found

    def _explore(self) -> None:
        self._leaves(None, 0)
        while self.times and self.found.failure is None:
            at = self.times[0]
            self.found.horizon = at
            self.found.pace.append((at, self.clock()))
            self.far(at)
            if at >= self.horizon:
                break
            layer = self.layers[at]
            while layer and self.found.failure is None:
                if self.clock() > self.deadline:
                    self.found.late = True
                    return
                _, state = layer.popitem()
                self._leaves(state, at)
                if self.found.late:
                    return
            heapq.heappop(self.times)
            self.layers.pop(at, None)

    # -- one state --------------------------------------------------------------------------------

    def _leaves(self, state: State | None, at: int) -> None:
        """Follow every outcome of the next branching round."""
        pending: list[tuple[int, ...]] = [()]
        waiting: list[Leaf] = []
        leaves = 0
        try:
            while pending and self.found.failure is None:
                prefix = pending.pop()
                leaves += 1
                if leaves > MOST_LEAVES:
                    raise _too_many(at, self.found.whole)
                leaf = self.segment(state, at, prefix)
                trace = leaf.run.trace
                for position in range(len(prefix), len(trace)):
                    chosen = tuple(choice for choice, _ in trace[:position])
                    pending += [(*chosen, other) for other in range(1, trace[position][1])]
                if leaf.fork is None:
                    self._add(state, [leaf], at)
                else:
                    waiting.append(leaf)  # its other side may join it
                if pending and self.clock() > self.deadline:
                    self.found.late, self.found.horizon = True, at  # this round is not covered
                    return
        except Exception:
            self._add(state, waiting, at)
            if self.found.failure is None:
                raise
            return
        if self.joining:
            waiting, apart = joined(waiting, self.subject.copier), len(waiting)
            self.found.joined |= len(waiting) < apart
        self._add(state, waiting, at)

    def segment(self, state: State | None, at: int, prefix: tuple[int, ...]) -> Leaf:
        """Run on from a state until a round branches, with some outcomes."""
        ledger = state.ledger if state else Ledger()
        run = Run(
            files=self.subject.files,
            prefix=prefix,
            laws=dict(ledger.laws),
            columns=dict(ledger.columns),
            next_symbol=state.next_symbol if state else 0,
            first=state.next_symbol if state else 0,
            apart=self.apart,
            rewards=self.rewards,
            whole=self.found.whole,
        )
        if self.doubles is not None:
            before = state.tally if state else None
            run.tally = before.copy() if before else DrawTally(self.doubles)
        arms: list[int] = []
        with active(run):
            if state is None:
                body = self._built()
            else:
                body = self.subject.copier(state.replaced)(state.body)
                if body[2] is None:
                    arms += self._whole(body[0], run)
                while not run.trace and not run.forms and len(arms) < SEGMENT:
                    if at + len(arms) >= self.horizon:
                        break
                    arms.append(self._turn(body, at + len(arms), run))
            looked_at(run)
        self.found.rounds += len(arms)
        self.subject.unchanged()
        if run.escaped is not None:
            raise run.escaped
        for law in run.laws.values():
            self.found.releases.setdefault(law.place, law.kind)
            self.found.kinds.add(law.kind)
        self.found.rounded |= run.rounded
        return Leaf(run, body, tuple(arms))

    def _built(self) -> Any:
        policy = self.subject.build()
        driver = self.subject.driver(policy)
        if driver is None:
            if not callable(policy):
                raise Escape(f"an object of type {type(policy).__name__} is no policy")
            with suppress(ValueError):  # no signature is known
                try:
                    signature(policy).bind(None, None)
                except TypeError as error:
                    raise Escape(f"no function (stream, rng) -> actions: {error}") from None
            self.found.whole = True
            return [policy, {}, None]
        driver.begin(policy, self.subject.arms)
        return [policy, {}, driver.name]

    def _whole(self, policy: Any, run: Run) -> list[int]:
        """Play a function of the whole stream; return its actions."""
        stream = array([_reward(run, k) for k in range(self.horizon)])
        return actions_of(policy(stream, Source(False)), self.horizon, self.subject.arms)

    def _turn(self, body: Any, at: int, run: Run) -> int:
        policy, memory, style = body
        reward = partial(_reward, run)
        return DRIVERS[style].turn(policy, memory, self.subject.arms, at, reward)

    # -- settling ---------------------------------------------------------------------------------

    def _add(self, parent: State | None, leaves: list[Leaf], at: int) -> None:
        """Settle leaves of a state, up to the first charge that is too large."""
        for leaf in leaves:
            if self.found.failure is None:
                self._settle(parent, leaf, at + len(leaf.arms))

    def _settle(self, parent: State | None, leaf: Leaf, at: int) -> None:
        fixed = Fixed()
        new = self.settled(parent, leaf, at, fixed)
        if new is None:
            return
        self.found.stretches += 1
        self.found.charge = max(self.found.charge, new.ledger.worst)
        layer = self.layers.get(at)
        if layer is None:
            layer = self.layers[at] = {}
            heapq.heappush(self.times, at)
        key = new.key if self.merging else object()
        known = layer.setdefault(key, new)
        if self.heard is not None:
            self.heard(Move(parent, new, known, leaf.run, fixed, len(leaf.arms)))
        if known is new:
            return
        if self.doubts is not None and not self.found.whole:
            self.doubts.met(self, known, new)
        for mine, other in zip(known.order, new.order, strict=True):
            spent = new.ledger.spent.get(other, Fraction(0))
            if spent > known.ledger.spent.get(mine, Fraction(0)):
                known.ledger.spent[mine] = spent
                known.ledger.parts[mine] = new.ledger.parts.get(other, {})
        if known.tally is not None and new.tally is not None:
            columns = known.ledger.columns, new.ledger.columns
            owners = [
                tuple(own[name].owner for own, name in zip(columns, pair, strict=True))
                for pair in zip(known.order, new.order, strict=True)
            ]
            known.tally.join(new.tally, zip(known.compared, new.compared, strict=True), owners)

    def settled(self, parent: State | None, leaf: Leaf, at: int, fixed: Fixed) -> State | None:
        """Return the state after a segment; None if a charge is too large."""
        run = leaf.run
        trail = (parent.trail if parent else None, leaf.arms)
        ledger = parent.ledger.copy() if parent else Ledger()
        ledger.laws, ledger.columns = dict(run.laws), dict(run.columns)
        copier = self.subject.copier(keyed=True)
        copied = copier(leaf.body)
        tracked = {id(value): value for value in copier.met}
        failure = self._bind(ledger, run, tracked, fixed)
        if failure is None:
            replaced, rows = replaced_values(tracked, fixed, set(fixed.twins))
            live = {name for draws, _ in rows for name in draws}
            ledger.settle(live, rows, fixed)
            met = [*(form.place for form in run.forms), *(coin.place for coin in run.coins)]
            place = met[-1] if met else NOWHERE
            failure = ledger.judge(self.most, place)
        if failure is not None:
            self.found.failure = failure
            self.found.path = path_of(trail)
            return None
        columns = dict(ledger.columns)
        dropped = forget(ledger, rows)
        if dropped:
            again, _ = replaced_values({id(v): v for v in replaced.values()}, Fixed(), set(dropped))
            replaced = {name: again[id(value)] for name, value in replaced.items()}
        state = State(at, copied, replaced, ledger, run.next_symbol, twins=dropped, trail=trail)
        state.key = key_of(state, copier)
        if run.tally is not None:
            state.tally = run.tally.settled(state.compared, columns, dropped)
        return state

    def _bind(
        self, ledger: Ledger, run: Run, tracked: dict[int, Tracked], fixed: Fixed
    ) -> Failure | None:
        """Add what the path has come to depend on, and publish what that determines."""
        for form in run.forms:
            if failure := ledger.require(form):
                return failure
        live = [(draws, rows) for value in tracked.values() for rows, draws in value.forms()]
        for draws, _ in live:
            run.require_whole(draws)
        tossed = {coin.draw: coin for coin in run.coins}
        for coin in run.coins:
            if failure := ledger.toss(coin):
                return failure
        for draws in (*(form.draws for form in run.forms), *(draws for draws, _ in live)):
            for name in tossed.keys() & draws.keys():
                why = "the draw of its coin is used again"
                when = ledger.columns[tossed[name].row].round
                return Failure(when, float("inf"), tossed[name].place, why)
        # a reward whose coin was tossed may be used again, at its own charge
        fixed.twins = twins(live, ledger.constraints.values(), ledger.laws)
        ledger.without(set(fixed.twins))
        ledger.publish(fixed)
        return None


def _reward(run: Run, round: int) -> Linear:
    found = Linear(0, {run.row(round): 1}, {})
    found.computed = None if run.tally is None else REWARD
    return found


def _too_many(at: int, whole: bool) -> Escape:
    if whole:
        return Escape(f"a run of the whole stream has more than {MOST_LEAVES} paths", WHOLE)
    return Escape(
        f"round {at + 1} has more than {MOST_LEAVES} outcomes",
        "write a search by bisection as a function of numbers alone",
    )
