"""Code that draws with `dpaudit.noise`: proved with its rounding, and what is naive is not."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import pytest

from dpaudit import noise
from dpaudit.errors import InvalidArgument
from dpaudit.sample.guard import lent_randomness
from dpaudit.symbolic.exact_noise import noise_module
from dpaudit.symbolic.prove import prove
from dpaudit.symbolic.run import Escape, Run, active
from dpaudit.symbolic.subject import CodeTarget
from dpaudit.symbolic.values import Linear
from dpaudit.verdict import Status

HEAD = """
import math
import random
import secrets
import numpy as np
from fractions import Fraction
from dpaudit.noise import gaussian, laplace, noisy_sum, on_grid


class Policy:
    def __init__(self, arms, epsilon=1.0):
        self.arms, self.scale = arms, Fraction(16) / Fraction(epsilon)
        self.pulls, self.index = [0] * arms, [0.0] * arms
        self.rewards, self.left, self.arm, self.total = [], 0, 0, 0

    def select(self):
        if self.left == 0:
            self.arm = self.pulls.index(0) if 0 in self.pulls else self.best()
            self.left = max(1, self.pulls[self.arm])
        return self.arm

    def best(self):
        found = 0
        for arm in range(1, self.arms):
            if self.index[arm] > self.index[found]:
                found = arm
        return found

    def update(self, arm, reward):
        self.rewards.append(reward)
        self.left -= 1
        if self.left == 0:
            n = len(self.rewards)
            self.pulls[arm] += n
            {release}
            self.index[arm] = mean + math.sqrt(2 / n)
            self.rewards = []
