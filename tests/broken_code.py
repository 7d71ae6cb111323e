"""Broken files, declarations, policies and command lines: what to write, and how to judge it."""

from __future__ import annotations

from dataclasses import dataclass

HEAD = """
import os, signal, sys, threading, time
from dataclasses import dataclass
from dpaudit.core.algorithm import Play, Release, Step
from dpaudit.core.episodes import DoublingEpisodes
from dpaudit.core.noise import Laplace
from dpaudit.core.scores import Affine

@dataclass(frozen=True, kw_only=True)
class Base(DoublingEpisodes):
    def rule(self, pulls, time, m):
        return Affine(1 / pulls)

"""
STRUCTURE = ("check", "m.py:Mine", "--method", "structure", "--horizon", "50", "--budget", "1")
ALL = ("check", "m.py:Mine", "--horizon", "50", "--budget", "1")
EXPLAIN = ("explain", "m.py:Mine")
SIMULATE = ("simulate", "m.py:Mine", "--means", "0.9,0.5", "--horizon", "50", "--runs", "2")
RUN = ("audit", "m.py:Mine", "--horizon", "4", "--time-limit", "1")


@dataclass(frozen=True)
class Broken:
    """A text for m.py, the command line that meets it, and whether every run of the tests does."""

    name: str
    text: str
    words: tuple[str, ...]
    slow: bool = True


def declared(*lines: str, fields: str = "") -> str:
    """Return a file whose class Mine overrides what the lines say."""
    body = "\n".join(f"    {line}" for line in ("pass", fields, *lines))
    return f"{HEAD}@dataclass(frozen=True, kw_only=True)\nclass Mine(Base):\n{body}\n"


def method(name: str, *lines: str) -> str:
    """Return a file whose class Mine has this method."""
    inside = "\n".join(f"        {line}" for line in lines)
    return declared() + f"    def {name}(self, *given, **named):\n{inside}\n"


def policy(select: str, update: str = "pass") -> str:
    """Return a file with a policy."""
    return (
        f"import os, sys, time\nclass Mine:\n    def __init__(self, arms, rng): self.rng = rng\n"
        f"    def select(self):\n        {select}\n"
        f"    def update(self, arm, reward):\n        {update}\n"
    )


