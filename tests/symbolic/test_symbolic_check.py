"""check, explain, conform and verify on policies' own code: verdicts, lines, exit codes."""

import ast
import importlib.util
import json
import math
import os
import py_compile
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from dpaudit.cli import run
from dpaudit.core.mutants import find, names
from dpaudit.deadline import Expired, Work
from dpaudit.examination import Asked, examine
from dpaudit.judging import Listener
from dpaudit.options import Options
from dpaudit.symbolic.numeric import numeric_functions
from dpaudit.symbolic.prove import _farther, _upper, clipping, prove, walked
from dpaudit.symbolic.subject import CodeTarget
from dpaudit.symbolic.walk import WalkOutcome
from dpaudit.verdict import ANY_REWARDS, Status

FAULTS = Path(__file__).parents[2] / "benchmarks" / "faults"
sys.path.insert(0, str(FAULTS))
import right  # noqa: E402
import wrong  # noqa: E402

RIGHT = [n for n, v in vars(right).items() if getattr(v, "__module__", "") == "right"]
WRONG = [n for n, v in vars(wrong).items() if getattr(v, "__module__", "") == "wrong"]
HANDWRITTEN = [name for name in names() if not find(name).declared]
OTHERWISE = {"float_saturated"}  # its claim stands, says its own file


@pytest.mark.parametrize("name", RIGHT)
def test_right_twins_are_proved_as_they_stand(name):
    horizon = {"Response": 6, "Local": 10}.get(name, 20)
    found = prove(CodeTarget(f"{FAULTS / 'right.py'}:{name}", 2, horizon, 1.0), 30).finding
    assert (found.status, found.horizon) == (Status.PROVED, horizon), found.reason
    assert found.epsilon_upper <= 1


@pytest.mark.parametrize("name", WRONG)
def test_wrong_policies_are_never_proved(name):
    found = prove(CodeTarget(f"{FAULTS / 'wrong.py'}:{name}", 2, 20, 1.0), 30)
    assert found.finding.status is Status.SILENT
    assert "wrong." in found.finding.reason or "right.py:" in found.finding.reason


WHOLE = """
import numpy as np


def often(stream, rng):
    actions, total = [], 0.0
    for reward in stream:
        actions.append(int(total > 0))
        total += reward + rng.laplace(0, 1)
    return actions


def early(stream, rng):
    noisy = [reward + rng.laplace(0, 1) for reward in stream[:4]]
    return [0] * 4 + [int(np.argmax(noisy) > 1)] * (len(stream) - 4)
"""


def test_a_function_of_the_whole_stream_is_followed_path_by_path(tmp_path, monkeypatch):
    monkeypatch.setattr("dpaudit.symbolic.walk.MOST_LEAVES", 40)
    (tmp_path / "whole.py").write_text(WHOLE)
    found = prove(CodeTarget(f"{tmp_path / 'whole.py'}:early", 2, 200, 1.0), 30).finding
    assert (found.status, found.horizon) == (Status.PROVED, 200)
    for horizon, budget in ((500, 30), (8, 30), (100, 0.01)):
        found = prove(CodeTarget(f"{tmp_path / 'whole.py'}:often", 2, horizon, 1.0), budget).finding
        assert found.status is Status.SILENT
        assert "write it as a class with select and update" in found.reason
    found = prove(CodeTarget(f"{tmp_path / 'whole.py'}:often", 2, 5, 1.0), 30).finding
    assert (found.status, found.horizon) == (Status.PROVED, 5)


CLIPPING = """
import numpy as np


class Policy:
    def __init__(self, epsilon):
        self.scale, self.t, self.total, self.best = 1 / epsilon, 0, 0.0, 0

    def select(self):
        return self.best

    def update(self, arm, reward):
        self.t += 1
        if self.t <= 30:
            self.total += {clipped}
        if self.t == 30:
            self.best = int(self.total + np.random.laplace(0, self.scale) > 15)
"""


