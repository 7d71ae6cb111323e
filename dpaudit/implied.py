"""What a proved level is worth under other notions, for any mechanism that has it.

The releases themselves may be worth less: `--rho`, `--mu` and `--delta` add up their charges.
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpaudit.core import conversions
from dpaudit.core.arithmetic import exact, in_digits
from dpaudit.core.conversions import Rate, double_above, root_above
from dpaudit.core.notions import Kind, Notion
from dpaudit.verdict import Bracket

RARE = 1e-5
"""Of rho and mu, the delta for which an epsilon is also looked for, as papers state them."""
LARGEST = 10**300  # of a rho whose epsilon is looked for


def implied(proved: Notion, upper: float) -> tuple[Bracket, ...]:
    """Return what follows from a proof of a notion whose number is at most `upper`."""
    level = exact(min(upper, proved.bound))
    found: list[tuple[str, Rate]] = []
    if proved.kind in (Kind.PURE, Kind.LOCAL):
        found += [("epsilon", level)] if proved.kind is Kind.LOCAL else []
        found += [("rho", conversions.pure_to_zcdp(level))]
        squares, ends = conversions.pure_to_gdp(level), [_short(float(level / 2))]
        deltas = [conversions.pure_to_delta(level, at) for at in ends]
    elif proved.kind is Kind.ZCDP:
        squares, ends = math.inf, _ends(level)
        deltas = [conversions.zcdp_to_delta(level, at) for at in ends]
    elif proved.kind is Kind.GDP:
        found, squares, ends = [("rho", level**2 / 2)], math.inf, _ends(level**2 / 2)
        deltas = [conversions.gdp_to_delta(level**2, at) for at in ends]
    else:
        return ()
    named = {name: double_above(value) for name, value in found}
    named["mu"] = root_above(squares)
    for at, delta in zip(ends, deltas, strict=True):
        if delta < 1:
            named[f"delta at epsilon = {in_digits(double_above(at))}"] = double_above(delta)
    finite = {name: value for name, value in named.items() if value < math.inf}
    return tuple(Bracket(name, upper=value, certified=True) for name, value in finite.items())


def _ends(rho: Fraction) -> list[Fraction]:
    """Return the epsilons to state a delta at: 1, and one where it is below `RARE`."""
    if rho > LARGEST:
        return [Fraction(1)]
    rare = 1.005 * (float(rho) + 2 * math.sqrt(float(rho) * -math.log(RARE)))
    return sorted({Fraction(1), *([_short(rare)] if rare > 0 else [])})


def _short(epsilon: float) -> Fraction:
    """Return an epsilon of three digits near this one: a delta can be stated at any."""
    return exact(float(f"{epsilon:.3g}"))
