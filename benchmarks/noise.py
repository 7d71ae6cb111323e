"""Noise that a computer can draw: the samplers' rates, the regret on a lattice, and a check's cost.

python benchmarks/noise.py [rates] [regret] [cost] [losses]

Rates are draws per second of CPU, measured in turn within one run; OpenDP is compared with where it
is installed. Regret is of the same algorithm with continuous noise and on a grid of 2^-10.
Losses are the largest of adap_ucb, with real-valued noise and of the program on a lattice.
"""

from __future__ import annotations

import math
import random
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

import dpaudit
from dpaudit import noise
from dpaudit.core.environments import named
from dpaudit.core.lattice import many_laplace
from dpaudit.core.simulate import simulate
from dpaudit.errors import Unsupported
from dpaudit.exact import worst_loss
from dpaudit.exact.search import Streams
from dpaudit.structure import prove
from dpaudit.structure.program import real_program

SCALE, SCALAR, MANY, REPEATS = 1024, 3_000, 100_000, 5
HORIZON, RUNS = 1_000_000, 1_000
ALPHA = 0.5
INSTANCES: tuple[tuple[int, int, Streams], ...] = (
    (2, 4, "real"),
    (2, 5, "binary"),
    (2, 6, "real"),
    (2, 8, "binary"),
    (3, 5, "binary"),
)
KINDS = {"real": "rewards in [0, 1]", "binary": "binary"}


def samplers() -> dict[str, tuple[int, Callable[[], object]]]:
    """Return by name how many draws a call makes, and the call."""
    rng, bits = np.random.default_rng(0), random.Random(0).getrandbits
    found: dict[str, tuple[int, Callable[[], object]]] = {
        "numpy's Laplace, scalar": (
            SCALAR,
            lambda: [rng.laplace(0.0, SCALE) for _ in range(SCALAR)],
        ),
        "numpy's Laplace, vectorised": (MANY, lambda: rng.laplace(0.0, SCALE, MANY)),
        "dpaudit.noise, the system's bits": (
            SCALAR,
            lambda: [noise.laplace(SCALE) for _ in range(SCALAR)],
        ),
        "dpaudit.noise, seeded bits": (
            SCALAR,
            lambda: [noise.laplace(SCALE, bits) for _ in range(SCALAR)],
        ),
        "dpaudit, lanes": (MANY, lambda: many_laplace(Fraction(SCALE), rng, MANY)),
    }
    try:
        import opendp.prelude as dp
    except ImportError:
        print("(OpenDP is not installed)")
        return found
    dp.enable_features("contrib")
    one = dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=float(SCALE))
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    many = dp.m.make_laplace(*space, scale=float(SCALE))
    zeros = [0] * MANY
    found["OpenDP integers, scalar"] = (SCALAR, lambda: [one(0) for _ in range(SCALAR)])
    found["OpenDP integers, vectorised"] = (MANY, lambda: many(zeros))
    return found


def rates() -> None:
    """Print draws per second, each sampler in turn."""
    spent: dict[str, list[float]] = {}
    found = samplers()
    for _ in range(REPEATS):
        for name, (count, draw) in found.items():
            start = time.process_time()
            draw()
            spent.setdefault(name, []).append(count / (time.process_time() - start))
    print(f"| sampler (scale {SCALE}) | draws per second |\n|---|---|")
    medians = {name: statistics.median(rates) for name, rates in spent.items()}
    for name, rate in medians.items():
        print(f"| {name} | {rate:,.0f} |")
    if "OpenDP integers, vectorised" in medians:
        ours, theirs = medians["dpaudit, lanes"], medians["OpenDP integers, vectorised"]
        print(f"\nlanes / OpenDP vectorised: {ours / theirs:.2g} (wanted: at least 1)")
        ours, theirs = (
            medians["dpaudit.noise, the system's bits"],
            medians["OpenDP integers, scalar"],
        )
        print(f"scalar / OpenDP scalar: {ours / theirs:.2g}")


def regret() -> None:
    """Print the regret with continuous and with lattice noise, and their difference."""
    print(
        f"\n| algorithm, T = {HORIZON:,}, {RUNS} runs | line | lattice | apart |\n|---|---|---|---|"
    )
    for name in ("adap_ucb", "adap_klucb"):
        for number, place in enumerate(("C1", "C2", "C3", "C4")):
            environment = named(place)
            plain = dpaudit.load(name, arms=environment.arms, epsilon=1.0)
            results = [
                simulate(algorithm, environment, HORIZON, RUNS, seed=10 * number + side)
                for side, algorithm in enumerate((plain, replace(plain, grid=1024)))
            ]
            means = [float(result.regrets.mean()) for result in results]
            error = math.hypot(*(result.standard_error for result in results))
            apart = (means[1] - means[0]) / error
            print(f"| {name} {place} | {means[0]:.1f} | {means[1]:.1f} | {apart:+.2f} errors |")


def cost() -> None:
    """Print what the certificate for doubles adds to a proof."""
    print("\n| T = 1e7 | proof | of it the certificate |\n|---|---|---|")
    for name, arms in (("adap_ucb", 2), ("adap_ucb", 5), ("adap_klucb", 2), ("dp_se", 4)):
        told = {"horizon": 10**7} if name == "dp_se" else {}
        algorithm = dpaudit.load(name, arms=arms, epsilon=1.0, **told)
        start = time.process_time()
        prove(algorithm, 10**7)
        whole = time.process_time() - start
        start = time.process_time()
        real_program(algorithm, 10**7, Fraction(1))
        print(f"| {name}, {arms} arms | {whole:.2f} s | {time.process_time() - start:.3f} s |")


def losses() -> None:
    """Print certified largest losses, of the ideal algorithm and of the program on a lattice."""
    grids = (None, 1, 2, 4, 16, 64, 1024)
    print(
        f"\n| adap_ucb, alpha = {ALPHA}, epsilon = 1 | "
        + " | ".join("line" if grid is None else f"g = {grid}" for grid in grids)
        + f" |\n|{'---|' * (len(grids) + 1)}"
    )
    for arms, horizon, streams in INSTANCES:
        row = []
        for grid in grids:
            algorithm = dpaudit.load("adap_ucb", arms=arms, epsilon=1.0, alpha=ALPHA, grid=grid)
            try:
                found = worst_loss(algorithm, horizon, streams=streams)
            except Unsupported:
                row.append("-")
                continue
            assert found.loss.certified
            row.append(f"{found.loss.lower:.6f}" + "*" * math.isinf(found.loss.upper))
        print(f"| {arms} arms, T = {horizon}, {KINDS[streams]} | {' | '.join(row)} |", flush=True)
    print("\n*: over binary streams, a lower bound for [0, 1]")


def main() -> None:
    """Run the parts that are named, or all."""
    parts = {"rates": rates, "regret": regret, "cost": cost, "losses": losses}
    for name in sys.argv[1:] or parts:
        parts[name]()


if __name__ == "__main__":
    main()
