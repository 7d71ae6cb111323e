"""Growth of the exact engine with the horizon: paths, time and memory, with enumeration beside it.

    python benchmarks/exact.py                                    # every part, up to the targets
    python benchmarks/exact.py floating --algorithms adap_ucb --longest 256
    python benchmarks/exact.py certified sequence quick

Parts
  floating   the largest loss over every action sequence and every pair of streams in [0,1]^T;
             beside it brute force over binary streams at the same horizon up to --enumerate, and
             the ratio of the two times; beyond a thousand paths a climb and the charges
  certified  the same in ball arithmetic
  sequence   one given action sequence of ten million rounds
  quick      likelihoods of random paths by either engine: widths and time

`cpu` is the process's own time over all threads, so that a busy
machine counts less; `wall` is what a user waits on this one. Rows of more arms: --arms 3.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Iterator

import numpy as np

from dpaudit.core.algorithms import load
from dpaudit.exact import WorstLoss, likelihood, worst_loss
from dpaudit.exact.enumerate import worst_pair
from dpaudit.exact.likelihood import ENGINES
from dpaudit.exact.paths import path_through

PARTS = ("floating", "certified", "sequence", "quick")
CERTIFIED = {"adap_ucb": 64, "adap_klucb": 32}


def timed(work: Callable[[], WorstLoss]) -> tuple[WorstLoss, float, float]:
    """Return a result, its CPU seconds and its wall seconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    found = work()
    return found, time.process_time() - cpu, time.perf_counter() - wall


def horizons(longest: int) -> Iterator[int]:
    """Yield 4, 8, 16, ... up to the longest."""
    horizon = 4
    while horizon <= longest:
        yield horizon
        horizon *= 2


def row(name: str, arms: int, found: WorstLoss, cpu: float, wall: float, rest: str) -> None:
    """Print one line of a table."""
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    chance = "-" if found.witness is None else f"{found.witness.likelihood.upper:.1e}"
    print(
        f"{name:<11}{arms:>2}{found.horizon:>6}{found.paths:>8}"
        f"  [{found.loss.lower:.10f}, {found.loss.upper:.10f}]{chance:>9}"
        f"{cpu:>9.2f}{wall:>9.2f}{memory:>7.0f}{rest}",
        flush=True,
    )


def header(title: str, rest: str = "") -> None:
    """Print the head of a table."""
    print(
        f"\n{title}\nalgorithm   K     T   paths  epsilon* (epsilon = 1)        "
        f"  likelihood  cpu s   wall s     MB{rest}"
    )


def floating(names: list[str], arms: int, longest: int, brute_to: int) -> None:
    """Print the growth of the floating-point search, and of enumeration."""
    header("floating point", "    binary enumeration, ratio")
    for name in names:
        algorithm = load(name, arms=arms)
        for horizon in horizons(longest):
            found, cpu, wall = timed(
                lambda a=algorithm, t=horizon: worst_loss(a, t)  # type: ignore[misc]
            )
            rest = ""
            if horizon <= brute_to:
                began = time.process_time()
                worst_pair(algorithm, horizon, (0.0, 1.0))
                spent = time.process_time() - began
                rest = f"{spent:>12.2f}{spent / cpu:>8.2f}"
            row(name, arms, found, cpu, wall, rest)


def certified(names: list[str], arms: int) -> None:
    """Print the growth of the certified search."""
    header("certified", "    width")
    for name in names:
        algorithm = load(name, arms=arms)
        for horizon in horizons(CERTIFIED.get(name, 16)):
            found, cpu, wall = timed(lambda a=algorithm, t=horizon: worst_loss(a, t))  # type: ignore[misc]
            row(name, arms, found, cpu, wall, f"{found.loss.width:>9.1e}")


def sequence(names: list[str]) -> None:
    """Print the time of one given action sequence of ten million rounds."""
    horizon = 10**7
    print("\none action sequence, K = 2, T = 10^7: median of 5 after a warm-up")
    for name in names:
        algorithm = load(name, arms=2)
        rewards = np.full(horizon, 0.5)
        spent = []
        for turn in range(6):
            word = [(i // (turn + 1)) % 2 for i in range(96)]
            actions = path_through(algorithm, horizon, word).actions
            began = time.process_time()
            found = likelihood(algorithm, actions, rewards, engine="float")
            spent.append(time.process_time() - began)
        print(f"{name:<11} log-likelihood {found.log_lower:.6f}  cpu {np.median(spent[1:]):.3f} s")


def quick(names: list[str]) -> None:
    """Print how wide a quick look at a likelihood is, beside a fine one, and what it costs."""
    print("\na quick look beside a fine one: the widest of 10 random paths, CPU of all")
    for name in names:
        algorithm = load(name, arms=2)
        for horizon in (16, 64, 1024) if name == "adap_ucb" else (8, 32, 128):
            found = []
            for engine in ENGINES:
                rng, began, widest = np.random.default_rng(1), time.process_time(), 0.0
                for _ in range(10):
                    path = path_through(algorithm, horizon, rng.integers(0, 2, 96).tolist())
                    stream = rng.integers(0, 2, horizon).astype(float)
                    seen = likelihood(algorithm, path.actions, stream, engine)
                    widest = max(widest, seen.log_upper - seen.log_lower)
                found.append(f"{engine} {widest:.1e} in {time.process_time() - began:.2f} s")
            print(f"{name:<11} T = {horizon:<5} {', '.join(found)}", flush=True)


def main() -> None:
    """Print the tables asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=list(PARTS))
    parser.add_argument("--longest", type=int, default=1024)
    parser.add_argument("--arms", type=int, default=2)
    parser.add_argument("--enumerate", type=int, default=8)
    parser.add_argument("--algorithms", nargs="+", default=["adap_ucb", "adap_klucb"])
    given = parser.parse_args()
    if "sequence" in given.parts:
        sequence(given.algorithms)
    if "quick" in given.parts:
        quick(given.algorithms)
    if "certified" in given.parts:
        certified(given.algorithms, given.arms)
    if "floating" in given.parts:
        floating(given.algorithms, given.arms, given.longest, given.enumerate)


if __name__ == "__main__":
    main()
