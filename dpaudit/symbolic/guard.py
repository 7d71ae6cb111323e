"""The guard: the real program and its reading, side by side, before anything is called proved.

Both run on the same concrete rewards (random and extreme streams, some up to the horizon) with
generators of the same seeds; in the reading every symbol carries the double of the real program,
decisions follow these, and at each of them the form must have the value that the double says. Every
expression that the judged code evaluates must have the same value and type in both, in the same
order, and every action must agree; the reading goes on from a copy after each round, as the walk
does. What the walk has followed and no real run has reached was compared with nothing: then nothing
is concluded. A disagreement means that the code was misread.

Not covered: values that differ in types or texts only on paths that were not run, in expressions
that were.
"""

from __future__ import annotations

import ast
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit.errors import DpauditError
from dpaudit.sample.adapters import drive
from dpaudit.sample.guard import Generators, lent_randomness
from dpaudit.symbolic.arrays import array
from dpaudit.symbolic.chance import Source
from dpaudit.symbolic.drivers import actions_of, driver_of
from dpaudit.symbolic.loading import Loader
from dpaudit.symbolic.numeric import numeric_functions
from dpaudit.symbolic.poison import PoisonModule
from dpaudit.symbolic.probes import Probes
from dpaudit.symbolic.recording import Following, Record, recorded
from dpaudit.symbolic.roots import Roots
from dpaudit.symbolic.run import Disagreement, Escape, Run, active
from dpaudit.symbolic.snapshot import Copier
from dpaudit.symbolic.subject import CodeTarget, loader_of
from dpaudit.symbolic.tables import differing
from dpaudit.symbolic.values import Linear
from dpaudit.symbolic.wild import (
    WildGenerator,
    WildGenerators,
    WildRandom,
    WildState,
    wild_randomness,
)
from dpaudit.target import load_file

ROUNDS = 96
LONG = 1000  # rounds of a run that goes on
FINE, SHORT = 12, 6  # streams, and their rounds
DECIMALS = (0.1, 0.2, 0.3, 0.6, 0.7, 0.9, 1 / 3, 1e-30)
SEEDS = (1, 2)
TRIES = 60  # runs in search of what was not reached yet


class Misread(DpauditError):
    """The symbolic program is not the real one: a bug in dpaudit."""


class Unreached(DpauditError):
    """No real run has reached some line that was followed on symbols."""


def streams(rounds: int) -> list[Any]:
    """Return the concrete streams: extreme ones, one of whole numbers, and random ones."""
    rng = np.random.default_rng(16)
    return [
        np.zeros(rounds),
        np.ones(rounds),
        np.arange(rounds) % 2,
        rng.random(rounds),
        (rng.random(rounds) < 0.5) * 1.0,
        rng.integers(0, 2, rounds),
    ]


def fine_streams(rounds: int) -> list[Any]:
    """Return streams on whose rewards rounding shows: they have bits that few numbers have."""
    rng = np.random.default_rng(18)
    choice = [(rng.choice(DECIMALS, rounds), rng.random(rounds) ** 4) for _ in range(FINE)]
    return [np.where(rng.random(rounds) < 0.5, *it) for it in choice]


def side_by_side(
    target: CodeTarget,
    followed: frozenset[int] = frozenset(),
    horizon: int = 0,
    going: Callable[[], bool] = lambda: True,
) -> int:
    """Run both programs on every stream; return the rounds that agreed, or raise `Misread`.

    `followed` are the blocks of the walk, up to a horizon: all of them must be reached while it is
    going on.
    """
    horizon = horizon or target.horizon
    with lent_randomness(0):
        real = real_object(target)
        _require_same_modules(target)
        whole = driver_of(target.builder(real, np.random.default_rng(0))()) is None
    rounds = target.horizon if whole else min(horizon, ROUNDS)
    plans = [(rewards, seed) for rewards in streams(rounds) for seed in SEEDS]
    if horizon > rounds:
        plans += [(rewards, 3) for rewards in streams(min(horizon, LONG))[3:]]
    plans += [(rewards, 4) for rewards in fine_streams(rounds if whole else min(rounds, SHORT))]
    probes, closed, compared = Probes(), Probes(open=False), 0
    missing = set(followed)
    for rewards, seed in plans:
        record = _compare(target, rewards, seed, probes, wild=seed == SEEDS[-1])
        compared += len(rewards)
        missing -= record.blocks()
        _require_followed(record, followed, probes)
    for rewards, seed in plans[4:8] if probes.decorated else ():
        _compare(target, rewards, seed, closed, wild=seed == SEEDS[-1])
    rng, tried = np.random.default_rng(17), len(plans)
    missing &= probes.places.keys()  # of dpaudit's own files some are not compared
    for number in range(TRIES):
        if not missing or not going():
            break
        tried += 1
        length = target.horizon if whole else min(horizon, int(ROUNDS * 1.1**number))
        rewards = _shaped(rng, length)
        record = _compare(target, rewards, number, probes, wild=True)
        compared += len(rewards)
        missing -= record.blocks()
        _require_followed(record, followed, probes)
    if missing:
        file, line = min(probes.places[it] for it in missing)
        raise Unreached(
            f"{Path(file).name}:{line} is followed on symbols, but none of {tried} real runs "
            "reaches it, so that nothing shows that it was read aright"
        )
    return compared


