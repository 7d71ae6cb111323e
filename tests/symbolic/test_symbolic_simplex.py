"""The linear programme behind a charge, against scipy's."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from dpaudit.symbolic.simplex import minimise

NUMBERS = st.integers(-3, 3)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_the_cheapest_shift_is_found_and_solves_its_constraints(data):
    rows, free = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    system = {
        pivot: (
            {pivot: 1} | {rows + k: data.draw(NUMBERS) for k in range(free)},
            data.draw(NUMBERS),
        )
        for pivot in range(rows)
    }
    prices = {name: Fraction(data.draw(st.integers(1, 5)), 2) for name in range(rows + free)}
    found = minimise(system, prices)
    for draws, right in system.values():
        assert sum(weight * found.get(name, 0) for name, weight in draws.items()) == right
    matrix = np.array(
        [[draws.get(k, 0) for k in range(rows + free)] for draws, _ in system.values()]
    )
    best = linprog(
        [float(prices[k]) for k in range(rows + free)] * 2,
        A_eq=np.hstack([matrix, -matrix]),
        b_eq=[right for _, right in system.values()],
    )
    cost = sum(prices[name] * abs(value) for name, value in found.items())
    assert abs(float(cost) - best.fun) < 1e-7
