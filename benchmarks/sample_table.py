"""An audit before and after it learned to bet, row by row, with what information allows beside it.

Every row is a small experiment that runs in a process of its own; with --old, a folder that holds
an older revision of the package, it runs there too. The limit of a row with an event of
probabilities p and q is 2 ln(1 / error) over the least relative entropy from (p, q) to the claim.

    python benchmarks/sample_table.py [--old FOLDER] [--audits 20] [--first 5000] [row ...]
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics as stats
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sample_boxes import Redrawn
from sample_declared import audited, full_size
from sample_power import EPSILON, ERROR, targets
from sample_throughput import foreign_seconds

from dpaudit.sample.audit import audit
from dpaudit.sample.boxes import PolicyBox
from dpaudit.sample.onerun import lower_bound, one_run_audit
from dpaudit.sample.plan import AuditPlan
from dpaudit.sample.steer import steered
from dpaudit.sample.streams import candidates
from dpaudit.verdict import Status

DOUBLING = '''
import math

class Doubling:
    """UCB on the noisy means of doubling episodes, with 0.6 of the noise that it needs."""

    def __init__(self, arms, epsilon, rng):
        self.rng, self.epsilon = rng, epsilon
        self.means, self.pulls = [math.inf] * arms, [1] * arms
        self.arm, self.left, self.total, self.time = 0, 1, 0.0, 0

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.time, self.left, self.total = self.time + 1, self.left - 1, self.total + reward
        if self.left == 0:
            size = self.pulls[arm]
            noise = self.rng.laplace(0, 0.6 / (self.epsilon * size))
            self.means[arm] = self.total / size + noise
            self.pulls[arm] *= 2
            log = math.log(self.time + 1)
            index = [
                mean + math.sqrt(log / pulls) + log / (self.epsilon * pulls)
                for mean, pulls in zip(self.means, self.pulls)
            ]
            self.arm = index.index(max(index))
            self.left, self.total = self.pulls[self.arm], 0.0
'''


def entropy(p: float, q: float) -> float:
    """Return the least KL(p, p') + KL(q, q') over p' = e^epsilon q', by a search of one number."""
    grid = np.linspace(1e-6, 1 - 1e-6, 400_001) * math.exp(-EPSILON)
    return float((_kl(p, math.exp(EPSILON) * grid) + _kl(q, grid)).min())


def _kl(p: float, other: Any) -> Any:
    return p * np.log(p / other) + (1 - p) * np.log((1 - p) / (1 - other))


def runs_needed(noise: float, seeds: range) -> float:
    """Return the median runs of audits of randomised response."""
    _, box, pairs, runs = targets(noise)[0]
    plans = (AuditPlan(box, EPSILON, ERROR, runs, seed, pairs) for seed in seeds)
    return stats.median(audit(plan).runs for plan in plans)


def response_limit(noise: float) -> str:
    """Return the runs that information asks for."""
    p = 1 / (1 + math.exp(-EPSILON / noise))
    return f"{2 * math.log(1 / ERROR) / entropy(p, 1 - p):,.0f} runs"


def power(found: bool, seeds: range) -> float:
    """Return how many audits refute adap_klucb with 0.9 of its noise, its pair given or sought."""
    _, box, pairs, runs = targets(0.9)[1]
    refuted = 0
    for seed in seeds:
        aimed = steered(box.algorithm, box.horizon, [seed, 5], runs // 5) if found else []
        tried = (*aimed, *candidates(2, box.horizon, [seed, 2])) if found else pairs
        plan = AuditPlan(box, EPSILON, ERROR, runs, seed, tried, favoured=len(aimed))
        refuted += audit(plan).status is Status.REFUTED
    return refuted / len(seeds)


def power_limit(found: bool) -> str:
    """Return the power of the best test of this size that knows the exact law, in the normal limit.

    It looks at whole sequences. Where the pair is sought, it is the best of all binary ones.
    """
    from scipy.stats import norm

    from dpaudit.exact import law
    from dpaudit.sample.bets import best_bets

    _, box, [pair], runs = targets(0.9)[1]
    changed = [(tuple(pair.stream.array()), pair.position)]
    if found:
        rows = product((0.0, 1.0), repeat=box.horizon)
        changed = [(row, place) for row in rows for place in range(box.horizon) if not row[place]]

    @cache
    def chances(row: tuple[float, ...]) -> Any:
        known = law(box.algorithm, np.array(row), engine="float").probabilities
        return np.array([known[key].middle for key in sorted(known)])

    growth = 0.0
    for row, place in changed:
        p, q = chances(row), chances((*row[:place], 1.0, *row[place + 1 :]))
        growth = max(growth, float(best_bets(np.array([math.exp(EPSILON)]), p, q).growth))
    return f"{norm.cdf(math.sqrt(runs * growth) - norm.ppf(1 - ERROR)):.2f}"


def redrawn(seeds: range) -> float:
    """Return the median bound of a function whose noise is redrawn, its pair sought."""
    box = Redrawn(epsilon=0.25)
    pairs = tuple(candidates(2, box.horizon, [0, 2]))
    plans = (AuditPlan(box, 2.0, ERROR, 240_000, seed, pairs) for seed in seeds)
    return stats.median(audit(plan).lower for plan in plans)


def doubling(seeds: range) -> float:
    """Return the runs after which `audit`, as it comes, refutes a policy in a file; inf if not."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "doubling.py"
        path.write_text(DOUBLING)
        words = ["audit", f"{path}:Doubling", "--horizon", "64", "--json", "-"]
        command = [sys.executable, "-P", "-m", "dpaudit", *words]  # -P: not what lies here
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False, text=True)
    report = json.loads(done.stdout)
    return float(report["runs"]) if report["status"] == "REFUTED" else math.inf


