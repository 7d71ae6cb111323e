"""The walk never charges less than brute force over whole paths, and often exactly as much."""

import time
from fractions import Fraction

import numpy as np
from random_policies import ROUNDS, oracle, text_of

from dpaudit.symbolic.subject import CodeTarget, subject_of
from dpaudit.symbolic.walk import SymbolicWalk

ENOUGH = Fraction(10**6)
CASES = 60


def walked(target, **how):
    deadline = time.monotonic() + 60
    return SymbolicWalk(subject_of(target), target.horizon, ENOUGH, deadline, **how).explore()


def charge_of(found):
    return np.inf if found.failure is not None else float(found.charge)


def test_the_walk_is_never_below_brute_force(tmp_path):
    rng = np.random.default_rng(2022)
    finite = equal = 0
    for number in range(CASES):
        file = tmp_path / f"p{number}.py"
        file.write_text(text_of(rng))
        target = CodeTarget(f"{file}:Policy", 2, ROUNDS + 1, 1.0)
        wanted = oracle(subject_of(target), ROUNDS)
        merged = charge_of(walked(target, apart=False))
        unmerged = charge_of(walked(target, apart=False, merging=False))
        published = charge_of(walked(target, apart=True))
        assert merged >= unmerged - 1e-9, file.read_text()
        assert unmerged >= wanted - 1e-7, file.read_text()
        assert published >= wanted - 1e-7, file.read_text()
        if np.isfinite(wanted) and wanted > 0:
            finite += 1
            equal += abs(merged - wanted) < 1e-6
    assert finite > CASES // 5
    assert equal > finite // 2
