"""A search on noisy values is one function of them; what is more than a function is followed."""

import ast
from fractions import Fraction

import pytest

from dpaudit.symbolic.numeric import _require_read, numeric_functions
from dpaudit.symbolic.prove import prove
from dpaudit.symbolic.run import Disagreement, Run, active
from dpaudit.symbolic.subject import CodeTarget
from dpaudit.verdict import Status

POLICY = """
import math

import numpy as np

TIMES = 12


def gap(p, q):
    p = min(max(p, 1e-9), 1 - 1e-9)
    q = min(max(q, 1e-9), 1 - 1e-9)
    return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))


def bound(p, level):
    '''The largest q within the level.'''
    low, high = min(max(p, 0.0), 1.0), 1.0
    for _ in range(TIMES):
        middle = (low + high) / 2
        if gap(p, middle) > level:
            high = middle
        else:
            low = middle
    return low


class Policy:
    def __init__(self, arms, epsilon, rng):
        self.t, self.rng, self.level = 0, rng, 0.3
        self.sums, self.means = np.zeros(arms), np.zeros(arms)
        self.best = 0

    def _gap(self, p, q):
        return 2 * (p - q) ** 2

    def _bound(self, arm):
        low, high, p = self.means[arm], 1.0, self.means[arm]
        while high - low > 0.001:
            middle = (low + high) / 2
            if self._gap(p, middle) > self.level:
                high = middle
            else:
                low = middle
        return low

    def select(self):
        if self.t < 4:
            return self.t % 2
        if self.t == 4:
            self.means = self.sums + self.rng.laplace(0, 1, size=2)
            {search}
        return self.best

    def update(self, arm, reward):
        self.t += 1
        if self.t <= 4:
            self.sums[arm] += reward
"""
BEST = "self.best = int(np.argmax([{} for k in range(2)]))"
RIGHT = {
    "a function": BEST.format("bound(self.means[k], self.level)"),
    "a method": BEST.format("self._bound(k)"),
}


def judged(tmp_path, search, text=POLICY, **named):
    file = tmp_path / "policy.py"
    for name, other in named.items():
        assert text.count(name) == 1
        text = text.replace(name, other)
    file.write_text(text.replace("{search}", search))
    return prove(CodeTarget(f"{file}:Policy", 2, 8, 1.0), 30.0).finding


@pytest.mark.parametrize("name", RIGHT)
def test_a_search_on_noisy_values_is_proved(tmp_path, name):
    found = judged(tmp_path, RIGHT[name])
    assert found.status is Status.PROVED, found.reason
    assert found.horizon == 8 and found.epsilon_upper == 1.0


@pytest.mark.parametrize("name", RIGHT)
def test_a_search_on_raw_values_is_not(tmp_path, name):
    bare = RIGHT[name]
    text = POLICY.replace(" + self.rng.laplace(0, 1, size=2)", "")
    found = judged(tmp_path, bare, text)
    assert found.status is Status.SILENT and "charged without bound" in found.reason


def test_an_attribute_of_its_object_is_read_too(tmp_path):
    level = "self.level = self.sums[0]; " + RIGHT["a method"]
    found = judged(tmp_path, level)
    assert found.status is Status.SILENT and "charged without bound" in found.reason


NESTED = """
import numpy as np

mean = 0.5


class Policy:
    def __init__(self, arms, epsilon):
        self.t, self.total, self.best = 0, 0.0, None

    def select(self):
        if self.t < 2:
            return 0
        if self.best is None:
            mean = self.total
            {more}

            def search(level):
                low, high = 0.0, 4.0
                for _ in range(24):
                    middle = (low + high) / 2
                    if middle < {read}:
                        low = middle
                    else:
                        high = middle
                return low

            self.best = 1 if search(np.random.laplace(0, 1)) > 0.7 else 0
        return self.best

    def update(self, arm, reward):
        self.t += 1
        if self.t <= 2:
            self.total += reward
"""
AROUND = {
    "a variable": ("pass", "mean + 0.001 * level"),
    "a function": ("max = lambda a, b: mean + 0.001 * b", "max(level, 0.0)"),
}


