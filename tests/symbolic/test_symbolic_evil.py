"""No policy that hides a raw reward somewhere is proved, wherever it hides it."""

import pytest
from evil import STYLES, policy
from impostors import impostors

from dpaudit.symbolic.prove import prove
from dpaudit.symbolic.subject import Target
from dpaudit.verdict import Status


def judged(tmp_path, text, horizon=40):
    file = tmp_path / "policy.py"
    file.write_text(text)
    return prove(Target(f"{file}:Policy", 2, horizon, 1.0), 20.0)


@pytest.mark.parametrize("style", STYLES)
def test_a_hidden_reward_is_never_proved(tmp_path, monkeypatch, style):
    monkeypatch.chdir(tmp_path)
    found = judged(tmp_path, STYLES[style])
    assert found.finding.status is Status.SILENT
    assert found.finding.reason


def test_the_same_policy_without_the_leak_is_proved(tmp_path):
    found = judged(tmp_path, policy("self.n = self.t", "return False"))
    assert found.finding.status is Status.PROVED
    assert found.finding.horizon == 40
    assert found.finding.epsilon_upper == 1.0


IMPOSTORS = impostors()


@pytest.mark.parametrize("name", IMPOSTORS)
def test_impostors_are_never_proved(tmp_path, name):
    found = judged(tmp_path, IMPOSTORS[name], horizon=6)
    assert found.finding.status is Status.SILENT
    assert found.finding.reason


NAMED = """
class Policy:
    name = "mine"

    def __init__(self, arms, epsilon, rng):
        self.label, self.arms, self.rng, self.t = self.__class__.__name__, {0, 1}, rng, 0
        self.best = None

    def select(self):
        if self.best is None:
            return min(self.arms)
        return self.best if self.best in self.arms else 1

    def update(self, arm, reward):
        self.t += 1
        if self.t == 1:
            self.best = int(reward + self.rng.laplace(0, 1) > 0.5)
"""


def test_harmless_questions_are_answered(tmp_path):
    found = judged(tmp_path, NAMED, horizon=6)
    assert found.finding.status is Status.PROVED
    assert found.finding.epsilon_upper == 1.0
