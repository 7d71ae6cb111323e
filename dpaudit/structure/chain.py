"""Charges arm by arm, for declarations in the frame of `Episodes`.

The frame releases with `release(rows)` and plays with `episode_length(pulls of the arm)`, and
passes them nothing else. So what an arm releases depends on its own pull count alone: along every
path the arm's counts are 0, 1, 1 + length(1), ... and its releases are a prefix of one chain. If
every release reads rows of its own arm, the charges of an arm's rows are those of the longest
prefix that fits in the horizon, whatever the other arms do. One chain per arm replaces the product
of all arms' states; every release of the chain is asked for and charged.

Rules are not part of a charge: whatever they do with the registers is post-processing, and a rule
of one's own never holds the generator of the noise (`dpaudit.core.stream.decide`). They are looked
at all the same, at `PROBES` counts of every arm, so that one that breaks its contract late is
found; what lies between is not looked at.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice

from dpaudit.core.algorithm import (
    Accumulate,
    Choose,
    Disclosure,
    Register,
    Release,
    Respond,
    Rows,
    Toss,
)
from dpaudit.core.canonical import Distrust, parameters
from dpaudit.core.episodes import Deciding, Episodes, Releasing
from dpaudit.core.notions import PURE, Tariff
from dpaudit.core.perstep import PerStep
from dpaudit.core.unchanged import unchanged
from dpaudit.core.walk import FOREIGN, Place, said
from dpaudit.structure.ledger import Charge, Row, charge_of, total
from dpaudit.structure.walk import OutOfBudget, require_trusted

PROBES = 64
LONG = 10_000  # links of a chain


class Entangled(Exception):
    """An episode of one arm releases rows of another: charges do not split by arm."""


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
        place = _alone(algorithm, Rows(arm, 0, count))
        try:
            rounds = algorithm.episode_length(count)
        except FOREIGN as error:
            place.breach("episode_length", f"raised {said(error)}")
        if type(rounds) is not int or rounds < 1:
            place.breach("episode_length", f"is {rounds!r}; a whole number of at least 1 is due")


def _alone(algorithm: Episodes, episode: Rows) -> Place:
    """Return the place after an episode of one arm, with all others as they began."""
    pulls = tuple(episode.stop if arm == episode.arm else 0 for arm in range(algorithm.arms))
    return Place(algorithm, Releasing(pulls, episode), pulls, episode.stop)


def requested(algorithm: Episodes, episode: Rows) -> Disclosure:
    """Return what is released when an episode ends, once it keeps the contract."""
    place = _alone(algorithm, episode)
    try:
        request = algorithm.release(episode)
    except FOREIGN as error:
        place.breach("release", f"raised {said(error)}")
    if type(request) not in (Release, Accumulate, Respond):
        place.breach("release", f"returned a {type(request).__name__}, which is no release")
    if getattr(request.rows, "arm", episode.arm) != episode.arm:
        raise Entangled
    place.require(request)
    return place.drawn_on_grid(request)  # type: ignore[return-value]


def released(algorithm: Episodes, episode: Rows, tariff: Tariff = PURE) -> tuple[int, int, Charge]:
    """Return (first, stop, charge) of what is released when an episode ends."""
    request = requested(algorithm, episode)
    return request.rows.first, request.rows.stop, charge_of(request, tariff)


def longest_chains(
    algorithm: Episodes, horizon: int, deadline: float, tariff: Tariff = PURE
) -> Row:
    """Return the row that is charged most over the chains of all arms, each step asked twice."""
    before, worst = parameters(algorithm), Row(Fraction(0), 0, 0)
    counts = []
    for arm in range(algorithm.arms):
        releases = []
        for number, episode in enumerate(chain_of(algorithm, arm, horizon)):
            if number % 64 == 0 and time.monotonic() > deadline:
                raise OutOfBudget
            releases.append((episode, released(algorithm, episode, tariff)))
        for number, (episode, first_answer) in enumerate(reversed(releases)):
            if number % 64 == 0 and time.monotonic() > deadline:
                raise OutOfBudget
            if released(algorithm, episode, tariff) != first_answer:
                raise Distrust(f"release answered differently when called again at {episode!r}")
        charge, row = total([release for _, release in releases])
        worst = max(worst, Row(charge, arm, row), key=lambda each: each.charge)
        counts.append([episode.stop for episode, _ in releases])
    probe_rules(algorithm, counts, horizon)
    if parameters(algorithm) != before:
        raise Distrust("the algorithm's parameters changed while it was walked")
    return worst


def is_long(algorithm: Episodes, horizon: int) -> bool:
    """Tell whether an arm's chain has more links than are asked for one by one."""
    return any(True for _ in islice(chain_of(algorithm, 0, horizon), LONG, None))


def probe_longest(algorithm: Episodes, horizon: int) -> None:
    """Ask for the rules at some counts of the first links of every arm's chain, and of its last.

    The links in between are too many; where every episode is one pull, they are known all the same.
    """
    limit = last_count(algorithm.arms, 0, horizon)
    if unchanged(algorithm, PerStep, ("episode_length",)):
        counts: Sequence[int] = range(1, limit + 1)
    else:
        counts = [episode.stop for episode in islice(chain_of(algorithm, 0, horizon), LONG)]
    probe_rules(algorithm, [counts] * algorithm.arms, horizon)


def probe_rules(algorithm: Episodes, counts: Sequence[Sequence[int]], horizon: int) -> None:
    """Ask for the rules at some counts of every arm, the others at their first or as far along."""
    if not all(counts):
        return
    for arm, own in enumerate(counts):
        for place in spread_out(_size(own)):
            others = [min(place, _size(theirs) - 1) for theirs in counts]
            for along in ([0] * len(counts), others):
                along[arm] = place
                pulls = tuple(theirs[at] for theirs, at in zip(counts, along, strict=True))
                if sum(pulls) < horizon:
                    written = _written(algorithm, pulls)
                    here = Place(algorithm, Deciding(pulls), pulls, sum(pulls), written)
                    if isinstance(here.request, Toss):
                        here = here.after(len(here.request.chances) - 1)
                    if isinstance(here.request, Choose):  # and no play of an arm that is due
                        require_trusted(here)


def spread_out(size: int) -> list[int]:
    """Return up to `PROBES` places below `size`, the first and the last among them, by ratio."""
    if size <= PROBES:
        return list(range(size))
    inner = (round((size - 1) ** (i / (PROBES - 1))) for i in range(1, PROBES - 1))
    return sorted({0, *(min(place, size - 1) for place in inner), size - 1})


def _size(counts: Sequence[int]) -> int:
    """Return how many counts there are, where `len` counts up to 2^63 only."""
    return counts[-1] - counts[0] + 1 if isinstance(counts, range) else len(counts)


def _written(algorithm: Episodes, pulls: tuple[int, ...]) -> frozenset[Register]:
    """Return the registers that a decision reads: the probes do not follow who wrote them."""
    try:
        groups = [algorithm.registers(arm, count) for arm, count in enumerate(pulls)]
        return frozenset(name for group in groups for name in group)
    except FOREIGN:
        return frozenset()  # the decision itself names the breach
