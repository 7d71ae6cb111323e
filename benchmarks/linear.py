"""Linear elimination: regret against epsilon and rho beside the lower bounds, and its speed.

    python benchmarks/linear.py figure FILE.png     T = 10^7, 20 runs, d = 3 and 10
    python benchmarks/linear.py speed               episodes beside a compiled loop over rounds

An instance has arms (1, v), v on the unit sphere of R^(d-1), and means 1/2 + 0.4 <v, u>. The best
arm is u, and <v, u> <= 1/2 for the others: gaps are at least 0.2, so that the bounds that hold in
the limit say something at T = 10^7.
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit import plotting
from dpaudit.core.algorithms import load
from dpaudit.core.environments import Bernoulli
from dpaudit.core.simulate import simulate
from dpaudit.regret_bounds import linear_unit
from dpaudit.regret_bounds.linear import LinearInstance, programme

HORIZON, RUNS = 10**7, 20
LEVELS = {"epsilon": np.geomspace(0.01, 10, 6).tolist(), "rho": np.geomspace(1e-5, 1, 6).tolist()}
FINE = np.geomspace(0.01, 10, 4).tolist()
SIZES = {3: 12, 10: 16}  # dimension: arms
FARTHEST = 0.5


def instance(dimension: int) -> LinearInstance:
    """Return the instance of a dimension, always the same."""
    points = np.random.default_rng(dimension).normal(size=(20 * SIZES[dimension], dimension - 1))
    points /= np.linalg.norm(points, axis=1)[:, None]
    best = points[0]
    others = points[points @ best <= FARTHEST][: SIZES[dimension] - 1]
    arms = tuple((1.0, *row) for row in np.vstack((best, others)).tolist())
    return LinearInstance(arms, (0.5, *(0.4 * best).tolist()))


def regrets(name: str, of: LinearInstance, **level: float) -> Any:
    """Return the regret of every run."""
    algorithm = load(name, arms=len(of.features), horizon=HORIZON, features=of.features, **level)
    return simulate(algorithm, Bernoulli(of.environment.means), HORIZON, RUNS, seed=1).regrets


def draw(axes: Any, dimension: int, name: str, measure: str) -> None:
    """Draw one panel: regret with two standard errors, and the bounds."""
    of, log = instance(dimension), math.log(HORIZON)
    levels = LEVELS[measure]
    found = [regrets(name, of, **{measure: level}) for level in levels]
    means = [float(each.mean()) for each in found]
    errors = [2 * float(each.std(ddof=1)) / math.sqrt(RUNS) for each in found]
    axes.errorbar(levels, means, yerr=errors, fmt="o", capsize=3, color=plotting.COLOURS[0],
                  label=f"{name}, {RUNS} runs")  # fmt: skip
    free = linear_unit.coefficient(of, 500.0)
    assert free is not None
    if measure == "epsilon":
        unit = [linear_unit.coefficient(of, level) for level in FINE]
        gauss = [
            programme(of, 1.0, level / math.sqrt(2 * math.pi), linear_unit.FEW).lower
            for level in FINE
        ]
        axes.plot(FINE, [log * it.value for it in unit if it], "-", color=plotting.COLOURS[1],
                  label="lower, rewards in [0, 1], in the limit")  # fmt: skip
        axes.plot(FINE, [log * it for it in gauss], ":", color=plotting.COLOURS[6],
                  label="lower, N(., 1) rewards: does not compare")  # fmt: skip
    else:
        axes.plot(levels, [log * free.value] * len(levels), "-", color=plotting.COLOURS[1],
                  label="lower without privacy (none known under rho)")  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(measure)
    axes.set_ylabel("regret")
    axes.set_title(f"d = {dimension}, {SIZES[dimension]} arms, T = 10^7", fontsize="medium")
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(frameon=False, fontsize="x-small")
    for level, mean, error in zip(levels, means, errors, strict=True):
        said = f"{measure} {level:<8.4g} regret {mean:,.0f} +- {error:,.0f}"
        print(f"d {dimension:>2}  {name:<12} {said}", flush=True)


def figure(destination: str) -> None:
    """Write the picture."""
    from matplotlib.figure import Figure

    canvas = Figure(figsize=(10, 7.5), layout="constrained")
    panels = canvas.subplots(2, 2)
    for row, dimension in zip(panels, SIZES, strict=True):
        draw(row[0], dimension, "dp_linear", "epsilon")
        draw(row[1], dimension, "zcdp_linear", "rho")
    plotting.save(canvas, Path(destination))


def speed() -> None:
    """Print seconds per run of the simulator and of a compiled loop over every round."""
    from numba import njit

    @njit  # type: ignore[untyped-decorator]
    def loop(arms: Any, rounds: Any, means: Any, seed: int) -> Any:
        np.random.seed(seed)  # noqa: NPY002
        sums = np.zeros(len(means))
        for k in range(len(arms)):
            for _ in range(rounds[k]):
                if np.random.random() < means[arms[k]]:  # noqa: NPY002
                    sums[arms[k]] += 1.0
        return sums

    for dimension in SIZES:
        of = instance(dimension)
        means = np.array(of.environment.means)
        everyone = np.arange(len(means)), np.full(len(means), HORIZON // len(means))
        loop(everyone[0], np.ones(len(means), dtype=np.int64), means, 0)
        start = time.perf_counter()
        loop(*everyone, means, 1)
        slow = time.perf_counter() - start
        for name in ("dp_linear", "zcdp_linear"):
            regrets(name, of)
            start = time.perf_counter()
            regrets(name, of)
            quick = (time.perf_counter() - start) / RUNS
            print(f"d {dimension:>2}  {name:<12} {quick * 1e3:8.2f} ms a run; "
                  f"loop {slow * 1e3:8.1f} ms; {slow / quick:.1f} x")  # fmt: skip


if __name__ == "__main__":
    {"figure": figure, "speed": speed}[sys.argv[1]](*sys.argv[2:])  # type: ignore[operator]
