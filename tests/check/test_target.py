"""TARGET: names, modules, files; every failure is one line."""

from __future__ import annotations

import sys

import pytest

from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.errors import DpauditError, InvalidArgument
from dpaudit.target import load_file, parameters, resolve

SOURCE = '''
from dataclasses import dataclass
from typing import ClassVar
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.algorithms.dp_ucb import DPUCB
from dpaudit.core.episodes import DoublingEpisodes

@dataclass(frozen=True, kw_only=True)
class Mine(AdapUCB):
    """Mine."""

@dataclass(frozen=True, kw_only=True)
class Unfinished(DoublingEpisodes):
    """No rule."""

ready = AdapUCB(arms=3, epsilon=0.5)
timed = DPUCB(arms=2, horizon=100)

def make(arms, epsilon=0.25):
    return AdapUCB(arms=arms, epsilon=epsilon)

def wrong(arms):
    return "an algorithm"

def broken(arms):
    raise RuntimeError("no luck\\ntoday")

number = 3
'''


@pytest.fixture
def file(tmp_path, monkeypatch):
    path = tmp_path / "own_algorithms.py"
    path.write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return path


def build(text, horizon=50, **given):
    return resolve(text).build(horizon, given, {"arms": 2})


def test_a_horizon_is_a_count_of_64_bits():
    assert build("adap_ucb", 2**63 - 1).arms == 2
    with pytest.raises(InvalidArgument, match=r"^horizon=\S+ must be below 2\^63, as counts are"):
        build("dp_linear", 2**63)


def test_names():
    assert build("adap_ucb") == AdapUCB(arms=2)
    assert build("adap_ucb", arms=4, alpha=2.0) == AdapUCB(arms=4, alpha=2.0)
    assert build("dp_ucb").horizon == 50
    with pytest.raises(DpauditError, match="is required by adap_ucb"):
        resolve("adap_ucb").make({})


@pytest.mark.parametrize("place", ["own_algorithms.py", "own_algorithms", "./own_algorithms.py"])
def test_files_and_modules(file, place):
    assert build(f"{place}:Mine", epsilon=0.5).epsilon == 0.5
    assert build(f"{place}:ready") == AdapUCB(arms=3, epsilon=0.5)
    assert build(f"{place}:ready", arms=5) == AdapUCB(arms=5, epsilon=0.5)
    assert build(f"{place}:timed").horizon == 50
    assert build(f"{place}:make") == AdapUCB(arms=2, epsilon=0.25)
    assert build(f"{place}:make", epsilon=2.0) == AdapUCB(arms=2, epsilon=2.0)
    assert resolve(f"{place}:Mine").label == "Mine"


def test_a_file_beside_another(file, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert resolve("own_algorithms.py:Mine", beside=tmp_path).label == "Mine"
    with pytest.raises(DpauditError, match="there is no file"):
        resolve("own_algorithms.py:Mine")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("adap_klcub", "Did you mean 'adap_klucb'?"),
        ("missing.py:Mine", "there is no file missing.py"),
        ("own_algorithms.py", "needs an object"),
        ("own_algorithms.py:", "must be a name"),
        (":Mine", "must be a name"),
        ("own_algorithms.py:Mien", "Did you mean 'Mine'?"),
        ("own_algorithms:number", "not an Algorithm; code as it stands is for `check`"),
        ("own_algorithms:Unfinished", "is abstract: it does not define rule"),
        ("own_algorithms:wrong", "is a str, not an Algorithm"),
        ("own_algorithms:broken", "RuntimeError: no luck"),
        ("no.such.module:Mine", "ModuleNotFoundError: No module named 'no'"),
        ("broken_file.py:Mine", "SyntaxError"),
        ("raising_file.py:Mine", "ZeroDivisionError"),
        ("json:JSONDecoder", "is a JSONDecoder, not an Algorithm"),
        ("relative_file.py:Mine", "package; what is in no package itself imports by"),
    ],
)
def test_failures_are_one_line(file, tmp_path, text, said):
    (tmp_path / "relative_file.py").write_text("from .base import Mine\n")
    (tmp_path / "broken_file.py").write_text("def Mine(:\n")
    (tmp_path / "raising_file.py").write_text("1 / 0\n")
    with pytest.raises(DpauditError) as caught:
        build(text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "given", "said"),
    [
        ("dp_klucb", {"alpha": 2.0}, "alpha=2.0 is not a parameter of dp_klucb"),
        ("own_algorithms:make", {"alpha": 2.0}, "it takes arms, epsilon"),
        ("own_algorithms:Mine", {"epsilon": -1.0}, "epsilon=-1.0 must be positive."),
        ("own_algorithms:ready", {"arms": 1}, "arms=1 must be at least 2."),
    ],
)
def test_parameters_that_do_not_fit(file, text, given, said):
    with pytest.raises(DpauditError, match=said):
        build(text, **given)


def test_a_package_of_the_same_name_from_elsewhere_is_not_taken_for_it(tmp_path, monkeypatch):
    for folder in ("here", "there"):
        (tmp_path / folder / "ours").mkdir(parents=True)
        (tmp_path / folder / "ours" / "__init__.py").write_text("")
        (tmp_path / folder / "ours" / "base.py").write_text(f"PLACE = {folder!r}\n")
        (tmp_path / folder / "ours" / "mine.py").write_text("from .base import PLACE\n")
    monkeypatch.setattr(sys, "path", list(sys.path))
    here, there = (tmp_path / it / "ours" / "mine.py" for it in ("here", "there"))
    assert load_file(here, "t").PLACE == "here"
    assert load_file(here, "t").__name__ == "ours.mine"
    with pytest.raises(InvalidArgument, match="needs the ours beside it, but another"):
        load_file(there, "t")
    for name in [it for it in sys.modules if it.partition(".")[0] == "ours"]:
        del sys.modules[name]
    assert load_file(there, "t").PLACE == "there"
    for name in [it for it in sys.modules if it.partition(".")[0] == "ours"]:
        del sys.modules[name]


def test_parameters_are_plain():
    assert parameters(AdapUCB(arms=2)) == {"arms": 2, "epsilon": 1.0, "alpha": 3.1}
