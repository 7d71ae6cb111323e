"""An independent oracle: a declaration run many times, the runs of one public state as a batch.

It shares the declaration with the engines and nothing else: registers are arrays of sampled values,
and a decision splits the runs by what the rule itself chooses on them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpaudit.core.algorithm import Accumulate, Algorithm, Choose, Keep, Play, Release, Rows
from dpaudit.core.arithmetic import FLOAT
from dpaudit.exact.likelihood import Likelihood

RUNS = 200_000


def frequencies(
    algorithm: Algorithm, stream: Any, runs: int = RUNS, seed: int = 0
) -> dict[tuple[int, ...], float]:
    """Return how often each action sequence came up."""
    rewards, rng = np.asarray(stream, dtype=float), np.random.default_rng(seed)
    found: dict[tuple[int, ...], float] = {}
    start: Any = (algorithm.start(), {}, (), ((),) * algorithm.arms, runs)
    pending = [start]
    while pending:
        state, registers, actions, steps, size = pending.pop()
        step = algorithm.step(state)
        request, answer = step.request, None
        if isinstance(request, Play):
            rounds, own = min(request.rounds, len(rewards) - len(actions)), steps[request.arm]
            answer = Rows(request.arm, len(own), len(own) + rounds)
            own = (*own, *range(len(actions), len(actions) + rounds))
            actions = (*actions, *(request.arm,) * rounds)
            if len(actions) == len(rewards):
                found[actions] = found.get(actions, 0.0) + size / runs
                continue
            steps = (*steps[: request.arm], own, *steps[request.arm + 1 :])
        elif isinstance(request, Release | Accumulate):
            rows = list(steps[request.rows.arm][request.rows.first : request.rows.stop])
            value = rewards[rows].sum() / float(request.divisor) + request.noise.draw(rng, size)
            if isinstance(request, Accumulate):
                value = value + registers.get(request.register, 0.0)
            registers = {**registers, request.register: value}
        else:
            groups = [sum(registers[name] for name in group) for group in request.registers]
            for outcome, chosen in _split(request, np.stack(groups, axis=-1), rng):
                kept = {name: value[chosen] for name, value in registers.items()}
                if chosen.any():
                    after = step.then(outcome)
                    pending.append((after, kept, actions, steps, int(chosen.sum())))
            continue
        pending.append((step.then(answer), registers, actions, steps, size))
    return found


def _split(request: Choose | Keep, shown: Any, rng: Any) -> list[tuple[Any, Any]]:
    if isinstance(request, Choose):
        winner = np.asarray(request.rule(FLOAT).winner(shown, rng))
        return [(arm, winner == position) for position, arm in enumerate(request.arms)]
    near = shown >= shown.max(axis=-1, keepdims=True) - float(request.width(FLOAT))
    patterns = {tuple(row) for row in near.tolist()}
    return [
        (
            tuple(arm for arm, kept in zip(request.arms, pattern, strict=True) if kept),
            (near == np.array(pattern)).all(axis=-1),
        )
        for pattern in sorted(patterns)
    ]


def agrees(found: Likelihood, frequency: float, runs: int = RUNS) -> bool:
    """Whether a frequency is within 7 standard errors: a false alarm has probability below 1e-11.

    (Below a likelihood of 1e-3 the binomial law is not normal; 2e-4 is added, ten times its
    deviation there and more.)
    """
    deviation = math.sqrt(max(found.upper * (1 - found.lower), 0.0) / runs)
    slack = 7 * deviation + (2e-4 if found.upper < 1e-3 else 0.0)
    return found.lower - slack <= frequency <= found.upper + slack
