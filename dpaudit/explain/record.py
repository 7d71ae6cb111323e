"""A run with everything it did written down: plays, releases, decisions, charges.

The same interpretation as the stream runner (`core.stream`), which a test compares it with: the
same declaration, rewards and generator give the same actions.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.core.algorithm import (
    Accumulate,
    Algorithm,
    Choose,
    Disclosure,
    Keep,
    Play,
    Release,
    Respond,
    Rows,
    Stop,
    Toss,
)
from dpaudit.core.canonical import Distrust
from dpaudit.core.noise import Noise
from dpaudit.core.notions import PURE, Kind, Tariff, tariff_of
from dpaudit.core.scores import (
    BetaDraw,
    GaussianDraw,
    Imed,
    KLBound,
    PrivateKLBound,
    Score,
    winner_is_known,
)
from dpaudit.core.stream import Rewards, decide, released, response, shown, tossed
from dpaudit.core.walk import Place, begin
from dpaudit.errors import InvalidArgument
from dpaudit.structure.ledger import Charge, charge_of

MOST_PLAYS = 500
Spans = tuple[range, ...]
"""Rounds of the run, counted from 1."""


@dataclass(frozen=True)
class RecordedPlay:
    """An arm played for some rounds; `wanted` is longer where the horizon cut it."""

    arm: int
    rounds: range
    wanted: int


@dataclass(frozen=True)
class RecordedRelease:
    """A noisy value of some rewards, and what each of them is charged for it."""

    spans: Spans
    count: int
    divisor: Fraction
    noise: Noise | Respond
    value: float
    added: bool
    charge: Charge | None


@dataclass(frozen=True)
class Weighed:
    """What a decision saw of one arm: the rewards behind it, the private value, the index.

    The index is text, because a KL index within 1e-17 of 1 still tells arms apart.
    """

    arm: int
    spans: Spans
    value: float
    index: str


@dataclass(frozen=True)
class RecordedDecision:
    """A decision before round `time`; `rule` says what wins, `outcome` who."""

    time: int
    rule: str
    weighed: tuple[Weighed, ...]
    outcome: tuple[int, ...]


@dataclass(frozen=True)
class RecordedToss:
    """A public coin tossed before round `time`: its chances, and the side that came up."""

    time: int
    chances: tuple[Fraction, ...]
    side: int


@dataclass(frozen=True)
class Stopped:
    """The run ended before round `time` with a recommendation."""

    time: int
    arm: int


Event = RecordedPlay | RecordedRelease | RecordedDecision | RecordedToss | Stopped


def own_tariff(algorithm: Algorithm) -> Tariff:
    """Return how the notion that an algorithm claims charges releases; else that of epsilon."""
    own = algorithm.claim.notion
    if own is None or own.kind is Kind.APPROXIMATE:  # whose charges do not add up
        return PURE
    return tariff_of(own)


def charged(request: Disclosure, tariff: Tariff) -> Charge | None:
    """Return what a release charges to each row that it reads; None outside the proof's model."""
    try:
        return charge_of(request, tariff)
    except Distrust:
        return None


