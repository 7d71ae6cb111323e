"""Hypothesis strategies: reward streams, neighbouring pairs, instances of an algorithm.

They shrink towards what is easiest to read: short streams of zeros, an early position, two arms,
epsilon 1. Needs the `test` extra.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from hypothesis import strategies as st

from dpaudit.core.algorithm import Algorithm
from dpaudit.errors import InvalidArgument, require_integer
from dpaudit.target import Target, resolve

Stream = tuple[float, ...]


class Neighbours(NamedTuple):
    """Two streams that differ in the reward at one position."""

    stream: Stream
    neighbour: Stream
    position: int


def rewards(values: str = "unit") -> st.SearchStrategy[float]:
    """Return rewards in [0, 1] (`unit`) or in {0, 1} (`binary`)."""
    if values == "binary":
        return st.sampled_from((0.0, 1.0))
    if values == "unit":
        # thousandths are as good as doubles for a violation and far easier to read
        return st.integers(0, 1000).map(lambda n: n / 1000)
    raise InvalidArgument("values", values, "must be unit or binary.")


def reward_streams(
    horizon: int | None = None, *, shortest: int = 1, longest: int = 12, values: str = "unit"
) -> st.SearchStrategy[Stream]:
    """Return streams of `horizon` rewards, or of any length from `shortest` to `longest`."""
    low, high = _lengths(horizon, shortest, longest)
    return st.lists(rewards(values), min_size=low, max_size=high).map(tuple)


@st.composite
def neighbouring_pairs(
    draw: st.DrawFn,
    horizon: int | None = None,
    *,
    shortest: int = 1,
    longest: int = 12,
    values: str = "unit",
) -> Neighbours:
    """Return a stream and the same with one other reward at a position."""
    stream = draw(reward_streams(horizon, shortest=shortest, longest=longest, values=values))
    position = draw(st.integers(0, len(stream) - 1))
    other = draw(rewards(values).filter(lambda reward: reward != stream[position]))
    return Neighbours(stream, (*stream[:position], other, *stream[position + 1 :]), position)


def epsilons() -> st.SearchStrategy[float]:
    """Return privacy parameters from 0.05 to 5, in decimals that people write."""
    return st.one_of(st.just(1.0), st.integers(1, 100).map(lambda n: n / 20))


@st.composite
def instances(
    draw: st.DrawFn,
    target: str | type[Algorithm],
    *,
    horizon: int = 8,
    most_arms: int = 4,
    parameters: Mapping[str, Any] | None = None,
) -> Algorithm:
    """Return instances of an algorithm with drawn arms and epsilon, where it has one.

    `parameters` holds values, or strategies for values, of any parameter; the others keep their
    defaults. `horizon` goes to algorithms that must know theirs.
    """
    require_integer("most_arms", most_arms, 2)
    named = resolve(target) if isinstance(target, str) else Target(target.__name__, target)
    offered = {"arms": st.integers(2, most_arms), "epsilon": epsilons()}
    chosen: dict[str, Any] = {k: v for k, v in offered.items() if k in named.accepts}
    chosen |= parameters or {}
    values = {
        name: draw(value) if isinstance(value, st.SearchStrategy) else value
        for name, value in chosen.items()
    }
    return named.build(horizon, values)


def _lengths(horizon: int | None, shortest: int, longest: int) -> tuple[int, int]:
    low, high = (shortest, longest) if horizon is None else (horizon, horizon)
    require_integer("shortest" if horizon is None else "horizon", low, 1)
    require_integer("longest" if horizon is None else "horizon", high, low)
    return low, high
