"""The guard: the real program and the symbolic one, side by side, before anything is called proved.

Both run on the same concrete rewards (random and extreme streams) with generators of the same
seeds.
In the symbolic one every symbol carries the double of the real program, decisions follow these, and
at each of them the form must have the value that the double says. Every action must agree. A
disagreement means that the code was misread: a tool error, and nothing is concluded.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from dpaudit.errors import DpauditError
from dpaudit.sample.adapters import drive
from dpaudit.sample.guard import Generators, lent_randomness
from dpaudit.symbolic.arrays import array
from dpaudit.symbolic.chance import Source
from dpaudit.symbolic.drivers import actions_of, driver_of
from dpaudit.symbolic.run import Disagreement, Run, active
from dpaudit.symbolic.subject import Target, loader_of
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


def side_by_side(target: Target) -> int:
    """Run both programs on every stream; return the rounds that agreed, or raise `Misread`."""
    compared = 0
    with lent_randomness(0):
        real = _real(target)
        whole = driver_of(target.builder(real, np.random.default_rng(0))()) is None
    rounds = target.horizon if whole else min(target.horizon, ROUNDS)
    for rewards in streams(rounds):
        for seed in SEEDS:
            with lent_randomness(seed):
                rng = np.random.default_rng(seed)
                policy = target.builder(_real(target), rng)()
                wanted = drive(policy, rewards, target.arms, rng, target.text).tolist()
            try:
                found = played(target, rewards, seed)
            except Disagreement as error:
                raise Misread(
                    f"TARGET={target.text} was misread at {error}; please report it."
                ) from None
            if found != wanted:
                first = next(k for k in range(rounds) if found[k] != wanted[k])
                raise Misread(
                    f"TARGET={target.text} was misread: at round {first + 1} it plays arm "
                    f"{wanted[first]}, and arm {found[first]} on symbols; please report it."
                )
            compared += rounds
    return compared


def _real(target: Target) -> Any:
    """Return the object of the target, its file executed anew."""
    return getattr(load_file(target.path, target.text), target.name)


def played(
    target: Target,
    rewards: Any,
    seed: int,
    watch: Callable[[Run, int], bool] = lambda run, time: True,
) -> list[int]:
    """Run the symbolic program on concrete rewards and seeded draws; return its actions.

    `watch(run, round)` is told every round and ends the run by returning False.
    """
    loader = loader_of(
        target.path,
        generator=Generators(seed),
        legacy=np.random.RandomState(seed),  # noqa: NPY002
        python=random.Random(seed),
    )
    run = Run(drawing=False, guarded=True)
    with active(run):
        source = loader.target(target.path, target.name, target.text)
        run.drawing = True
        rng = Source(False, np.random.default_rng(seed))
        policy = target.builder(source, rng)()
        driver = driver_of(policy)

        def reward(round: int) -> Any:
            number = float(rewards[round])
            return Linear(0, {run.row(round, number): 1}, {}, number)

        if driver is None:
            stream = array([reward(k) for k in range(len(rewards))])
            found = actions_of(policy(stream, rng), len(rewards), target.arms)
            watch(run, len(rewards) - 1)
        else:
            driver.begin(policy, target.arms)
            memory: dict[str, Any] = {}
            found = []
            for time in range(len(rewards)):
                found.append(driver.turn(policy, memory, target.arms, time, reward))
                if not watch(run, time):
                    break
    if run.escaped is not None:
        raise run.escaped
    return found
