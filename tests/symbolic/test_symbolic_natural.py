"""Policies as people write them: the right ones are proved, of the wrong ones none."""

import re
from pathlib import Path

import pytest

from dpaudit.symbolic.prove import prove
from dpaudit.symbolic.subject import Target
from dpaudit.verdict import Status

FILE = Path(__file__).with_name("natural.py")
FOUND = re.findall(r'^(?:class|def) (\w+)[^\n]*\n    """(right|wrong)', FILE.read_text(), re.M)
RIGHT = [name for name, kind in FOUND if kind == "right"]
WRONG = [name for name, kind in FOUND if kind == "wrong"]
QUICK = ("DataclassETC", "VecElimination", "RiverGreedy", "stream_etc", "RRCount", "HeapPolicy")
CHOSEN = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in RIGHT]


@pytest.mark.parametrize("name", CHOSEN)
@pytest.mark.parametrize("arms", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_right_code_is_proved(name, arms):
    if (name, arms) == ("stream_etc", 3):
        pytest.skip("it is written for two arms")
    found = prove(Target(f"{FILE}:{name}", arms, 14, 1.0), 60.0).finding
    assert found.status is Status.PROVED, found.reason
    assert found.horizon == 14 and found.epsilon_upper <= 1


@pytest.mark.parametrize("name", WRONG)
def test_wrong_code_is_not_proved(name):
    found = prove(Target(f"{FILE}:{name}", 2, 20, 1.0), 60.0).finding
    assert found.status is Status.SILENT and "charged" in found.reason
