"""Declarations that look at who calls them: nothing is proved of one, and its line is named."""

import sys
import types
from dataclasses import dataclass
from textwrap import dedent

import numpy as np
import pytest

from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.blind import looking
from dpaudit.core.scores import Affine
from dpaudit.core.stream import run_stream
from dpaudit.judging import check
from dpaudit.target import Target
from dpaudit.verdict import Status

HEAD = """
import sys, gc, re, functools, math
import numpy as np
from sys import _getframe as up
from inspect import currentframe
from dataclasses import dataclass
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
    report = check(target, {"arms": 2}, horizon=3, methods=("structure", "exact"))
    assert report.verdict is Status.SILENT
    assert all("says _getframe" in finding.reason for finding in report.findings)