@pytest.mark.parametrize(
    ("clipped", "says"),
    [
        ("reward", False),
        ("abs(reward)", False),
        ("min(reward, 1.0)", False),
        ("np.clip(reward, 0, 2) / 2 + 0 * reward", False),
        ("np.clip(reward, 0, 2)", None),
        ("np.clip(reward, 0, 1)", True),
        ("min(max(reward, 0.0), 1.0)", True),
        ("np.minimum(1, np.maximum(0, reward))", True),
        ("np.clip(abs(reward), 0, 1)", True),
        ("1 - min(max(2 * reward - 1, 0.0), 1.0)", True),
    ],
)
def test_whether_rewards_are_clipped_is_asked_of_the_code(tmp_path, clipped, says):
    (tmp_path / "policy.py").write_text(CLIPPING.format(clipped=clipped))
    found = prove(CodeTarget(f"{tmp_path / 'policy.py'}:Policy", 2, 40, 1.0), 30).finding
    if says is None:  # in [0, 1] it is the reward itself
        assert found.status is Status.PROVED and found.epsilon_upper == 1.0
        says = False
    assert ("cost no more" in found.reason) is says
    assert (found.streams == ANY_REWARDS) is says


def test_what_was_proved_outlives_the_budget(tmp_path, monkeypatch):
    def late(*given, **named):
        raise Expired

    (tmp_path / "policy.py").write_text(CLIPPING.format(clipped="np.clip(reward, 0, 1)"))
    target = CodeTarget(f"{tmp_path / 'policy.py'}:Policy", 2, 40, 1.0)
    whole = prove(target, 30).finding
    found = walked(target, 30, Work())
    once = lambda *given, **named: late() if "rewards" in named else found  # noqa: E731
    monkeypatch.setattr("dpaudit.symbolic.prove.walked", once)
    monkeypatch.setattr("dpaudit.symbolic.prove.SymbolicWalk", late)  # in doubles
    short = prove(target, 30).finding
    assert (short.status, short.horizon) == (whole.status, whole.horizon)
    assert whole.streams == ANY_REWARDS != short.streams
    assert whole.program is not None and "the time for it is over" in short.rounding
    monkeypatch.setattr("dpaudit.symbolic.prove.side_by_side", late)
    silent = prove(target, 30).finding
    assert silent.status is Status.SILENT
    assert silent.reason.startswith("40 rounds were followed, and no reward is charged too much.")


PATCH = "from . import base\n\nbase.Policy.update = lambda self, arm, reward: None\n"
TWICE = "import base\nfrom .base import Policy\n"


@pytest.mark.parametrize(
    ("files", "target", "says"),
    [
        ({"own/mine.py": "from .base import Policy\n"}, "own/mine.py", "PROVED"),
        ({"own/mine.py": "from own.base import Policy\n"}, "own/mine.py", "PROVED"),
        ({"own/mine.py": "from base import Policy\n"}, "own/mine.py", "PROVED"),
        (
            {
                "own/__init__.py": "from .mine import Policy\n",
                "own/mine.py": "from .base import *\n",
            },
            "own/mine.py",
            "PROVED",
        ),
        (
            {
                "own/in/__init__.py": "SIZE = 4 // 2\n",
                "own/in/mine.py": "from . import SIZE\nfrom ..base import Policy\n",
            },
            "own/in/mine.py",
            "PROVED",
        ),
        (
            {"own/__init__.py": "SIZE = 4 // 2\n", "mine.py": "from own.base import Policy\n"},
            "mine.py",
            "PROVED",
        ),
        (
            {"own/__init__.py": PATCH, "mine.py": "from own.base import Policy\n"},
            "mine.py",
            "No decision",
        ),
        ({"own/mine.py": TWICE}, "own/mine.py", "an import of base.py by a second name"),
    ],
)
def test_a_package_is_imported_as_python_does(tmp_path, files, target, says):
    own = {"own/__init__.py": "", "own/base.py": CLIPPING.format(clipped="reward")}
    for name, text in (own | files).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    asked = Asked(f"{tmp_path / target}:Policy", Options(horizon=40, methods=("code",)))
    [found] = examine(asked.target, asked).report.findings
    assert says in f"{found.status} {found.reason}", found.reason


