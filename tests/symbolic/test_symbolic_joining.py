"""Branches on a raw reward that join again are rewards of another size; those that do not, leak."""

import time
from fractions import Fraction
from operator import itemgetter

import numpy as np
import pytest

from dpaudit.symbolic.prove import prove
from dpaudit.symbolic.run import Escape
from dpaudit.symbolic.subject import CodeTarget, subject_of
from dpaudit.symbolic.walk import SymbolicWalk
from dpaudit.verdict import Status

POLICY = """
import random

import numpy as np


class Policy:
    def __init__(self, arms, epsilon, rng):
        self.t, self.total, self.best, self.rng, self.other = 0, 0.0, 0, rng, 0.0
        self.sums, self.whole, self.counts = np.zeros(2), np.zeros(2, dtype=int), [0, 0]
        self.u, self.seen, self.kept = 0.0, 0, {{}}

    def select(self):
        if self.t == 6:
            total = self.total + self.other + np.sum(self.sums) + sum(self.counts)
            self.best = int(total + self.rng.laplace(0, {scale}) > 3)
        if self.t == 8:
            {later}
        return self.best

    def update(self, arm, reward):
        self.t += 1
        x, rng = 0.0, self.rng
        if self.t <= 6:
{branch}
"""
RIGHT = {
    "rounded": ("x = 1.0 if reward > 0.5 else 0.0; self.total += x", "1"),
    "counted": ("if reward > 0.5: self.total += 1", "1"),
    "of size 3": ("self.total += 2.0 if reward > 0.5 else -1.0", "3"),
    "Bernoulli": ("self.total += 1.0 if rng.random() < reward else 0.0", "1"),
    "Bernoulli of Python": ("if random.random() < reward: self.total += 1.0", "1"),
    "two sums": ("if reward > 0.5: self.total += 1.0; self.other -= 0.5", "0.5"),
    "noise on both sides": (
        "if reward > 0.5: self.total += 1.0 + rng.laplace(0, 1)\n"
        "else: self.total += rng.laplace(0, 1)",
        "1",
    ),
    "in an array": ("self.sums[arm] += 1.0 if reward >= 0.5 else 0.0", "1"),
    "numbers of numpy": ("self.other += np.float64(1) if reward >= 0.5 else np.float64(0)", "1"),
}
WRONG = {
    "too little noise": ("if reward > 0.5: self.total += 1.5", "1"),
    "the other side's noise": ("if reward > 0.5: self.total += rng.laplace(0, 1)", "1"),
    "another scale": ("self.total += rng.laplace(0, 1 if reward > 0.5 else 2)", "1"),
    "another arm": ("if reward > 0.5: self.best = 1", "1"),
    "whole numbers": ("self.counts[arm] += 1 if reward >= 0.5 else 0", "1"),
    "in an array of integers": ("self.whole[arm] += 1 if reward >= 0.5 else 0", "1"),
    "a name": ("self.kept = {1.0 if reward > 0.5 else 0.0: 1}", "1"),
    "a text": ("self.kept = 'high' if reward > 0.5 else 'low'", "1"),
    "a longer list": ("if reward > 0.5: self.kept[self.t] = 1.0", "1"),
    "another function": (
        "if self.t == 1: self.u = rng.normal()\n"
        "if self.t == 2: self.kept = np.exp(self.u) if reward > 0.5 else np.sin(self.u)",
        "1",
    ),
    "functions of the reward that differ": (
        "self.total += abs(reward) if reward > 0.5 else abs(reward + 5)",
        "1",
    ),
    "clipped to intervals that differ": (
        "self.total += np.clip(reward, 0, 1) if reward > 0.5 else np.clip(reward, 0, 1) + 0.5",
        "1",
    ),
    "a public number that is not known": (
        "if self.t == 1: self.u = rng.normal()\n"
        "if self.t == 2: self.best = int(self.u > 0); self.kept = np.exp(self.u)\n"
        "if self.t == 4: self.kept = self.kept ** 2 if reward > 0.5 else self.kept ** 3\n"
        "if self.t == 5: self.best = int(self.kept > 1.5)",
        "1",
    ),
    "the reward and its side": (
        "self.total += reward; self.total += 1.0 if reward > 0.5 else 0.0",
        "1",
    ),
}
LEAKS = {
    "a whole number": ("if reward > 0.5: self.seen += 1", "self.best = int(self.seen > 2)"),
    "its bits": ("if reward > 0.5: self.seen += 1", "self.best = int((self.seen ^ 1) > 2)"),
    "an index": (
        "if reward > 0.5: self.seen += 1",
        "self.best = [0, 0, 0, 1, 1, 1, 1][self.seen]",
    ),
    "the side": ("x = 1.0 if reward > 0.5 else 0.0; self.u = x", "self.best = int(self.u > 0.5)"),
    "the coin's draw": (
        "self.u = rng.random(); self.total += 1.0 if self.u < reward else 0.0",
        "self.best = int(self.u > 0.5)",
    ),
    "a difference": (
        "self.total += 1.0 if reward > 0.5 else 0.0; self.u = self.total",
        "self.best = int(self.total - self.u + self.u > 3)",
    ),
    **{
        f"the law of a draw, {law}": (f"self.u = {law}", "self.best = int(self.u > 0.9)")
        for law in (
            "rng.normal(0.0, 5.0 if reward > 0.5 else 1.0)",
            "rng.beta(30.0 if reward > 0.5 else 1.0, 1.0)",
            "rng.gamma(1.0, 3.0 if reward > 0.5 else 1.0)",
            "random.gauss(0.0, 3.0 if reward > 0.5 else 1.0)",
            "rng.exponential(3.0 if reward > 0.5 else 1.0)",
            "rng.normal(0.0, self.t + (1.0 if reward > 0.5 else 0.0))",
            "np.random.default_rng(1 if reward > 0.5 else 4).normal()",
            "random.Random(1 if reward > 0.5 else 4).random()",
        )
    },
}


