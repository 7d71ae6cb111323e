"""A merge of states that differ is noticed where they go on in different ways."""

import pytest

from dpaudit.symbolic import states, walk
from dpaudit.symbolic.prove import prove
from dpaudit.symbolic.subject import CodeTarget
from dpaudit.verdict import Status

POLICY = """
class Policy:
    def __init__(self, arms, epsilon, rng):
        self.rng, self.t, self.flag, self.sum, self.arm = rng, 0, 0, 0.0, 0

    def select(self):
        return {arm}

    def update(self, arm, reward):
        self.t += 1
        if self.t == 1 and self.rng.random() < 0.3:
            self.flag = 1
        self.sum += reward
        if self.t == {late}:
            {end}
"""
LEAK = "self.arm = int(self.sum + (0 if self.flag else self.rng.laplace(0, 1)) > 2)"
SAME = "self.arm = int(self.sum + self.rng.laplace(0, 1) > 2)"


def judged(tmp_path, end, late, arm="self.arm"):
    file = tmp_path / "policy.py"
    file.write_text(POLICY.format(end=end, late=late, arm=arm))
    return prove(CodeTarget(f"{file}:Policy", 2, 40, 1.0), 20.0).finding


@pytest.mark.parametrize("late", [3, 30])
@pytest.mark.parametrize(
    ("end", "arm"),
    [
        (LEAK, "self.arm"),
        ("pass", "self.flag if self.t == {late} else 0"),
        ("self.sum = float(self.flag)", "self.arm"),
    ],
)
def test_keys_that_leave_something_out_are_noticed(tmp_path, monkeypatch, late, end, arm):
    whole = states.key_of

    def blind(state, copier):
        data, *rest = whole(state, copier)
        pairs = zip(data[1:], data, strict=False)
        return (tuple(mark for mark, before in pairs if before != ("name", "flag")), *rest)

    monkeypatch.setattr(walk, "key_of", blind)
    found = judged(tmp_path, end, late, arm.format(late=late))
    assert found.status is Status.SILENT
    assert "taken for one go on in different ways" in found.reason


@pytest.mark.parametrize("late", [3, 30])
def test_right_merges_are_left_alone(tmp_path, late):
    assert judged(tmp_path, SAME, late).status is Status.PROVED


PARTS = """
import numpy as np


class Policy:
    def __init__(self, arms, epsilon, rng):
        self.rng, self.t, self.kept, self.arm = rng, 0, None, 0

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.t += 1
        if self.t == 1:
            self.kept = [reward, np.clip(reward, 0.2, 0.7)]
            part = np.clip(reward, 0.0, 0.5)
            noise = self.rng.laplace(0, 0.5)
            self.arm = int((noise if self.rng.random() < 0.5 else part + noise) > 0.25)
        if self.t == 2:
            self.arm = int(self.kept[0] + self.rng.laplace(0, 1) > 0.5)
        if self.t == 3:
            self.arm = int(self.kept[1] + self.rng.laplace(0, 1) > 0.5)
            self.kept = None
"""


def test_what_a_part_that_is_gone_has_paid_is_not_lost_in_a_merge(tmp_path):
    """1 for a part that is then forgotten, on one of two branches that end alike; then 1.5."""
    file = tmp_path / "policy.py"
    file.write_text(PARTS)
    proofs = [prove(CodeTarget(f"{file}:Policy", 2, 6, e), 20.0).finding for e in (1.8, 2.5)]
    assert [found.status for found in proofs] == [Status.SILENT, Status.PROVED]
    assert proofs[1].epsilon_upper == 2.5


def test_a_reward_and_a_function_of_it_are_two_states(tmp_path):
    file = tmp_path / "policy.py"
    file.write_text(
        "class Policy:\n    def __init__(self, arms, epsilon, rng):\n"
        "        self.rng, self.x = rng, 0.0\n\n    def select(self):\n"
        "        return int(self.x + self.rng.laplace(0, 1.0) > 0.5)\n\n"
        "    def update(self, arm, reward):\n        if self.rng.uniform() < 0.5:\n"
        "            self.x += reward\n        self.x = max(self.x, reward)\n"
    )
    found = prove(CodeTarget(f"{file}:Policy", 2, 4, 3.0), 20.0).finding
    assert found.status is Status.SILENT and "taken for one" not in found.reason


GREEDY = """
import numpy as np

class Policy:
    def __init__(self, arms, epsilon, rng):
        self.arms, self.epsilon, self.rng = arms, epsilon, rng
        self.rounds, self.means = 0, np.zeros(arms)
        self.rewards = [[] for _ in range(arms)]

    def select(self):
        if self.rounds < self.arms:
            return self.rounds
        if self.rng.random() < 0.1:
            return int(self.rng.integers(self.arms))
        return int(np.argmax(self.means))

    def update(self, arm, reward):
        self.rewards[arm].append(reward)
        self.rounds += 1
        if self.rounds % 3 == 0:
            for a in range(self.arms):
                noise = self.rng.laplace(0, 1 / (self.epsilon * len(self.rewards[a])))
                self.means[a] = np.mean(self.rewards[a]) + noise
"""


def test_the_rewards_of_a_sum_have_one_order_in_a_key(tmp_path):
    """Whichever of them came first: states that were merged rightly were told apart later."""
    file = tmp_path / "greedy.py"
    file.write_text(GREEDY)
    found = prove(CodeTarget(f"{file}:Policy", 2, 9, 1.0), 20.0).finding
    assert "the reward of round 1 is charged 2" in found.reason
