"""What people write with numpy and random is read as it is meant, or not at all."""

import pytest

from dpaudit.symbolic.prove import prove
from dpaudit.symbolic.subject import CodeTarget
from dpaudit.verdict import Status

POLICY = """
import math
import random

import numpy as np


class Policy:
    def __init__(self, arms, epsilon, rng):
        self.t, self.best, self.rng = 0, 0, rng
        self.sums, self.whole = np.zeros(2), np.zeros(2, dtype=int)

    def select(self):
        rng = self.rng
        if self.t == 4:
            scale = 1.0
{body}
        return self.best

    def update(self, arm, reward):
        self.t += 1
        if self.t <= 4:
            self.sums[arm] += reward
"""
NOISE = "noise = rng.laplace(0, scale, size=2); "
BEST = "; self.best = int(np.argmax(noisy))"
RIGHT = {
    "out": NOISE + "noisy = np.ones(2); np.add(self.sums, noise, out=noisy)" + BEST,
    "out in place": NOISE + "noisy = self.sums; np.add(noisy, noise, out=noisy)" + BEST,
    "out as a tuple": NOISE + "noisy = np.zeros(2); np.add(self.sums, noise, out=(noisy,))" + BEST,
    "out of one argument": NOISE
    + "noisy = np.zeros(2); np.negative(self.sums + noise, out=noisy)"
    + BEST,
    "spawned": "one, two = rng.spawn(2); "
    "noisy = self.sums + np.array([one.laplace(0, scale), two.laplace(0, scale)])" + BEST,
    "a public choice": "noisy = self.sums + rng.laplace(0, scale, size=2); "
    "self.best = int(rng.choice(2, p=[0.25, 0.75])) if rng.random() < 0.1 "
    "else int(np.argmax(noisy))",
    "a choice of Python": "noisy = self.sums + rng.laplace(0, scale, size=2); "
    "self.best = random.choices([0, 1], weights=[1, 3])[0] if random.random() < 0.1 "
    "else int(np.argmax(noisy))",
    "an even choice of Python": "noisy = self.sums + rng.laplace(0, scale, size=2); "
    "self.best = random.choices([0, 1])[0] if random.random() < 0.1 else int(np.argmax(noisy))",
    "functions of math": NOISE + "noisy = [math.exp(it) for it in self.sums + noise]" + BEST,
    "the larger of several": NOISE + "one, two = self.sums + noise; "
    "self.best = int(max(0.5, one, two) > 2)",
    "an empty array": NOISE + "noisy = np.concatenate([np.array([]), self.sums + noise])" + BEST,
    "a clip from a noisy value on": "noisy = self.sums[0] + rng.laplace(0, scale); "
    "self.best = int(np.clip(0.5, noisy, 9.0) > 2)",
    "weights of noisy values": NOISE + "odds = np.exp(self.sums + noise); "
    "self.best = int(rng.choice(2, p=odds / odds.sum()))",
    "weights of noisy values in Python": NOISE
    + "self.best = random.choices([0, 1], [np.exp(it) for it in self.sums + noise])[0]",
}
WRONG = {
    "a part of it only": "noisy = np.zeros(2); noise = np.array([0.0, rng.laplace(0, scale)]); "
    "np.add(self.sums, noise, out=noisy); self.best = int(noisy[0] > 2)",
    "not put anywhere": NOISE + "other = np.zeros(2); np.add(self.sums, noise, out=other); "
    "self.best = int(self.sums[0] > 2)",
    "spawned of a seed": "one, two = np.random.default_rng(1).spawn(2); "
    "noisy = self.sums + np.array([one.laplace(0, scale), two.laplace(0, scale)])" + BEST,
    "weights of rewards": "self.best = int(rng.choice(2, p=self.sums / np.sum(self.sums)))",
    "weights of rewards in Python": "self.best = random.choices([0, 1], list(1 + self.sums))[0]",
    "a start of the sum": "noisy = np.array([rng.laplace(0, scale), "
    "np.sum(self.sums, initial=self.sums[0])])" + BEST,
    "some elements": NOISE + "noisy = self.sums; "
    "np.add(noisy, noise, out=noisy, where=[True, False])" + BEST,
}
REASONS = {
    "weights of rewards": "weights depend on rewards",
    "weights of rewards in Python": "weights depend on rewards",
    "some elements": "np.add with where",
    "a start of the sum": "sum with initial",
}


def judged(tmp_path, body):
    lines = "\n".join(f"            {line.strip()}" for line in body.split(";"))
    file = tmp_path / "policy.py"
    file.write_text(POLICY.format(body=lines))
    return prove(CodeTarget(f"{file}:Policy", 2, 10, 1.0), 20.0).finding


@pytest.mark.parametrize("name", RIGHT)
def test_it_is_read_as_it_is_meant(tmp_path, name):
    found = judged(tmp_path, RIGHT[name])
    assert found.status is Status.PROVED, found.reason
    assert found.epsilon_upper == 1.0 and found.horizon == 10


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_or_not_known_is_not_proved(tmp_path, name):
    found = judged(tmp_path, WRONG[name])
    assert found.status is Status.SILENT
    assert REASONS.get(name, "charged") in found.reason
