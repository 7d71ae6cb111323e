"""(epsilon', delta') of the user's own code in doubles: who gets it, and who does not."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import dpaudit
from dpaudit.structure.program import TAU, real_program
from dpaudit.symbolic.doubles import COIN, REWARD, Computed, DrawTally, Found, noise
from dpaudit.symbolic.prove import in_doubles, prove, walked
from dpaudit.symbolic.run import DrawLaw, Escape, Run, active
from dpaudit.symbolic.subject import CodeTarget
from dpaudit.symbolic.values import Linear
from dpaudit.target import load_file
from dpaudit.verdict import Status

CODE = """
import math
import numpy as np


class Policy:
    def __init__(self, arms, epsilon, rng):
        self.arms, self.epsilon, self.rng = arms, epsilon, rng
        self.pulls, self.x, self.time = [0] * arms, [0.0] * arms, 0
        self.rewards, self.total, self.left, self.arm, self.other = [], 0.0, 0, 0, 0.0

    def bonus(self, arm):
        return math.sqrt(math.log(self.time + 1) / self.pulls[arm])

    def select(self):
        if self.left == 0:
            self.arm = self.pulls.index(0) if 0 in self.pulls else self.best()
            self.left = max(1, self.pulls[self.arm])
            self.rewards, self.total = [], 0.0
        return self.arm

    def best(self):
        index = np.array([self.x[arm] + self.bonus(arm) for arm in range(self.arms)])
        return int(np.argmax(index))

    def update(self, arm, reward):
        self.time += 1
        self.rewards.append(reward)
        self.total += reward
        self.left -= 1
        if self.left == 0:
            n, rng = len(self.rewards), self.rng
            scale = 1 / (self.epsilon * n)
            self.pulls[arm] += n
            x = self.total / n + rng.laplace(0, scale)
            self.x[arm] = x
"""
RELEASE = "x = self.total / n + rng.laplace(0, scale)"
INDEX = "self.x[arm] + self.bonus(arm)"
BEST = CODE[CODE.index("        index = ") : CODE.index("    def update")]


def written(tmp_path, changes, arms=2, horizon=8, text=CODE):
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    file = tmp_path / "mine.py"
    file.write_text(text)
    return CodeTarget(f"{file}:Policy", arms, horizon, 1.0)


def certified(target):
    """What is said of code that is proved in real arithmetic: otherwise nobody asks."""
    found = walked(target, math.inf)
    assert found.failure is None and found.horizon == target.horizon
    return in_doubles(target, math.inf)


@pytest.mark.parametrize(("arms", "horizon"), [(2, 60), (3, 12)])
def test_it_is_what_the_theorem_says_of_the_same_declaration(tmp_path, arms, horizon):
    """D is found by walking the code here, and from the lengths of episodes there."""
    program, why = certified(written(tmp_path, {}, arms, horizon))
    assert program is not None, why
    declared, _ = real_program(dpaudit.load("adap_ucb", arms=arms, epsilon=1.0), horizon, 1)
    assert program.delta == pytest.approx(declared.delta, rel=1e-9)
    assert 1 < program.epsilon < 1 + 1e-10
    assert f"within {horizon} rounds" in program.name


def test_a_check_says_it(tmp_path):
    finding = prove(written(tmp_path, {}), 120.0).finding
    assert finding.status is Status.PROVED and finding.program is not None
    finding = prove(written(tmp_path, NOT_COVERED["a square"][0]), 120.0).finding
    assert finding.status is Status.PROVED and finding.program is None
    assert "mine.py:24" in finding.rounding and "noisy_sum" in finding.rounding


COVERED = {
    "noise on the sum": {RELEASE: "x = (self.total + rng.laplace(0, 1 / self.epsilon)) / n"},
    "noise around the sum": {RELEASE: "x = rng.laplace(self.total, 1 / self.epsilon) / n"},
    "numpy's older function": {RELEASE: RELEASE.replace("rng.", "np.random.")},
    "a product of a draw": {RELEASE: "x = self.total / n + scale * rng.laplace()"},
    "noise taken away": {RELEASE: "x = np.mean(self.rewards) - rng.laplace(scale=scale)"},
    "turned round": {
        RELEASE: "x = rng.laplace(0, scale) - sum(self.rewards) / n",
        INDEX: "0.5 * (1 - self.x[arm]) + self.bonus(arm)",
    },
    "an exact sum": {RELEASE: "x = math.fsum(self.rewards) / n + rng.laplace(0, scale)"},
    "clipped": {RELEASE: RELEASE + "\n            x = min(max(x, -1.0), 2.0)"},
    "clipped by numpy": {INDEX: "np.clip(self.x[arm], 0, 1) + self.bonus(arm)"},
    "clipped rewards": {"self.total += reward": "self.total += min(max(reward, 0.0), 1.0)"},
    "checked rewards": {"self.time += 1": "self.time += 1; assert 0 <= reward <= 1"},
    "Python's largest": {BEST: "        return max((0, 1), key=lambda a: self.x[a])\n\n"},
    "one comparison": {BEST: "        return 1 if self.x[1] > self.x[0] else 0\n\n"},
    "a difference": {BEST: "        return 1 if self.x[1] - self.x[0] > 0.25 else 0\n\n"},
    "a public coin": {
        BEST: "        return int(self.rng.integers(2)) if self.rng.random() < 0.1 else "
        "int(np.argmax(self.x))\n\n"
    },
    "a mean that moves": {
        "self.total += reward": "self.total += (reward - self.total) / len(self.rewards)",
        RELEASE: "x = self.total + rng.laplace(0, scale)",
    },
}


@pytest.mark.parametrize("name", COVERED)
def test_covered(tmp_path, name):
    program, why = certified(written(tmp_path, COVERED[name]))
    assert program is not None, why
    assert 1 <= program.epsilon < 1 + 1e-9
    assert 0 < program.delta < 1e-13


LOOP = """        found = 0
        for arm in range(1, self.arms):
            if self.x[arm] > self.x[found]:
                found = arm
        return found

