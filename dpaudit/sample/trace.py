"""The gray box: run foreign code on two neighbouring streams and see where the change gets through.

The first run records every release: a Laplace or Gaussian draw added to a number. The second run
gets the neighbouring stream and the same seed, and is handed the first run's released values. Then

- a release whose covered value changed by d under Laplace noise of scale b has let through d / b;
  above epsilon, alone or in sum over the run, it is too much for its noise (Gaussian noise never
  gives a finite pure epsilon);
- an action that still differs depends on a reward that was never noised; the lines where raw
  rewards became ordinary numbers, and differ between the runs, say where.

This diagnoses and proves nothing: it sees one pair, one seed and one control flow at a time. A
finding offers its pair, and the actions up to the first difference, to the sampler.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.errors import InvalidArgument
from dpaudit.sample.boxes import PolicyBox
from dpaudit.sample.guard import PolicyError
from dpaudit.sample.recorder import Covered, Place, Recorder, Seen
from dpaudit.sample.streams import Pair, Stream
from dpaudit.sample.taint import Raw, TracingGenerator


@dataclass(frozen=True)
class Leak:
    """A release that changed too much for its noise; `charge` is the largest loss seen."""

    place: Place
    law: str
    scale: float
    change: float
    charge: float
    pair: Pair


@dataclass(frozen=True)
class Unnoised:
    """The first action that differs although all released values are the same."""

    step: int
    arm: int
    arm_neighbour: int
    places: tuple[Place, ...]
    pair: Pair
    seed: int


@dataclass(frozen=True)
class Trace:
    """What the runs on one pair showed."""

    pair: Pair
    seed: int
    leaks: tuple[Leak, ...]
    charge: float
    unnoised: Unnoised | None


@dataclass(frozen=True)
class Diagnosis:
    """What the runs on all pairs showed: the worst per source line."""

    target: str
    epsilon: float
    pairs: int
    releases: int
    leaks: tuple[Leak, ...]
    charge: float
    charge_pair: Pair | None
    unnoised: Unnoised | None

    @property
    def suspicious(self) -> bool:
        """Whether anything was found."""
        return bool(self.leaks) or self.unnoised is not None or self.charge > self.allowed

    @property
    def allowed(self) -> float:
        """The charge that the claim allows, with room for rounding."""
        return self.epsilon * (1 + 1e-9)

    @property
    def offered(self) -> tuple[Pair, int | None] | None:
        """The pair for the sampler, and how many actions its event should look at."""
        if self.unnoised is not None:
            return self.unnoised.pair, self.unnoised.step + 1
        if self.leaks:
            return self.leaks[0].pair, None
        return (self.charge_pair, None) if self.suspicious and self.charge_pair else None


def _run(
    box: PolicyBox, stream: Stream, seed: int, file: str, frozen: tuple[Covered, ...]
) -> tuple[list[int], Recorder]:
    """Run once with numbers that remember; plain rewards if the policy cannot take them."""
    for wrap in (True, False):
        recorder = Recorder(file, frozen)
        rng = TracingGenerator(np.random.default_rng(seed), recorder)
        rewards = stream.array()
        try:
            given = _Rewards(rewards, recorder) if wrap else rewards
            return [int(arm) for arm in box.run_once(given, rng, recorder.chosen)], recorder
        except PolicyError:
            if not wrap:
                raise
    raise AssertionError("unreachable")


class _Rewards(np.ndarray[Any, Any]):
    """An object array of raw rewards."""

    def __new__(cls, rewards: Any, recorder: Recorder) -> _Rewards:
        """Return the rewards, each wrapped."""
        items = np.empty(len(rewards), dtype=object)
        items[:] = [Raw(reward, recorder) for reward in rewards.tolist()]
        return items.view(cls)


def trace_pair(box: PolicyBox, pair: Pair, epsilon: float, seed: int, file: str) -> Trace:
    """Compare one run on each stream of a pair."""
    actions, first = _run(box, pair.stream, seed, file, ())
    others, second = _run(box, pair.neighbour, seed, file, tuple(first.covered))
    apart = next((t for t, (a, b) in enumerate(zip(actions, others, strict=True)) if a != b), None)
    # beyond the first different action the runs do different things: nothing is comparable
    covered, seen = first.before(apart)
    covered_second, seen_second = second.before(apart)
    leaks, total = [], 0.0
    for left, right in zip(covered, covered_second, strict=False):
        if left.place != right.place:
            break  # the runs have parted: what follows is not comparable
        change = abs(left.value - right.value)
        if change == 0:
            continue
        charge = change / left.scale if left.law == "Laplace" and left.scale > 0 else np.inf
        total += charge
        if charge > epsilon * (1 + 1e-9):
            leaks.append(Leak(left.place, left.law, left.scale, change, charge, pair))
    unnoised = None
    if apart is not None:
        places = _culprits(seen, seen_second, file)
        unnoised = Unnoised(apart, actions[apart], others[apart], places, pair, seed)
    return Trace(pair, seed, tuple(leaks), total, unnoised)


def _culprits(first: Sequence[Seen], second: Sequence[Seen], file: str) -> tuple[Place, ...]:
    """Return the lines of the target where raw values that differ became ordinary numbers."""
    found: dict[Place, None] = {}
    for left, right in zip(first, second, strict=False):
        if left.place != right.place:
            break
        if left.value != right.value and left.place.file == file:
            found.setdefault(left.place)
    return tuple(found)


def diagnose(
    box: PolicyBox, pairs: Sequence[Pair], epsilon: float, seeds: Sequence[int], file: str
) -> Diagnosis:
    """Trace every pair with every seed and return the worst of what was seen, per source line."""
    leaks: dict[Place, Leak] = {}
    charge, charge_pair, unnoised, releases = 0.0, None, None, 0
    for trace in _traces(box, pairs, epsilon, seeds, file):
        for leak in trace.leaks:
            if leak.place not in leaks or leak.charge > leaks[leak.place].charge:
                leaks[leak.place] = leak
        if trace.charge > charge:
            charge, charge_pair = trace.charge, trace.pair
        found = trace.unnoised
        if found and (
            unnoised is None
            or (not found.places, found.step) < (not unnoised.places, unnoised.step)
        ):
            unnoised = found
    _, recorder = _run(box, pairs[0].stream, seeds[0], file, ())
    releases = len(recorder.covered)
    ranked = tuple(sorted(leaks.values(), key=lambda leak: -leak.charge))
    return Diagnosis(box.name, epsilon, len(pairs), releases, ranked, charge, charge_pair, unnoised)


def _traces(
    box: PolicyBox, pairs: Sequence[Pair], epsilon: float, seeds: Sequence[int], file: str
) -> Iterator[Trace]:
    if not pairs:
        raise InvalidArgument("pairs", 0, "must be at least 1.")
    for pair in pairs:
        for seed in seeds:
            yield trace_pair(box, pair, epsilon, seed, file)
