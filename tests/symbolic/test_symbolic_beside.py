"""Stand-ins answer as the real functions do, on every path; zeros, ties and infinities included."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpaudit.symbolic.arrays import array
from dpaudit.symbolic.beside import _key, beside
from dpaudit.symbolic.prove import prove
from dpaudit.symbolic.run import DrawLaw, Escape, Run, active
from dpaudit.symbolic.subject import CodeTarget
from dpaudit.symbolic.values import Linear
from dpaudit.verdict import Status

POLICY = """
import logging
import math
import random

import numpy as np

from dpaudit import noise


class Own:
    def __floor__(self):
        self.on = 1 - self.on
        return 0


class Policy:
    def __init__(self, arms, epsilon, rng):
        self.rng, self.last, self.t, self.e, self.x = rng, 0.0, 0, 0.0, 1.0
        self.own = Own()

    def select(self):
        if self.t == 2:
            last, e = self.last, self.e
            k = int(self.rng.beta(1, 1) < 0.0005)
{body}
        return 0

    def update(self, arm, reward):
        self.last, self.e = reward, self.rng.exponential()
        self.t += 1
{after}
"""
LEAKS = {
    "nonzero of a range": "return int(last * int(np.nonzero([[1, 0], range(2)][k])[0][0]) > 0.5)",
    "sum of a range": "return int(last * int(np.size(np.sum([[1], range(2)][k], axis=0))) > 0.5)",
    "choice from a dict": "return int(last * random.choice([[0], {0: 7}][k]) > 0.5)",
    "the sign of zero": "return int(math.copysign(1.0, np.tan(0.0 * (last - 0.5))) > 0)",
    "zero times an exponential of it": "w = 0.0 * (last - 0.5)\n"
    "return int(np.reciprocal(w * np.exp(w)) > 0)",
    "the likelier of two": "z = np.array([last, 0.3]); p = np.exp(z - z.max())\n"
    "return int(self.rng.random() < p[1] / p.sum())",
    "the other side of zero": "return int(np.reciprocal(0.0 * (last - 0.5)) > 0)",
    "a power of zero": "return int((np.float64(0.0) * (last - 0.5)) ** -1 > 0)",
    "a part of infinity": "return int(np.reciprocal((last - 0.5) / np.inf) > 0)",
    "an array of zeros": "w = np.array([0.0, 0.0]) * (last - 0.5)\n"
    "return int(np.argmax(np.reciprocal(w - [0.0, 0.0]) * [1, -1]))",
    "nan in order": "c = np.sqrt(self.rng.beta(1.0, 1.0) - 0.0005); a = self.rng.normal()\n"
    "order = np.argsort(np.array([c, a])); less = a < c\n"
    "return int(int(order[0] == 1) * (1 - int(less)) * last > 0.5)",
    "large noise": "v = self.rng.laplace(0.0, (1.0, 1e190)[k]) * (1.0, 1e190)[k]\n"
    "return int(int(np.isinf(v)) * last > 0.5)",
    "large waiting": "return int(last * int(np.isinf(self.rng.gamma(1.0, 3e307))) > 0.5)",
    "whole rewards squared": "w = np.array([(0.5, last * last)[k]]); w[0] = 0.7\n"
    "return int(int(w[0] == 0) * last > 0.5)",
    "freedom": "z = self.rng.laplace()\n"
    "return int(np.var(np.array([z, z + 1.0]), ddof=[0, last][k]) > 0.4)",
    "a whole part": "n = math.floor(self.rng.laplace())\nif n > 3:\n    return 0\n"
    "w = np.array([(0.5, n)[k]]); w[0] = 0.7\nreturn int((0.7 - w[0]) * last > 0.5)",
    "zero beside zero": "x = np.trunc(self.rng.random() - 1.0) + 0.0 * (last - 0.5)\n"
    "return int(np.reciprocal(x) > 0)",
    "a method of one's own": "self.own.on = 0; math.floor(self.own)\n"
    "return self.own.on * int(last > 0.5)",
    "whole noise": "w = np.array([(0.5, noise.gaussian(1))[k]]); w[0] = 0.7\n"
    "return int((0.7 - w[0]) * last > 0.5)",
    "a copy or none": "raw = np.array([last, last])\n"
    "view = np.asarray((np.array([2.0, 0.5]), raw)[k], dtype=float); view[0] = 0\n"
    "return int((np.zeros(2), raw)[k][0] > 0.5)",
    "an array of no axis": "one = np.array(last); row = np.zeros(2); row[0] = (0.25, one)[k]\n"
    "one[()] = 0\nreturn int(row[0] > 0.5)",
    "small numbers": "row = (self.rng.random(2), self.rng.random(2, np.float32))[k]; row[0] = 0.1\n"
    "return int((row[0] != 0.1) * last > 0.5)",
    "an array as text": "t = str((np.array([1]), 'a')[1 - k])\n"
    "return int((t[0] == '[') * last > 0.5)",
    "a list beside a number": "c = np.sqrt(self.rng.normal()); row = np.float64(0.0) + [c, c]\n"
    "return int((row[0] not in [row[0]]) * last > 0.5)",
    "ties": "z = self.rng.laplace(); row = np.array([z + i // 2 for i in range(16)])\n"
    "moved = np.argsort(row) - np.argsort(row, kind='stable')\n"
    "return int(int(moved[2] != 0) * last > 0.5)",
    "what is shuffled": "items = [1, 1.5]; self.rng.shuffle(items)\n"
    "w = np.array([items[0]]); w[0] = 0.7\nreturn int((0.7 - w[0]) * last > 0.5)",
    "how arrays are printed": "np.set_printoptions(precision=2)\n"
    "return int((len(repr(np.array([0.123456]))) < 15) * last > 0.5)",
    "a bound of no sign": "x = np.trunc(self.rng.random() - 1.0)\n"
    "return int(np.reciprocal(x + 0.0 * np.clip(last - 0.5, -0.0, 1.0)) > 0)",
    "beside a reward": "rest = np.array([(0.5, last)[k], 3])[1:] + 0; rest[0] = 0.7\n"
    "return int((0.7 - rest[0]) * last > 0.5)",
    "what a logger is told": "logging.debug((1, self.own)[k])\nreturn int(k * last > 0.5)",
    "two halves of noise": "f = self.rng.exponential()\nreturn int((e - f == e - f) * last > 0.5)",
}
RIGHT = {
    "means": "return int(np.mean([1.0, 2.0], axis=0) > 3)",
    "noise": "return int(np.argmax(self.rng.laplace(0.0, [1.0, 2.0], size=2)))",
    "sorted": "return int(np.argsort(np.array([self.rng.normal(), 0.0]))[0])",
    "weighted": "return int(self.rng.choice(2, p=np.array([0.25, 0.75])))",
    "of Python": "return random.choice([0, 1])",
    "of Python's noise": "return int(random.gauss(0, 1) > 0)",
    "a softmax": "z = np.array([self.rng.normal(), 0.0]); p = np.exp(z - z.max())\n"
    "return int(self.rng.choice(2, p=p / p.sum()))",
    "squared": "v = self.rng.normal()\nreturn int(np.sqrt(np.square(v)) + math.exp(1) > 4)",
}


def judged(tmp_path, body, after="pass"):
    file = tmp_path / "policy.py"
    lines = "\n".join(f"            {line}" for line in body.split("\n"))
    more = "\n".join(f"        {line}" for line in after.split("\n"))
    file.write_text(POLICY.replace("{body}", lines).replace("{after}", more))
    return prove(CodeTarget(f"{file}:Policy", 2, 4, 1.0), 30.0).finding


@pytest.mark.parametrize("name", LEAKS)
def test_what_is_read_otherwise_is_not_proved(tmp_path, name):
    assert judged(tmp_path, LEAKS[name]).status is Status.SILENT


@pytest.mark.parametrize(
    "made",
    ["(lambda t: t[0].insert(0, t) or t)(([0.0],))", "hung()"],
)
def test_what_contains_itself_is_not_copied_into_two(tmp_path, made):
    file = tmp_path / "policy.py"
    file.write_text(
        "class Meter:\n    first = 0.0\n\n    def take(self, reward):\n"
        "        self.first = reward\n        return self.first\n\n\n"
        "def hung():\n    meter = Meter()\n    meter.hook = meter.take\n    return meter.hook\n\n\n"
        "class Policy:\n    def __init__(self, arms, epsilon):\n"
        f"        self.pair, self.x = {made}, 0.0\n\n"
        "    def select(self):\n        return 0\n\n    def update(self, arm, reward):\n"
        "        self.x = reward\n"
    )
    found = prove(CodeTarget(f"{file}:Policy", 2, 5, 1.0), 20.0).finding
    assert found.status is Status.SILENT and "contains itself" in found.reason


def test_one_number_of_two_types_is_not_two_numbers(tmp_path):
    body = (
        "warm = self.rng.random() > 0.25\n"
        "try:\n    rate = 1 / (self.t % 3)\n    return int((self.x > 0.5) * last > 0.5)\n"
        "except ZeroDivisionError:\n    return 0"
    )
    after = "if reward > 0.5:\n    self.x = 1.0\nelse:\n    self.x = np.float64(1.0)"
    assert judged(tmp_path, body, after).status is Status.SILENT


DRAWS = ["laplace(0.0, 0.0)", "binomial(1, 1.0)", "exponential(0.0)", "integers(1)", "random()"]


@pytest.mark.parametrize("draw", DRAWS)
def test_a_seeded_generator_moves_on_whatever_it_draws(tmp_path, draw):
    file = tmp_path / "policy.py"
    file.write_text(
        "import numpy as np\n\n\nclass Policy:\n    def __init__(self, arms, epsilon):\n"
        "        self.g, self.y = np.random.default_rng(5), 0.0\n\n"
        "    def select(self):\n        return int(self.g.normal(0.0, 1.0) > 0.0)\n\n"
        "    def update(self, arm, reward):\n        if reward > 0.5:\n"
        f"            self.y = 0.0 * self.g.{draw}\n        else:\n"
        "            self.y = 0.0 * self.g.binomial(1, 0.0)\n"
    )
    assert prove(CodeTarget(f"{file}:Policy", 2, 5, 1.0), 20.0).finding.status is Status.SILENT


def test_integers_alone_do_not_keep_doubles_from_showing(tmp_path):
    file = tmp_path / "policy.py"
    lost = "int((reward + 4096.0) - 4096.0 - reward > 4.5429e-13)"
    for line, kept in ((lost, False), ("0", True)):
        file.write_text(
            "from dpaudit.noise import noisy_sum\n\n\nclass Policy:\n"
            "    def __init__(self, arms, epsilon):\n        self.n = 0\n\n"
            "    def select(self):\n        return int(self.n > 50)\n\n"
            "    def update(self, arm, reward):\n"
            f"        self.n = noisy_sum([reward], 1, 1) + 100 * {line}\n"
        )
        found = prove(CodeTarget(f"{file}:Policy", 2, 5, 1.0), 20.0).finding
        assert (found.program is not None) is kept


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_read_aright_is(tmp_path, name):
    found = judged(tmp_path, RIGHT[name])
    assert found.status is Status.PROVED, found.reason


def test_a_stand_in_that_answers_otherwise_is_heard():
    run = Run()
    symbol = Linear(0, {}, {run.draw(DrawLaw("laplace", Fraction(1))): 1})
    with active(run):
        assert beside("f", math.sqrt, math.sqrt)(4.0) == 2.0
        assert beside("f", math.acosh, lambda x: x)(symbol) is symbol  # begins at 1
        found = beside("f", np.cumsum, lambda a: a)(array([symbol, 1.0]))
        assert found.shape == (2,)
        for real, stand_in, given in [
            (math.sqrt, lambda x: 2, (4.0,)),  # another type
            (math.sqrt, lambda x: 3.0, (4.0,)),  # another number
            (math.sqrt, lambda x: 0.0, (-0.0,)),  # another zero
            (np.sum, lambda a: a, (array([symbol, 1.0]),)),  # another shape
            (np.argmax, lambda a, axis: np.int64(0), ([symbol, 1.0], 3)),  # the real one raises
            (sorted, lambda a: [1, 2, 3], ([1, 2],)),  # another length
            (sum, lambda a: 3, (iter([1, 2]),)),  # it is used up
        ]:
            with pytest.raises(Escape):
                beside("f", real, stand_in)(*given)


def test_arguments_that_are_not_known_are_like_no_others():
    with active(Run()) as run:
        assert _key([1.0, "a"]) == _key([1.0, "a"]) != _key([1, "a"])
        numbers = [0.0, 1.0], [-0.0, 1.0], [0, 1], [[0.0, 1.0]]
        marks = [_key(array(it)) for it in numbers]
        assert len(set(marks)) == 4 and marks == [_key(array(it)) for it in numbers]
        assert not run.unmatched
        assert len({hash(_key([object(), 1.0])) for _ in range(50)}) == 50 and run.unmatched
        symbols = array([Linear(0, {}, {run.draw(DrawLaw("uniform")): 1}), 1.0])
        assert _key(symbols) != _key(symbols)


GREEDY = """
import math