"""
NOT_COVERED = {
    "a square": ({INDEX: "self.x[arm] * self.x[arm]"}, "sums, products"),
    "a root": ({INDEX: "np.exp(self.x[arm]) + self.bonus(arm)"}, "sums, products"),
    "a power": ({INDEX: "(self.x[arm] + 1) ** 3"}, "sums, products"),
    "noise averaged": (
        {
            RELEASE: "x = self.total / n"
            " + (rng.laplace(0, 2 * scale) + rng.laplace(0, 2 * scale)) / 2"
        },
        "a draw is added to another",
    ),
    "noise twice": ({RELEASE: RELEASE + " + rng.laplace(0, scale)"}, "a draw is added"),
    "a sum with its noise": (
        {RELEASE: "x = sum([*self.rewards, rng.laplace(0, 1 / self.epsilon)]) / n"},
        "the library's",
    ),
    "numpy's sum with its noise": (
        {RELEASE: "x = np.sum(np.array([*self.rewards, rng.laplace(0, 1.0)])) / n"},
        "the library's",
    ),
    "rewards after the noise": (
        {RELEASE: "x = self.rewards[0] + rng.laplace(0, 1.0) + sum(self.rewards[1:])"},
        "has its noise already",
    ),
    "a number before the rewards": (
        {RELEASE: "x = (1.0 + rng.laplace(0, scale)) + self.total / n"},
        "before it hides rewards",
    ),
    "cancellation": (
        {BEST: "        return 1 if (self.x[1] - self.x[0]) + self.x[0] > 0.5 else 0\n\n"},
        "added to an index and taken from it",
    ),
    "both sides": (
        {BEST: "        return 1 if self.x[1] - self.x[0] > 0.5 * self.x[1] else 0\n\n"},
        "both sides",
    ),
    "whether they are equal": (
        {BEST: "        return 1 if self.x[1] == self.x[0] else 0\n\n"},
        "in doubles",
    ),
    "asked twice": (
        {
            BEST: "        if self.x[1] + 0.1 > self.x[0] + 0.1:\n"
            "            return 1 if self.x[1] > self.x[0] else 0\n        return 0\n\n"
        },
        "in real arithmetic",
    ),
    "a loop over three": ({BEST: LOOP}, "compared again after it has won"),
    "a winner that stays": (
        {
            "if self.left == 0:\n            n, rng": "if self.left == 0 and len(self.rewards) < 9 "
            "and self.pulls[arm] < 2:\n            n, rng",
            "self.left = max(1, self.pulls[self.arm])": "self.left = 1",
        },
        "Release it anew before the next decision, and let one decision compare all indices",
    ),
    "released twice": (
        {
            RELEASE: "x = (self.total / n + rng.laplace(0, 2 * scale)) / 2"
            " + (self.total / n + rng.laplace(0, 2 * scale)) / 2"
        },
        "more than one release",
    ),
    "a difference of running sums": (
        {
            "self.rewards, self.total = [], 0.0": "self.rewards, self.other = [], self.total",
            RELEASE: "x = (self.total - self.other) / n + rng.laplace(0, scale)",
        },
        "their rounding stays",
    ),
    "noise of another law": (
        {RELEASE: RELEASE + "; x = x + rng.normal(0, 1)"},
        "sums, products",
    ),
    "scipy's": (
        {
            "import math": "import math\nfrom scipy import stats",
            RELEASE: "x = self.total / n + stats.laplace.rvs(0, scale, random_state=rng)",
        },
        "scipy",
    ),
    "compiled": (
        {
            "import math": "import math\nimport numba",
            "class Policy": "@numba.njit(fastmath=True)\ndef twice(x):\n    return 2 * x\n\n\n"
            "class Policy",
        },
        "numba",
    ),
    "by hand": (
        {RELEASE: "x = self.total / n + rng.exponential(scale) - rng.exponential(scale)"},
        "sums, products",
    ),
    "a noisy value that opens the next draw": (
        {RELEASE: RELEASE + "; self.other = rng.normal(0, abs(x) + 1)"},
        "draw whose law depends",
    ),
    "a binomial draw": (
        {BEST: "        return int(self.rng.binomial(1, np.clip(self.x[1], 0.1, 0.9)))\n\n"},
        "a binomial draw whose chance depends",
    ),
    "a coin by a weight that is known": (
        {
            BEST: "        best = int(np.argmax(self.x)); p = 1 / (1 + np.exp(self.x[1 - best]))\n"
            "        return int(self.rng.choice(2, p=[p, 1 - p]))\n\n"
        },
        "shows in more than comparisons",
    ),
    "a logarithm that may raise": (
        {"        index = ": "        math.log(self.x[0])\n        index = "},
        "shows in more than comparisons",
    ),
}


@pytest.mark.parametrize("name", NOT_COVERED)
def test_not_covered(tmp_path, name):
    changes, why = NOT_COVERED[name]
    program, reason = certified(written(tmp_path, changes, arms=3 if "three" in name else 2))
    assert program is None
    assert why in reason and "noisy_sum" in reason, reason


@pytest.mark.parametrize(
    "changes",
    [
        {INDEX: "np.float32(0.3) * self.x[arm]"},
        {INDEX: "np.round(self.x[arm], 3)"},
        {INDEX: "round(self.x[arm], 3)"},
        {RELEASE: "x = np.float32(self.total / n + rng.laplace(0, scale))"},
        {RELEASE: "x = np.array([self.total / n + rng.laplace(0, scale)], dtype=np.float32)[0]"},
        {RELEASE: "x = sum(sorted(self.rewards)) / n + rng.laplace(0, scale)"},
    ],
)
def test_not_even_proved(tmp_path, changes):
    finding = prove(written(tmp_path, changes, horizon=6), 60.0).finding
    assert finding.status is Status.SILENT and finding.program is None


# -- the annotations, against doubles themselves


def reward_of(run, number):
    """A reward whose double is known: guarded runs carry it."""
    found = Linear(0, {run.row(0, number): 1}, {}, number)
    found.computed = REWARD
    return found


def truth(run, value):
    """The real number that a value stands for, exactly."""
    parts = {**value.rows, **value.draws}
    return value.rest + sum(w * Fraction(run.shadows[name]) for name, w in parts.items())


NUMBERS = st.one_of(
    st.floats(0.001, 1000.0), st.floats(-1000.0, -0.001), st.integers(1, 10**6), st.just(1 / 3)
)
STEPS = st.lists(st.tuples(st.integers(0, 6), NUMBERS, st.integers(0, 50)), max_size=40)


def stepped(values, kind, number, place):
    """One operation of judged code on values that are there."""
    one, two = values[place % len(values)], values[(place * 7 + 1) % len(values)]
    if kind == 0:
        return one + two
    if kind == 1:
        return one - two
    if kind == 2:
        return one * number
    if kind == 3:
        return one / number
    if kind == 4:
        return number - one
    return one + number if kind == 5 else -one


@settings(max_examples=150, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), STEPS)
def test_no_double_is_farther_from_its_real_number_than_is_said(rewards, steps):
    run = Run(guarded=True, tally=DrawTally(Found()))
    with active(run):
        values = [reward_of(run, number) for number in rewards]
        for step in steps:
            try:
                new = stepped(values, *step)
            except Escape as refused:
                assert "wrap around" in str(refused)
                continue  # it is too large to be read
            if isinstance(new.computed, str):
                continue  # it may overflow
            real = truth(run, new)
            assert abs(Fraction(new.shadow) - real) <= Fraction(new.computed.wrong)
            assert abs(real) <= Fraction(new.computed.size)
            values.append(new)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=300), NUMBERS)
def test_sums_in_any_order_are_within_what_is_said(rewards, weight):
    """numpy adds in pairs and lanes, `sum` may compensate, `fsum` rounds once."""
    run = Run(guarded=True, tally=DrawTally(Found()))
    with active(run):
        values = [reward_of(run, number) * weight for number in rewards]
        total = values[0]
        for value in values[1:]:
            total = total + value
        real, wrong = truth(run, total), Fraction(total.computed.wrong)
    terms = np.array([value.shadow for value in values])
    orders = (np.sum(terms), sum(terms.tolist()), math.fsum(terms), np.sum(terms[::-1]))
    for found in (*orders, np.sum(np.sort(terms)), np.dot(terms, np.ones(len(terms)))):
        assert abs(Fraction(float(found)) - real) <= wrong


@settings(max_examples=100, deadline=None)
@given(STEPS, st.floats(-3, 3), st.integers(1, 2**40), st.floats(-3, 3))
def test_computed_indices_move_as_is_said(steps, low, ulps, other):
    """The same operations on two releases, of which one rises by some ulps."""
    results = []
    for x in (low, low + ulps * math.ulp(low)):
        run = Run(guarded=True, tally=DrawTally(Found()))
        with active(run):
            values = []
            for draw, number in ((1, x), (2, other)):
                value = Linear(
                    0, {}, {run.draw(DrawLaw("laplace", Fraction(1)), number): 1}, number
                )
                value.computed = Computed(100.0, moves=((draw, 1),))
                values.append(value)
            for step in steps:
                values.append(stepped(values, *step))
        results.append(values)
    seen = 0
    for before, after in zip(*results, strict=True):
        assert before.computed == after.computed
        if isinstance(before.computed, Computed):
            way = dict(before.computed.moves).get(1, 0)
            change = after.shadow - before.shadow
            assert change * way >= 0 and (way or not change)
            seen += 1
    assert seen >= 2


def test_one_reward_that_enters_twice_is_counted_twice(tmp_path):
    changes = {
        "self.total += reward": "self.total += reward + min(reward, 0.5)",
        RELEASE: "x = self.total / n + rng.laplace(0, 1.5 * scale)",
    }
    program, why = certified(written(tmp_path, changes))
    assert program is not None, why
    assert 1 < program.epsilon < 1 + 1e-9


def test_a_huge_number_on_the_way_costs_epsilon(tmp_path):
    """(total + 2^53) - 2^53 rounds to even numbers, and so moves by 2."""
    changes = {RELEASE: "x = ((self.total + 2.0**53) - 2.0**53 + rng.laplace(0, 1.0)) / n"}
    program, why = certified(written(tmp_path, changes))
    assert program is not None, why
    assert 2 <= abs(((0.0 + 2.0**53) - 2.0**53) - ((2.0 + 2.0**53) - 2.0**53)) <= program.epsilon


def test_a_draw_and_a_coin_are_told_apart():
    run = Run(tally=DrawTally(Found()))
    with active(run):
        draw = run.draw(DrawLaw("laplace", Fraction(1)))
        bare = Linear(0, {}, {draw: 1})
        bare.computed = noise(1.0, draw)
        coin = Linear(0, {}, {run.draw(DrawLaw("uniform")): 1})
        coin.computed = COIN
        row = Linear(0, {run.row(0): 1}, {})
        row.computed = REWARD
        assert isinstance((bare + coin).computed, str)
        assert isinstance((row + coin).computed, Computed)
        assert isinstance((row + bare).computed, Computed)
        assert (row + bare).computed == "one draw of noise is used twice"
    assert noise(np.float32(1), 1) == noise(0.0, 1) == noise(10**17, 1) == noise(1e300, 1)
    assert isinstance(noise(10**17, 1), str)


# -- every outcome of a small generator


def small_laplace(size):
    """numpy's algorithm on `size` bits in place of 53: all that it gives, equally likely."""
    uniforms = np.arange(1, 2**size) / 2**size
    low, high = uniforms[uniforms < 0.5], uniforms[uniforms >= 0.5]
    return np.concatenate((np.log(low + low), -np.log(2.0 - high - high)))