LATER = """
import numpy as np
{imports}
NAMES = ("one", "wide")

class Policy:
    def __init__(self, arms, epsilon):
        self.t, self.total, self.first = 0, 0.0, 0

    def select(self):
        return self.first

    def update(self, arm, reward):
        self.t += 1
        if self.t % 20 == 1:
            self.total = reward
        if self.t % 20 == 19:
            where = getattr(other, NAMES[self.t == 39])
            self.first = int(self.total + np.random.laplace(0, where.SCALE) > 0.5)
"""
ONE = "class one:\n    SCALE = 10.0\n"
HONEST, LEAKY = ("class wide:\n    SCALE = 1e9\n", "class wide:\n    SCALE = 1e-9\n")


@pytest.mark.parametrize(
    ("files", "target"),
    [
        (
            {
                "own/__init__.py": f"{ONE}{HONEST}from .wide import OTHER\n",
                "own/wide.py": "SCALE = 1e-9\nOTHER = 2.0\n",
                "own/mine.py": LATER.format(imports="import own as other\n"),
            },
            "own/mine.py",
        ),
        (
            {
                "broken.py": f"{ONE}{HONEST}from state import flag\n{LEAKY}",
                "state.py": "try:\n    import broken\nexcept ImportError:\n    pass\n"
                "flag = 1\nimport broken\n",
                "mine.py": LATER.format(imports="from state import broken as other\n"),
            },
            "mine.py",
        ),
        (
            {
                "own/__init__.py": "",
                "own/y.py": f"from contextlib import suppress\n{ONE}{LEAKY}"
                "with suppress(ImportError):\n    from .z import wide\n",
                "own/z.py": f"OTHER = 1\n{HONEST}",
                "own/mine.py": LATER.format(imports="from .z import OTHER\nimport y as other\n"),
            },
            "own/mine.py",
        ),
        (
            {
                "helper.py": f"{ONE}{HONEST}",
                "mine.py": LATER.format(imports="import helper as other\n"),
            },
            "mine.py",
        ),
        (
            {
                "all.py": f"{ONE}{HONEST}from numpy import *\n",
                "mine.py": LATER.format(imports="import all as other\n"),
            },
            "mine.py",
        ),
        (
            {
                "helper.py": f"{ONE}from numba import prange as wide\n",
                "numba.py": f"{LEAKY}prange = wide\n",
                "mine.py": LATER.format(imports="import helper as other\n"),
            },
            "mine.py",
        ),
        (
            {
                "helper.py": f"{ONE}{HONEST}",
                "mine.py": LATER.format(
                    imports="import helper as other\nfrom helper import __package__ as kind\n"
                ),
            },
            "mine.py",
        ),
        (
            {
                "helper.py": f"from contextlib import suppress\n{ONE}{LEAKY}"
                "with suppress(ImportError):\n    import surely_not_installed\n"
                "    from z import wide\n",
                "z.py": HONEST,
                "mine.py": LATER.format(imports="import helper as other\n"),
            },
            "mine.py",
        ),
        (
            {
                "helper.py": f"from contextlib import suppress\n{ONE}SCALE = 1e-9\n"
                "with suppress(ImportError):\n    import surely_not_installed\n"
                "    SCALE = 1e9\n"
                "class Wide:\n    def __init__(self):\n        self.SCALE = SCALE\n"
                "wide = Wide()\nSCALE = 0.0\n"
                "with suppress(NameError):\n    del surely_not_installed\n",
                "mine.py": LATER.format(imports="import helper as other\n"),
            },
            "mine.py",
        ),
    ],
    ids=[
        *("a taken name", "an import that fails", "a package that is none", "old bytecode"),
        *("all names of numpy", "a numba of its own", "a name that is for Python to say"),
        *("a module that is not installed", "a module that is not installed, and traces removed"),
    ],
)
def test_an_import_is_never_read_otherwise_than_it_runs(tmp_path, monkeypatch, files, target):
    """The noise of round 39 is 1e-9 wide where Python imports, and was read as 1e9: PROVED."""
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    if files.get("helper.py") == f"{ONE}{HONEST}" and "__package__" not in files["mine.py"]:
        (tmp_path / "old.py").write_text(f"{ONE}{LEAKY}")
        mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
        for prefix in (None, os.environ.get("PYTHONPYCACHEPREFIX")):  # of the target's process
            monkeypatch.setattr(sys, "pycache_prefix", prefix)
            cached = importlib.util.cache_from_source(str(tmp_path / "helper.py"))
            py_compile.compile(str(tmp_path / "old.py"), cached, invalidation_mode=mode)
    asked = Asked(f"{tmp_path / target}:Policy", Options(horizon=60, methods=("code",)))
    [found] = examine(asked.target, asked).report.findings
    assert found.status is Status.SILENT and "misread" not in found.reason, found.reason


