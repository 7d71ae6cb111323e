"""What code does, read off one run on symbols: plays, draws, decisions, what each reward pays.

Where its decisions are affine, the declaration that it is follows, along the same run.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.core.algorithm import Accumulate, Choose, Play, Release, Request
from dpaudit.core.noise import Laplace
from dpaudit.core.walk import begin
from dpaudit.errors import BadDeclaration
from dpaudit.structure.ledger import charge_of
from dpaudit.symbolic.declared import read_off
from dpaudit.symbolic.guard import played
from dpaudit.symbolic.ledger import Fixed, Ledger, hiding, resolved
from dpaudit.symbolic.run import CodeLine, DrawLaw, Form, Run
from dpaudit.symbolic.subject import CodeTarget
from dpaudit.symbolic.values import Linear

MOST_LINES = 60
Lines = list[tuple[str, str]]


class _Reader:
    """Collects lines and charges, round by round."""

    def __init__(self) -> None:
        self.ledger, self.fixed = Ledger(), Fixed()
        self.seen = self.compared = 0
        self.known: set[int] = set()
        self.events: list[tuple[int, str, str]] = []
        self.open: list[int] = []
        self.failed: dict[int, str] = {}

    def __call__(self, run: Run, at: int) -> bool:
        new, self.seen = run.forms[self.seen :], len(run.forms)
        differences, self.compared = run.differences[self.compared :], len(run.differences)
        for difference in differences:
            self.events.append((at, "", _decision(run, difference)))
        if new and not differences:
            self.events.append((at, "", f"{new[0].place} decides by {len(new)} value(s)"))
        self.ledger.laws, self.ledger.columns = dict(run.laws), dict(run.columns)
        for form in new:
            rows, draws, _ = resolved(form.rows, form.draws, self.fixed, set())
            failure = self.ledger.require(Form(rows, draws, form.place))
            if failure is not None and failure.round not in self.failed:
                self.failed[failure.round] = str(failure)
                self.events.append((at, "red", str(failure)))
            self.ledger.publish(self.fixed)
        for coin in run.coins[len(self.open) :]:
            self.open.append(coin.draw)
            if coin.charge != float("inf"):
                self.ledger.toss(coin)
            text = f"{coin.place} tosses a coin with the reward: charge {coin.charge:.6g}"
            self.events.append((at, "", text))
        self._draws(run, at)
        return True

    def _draws(self, run: Run, at: int) -> None:
        lines: dict[tuple[CodeLine, str], int] = {}
        for name, law in run.laws.items():
            if name not in self.known:
                self.known.add(name)
                key = (law.place, _law(law))
                lines[key] = lines.get(key, 0) + 1
        for (place, words), times in lines.items():
            often = f" ({times} draws)" if times > 1 else ""
            self.events.append((at, "", f"{place} draws {words}{often}"))


def _law(law: DrawLaw) -> str:
    if law.scale is not None:
        return f"Laplace noise of scale {float(law.scale):.6g}"
    return f"{law.kind} noise, which {hiding(law)}"


def _decision(run: Run, difference: Linear) -> str:
    rounds = sorted(run.columns[name].round + 1 for name in difference.rows)
    noise = ", ".join(
        f"{float(abs(w)) * float(run.laws[n].scale or 0):.4g}"
        for n, w in sorted(difference.draws.items())
    )
    plural = "s" * (len(rounds) != 1)
    rewards = f"the reward{plural} of round{plural} {_ranges(rounds)}" if rounds else "no reward"
    said = f"noise of scale {noise}" if noise else "no noise"
    return f"compares {rewards}, with {said} and the public number {float(difference.rest):.4g}"


def _ranges(rounds: list[int]) -> str:
    parts: list[list[int]] = []
    for number in rounds:
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in parts)


def read(target: CodeTarget, rounds: int, seed: int) -> Lines:
    """Return the lines of a reading: what the code did on one random stream, and the charges."""
    rng = np.random.default_rng(seed)
    rewards = (rng.random(rounds) < 0.5) * 1.0
    reader = _Reader()
    arms = played(target, rewards, seed, reader)
    return list(_lines(target, arms, reader))


def _lines(target: CodeTarget, arms: list[int], reader: _Reader) -> Iterator[tuple[str, str]]:
    yield (
        f"{target.text}: {target.arms} arms, epsilon = {target.epsilon:g}. "
        f"This is what the code does in one run of {len(arms)} rounds.",
        "bold",
    )
    yield "", ""
    events: dict[int, list[tuple[str, str]]] = {}
    for at, style, text in reader.events:
        events.setdefault(at, []).append((style, text))
    shown = start = 0
    for at, arm in enumerate(arms):
        last = at + 1 == len(arms)
        if last or arms[at + 1] != arm or at in events:
            span = f"round {start + 1}" if start == at else f"rounds {start + 1}-{at + 1}"
            yield f"{span}: arm {arm}", ""
            start = at + 1
            for style, text in events.get(at, ()):
                yield f"    {text}", style
                shown += 1
        if shown > MOST_LINES:
            yield "    ... (see --horizon)", "dim"
            break
    yield "", ""
    yield from _charges(target, reader)
    yield "", ""
    yield from _declaration(target, arms)


def _charges(target: CodeTarget, reader: _Reader) -> Iterator[tuple[str, str]]:
    ledger = reader.ledger
    paid: dict[Any, list[int]] = {}
    for owner, total in ledger.totals().items():
        paid.setdefault(total, []).append(ledger.columns[owner].round + 1)
    for total in sorted(paid, reverse=True):
        over = total > Fraction(target.epsilon) * (1 + Fraction(1, 10**12))
        style = "red" if over else ""
        yield (
            f"charged {float(total):.6g}: the rewards of rounds {_ranges(sorted(paid[total]))}",
            style,
        )
    if reader.failed:
        bare = _ranges(sorted(when + 1 for when in reader.failed))
        yield f"charged without bound: the rewards of rounds {bare}", "red"
    if not paid and not reader.failed:
        yield "No reward is charged anything.", ""
    yield "One run; `dpaudit check` follows every path.", "dim"


def _declaration(target: CodeTarget, arms: list[int]) -> Iterator[tuple[str, str]]:
    """Yield the requests of the declaration that the code is, along the arms of a run."""
    algorithm, reading = read_off(target, len(arms))
    place, found = begin(algorithm), list[str]()
    try:
        while place.time < len(arms) and len(found) < MOST_LINES:
            request, answer = place.request, None  # type: Any, Any
            if isinstance(request, Play):
                answer = place.rows(len(arms))
            elif isinstance(request, Choose):
                answer = arms[place.time]
                if answer not in request.arms:
                    break
            found.append(_request(request, place.rule if isinstance(request, Choose) else None))
            place = place.after(answer)
    except BadDeclaration:
        if not found or place.time < target.arms:
            yield f"As a declaration: none was read off ({reading.stopped}).", "dim"
            return
        found.append(f"(from round {place.time + 1} on: {reading.stopped})")
    yield "As a declaration, along this run:", "bold"
    for line in found:
        yield f"    {line}", ""


def _request(request: Request, rule: Any) -> str:
    if isinstance(request, Play):
        return f"Play arm {request.arm}, {request.rounds} round{'s' * (request.rounds > 1)}"
    if isinstance(request, Release | Accumulate):
        rows, noise = request.rows, request.noise
        span = _ranges(list(range(rows.first + 1, rows.stop + 1)))
        law = f"Laplace({float(noise.scale):.6g})" if isinstance(noise, Laplace) else "no noise"
        over = f" / {float(request.divisor):.6g}" * (request.divisor != 1)
        charge = float(charge_of(request))
        return (
            f"Release arm {rows.arm}: its rewards {span}{over}, {law}; each is charged {charge:.6g}"
        )
    if isinstance(request, Choose):
        numbers = [np.broadcast_to(it, len(request.arms)) for it in (rule.scale, rule.shift)]
        parts = [
            f"{arm}: {'' if slope == 1 else f'{slope:.6g} x '}register {shift:+.4g}"
            for arm, slope, shift in zip(request.arms, *numbers, strict=True)
        ]
        return f"Choose the largest of {'; '.join(parts)}"
    return type(request).__name__