def distance(values):
    """The Kolmogorov distance of equally likely values to Laplace(1)."""
    z = np.sort(values)
    law = np.where(z < 0, 0.5 * np.exp(-np.abs(z)), 1 - 0.5 * np.exp(-np.abs(z)))
    steps = np.arange(len(z) + 1) / len(z)
    return max(np.abs(law - steps[1:]).max(), np.abs(law - steps[:-1]).max())


class Tape:
    """A generator that draws what it is told to."""

    def __init__(self, draws):
        self.draws = iter(draws)

    def laplace(self, loc=0.0, scale=1.0):
        return loc + scale * next(self.draws, 0.0)  # none after the last decision


def law_of_actions(target, rewards, draws, releases):
    """The law of the real code's actions, over all draws of a small generator."""
    source = getattr(load_file(target.path, target.text), target.name)
    found = Counter()
    for tape in product(draws, repeat=releases):
        policy = source(arms=target.arms, epsilon=target.epsilon, rng=Tape(tape))
        actions = []
        for reward in rewards:
            actions.append(policy.select())
            policy.update(actions[-1], reward)
        found[tuple(actions)] += 1
    total = len(draws) ** releases
    return {actions: Fraction(count, total) for actions, count in found.items()}


def largest_delta(target, epsilon, draws, releases):
    """The largest delta at an epsilon over flips of one reward among some streams."""
    worst, rounds = 0.0, releases + 1
    for rest in ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (1.0, 1.0, 1.0)):
        for place in range(releases):
            streams = [(*rest[:place], one, *rest[place:])[:rounds] for one in (0.0, 1.0)]
            laws = [law_of_actions(target, stream, draws, releases) for stream in streams]
            for one, two in (laws, laws[::-1]):
                parts = (
                    float(p) - math.exp(epsilon) * float(two.get(a, 0)) for a, p in one.items()
                )
                worst = max(worst, sum(part for part in parts if part > 0))
    return worst


@pytest.mark.parametrize("name", ["index", "a difference", "noise on the sum"])
@pytest.mark.parametrize(("size", "releases"), [(3, 3), (4, 3), (6, 2)])
def test_the_theorem_holds_for_every_outcome_of_a_small_generator(tmp_path, name, size, releases):
    """A decision at round 3 on two releases, and one at round 4 on what is left and a third."""
    target = written(tmp_path, COVERED.get(name, {}), horizon=releases + 1)
    program, why = certified(target)
    assert program is not None, why
    compared = round(program.delta / float(TAU) / (1 + math.exp(program.epsilon)))
    assert compared == releases - 1
    draws = small_laplace(size)
    tau = distance(draws)
    assert 2**-size / 2 < tau <= 3 / 2**size
    found = largest_delta(target, program.epsilon, draws, releases)
    assert found <= (1 + math.exp(program.epsilon)) * compared * tau
    assert found > 0 or size > 4  # pure epsilon fails
