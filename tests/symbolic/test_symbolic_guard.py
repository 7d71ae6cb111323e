"""The guard alone stops a misreading: of values, types, copies, lines that nobody reached."""

import math
import operator
from functools import partial

import numpy as np
import pytest

from dpaudit.symbolic import answers, guard, numpy_stand_in, snapshot
from dpaudit.symbolic.guard import FINE, SHORT, side_by_side
from dpaudit.symbolic.likeness import like, sketch
from dpaudit.symbolic.prove import prove
from dpaudit.symbolic.subject import CodeTarget
from dpaudit.symbolic.values import Linear, Opaque
from dpaudit.symbolic.wild import WildGenerator, wild_randomness
from dpaudit.verdict import Status

POLICY = """
import functools

import numpy as np


{before}


class Policy:
    def __init__(self, arms, epsilon, rng):
        self.arm, self.rng, self.t, self.kept = 0, rng, 0, 0

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.t += 1
        x = np.array([reward, 1.0])
        {done}
"""
LEAK = "self.arm = int(0.3 < reward < 0.30001)"


def judged(tmp_path, done, before="", horizon=6):
    file = tmp_path / "policy.py"
    file.write_text(POLICY.format(done=done.replace("\n", "\n        "), before=before))
    return prove(CodeTarget(f"{file}:Policy", 2, horizon, 1.0), 20.0).finding


def test_a_package_is_followed_as_python_finds_it(tmp_path):
    """`from . import` means the folder, not the file of its name that lies beside it."""
    (tmp_path / "box").mkdir()
    (tmp_path / "box" / "__init__.py").write_text("SCALE = 1.0\n")
    (tmp_path / "box" / "inner.py").write_text("from . import SCALE\n")
    (tmp_path / "box.py").write_text("SCALE = 2.0\n")
    noisy = "self.arm = int(reward + self.rng.laplace(0, SCALE) > 0.5)"
    found = judged(tmp_path, noisy, "from box.inner import SCALE")
    assert found.status is Status.PROVED and found.epsilon_upper == 1.0, found.reason


def test_a_reading_that_plays_other_arms_is_a_misreading(tmp_path, monkeypatch):
    monkeypatch.setattr(guard, "played", lambda target, rewards, *_, **__: [1] * len(rewards))
    found = judged(tmp_path, "self.kept = 1")
    assert found.status is Status.SILENT
    assert "at round 1 it plays arm 0, and arm 1 on symbols" in found.reason


@pytest.mark.parametrize("kind", [Opaque, partial(Linear, 0, {0: 1})])
def test_a_symbol_is_like_the_double_that_it_carries(kind):
    for number, alike in ((0.5, True), (0.5 + 1e-12, True), (0.625, False), (math.nan, False)):
        assert like(sketch(0.5), kind({}, number)) is alike


def typeless(operation):
    return lambda self, other: operation(int(self.truth), other)


@pytest.mark.parametrize(
    "asked", ["isinstance((x[0] >= 0) * 1, np.integer)", "hasattr((x[0] >= 0) * 1, 'item')"]
)
@pytest.mark.parametrize("late", ["", "self.t > 3 and "])
def test_a_wrong_type_is_noticed(tmp_path, monkeypatch, asked, late):
    monkeypatch.setattr(answers.Answer, "__mul__", typeless(operator.mul))
    found = judged(tmp_path, f"if {late}{asked}:\n    {LEAK}")
    assert found.status is Status.SILENT
    assert "was misread at policy.py:20" in found.reason


def test_a_wrong_type_is_noticed_late(tmp_path, monkeypatch):
    monkeypatch.setattr(answers.Answer, "__mul__", typeless(operator.mul))
    done = f"if self.t > 300 and isinstance((x[0] >= 0) * 1, np.integer):\n    {LEAK}"
    found = judged(tmp_path, done, horizon=350)
    assert found.status is Status.SILENT and "misread" in found.reason


def test_a_wrong_value_is_noticed(tmp_path, monkeypatch):
    stand_in = numpy_stand_in.numpy_module

    def forgetful(random):
        module = stand_in(random)
        vars(module)["maximum"] = lambda a, b: a
        return module

    monkeypatch.setattr("dpaudit.symbolic.loading.numpy_module", forgetful)
    found = judged(tmp_path, "y = np.maximum(0.2, 0.7)\nif y > 0.5:\n    " + LEAK)
    assert found.status is Status.SILENT and "misread at policy.py:20" in found.reason


def test_a_copy_that_forgets_is_noticed(tmp_path, monkeypatch):
    whole = snapshot.Copier._object

    def forgetful(self, value, kind):
        found = whole(self, value, kind)
        if kind.__name__ == "Policy":
            found.kept = 0
        return found

    monkeypatch.setattr(snapshot.Copier, "_object", forgetful)
    coin = "if self.rng.random() < 0.4:\n    self.arm = 0"
    found = judged(tmp_path, f"{coin}\nself.kept += 1\nif self.kept > 1:\n    {LEAK}")
    assert found.status is Status.SILENT and "misread at policy.py:23" in found.reason