def one_run(seeds: range) -> float:
    """Return the median bound of a policy that plays its last reward by randomised response."""
    flip, horizon = 1 / (1 + math.e), 4000

    def policy(stream: Any, rng: Any) -> Any:
        told = (stream >= 0.5) ^ (rng.random(len(stream)) < flip)
        return np.concatenate(([0], told[:-1])).astype(int)

    box = PolicyBox("echo", lambda rng: policy, 2, horizon)
    found = (one_run_audit(box, EPSILON, ERROR, seed).lower for seed in seeds[:5])
    return stats.median(found)


def full_sized(name: str, seeds: range) -> float:
    """Return the bound of an audit of a declared algorithm at full size, as it comes."""
    return float(audited(name, full_size(name), None)["lower"])


def per_run(seeds: range) -> float:
    """Return the CPU of an audit of a quick policy, as a multiple of the policy's own."""
    bare, each = foreign_seconds(200_000)
    return each / bare


ROWS: dict[str, tuple[str, Callable[[range], float], Callable[[], str], str]] = {
    "response 0.8": (
        "randomised response, noise 0.8, median runs",
        partial(runs_needed, 0.8),
        partial(response_limit, 0.8),
        "twice the limit",
    ),
    "response 0.9": (
        "randomised response, noise 0.9, median runs",
        partial(runs_needed, 0.9),
        partial(response_limit, 0.9),
        "twice the limit",
    ),
    "power": (
        "adap_klucb, noise 0.9, 19,000 runs, power, pair given",
        partial(power, False),
        partial(power_limit, False),
        "0.9",
    ),
    "power found": (
        "  pair found",
        partial(power, True),
        partial(power_limit, True),
        "0.9",
    ),
    "redrawn": (
        "noise redrawn, T = 8, 240,000 runs, epsilon >=, pair found",
        redrawn,
        lambda: f"{Redrawn(epsilon=0.25).worst[0]:.3f} (truth)",
        "1.03",
    ),
    "doubling": ("doubling in a file, noise 0.6, default audit, runs", doubling, str, "refuted"),
    "dp_ucb": (
        "dp_ucb, five arms, 100,000 rounds, epsilon >=",
        partial(full_sized, "dp_ucb"),
        str,
        "above 0, or why not",
    ),
    "lazy_dp_ts": (
        "lazy_dp_ts, the same",
        partial(full_sized, "lazy_dp_ts"),
        str,
        "above 0, or why not",
    ),
    "one run": (
        "one run of 4,000 rounds, epsilon 1, epsilon >=",
        one_run,
        lambda: f"{lower_bound(round(4000 / (1 + math.exp(-1))), 4000, ERROR):.2f}",
        "0.9",
    ),
    "per run": ("CPU of 200,000 runs in an audit / alone", per_run, lambda: "1", "2"),
}


def measured(name: str, seeds: range, folder: str | None) -> float:
    """Return what a row gives with the package of a folder, or with this one."""
    which = ["--first", str(seeds.start), "--audits", str(len(seeds))]
    command = [sys.executable, __file__, *which, "--alone", name]
    path = {} if folder is None else {"PYTHONPATH": folder}
    done = subprocess.run(
        command, stdout=subprocess.PIPE, check=True, text=True, env={**os.environ, **path}
    )
    return float(done.stdout)


def main(names: list[str], seeds: range, old: str | None) -> None:
    """Print the table."""
    print(f"error {ERROR:g}; medians or shares of {len(seeds)} audits, of 5 where they are long")
    print(f"{'row':60}{'before':>10}{'now':>10}{'limit':>16}  wanted")
    for name in names:
        words, _, limit, wanted = ROWS[name]
        before = "-" if old is None else f"{measured(name, seeds, old):,.5g}"
        now = measured(name, seeds, None)
        print(f"{words:60}{before:>10}{now:>10,.5g}{limit():>16}  {wanted}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", nargs="*", metavar="row")
    parser.add_argument("--audits", type=int, default=20)
    # by default seeds that nothing was chosen on
    parser.add_argument("--first", type=int, default=5000, metavar="SEED")
    parser.add_argument("--old", metavar="FOLDER")
    parser.add_argument("--alone", help=argparse.SUPPRESS)
    given = parser.parse_args()
    tried = range(given.first, given.first + given.audits)
    if given.alone:
        print(ROWS[given.alone][1](tried))
    else:
        main(given.rows or list(ROWS), tried, given.old)