def test_a_listener_is_told_how_far_a_proof_is(tmp_path):
    (tmp_path / "policy.py").write_text(CLIPPING.format(clipped="reward"))
    told = []
    asked = Asked(f"{tmp_path / 'policy.py'}:Policy", Options(horizon=40))
    assert examine(asked.target, asked, Listener(far=told.append)).report.verdict is Status.PROVED
    assert told[0] == "code" and told[-1] == "code, round 40 of 40"


@pytest.mark.parametrize(
    ("pace", "says"),
    [
        ([(0, 1.0)], "A larger budget"),
        ([(0, 1.0), (50, 2.0), (100, 3.0)], "(--budget) 10 times as large"),
        ([(0, 1.0), (50, 2.0), (100, 5.0)], "(--budget) 100 times as large"),
        ([(0, 1.0), (50, 2.0), (100, 17.0)], "more than 1,000 times as long"),
    ],
)
def test_which_budget_reaches_the_horizon_follows_from_the_pace(pace, says):
    found = WalkOutcome(pace[-1][0], pace=pace)
    assert says in _farther(found, 1000)


def test_what_is_not_covered_depends_on_clipping(tmp_path, capsys):
    for clipped, covered in (("reward", False), ("np.clip(reward, 0, 1)", True)):
        (tmp_path / "policy.py").write_text(CLIPPING.format(clipped=clipped))
        assert run(["check", f"{tmp_path / 'policy.py'}:Policy", "--horizon", "40"]) == 0
        out = capsys.readouterr().out
        assert "Not covered" in out and ("rewards outside of [0, 1]" in out) is not covered


def slow_ones(name):
    long = find(name).family == "elimination"
    return pytest.param(name, marks=pytest.mark.slow) if long else name


@pytest.mark.parametrize("name", [slow_ones(n) for n in HANDWRITTEN if n not in OTHERWISE])
def test_handwritten_mutants_are_never_proved(name):
    mutant = find(name)
    horizon = 2800 if mutant.family == "elimination" else 24
    found = prove(CodeTarget(mutant.target, 2, horizon, mutant.epsilon), 30)
    assert found.finding.status is Status.SILENT


def test_noise_that_is_too_small_only_late_is_found_at_its_line(tmp_path):
    before = (FAULTS / "right.py").read_text()
    (tmp_path / "late.py").write_text(
        f"{before}\n\nclass Late(Doubling):\n"
        "    def noise(self, arm):\n        scale = 1 / (self.epsilon * self.size)\n"
        "        return np.random.laplace(0, scale / 2 if self.counts[arm] >= 16 else scale)\n"
    )
    line = before.count("\n") + 6
    target = CodeTarget(f"{tmp_path / 'late.py'}:Late", 2, 40, 1.0)
    found = prove(target, 30)
    assert found.finding.status is Status.SILENT and found.lead is not None
    assert found.lead.failure.charge == 2 and f"late.py:{line}" in found.finding.reason
    assert prove(CodeTarget(target.text, 2, 16, 1.0), 30).finding.status is Status.PROVED


EARLY = """

class Early(Doubling):
    def update(self, arm, reward):
        played = self.size - self.left + 1
        if reward == 0 and played > 3:
            self.left, self.size = 1, played
        super().update(arm, reward)
"""


