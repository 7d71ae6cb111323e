"""Witnesses: made small, saved as plain JSON, recomputed from scratch.

A witness is a pair of neighbouring streams and an action sequence. `shrink` looks for the shortest
horizon, the fewest non-zero rewards and the earliest position that still violate the claim;
`recompute` trusts none of its numbers. `pair_of_step` is the pair behind a step of one episode's
own sum, every other reward fixed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any

import msgspec
from numpy.typing import NDArray

from dpaudit.core.algorithm import Algorithm
from dpaudit.core.notions import Kind
from dpaudit.errors import InvalidArgument
from dpaudit.exact.clock import ENDLESS, Clock
from dpaudit.exact.likelihood import Engine, Likelihood, likelihood
from dpaudit.exact.paths import Path
from dpaudit.exact.region import Region
from dpaudit.output import plain
from dpaudit.verdict import Enclosure, Witness

LONGEST_NAME = 1_000


def recompute(
    witness: Witness, algorithm: Algorithm, engine: Engine = "ball", clock: Clock = ENDLESS
) -> Witness:
    """Return a witness with its numbers computed again from its pair and actions alone."""
    require_neighbours(witness.stream, witness.neighbour, witness.position)
    first = likelihood(algorithm, witness.actions, witness.stream, engine, clock)
    second = likelihood(algorithm, witness.actions, witness.neighbour, engine, clock)
    loss = loss_between(first, second)
    return replace(
        witness,
        likelihood=Enclosure(first.lower, first.upper, loss.certified),
        likelihood_neighbour=Enclosure(second.lower, second.upper, loss.certified),
        loss=loss,
    )


def witness_of(
    algorithm: Algorithm,
    actions: Sequence[int] | NDArray[Any],
    stream: Sequence[float],
    neighbour: Sequence[float],
    engine: Engine,
    clock: Clock = ENDLESS,
) -> Witness:
    """Return the witness of a pair and an action sequence, its numbers computed by an engine."""
    nothing = Enclosure(0.0, math.inf, certified=False)
    values = {part.name: getattr(algorithm, part.name) for part in fields(algorithm)}
    drawn = Witness(
        target=algorithm.name,
        parameters={name: value for name, value in values.items() if value is not None},
        actions=tuple(int(arm) for arm in actions),
        stream=tuple(float(r) for r in stream),
        neighbour=tuple(float(r) for r in neighbour),
        position=next(t for t, (a, b) in enumerate(zip(stream, neighbour, strict=True)) if a != b),
        likelihood=nothing,
        likelihood_neighbour=nothing,
        loss=nothing,
        epsilon=violated(algorithm),
    )
    return recompute(drawn, algorithm, engine, clock)


def violated(algorithm: Algorithm) -> float:
    """Return the pure epsilon that a claim implies: its own, also of local privacy; or infinity."""
    notion = algorithm.claim.notion
    if notion is None or notion.unit != 1 or notion.kind not in (Kind.PURE, Kind.LOCAL):
        return math.inf
    return notion.level


def require_neighbours(stream: Sequence[float], neighbour: Sequence[float], position: int) -> None:
    """Raise unless two streams differ in exactly the given position."""
    if len(stream) != len(neighbour):
        raise InvalidArgument(
            "neighbour", f"({len(neighbour)} rewards)", "must be as long as the stream."
        )
    places = [t for t, (a, b) in enumerate(zip(stream, neighbour, strict=True)) if a != b]
    if places != [position]:
        raise InvalidArgument("position", position, f"must be where the streams differ: {places}.")


def loss_between(first: Likelihood, second: Likelihood) -> Enclosure:
    """Return an enclosure of |log ratio| of two likelihoods."""
    certified = first.certified and second.certified
    if first.log_upper == -math.inf and second.log_upper == -math.inf:
        return Enclosure(0.0, 0.0, certified)
    if -math.inf in (first.log_upper, second.log_upper):
        # in doubles what is too small to be told is no impossible event
        return Enclosure(math.inf if certified else 0.0, math.inf, certified)
    up = _above(first.log_upper - second.log_lower)
    down = _above(second.log_upper - first.log_lower)
    return Enclosure(max(0.0, -up, -down), max(up, down), certified)


def _above(difference: float) -> float:
    """Round a difference of two doubles up: its rounding error is at most half an ulp."""
    return math.nextafter(difference, math.inf)


def shrink(witness: Witness, algorithm: Algorithm, engine: Engine = "float") -> Witness:
    """Return a smaller witness that still violates `witness.epsilon`, or the witness itself.

    Shortest horizon first (only where truncation is post-processing), then the fewest non-zero
    rewards, then the earliest position. Every candidate is recomputed.
    """
    best = recompute(witness, algorithm, engine)
    if not best.violates:
        return witness

    def first(candidates: Iterable[Witness], otherwise: Witness) -> Witness:
        found = (recompute(candidate, algorithm, engine) for candidate in candidates)
        return next((it for it in found if it.violates), otherwise)

    if not algorithm.told():
        best = first(_shorter(best, algorithm.arms), best)
    # rewards are set to 0 in chunks that halve (delta debugging)
    places = [t for t, r in enumerate(best.stream) if r and t != best.position]
    size = len(places)
    while places and size:
        for start in range(0, len(places), size):
            best = first([_zeroed(best, set(places[start : start + size]))], best)
        places = [t for t in places if best.stream[t]]
        size //= 2
    return first(_earlier(best), best)


def _shorter(witness: Witness, arms: int) -> Iterator[Witness]:
    """Yield the witness cut to fewer rounds, the fewest first."""
    for horizon in range(max(arms, witness.position + 1), len(witness.actions)):
        stream, neighbour = witness.stream[:horizon], witness.neighbour[:horizon]
        actions = witness.actions[:horizon]
        yield replace(witness, actions=actions, stream=stream, neighbour=neighbour)


def _zeroed(witness: Witness, chunk: set[int]) -> Witness:
    def zero(stream: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(0.0 if t in chunk else r for t, r in enumerate(stream))

    return replace(witness, stream=zero(witness.stream), neighbour=zero(witness.neighbour))


def _earlier(witness: Witness) -> Iterator[Witness]:
    """Yield the witness with its changed reward swapped for an earlier one."""
    for position in range(witness.position):
        sides = [list(witness.stream), list(witness.neighbour)]
        for side in sides:
            side[position], side[witness.position] = side[witness.position], side[position]
        stream, neighbour = map(tuple, sides)
        yield replace(witness, stream=stream, neighbour=neighbour, position=position)


def to_json(witness: Witness) -> dict[str, Any]:
    """Return a witness as plain JSON data; infinities are strings."""
    data: dict[str, Any] = plain(witness)
    return data


def from_json(data: Any) -> Witness:
    """Return the witness that `to_json` wrote; raise `InvalidArgument` on anything else."""
    names = {field.name for field in fields(Witness)}
    try:
        if not isinstance(data, dict):
            raise ValueError("it is no object")
        if unknown := data.keys() - names:
            raise ValueError(f"{sorted(unknown)[0]!r} is no part of one")
        known = {key: _enclosure(item) if key in _ENCLOSED else item for key, item in data.items()}
        witness = msgspec.convert(known, Witness)
        if not 0 < witness.epsilon < math.inf:
            raise ValueError(f"epsilon = {witness.epsilon:g} must be positive")
        if not witness.actions:
            raise ValueError("it has no actions")
        if len(witness.target) > LONGEST_NAME:
            raise ValueError("its target is no name")
    except (msgspec.ValidationError, ValueError) as error:
        said = str(error).rstrip(".")
        raise InvalidArgument("witness", "(file)", f"is not a witness: {said}.") from None
    return witness


_ENCLOSED = ("likelihood", "likelihood_neighbour", "loss")
_INFINITE = {"inf": math.inf, "-inf": -math.inf}


def _enclosure(data: Any) -> Any:
    """Return the ends of an enclosure as numbers: infinite ones are written as text."""
    if not isinstance(data, dict):
        return data
    return {k: _INFINITE.get(v, v) if isinstance(v, str) else v for k, v in data.items()}


Stream = list[float]


def pair_of_step(
    path: Path, region: Region, episode: int, background: int, better: float, worse: float
) -> tuple[Stream, Stream]:
    """Return the stream of the better sum and its neighbour: one reward of the episode differs."""
    low, high = sorted((better, worse))
    rows = [t for part in region.episodes[episode].steps for t in part]
    stream = [float(background)] * path.horizon
    whole = math.floor(low)
    for place, t in enumerate(rows):
        stream[t] = 1.0 if place < whole else 0.0
    rest = low - whole
    # the moving reward is the one after the whole ones; raise it as far as it goes, and let the
    # next one hold the fraction where a step crosses an integer
    moving = rows[min(whole, len(rows) - 1)]
    if whole < len(rows):
        stream[moving] = rest
    if rest + (high - low) > 1.0 and whole + 1 < len(rows):
        stream[rows[whole + 1]], stream[moving] = rest, 0.0
    neighbour = list(stream)
    neighbour[moving] = min(1.0, stream[moving] + (high - low))
    return (neighbour, stream) if better > worse else (stream, neighbour)
