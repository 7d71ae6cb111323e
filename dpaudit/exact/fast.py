"""Two arms, compiled: log-likelihoods of one path under many vectors of episode means.

The same chain of one-dimensional integrals as `chain.py`, on adaptive panels in compiled code. What
depends on the path alone (thresholds between scores, which register is held when) is prepared once;
every vector of means then costs a fraction of a millisecond per decision, whatever the horizon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import Unsupported
from dpaudit.exact.chain import Chain
from dpaudit.exact.compiling import compiled
from dpaudit.exact.integrals import cumulate, log_total
from dpaudit.exact.messages import TAIL, absorb, carry, fresh, weigh
from dpaudit.exact.panels import empty
from dpaudit.exact.polynomials import Array
from dpaudit.exact.thresholds import Thresholds, thresholds

_HELD, _OTHER, _BEGINS, _ABSORBS, _UPPER, _TO, _BACK = range(7)


@dataclass(frozen=True)
class Plan:
    """A path, prepared for any means: a row per decision (see `plan_of`), and its thresholds."""

    moves: NDArray[np.int64]
    scales: Array
    thresholds: Thresholds
    reach: float


def plan_of(chain: Chain) -> Plan:
    """Return the plan of a chain; raise `Unsupported` where the general engine must do.

    A move: the registers held and fresh, whether a chain begins, whether the fresh one is
    integrated out, whether what is integrated lies above its threshold, the two thresholds.
    """
    moves = []
    held = -1
    for place, meeting in enumerate(chain.meetings):
        begins = held not in meeting.shown
        if begins:
            # the register that is read for longer is the one to hold
            held = max(meeting.shown, key=lambda index: chain.last_read[index])
        position = meeting.shown.index(held)
        other = meeting.shown[1 - position]
        absorbs = chain.last_read[other] <= place
        if not absorbs and chain.last_read[held] > place:
            raise Unsupported("Both registers are read again after a decision between them.")
        out = 1 - position if absorbs else position
        numbers = (2 * place + out, 2 * place + 1 - out)
        moves.append([held, other, begins, absorbs, meeting.winner == out, *numbers])
        held = held if absorbs else other
    table = np.array(moves, dtype=np.int64).reshape(-1, 7)
    these = thresholds((meeting.duel for meeting in chain.meetings), table[:, _TO].tolist())
    return Plan(table, chain.scales, these, reach_of(these, float(chain.scales.max(initial=0.0))))


def reach_of(these: Thresholds, widest: float) -> float:
    """Return how far past the outermost breakpoints a function is still followed by panels."""
    s = these.scores
    shifts = np.abs(s[:, 1] / s[:, 2] - s[:, 4] / s[:, 5])
    return TAIL * widest + 2 * float(shifts.max(initial=0.0)) + 2


def log_likelihoods(plan: Plan, means: Array) -> NDArray[np.float64]:
    """Return the log-likelihood of a path for every row of episode means."""
    rows = np.atleast_2d(np.asarray(means, dtype=float))
    found = _run(plan.moves, plan.scales, plan.thresholds, plan.reach, rows)
    if np.isnan(found).any():
        raise Unsupported("The compiled engine has no room for a function on this path.")
    return np.asarray(found)


@compiled
def _run(
    moves: NDArray[np.int64], scales: Array, these: Thresholds, reach: float, means: Array
) -> Array:
    """Return the log-likelihoods; nan where there was no room, -inf where nothing is left."""
    found = np.empty(len(means))
    now, spare = empty(), empty()
    for row in range(len(means)):
        total = 0.0
        done = True
        for place in range(len(moves)):
            held, other = moves[place, _HELD], moves[place, _OTHER]
            to, back, upper = moves[place, _TO], moves[place, _BACK], moves[place, _UPPER] == 1
            if moves[place, _BEGINS]:
                if place:
                    done = done and cumulate(now, spare)
                    total += log_total(spare)
                fresh(now, means[row, held], scales[held], reach)
            centre, scale = means[row, other], scales[other]
            if moves[place, _ABSORBS]:
                done = done and absorb(
                    now, spare, these, to, back, upper, centre, scale, scales[held]
                )
                now, spare = spare, now
            else:
                done = done and cumulate(now, spare)
                done = done and carry(spare, now, these, to, back, upper, reach, scale)
                done = done and weigh(now, spare, centre, scale, reach)
                now, spare = spare, now
        done = done and cumulate(now, spare)
        found[row] = total + log_total(spare) if done else math.nan
    return found
