"""The terms of a net part space: sums over atoms instead of integrals, against every combination.

Scores have the plateaus of KL bounds, at the ends of which a register meets what no value reaches:
`integrate` is run with functions that are weights of a few random atoms, and must count every
combination of atoms that takes the path once, whichever variable is kept.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from dpaudit.core.algorithms import load
from dpaudit.exact import likelihood
from dpaudit.exact.balls.curves import Extreme, Map, Tie
from dpaudit.exact.balls.net import Band, integrate

NEAR = 1e-9
Level = tuple[float, float]  # of a score at the bottom, and the shift of its mean


def tied(one: Level, two: Level, first: bool, x: float) -> float:
    """The values of the second register that lose to x of the first: below this."""
    mean = x + one[1]
    if mean >= 1:
        return math.inf if first else 1 - two[1]
    if mean <= 0 and one[0] == two[0]:
        return -two[1] if first else -math.inf
    gain = one[0] + (mean / (1 - mean) if mean > 0 else 0.0) - two[0]
    return -math.inf if gain < 0 else gain / (1 + gain) - two[1]


class Atoms:
    """Functions are weights of atoms; masses are sums."""

    def __init__(self, levels: list[list[Level]], atoms: dict[int, np.ndarray]) -> None:
        self.levels, self.atoms, self.terms = levels, atoms, 0
        means = {shift for level in levels for _, shift in level}
        self.corners = [end - shift for shift in means for end in (0, 1)]

    def term(self) -> None:
        self.terms += 1

    def total(self, variable, function):
        return function.sum()

    def times(self, one, two):
        return one * two

    scaled = times

    def added(self, parts):
        return sum(sign * part for sign, part in parts)

    def sides(self, out, function, tilt):
        if self.terms % 3:
            return [(function, self.terms % 3 == 1)]
        before = np.arange(len(function)) < len(function) // 2
        return [(np.where(before, function, 0.0), True), (np.where(before, 0.0, function), False)]

    def within(self, out, function, low, high, others):
        some = self.atoms[out][function > 0]
        if not len(some):
            return others
        ahead = self.at(*low) > some[-1]
        behind = self.at(*high) < some[0]
        cut = ((low[0], ahead), (high[0], behind))
        return others | {i: np.where(beyond, 0.0, others[i]) for i, beyond in cut}

    def at(self, variable: int, given: Map) -> np.ndarray:
        if isinstance(given, Extreme):
            pick = np.maximum if given.largest else np.minimum
            return pick.reduce([self.at(variable, part) for part in given.maps])
        return np.array([self._through(x, given) for x in self.atoms[variable]])

    def _through(self, x: float, given: Map) -> float:
        for place, tie in enumerate(given):
            if place:
                upwards = tie.decision < given[place - 1].decision
                if x == (math.inf if upwards else -math.inf):
                    continue
                # what a plateau asks for is no atom: everything near it is one class
                near = min(self.corners, key=lambda corner: abs(corner - x))
                if abs(near - x) < NEAR:
                    x = near + (NEAR if upwards else -NEAR)
            levels = self.levels[tie.decision]
            x = tied(levels[tie.source], levels[tie.target], tie.source < tie.target, x)
        return x

    def beyond(self, out, function, right, line):
        variable, given = line
        x = self.atoms[out]
        if isinstance(given, Band):
            ends = zip(self.at(variable, given.low), self.at(variable, given.high), strict=True)
            return np.array([function[(x > low) & (x < high)].sum() for low, high in ends])
        side = [x > end if right else x < end for end in self.at(variable, given)]
        return np.array([function[inside].sum() for inside in side])


def random_path(chance: random.Random, arms: int, decisions: int):
    """Levels of every decision, the registers that it shows, and its winner.

    Half of the paths clip all means at the same values, and keep some registers that have won.
    """
    alike = chance.random() < 0.5
    epsilon, alpha = chance.choice([0.3, 1.0, 2.0, 5.0]), chance.choice([0.2, 0.5, 1.0, 2.0])
    pulls, shown, next_one, time = [1] * arms, list(range(arms)), arms, arms
    levels, registers, winners = [], [], []
    for _ in range(decisions):
        level = [2 * alpha * math.log(time + 1) / count for count in pulls]
        levels.append([(it, 0.25 if alike else it / epsilon) for it in level])
        won = chance.randrange(arms)
        registers.append(list(shown))
        winners.append(won)
        time += pulls[won]
        pulls[won] *= 2
        if not (alike and chance.random() < 0.4):
            shown[won], next_one = next_one, next_one + 1
    return levels, registers, winners


def every_combination(levels, registers, winners, atoms, weights):
    """The weight of every combination of atoms that takes the path, 0 of any other."""
    variables = sorted(atoms)
    grid = np.meshgrid(*(np.arange(len(atoms[v])) for v in variables), indexing="ij")
    found = np.ones(grid[0].shape)
    for axis, variable in enumerate(variables):
        found *= weights[variable][grid[axis]]
    for level, shown, won in zip(levels, registers, winners, strict=True):
        scores = []
        for (bottom, shift), variable in zip(level, shown, strict=True):
            mean = np.clip(atoms[variable] + shift, 0, 1)
            with np.errstate(divide="ignore"):
                scores.append((bottom + mean / (1 - mean))[grid[variables.index(variable)]])
        found *= np.argmax(np.stack(scores), axis=0) == won
    return found


@pytest.mark.parametrize(
    ("arms", "decisions", "seeds"), [(2, 4, 8), (3, 4, 40), (4, 2, 100), (4, 3, 12)]
)
def test_every_combination_is_counted_once(arms: int, decisions: int, seeds: int) -> None:
    for seed in range(seeds):
        chance, rng = random.Random(f"{arms} {decisions} {seed}"), np.random.default_rng(seed)
        levels, registers, winners = random_path(chance, arms, decisions)
        variables = sorted({v for shown in registers for v in shown})
        size = {3: 10, 4: 8, 5: 6, 6: 5, 7: 4}.get(len(variables), 3)
        atoms = {}
        for variable in variables:
            seen = [(n, s.index(variable)) for n, s in enumerate(registers) if variable in s]
            shifts = [levels[number][place][1] for number, place in seen]
            ends = -max(shifts) - 0.5, 1.5 - min(shifts)
            atoms[variable] = np.sort(rng.uniform(*ends, size))
            assert all(a < b for a, b in pairwise(atoms[variable]))
        weights = {v: rng.uniform(0.5, 1.5, size) for v in variables}
        truth = every_combination(levels, registers, winners, atoms, weights)
        comparisons = {}
        for number, (shown, won) in enumerate(zip(registers, winners, strict=True)):
            for lost, variable in enumerate(shown):
                if lost != won:
                    key = (shown[won], variable)
                    tie: Map = (Tie(number, lost, won),)
                    old = comparisons.get(key)
                    comparisons[key] = tie if old is None else Extreme((old, tie), largest=True)
        none = dict.fromkeys(variables, Fraction(0))
        for keep in (None, *variables):
            found = integrate(Atoms(levels, atoms), dict(weights), none, dict(comparisons), keep)
            others = tuple(axis for axis, v in enumerate(variables) if v != keep)
            np.testing.assert_allclose(found, truth.sum(axis=others), atol=1e-9)


# probabilities that were certified falsely while both, or neither, of two bounds beyond all values
# counted as the nearer one: by an engine of doubles, and by 10^6 runs of a simulation
@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "actions", "stream", "low", "high"),
    [
        ((3, 0.3, 2.0), "012102110", "011000100", 3.47978e-7, 3.47979e-7),
        ((3, 0.3, 2.0), "012122201", "011110000", 4.28992e-7, 4.28993e-7),
        ((4, 1.0, 0.5), "01230001", "11111100", 0.2435, 0.2477),
        ((4, 1.0, 0.5), "0123102", "0110000", 0.0056, 0.0064),
    ],
)
def test_bounds_beyond_all_values_at_two_decisions(given, actions, stream, low, high) -> None:
    arms, epsilon, alpha = given
    algorithm = load("adap_klucb", arms=arms, epsilon=epsilon, alpha=alpha)
    found = likelihood(algorithm, [*map(int, actions)], [*map(float, stream)])
    assert found.certified
    assert low <= found.lower and found.upper <= high
