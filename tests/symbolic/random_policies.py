"""Random small policies, and a brute-force oracle of what a path charges that shares no code.

A policy keeps a few registers. Every round it overwrites one with an affine combination of
registers, the reward and perhaps noise, and some rounds decide by comparing two registers. The
oracle
runs whole paths without merging, settling or publishing anything, and solves the linear programme
of each path and row in floating point.
"""

import itertools

import numpy as np
from scipy.optimize import linprog

from dpaudit.symbolic.run import Run, active
from dpaudit.symbolic.values import Linear

REGISTERS, ROUNDS = 3, 4
HEAD = """
import numpy as np


class Policy:
    def __init__(self):
        self.t = 0
        self.v = [0.0] * {registers}
        self.z = {shared}

    def select(self):
{decisions}
        return 0

    def update(self, arm, reward):
        self.t += 1
        v = self.v
{releases}
"""
WEIGHTS = (0, 0, 0, 1, 1, -1, 2, 0.5)


def text_of(rng):
    """Return the text of a random policy."""
    releases, decisions = [], []
    for t in range(1, ROUNDS + 1):
        for _ in range(int(rng.integers(1, 3))):
            to = int(rng.integers(REGISTERS))
            weights = [*rng.choice(WEIGHTS, REGISTERS), rng.choice((0, 1, 1, 0.5))]
            names = [*(f"v[{k}]" for k in range(REGISTERS)), "reward"]
            # zero times what may be negative has a sign
            parts = [f"{w} * {name}" for w, name in zip(weights, names, strict=True) if w] or [
                "0.0"
            ]
            noisy = rng.random()
            if noisy < 0.6:
                parts.append(f"np.random.laplace(0, {rng.choice((0.5, 1.0, 2.0))})")
            elif noisy < 0.7:
                parts.append("self.z")
            releases.append(f"        if self.t == {t}:\n            v[{to}] = {' + '.join(parts)}")
        if rng.random() < 0.7:
            a, b = rng.choice(REGISTERS, 2, replace=False)
            side = f"self.v[{b}]" if rng.random() < 0.7 else "0.25"
            decisions.append(
                f"        if self.t == {t} and self.v[{a}] > {side}:\n            return 1"
            )
    shared = "np.random.laplace(0, 1.0)" if rng.random() < 0.5 else "0.0"
    if shared != "0.0":
        shared = f"{shared} + 0.0"
    return HEAD.format(
        registers=REGISTERS,
        shared=shared,
        releases="\n".join(releases),
        decisions="\n".join(decisions) or "        pass",
    )


def paths(subject, rounds):
    """Yield the run of every path, unmerged."""
    pending = [()]
    while pending:
        prefix = pending.pop()
        run = Run(prefix=prefix, apart=False)
        with active(run):
            policy = subject.build()
            for t in range(rounds):
                arm = policy.select()
                policy.update(arm, Linear(0, {run.row(t): 1}, {}))
            policy.select()
        for position in range(len(prefix), len(run.trace)):
            chosen = tuple(choice for choice, _ in run.trace[:position])
            pending += [(*chosen, k) for k in range(1, run.trace[position][1])]
        yield run


def charge(run):
    """Return the largest charge of a path over its rows, by a linear programme in doubles."""
    draws = sorted({n for form in run.forms for n in form.draws})
    rows = sorted({n for form in run.forms for n in form.rows})
    b = np.array([[float(f.draws.get(n, 0)) for n in draws] for f in run.forms])
    price = [1 / float(run.laws[n].scale) for n in draws]
    worst = 0.0
    for row in rows:
        a = np.array([float(f.rows.get(row, 0)) for f in run.forms])
        if not draws:
            return np.inf if a.any() else worst
        found = linprog(price * 2, A_eq=np.hstack([b, -b]), b_eq=a, bounds=(0, None))
        if found.status == 2:
            return np.inf
        worst = max(worst, found.fun)
    return worst


def oracle(subject, rounds):
    """Return the largest charge over all paths."""
    return max(charge(run) for run in itertools.islice(paths(subject, rounds), 4000))