"""
RIGHT = "mean = noisy_sum(self.rewards, 16, self.scale) / (16 * n)"


def proved(tmp_path, release, head=HEAD, epsilon=1.0):
    file = tmp_path / "mine.py"
    file.write_text(head.replace("{release}", release))
    return prove(CodeTarget(f"{file}:Policy", 2, 12, epsilon), 60.0).finding


def test_no_scale_and_no_grid_depends_on_a_reward():
    module = noise_module(lambda: noise.system)
    with active(Run()) as now:
        reward = Linear(0, {now.row(0, None): 1}, {}, None)
        for ask in (lambda: module.laplace(reward), lambda: module.on_grid(0.5, reward)):
            with pytest.raises(Escape, match="a grid or a scale that depends on rewards"):
                ask()


def test_exact_noise_is_proved_with_its_rounding(tmp_path):
    finding = proved(tmp_path, RIGHT)
    assert finding.status is Status.PROVED, finding.reason
    assert finding.epsilon_upper == 1
    assert finding.program is not None
    assert (finding.program.epsilon, finding.program.delta) == (1, 0)
    assert "unbiased" in finding.program.assumes


def test_a_public_coin_beside_it_changes_nothing(tmp_path):
    head = HEAD.replace("found = 0\n", "found = random.randrange(self.arms)\n")
    finding = proved(tmp_path, RIGHT, head)
    assert finding.status is Status.PROVED and finding.program is not None


def test_the_scale_is_what_is_charged(tmp_path):
    half = RIGHT.replace("self.scale", "self.scale / 2")
    assert proved(tmp_path, half).status is Status.SILENT
    finding = proved(tmp_path, half, epsilon=2.0)
    assert finding.status is Status.SILENT  # for epsilon = 2 its scale is halved again
    assert proved(tmp_path, RIGHT.replace("self.scale", "3 * self.scale")).epsilon_upper < 0.334


NAIVE = {
    "after the division": "mean = sum(self.rewards) / n + laplace(self.scale) / (16 * n)",
    "integers, after the division": "mean = (sum(self.rewards) / n) + laplace(1)",
    "a double before the sum": "mean = (sum(self.rewards) + float(laplace(self.scale)) / 16) / n",
    "as a double": "mean = (sum(self.rewards) + laplace(self.scale) * 0.0625) / n",
    "biased bits": (
        "mean = noisy_sum(self.rewards, 16, self.scale, lambda k: secrets.randbits(16) % 2**k)"
        " / (16 * n)"
    ),
    "bits of a seed": (
        "mean = noisy_sum(self.rewards, 16, self.scale, random.Random(3).getrandbits) / (16 * n)"
    ),
    "a modulo by hand": (
        "u = secrets.randbits(8) % 48; mean = (sum(self.rewards) + u - 24) / (16 * n)"
    ),
    "integers, after their division": (
        "mean = sum(on_grid(r, 16) for r in self.rewards) / (16 * n) + laplace(self.scale)"
    ),
    "integers, divided without a rest": (
        "mean = (sum(on_grid(r, 16) for r in self.rewards) // n + laplace(self.scale)) / 16"
    ),
    "integers as a double": (
        "mean = (float(sum(on_grid(r, 16) for r in self.rewards)) + laplace(self.scale)) / (16 * n)"
    ),
    "integers, and a double": (
        "mean = (sum([on_grid(r, 16) for r in self.rewards], 0.0) + laplace(self.scale)) / (16 * n)"
    ),
    "integers, and noise as a double": (
        "mean = (sum(on_grid(r, 16) for r in self.rewards) + float(laplace(self.scale))) / (16 * n)"
    ),
    "numpy's integers": (
        "mean = (np.array([on_grid(r, 16) for r in self.rewards]).sum() + laplace(self.scale))"
        " / (16 * n)"
    ),
    "rewards that are no integers": "mean = (sum(self.rewards) + laplace(self.scale)) / n",
    "rewards rounded by hand": (
        "mean = (sum(round(16 * r) for r in self.rewards) + laplace(self.scale)) / (16 * n)"
    ),
    "a draw of two steps": (
        "mean = (sum(on_grid(r, 16) for r in self.rewards) + 2 * laplace(self.scale)) / (16 * n)"
    ),
    "a draw twice": (
        "z = laplace(self.scale); s = [on_grid(r, 16) for r in self.rewards];"
        "mean = (s[0] + z) / 16 + (sum(s[1:]) + z) / (16 * n)"
    ),
    "a draw that is kept": (
        "self.z = laplace(self.scale);"
        "mean = (sum(on_grid(r, 16) for r in self.rewards) + self.z) / (16 * n)"
    ),
    "a draw that decides first": (
        "z = laplace(self.scale); z = z if z > 0 else z + 0;"
        "mean = (sum(on_grid(r, 16) for r in self.rewards) + z) / (16 * n)"
    ),
    "half of the integers after the noise": (
        "s = [on_grid(r, 16) for r in self.rewards];"
        "mean = (s[0] + laplace(self.scale) + sum(s)) / (16 * n)"
    ),
    "integers of a sum": ("mean = (on_grid(sum(self.rewards) / n, 16) + laplace(self.scale)) / 16"),
    "a finer grid by hand": (
        "mean = (sum(on_grid(r, 32) for r in self.rewards) + laplace(self.scale)) / (32 * n)"
    ),
    "rounded up by hand": (
        "mean = (sum(2 * on_grid(r, 16) for r in self.rewards) + laplace(self.scale)) / (32 * n)"
    ),
    "a Gaussian draw by hand": (
        "mean = (sum(on_grid(r, 16) for r in self.rewards) + gaussian(self.scale)) / (16 * n)"
    ),
    "a sum of sums": "mean = noisy_sum([sum(self.rewards)], 16, self.scale) / (16 * n)",
    "a mean": "mean = noisy_sum([sum(self.rewards) / n], 16, self.scale) / 16",
    "released twice": (
        "mean = noisy_sum(self.rewards, 16, self.scale) / (32 * n)"
        " + noisy_sum(self.rewards, 16, self.scale) / (32 * n)"
    ),
    "the same reward twice": (
        "mean = noisy_sum(self.rewards + self.rewards, 16, self.scale) / (32 * n)"
    ),
    "a finer grid": "mean = noisy_sum(self.rewards, 32, self.scale) / (32 * n)",
    "a scale of the rewards": (
        "mean = noisy_sum(self.rewards, 16, self.scale * (1 + self.rewards[0])) / (16 * n)"
    ),
    "Gaussian": "mean = (sum(self.rewards) + gaussian(9)) / n",
    "noise that is not added": (
        "noisy_sum(self.rewards, 16, self.scale); mean = sum(self.rewards) / n"
    ),
    "beside the rewards": (
        "mean = noisy_sum(self.rewards, 16, self.scale) / (16 * n) + 0.001 * self.rewards[0]"
    ),
    "a scale in doubles": "mean = noisy_sum(self.rewards, 16, 16.0) / (16 * n)",
    "a Fraction of a reward": (
        "mean = noisy_sum([Fraction(r) for r in self.rewards], 16, self.scale) / (16 * n)"
    ),
}


@pytest.mark.parametrize("name", NAIVE)
def test_what_is_naive_is_not_proved(tmp_path, name):
    finding = proved(tmp_path, NAIVE[name])
    assert finding.status is Status.SILENT, finding.reason
    assert finding.program is None


PATCHES = {
    "the system's bits": "import dpaudit.noise\ndpaudit.noise.system = lambda size: 0",
    "the sampler": "import dpaudit.noise\ndpaudit.noise.laplace = lambda *given: 0",
    "Python's bits": "secrets.randbits = lambda size: 0",
    "a default": "laplace.__defaults__ = (lambda size: 0,)",
    "the name": "def noisy_sum(rewards, grid, scale):\n    return sum(rewards) * grid",
}


@pytest.mark.parametrize("name", PATCHES)
def test_a_sampler_that_the_code_has_changed_is_not_ours(tmp_path, name):
    head = HEAD.replace("\n\nclass Policy", f"\n{PATCHES[name]}\n\n\nclass Policy")
    assert head != HEAD
    finding = proved(tmp_path, RIGHT, head)
    assert finding.status is Status.SILENT and finding.program is None


@pytest.mark.parametrize(
    "release",
    [
        "mean = noisy_sum(rewards=self.rewards, grid=16, scale=self.scale, bits=None) / (16 * n)",
        "mean = noisy_sum((r for r in self.rewards), 16, self.scale) // 16 / n",
        "mean = (sum(on_grid(r, 16) for r in self.rewards) + laplace(self.scale)) / (16 * n)",
        "mean = (laplace(scale=self.scale) - sum(on_grid(r, 16) for r in self.rewards)) / (16 * n)",
        "mean = (3 + sum(2 * on_grid(r, 8) for r in self.rewards) + laplace(self.scale)) // 16 / n",
        "mean = float(5 * (sum([on_grid(min(r, 1.0), 16) for r in self.rewards]) + "
        "laplace(self.scale))) / (80 * n)",
        "mean = noisy_sum([min(max(r, 0.0), 1.0) for r in self.rewards], 16, self.scale) % 7 / n",
    ],
)
def test_what_is_made_of_the_published_integer_is_free(tmp_path, release):
    finding = proved(tmp_path, release)
    assert finding.status is Status.PROVED and finding.program is not None, finding.reason


def test_other_noise_beside_it_is_not_said_to_be_covered(tmp_path):
    mixed = (
        "mean = noisy_sum(self.rewards[:1], 16, self.scale) / 16"
        " + (sum(self.rewards[1:]) + np.random.default_rng().laplace(0, 1)) / n"
    )
    finding = proved(tmp_path, mixed)
    assert finding.status is Status.PROVED, finding.reason
    assert finding.program is None


def test_a_running_sum_of_integers_is_one(tmp_path):
    """Kept between rounds, it is still an integer, and states that are not alike do not meet."""
    head = HEAD.replace("self.rewards.append(reward)", "self.rewards.append(reward); {add}")
    head = head.replace("self.rewards = []\n", "self.rewards, self.total = [], 0\n", 2)
    release = "mean = (self.total + laplace(self.scale)) / (16 * n)"
    finding = proved(tmp_path, release, head.replace("{add}", "self.total += on_grid(reward, 16)"))
    assert finding.status is Status.PROVED and finding.program is not None, finding.reason
    half = "self.total += on_grid(reward, 16) * (1 if arm else 1.0)"
    finding = proved(tmp_path, release, head.replace("{add}", half))
    assert finding.status is Status.SILENT and finding.program is None


def test_a_module_beside_the_code_is_not_taken_for_ours(tmp_path):
    (tmp_path / "dpaudit").mkdir()
    (tmp_path / "dpaudit" / "noise.py").write_text("def noisy_sum(*given): return sum(given[0])\n")
    finding = proved(tmp_path, RIGHT)
    assert finding.status is Status.SILENT


def test_rewards_are_rounded_one_by_one_and_stay_on_the_grid():
    assert [noise.on_grid(r, 4) for r in (0, 0.1, 0.5, 0.9, 1, 2.0, -1, float("nan"))] == [
        0,
        0,
        2,
        4,
        4,
        4,
        0,
        0,
    ]
    for grid in (0, 2.0, True, "4"):
        with pytest.raises(InvalidArgument, match="grid"):
            noise.on_grid(0.5, grid)
    with lent_randomness(5):
        first = [noise.noisy_sum([0.5, 1.0], 8, Fraction(8)) for _ in range(5)]
    with lent_randomness(5):
        again = [noise.noisy_sum([0.5, 1.0], 8, Fraction(8)) for _ in range(5)]
    assert first == again and len(set(first)) > 1


def test_the_system_is_back_after_a_run():
    """Production draws from the operating system: a run that is lent bits gives them back."""
    before = noise.system
    with lent_randomness(1):
        assert noise.system is not before
    assert noise.system is before
    code = "from dpaudit.noise import laplace; print([laplace(1000) for _ in range(4)])"
    runs = {subprocess.run([sys.executable, "-c", code], capture_output=True).stdout for _ in "ab"}
    assert len(runs) == 2  # alike with probability below 1e-12