@dataclass
class Recorder:
    """Answers a declaration's requests and writes down what happened."""

    algorithm: Algorithm
    horizon: int
    rewards: Rewards
    rng: Any
    events: list[Event] = field(default_factory=list)
    registers: dict[Hashable, float] = field(default_factory=dict)
    behind: dict[Hashable, Spans] = field(default_factory=dict)
    plays: list[RecordedPlay] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tariff = own_tariff(self.algorithm)

    def run(self) -> list[Event]:
        """Answer every request up to the horizon and return every event in order."""
        place = begin(self.algorithm)
        while True:
            answer: Any = None
            match place.request:
                case Play(arm, rounds):
                    answer = place.rows(self.horizon)
                    self.rewards.play(arm, len(answer))
                    first = place.time + 1
                    self.note(RecordedPlay(arm, range(first, first + len(answer)), rounds))
                    if place.time + len(answer) == self.horizon:
                        return self.events
                case Release() | Accumulate() | Respond() as request:
                    self.release(place, request)
                case Choose() | Keep() as request:
                    answer = self.decide(place, request)
                case Stop(arm):
                    self.note(Stopped(place.time + 1, arm))
                    return self.events
                case Toss() as coin:
                    answer = tossed(coin, self.rng)
                    chances = tuple(map(Fraction, coin.chances))
                    self.note(RecordedToss(place.time + 1, chances, answer))
            place = place.after(answer)

    def note(self, event: Event) -> None:
        """Write an event down."""
        self.events.append(event)
        if isinstance(event, RecordedPlay):
            self.plays.append(event)
            if len(self.plays) > MOST_PLAYS:
                rule = f"takes more than {MOST_PLAYS} plays; a shorter run explains as much."
                raise InvalidArgument("horizon", self.horizon, rule)

    def release(self, place: Place, request: Disclosure) -> None:
        """Fill a register."""
        register, rows = request.register, request.rows
        noise: Noise | Respond
        if isinstance(request, Respond):
            value = response(request, self.rewards.total(rows), self.rng)
            noise, divisor = request, Fraction(1)
        else:
            value = released(place, self.rewards, self.rng)
            noise, divisor = request.noise, Fraction(request.divisor)
        spans, added = self.spans(rows), not isinstance(request, Release)
        if added:
            self.behind[register] = (*self.behind.get(register, ()), *spans)
            self.registers[register] = self.registers.get(register, 0.0) + value
        else:
            self.behind[register] = spans
            self.registers[register] = value
        charge = charged(request, self.tariff)
        self.note(RecordedRelease(spans, len(rows), divisor, noise, value, added, charge))

    def spans(self, rows: Rows) -> Spans:
        """Return the rounds that an arm's rows occupy."""
        found, row = [], 0
        for play in self.plays:
            if play.arm == rows.arm:
                first, stop = max(row, rows.first), min(row + len(play.rounds), rows.stop)
                if first < stop:
                    found.append(play.rounds[first - row : stop - row])
                row += len(play.rounds)
        return tuple(found)

    def decide(self, place: Place, request: Choose | Keep) -> Any:
        """Answer a decision as the stream runner does, and write down what was seen."""
        x = shown(place, self.registers)
        answer = decide(place, x, self.rng)
        if isinstance(request, Choose):
            rule, outcome = _wins(place.rule), (answer,)
            indices = _indices(place.rule, x)
        else:
            rule, outcome = "an arm stays unless its band lies below another's", answer
            indices = [f"± {width / 2:.4g}" for width in place.width]
            if len(set(place.width)) == 1:
                rule = f"an arm stays whose gap to the best is at most {place.width[0]:.4g}"
                indices = [f"gap {x.max() - value:.5f}" for value in x]
        behind = [
            tuple(span for name in group for span in self.behind[name])
            for group in request.registers
        ]
        weighed = tuple(
            Weighed(arm, spans, float(value), index)
            for arm, spans, value, index in zip(request.arms, behind, x, indices, strict=True)
        )
        self.note(RecordedDecision(place.time + 1, rule, weighed, outcome))
        return answer


def _wins(rule: Any) -> str:
    if isinstance(rule, Imed):
        return "the smallest index wins, a tie goes to the first arm"
    if isinstance(rule, BetaDraw):
        return "every arm draws from a Beta law around its value; the largest draw wins"
    if isinstance(rule, GaussianDraw):
        return "every arm draws from a Gaussian law around its value; the largest draw wins"
    return "the largest index wins, a tie goes to the first arm"


def _indices(rule: Any, x: Any) -> list[str]:
    """Return the index of every arm as a person reads it; KL bounds as q, not as -log(1 - q)."""
    if not isinstance(rule, Score | Imed) or not winner_is_known(rule):
        return [""] * len(x)
    show = _bound if isinstance(rule, KLBound | PrivateKLBound) else "{:.5g}".format
    return [f"index {show(float(value))}" for value in np.atleast_1d(rule.value(x))]


def _bound(v: float) -> str:
    """Return q from v = -log(1 - q), as 1 - (1 - q) where it is close to 1."""
    rest = math.exp(-v)
    if rest > 1e-3:
        return f"{1 - rest:.5f}"
    mantissa, _, exponent = f"{rest:.1e}".partition("e")
    return f"1 - {mantissa}e{int(exponent)}" if rest else "1"