@pytest.mark.parametrize("name", AROUND)
def test_what_a_function_around_it_holds_is_no_global_of_that_name(tmp_path, name):
    more, read = AROUND[name]
    found = judged(tmp_path, "", NESTED.format(more=more, read=read))
    assert found.status is Status.SILENT


def test_a_search_that_reads_more_than_is_known_is_misread(tmp_path, monkeypatch):
    from dpaudit.symbolic import numeric

    monkeypatch.setattr(numeric._Read, "row", lambda self, value: self.number(value[0]))
    found = judged(tmp_path, RIGHT["a method"])
    assert found.status is Status.SILENT and "reads more than its text says" in found.reason


MORE = {
    "nothing in the end": "def f(x):\n    while x > 1:\n        x = x / 2",
    "nothing at some end": "def f(x):\n    if x > 1:\n        return\n    return x",
    "a truth value": "def f(x):\n    return x > 1",
    "a text": "def f(x):\n    return 'a'",
    "a list": "def f(x):\n    return [x]",
    "a global name, bound": "def f(x):\n    global y\n    y = x\n    return x",
    "an attribute, written to": "def f(self, x):\n    self.x = x\n    return x",
    "an element, written to": "def f(self, x):\n    self.x[0] = x\n    return x",
    "a method of an attribute": "def f(self, x):\n    return self.x.pop(x)",
    "its object as a number": "def f(self, x):\n    return self.y + self",
    "its object, bound anew": "def f(self, x):\n    self = x\n    return self.y",
    "a default that is no number": "def f(x, y=[]):\n    return x",
    "more arguments": "def f(*x):\n    return x",
    "a root": "def f(x):\n    return x ** 0.5",
    "the least of a row": "def f(x):\n    return min(x)",
    "a call of an argument": "def f(x, y):\n    return y(x)",
    "a call in an assignment": "def f(x):\n    y = g.pop(x)\n    return y",
    "a call in an annotated one": "def f(x):\n    y: float = g.pop(x)\n    return y",
    "a call in an addition": "def f(x):\n    x += g.pop(x)\n    return x",
    "a call in a pair": "def f(x):\n    y, z = x, g.pop(x)\n    return y",
    "a call in a range": "def f(x):\n    for y in range(g.pop(x)):\n        x = y\n    return x",
    "an exception": "def f(x):\n    if x > 1:\n        raise ValueError\n    return x",
    "an assignment within": "def f(x):\n    return (y := x)",
    "a function within": "def f(x):\n    g = lambda y: y\n    return g(x)",
}


@pytest.mark.parametrize("name", MORE)
def test_what_is_more_than_arithmetic_is_no_function_of_numbers(name):
    assert not numeric_functions(ast.walk(ast.parse(MORE[name])))


FOLLOWED = {
    "another minimum": {"TIMES = 12": "TIMES = 3\n\n\ndef min(*given):\n    return given[0]\n"},
    "a wrapped function": {
        "def gap(": "def kept(function):\n    return lambda *it: function(*it)\n\n\n@kept\ndef gap("
    },
    "an attribute that is computed": {
        "self.level = 0, rng, 0.3": "self._level = 0, rng, 0.3",
        "    def _gap(": "    @property\n    def level(self):\n        return 0.3\n\n    def _gap(",
    },
    "an attribute that is a row": {"rng, 0.3": "rng, np.array([0.3])"},
}