def test_a_raw_reward_that_ends_a_long_episode_is_shown_in_runs(tmp_path, monkeypatch, capsys):
    # in the first episodes the same comparison has no effect, and a likely run has no long one
    monkeypatch.chdir(tmp_path)
    (tmp_path / "early.py").write_text((FAULTS / "right.py").read_text() + EARLY)
    words = ["--horizon", "40", "--epsilon", "1", "--method", "code,sample"]
    assert run(["check", "early.py:Early", *words]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "decides here without any noise" in out and "Pair: aimed at" in out


def test_the_command_says_proved_refuted_undecided_and_broken(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("right.py", "wrong.py"):
        (tmp_path / name).write_text((FAULTS / name).read_text())
    (tmp_path / "broken.py").write_text("def policy(:\n")
    assert run(["check", "right.py:Doubling", "--horizon", "40", "--certificate", "c.json"]) == 0
    assert "PROVED" in capsys.readouterr().out
    assert run(["verify", "c.json"]) == 0
    data = json.loads((tmp_path / "c.json").read_text())
    (tmp_path / "c.json").write_text(json.dumps(data | {"charge": "1/2"}))
    assert run(["verify", "c.json"]) == 1
    words = ["--horizon", "40", "--witness", "w.json", "--sarif", "s.json"]
    assert run(["check", "wrong.py:RawInitialMeans", *words]) == 1
    out = capsys.readouterr().out
    assert "REFUTED" in out and "without any noise" in out
    assert run(["replay", "w.json", "--target", "wrong.py:RawInitialMeans"]) == 0
    # what runs refute, and its replay: docs/foreign-code.md, which tests/docs follows
    assert run(["check", "broken.py:policy"]) == 2
    assert run(["check", "right.py:Doubling", "--method", "structure"]) == 2


OFF_BY_ONE = """
from mine import Mine


class Off(Mine):
    def select(self):
        fresh = self.left == 0
        arm = super().select()
        if fresh and self.size >= 4:
            self.left = self.size = self.size + 1
        return arm
"""
EAGER = """
from mine import Mine


class Eager(Mine):
    def __init__(self, arms, epsilon):
        super().__init__(arms, epsilon)
        self.next = super().select()

    def select(self):
        return self.next

    def update(self, arm, reward):
        super().update(arm, reward)
        self.next = super().select()
"""
MINE = """
import math

import numpy as np
from right import Doubling


class Mine(Doubling):
    def bonus(self):
        width = 3.1 * np.log(self.t + 1) / (self.counts / 2)
        return np.sqrt(width / 2) + width / self.epsilon

    def noise(self, arm):
        return np.random.laplace(0, 2 / (self.epsilon * self.counts[arm]))
"""


def test_conform_tells_the_declared_algorithm_from_an_off_by_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "right.py").write_text((FAULTS / "right.py").read_text())
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "off.py").write_text(OFF_BY_ONE)
    small = ["--horizon", "40", "--budget", "3"]
    assert run(["conform", "adap_ucb", "mine.py:Mine", *small]) == 0
    assert "CONFORMS" in capsys.readouterr().out
    (tmp_path / "eager.py").write_text(EAGER)
    assert run(["conform", "adap_ucb", "eager.py:Eager", *small]) == 0  # decides when it is told
    capsys.readouterr()
    assert run(["conform", "adap_ucb", "off.py:Off", *small]) == 1
    assert "round 10: the declaration decides here" in capsys.readouterr().out
    assert run(["conform", "adap_klucb", "mine.py:Mine", *small]) == 3
    capped = (tmp_path / "right.py").read_text().replace("+= reward", "+= min(reward, 0.01)")
    assert capped.count("min(reward, 0.01)") >= 1
    (tmp_path / "right.py").write_text(capped)
    capsys.readouterr()
    assert run(["conform", "adap_ucb", "mine.py:Mine", *small]) == 3
    assert "functions of rewards" in capsys.readouterr().out
    (tmp_path / "right.py").write_text((FAULTS / "right.py").read_text())
    assert run(["explain", "mine.py:Mine", "--horizon", "6"]) == 0
    assert "right.py" not in capsys.readouterr().out.splitlines()[0]