def _require_same_modules(target: CodeTarget) -> None:
    """Raise unless the modules that were read are those that Python has just loaded."""
    loader, run = _drawing_loader(target, 0, None, False), Run(drawing=False, guarded=True)
    with active(run):
        loader.target(target.path, target.name, target.text)
    if loader.root is None:
        known = {name for name, it in loader.modules.items() if isinstance(it, PoisonModule)}
        missing = (f"the module {name}" for name in sorted(known - sys.modules.keys()))
        for what in (*missing, *differing(loader.own)):
            rule = "is not what Python has, so that nothing shows that it was read aright"
            raise Unreached(f"{what} {rule}")


def _require_followed(record: Record, followed: frozenset[int], probes: Probes) -> None:
    """Raise where a real run goes where the walk, which follows every outcome, has never been."""
    if not followed:
        return
    for file, line in sorted(probes.places[it] for it in record.begun - followed):
        tree = ast.parse(Path(file).read_bytes())
        functions = numeric_functions(ast.walk(tree))  # read as a whole
        ends = [(it.node.lineno, it.node.end_lineno or 0) for it in functions.values()]
        if not any(first <= line <= last for first, last in ends):
            where = f"{Path(file).name}:{line}"
            raise Misread(f"{where} is reached by a real run and was never followed.")


def _shaped(rng: Any, rounds: int) -> Any:
    """Return a stream whose level changes, so that arms differ."""
    level, found = rng.random(), np.empty(rounds)
    for number in range(rounds):
        if rng.random() < 0.1:
            level = rng.choice([0.0, 1.0, rng.random()])
        found[number] = level
    return found


def _compare(target: CodeTarget, rewards: Any, seed: int, probes: Probes, wild: bool) -> Record:
    """Run the program, the program with probes and its reading; raise unless they agree."""
    record, rounds = Record(probes), len(rewards)
    lent = wild_randomness if wild else lent_randomness
    made: Any = WildGenerator if wild else np.random.default_rng
    with lent(seed):
        rng = made(seed)
        policy = target.builder(real_object(target), rng)()
        wanted = drive(policy, rewards, target.arms, rng, target.text).tolist()
    with lent(seed), recorded(target.path, target.name, record) as source:
        rng = made(seed)
        again = drive(target.builder(source, rng)(), rewards, target.arms, rng, target.text)
    try:
        if again.tolist() != wanted:
            raise Disagreement(f"{target.path.name}:1: it plays otherwise when it is looked at")
        following = Following(record)
        found = played(target, rewards, seed, following=following, wild=wild)
        if found == wanted:
            following.finished()
    except Disagreement as error:
        raise Misread(f"TARGET={target.text} was misread at {error}; please report it.") from None
    if found != wanted:
        first = next(k for k in range(rounds) if found[k] != wanted[k])
        raise Misread(
            f"TARGET={target.text} was misread: at round {first + 1} it plays arm "
            f"{wanted[first]}, and arm {found[first]} on symbols; please report it."
        )
    return record


def real_object(target: CodeTarget) -> Any:
    """Return the object of the target, its file executed anew."""
    return getattr(load_file(target.path, target.text), target.name)


def _drawing_loader(
    target: CodeTarget, seed: int, following: Following | None, wild: bool
) -> Loader:
    """Return a loader of the judged file whose generators draw numbers from a seed."""
    real = following.record if following is not None else None
    return loader_of(
        target.path,
        generator=WildGenerators(seed) if wild else Generators(seed),
        legacy=WildState(seed) if wild else np.random.RandomState(seed),  # noqa: NPY002
        python=WildRandom(seed) if wild else random.Random(seed),
        scipy=np.random.RandomState(seed) if wild else None,  # noqa: NPY002
        probes=real.probes if real is not None else None,
        calls=following.calls() if following is not None else {},
        probed=real.files if real is not None else None,
    )


def played(
    target: CodeTarget,
    rewards: Any,
    seed: int,
    watch: Callable[[Run, int], bool] = lambda run, time: True,
    following: Following | None = None,
    wild: bool = False,
) -> list[int]:
    """Run the symbolic program on concrete rewards and seeded draws; return its actions.

    `watch(run, round)` is told every round and ends the run by returning False. With probes that
    follow a record, it goes on from a copy after every round, and nothing outside of it may change.
    """
    real = following.record if following is not None else None
    loader = _drawing_loader(target, seed, following, wild)
    run = Run(drawing=False, guarded=True)
    with active(run):
        source = loader.target(target.path, target.name, target.text)
        roots = Roots(loader.own, loader.modules.values()) if following is not None else None
        others = loader.files - real.files if real is not None and loader.root is None else set()
        for file in others:
            raise Escape(f"{Path(file).name}, which Python itself loads from elsewhere")
        run.drawing = True
        rng = Source(False, WildGenerator(seed) if wild else np.random.default_rng(seed))
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
            if roots is not None:  # as the walk does before the first round
                policy, memory = Copier(roots)([policy, memory])
            for number in range(len(rewards)):
                found.append(driver.turn(policy, memory, target.arms, number, reward))
                if not watch(run, number):
                    break
                run.first = run.next_symbol  # draws of before make no noise by hand any more
                if roots is not None:
                    policy, memory = Copier(roots)([policy, memory])
                    if name := roots.changed():
                        raise Escape(f"{name} changes while the policy runs")
    if run.escaped is not None:
        raise run.escaped
    return found