@pytest.mark.parametrize("name", FOLLOWED)
def test_what_the_text_cannot_tell_is_followed(tmp_path, monkeypatch, name):
    summaries = []
    from dpaudit.symbolic import numeric

    real = numeric.may_raise
    monkeypatch.setattr(numeric, "may_raise", lambda *it: (summaries.append(it), real(*it)))
    both = "; ".join(f"_ = {call}" for call in ("bound(self.means[0], 0.3)", "self._bound(0)"))
    monkeypatch.setattr(numeric, "LONG", 2)  # three steps are a search
    judged(tmp_path, both, **{"TIMES = 12": "TIMES = 3"})
    assert {it[0] for it in summaries} == {
        f"the search of {name}(), which depends on rewards or noise" for name in ("bound", "_bound")
    }
    summaries.clear()
    judged(tmp_path, both.replace("0.3", "0.9"), **{"TIMES = 12": "TIMES = 3"} | FOLLOWED[name])
    assert len({it[0] for it in summaries}) < 2


SEARCH = """
    low, high = -64.0, 64.0
    for _ in range(24):
        q = (low + high) / 2
        if q < {level}:
            low = q
        else:
            high = q
    return low
"""
DECIDING = """
    def select(self):
        if self.t < 1:
            return 0
        if self.best is None:
            noisy = self.raw + np.random.laplace(0, 1 / self.eps)
            self.best = 1 if {asked} > 0.5 else 0
        return self.best

    def update(self, arm, reward):
        if self.t == 0:
            self.raw = reward
        self.t += 1
"""
HEAD = """
class Policy:
    def __init__(self, arms, epsilon):
        self.eps, self.t, self.raw, self.best = epsilon, 0, 0.0, None
"""
READ_OTHERWISE = {
    "a name that Python mangles": (
        "import numpy as np\ndef record(policy, value):\n    policy.__level = value\n"
        + HEAD
        + "        self.__level = 0.0\n"
        + "    def search(self, extra):"
        + SEARCH.format(level="self.__level").replace("\n", "\n    ")
        + "\n    def asked(self, noisy):\n        self.__level = self.raw\n"
        + "        record(self, noisy)\n        return self.search(noisy)\n"
        + DECIDING.format(asked="self.asked(noisy)")
    ),
    "a descriptor that only deletes": (
        "import copy\nimport numpy as np\nclass View:\n"
        "    def __get__(self, owner, kind=None):\n        return owner.raw\n"
        "    def __delete__(self, owner):\n        pass\n"
        "class Holder:\n    level = View()\n"
        "class Maker:\n    def __init__(self, raw, noisy):\n"
        "        self.raw, self.noisy = raw, noisy\n"
        "    def __reduce__(self):\n"
        "        return Holder, (), {'level': self.noisy, 'raw': self.raw}\n"
        "def search(holder):"
        + SEARCH.format(level="holder.level")
        + HEAD
        + DECIDING.format(asked="search(copy.copy(Maker(self.raw, noisy)))")
    ),
}


@pytest.mark.parametrize("name", READ_OTHERWISE)
def test_a_member_that_python_reads_otherwise_is_not_taken_for_read(tmp_path, name):
    """Each search compares with the raw reward, beside a noisy value under the same text."""
    path = tmp_path / "policy.py"
    path.write_text(READ_OTHERWISE[name])
    found = prove(CodeTarget(f"{path}:Policy", 2, 6, 1.0), 0.5).finding
    assert found.status is Status.SILENT and "misread" not in found.reason


def test_what_a_search_meets_is_a_combination_of_what_it_reads():
    """A raw reward is no combination of itself plus noise, though its name is among theirs."""
    noisy, other = ({1: Fraction(1)}, {2: Fraction(1)}), ({3: Fraction(1)}, {})
    with active(Run()):
        _require_read([({1: Fraction(3), 3: Fraction(-2)}, {2: Fraction(3)})], [noisy, other])
        for met in (
            ({1: Fraction(1)}, {}),
            ({}, {2: Fraction(1)}),
            ({1: Fraction(1)}, {2: Fraction(2)}),
        ):
            with pytest.raises(Disagreement):
                _require_read([met], [noisy, other])
