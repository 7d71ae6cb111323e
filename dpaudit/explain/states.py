"""The public states of a declaration as a graph: what is asked where, and what follows each answer.

A fork is a public state in which something is decided (or the beginning); a way leads from it to
the next, with all that is played, released and charged in between. Runs that reach the same public
state meet again. The graph is that of runs up to a horizon, explored in the order of time; what is
too large is cut, and says so.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, groupby
from typing import Any

from dpaudit.core.algorithm import Algorithm, Choose, Disclosure, Keep, Play, Respond, Stop, Toss
from dpaudit.core.notions import Tariff
from dpaudit.core.walk import Place, begin, outcomes
from dpaudit.explain.draw import listed, noise_name, paragraph, quantity
from dpaudit.explain.record import charged, own_tariff
from dpaudit.structure.ledger import show

MOST = 30  # ways of a graph that a person reads
MOST_WAYS = 8  # of an elimination among many arms
MOST_STEPS = 6  # of one way
START = "start"
ENDS = "until the horizon"


@dataclass(frozen=True)
class Way:
    """What follows an answer: plays and releases in words, and the fork they lead to.

    `arm` is the first one played. There is no fork where the horizon ends the run, or the cut.
    """

    answer: str
    arm: int | None
    steps: tuple[str, ...]
    to: int | None

    @property
    def ends(self) -> bool:
        """Whether the horizon ends the run on this way."""
        return bool(self.steps) and self.steps[-1].endswith(ENDS)

    @property
    def parts(self) -> tuple[str, ...]:
        """The answer and the steps, an answer that the first play repeats left out."""
        steps = self.steps or ("nothing is played",)
        return steps if self.answer in ("", f"arm {self.arm}") else (f"{self.answer}:", *steps)


@dataclass(frozen=True)
class ReachedState:
    """A public state after some rounds: pull counts, what is asked, what can follow."""

    time: int
    pulls: tuple[int, ...]
    asks: str
    ways: tuple[Way, ...]


@dataclass(frozen=True)
class StateGraph:
    """The forks in the order of time; `left` of them were not followed."""

    forks: tuple[ReachedState, ...]
    left: int

    @property
    def decides(self) -> bool:
        """Whether more than one thing can happen."""
        return any(len(fork.ways) > 1 for fork in self.forks)

    @property
    def note(self) -> str:
        """What was cut, as a sentence; empty if nothing was."""
        if not self.left:
            return ""
        last = max(fork.time for fork in self.forks)
        return (
            f"Cut after {len(self.forks)} states, at round {last:,}: {self.left:,} more follow at "
            "once. A shorter --horizon shows a whole graph."
        )


def explore(algorithm: Algorithm, horizon: int, most: float = MOST) -> StateGraph:
    """Return the graph of every run of up to `horizon` rounds, cut where it has `most` ways."""
    tariff = own_tariff(algorithm)
    found: dict[Any, tuple[Place, list[tuple[str, int | None, tuple[str, ...], Any]]]] = {}
    pending: list[tuple[int, int, Place]] = []
    order = count()

    def reach(place: Place | None) -> Any:
        if place is not None:
            heapq.heappush(pending, (place.time, next(order), place))
        return None if place is None else _key(place)

    first = begin(algorithm)
    if not isinstance(first.request, Choose | Keep | Toss | Stop):
        _, arm, steps, ahead = _way("", first, horizon, tariff)
        found[START] = first, [("", arm, steps, reach(ahead))]
    else:
        reach(first)
    while pending and sum(len(ways) for _, ways in found.values()) < most:
        place = heapq.heappop(pending)[2]
        if _key(place) not in found:
            ways = [_way(*it, horizon, tariff) for it in _answers(place)]
            found[_key(place)] = place, [(*way[:3], reach(way[3])) for way in ways]
    numbers = {key: number for number, key in enumerate(found)}
    forks = tuple(
        ReachedState(
            place.time,
            place.pulls,
            "begins" if key is START else _asks(place),
            tuple(Way(answer, arm, steps, numbers.get(to)) for answer, arm, steps, to in ways),
        )
        for key, (place, ways) in found.items()
    )
    left = {_key(place) for _, _, place in pending} - found.keys()
    return StateGraph(forks, len(left))


def _key(place: Place) -> Any:
    return place.state, place.pulls, place.written, place.idle


def _answers(place: Place) -> Iterator[tuple[str, Place]]:
    """Yield the first answers that a question can get, each with where it leads."""
    request = place.request
    if isinstance(request, Stop):
        return
    for number, answer in enumerate(outcomes(request)):  # type: ignore[arg-type]
        if number == MOST_WAYS:
            return
        if isinstance(request, Choose):
            text = f"arm {answer}"
        elif isinstance(request, Keep):
            text = f"keeps {listed(answer)}"
        else:
            text = f"side {answer}, chance {show(request.chances[answer])}"  # type: ignore[union-attr]
        yield text, place.after(answer)


def _asks(place: Place) -> str:
    request = place.request
    match request:
        case Choose(arms):
            return f"chooses one of arms {listed(arms)}"
        case Keep(arms):
            return f"keeps some of arms {listed(arms)}"
        case Toss(chances):
            return f"tosses a public coin of {len(chances)} sides"
        case Stop(arm):
            return f"stops and recommends arm {arm}"
    raise TypeError(type(request).__name__)


def _way(
    answer: str, place: Place, horizon: int, tariff: Tariff
) -> tuple[str, int | None, tuple[str, ...], Place | None]:
    """Follow plays and releases to the next question, or to the horizon."""
    arm, last, steps = None, None, []
    while True:
        request = place.request
        rows: Any = None
        if isinstance(request, Play):
            rows = place.rows(horizon)
            arm, last = request.arm if arm is None else arm, request.arm
            ends = place.time + len(rows) >= horizon
            rounds = f"{request.rounds:,} round{'s' * (request.rounds != 1)}"
            steps.append(f"plays arm {request.arm} {ENDS if ends else f'for {rounds}'}")
            if ends:
                return answer, arm, _short(steps), None
        elif isinstance(request, Disclosure):
            steps.append(_release(request, tariff, last))
        else:
            return answer, arm, _short(steps), place
        place = place.after(rows)


def _release(request: Disclosure, tariff: Tariff, played: int | None) -> str:
    rows, paid = request.rows, charged(request, tariff)
    last = f"..{rows.stop:,}" if len(rows) > 1 else ""
    which = f"reward{'s' * (len(rows) > 1)} {rows.first + 1:,}{last}"
    which = f"its {which}" if rows.arm == played else f"{which} of arm {rows.arm}"
    charge = "an unknown charge" if paid is None else f"charge {show(paid)}"
    if isinstance(request, Respond):
        return f"answers at random for {which}, {charge}"
    what = quantity(len(rows), request.divisor)
    named = f"{what} of {which}".removeprefix(" of ")
    return f"releases {named} + {noise_name(request.noise)}, {charge}"


def _short(steps: list[str]) -> tuple[str, ...]:
    """Return steps with repetitions counted, the middle of a long list left out."""
    told = []
    for step, same in groupby(steps):
        times = len(list(same))
        told.append(step if times == 1 else f"{step}, {times} times")
    if len(told) > MOST_STEPS:
        half = MOST_STEPS // 2
        told = [*told[:half], f"... {len(told) - MOST_STEPS:,} more ...", *told[-half:]]
    return tuple(told)


def lines(graph: StateGraph, width: int) -> Iterator[tuple[str, str]]:
    """Yield the graph as text, each line with its style."""
    for number, fork in enumerate(graph.forks, 1):
        yield "", ""
        yield f"[{number}] {place_of(fork)}: {fork.asks}", "bold"
        for way in fork.ways:
            text = "; ".join(way.parts).replace(":;", ":") + _leads(way)
            for line in paragraph(text, width, "    ", "      "):
                yield line, ""
    for line in ["", *paragraph(graph.note, width)] if graph.note else []:
        yield line, ""


def place_of(fork: ReachedState) -> str:
    """Return when a fork is reached and how often each arm was pulled by then."""
    rounds = f"after {fork.time:,} round{'s' * (fork.time != 1)}"
    return f"{rounds}, pulls {' / '.join(f'{pulled:,}' for pulled in fork.pulls[:MOST_WAYS])}"


def _leads(way: Way) -> str:
    if way.to is not None:
        return f" -> [{way.to + 1}]"
    return "" if way.ends else " -> ..."
