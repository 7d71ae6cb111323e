"""Growth of the exact engine with the horizon: paths, time and memory, with enumeration beside it.

    python benchmarks/exact.py [--longest 256] [--arms 2] [--algorithms adap_ucb adap_klucb]

Each row is the largest loss over every action sequence and every pair of streams in [0,1]^T, by the
floating-point engine. `enumeration` is the time of brute force over binary streams at the same
horizon, measured up to --enumerate and not beyond; the ratio is of times in the same run. Times are
of the process's own CPU, so that a busy machine does not count.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

from dpaudit.core.algorithms import load
from dpaudit.exact import likelihood, worst_loss
from dpaudit.exact.enumerate import worst_pair
from dpaudit.exact.paths import path_through


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--longest", type=int, default=256)
    parser.add_argument("--arms", type=int, default=2)
    parser.add_argument("--enumerate", type=int, default=8)
    parser.add_argument("--algorithms", nargs="+", default=["adap_ucb", "adap_klucb"])
    arguments = parser.parse_args()
    header = ("algorithm", "K", "T", "paths", "epsilon*", "seconds", "MB", "enumeration", "ratio")
    print("{:<12}{:>3}{:>6}{:>9}{:>16}{:>10}{:>7}{:>13}{:>8}".format(*header))
    for name in arguments.algorithms:
        algorithm = load(name, arms=arguments.arms)
        horizon = 4
        while horizon <= arguments.longest:
            began = time.process_time()
            found = worst_loss(algorithm, horizon, engine="float")
            seconds = time.process_time() - began
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            brute, ratio = "-", "-"
            if horizon <= arguments.enumerate:
                began = time.process_time()
                worst_pair(algorithm, horizon, (0.0, 1.0))
                spent = time.process_time() - began
                brute, ratio = f"{spent:.2f}", f"{spent / seconds:.1f}"
            print(
                f"{name:<12}{arguments.arms:>3}{horizon:>6}{found.paths:>9}"
                f"{0.5 * (found.loss.lower + min(found.loss.upper, found.loss.lower)):>16.10f}"
                f"{seconds:>10.2f}{memory:>7.0f}{brute:>13}{ratio:>8}",
                flush=True,
            )
            horizon *= 2
    one_sequence()


def one_sequence() -> None:
    """Print the time of one given action sequence of ten million rounds."""
    horizon = 10**7
    algorithm = load("adap_ucb", arms=2)
    path = path_through(algorithm, horizon, [0, 1] * 40)
    actions, rewards = path.actions, np.full(horizon, 0.5)
    began = time.process_time()
    found = likelihood(algorithm, actions, rewards, engine="float")
    seconds = time.process_time() - began
    print(f"one sequence, adap_ucb, K=2, T=10^7: log {found.log_lower:.6f}, {seconds:.3f} s")


if __name__ == "__main__":
    main()
