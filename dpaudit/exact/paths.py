"""Decision paths: every way in which a declaration can make its choices.

A path is the sequence of releases and decided choices up to the horizon. Its actions are fixed by
it, so a reward stream enters a path's likelihood only through the sums over released rows. An
action sequence is one path, or several where a choice does not show in the actions (a last `Keep`
cut off by the horizon, a coin that plays the arm which the rule would have chosen). The sides that
public coins showed are part of a path; `Path.chance` is how likely they are.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.algorithm import (
    Algorithm,
    Choose,
    Disclosure,
    Keep,
    Play,
    Register,
    Release,
    Rows,
    Stop,
    Toss,
)
from dpaudit.core.walk import Place, begin, outcomes
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact.clock import ENDLESS, Clock

NOT_SHOWN = "A decision does not show in the actions."


@dataclass(frozen=True)
class Decided:
    """A choice and its outcome: an arm for `Choose`, the survivors for `Keep`."""

    request: Choose | Keep
    outcome: Any


@dataclass(frozen=True)
class Played:
    """A play as far as the horizon let it run: the arm's rows and the step it began at (from 0)."""

    rows: Rows
    start: int


@dataclass(frozen=True)
class Tossed:
    """A public coin came up with a side of this chance."""

    chance: Fraction


Event = Played | Disclosure | Decided | Tossed
T = TypeVar("T")


class Prepared:
    """Keeps what is built from an object with this very object.

    Paths and regions are not told apart by equality: rules of foreign code may say that they are
    equal.
    """

    @cached_property
    def _built(self) -> dict[Any, Any]:
        return {}

    def prepared(self, build: Callable[..., T], *given: Any) -> T:
        """Return build(self, *given), built once."""
        if (build, *given) not in self._built:
            self._built[build, *given] = build(self, *given)
        found: T = self._built[build, *given]
        return found


@dataclass(frozen=True)
class Path(Prepared):
    """One way to make all the decisions up to the horizon."""

    events: tuple[Event, ...]
    horizon: int

    @property
    def actions(self) -> NDArray[np.int64]:
        """The arm of every step."""
        plays = [event for event in self.events if isinstance(event, Played)]
        arms = np.array([play.rows.arm for play in plays], dtype=np.int64)
        return np.repeat(arms, [len(play.rows) for play in plays])

    @property
    def requests(self) -> list[Choose | Keep]:
        """What was asked at every decision."""
        return [event.request for event in self.events if isinstance(event, Decided)]

    @cached_property
    def chance(self) -> Fraction:
        """The probability of the sides that the coins showed, whatever the rewards."""
        tossed = (event.chance for event in self.events if isinstance(event, Tossed))
        return math.prod(tossed, start=Fraction(1))

    @cached_property
    def reads(self) -> tuple[tuple[int, Disclosure], ...]:
        """The releases that some decision reads, each behind its place among the events."""
        wanted: set[Register] = set()
        found: list[tuple[int, Disclosure]] = []
        for number, event in reversed([*enumerate(self.events)]):
            if isinstance(event, Decided):
                wanted.update(name for group in event.request.registers for name in group)
            elif isinstance(event, Disclosure) and event.register in wanted:
                found.append((number, event))
                if isinstance(event, Release):
                    wanted.discard(event.register)
        return tuple(reversed(found))

    @cached_property
    def _plays(self) -> dict[int, tuple[list[int], list[Played]]]:
        """Every arm's plays in order, behind the numbers of the first rows after them."""
        found: dict[int, tuple[list[int], list[Played]]] = {}
        for event in self.events:
            if isinstance(event, Played):
                stops, plays = found.setdefault(event.rows.arm, ([], []))
                stops.append(event.rows.stop)
                plays.append(event)
        return found

    def steps(self, rows: Rows) -> list[range]:
        """Return the steps of the stream (from 0) that an arm's rows occupy, as ranges."""
        found = []
        stops, plays = self._plays.get(rows.arm, ([], []))
        for play in islice(plays, bisect_right(stops, rows.first), None):
            first, stop = max(rows.first, play.rows.first), min(rows.stop, play.rows.stop)
            if first >= stop:
                break
            shift = play.start - play.rows.first
            found.append(range(first + shift, stop + shift))
        return found


def all_paths(algorithm: Algorithm, horizon: int, clock: Clock = ENDLESS) -> Iterator[Path]:
    """Yield every decision path of `horizon` rounds, depth first."""
    yield from _walk(algorithm, horizon, None, clock)


