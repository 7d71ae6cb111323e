"""What may be nan, or may raise, has that outcome too: it is never ruled out by arithmetic."""

from __future__ import annotations

import pytest

from dpaudit.symbolic.prove import prove
from dpaudit.symbolic.questions import _name
from dpaudit.symbolic.roots import Roots
from dpaudit.symbolic.snapshot import Copier
from dpaudit.symbolic.states import Names
from dpaudit.symbolic.subject import CodeTarget
from dpaudit.symbolic.values import Linear, Opaque, public_name
from dpaudit.verdict import Status

POLICY = """
import copy
import math
import random

import numpy as np


class Policy:
    def __init__(self, arms, epsilon, rng):
        self.rng, self.t, self.arm, self.last, self.kept = rng, 0, 0, 0.0, 1.0

    def select(self):
        leak = int(self.last > 0.5)
        if self.t < 2:
            return self.arm
{body}
        return self.arm

    def update(self, arm, reward):
        self.t += 1
        self.last = reward
        if self.t == 1:
            mean = reward + self.rng.laplace(0, 1)
            self.arm = int(mean > 0.3)
            self.kept = {kept}
"""
ROOT = "np.sqrt(mean)"
WRONG = {
    "nan is no number": (ROOT, "if self.kept != self.kept: return leak"),
    "nan is not equal": (ROOT, "if not self.kept == self.kept: return leak"),
    "a difference of nan": (ROOT, "if not self.kept - self.kept == 0: return leak"),
    "a sum and back": (ROOT, "if not (self.kept + 1) - self.kept > 0.5: return leak"),
    "a negative width": (
        "1 + mean",
        "try: self.rng.normal(0, self.kept)\nexcept ValueError: return leak",
    ),
    "no chance": (
        "mean",
        "try: self.rng.binomial(1, self.kept)\nexcept ValueError: return leak",
    ),
    "a negative mean": (
        "mean",
        "try: self.rng.exponential(self.kept)\nexcept ValueError: return leak",
    ),
    "a negative parameter": (
        "mean",
        "try: random.betavariate(self.kept, 1.0)\nexcept ValueError: return leak",
    ),
    "a draw of no width": (
        ROOT,
        "x = self.rng.normal(0, self.kept)\nif x > 0: return 0\nelif x <= 0: return 0\nreturn leak",
    ),
    "a sine of infinity": (
        "np.log(mean)",
        "try: math.sin(self.kept)\nexcept ValueError: return leak",
    ),
    "an element that is not in its own array": (
        "np.array([np.sqrt(mean), 0.0])",
        "if self.kept[0] not in [self.kept[0]]: return leak",
    ),
    "a list of elements that are not equal": (
        "np.array([np.sqrt(mean), 0.0])",
        "if self.kept.tolist() != self.kept.tolist(): return leak",
    ),
    "a square of a wide draw": (
        "mean",
        "try: self.rng.exponential(1.76e153) ** 2\nexcept OverflowError: return leak",
    ),
    "a square of a public number": (
        "self.rng.exponential(1.76e153) - self.rng.exponential(1.76e153)",
        "if self.kept > 0: self.arm = 0\ntry: self.kept ** 2\nexcept OverflowError: return leak",
    ),
    "a number that grows": (
        "mean",
        "if self.kept > 0: self.arm = 0\n"
        "self.kept = self.kept * 1e160\nif np.isinf(self.kept): return leak",
    ),
    "a copy that is another object": (
        ROOT,
        "if copy.deepcopy(self.kept) not in [self.kept]: return leak",
    ),
    "two lists of one array": (
        "np.array([np.sqrt(mean), 0.0])",
        "if list(self.kept) != self.kept.tolist(): return leak",
    ),
    "a small whole number": ("np.int8(100) + reward", "if self.kept < 0: return leak"),
    "half a double": ("np.float32(0.1) * reward", "if self.kept != 0.1: return leak"),
    "a sum of infinities": (
        "np.log(mean)",
        "try: math.fsum([self.kept, -self.kept])\nexcept ValueError: return leak",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_nan_or_an_exception_tells_is_not_proved(tmp_path, name):
    kept, body = WRONG[name]
    lines = "\n".join(f"        {line}" for line in body.split("\n"))
    file = tmp_path / "policy.py"
    file.write_text(POLICY.format(body=lines, kept=kept))
    found = prove(CodeTarget(f"{file}:Policy", 2, 4, 1.0), 20.0).finding
    assert found.status is Status.SILENT, found.reason


PUBLIC = [
    "self.rng.integers(n)",
    "self.rng.exponential(n - 1.5)",
    "self.rng.beta(n, 1.0)",
    "self.rng.normal(0.0, n - 0.5)",
    "self.rng.uniform(0.0, n - 0.5)",
    "self.rng.choice(2, p=[n * math.inf, 1.0])",
    "random.randint(1, n)",
    "random.choices([0, 1], [n - 0.5, 1.0])",
    "random.choice([0] * n)",
]


@pytest.mark.parametrize("call", PUBLIC)
def test_a_public_parameter_that_raises_is_not_read_as_a_draw(tmp_path, call):
    """The number is 0 once in 3,600 runs, so that no real run beside it shows anything."""
    rare = "n = min(abs(self.rng.integers(60) - 7) + abs(self.rng.integers(60) - 7), 1)"
    body = f"{rare}\ntry: {call}\nexcept ValueError: return leak\nexcept IndexError: return leak"
    lines = "\n".join(f"        {line}" for line in body.split("\n"))
    file = tmp_path / "policy.py"
    file.write_text(POLICY.format(body=lines, kept="0.0"))
    found = prove(CodeTarget(f"{file}:Policy", 2, 3, 1.0), 20.0).finding
    assert found.status is Status.SILENT, found.reason


RIGHT = {
    "draws around a noisy mean": ("mean", "return int(self.rng.normal(self.kept, 0.5) > 0.4)"),
    "a coin by a noisy mean": (
        "min(max(mean, 0.0), 1.0)",
        "return int(self.rng.random() < self.kept)",
    ),
    "the best of Beta draws": (
        "np.array([max(mean, 0.1), 1.0])",
        "return int(np.argmax(self.rng.beta(np.maximum(self.kept, 0.1), 1.0)))",
    ),
    "Beta draws of noisy counts": (
        "max(mean, 0.5)",
        "return int(self.rng.beta(self.kept, 1.0) > 0.5)",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_draws_after_a_release_are_still_proved(tmp_path, name):
    kept, body = RIGHT[name]
    file = tmp_path / "policy.py"
    file.write_text(
        POLICY.replace("leak = int(self.last > 0.5)", "").format(body=f"        {body}", kept=kept)
    )
    found = prove(CodeTarget(f"{file}:Policy", 2, 4, 1.0), 20.0).finding
    assert found.status is Status.PROVED, found.reason


def test_states_differ_where_one_number_may_be_nan_or_two_are_one_object():
    tame, unsure = (Linear(0, {}, {}, None, {public_name(3, wild): 1}) for wild in (False, True))
    assert Names().mark(tame) != Names().mark(unsure)
    keys = []
    for body in ([unsure, unsure], [unsure, unsure.renewed()]):
        copier = Copier(Roots([], []), keyed=True)
        copier(body)
        keys.append(copier.key)
    assert keys[0] != keys[1]


COIN = """
class Policy:
    def __init__(self, arms, epsilon, rng):
        self.rng, self.t, self.c, self.x = rng, 0, 0, 0.0

    def select(self):
        return [0, self.c, int(self.x > 0), 0][min(self.t, 3)]

    def update(self, arm, reward):
        if self.t == 0:
            u, size = self.rng.random(), self.rng.exponential(1.0)
            if u < 0.5 + 0.1 * reward:
                self.c = 1
            if u < 0.5:
                self.x = size
            else:
                self.x = -size
        self.t += 1
"""


def test_a_draw_that_tossed_a_coin_with_a_reward_is_no_fair_sign(tmp_path):
    """c = 1 and x < 0 has probability 0.1 r: infinite loss."""
    file = tmp_path / "policy.py"
    file.write_text(COIN)
    found = prove(CodeTarget(f"{file}:Policy", 2, 4, 1.0), 20.0).finding
    assert found.status is Status.SILENT and "used again" in found.reason


TWO = """
import numpy as np


class Policy:
    def __init__(self, arms, epsilon, rng):
        self.rng, self.t, self.last, self.v, self.w = rng, 0, 0.0, 0.0, 0.0

    def select(self):
        if self.t == 1:
            z = self.rng.laplace(0, 1)
            self.v, self.w = np.abs(z), z * z
        if self.t == 2:
            less, small = int(self.v < self.w), int(self.v < {threshold})
            return int(small * (1 - less) * self.last > 0.5)
        return 0

    def update(self, arm, reward):
        self.t += 1
        self.last = reward
"""


def test_a_number_is_no_name_of_a_function(tmp_path):
    """Whatever whole number a value is compared with, it is a question of its own."""
    file = tmp_path / "policy.py"
    for threshold in range(1, 40, 2):
        file.write_text(TWO.format(threshold=float(threshold)))
        found = prove(CodeTarget(f"{file}:Policy", 2, 4, 1.0), 20.0).finding
        assert found.status is Status.SILENT, (threshold, found.reason)
    value = Opaque([({}, {1: 1})])
    assert _name(value) != _name(value.token)


def test_states_tell_one_function_read_twice_from_two():
    one, two = Opaque([({}, {1: 1})]), Opaque([({}, {1: 1})])
    marks = []
    for pair in ((one, one.renewed()), (one, two)):
        names = Names()
        marks.append([names.mark(value) for value in pair])
    assert marks[0] != marks[1]
