"""Eliminations are charged phase by phase: the same as on every history, and for many arms."""

from dataclasses import dataclass
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.core.algorithm import Release, Rows, Step
from dpaudit.core.algorithms import load
from dpaudit.core.noise import Laplace, NoNoise
from dpaudit.core.phases import Phases, in_phases
from dpaudit.errors import BadDeclaration
from dpaudit.structure import prove
from dpaudit.structure.phases import largest_charge
from dpaudit.structure.walk import Walk
from dpaudit.verdict import Status


@dataclass(frozen=True, kw_only=True)
class Table(Phases):
    """Lengths and scales by number and survivors, from a table that repeats."""

    lengths: tuple[int, ...]
    scales: tuple[int, ...]

    def phase_length(self, number: int, survivors: int) -> int:
        return self.lengths[(3 * number + survivors) % len(self.lengths)]

    def noise(self, number: int, survivors: int) -> Laplace:
        return Laplace(Fraction(self.scales[(number + 2 * survivors) % len(self.scales)], 7))

    def width(self, number, survivors, m):
        return 1.0 / number


@settings(max_examples=25, deadline=None)
@given(
    st.integers(2, 4),
    st.lists(st.integers(1, 5), min_size=1, max_size=7),
    st.lists(st.integers(1, 30), min_size=1, max_size=5),
    st.integers(1, 40),
)
def test_phase_by_phase_is_the_walk_over_all_histories(arms, lengths, scales, horizon):
    algorithm = Table(arms=arms, lengths=tuple(lengths), scales=tuple(scales))
    walk = Walk(algorithm, horizon)
    walk.run(10**6, float("inf"))
    row, covered = largest_charge(algorithm, horizon, float("inf"))
    assert covered == horizon
    assert row.charge == walk.worst.charge


@pytest.mark.parametrize("arms", [10, 50])
def test_many_arms_and_rounds_are_proved(arms):
    found = prove(load("dp_se", arms=arms, horizon=10**7), 10**7)
    assert (found.status, found.epsilon_upper, found.horizon) == (Status.PROVED, 1.0, 10**7)


def test_a_budget_that_ends_covers_the_rounds_before():
    algorithm = Table(arms=12, lengths=(1,), scales=(7,))
    row, covered = largest_charge(algorithm, 10**9, float("-inf"))
    assert covered == 0
    row, covered = largest_charge(algorithm, 10**3, float("inf"))
    assert (row.charge, covered) == (1, 10**3)


def test_the_row_that_pays_most_is_named():
    @dataclass(frozen=True, kw_only=True)
    class Late(Table):
        def noise(self, number: int, survivors: int) -> Laplace:
            return Laplace(Fraction(1, 6) if number == 3 else Fraction(1, 3))

    found = prove(Late(arms=10, lengths=(3,), scales=(7,)), 1000, epsilon=1.0)
    assert "Reward 7 of arm 0 is charged 2, more than 1" in found.reason


def test_no_noise_is_charged_without_end():
    class Bare(Table):
        def noise(self, number, survivors):
            return NoNoise() if (number, survivors) == (2, 9) else super().noise(number, survivors)

    found = prove(Bare(arms=10, lengths=(3,), scales=(7,)), 1000, epsilon=1.0)
    assert found.status is Status.SILENT


def test_what_answers_in_two_ways_or_breaks_the_contract_is_not_proved():
    calls = []

    class Drifting(Table):
        def noise(self, number, survivors):
            calls.append(1)
            return Laplace(len(calls))

    class Endless(Table):
        def phase_length(self, number, survivors):
            return 0 if (number, survivors) == (2, 3) else 2

    class Negative(Table):
        def width(self, number, survivors, m):
            return -1.0 if survivors == 5 else 1.0

    values = {"arms": 10, "lengths": (3,), "scales": (70,)}
    found = prove(Drifting(**values), 1000, epsilon=1.0)
    assert found.status is Status.SILENT and "differently" in found.reason
    for kind in (Endless, Negative):
        with pytest.raises(BadDeclaration):
            prove(kind(**values), 1000, epsilon=1.0)


def test_a_step_of_ones_own_is_not_in_the_frame():
    class Again(Table):
        def step(self, state):
            right = super().step(state)
            if not isinstance(right.request, Release):
                return right
            rows = right.request.rows
            whole = Release(rows.arm, Rows(rows.arm, 0, rows.stop), Laplace(1), 1)
            return Step(whole, right.then)

    assert in_phases(Table(arms=3, lengths=(2,), scales=(7,)))
    again = Again(arms=3, lengths=(2,), scales=(7,))
    assert not in_phases(again)
    assert prove(again, 60, epsilon=1.0).status is Status.SILENT
