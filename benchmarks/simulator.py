"""Steps per second: the simulator, river's UCB, and a compiled loop that takes every step.

    python -m venv .venv-bench
    .venv-bench/bin/pip install . river
    .venv-bench/bin/python benchmarks/simulator.py

Every ratio is between medians measured in turn within this run. river is timed on `pull` and
`update` alone, with its rewards drawn beforehand; our times include drawing rewards and noise.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable

import numba
import numpy as np

from dpaudit import load
from dpaudit.core.environments import named
from dpaudit.core.kernels import upper_bound
from dpaudit.core.simulate import simulate

ENVIRONMENT = named("C2")
ARMS, HORIZON, RUNS, REPEATS = 5, 10**7, 20, 7


@numba.njit(cache=True)
def loop(
    kl: bool,
    means: np.ndarray,
    epsilon: float,
    alpha: float,
    horizon: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """AdaP-UCB or AdaP-KLUCB for one run, one Bernoulli draw per step."""
    arms = len(means)
    pulls = np.zeros(arms, np.int64)
    register = np.zeros(arms)
    time = 0
    while time < horizon:
        arm = time
        rounds = 1
        if time >= arms:
            best = -math.inf
            for a in range(arms):
                n = pulls[a] / 2
                width = alpha * math.log(time + 1.0) / n
                if kl:
                    value = upper_bound(min(max(register[a] + width / epsilon, 0.0), 1.0), width)
                else:
                    value = register[a] + math.sqrt(width / 2) + width / epsilon
                if value > best:
                    best, arm = value, a
            rounds = pulls[arm]
        rounds = min(rounds, horizon - time)
        total = 0.0
        p = means[arm]
        for _ in range(rounds):
            total += rng.random() < p
        time += rounds
        pulls[arm] += rounds
        register[arm] = total / rounds + rng.laplace(0.0, 2.0 / (epsilon * pulls[arm]))
    return pulls


def river_ucb(steps: int = 20_000) -> float:
    """Return river's steps per second."""
    from river import bandit

    policy = bandit.UCB(delta=1, seed=0)
    rewards = (np.random.default_rng(0).random((steps, ARMS)) < ENVIRONMENT.means).tolist()
    arms = list(range(ARMS))
    start = time.perf_counter()
    for row in rewards:
        arm = policy.pull(arms)
        policy.update(arm, row[arm])
    return steps / (time.perf_counter() - start)


def episodes(name: str, horizon: int) -> Callable[[], float]:
    """Return a measurement of our simulator in simulated steps per second."""
    algorithm = load(name, arms=ARMS)

    def measure() -> float:
        start = time.perf_counter()
        simulate(algorithm, ENVIRONMENT, horizon, RUNS)
        return RUNS * horizon / (time.perf_counter() - start)

    return measure


def per_step(name: str, horizon: int = 10**6) -> Callable[[], float]:
    """Return a measurement of a compiled kernel in steps per second."""
    values = {"horizon": horizon} if name == "dp_ucb" else {}
    algorithm = load(name, arms=ARMS, **values)

    def measure() -> float:
        start = time.perf_counter()
        simulate(algorithm, ENVIRONMENT, horizon, 1)
        return horizon / (time.perf_counter() - start)

    return measure


def compiled_loop(kl: bool) -> Callable[[], float]:
    """Return a measurement of the compiled loop, one run of the full horizon."""
    means, rng = np.array(ENVIRONMENT.means), np.random.default_rng(0)

    def measure() -> float:
        start = time.perf_counter()
        loop(kl, means, 1.0, 3.1, HORIZON, rng)
        return HORIZON / (time.perf_counter() - start)

    return measure


def main() -> None:
    """Measure everything in turn and print rates and ratios."""
    measures: dict[str, Callable[[], float]] = {
        "river UCB": river_ucb,
        "ucb kernel": per_step("ucb"),
        "dp_ucb kernel": per_step("dp_ucb"),
        "kl_ucb kernel": per_step("kl_ucb", 10**5),
    }
    for name in ("adap_ucb", "adap_klucb"):
        measures[f"{name} compiled loop"] = compiled_loop(name == "adap_klucb")
        measures[f"{name} T=1e7"] = episodes(name, 10**7)
        measures[f"{name} T=1e12"] = episodes(name, 10**12)
    for measure in measures.values():
        measure()  # compile, import, fill caches
    rates: dict[str, list[float]] = {name: [] for name in measures}
    for _ in range(REPEATS):
        for name, measure in measures.items():
            rates[name].append(measure())
    rate = {name: statistics.median(values) for name, values in rates.items()}
    print(f"K = {ARMS}, {RUNS} runs, median of {REPEATS}\n")
    print("| simulation | steps per second | times river's UCB |")
    print("|---|---|---|")
    for name, value in rate.items():
        print(f"| {name} | {value:.3g} | {value / rate['river UCB']:,.0f} |")
    print("\n| ratio | wanted | measured |\n|---|---|---|")
    for name in ("ucb", "dp_ucb"):
        measured = rate[f"{name} kernel"] / rate["river UCB"]
        print(f"| {name} kernel / river UCB | >= 50 | {measured:,.0f} |")
    for name in ("adap_ucb", "adap_klucb"):
        fast = rate[f"{name} T=1e7"]
        print(f"| {name} / river UCB | >= 10,000 | {fast / rate['river UCB']:,.0f} |")
        against = fast / rate[f"{name} compiled loop"]
        print(f"| {name} / its compiled per-step loop | >= 20 | {against:.1f} |")
        cost = (10**12 / rate[f"{name} T=1e12"]) / (10**7 / fast)
        print(f"| {name}: time at T = 1e12 / time at T = 1e7 | < 2.5 | {cost:.2f} |")


if __name__ == "__main__":
    main()