def judged(tmp_path, branch, scale="1", later="pass"):
    lines = "\n".join(f"            {line.strip()}" for line in branch.split("\n"))
    file = tmp_path / "policy.py"
    file.write_text(POLICY.format(branch=lines, scale=scale, later=later))
    return prove(CodeTarget(f"{file}:Policy", 2, 10, 1.0), 20.0).finding


@pytest.mark.parametrize("name", RIGHT)
def test_sides_that_join_again_are_one(tmp_path, name):
    branch, scale = RIGHT[name]
    found = judged(tmp_path, branch, scale)
    assert found.status is Status.PROVED, found.reason
    assert found.epsilon_upper == pytest.approx(1.0, abs=1e-12) and found.horizon == 10


@pytest.mark.parametrize("name", WRONG)
def test_sides_that_differ_by_more_than_numbers_are_not(tmp_path, name):
    branch, scale = WRONG[name]
    assert judged(tmp_path, branch, scale).status is Status.SILENT


@pytest.mark.parametrize("name", LEAKS)
def test_what_the_sides_left_is_still_a_reward(tmp_path, name):
    branch, later = LEAKS[name]
    found = judged(tmp_path, branch, "1", later)
    assert found.status is Status.SILENT
    assert "charged" in found.reason


SIGNED = """
import random

import numpy as np


class Policy:
    def __init__(self, arms, epsilon, rng):
        self.t, self.total, self.best, self.rng, self.kept = 0, 0.0, 0, rng, 0.0

    def select(self):
        if self.t == 4:
            self.best = int(self.total > 2)
        if self.t == 5 and self.kept > 1:
            self.best = 1 - self.best
        return self.best

    def update(self, arm, reward):
        self.t += 1
        if self.t <= 3:
            self.total += reward
        if self.t == 3:
            rng = self.rng
{noise}
            self.total += noise
"""
SIGNS = {
    "chosen": "noise = rng.choice([-1, 1]) * rng.exponential(1)",
    "chosen by Python": "noise = random.choice([-1, 1]) * random.expovariate(1)",
    "a coin": "noise = rng.exponential(1); noise = noise if rng.random() < 0.5 else -noise",
    "another coin": "sign = 1 if 0.5 <= random.random() else -1; noise = sign * rng.exponential(1)",
    "a whole number": "noise = (2 * rng.integers(2) - 1) * rng.exponential(1)",
    "a Bernoulli draw": "noise = (1 - 2 * rng.binomial(1, 0.5)) * rng.exponential(1)",
}
NO_SIGNS = {
    "weights": "noise = rng.choice([-1, 1], p=[0.3, 0.7]) * rng.exponential(1)",
    "an unfair coin": "noise = (1 if rng.random() < 0.4 else -1) * rng.exponential(1)",
    "an unfair draw": "noise = (1 - 2 * rng.binomial(1, 0.4)) * rng.exponential(1)",
    "other factors": "noise = rng.choice([-1, 2]) * rng.exponential(1)",
    "half the scale": "noise = rng.choice([-1, 1]) * rng.exponential(0.5)",
    "a seed": "noise = np.random.default_rng(1).choice([-1, 1]) * rng.exponential(1)",
    "a draw of before": "noise = rng.exponential(1); low = noise > 1; "
    "noise = rng.choice([-1, 1]) * noise",
    "a coin that is kept": "u = rng.random(); noise = (1 if u < 0.5 else -1) * rng.exponential(1); "
    "self.kept = 2 * u",
    "a size that is kept": "e = rng.exponential(1); noise = rng.choice([-1, 1]) * e; self.kept = e",
    "a function of the size": "e = rng.exponential(1); noise = rng.choice([-1, 1]) * e; "
    "self.kept = np.exp(e)",
    "a sign that is kept": "sign = rng.choice([-1, 1]); noise = sign * rng.exponential(1); "
    "self.kept = float(sign)",
    "one sign of two": "sign = rng.choice([-1, 1]); noise = sign * rng.exponential(1); "
    "self.kept = sign * rng.exponential(1) + self.total",
}


