"""A merge of states that differ is noticed where they go on in different ways."""

import pytest

from dpaudit.symbolic import states, walk
from dpaudit.symbolic.prove import prove
from dpaudit.symbolic.subject import Target
from dpaudit.verdict import Status

POLICY = """
class Policy:
    def __init__(self, arms, epsilon, rng):
        self.rng, self.t, self.flag, self.sum, self.arm = rng, 0, 0, 0.0, 0

    def select(self):
        return self.arm

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


def judged(tmp_path, end, late):
    file = tmp_path / "policy.py"
    file.write_text(POLICY.format(end=end, late=late))
    return prove(Target(f"{file}:Policy", 2, 40, 1.0), 20.0).finding


@pytest.mark.parametrize("late", [3, 30])
def test_keys_that_leave_something_out_are_noticed(tmp_path, monkeypatch, late):
    whole = states.key_of

    def blind(state, copier):
        data, *rest = whole(state, copier)
        pairs = zip(data[1:], data, strict=False)
        return (tuple(mark for mark, before in pairs if before != ("name", "flag")), *rest)

    monkeypatch.setattr(walk, "key_of", blind)
    found = judged(tmp_path, LEAK, late)
    assert found.status is Status.SILENT
    assert "taken for one go on in different ways" in found.reason


@pytest.mark.parametrize("late", [3, 30])
def test_right_merges_are_left_alone(tmp_path, late):
    assert judged(tmp_path, SAME, late).status is Status.PROVED
