"""The guard: the real program and the symbolic one, side by side, before anything is proved.

Both run on the same concrete rewards (random and extreme streams) with generators of the same seeds.
In the symbolic one every symbol carries the double of the real program, decisions follow these, and
at each of them the form must have the value that the double says. Every action must agree. A
disagreement means that the code was misread: a tool error, and nothing is concluded.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit.errors import DpauditError
from dpaudit.sample.adapters import drive
from dpaudit.symbolic.arrays import array
from dpaudit.symbolic.chance import Source
from dpaudit.symbolic.drivers import actions_of, driver_of
from dpaudit.symbolic.run import Disagreement, Run, active
from dpaudit.symbolic.subject import builder, loader_of
from dpaudit.symbolic.values import Linear
from dpaudit.target import load_file

ROUNDS = 96
SEEDS = (1, 2)


class Misread(DpauditError):
    """The symbolic program is not the real one: a bug in dpaudit."""


def streams(rounds: int) -> list[Any]:
    """Return the concrete streams: extreme ones and random ones."""
    rng = np.random.default_rng(16)
    return [
        np.zeros(rounds),
        np.ones(rounds),
        np.arange(rounds) % 2 * 1.0,
        rng.random(rounds),
        (rng.random(rounds) < 0.5) * 1.0,
    ]


class _Generators:
    """Real generators in place of unseeded ones: the same sequence on both sides."""

    def __init__(self, seed: int) -> None:
        self.seed, self.number = seed, 0

    def next(self, kind: str) -> int:
        """Return the next seed."""
        self.number += 1
        return 1000 * self.seed + self.number

    def __call__(self, kind: str) -> Any:
        made = {"Random": random.Random, "RandomState": _STATE, "default_rng": _RNG}
        return made[kind](self.next(kind))


_RNG, _STATE = np.random.default_rng, np.random.RandomState


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed the global generators, and give unseeded ones of the block seeds that are known."""
    saved: Any = np.random.get_state()  # noqa: NPY002
    saved_python = random.getstate()
    made = _Generators(seed)

    def default_rng(given: Any = None) -> Any:
        return made("default_rng") if given is None else _RNG(given)

    class state(_STATE):  # type: ignore[misc,valid-type]  # noqa: N801  numpy asks for a class
        def __init__(self, given: Any = None) -> None:
            super().__init__(made.next("RandomState") if given is None else given)

    numpy_random: Any = np.random
    numpy_random.default_rng, numpy_random.RandomState = default_rng, state
    np.random.seed(seed)  # noqa: NPY002
    random.seed(seed)
    try:
        yield
    finally:
        numpy_random.default_rng, numpy_random.RandomState = _RNG, _STATE
        np.random.set_state(saved)  # noqa: NPY002
        random.setstate(saved_python)


def side_by_side(
    path: Path, name: str, text: str, arms: int, horizon: int, epsilon: float
) -> int:
    """Run both programs on every stream; return the rounds that agreed, or raise `Misread`."""
    compared = 0
    with seeded(0):
        real = getattr(load_file(path, text), name)
        whole = driver_of(builder(real, arms, horizon, epsilon, _RNG(0))()) is None
    rounds = horizon if whole else min(horizon, ROUNDS)
    for rewards in streams(rounds):
        for seed in SEEDS:
            with seeded(seed):
                rng = _RNG(seed)
                policy = builder(real, arms, horizon, epsilon, rng)()
                wanted = drive(policy, rewards, arms, rng, text).tolist()
            try:
                found = _symbolic(path, name, text, arms, horizon, epsilon, rewards, seed)
            except Disagreement as error:
                raise Misread(f"TARGET={text} was misread at {error}; please report it.") from None
            if found != wanted:
                first = next(k for k in range(rounds) if found[k] != wanted[k])
                raise Misread(
                    f"TARGET={text} was misread: at round {first + 1} it plays arm {wanted[first]}, "
                    f"and arm {found[first]} on symbols; please report it."
                )
            compared += rounds
    return compared


def _symbolic(
    path: Path, name: str, text: str, arms: int, horizon: int, epsilon: float, rewards: Any, seed: int
) -> list[int]:
    loader = loader_of(
        path,
        generator=_Generators(seed),
        legacy=_STATE(seed),
        python=random.Random(seed),
    )
    run = Run(drawing=False, guarded=True)
    with active(run):
        target = loader.target(path, name, text)
        run.drawing = True
        rng = Source(False, _RNG(seed))
        policy = builder(target, arms, horizon, epsilon, rng)()
        driver = driver_of(policy)

        def reward(round: int) -> Any:
            number = float(rewards[round])
            return Linear(0, {run.row(round, number): 1}, {}, number)

        if driver is None:
            stream = array([reward(k) for k in range(len(rewards))])
            found = actions_of(policy(stream, rng), len(rewards), arms)
        else:
            driver.begin(policy, arms)
            memory: dict[str, Any] = {}
            found = [
                driver.turn(policy, memory, arms, k, reward) for k in range(len(rewards))
            ]
    if run.escaped is not None:
        raise run.escaped
    return found
