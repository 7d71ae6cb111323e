"""From a failed proof to pairs of streams that may show the violation in real runs.

The code is played on symbols along likely paths: concrete streams, seeded draws, every symbol with
its double. A ledger follows. Where a decision charges some reward too much, later than the proof
has covered, the other rewards of the same release are set so that the compared form stands at its
threshold, with and without a few scales of its noise, and the charged reward is flipped. The
sampler judges these pairs under its own error.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.sample.streams import Pair, Stream
from dpaudit.symbolic.guard import played
from dpaudit.symbolic.ledger import Fixed, Ledger, resolved
from dpaudit.symbolic.run import Disagreement, Escape, Form, Run
from dpaudit.symbolic.subject import CodeTarget
from dpaudit.symbolic.values import Linear
from dpaudit.symbolic.walk import SLACK

ROUNDS = 320  # of a likely path
DECISIONS = 6  # that overcharge, per path
PAIRS = 6
ENOUGH = 0.7  # of the best promise: shorter runs are worth more than the rest
WEAK = 0.03
LATER = 64  # rounds, within which an early decision has shown
LEVELS = (0.5, 0.0, 1.0)
AWAY = (0.0, -1.0, 1.0, -2.0, 2.0, -3.0, 3.0, -4.0, 4.0)  # scales of the noise from the threshold
KEPT = 2  # of these, per comparison
SIMULATED = 4000


@dataclass(frozen=True)
class Aimed:
    """A pair for the sampler, the rounds to look at, and what evidence a run may bring."""

    rewards: tuple[float, ...]
    position: int
    stop: int
    promise: float

    def pair(self, horizon: int) -> Pair:
        """Return the pair for runs of a horizon, beyond the aimed rounds with the last reward."""
        row = np.array(self.rewards[: self.stop])
        row = np.concatenate((row, np.full(max(horizon - len(row), 0), row[-1])))[:horizon]
        before = float(row[self.position])
        value = 1.0 if before < 0.5 else 0.0
        row[self.position] = 1.0 - value
        changed = f"reward {self.position + 1:,}: {1 - value:g} to {value:g}"
        name = f"aimed at round {self.stop:,}, {changed}"
        return Pair(name, Stream.of(row), self.position, value)


def aimed(target: CodeTarget, deadline: float, covered: int = 0) -> list[Aimed]:
    """Return the most promising pairs, best first; fewer where the time ends.

    In the first `covered` rounds nothing is charged too much on any path: what looks like it there
    is a comparison that has no effect.
    """
    rounds = min(target.horizon, ROUNDS)
    rng = np.random.default_rng(61)
    steered = np.ones(rounds)
    steered[1 : target.arms] = 0.0  # arm 0 is played for long
    starts: list[Any] = [steered, *(np.full(rounds, level) for level in LEVELS)]
    starts += [(rng.random(rounds) < 0.5) * 1.0 for _ in range(2)]
    found: dict[Any, Aimed] = {}
    for seed, rewards in enumerate(starts):
        if time.monotonic() > deadline:
            break
        watch = _Watch(target, rewards, deadline, covered)
        with suppress(Escape, Disagreement, Exception):  # a path that fails is no lead
            played(target, rewards, seed, watch)
        for lead in watch.found:
            key = (lead.position, lead.stop, lead.rewards)
            found.setdefault(key, lead)
    ranked = sorted(found.values(), key=lambda it: (-round(it.promise, 3), it.stop))
    if ranked and ranked[0].promise >= WEAK:
        near = [it.stop for it in ranked if it.promise >= ENOUGH * ranked[0].promise]
        ranked = [it for it in ranked if it.stop <= max(min(near), LATER // 4)]
    return _spread(ranked)[:PAIRS]


def _spread(ranked: list[Aimed]) -> list[Aimed]:
    """Return leads at different rewards before more of the same ones."""
    turn: dict[int, int] = {}
    numbered: list[tuple[int, int, Aimed]] = []
    for lead in ranked:
        turn[lead.position] = turn.get(lead.position, 0) + 1
        numbered.append((turn[lead.position], len(numbered), lead))
    return [lead for _, _, lead in sorted(numbered, key=lambda it: it[:2])]


def rounds_of(leads: Sequence[Aimed]) -> int:
    """Return how many rounds to run: what is decided early may show a few rounds later."""
    last = max(lead.stop for lead in leads)
    return max(last, min(2 * last + 10, LATER))


class _Watch:
    """Follows one likely path with a ledger and collects leads."""

    def __init__(self, target: CodeTarget, rewards: Any, deadline: float, covered: int) -> None:
        self.target, self.rewards, self.deadline = target, rewards, deadline
        self.covered = covered
        self.most = Fraction(target.epsilon) * (1 + SLACK)
        self.ledger, self.fixed = Ledger(), Fixed()
        self.forms = self.differences = self.decisions = self.coins = 0
        self.found: list[Aimed] = []

    def __call__(self, run: Run, at: int) -> bool:
        """Take what a round has compared; return whether to go on."""
        ledger, new = self.ledger, run.forms[self.forms :]
        compared = [it for it in run.differences[self.differences :] if isinstance(it, Linear)]
        self.forms, self.differences = len(run.forms), len(run.differences)
        coins, self.coins = run.coins[self.coins :], len(run.coins)
        if not new and not coins:
            return time.monotonic() < self.deadline
        ledger.laws, ledger.columns = dict(run.laws), dict(run.columns)
        guilty: list[int] = []
        for form in new:
            rows, draws, _ = resolved(form.rows, form.draws, self.fixed, set())
            failure = ledger.require(Form(rows, draws, form.place))
            if failure is not None:
                guilty.append(failure.round)
            ledger.publish(self.fixed)
        for coin in coins:
            guilty += [ledger.columns[coin.row].round] if coin.charge > self.most else []
        if not guilty:
            over = [owner for owner, total in ledger.totals().items() if total > self.most]
            guilty = [ledger.columns[owner].round for owner in over[-1:]]
            for owner in over:  # a row speaks once
                ledger.spent[owner] = Fraction(0)
        if at < self.covered:
            return time.monotonic() < self.deadline
        for position in dict.fromkeys(guilty):
            self.found += _tuned(run, self.rewards, compared, position, at + 1, self.target.epsilon)
        self.decisions += bool(guilty)
        return self.decisions < DECISIONS and time.monotonic() < self.deadline


def _tuned(
    run: Run, rewards: Any, compared: Sequence[Linear], position: int, stop: int, epsilon: float
) -> Iterator[Aimed]:
    """Yield the stream with the failing comparison at its threshold, or some scales away."""
    plain = np.array(rewards[:stop], dtype=float)
    aimed_at = False
    for form in compared:
        mine = [n for n in form.rows if run.columns[n].round == position]
        if not mine:
            continue
        aimed_at = True
        weight = form.rows[mine[0]]
        alike = sorted(n for n, w in form.rows.items() if w == weight)
        # one in the middle: what is played after it tells in which episode it was
        mine = [alike[len(alike) // 2]]
        fresh = [n for n in alike if n not in mine]
        rest = float(form.rest) + sum(
            float(w) * run.shadows[n] for n, w in form.rows.items() if n not in alike
        )
        noise = _noise(run, form)
        width = float(np.abs(noise).mean()) or abs(float(weight))
        slope = float(weight) * len(fresh)
        tried = []
        for away in AWAY:
            wanted = -float(weight) / 2 + away * width / 2
            level = min(max((wanted - rest) / slope, 0.0), 1.0) if slope else 0.0
            row = plain.copy()
            for name in fresh:
                row[run.columns[name].round] = level
            middle = rest + slope * level
            promise = _promise(noise + middle, noise + middle + float(weight), epsilon)
            where = run.columns[mine[0]].round
            tried.append(Aimed(tuple(row.tolist()), where, stop, promise))
        yield from sorted(tried, key=lambda it: -it.promise)[:KEPT]
    if not aimed_at:
        yield Aimed(tuple(plain.tolist()), position, stop, 1e-3)


def _noise(run: Run, form: Linear) -> Any:
    """Return samples of a form's noise, to rank leads by; nothing is concluded from them."""
    rng = np.random.default_rng(7)
    total = np.zeros(SIMULATED)
    for name, weight in form.draws.items():
        law = run.laws[name]
        draws = rng.laplace(0, float(law.scale), SIMULATED) if law.scale else run.shadows[name]
        total += float(weight) * draws
    return total


def _promise(one: Any, other: Any, epsilon: float) -> float:
    """Return roughly how fast evidence grows on the event that a form is positive, or is not."""
    best = 0.0
    for sign in (1, -1):
        for first, second in ((one, other), (other, one)):
            p = (float((sign * first > 0).sum()) + 0.5) / (SIMULATED + 1)
            q = (float((sign * second > 0).sum()) + 0.5) / (SIMULATED + 1)
            best = max(best, p * (np.log(p / q) - epsilon))
    return best