@pytest.mark.parametrize("name", [*SIGNS, *NO_SIGNS])
def test_a_fair_sign_times_an_exponential_draw_is_laplace_noise(tmp_path, name):
    noise = (SIGNS | NO_SIGNS)[name]
    lines = "\n".join(f"            {line.strip()}" for line in noise.split(";"))
    file = tmp_path / "policy.py"
    file.write_text(SIGNED.format(noise=lines))
    found = prove(CodeTarget(f"{file}:Policy", 2, 8, 1.0), 20.0).finding
    assert (found.status is Status.PROVED) is (name in SIGNS), found.reason
    assert name not in SIGNS or found.epsilon_upper == 1.0


RANDOM = """
import numpy as np


class Policy:
    def __init__(self, rng):
        self.rng, self.t, self.total, self.best = rng, 0, 0.0, 0

    def select(self):
        return self.best

    def update(self, arm, reward):
        self.t += 1
        if self.t == 1:
            if {question}:
                x = {one}
            else:
                x = {two}
            self.total += x
        if self.t == 3:
            self.best = int(self.total + self.rng.laplace(0, 1) > 0)
"""
GRID = np.linspace(0, 1, 401)


def expression(rng, kind):
    a, b, w = rng.choice((-1, -0.5, 0, 0.25, 1, 3), 3)
    kinds = (
        f"{a}",
        f"{a} + {w} * reward",
        f"abs(reward - {a}) + {b}",
        f"np.clip(reward, {min(a, b)}, {max(a, b)})",
        f"max({w} * reward, {a}) + {b}",
        f"min(max(reward, {a}), {b})",
        f"np.minimum({a}, {w} * reward)",
    )
    return kinds[kind]


def spread(question, one, two):
    """Return how much the release can differ between two rewards, on a grid: a lower bound."""
    values = []
    for reward in GRID:
        scope = {"reward": float(reward), "np": np}
        sides = (True, False) if "random" in question else (bool(eval(question, scope)),)
        values += [float(eval(one if side else two, scope)) for side in sides]
    return max(values) - min(values)


def test_what_is_charged_is_never_less_than_what_the_sides_release(tmp_path):
    rng = np.random.default_rng(11)
    proved = 0
    for number in range(150):
        limit = rng.choice((0.25, 0.5, 0.75))
        asked = (f"reward > {limit}", f"{limit} >= reward", "self.rng.random() < reward")
        kinds = [int(rng.choice((0, 0, 1, 2, 3, 4, 5, 6)))] * 2 if number % 2 else (0, number % 7)
        parts = str(rng.choice(asked)), *(expression(rng, kind) for kind in kinds)
        file = tmp_path / f"p{number}.py"
        file.write_text(RANDOM.format(question=parts[0], one=parts[1], two=parts[2]))
        target = CodeTarget(f"{file}:Policy", 2, 5, 1.0)
        walk = SymbolicWalk(subject_of(target), 5, Fraction(10**6), time.monotonic() + 60)
        try:
            found = walk.explore()
        except Escape:  # the larger of 0 times a reward and a number
            continue
        if found.failure is None:
            proved += 1
            assert float(found.charge) >= spread(*parts) - 1e-9, parts
    assert proved > 20


def test_counts_that_add_up_are_public_again(tmp_path):
    file = tmp_path / "policy.py"
    file.write_text(
        "import numpy as np\n\n\nclass Policy:\n"
        "    def __init__(self, arms, epsilon):\n"
        "        self.won, self.lost, self.best = [0.0] * arms, [0.0] * arms, None\n\n"
        "    def select(self):\n"
        "        pulls = [a + b for a, b in zip(self.won, self.lost)]\n"
        "        if min(pulls) < 2 and self.best is None:\n"
        "            return pulls.index(min(pulls))\n"
        "        if self.best is None:\n"
        "            noisy = [won / 2 + np.random.laplace(scale=0.5) for won in self.won]\n"
        "            self.best = int(np.argmax(noisy))\n"
        "        return self.best\n\n"
        "    def update(self, arm, reward):\n"
        "        if self.best is None:\n"
        "            if reward == 1:\n                self.won[arm] += 1.0\n"
        "            else:\n                self.lost[arm] += 1.0\n"
    )
    found = prove(CodeTarget(f"{file}:Policy", 2, 8, 1.0), 30.0).finding
    assert (found.status, found.horizon, found.epsilon_upper) == (Status.PROVED, 8, 1.0)