import numpy as np


class Greedy:
    def __init__(self, arms, epsilon, rng):
        self.arms, self.epsilon, self.rng = arms, epsilon, SOURCE
        self.sums, self.counts, self.means = np.zeros(arms), np.zeros(arms), np.zeros(arms)
        self.t = 0

    def select(self):
        if self.t < self.arms:
            return self.t
        if self.rng.random() < 1 / math.sqrt(self.t):
            return int(self.rng.integers(self.arms))
        return int(self.means.argmax())

    def update(self, arm, reward):
        self.t += 1
        self.counts[arm] += 1
        self.sums[arm] += reward
        if self.t % 5 == 0:
            scale = 10 / (self.epsilon * self.counts)
            self.means = self.sums / self.counts + self.rng.laplace(0, SCALE)
"""


@pytest.mark.parametrize(
    ("source", "scale", "said"),
    [
        ("rng", "scale", "No reward is charged more than 0.1"),
        ("np.random.default_rng(7)", "scale", "(a constant seed,"),
        ("np.random.default_rng(7)", "abs(self.means) + 1", ""),
    ],
)
def test_running_means_of_a_greedy_policy(tmp_path, source, scale, said):
    """A seeded generator that draws an array of noise was called a misreading."""
    file = tmp_path / "greedy.py"
    file.write_text(GREEDY.replace("SOURCE", source).replace("SCALE", scale))
    found = prove(CodeTarget(f"{file}:Greedy", 2, 8, 1.0), 60.0).finding
    assert (found.status is Status.PROVED) == (source == "rng")
    assert said in found.reason and "report it" not in found.reason
