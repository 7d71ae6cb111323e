"""Declarations that look at who calls them: nothing is proved of one, and its line is named."""

import sys
import types
from dataclasses import dataclass
from fractions import Fraction
from textwrap import dedent

import numpy as np
import pytest

from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.algorithms.dp_linear import DPLinear
from dpaudit.core.arithmetic import exact
from dpaudit.core.blind import looking
from dpaudit.core.noise import Laplace
from dpaudit.core.scores import Affine
from dpaudit.core.stream import run_stream
from dpaudit.judging import check
from dpaudit.options import Options
from dpaudit.structure.prove import prove
from dpaudit.target import Target
from dpaudit.verdict import Status

HEAD = """
import sys, gc, re, functools, math
import numpy as np
from sys import _getframe as up
from inspect import currentframe, stack as frames
from dataclasses import dataclass
from fractions import Fraction
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.scores import Affine

def helper(x):
    return x

def peeking():
    return up(1)

class Table:
    def look(self):
        return currentframe()

table, shelf = Table(), {"a": [lambda: sys._getframe()]}
"""
METHOD = """
@dataclass(frozen=True, kw_only=True)
class Own(AdapUCB):
    def episode_length(self, pulls):
        %s
        return pulls
"""
LOOKING = [
    ("sys._getframe(2).f_locals", "_getframe"),
    ("getattr(sys, '_get' 'frame')(2)", "_getframe"),
    ("gc.get_objects()", "gc"),
    ("import gc as g", "gc"),
    ("from sys import _getframe as f", "_getframe"),
    ("up(1)", "_getframe"),
    ("currentframe()", "currentframe"),
    ("peeking()", "_getframe"),
    ("table.look()", "currentframe"),
    ("shelf['a'][0]()", "_getframe"),
    ("[it for it in (lambda: sys._getframe(),)]", "_getframe"),
    ("eval('sys')", "eval"),
    ("helper.__globals__", "__globals__"),
    ("(x for x in ()).gi_frame", "gi_frame"),
    ("Exception().__traceback__.tb_frame", "__traceback__"),
    ("np.array([1]).tobytes(); sys.settrace(None)", "settrace"),
]
INNOCENT = [
    "sys.maxsize + sys.float_info.max",
    "re.compile('a')",
    "np.stack([np.ones(1)])",
    "helper(pulls)",
    "functools.reduce(max, (1, 2))",
    "math.inspect if False else 0",
]


def declared(line: str) -> type:
    """A class whose method says a line."""
    home = types.ModuleType("own_declaration")
    sys.modules["own_declaration"] = home
    try:
        exec(compile(dedent(HEAD + METHOD % line), "own.py", "exec"), vars(home))
    finally:
        del sys.modules["own_declaration"]
    return home.Own


@pytest.mark.parametrize(("line", "name"), LOOKING)
def test_a_declaration_that_can_look_at_its_caller_is_not_proved(line, name):
    said = looking(declared(line))
    assert said is not None
    assert said.startswith("own.py:")
    assert f"says {name}," in said


def test_a_function_of_a_module_that_looks_is_read_and_not_taken_for_known():
    said = looking(declared("frames()"))
    assert said is not None and "inspect.py:" in said and "says _getframe," in said


@pytest.mark.parametrize("line", INNOCENT)
def test_what_looks_at_nothing_is_let_through(line):
    assert looking(declared(line)) is None


@dataclass(frozen=True, kw_only=True)
class Peeking(AdapUCB):
    """Looks for the rewards of a run in the frames of its callers, and plays by them."""

    def rule(self, pulls, time, m):
        frame, favoured = sys._getframe(), 0
        while frame is not None:
            rewards = getattr(frame.f_locals.get("rewards"), "stream", None)
            if rewards is not None:
                favoured = 10**6 if rewards[0] > 0.5 else -(10**6)
            frame = frame.f_back
        return Affine(pulls * 0 + m.number(np.array([favoured, 0])))


def test_it_would_be_proved_and_shows_a_reward():
    played = {first: set() for first in (0.0, 1.0)}
    for first, actions in played.items():
        for seed in range(5):
            stream = np.array([first, 0.5, 0.5])
            run = run_stream(Peeking(arms=2), stream, np.random.default_rng(seed))
            actions.add(tuple(run.actions))
    assert not played[0.0] & played[1.0]
    target = Target("own.py:Peeking", Peeking)
    report = check(target, Options(given={"arms": 2}, horizon=3, methods=("structure", "exact")))
    assert report.verdict is Status.SILENT
    assert all("says _getframe" in finding.reason for finding in report.findings)


NOTES = {
    "a dictionary": ('NOTE = {"rows": 0}', 'NOTE["rows"] = pulls', 'NOTE["rows"]'),
    "a variable": ("NOTE = 0", "global NOTE\n        NOTE = pulls", "NOTE"),
    "a list": ("NOTE = [0]", "NOTE[0] = pulls", "NOTE[0]"),
    "an object": ("class NOTE: rows = 0", "NOTE.rows = pulls", "NOTE.rows"),
    "a class": ("", "Own.NOTE = pulls", "getattr(Own, 'NOTE', 0)"),
}


@pytest.mark.parametrize("name", NOTES)
def test_a_declaration_that_writes_notes_is_not_proved(name):
    """Chains are added up arm by arm, and a note may say more than a state."""
    made, written, read = NOTES[name]
    home = types.ModuleType("own_notes")
    sys.modules["own_notes"] = home
    text = f"""{HEAD}
from dataclasses import replace
from dpaudit.core.noise import Laplace
{made}
@dataclass(frozen=True, kw_only=True)
class Own(AdapUCB):
    def episode_length(self, pulls):
        {written}
        return pulls

    def release(self, rows):
        right = super().release(rows)
        return right if {read} < 10**9 else replace(right, noise=Laplace(1e-9))
"""
    try:
        exec(
            compile(text.replace("NOTE = 0\n", "NOTE = 0\nOwn = None\n"), "own.py", "exec"),
            vars(home),
        )
        home.Own.NOTE = 0
        finding = prove(home.Own(arms=2), 10**5)
    finally:
        del sys.modules["own_notes"]
    assert finding.status is Status.SILENT
    assert "it writes to" in finding.reason


def test_a_linear_elimination_whose_noise_hangs_on_a_note_is_not_proved():
    note = {"phase": 1}

    @dataclass(frozen=True, kw_only=True)
    class ByPhase(DPLinear):
        def plan(self, number, survivors):
            note["phase"] = number
            return super().plan(number, survivors)

        def law(self):
            return Laplace(Fraction(1, 100 if note["phase"] >= 4 else 1) / exact(self.epsilon))

    finding = prove(ByPhase(arms=6, horizon=10**5), 10**5, budget=20)
    assert finding.status is Status.SILENT
    assert "it writes to" in finding.reason
