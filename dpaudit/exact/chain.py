"""Two arms: the likelihood of a path as a chain of one-dimensional integrals, in logarithms.

Hold one arm's register x with weight g(x) while the other arm's register y is fresh. A decision
compares them. Whichever register no later decision reads is integrated out at once:
y gives g(x) <- g(x) P(y on its side of theta(x)); x gives g'(y) = f(y) times the integral of g over
the x on its side of theta(y). The points where g is not smooth are known: the centres of the
releases, the kinks of the scores, and their images under the thresholds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit.errors import Unsupported
from dpaudit.exact.clock import ENDLESS, Clock
from dpaudit.exact.pairwise import Duel, duel
from dpaudit.exact.piecewise import Array, LogFunction, build
from dpaudit.exact.region import Region, require_laplace, require_read_once

_WIDEST = 8.0
_TAIL = 45.0  # e^-45 of what remains beyond the last kink is below a double's resolution


def log_survival(x: Array, centre: float, scale: float) -> Array:
    """Return log P(X > x) for a Laplace variable."""
    z = (x - centre) / scale
    return np.where(z > 0, -z - np.log(2), np.log1p(-0.5 * np.exp(np.minimum(z, 0.0))))


def log_cumulative(x: Array, centre: float, scale: float) -> Array:
    """Return log P(X < x) for a Laplace variable."""
    return log_survival(-x, -centre, scale)


@dataclass(frozen=True)
class Meeting:
    """A two-arm decision: the episodes shown, the scores, the position that won."""

    shown: tuple[int, int]
    duel: Duel
    winner: int


@dataclass(frozen=True)
class Chain:
    """A region whose decisions can be integrated one register at a time."""

    scales: Array
    meetings: tuple[Meeting, ...]
    last_read: tuple[int, ...]


def chain_of(region: Region) -> Chain:
    """Return the chain of a two-arm region; raise `Unsupported` where it is not a chain."""
    scales = require_laplace(region, "chain")
    require_read_once(region)
    meetings = []
    last_read = [-1] * len(region.episodes)
    for place, decision in enumerate(region.decisions):
        if len(decision.shown) != 2 or not hasattr(decision.request, "rule"):
            raise Unsupported("The chain engine needs choices between two arms.")
        if any(len(group) != 1 for group in decision.shown):
            raise Unsupported("The chain engine needs registers that hold a single release.")
        shown = (decision.shown[0][0], decision.shown[1][0])
        for index in shown:
            last_read[index] = place
        winner = decision.request.arms.index(decision.outcome)
        meetings.append(Meeting(shown, duel(decision), winner))
    return Chain(scales, tuple(meetings), tuple(last_read))


def log_likelihood(chain: Chain, means: Array, clock: Clock = ENDLESS) -> float:
    """Return the log-likelihood of a chain with given centres of its releases."""
    held: int | None = None
    message: LogFunction | None = None
    log_weight = 0.0
    for place, meeting in enumerate(chain.meetings):
        clock()
        if held not in meeting.shown:
            if message is not None:
                log_weight += message.log_total
            # the register that is read for longer is the one to hold
            held = max(meeting.shown, key=lambda index: chain.last_read[index])
            message = _fresh(chain, means, held, place)
        position = meeting.shown.index(held)
        other = meeting.shown[1 - position]
        if chain.last_read[other] <= place:
            message = _absorb(chain, means, message, held, place)
        elif chain.last_read[held] <= place:
            message = _hand_over(chain, means, message, held, place)
            held = other
        else:
            raise Unsupported("Both registers are read again after a decision between them.")
        if message is None:
            return -np.inf
    return log_weight + (message.log_total if message is not None else 0.0)


def _log_density(chain: Chain, means: Array, index: int, x: Array) -> Array:
    scale = chain.scales[index]
    return np.asarray(-np.abs(x - means[index]) / scale - np.log(2 * scale))


def _breakpoints(chain: Chain, means: Array, index: int, place: int, images: Array) -> Array:
    """Return where the message on a register may not be smooth, from a decision on, with tails."""
    points = [float(means[index]), *images]
    for meeting in chain.meetings[place : chain.last_read[index] + 1]:
        if index not in meeting.shown:
            continue
        position = meeting.shown.index(index)
        other = meeting.shown[1 - position]
        theirs = [float(means[other]), *meeting.duel.kinks(1 - position)]
        points += meeting.duel.kinks(position)
        points += meeting.duel.image(1 - position, theirs)
    reach = _TAIL * chain.scales[index]
    return np.array([*points, min(points) - reach, max(points) + reach])


def _fresh(chain: Chain, means: Array, index: int, place: int) -> LogFunction | None:
    points = _breakpoints(chain, means, index, place, np.array([]))
    return build(
        lambda x: _log_density(chain, means, index, x), points, _WIDEST * chain.scales[index]
    )


def _absorb(
    chain: Chain, means: Array, message: LogFunction | None, held: int, place: int
) -> LogFunction | None:
    """Integrate out the other register, which no later decision reads."""
    assert message is not None
    meeting = chain.meetings[place]
    position = meeting.shown.index(held)
    other = meeting.shown[1 - position]
    side = log_survival if meeting.winner == 1 - position else log_cumulative

    def factor(x: Array) -> Array:
        threshold = meeting.duel.least_to_win(1 - position, x)
        with np.errstate(over="ignore", divide="ignore"):
            return side(threshold, means[other], chain.scales[other])

    return message.times(factor, _WIDEST * chain.scales[held])


def _hand_over(
    chain: Chain, means: Array, message: LogFunction | None, held: int, place: int
) -> LogFunction | None:
    """Integrate out the held register, which no later decision reads; hold the other one."""
    assert message is not None
    meeting = chain.meetings[place]
    position = meeting.shown.index(held)
    other = meeting.shown[1 - position]
    wins = meeting.winner == position
    images = meeting.duel.image(position, message.breakpoints[1:-1])

    def function(y: Array) -> Array:
        threshold = meeting.duel.least_to_win(position, y)
        mass = message.log_tail(threshold) if wins else message.log_head(threshold)
        return mass + _log_density(chain, means, other, y)

    points = _breakpoints(chain, means, other, place, np.array(images))
    return build(function, points, _WIDEST * chain.scales[other])
