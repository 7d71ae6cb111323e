"""No policy that hides a raw reward somewhere is proved, wherever it hides it."""

import pytest
from evil import STYLES, policy

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
