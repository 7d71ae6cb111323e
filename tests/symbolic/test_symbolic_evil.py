"""No policy that hides a raw reward somewhere is proved, wherever it hides it."""

import subprocess
import sys
from pathlib import Path

import pytest
from evil import STYLES, policy
from hiding_places import hiding_places
from impostors import impostors
from misreadings import misreadings

from dpaudit.symbolic.prove import prove
from dpaudit.symbolic.subject import CodeTarget
from dpaudit.verdict import Status


def judged(tmp_path, text, horizon=40):
    file = tmp_path / "policy.py"
    file.write_text(text)
    return prove(CodeTarget(f"{file}:Policy", 2, horizon, 1.0), 20.0)


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


PROTOCOL = """
from typing import Protocol


class Playing(Protocol):
    def select(self): ...

    def update(self, arm, reward): ...


"""


def test_a_protocol_beside_a_policy_changes_nothing(tmp_path):
    """Newer interpreters keep a set of names in every protocol."""
    text = PROTOCOL + policy("self.n = self.t", "return False")
    assert judged(tmp_path, text).finding.status is Status.PROVED


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


HIDDEN = hiding_places()
LEAKS = """
import os, sys
from hiding_places import hiding_places

for text in hiding_places().values():
    if not os.fork():  # what a policy does to Python's own modules must not reach the others
        actions = []
        for reward in (0.0, 1.0):
            scope = {"__name__": "policy"}
            exec(compile(text, "policy", "exec"), scope)
            policy = scope["Policy"](2, 1.0, None)
            policy.update(0, reward)
            policy.update(0, 0.0)
            actions.append(int(policy.select()))
        os._exit(10 * actions[0] + actions[1])
    print(os.waitstatus_to_exitcode(os.wait()[1]))
"""


@pytest.fixture(scope="module")
def leaking():
    """Return what each policy plays in the third round after a first reward of 0, and of 1."""
    here = str(Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", LEAKS], capture_output=True, text=True, cwd=here, check=True
    )
    return dict(zip(HIDDEN, map(int, done.stdout.split()), strict=True))


@pytest.mark.parametrize("name", HIDDEN)
def test_a_hiding_place_leaks_and_is_not_proved(tmp_path, leaking, name):
    assert leaking[name] in (1, 10)
    found = judged(tmp_path, HIDDEN[name], horizon=6)
    assert found.finding.status is Status.SILENT
    assert found.finding.reason


MISREAD = misreadings()


@pytest.mark.parametrize("name", MISREAD)
def test_what_was_misread_once_is_not_proved(tmp_path, name):
    found = judged(tmp_path, MISREAD[name], horizon=6)
    assert found.finding.status is Status.SILENT
    assert found.finding.reason
