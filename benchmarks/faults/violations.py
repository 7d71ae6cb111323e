"""Shows that a wrong policy violates epsilon, by real runs alone: nothing here uses dpaudit.

Pairs of binary streams are tried on a few runs, an event is chosen there (a set of action
sequences,
or a threshold on the pulls of an arm), and fresh runs judge it: the lower confidence bound on
P(E) and
the upper one on P'(E), each at half the error, must lie more than e^epsilon apart.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import beta

ERROR = 1e-6
ARMS, EPSILON = 2, 1.0
TRIED, JUDGED = 400, 30_000


@dataclass(frozen=True)
class Shown:
    """A pair, an event in words, and the bound on the loss that fresh runs give."""

    stream: tuple[float, ...]
    position: int
    event: str
    loss: float


def build(kind: Any, seed: int) -> Any:
    """Return a policy; what it draws is fixed by the seed."""
    names = kind.__init__.__code__.co_varnames if isinstance(kind, type) else ()
    given: dict[str, Any] = {"arms": ARMS, "epsilon": EPSILON}
    if "rng" in names:
        given["rng"] = np.random.default_rng(seed)
    return kind(**given)


def run(kind: Any, stream: tuple[float, ...], seed: int) -> tuple[int, ...]:
    """Return the actions of one run."""
    np.random.seed(seed)  # noqa: NPY002
    import random

    random.seed(seed)
    policy = build(kind, seed)
    if hasattr(policy, "startGame"):
        policy.startGame()
        choose, learn = policy.choice, policy.getReward
    elif hasattr(policy, "pull"):
        choose, learn = (lambda: policy.pull([0, 1])), policy.update
    else:
        choose, learn = policy.select, policy.update
    actions = []
    for reward in stream:
        arm = int(choose())
        actions.append(arm)
        learn(arm, reward)
    return tuple(actions)


def counts(kind: Any, stream: tuple[float, ...], runs: int, seed: int) -> dict[Any, int]:
    """Return how often each action sequence occurs (each number of pulls, for long streams)."""
    found: dict[Any, int] = {}
    for number in range(runs):
        actions = run(kind, stream, seed * 1_000_003 + number)
        key = actions if len(stream) <= 14 else sum(actions)
        found[key] = found.get(key, 0) + 1
    return found


def event(one: dict[Any, int], other: dict[Any, int]) -> set[Any]:
    """Return the outcomes that are likelier by more than e^epsilon, cautiously."""
    ratio = math.exp(EPSILON)
    return {key for key, n in one.items() if n + 0.0 > ratio * (other.get(key, 0) + 1.0)}


def bound(hits: int, hits_other: int, runs: int) -> float:
    """Return a lower bound on log P(E)/P'(E) that holds with probability 1 - ERROR."""
    low = beta.ppf(ERROR / 2, hits, runs - hits + 1) if hits else 0.0
    high = beta.ppf(1 - ERROR / 2, hits_other + 1, runs - hits_other) if hits_other < runs else 1.0
    return math.log(low / high) if low > 0 else -math.inf


def violated(kind: Any, streams: list[tuple[float, ...]], seed: int = 1) -> Shown | None:
    """Return a pair and an event whose loss is above epsilon at error 1e-6; None if not found."""
    known = {stream: counts(kind, stream, TRIED, seed) for stream in streams}
    ranked = []
    for stream, position in itertools.product(streams, range(len(streams[0]))):
        flipped = (*stream[:position], 1.0 - stream[position], *stream[position + 1 :])
        if flipped not in known:
            known[flipped] = counts(kind, flipped, TRIED, seed + 1)
        chosen = event(known[stream], known[flipped])
        hits = sum(known[stream].get(key, 0) for key in chosen)
        against = sum(known[flipped].get(key, 0) for key in chosen)
        score = hits * (math.log((hits + 0.5) / (against + 1.5)) - EPSILON) if hits else 0.0
        ranked.append((score, stream, position, flipped))
    ranked.sort(key=lambda it: -it[0])
    for _, stream, position, flipped in ranked[:3]:
        one, other = (
            counts(kind, s, JUDGED // 2, seed + 2 + k) for k, s in enumerate((stream, flipped))
        )
        chosen = event(one, other)
        fresh = [counts(kind, s, JUDGED, seed + 9 + k) for k, s in enumerate((stream, flipped))]
        hits, against = (sum(it.get(key, 0) for key in chosen) for it in fresh)
        loss = bound(hits, against, JUDGED)
        if loss > EPSILON:
            words = f"{len(chosen)} of the outcomes, {hits} against {against} of {JUDGED} runs"
            return Shown(stream, position, words, loss)
    return None


def binary(horizon: int) -> list[tuple[float, ...]]:
    """Return all binary streams of a length."""
    return [tuple(map(float, bits)) for bits in itertools.product((0, 1), repeat=horizon)]


def blocks(length: int, number: int, rest: int) -> list[tuple[float, ...]]:
    """Return the streams that are constant on blocks, and zero in the end."""
    return [
        (*(float(bit) for bit in bits for _ in range(length)), *([0.0] * rest))
        for bits in itertools.product((0, 1), repeat=number)
    ]
