"""Charges arm by arm, for declarations in the frame of `Episodes`.

The frame releases with `release(rows)` and plays with `episode_length(pulls of the arm)`, and
passes them nothing else. So what an arm releases depends on its own pull count alone: along every
path the arm's counts are 0, 1, 1 + length(1), ... and its releases are a prefix of one chain. If
every release reads rows of its own arm, the charges of an arm's rows are those of the longest
prefix that fits in the horizon, whatever the other arms do. One chain per arm replaces the product
of all arms' states; every release of the chain is asked for and charged.

The frame is recognised by the identity of its functions, never by a declaration's own word.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from fractions import Fraction

from dpaudit.core.algorithm import Algorithm, Rows
from dpaudit.core.episodes import Episodes
from dpaudit.structure.canonical import Distrust, parameters
from dpaudit.structure.ledger import Charge, Row, charge_of, total
from dpaudit.structure.walk import OutOfBudget

FRAME = ("start", "step", "choice")


class Entangled(Exception):
    """An episode of one arm releases rows of another: charges do not split by arm."""


def framed(algorithm: Algorithm) -> bool:
    """Tell whether an algorithm runs in the frame of `Episodes`, unchanged."""
    return isinstance(algorithm, Episodes) and all(
        getattr(type(algorithm), name) is getattr(Episodes, name) for name in FRAME
    )


def last_count(arms: int, arm: int, horizon: int) -> int:
    """Return the largest pull count at which an arm may still release (0 if none).

    A release happens only before the last round. The first pulls go in order, so arm `a` has its
    first reward after a + 1 rounds; a second one comes after every arm has been pulled.
    """
    return max(horizon - arms, 1 if arm + 1 < horizon else 0)


def chain_of(algorithm: Episodes, arm: int, horizon: int) -> Iterator[Rows]:
    """Yield the rows of every episode of an arm that can end before the horizon."""
    limit = last_count(algorithm.arms, arm, horizon)
    count, rounds = 0, 1
    while count + rounds <= limit:
        yield Rows(arm, count, count + rounds)
        count += rounds
        rounds = algorithm.episode_length(count)
        if type(rounds) is not int or rounds < 1:
            raise Distrust(f"an episode after {count} pulls has {rounds!r} rounds")


def released(algorithm: Episodes, episode: Rows) -> tuple[int, int, Charge]:
    """Return (first, stop, charge) of what is released when an episode ends."""
    try:
        request = algorithm.release(episode)
    except Exception as error:
        said = f"release raised {type(error).__name__} ({error}) at {episode!r}"
        raise Distrust(said) from error
    if getattr(getattr(request, "rows", None), "arm", episode.arm) != episode.arm:
        raise Entangled
    pulls = [0] * algorithm.arms
    pulls[episode.arm] = episode.stop
    rows, charge = charge_of(request, pulls)
    return rows.first, rows.stop, charge


def longest_chains(algorithm: Episodes, horizon: int, deadline: float) -> Row:
    """Return the row that is charged most over the chains of all arms, each step asked twice."""
    before, worst = parameters(algorithm), Row(Fraction(0), 0, 0)
    for arm in range(algorithm.arms):
        releases = []
        for number, episode in enumerate(chain_of(algorithm, arm, horizon)):
            if number % 64 == 0 and time.monotonic() > deadline:
                raise OutOfBudget
            releases.append((episode, released(algorithm, episode)))
        for number, (episode, first_answer) in enumerate(reversed(releases)):
            if number % 64 == 0 and time.monotonic() > deadline:
                raise OutOfBudget
            if released(algorithm, episode) != first_answer:
                raise Distrust(f"release answered differently when called again at {episode!r}")
        charge, row = total([release for _, release in releases])
        worst = max(worst, Row(charge, arm, row), key=lambda each: each.charge)
    if parameters(algorithm) != before:
        raise Distrust("the algorithm's parameters changed while it was walked")
    return worst