GOOD = declared()
SHALLOW = "sys.setrecursionlimit(len(inspect.stack(0)) + 9)"
DEEP = "sys.setrecursionlimit(10**9)"
GROW = "while True: x.append(bytearray(1 << 28))"
STAY = ("while True:", "    try: time.sleep(9)", "    except BaseException: pass")
DEAF = "signal.signal(signal.SIGALRM, signal.SIG_IGN)"
SHY = "class S: __repr__ = __hash__ = None"
STRICT = "warnings.simplefilter('error')"
FILES = [
    Broken("nothing in it", "", EXPLAIN, slow=False),
    Broken("null bytes", "x = 1\0", EXPLAIN),
    Broken("another language", "def Mine(arms) { return 1 }", EXPLAIN),
    Broken("imports itself", "from m import Mine", EXPLAIN),
    Broken("an error without a text", "class E(Exception):\n    __str__ = None\nraise E", EXPLAIN),
    Broken(
        "no exception at all", "class E(BaseException): pass\nraise E('no')", EXPLAIN, slow=False
    ),
    Broken("kills itself", "import os\nos.kill(os.getpid(), 9)", EXPLAIN, slow=False),
    Broken("aborts", "import os\nos.abort()", EXPLAIN),
    Broken("leaves quietly", "import os\nos._exit(0)", EXPLAIN),
    Broken("closes every file", "import os\nos.closerange(0, 64)\n" + GOOD, EXPLAIN, slow=False),
    Broken("a shallow stack", GOOD + "import inspect\n" + SHALLOW, EXPLAIN),
    Broken("no len", GOOD + "import builtins\nbuiltins.len = None", EXPLAIN),
    Broken("no standard output", GOOD + "sys.stdout = sys.stderr = None\nraise OSError", EXPLAIN),
    Broken("a lazy module that fails", "def __getattr__(name): raise RuntimeError(name)", EXPLAIN),
    Broken("waits for input", "input()", EXPLAIN),
    Broken("waits for ever", "import time\ntime.sleep(1e6)", STRUCTURE),
    Broken("an integer without end", "x = 9 ** 9 ** 9", STRUCTURE),
]
DECLARED = [
    Broken("not frozen", HEAD + "@dataclass\nclass Mine(Base):\n    x: int = 0\n", EXPLAIN),
    Broken("a list as a default", declared(fields="extra: list = []"), EXPLAIN),
    Broken("an epsilon beyond doubles", declared(fields="epsilon: float = 10**400"), EXPLAIN),
    Broken("an epsilon in words", declared(fields="epsilon: float = 'one'"), EXPLAIN),
    Broken("a constructor without parameters", declared("__init__ = lambda self: None"), EXPLAIN),
    Broken("a constructor that stops", method("__post_init__", "raise GeneratorExit"), EXPLAIN),
    Broken("no attributes", method("__getattribute__", "raise KeyError('no')"), EXPLAIN),
    Broken("a claim that fails", declared("claim = property(lambda self: 1 / 0)"), EXPLAIN),
    Broken("nowhere to start", method("start", "return iter(())"), ALL),
    Broken("a step that is nothing", method("step", "return None"), STRUCTURE, slow=False),
    Broken("a step that is a generator", method("step", "yield 1"), ALL),
    Broken("a step that stops iterating", method("step", "raise StopIteration"), ALL),
    Broken("a step that recurs", method("step", "return self.step(*given)"), ALL),
    Broken("a stack without end", method("step", DEEP, "return self.step(*given)"), ALL),
    Broken(
        "a step that interrupts", method("step", "raise KeyboardInterrupt"), STRUCTURE, slow=False
    ),
    Broken("a step that forks", method("step", "os.fork()", "raise LookupError"), STRUCTURE),
    Broken("a step that takes all memory", method("step", "x = []", GROW), STRUCTURE),
    Broken("a step that never ends", method("step", "while True: pass"), ALL),
    Broken("a step that will not be stopped", method("step", *STAY), STRUCTURE, slow=False),
    Broken("a step that silences the alarm", method("step", DEAF, "time.sleep(1e6)"), ALL),
    Broken(
        "a step that prints without end", method("step", "while True: print('x' * 999)"), STRUCTURE
    ),
    Broken("a rule that is a word", method("rule", "return 'affine'"), ALL),
    Broken("a rule that exits", method("rule", "sys.exit(0)"), ALL),
    Broken("a release that is a number", method("release", "return 0.5"), ALL),
    Broken("a release of what is no row", method("release", "return Release(0, 1, 2)"), ALL),
    Broken("a state that cannot be shown", method("start", SHY, "return S()"), ALL),
    Broken("no lenience", method("step", "import warnings", STRICT, "warnings.warn('no')"), ALL),
]
POLICIES = [
    Broken("no arm", policy("return None"), RUN, slow=False),
    Broken("an arm that is a word", policy("return 'first'"), RUN),
    Broken("an arm too many", policy("return 2"), RUN),
    Broken("leaves with success", policy("os._exit(0)"), RUN),
    Broken("an update that fails", policy("return 0", "raise Exception('a\\nb')"), RUN),
    Broken("a loop that catches all", policy("\n        ".join(STAY)), RUN),
    Broken("what leaves, on symbols", policy("os._exit(0)"), ALL, slow=False),
    Broken("no arm, on symbols", policy("return None"), ALL),
    Broken("stays, on symbols", policy("\n        ".join(STAY)), ALL),
]
LINES = [
    Broken("no object", GOOD, ("check", "m.py:")),
    Broken("two colons", GOOD, ("explain", "m.py::Mine"), slow=False),
    Broken("a method of it", GOOD, ("explain", "m.py:Mine.step")),
    Broken("a folder", GOOD, ("explain", ".:Mine")),
    Broken("no such package", GOOD, ("explain", "no_such_package.at_all:Mine")),
    Broken("a budget of nan", GOOD, ("check", "m.py:Mine", "--budget", "nan"), slow=False),
    Broken("no jobs", GOOD, (*SIMULATE, "--jobs", "0")),
    Broken("a parameter of nobody", GOOD, (*EXPLAIN, "--arms", "1e400")),
    Broken("a list with a gap", GOOD, ("bounds", "m.py:Mine", "", "--runs", "1")),
]
BROKEN = [*FILES, *DECLARED, *POLICIES, *LINES]
