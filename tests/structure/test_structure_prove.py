"""What the structure check proves: every private algorithm at its epsilon, and nothing below it."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.core.algorithm import Release
from dpaudit.core.algorithms import find, load, names, parameters
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.arithmetic import exact
from dpaudit.core.conversions import double_above
from dpaudit.core.noise import Laplace
from dpaudit.core.notions import Kind
from dpaudit.errors import InvalidArgument
from dpaudit.structure import prove
from dpaudit.structure.certificate import of_walk
from dpaudit.structure.chain import Entangled, longest_chains, spread_out
from dpaudit.structure.ledger import Rows, add, total
from dpaudit.structure.walk import Walk
from dpaudit.verdict import Status

PRIVATE = [n for n in names() if find(n).private and find(n).notion is Kind.PURE]
SIZE = 10**7


def build(name: str, size: int, **values: Any) -> Any:
    if "horizon" in parameters(find(name)):
        values["horizon"] = size
    return load(name, **values)


@pytest.mark.parametrize("name", PRIVATE)
def test_private_algorithms_are_proved_at_their_epsilon_and_not_below(name):
    """Epsilon = 1 at full size: audits/test_declared_algorithms.py, and five arms below."""
    epsilon = 0.3
    size = {"dp_se": 3000, "dp_ucb": 120}.get(name, 300)
    algorithm = build(name, size, arms=2, epsilon=epsilon)
    finding = prove(algorithm, size)
    assert finding.status is Status.PROVED
    assert finding.epsilon_upper == epsilon
    assert finding.certified
    assert finding.horizon == size
    below = prove(algorithm, size, epsilon * (1 - 1e-9))
    assert below.status is Status.SILENT
    assert below.epsilon_upper == epsilon
    assert "is charged" in below.reason


@pytest.mark.parametrize("name", PRIVATE)
def test_five_arms_at_full_size(name):
    assert prove(build(name, SIZE, arms=5), SIZE).epsilon_upper == 1.0


@pytest.mark.parametrize("name", ["ucb", "kl_ucb"])
def test_no_noise_is_silent(name):
    finding = prove(load(name, arms=2), SIZE, 1.0)
    assert finding.status is Status.SILENT
    assert finding.epsilon_upper == math.inf
    assert "infinity" in finding.reason
    with pytest.raises(InvalidArgument, match="claims nothing"):
        prove(load(name, arms=2), SIZE)


def test_a_budget_that_ends_is_silence_with_the_distance_covered():
    finding = prove(build("dp_se", SIZE, arms=5), SIZE, budget=1e-9)
    assert finding.status is Status.SILENT
    assert finding.epsilon_upper == math.inf
    assert "rounds" in finding.reason


def test_short_horizons_release_less():
    algorithm = AdapUCB(arms=2)
    assert prove(algorithm, 1).epsilon_upper == 0
    assert prove(algorithm, 2).epsilon_upper == 0.5
    assert prove(algorithm, 4).epsilon_upper == 1.0


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=10**6))
def test_rounded_up_is_the_next_decimal(charge):
    up = double_above(charge)
    assert exact(up) >= charge
    assert exact(math.nextafter(math.nextafter(up, 0.0), 0.0)) < charge


intervals = st.lists(
    st.tuples(
        st.integers(0, 12),
        st.integers(0, 12),
        st.fractions(min_value=0, max_value=3, max_denominator=9),
    ).map(lambda it: (min(it[:2]), max(it[:2]), it[2])),
    max_size=8,
)


@given(intervals)
def test_runs_and_sweep_equal_row_by_row_sums(releases):
    paid = [Fraction(0)] * 12
    runs, largest = (), Fraction(0)
    for first, stop, charge in releases:
        for row in range(first, stop):
            paid[row] += charge
        if first < stop:
            runs, worst, at = add(runs, Rows(0, first, stop), charge)
            assert worst == max(paid[first:stop])
            assert paid[at] == worst
            largest = max(largest, worst)
    spread = [charge for (start, (stop, charge)) in _spread(runs) for _ in range(start, stop)]
    assert spread + [0] * (12 - len(spread)) == paid
    assert all(a[1] != b[1] for a, b in zip(runs, runs[1:], strict=False))
    swept, row = total(releases)
    assert swept == max(paid)
    assert paid[row] == swept


def _spread(runs: Any) -> list[Any]:
    starts = [0, *(stop for stop, _ in runs)]
    return list(zip(starts, runs, strict=False))


def test_an_episode_that_releases_another_arm_is_walked_not_split_by_arm():
    class Entangling(AdapUCB):
        def release(self, rows: Rows) -> Release:
            return Release(rows.arm, Rows(0, 0, 1), Laplace(20), 1)

    with pytest.raises(Entangled):
        longest_chains(Entangling(arms=2), 10**6, math.inf)
    finding = prove(Entangling(arms=2), 10**6, 2.0)
    assert finding.status is Status.PROVED and finding.epsilon_upper == 1.95  # 39 releases of a row
    assert "walked" in finding.reason


def test_fractions_stand_for_themselves():
    assert exact(Fraction(3, 2)) == Fraction(3, 2)
    with pytest.raises(InvalidArgument):
        exact(Decimal("1.5"))


def test_a_walk_that_covers_less_has_a_certificate_of_what_it_covers():
    walk = Walk(load("adap_ucb", arms=2), 60)
    walk.run(10**6, math.inf)
    whole, part = of_walk(walk, 60), of_walk(walk, 20)
    assert {state[1] for state in part["states"]} <= set(range(20))
    assert len(part["states"]) < len(whole["states"])


def test_a_walk_that_was_not_confirmed_states_no_charge():
    found = prove(load("dp_ucb", arms=2, epsilon=1.0, horizon=10**13), 10**13, budget=0.3)
    assert (found.status, found.epsilon_upper) == (Status.SILENT, math.inf)
    assert found.reason.startswith("No bound was reached: the budget ended before ")


@pytest.mark.parametrize("horizon", [10**16, 10**18, 2**63, 10**19])
def test_horizons_beyond_machine_integers_are_proved(horizon):
    """Local algorithms decide in every round: the counts of an arm are a range that long."""
    found = prove(load("ldp_ucb_b", arms=2), horizon, 1.0)
    assert (found.status, found.horizon) == (Status.PROVED, horizon)
    places = spread_out(horizon - 2)
    assert (places[0], places[-1]) == (0, horizon - 3) and len(places) <= 64
