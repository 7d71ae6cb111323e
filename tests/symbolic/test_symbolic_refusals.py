"""What ends in silence does so for its own reason; draws are those of the real laws."""

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest

from dpaudit.symbolic.chance import Source
from dpaudit.symbolic.loading import Loader
from dpaudit.symbolic.other_modules import memo_free
from dpaudit.symbolic.prove import prove
from dpaudit.symbolic.python_chance import PythonSource
from dpaudit.symbolic.run import Escape, Run, active
from dpaudit.symbolic.subject import CodeTarget, subject_of
from dpaudit.symbolic.walk import SymbolicWalk
from dpaudit.verdict import ANY_REWARDS, Status

POLICY = """
import collections.abc, functools, random
{before}
class Policy:
    def __init__(self, arms, epsilon, rng):
        self.arm, self.rng, self.n = 0, rng, {kept}

    def select(self):
        return self.arm

    def update(self, arm, reward):
        {done}
"""
REFUSED = {
    "derived from int": ("class N(int): pass", "N(0)", "self.n.leak = reward"),
    "derived from str": ("class N(str): pass", "N('')", "self.n.leak = reward"),
    "an attribute of a ABCMeta, written to": (
        "",
        "0",
        "collections.abc.Mapping.leak = reward > 0.5; self.arm = 0",
    ),
    "a cached function": (
        "@functools.cache\ndef coin(): return random.random() < 0.75",
        "0",
        "self.arm = int(reward > 0.5) if coin() else int(reward <= 0.5)",
    ),
    "a seeded generator": (
        "import numpy as np\nG = np.random.default_rng(0)",
        "0",
        "self.arm = int(G.random() < 0.5)",
    ),
    "while the policy runs": ("", "0", "import beside; self.arm = 0"),
    "a handler of ValueError": (
        "",
        "0",
        "\n        try: float('x')\n        except ValueError: pass",
    ),
    "the attribute __dict__": ("class C: pass", "[C(), 0]", "self.n[1] = self.n[0].__dict__"),
    "not laid out row by row": (
        "import numpy as np",
        "np.zeros((2, 3)).T",
        "self.arm = 0",
    ),
    "hides nothing under pure epsilon": (
        "",
        "0",
        "self.arm = int(reward + self.rng.normal(0, 1) > 0.5)",
    ),
    "is not added to it as it is: the reward or the noise goes through a product, a power": (
        "",
        "0",
        "self.arm = int(reward * reward + self.rng.laplace(0, 1) > 0.5)",
    ),
    "a coin shows it": ("", "0", "self.arm = int(self.rng.random() < reward)"),
    "the type of a reward": ("", "0", "self.arm = int(isinstance(reward, float))"),
    "a beta draw with the parameter -1": ("", "0", "self.arm = int(self.rng.beta(-1, 1) > 0.5)"),
    "a format that asks for attributes": ("", "0", "self.arm = int('{0.n}'.format(self) == '1')"),
    "np.prod of rewards or noise": (
        "import numpy as np",
        "0",
        "self.arm = int(np.prod((reward, 1.0)) > 0.5)",
    ),
    "the attribute geometric of a random generator": (
        "",
        "0",
        "self.arm = int(self.rng.geometric(0.5) > 1)",
    ),
    "`is` on a value that depends on rewards or noise": ("", "0", "self.arm = int(reward is 1.0)"),
    "the arm is a numpy array, no integer": (
        "import numpy as np",
        "0",
        "self.arm = np.zeros(1, dtype=int)",
    ),
    "logging.setLevel": ("import logging", "0", "logging.setLevel(10)"),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_the_reason_is_named(tmp_path, reason):
    before, kept, done = REFUSED[reason]
    (tmp_path / "beside.py").write_text("x = 0\n")
    file = tmp_path / "policy.py"
    file.write_text(POLICY.format(before=before, kept=kept, done=done))
    found = prove(CodeTarget(f"{file}:Policy", 2, 6, 1.0), 20.0).finding
    assert found.status is Status.SILENT and reason in found.reason


PYTHON = ["uniform(0.25, 0.75)", "random()", "gauss(1, 2)", "normalvariate(0, 3)"]
PYTHON += ["expovariate(2.0)", "betavariate(2, 3)"]
NUMPY = ["laplace(1, 2)", "normal(1, 2)", "uniform(-1, 3)", "random()", "exponential(2)"]
NUMPY += ["gumbel(0, 2)", "logistic(1, 2)", "beta(2, 3)", "gamma(2, 3)", "standard_normal()"]
NUMPY += ["integers(1, 7)", "choice(5)", "choice([3, 1, 4])", "binomial(1, 0.3)"]


@pytest.mark.parametrize("weights", [None, [1, 0, 2]])
def test_choices_are_those_of_python(weights):
    for seed in range(9):
        with active(Run(guarded=True)):
            found = PythonSource(False, random.Random(seed)).choices("abc", weights)
        assert found == random.Random(seed).choices("abc", weights)


@pytest.mark.parametrize("text", PYTHON)
def test_draws_are_those_of_python(text):
    with active(Run(guarded=True)):
        found = eval(f"rng.{text}", {"rng": PythonSource(False, random.Random(3))})
    assert found.shadow == pytest.approx(eval(f"rng.{text}", {"rng": random.Random(3)}))


@pytest.mark.parametrize("text", NUMPY)
def test_draws_are_those_of_numpy(text):
    with active(Run(guarded=True)):
        found = eval(f"rng.{text}", {"rng": Source(False, np.random.default_rng(3))})
    wanted = eval(f"rng.{text}", {"rng": np.random.default_rng(3)})
    assert getattr(found, "shadow", found) == pytest.approx(wanted)


FOLLOWED = {
    "rewards outside of [0, 1] are refused": (
        "",
        "0",
        """
        if reward < 0 or reward > 1:
            raise ValueError(f"a reward in round {self.n}")
        self.n += 1
        if self.n == 1:
            self.arm = int(reward + self.rng.laplace(0, 1) > 0.5)""",
    ),
    "a sentinel": (
        "UNSET = object()",
        "UNSET",
        """
        if self.n is UNSET:
            self.n = self.arm = int(reward + self.rng.laplace(0, 1) > 0.5)""",
    ),
    "members that are numbers": (
        "import enum\n\n\nclass Phase(enum.IntEnum):\n    FIRST = 0\n    LATER = 1",
        "Phase.FIRST",
        """
        if self.n == Phase.FIRST:
            self.n, self.arm = Phase.LATER, int(reward + self.rng.laplace(0, 1) > 0.5)""",
    ),
    "a type of functions": (
        "from collections.abc import Callable\n\nRule = Callable[[float], int]",
        "0",
        """
        self.n += 1
        if self.n == 1:
            self.arm = int(reward + self.rng.laplace(0, 1) > 0.5)""",
    ),
    "a lookup that fails": (
        "import numpy as np",
        "{}",
        """
        try:
            self.arm = self.n[arm]
        except KeyError:
            self.n[arm] = int(reward + self.rng.laplace(0, 1) > 0.5)""",
    ),
    "counted comparisons": (
        "",
        "0",
        "self.n = 1 + (reward + self.rng.laplace(0, 1) > 0.5); self.arm = int(self.n) - 1",
    ),
    "a number beside an array": (
        "import numpy as np",
        "np.zeros(2)",
        "self.arm = int(np.argmax((reward + self.rng.laplace(0, 1)) * np.array([1.0, -1.0])))",
    ),
}


@pytest.mark.parametrize("name", FOLLOWED)
def test_right_code_is_followed(tmp_path, name):
    before, kept, done = FOLLOWED[name]
    file = tmp_path / "policy.py"
    file.write_text(POLICY.format(before=before, kept=kept, done=done))
    found = prove(CodeTarget(f"{file}:Policy", 2, 6, 1.0), 20.0).finding
    assert found.status is Status.PROVED, found.reason


TWICE = """
        self.n[0] += 1
        if self.n[0] == 1:
            self.arm = int(self.n[1] < 0.65)
        elif self.n[0] == 3:
            drawn, self.n[1] = self.n[1], 0
            self.arm = int(drawn < 0.7 + 0.2 * reward)"""
AGAIN = """
        self.n[0] += 1
        if self.n[0] == 1:
            self.n[1] = self.rng.random()
            self.arm = int(self.n[1] < 0.3 + 0.4 * reward)
        elif self.n[0] == 3:
            self.arm = int(self.n[1] < 0.5)"""
TOSSED = {  # what decides, and epsilons above and below its loss
    "the likelier answer": (
        "0",
        "self.arm = int(self.rng.random() < 0.1 + 0.3 * reward)",
        1.4,
        1.3,
    ),
    "the other answer": ("0", "self.arm = int(self.rng.random() < 0.6 + 0.3 * reward)", 1.4, 1.3),
    "a draw that is used again": ("[0, 0]", AGAIN, None, 1.0),  # in [0.5, 0.7) for one reward alone
    "a draw that a branch has used": ("[0, rng.random()]", TWICE, None, 1.2),  # log(0.25 / 0.05)
}


@pytest.mark.parametrize("name", TOSSED)
def test_a_coin_is_charged_for_both_answers_and_tossed_once(tmp_path, name):
    kept, done, enough, less = TOSSED[name]
    file = tmp_path / "policy.py"
    file.write_text(POLICY.format(before="", kept=kept, done=done))
    assert prove(CodeTarget(f"{file}:Policy", 2, 6, less), 20.0).finding.status is Status.SILENT
    if enough is not None:
        assert (
            prove(CodeTarget(f"{file}:Policy", 2, 6, enough), 20.0).finding.status is Status.PROVED
        )


MEETING = """
        if self.n[0] == 0:
            scale = %s if self.rng.random() < 0.5 else %s
            self.arm = int(reward + self.rng.laplace(0, scale) > 0.5)
            self.n[1] = reward
        elif self.n[0] == 2:
            self.arm = int(self.n[1] + self.rng.laplace(0, 1) > 0.5)
            self.n[1] = 0
        self.n[0] += 1"""
THIRD = """
        self.n += 1
        if self.n == 1:
            self.arm = int(np.argmax(self.rng.laplace(0, 1, 3)))
        elif self.n == 2:
            self.arm = int(reward > 0.5) if self.arm == 2 else 0"""


ONCE = """
        self.n += 1
        if self.n == 1:
            shown = %s
            self.arm = int(shown + self.rng.laplace(0, %s) > 0.5)"""


@pytest.mark.parametrize(
    ("shown", "scale", "less", "enough"),
    [("reward", "0.9995", 1.0, 1.001), ("min(max(3 * reward, 0), 2)", "1", 1.9, 3.0)],
)
def test_charges_are_compared_to_the_last_digit_and_know_their_reach(
    tmp_path, shown, scale, less, enough
):
    file = tmp_path / "policy.py"
    file.write_text(POLICY.format(before="", kept="0", done=ONCE % (shown, scale)))
    assert prove(CodeTarget(f"{file}:Policy", 2, 4, less), 20.0).finding.status is Status.SILENT
    assert prove(CodeTarget(f"{file}:Policy", 2, 4, enough), 20.0).finding.status is Status.PROVED


@pytest.mark.parametrize(("most", "clipped"), [(1, True), (2, False)])
def test_rewards_are_clipped_only_where_they_are_charged_no_more(tmp_path, most, clipped):
    done = ONCE % (f"min(max(reward, 0), {most})", "4")
    file = tmp_path / "policy.py"
    file.write_text(POLICY.format(before="", kept="0", done=done))
    found = prove(CodeTarget(f"{file}:Policy", 2, 4, 1.0), 20.0).finding
    assert (found.status, found.epsilon_upper) == (Status.PROVED, 0.25)
    assert (found.streams == ANY_REWARDS) is clipped


@pytest.mark.parametrize("scales", [("1", "0.5"), ("0.5", "1")])
def test_where_paths_meet_the_larger_charge_is_kept(tmp_path, scales):
    file = tmp_path / "policy.py"
    file.write_text(POLICY.format(before="", kept="[0, 0]", done=MEETING % scales))
    assert prove(CodeTarget(f"{file}:Policy", 2, 6, 2.5), 20.0).finding.status is Status.SILENT
    assert prove(CodeTarget(f"{file}:Policy", 2, 6, 3.0), 20.0).finding.status is Status.PROVED


def test_a_leak_behind_the_third_outcome_is_found(tmp_path):
    file = tmp_path / "policy.py"
    file.write_text(POLICY.format(before="import numpy as np", kept="0", done=THIRD))
    found = prove(CodeTarget(f"{file}:Policy", 3, 6, 1.0), 20.0).finding
    assert found.status is Status.SILENT and "without any noise" in found.reason


FOURTH = """
class Policy:
    def __init__(self, arms, epsilon, rng):
        self.rng, self.n, self.last = rng, 0, 0

    def select(self):
        self.n += 1
        if self.rng.random() < 0.5:
            return 1
        return int(self.last > 0.5) if self.n == 4 else 0

    def update(self, arm, reward):
        self.last = reward if self.n == 3 else 0
"""


def test_a_round_that_was_not_followed_to_its_end_is_not_covered(tmp_path):
    """The fourth action shows a reward, on the side of the coin that is looked at last."""
    file = tmp_path / "policy.py"
    file.write_text(FOURTH)
    target, ended = CodeTarget(f"{file}:Policy", 2, 6, 1.0), []
    for looks in range(30):
        clock = itertools.chain([0] * looks, itertools.repeat(1)).__next__
        walk = SymbolicWalk(subject_of(target), 6, Fraction(1), 0.5, clock=clock)
        found = walk.explore()
        ended.append(found.failure is not None)
        assert ended[-1] or found.horizon <= 3
    assert ended[-1] and not ended[0]


def test_a_generator_of_python_draws_as_python_does(tmp_path):
    loader = Loader(tmp_path)
    with active(Run()):
        assert type(loader.source("Random", None)) is PythonSource
        assert loader.source("default_rng", None).kind == "Generator"
        assert loader.source("RandomState", 3).fixed


def half(number):
    return number / 2


def test_a_cache_that_takes_a_float_for_an_integer_is_refused():
    cached = memo_free(half)
    with active(Run()):
        assert [cached(number) for number in (1, 2, 1)] == [0.5, 1.0, 0.5]
        with pytest.raises(Escape, match="of 1 and 1.0"):
            cached(1.0)


def test_a_function_of_another_signature_is_named(tmp_path):
    (tmp_path / "one.py").write_text("def one(stream):\n    return stream\n")
    target = CodeTarget(f"{tmp_path}/one.py:one", 2, 5, 1.0)
    found = prove(target, 20.0).finding
    assert found.status is Status.SILENT
    assert "no function (stream, rng) -> actions: too many positional arguments" in found.reason