def paths_of(
    algorithm: Algorithm, actions: Sequence[int] | NDArray[Any], clock: Clock = ENDLESS
) -> list[Path]:
    """Return the decision paths that show as these actions; empty if they are impossible."""
    sequence = np.asarray(actions)
    if sequence.ndim != 1 or len(sequence) < 1:
        raise InvalidArgument("actions", list(sequence.shape), "must be a row of arms.")
    if sequence.dtype.kind not in "biuf" or (sequence != np.floor(sequence)).any():
        raise InvalidArgument("actions", sequence.tolist()[:8], "must be whole numbers.")
    found = list(_walk(algorithm, len(sequence), sequence, clock))
    outside = sequence[(sequence < 0) | (sequence >= 2 * algorithm.arms)]
    if not found and outside.size:
        rule = f"must lie in 0..{algorithm.arms - 1} (and as far again for recommendations)."
        raise InvalidArgument("action", outside[0].item(), rule)
    return found


def by_actions(paths: Iterable[Path]) -> list[list[Path]]:
    """Return paths in groups that show as the same actions."""
    found: dict[bytes, list[Path]] = {}
    for path in paths:
        found.setdefault(path.actions.tobytes(), []).append(path)
    return [*found.values()]


def require_shown(algorithm: Algorithm, path: Path, clock: Clock = ENDLESS) -> None:
    """Raise `Unsupported` unless the likelihood of a path is that of its actions.

    A decision whose answer the actions do not tell makes one action sequence of several paths: what
    one of them loses, another may gain. Every search that looks at paths asks this of those whose
    loss it states.
    """
    shown = _walk(algorithm, path.horizon, path.actions, clock)
    if next(islice(shown, 1, None), None) is not None:
        raise Unsupported(NOT_SHOWN)


class Undecided(Unsupported):
    """A path needs more decisions than were given, from round `time` on."""

    def __init__(self, time: int) -> None:
        super().__init__("There are more decisions.")
        self.time = time


def path_through(algorithm: Algorithm, horizon: int, decisions: Sequence[int]) -> Path:
    """Return the path on which the choices come out as given; raise `Undecided` if too few."""
    left = iter(decisions)

    def decide(place: Place) -> Any:
        answer, request = next(left, None), place.request
        if answer is None:
            raise Undecided(place.time)
        if not isinstance(request, Choose) or answer not in request.arms:
            raise Unsupported(f"A decision has no outcome {answer}.")
        return answer

    return path_along(algorithm, horizon, decide)


def path_along(
    algorithm: Algorithm,
    horizon: int,
    decide: Callable[[Place], Any],
    hear: Callable[[Event], None] = lambda event: None,
) -> Path:
    """Return the path on which every decision is answered by `decide`.

    It hears of every event before it is asked what follows.
    """

    def answers(place: Place) -> list[Any]:
        if isinstance(place.request, Toss):
            raise Unsupported("One path does not tell what a public coin does.")
        return [decide(place)]

    return next(_walk(algorithm, horizon, None, ENDLESS, answers, hear))


def _walk(
    algorithm: Algorithm,
    horizon: int,
    actions: NDArray[Any] | None,
    clock: Clock,
    answers: Callable[[Place], list[Any]] = lambda place: list(outcomes(place.request)),  # type: ignore[arg-type]
    hear: Callable[[Event], None] = lambda event: None,
) -> Iterator[Path]:
    """Depth-first over the decisions, without recursion: paths may be millions of events long."""
    # `trail` is a linked list (event, earlier), so that siblings share their prefix.
    pending: list[tuple[Place, Any]] = [(begin(algorithm), None)]
    while pending:
        place, trail = pending.pop()
        while True:
            clock()
            request = place.request
            if isinstance(request, Play):
                rows, time = place.rows(horizon), place.time
                stop = time + len(rows)
                if actions is not None and (actions[time:stop] != request.arm).any():
                    break
                trail = (Played(rows, time), trail)
                hear(trail[0])
                if stop == horizon:
                    yield Path(_unlink(trail), horizon)
                    break
                place = place.after(rows)
            elif isinstance(request, Stop):
                last = recommended(place, request, horizon)
                if actions is None or (actions[place.time :] == last.rows.arm).all():
                    yield Path(_unlink((last, trail)), horizon)
                break
            elif isinstance(request, Disclosure):
                trail = (request, trail)
                hear(request)
                place = place.after()
            else:
                for outcome in reversed(answers(place)):
                    event: Event = (
                        Tossed(Fraction(request.chances[outcome]))
                        if isinstance(request, Toss)
                        else Decided(request, outcome)
                    )
                    pending.append((place.after(outcome), (event, trail)))
                break


def recommended(place: Place, request: Stop, horizon: int) -> Played:
    """Return what a recommendation shows as: a play of no arm there is, to the horizon."""
    arm = place.algorithm.arms + request.arm
    return Played(Rows(arm, 0, horizon - place.time), place.time)


def _unlink(trail: Any) -> tuple[Event, ...]:
    events: list[Event] = []
    while trail is not None:
        event, trail = trail
        events.append(event)
    return tuple(reversed(events))