@pytest.mark.parametrize(
    ("index", "code"),
    [("2 * (self.means + self.bonus())", 0), ("2 * self.means + self.bonus() / 2", 1)],
)
def test_indices_conform_up_to_a_factor_of_all_their_parts(
    tmp_path, monkeypatch, capsys, index, code
):
    monkeypatch.chdir(tmp_path)
    right = (FAULTS / "right.py").read_text()
    assert right.count("self.means + self.bonus()") == 1
    (tmp_path / "right.py").write_text(right.replace("self.means + self.bonus()", index))
    (tmp_path / "mine.py").write_text(MINE)
    assert run(["conform", "adap_ucb", "mine.py:Mine", "--horizon", "8", "--budget", "20"]) == code
    assert ("CONFORMS" in capsys.readouterr().out) == (code == 0)


@pytest.mark.parametrize("name", ["control_streak", "noise_shared"])
def test_handwritten_mutants_are_followed_to_the_line_at_fault(name):
    found = prove(CodeTarget(f"mutants/{name}", 2, 60, 1.0), 30).finding
    assert found.status is Status.SILENT and found.reason.startswith("Not proved: ")


SAID = {
    "an exploration rate of the same name": (
        "self.explore = int(epsilon * 20)",
        "return self.t % 2 if self.t < self.explore else int(self.total > 2)",
        "No decision depends on a reward, on any path",
        "Built with epsilon=1 (its default is 0.1).",
    ),
    "noise that is a little too small": (
        "self.scale = 0.99999999999995 / epsilon",
        "return int(self.total + np.random.laplace(0, self.scale) > 2) if self.t == 2 else 0",
        "5.0e-14 above epsilon counts as rounding of public numbers.",
        "",
    ),
    "a coin that is no coin": (
        "self.p = epsilon",
        "return int(np.random.randint(2)) if np.random.binomial(1, self.p) else self.t",
        "No decision depends on a reward, on any path",
        "",
    ),
}


@pytest.mark.parametrize("name", SAID)
def test_a_proof_says_what_it_is_about(tmp_path, name):
    kept, choice, *words = SAID[name]
    file = tmp_path / "policy.py"
    file.write_text(
        "import numpy as np\n\n\nclass Policy:\n"
        "    def __init__(self, arms, epsilon=0.1):\n"
        f"        {kept}\n        self.total, self.t = 0.0, 0\n\n"
        f"    def select(self):\n        {choice}\n\n"
        "    def update(self, arm, reward):\n"
        "        self.total, self.t = self.total + reward if self.t < 2 else 0.0, self.t + 1\n"
    )
    found = prove(CodeTarget(f"{file}:Policy", 2, 20, 1.0), 30.0).finding
    assert found.status is Status.PROVED, found.reason
    assert all(word in found.reason for word in words), found.reason
    assert found.epsilon_upper == 0 or Fraction(found.epsilon_upper) >= 1 / Fraction(
        0.99999999999995
    )


def test_another_notion_is_not_judged_and_the_policy_is_what_it_is(capsys):
    for words in (["--rho", "0.5"], ["--epsilon", "1", "--local"]):
        code = run(["check", f"{FAULTS / 'right.py'}:Doubling", *words, "--horizon", "20"])
        said = " ".join(capsys.readouterr().out.split())
        assert code == 3 and "horizon 20, anytime" in said
        assert "Code is judged by pure global epsilon for one reward, not by" in said
    assert run(["check", f"{FAULTS / 'right.py'}:Doubling", "--noise", "lattice"]) == 2
    assert "is code. --noise lattice sets it; code draws exact noise by" in capsys.readouterr().err


def test_an_instance_is_not_code_that_can_be_built(tmp_path, capsys):
    (tmp_path / "policy.py").write_text(
        CLIPPING.format(clipped="reward") + "\n\nmade = Policy(1)\n"
    )
    assert run(["check", f"{tmp_path / 'policy.py'}:made"]) == 2
    told = capsys.readouterr().err
    assert "is a Policy, neither an Algorithm nor callable: name a class." in told


