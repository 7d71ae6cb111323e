"""Handlers: within their reach no function of a library, whose stand-in may raise otherwise."""

import pytest

from dpaudit.symbolic.prove import prove
from dpaudit.symbolic.subject import CodeTarget
from dpaudit.verdict import Status

POLICY = """
import contextlib
import math
import random

import numpy as np


class Row:
    def __init__(self, value, axis):
        self.value, self.axis = value, axis

    def __getitem__(self, place):
        if place > 2:
            raise IndexError
        return np.mean([self.value], axis=self.axis)


class Own(Exception):
    pass


class Policy:
    def __init__(self, arms, epsilon, rng):
        self.rng, self.last, self.t, self.table, self.seen = rng, 0.0, 0, {{}}, [1.0, 2.0]

    def select(self):
        if self.t == 2:
            k, j = self.rng.integers({sides}), self.rng.integers({sides})
            n = min(1, abs(int(k) - 7) + abs(int(j) - 7))
            reward, v = self.last, self.rng.laplace(0.0, 1.0)
{body}
        return 0

    def update(self, arm, reward):
        self.last = reward
        self.t += 1
"""
LEAK = "\nexcept {}:\n    return int(reward > 0.5)"
RARE = {
    "mean of a number": ("IndexError", "x = np.mean(v, axis=[0, None][n])"),
    "sum of a row": ("IndexError", "x = np.array([v, v]).sum(axis=1 - n)"),
    "base of a logarithm": ("ZeroDivisionError", "x = math.log(self.rng.random(), [1.0, 2.0][n])"),
    "choice of a dict": ("KeyError", "x = random.choice([{{1: 7}}, [1]][n])"),
    "a function of one's own": (
        "IndexError",
        "f = lambda: np.mean(v, axis=[0, None][n])\n    x = f()",
    ),
}
RIGHT = {
    "a lookup": "try:\n    x = self.table[self.t]\nexcept KeyError:\n    self.table[self.t] = 1",
    "a list": "try:\n    x = self.seen[5 * n]\nexcept IndexError:\n    x = 0",
    "a division": "try:\n    x = 1.0 / (self.t - 2)\nexcept ZeroDivisionError:\n    x = 0",
    "an end": "try:\n    x = next(iter([]))\nexcept StopIteration:\n    x = np.mean(v)",
    "one's own": "try:\n    x = np.mean([v, v])\n    raise Own\nexcept Own:\n    x = 0",
    "suppressed": "with contextlib.suppress(KeyError):\n    x = self.table['none']",
}


def judged(tmp_path, body, sides=40):
    """Judge a body in which n is 0 for one pair of sides alone, which runs seldom meet."""
    file = tmp_path / "policy.py"
    lines = "\n".join(f"            {line}" for line in body.split("\n"))
    file.write_text(POLICY.format(body=lines, sides=sides))
    return prove(CodeTarget(f"{file}:Policy", 2, 5, 1.0), 20.0).finding


@pytest.mark.parametrize("name", RARE)
def test_what_a_library_raises_now_and_then_is_not_caught(tmp_path, name):
    kind, line = RARE[name]
    found = judged(tmp_path, f"try:\n    {line}{LEAK.format(kind)}".format())
    assert found.status is Status.SILENT and "a handler" in found.reason


def test_nor_by_iteration(tmp_path):
    found = judged(tmp_path, "if 2 > len(list(Row(v, [1, 0][n]))):\n    return int(reward > 0.5)")
    assert found.status is Status.SILENT and "a handler" in found.reason


@pytest.mark.parametrize("name", RIGHT)
def test_what_python_raises_by_itself_is(tmp_path, name):
    found = judged(tmp_path, RIGHT[name], sides=8)
    assert found.status is Status.PROVED, found.reason
    assert found.epsilon_upper == 0