NARROW = "if 0.3 < self.rng.laplace(0, 1) < 0.3000001:\n    self.kept = 1"


def test_a_line_that_no_real_run_reaches_is_named(tmp_path):
    found = judged(tmp_path, NARROW)
    assert found.status is Status.SILENT
    assert "Not compared: policy.py:21 is followed on symbols" in found.reason


@pytest.mark.parametrize(
    "law", ["laplace(0, 1) > 60", "random() < 0.0001", "uniform(0, 1) > 0.999"]
)
def test_lines_that_chance_seldom_reaches_are_reached(tmp_path, law):
    found = judged(tmp_path, f"if self.rng.{law}:\n    self.kept = 1", horizon=40)
    assert found.status is Status.PROVED, found.reason


CACHED = "@functools.lru_cache\ndef half(n):\n    return n / 2"


def test_calls_that_a_cache_leaves_out_do_not_disagree(tmp_path):
    found = judged(tmp_path, "self.kept = half(self.t % 2)", CACHED)
    assert found.status is Status.PROVED, found.reason


def test_code_that_plays_otherwise_when_it_is_watched_is_misread(tmp_path):
    found = judged(tmp_path, "self.kept = WATCHED", "import sys\nWATCHED = '__at__' in dir()")
    assert found.status is Status.SILENT


def test_wild_generators_repeat_themselves_and_leave_no_trace():
    before = np.random.laplace, np.random.default_rng, np.random.RandomState
    drawn = []
    for _ in range(2):
        with wild_randomness(5):
            own = np.random.default_rng()
            older = np.random.laplace()  # noqa: NPY002
            drawn.append([older, own.laplace(), np.random.RandomState().rand()])
    assert drawn[0] == drawn[1]
    assert (np.random.laplace, np.random.default_rng, np.random.RandomState) == before
    wild = WildGenerator(3)
    numbers = [wild.random() for _ in range(2000)]
    assert all(0 <= it < 1 for it in numbers) and min(numbers) < 1e-9 and max(numbers) > 1 - 1e-6


def test_modules_beside_the_target_are_compared_too(tmp_path, monkeypatch):
    monkeypatch.setattr(answers.Answer, "__mul__", typeless(operator.mul))
    (tmp_path / "beside.py").write_text(
        "import numpy as np\n\n\ndef asks(x):\n    return isinstance((x[0] >= 0) * 1, np.integer)\n"
    )
    found = judged(tmp_path, f"if asks(x):\n    {LEAK}", "from beside import asks")
    assert found.status is Status.SILENT and "misread at beside.py:5" in found.reason


def test_rounds_are_counted(tmp_path):
    file = tmp_path / "policy.py"
    file.write_text(POLICY.format(done="self.kept = 1", before=""))
    assert side_by_side(CodeTarget(f"{file}:Policy", 2, 20, 1.0)) == 240 + FINE * SHORT


COMPILED = "import numba\n\n\n@numba.njit\ndef cube(n):\n    return n * n * n"


def test_compiled_functions_are_compared_as_they_run(tmp_path):
    pytest.importorskip("numba")
    found = judged(tmp_path, f"if cube(2**30) < 1:\n    {LEAK}", COMPILED)
    assert found.status is Status.SILENT and "misread at policy.py" in found.reason


ROUNDED = """
class Policy:
    def __init__(self, arms, rng):
        self.rng, self.n, self.best = rng, 0, 0

    def select(self):
        return self.best

    def update(self, arm, reward):
        self.n += 1
        if self.n == 1:
            shift = 100.0 if {condition} else 0.0
            self.best = int(reward + shift + self.rng.laplace(0, 1) > 0.5)
"""


@pytest.mark.parametrize(
    "condition", ["0.5 - (0.5 - reward) < reward", "reward * 49 / 49 != reward"]
)
def test_what_only_rounding_decides_is_noticed(tmp_path, condition):
    file = tmp_path / "policy.py"
    file.write_text(ROUNDED.format(condition=condition))
    found = prove(CodeTarget(f"{file}:Policy", 2, 4, 1.0), 30.0).finding
    assert found.status is Status.SILENT, found.reason


def test_where_a_real_run_goes_the_walk_must_have_been(tmp_path):
    file = tmp_path / "policy.py"
    file.write_text(POLICY.format(done="self.kept = 1", before=""))
    target = CodeTarget(f"{file}:Policy", 2, 20, 1.0)
    with pytest.raises(guard.Misread, match="reached by a real run and was never followed"):
        side_by_side(target, frozenset({-1}))  # a walk through nothing of the file