def test_the_bound_that_is_stated_is_the_charge_rounded_up():
    """Epsilon stands for a charge within a few roundings of it, and for none beyond."""
    tenth = Fraction(1, 10)  # below its double
    assert _upper(1 + Fraction(1, 2**52), 1.0) == _upper(1 - Fraction(1, 2**52), 1.0) == 1.0
    assert _upper(1 + Fraction(1, 10**14), 1.0) > 1.0
    assert _upper(tenth, 1.0) == 0.1 and Fraction(_upper(3 * tenth, 1.0)) >= 3 * tenth


LEAKY = """
import numpy as np


class Leaky:
    def __init__(self, n_arms, epsilon=1.0, rng=None, explore=0.1):
        self.k, self.eps, self.rng, self.explore = n_arms, epsilon, rng, explore
        self.counts, self.means, self.sums = [0] * n_arms, [0.0] * n_arms, [0.0] * n_arms
        self.left, self.arm = 1, 0

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.sums[arm] += reward
        self.counts[arm] += 1
        self.left -= 1
        if self.left:
            return
        n = self.counts[arm]
        self.means[arm] = self.sums[arm] / n + self.rng.laplace(0, 1 / (self.eps * n))
        untried = [a for a in range(self.k) if self.counts[a] == 0]
        if untried:
            self.arm = untried[0]
        elif self.rng.random() < self.explore:
            self.arm = int(self.rng.integers(self.k))
        else:
            self.arm = int(np.argmax(self.means))
        self.left = max(1, self.counts[self.arm])
"""


def test_runs_that_were_all_made_name_the_option_for_more(tmp_path, monkeypatch, capsys):
    """A leak that the proof points at, and too few runs to show it."""
    (tmp_path / "leaky.py").write_text(LEAKY)
    monkeypatch.chdir(tmp_path)
    words = ["--horizon", "40", "--runs", "320"]
    assert run(["check", "leaky.py:Leaky", *words]) == 3
    out = " ".join(capsys.readouterr().out.split())
    assert "The charge so far is no violation by itself." in out
    assert "320 runs of 34 rounds. All were made: --runs 3e3 looks longer." in out


ENDLESS = """
import numpy as np

class Policy:
    def __init__(self, arms, epsilon):
        self.first = 0

    def select(self):
        return self.first

    def update(self, arm, reward):
        over = np.clip(reward, np.inf, None) * 0.0 != 0.0
        self.first = int(reward + np.random.laplace(0, (10.0, 1e-9)[int(over)]) > 0.5)
"""


def test_a_clip_to_infinity_is_no_clip(tmp_path):
    """It was read as the reward; in Python it is infinite, and 0 times it is not a number."""
    (tmp_path / "mine.py").write_text(ENDLESS)
    asked = Asked(f"{tmp_path / 'mine.py'}:Policy", Options(horizon=4, methods=("code",)))
    [found] = examine(asked.target, asked).report.findings
    assert found.status is Status.SILENT and "a clip to infinity" in found.reason


def test_a_search_keeps_what_it_says_of_itself():
    text = (
        'def found(x):\n    """Search."""\n    while x < 3.0:\n        x = x + 1.0\n    return x\n'
    )
    nodes = list(ast.walk(ast.parse(text)))
    [numeric] = numeric_functions(nodes).values()
    assert numeric.searching
    numeric.rewrite()
    assert ast.get_docstring(numeric.node) == "Search."


def test_what_is_said_of_fewer_rounds_is_said_of_the_policy_that_was_judged(tmp_path):
    """It clips where it is built for few rounds alone, as it was for the rounds of the proof."""
    text = CLIPPING.format(clipped="np.clip(reward, 0, 1) if self.short else reward")
    assert "def __init__(self, epsilon):\n" in text
    told = "def __init__(self, epsilon, horizon):\n        self.short = horizon < 1000\n"
    text = text.replace("def __init__(self, epsilon):\n", told)
    (tmp_path / "mine.py").write_text(text)
    said = []
    for horizon in (2000, 40):
        target = CodeTarget(f"{tmp_path / 'mine.py'}:Policy", 2, horizon, 1.0)
        found = walked(target, math.inf, rounds=40)
        assert found.horizon == 40 and found.failure is None
        said.append(clipping(target, found, Work(), math.inf))
    assert said == [0, 40]
