"""Randomised response: a uniform draw compared with an affine function of one reward.

With u uniform on [a, b], used in this comparison alone, P(u < p(r)) is q(r) = (p(r) - a)/(b - a),
clipped to [0, 1]. Changing r within its ends changes the log-probability of either outcome by at
most max(log hi/lo, log (1 - lo)/(1 - hi)), which is infinite for lo = 0 or hi = 1 (unless q is
constant).
"""

from __future__ import annotations

import math
from typing import Any

from dpaudit.symbolic.run import Coin, Run


def log_above(ratio: Any) -> float:
    """Return a double that is at least the logarithm: it is computed to within one step."""
    above = math.nextafter(float(ratio), math.inf)
    return math.nextafter(math.log(above), math.inf)


def coin_of(run: Run, difference: Any) -> Coin | None:
    """Return what a comparison charges that is a coin of one row; None if it is none."""
    if len(difference.draws) != 1 or len(difference.rows) != 1 or difference.publics:
        return None
    [(draw, weight)], [(row, slope)] = difference.draws.items(), difference.rows.items()
    law, column = run.laws[draw], run.columns[row]
    if law.kind != "uniform" or column.owner != row or not column.single or column.ends is None:
        return None
    if draw <= run.first or draw in run.replaced:  # an earlier branch or noise may have used it
        return None
    if any(coin.draw == draw for coin in run.coins) or any(draw in f.draws for f in run.forms):
        return None
    ends = [-(difference.rest + slope * reward) / weight for reward in column.ends]
    lo, hi = (min(max(end, 0), 1) for end in (min(ends), max(ends)))
    charge = 0.0
    if lo < hi:
        charge = math.inf
        if lo > 0 and hi < 1:
            charge = max(log_above(hi / lo), log_above((1 - lo) / (1 - hi)))
    return Coin(row, draw, charge, run.place())


def fair_draw(run: Run, difference: Any) -> int | None:
    """Return the draw of a comparison that is a fair coin: a new uniform draw against 1/2."""
    if len(difference.draws) != 1 or difference.rows or difference.publics:
        return None
    [(draw, weight)] = difference.draws.items()
    if run.laws[draw].kind != "uniform" or 2 * difference.rest != -weight:
        return None
    if draw <= run.first or draw in run.replaced or any(draw in f.draws for f in run.forms[:-1]):
        return None
    if any(coin.draw == draw for coin in run.coins):
        return None  # it says something of a reward already
    return int(draw)