WRAPPING = """
import numpy as np


class Policy:
    def __init__(self, arms, epsilon):
        self.eps, self.t, self.best, self.n = epsilon, 0, None, {start}

    def select(self):
        if self.t < 2:
            return self.t
        if self.best is None:
            total = {total}
            self.best = 1 if total + np.random.laplace(0, 4 / self.eps) > 0 else 0
        return self.best

    def update(self, arm, reward):
        if self.t == 0 and reward > 0.5:
            self.n += 1
        self.t += 1
"""


@pytest.mark.parametrize(
    ("start", "total"),
    [
        ("2**62 - 1", "(np.array([self.n, 0]) * 2)[0]"),
        ("2**62 - 1", "np.sum([self.n, self.n])"),
        ("0", "self.kept(np.array([self.n * self.n, 0]))"),
        ("0", "self.kept(np.array([self.n % 2, 0]))"),
        ("0", "self.kept(np.zeros(2, dtype=int) * (self.n // 3))"),
    ],
)
def test_whole_numbers_do_not_join(tmp_path, start, total):
    """In 64 bits 2^62 * 2 is negative; an array of whole numbers keeps 0 of 0.9: no noise."""
    kept = """
    def kept(self, row):
        row[1] = 0.9
        return self.n - 0.5 + (row[1] - 1) * np.random.laplace(0, 40 / self.eps)
"""
    path = tmp_path / "policy.py"
    path.write_text(WRAPPING.format(start=start, total=total) + kept)
    found = prove(CodeTarget(f"{path}:Policy", 2, 6, 1.0), 5.0).finding
    assert found.status is Status.SILENT


def test_rewards_of_64_bits_may_not_wrap_around_either(tmp_path):
    """Ten rewards of 10^18 are more than 2^63; of 10^6 they are not."""
    text = """
import numpy as np


class Policy:
    def __init__(self, arms, epsilon):
        self.t, self.total, self.best, self.eps = 0, 0, 0, epsilon

    def select(self):
        return self.best

    def update(self, arm, reward):
        self.t += 1
        self.total = self.total + reward * UNIT * UNIT
        if self.t == 12:
            self.best = int(self.total + np.random.laplace(0, UNIT * UNIT / self.eps) > 6 * UNIT)
"""
    for unit, status in ((10**3, Status.PROVED), (10**9, Status.SILENT)):
        path = tmp_path / f"policy{unit}.py"
        path.write_text(text.replace("UNIT", str(unit)))
        found = prove(CodeTarget(f"{path}:Policy", 2, 14, 1.0), 5.0).finding
        assert found.status is status, found.reason


HUGE = """
class Policy:
    def __init__(self, arms):
        self.n, self.x = 0, 0.0

    def select(self):
        self.n += 1
        return int(self.n >= 3 and self.x * 1e300 > 5)

    def update(self, arm, reward):
        self.x = 1e300 if reward > 0.5 else 0.0
"""


def test_numbers_that_overflow_do_not_join(tmp_path):
    file = tmp_path / "policy.py"
    file.write_text(HUGE)
    found = prove(CodeTarget(f"{file}:Policy", 2, 5, 1.0), 20.0).finding
    assert found.status is Status.SILENT and "decides here without any noise" in found.reason


def test_a_failure_of_the_reader_is_not_told_as_the_policys(tmp_path, monkeypatch):
    file = tmp_path / "policy.py"
    file.write_text(HUGE)
    monkeypatch.setattr("dpaudit.symbolic.joining._number", itemgetter(99))
    target = CodeTarget(f"{file}:Policy", 2, 5, 1.0)
    assert "The reader itself failed" in prove(target, 20.0).finding.reason
    file.write_text(HUGE.replace("self.n += 1", "[][self.n]"))
    assert "Some path ends in IndexError" in prove(target, 20.0).finding.reason
    file.write_text("import numpy as np\n" + HUGE.replace("1\n", "np.ones(2).fill(1, 3)\n", 1))
    found = prove(target, 20.0).finding.reason
    assert "Not followed: policy.py:8: on symbols it raises TypeError" in found
