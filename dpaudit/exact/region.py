"""The region of noise that a decision path stands for: independent releases, and comparisons.

A path is a list of releases x_e = (sum of its rows) / divisor + Z_e with independent Z_e, and of
decisions, each of which reads for every arm the sum of one or more of these releases. Its
likelihood is the probability that all the decisions come out as they did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.algorithm import Accumulate, Choose, Keep, Register, Release, Respond, Rows
from dpaudit.core.arithmetic import exact
from dpaudit.core.noise import Gaussian, Laplace, Noise
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact.known import require_known
from dpaudit.exact.paths import Decided, Path, Prepared

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Batch:
    """A release's noise, divisor and number of rows: what its law depends on, but for rewards.

    Laplace and Gaussian noise is known by the rational that its parameter stands for.
    """

    noise: Noise
    divisor: Fraction
    rows: int

    @cached_property
    def rate(self) -> Fraction:
        """1 / scale of Laplace noise; raise `Unsupported` for any other."""
        if not isinstance(self.noise, Laplace):
            kind = type(self.noise).__name__
            raise Unsupported(f"The exact engine integrates Laplace noise only, not {kind}.")
        return 1 / exact(self.noise.scale)

    @cached_property
    def _hash(self) -> int:
        return hash((self.noise, self.divisor, self.rows))

    def __hash__(self) -> int:
        """Return the hash, computed once: kinds are keys, and fractions are slow to hash."""
        return self._hash

    def centre(self, total: Fraction | int) -> Fraction:
        """Return the centre for a sum of rewards."""
        return Fraction(total) / self.divisor


@dataclass(frozen=True)
class Episode:
    """One release that some decision reads: which rows of the stream it sums, and its kind."""

    rows: Rows
    steps: tuple[range, ...]
    kind: Batch

    def __len__(self) -> int:
        return self.kind.rows


@dataclass(frozen=True)
class Decision:
    """A choice: what each arm showed (indices of episodes, summed) and which outcome it had."""

    request: Choose | Keep
    shown: tuple[tuple[int, ...], ...]
    outcome: Any

    @property
    def arms(self) -> tuple[int, ...]:
        """The arms that the decision is about."""
        return self.request.arms


@dataclass(frozen=True)
class Region(Prepared):
    """The releases that matter for a path and the decisions they went into, in time order."""

    episodes: tuple[Episode, ...]
    decisions: tuple[Decision, ...]

    def centres(self, sums: Mapping[int, Fraction | int]) -> dict[int, Fraction]:
        """Return the centres of all releases by the sums of their rewards."""
        return {i: episode.kind.centre(sums[i]) for i, episode in enumerate(self.episodes)}


def region_of(path: Path) -> Region:
    """Return the region of a path, with only the releases that some decision reads."""
    return path.prepared(_region)


def _region(path: Path) -> Region:
    releases: list[tuple[Release | Accumulate, tuple[range, ...]]] = []
    held: dict[Register, tuple[int, ...]] = {}
    decided: list[tuple[Choose | Keep, tuple[tuple[int, ...], ...], Any]] = []
    factors: dict[int, Fraction] = {}
    for event in path.events:
        if isinstance(event, Respond):
            raise Unsupported("A randomised response and noise on one path have no exact sum.")
        if isinstance(event, Release | Accumulate):
            require_known(event)
            index = len(releases)
            releases.append((event, tuple(path.steps(event.rows))))
            before = held.get(event.register, ()) if isinstance(event, Accumulate) else ()
            held[event.register] = (*before, index)
        elif isinstance(event, Decided):
            require_known(event.request, weighted=True)
            request = event.request
            shown = tuple(tuple(i for r in group for i in held[r]) for group in request.registers)
            if isinstance(request, Keep) and request.weights is not None:
                if any(len(held[name]) > 1 for group in request.registers for name in group):
                    raise Unsupported("A register of weighted sums adds up releases.")
                own = _factors(request, shown)
                request, shown = replace(request, weights=None), tuple((i,) for i in own)
                factors |= own
            decided.append((request, shown, event.outcome))
    reads = [i for _, shown, _ in decided for group in shown for i in group]
    if any(reads.count(i) > 1 for i in factors):
        raise Unsupported("A release of weighted sums is read more than once.")
    read = sorted(set(reads))
    place = {index: position for position, index in enumerate(read)}
    episodes = []
    for index in read:
        (event, steps), factor = releases[index], factors.get(index, Fraction(1))
        noise, divisor = _scaled(event.noise, factor), Fraction(event.divisor) / factor
        episodes.append(Episode(event.rows, steps, Batch(noise, divisor, sum(map(len, steps)))))
    decisions = tuple(
        Decision(request, tuple(tuple(place[i] for i in group) for group in shown), outcome)
        for request, shown, outcome in decided
    )
    return Region(tuple(episodes), decisions)


def _factors(keep: Keep, shown: tuple[tuple[int, ...], ...]) -> dict[int, Fraction]:
    """Return two releases with positive factors whose difference a weighted elimination looks at.

    Between two arms it is known by x_0 - x_1, a sum of releases by the differences of their
    weights. Of two releases, one with a positive and one with a negative part, that is the
    difference of two scaled ones.
    """
    assert keep.weights is not None
    apart: dict[int, Fraction] = {}
    for sign, group, weights in zip((1, -1), shown, keep.weights, strict=False):
        for index, weight in zip(group, weights, strict=True):
            apart[index] = apart.get(index, Fraction(0)) + sign * Fraction(weight)
    parts = sorted(((part, index) for index, part in apart.items() if part), reverse=True)
    if len(shown) != 2 or len(parts) != 2 or not parts[0][0] > 0 > parts[1][0]:
        raise Unsupported("Weighted sums are compared between two arms, of a release for each.")
    return {parts[0][1]: parts[0][0], parts[1][1]: -parts[1][0]}


def _scaled(noise: Noise, factor: Fraction) -> Noise:
    """Return the law of a draw times a positive factor, by rationals where they are known."""
    try:
        if isinstance(noise, Laplace):
            return Laplace(exact(noise.scale) * factor)
        if isinstance(noise, Gaussian):
            return Gaussian(variance=exact(noise.variance) * factor**2)
    except InvalidArgument:
        raise Unsupported("A weight is too large or too small beside its noise.") from None
    if factor != 1:
        raise Unsupported(f"{type(noise).__name__} noise in weighted sums has no likelihood.")
    return noise


def require_rewards(rewards: Sequence[float] | Array, horizon: int) -> Array:
    """Return rewards as an array; raise unless they are `horizon` numbers in [0, 1]."""
    try:
        values = np.asarray(rewards, dtype=float)
    except (TypeError, ValueError):
        raise InvalidArgument("rewards", f"{rewards!r}"[:60], "must be numbers.") from None
    if values.shape != (horizon,):
        raise InvalidArgument("rewards", list(values.shape), f"must be a row of {horizon} rewards.")
    if (outside := values[~((values >= 0) & (values <= 1))]).size:
        raise InvalidArgument("reward", float(outside[0]), "must lie in [0, 1].")
    return values
