"""Every horizon at once: each reward enters one release, whose charge does not depend on its size.

**Theorem.** Let a declaration satisfy, each condition checked by machine on the instance:

1. it runs in the frame of `Episodes`: `start`, `step` and `choice` are that class's very functions;
2. its `release` is one of the functions of `SIZELESS`, and so is every function that it calls; the
   parameters that it reads are plain fields of the instance;
3. there is no grid, so that what `release` returns is what is drawn;
4. it is not built for a horizon.

Then for every horizon and every transcript no reward is charged more than the larger of two
numbers: what the release of an arm's first reward charges, and what that of its second episode
does.

*Proof.* By Lemma 1 of proofs/structure.md (an induction over the steps of the frame) the releases
of arm a are, along every path of any length, a prefix of release(Rows(a, n_i, n_{i+1})) with
n_0 = 0, n_1 = 1, n_{i+1} = n_i + episode_length(n_i). Each function of `SIZELESS` returns a release
of exactly the rows that it is given. The episodes are disjoint, so a reward is charged once. It is
charged, by the function:

- `Local.release`: what `law()` charges, which is not told the rows; divisor 1.
- `CumulativeBatches.release`: 1 / (1 (1 / epsilon)) = epsilon; divisor 1.
- `DoublingEpisodes.release`: 1 / (L (1 / (epsilon n))) = epsilon n / L for L rows up to count N.
  With `Doubling`'s lengths N = 2^i and n = N / 2: L = N / 2 and n / L = 1, but at the first reward,
  where L = 1 and n / L = 1/2. With `LazyDPUCB`'s lengths N = 2^i - 1, n = (N + 1) / 2 and
  L = N - (N - 1) / 2 = n: the ratio is 1, also at the first reward (n = L = 1).
- `AdacUCB.release`, under zCDP: 1 / (2 L^2 / (2 rho n^2)) = rho (n / L)^2, with `Doubling`'s n / L.

So much is charged under pure epsilon, by which also the rho, mu^2 and delta of a Laplace draw and
of a response are known (`conversions`), and under zCDP for `AdacUCB`, whose mu^2 is 2 rho and whose
delta is known by mu. None of them depends on i for i >= 1. QED. What the functions compute is also
asked at `PROBES` episodes of every arm, far beyond any horizon that a run could have, and must
agree with this.

A rule, a coin or an arm that is due enters no charge; at horizons beyond the one that is walked
they are not looked at. A run in which one of them breaks the contract ends there, by the public
state alone. Purity is a hypothesis, as in the rest of the structure check.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpaudit.core.algorithm import Algorithm, Rows
from dpaudit.core.algorithms.adac_ucb import AdacUCB
from dpaudit.core.algorithms.lazy_dp_ucb import LazyDPUCB
from dpaudit.core.canonical import Distrust, parameters
from dpaudit.core.episodes import (
    CumulativeBatches,
    Doubling,
    DoublingEpisodes,
    Episodes,
    framed,
)
from dpaudit.core.local import Local
from dpaudit.core.notions import PURE, Kind, Tariff
from dpaudit.core.perstep import PerStep
from dpaudit.core.unchanged import stored, unchanged
from dpaudit.core.walk import FOREIGN
from dpaudit.errors import BadDeclaration
from dpaudit.structure.chain import Entangled, released
from dpaudit.structure.ledger import Charge

PROBES = 61  # episodes of every arm: of doubling ones, up to 2^60 pulls


@dataclass(frozen=True)
class Sizeless:
    """A `release` of the theorem: its class, who must own what it calls, what it reads, for whom.

    `calls` are alternatives; each names owners of functions.
    """

    owner: type
    calls: tuple[tuple[tuple[type, tuple[str, ...]], ...], ...]
    reads: tuple[str, ...]
    kinds: tuple[Kind, ...]


_LENGTHS = ("episode_length", "released_length")
_SUMMED = (Kind.ZCDP, Kind.GDP, Kind.APPROXIMATE)
SIZELESS = (
    Sizeless(Local, ((),), (), (Kind.PURE, *_SUMMED)),
    Sizeless(Local, (((PerStep, ("episode_length",)),),), (), (Kind.LOCAL,)),
    Sizeless(CumulativeBatches, ((),), ("epsilon",), (Kind.PURE, *_SUMMED)),
    Sizeless(
        DoublingEpisodes,
        (((Doubling, _LENGTHS),), ((LazyDPUCB, _LENGTHS),)),
        ("epsilon",),
        (Kind.PURE, *_SUMMED),
    ),
    Sizeless(AdacUCB, (((Doubling, _LENGTHS),),), ("rho",), _SUMMED),
)


def at_every_horizon(algorithm: Algorithm, tariff: Tariff = PURE) -> Charge | None:
    """Return what no reward is charged more than, at any horizon; None where no theorem says.

    Raise `Distrust` where the functions do not compute what the theorem says that they do.
    """
    if not framed(algorithm) or algorithm.grid is not None or algorithm.told():
        return None
    if tariff.unit != 1:
        return None
    if not any(_applies(algorithm, each, tariff.kind) for each in SIZELESS):
        return None
    before = parameters(algorithm)
    try:
        charges = [_charges(algorithm, arm, tariff) for arm in range(algorithm.arms)]
    except (Distrust, KeyboardInterrupt):
        raise
    except (Entangled, *FOREIGN):
        return None  # what breaks the contract late is no proof for all time
    if parameters(algorithm) != before:
        raise Distrust("the algorithm's parameters changed while it was asked for its releases")
    return max(max(pair) for pair in charges)


def _applies(algorithm: Episodes, each: Sizeless, kind: Kind) -> bool:
    """Tell whether conditions 1 and 2 hold for one function, under one notion."""
    return (
        kind in each.kinds
        and unchanged(algorithm, each.owner, ("release",))
        and any(
            all(unchanged(algorithm, owner, names) for owner, names in owners)
            for owners in each.calls
        )
        and all(_plain(algorithm, name) for name in each.reads)
    )


def _plain(algorithm: Algorithm, name: str) -> bool:
    """Tell whether a parameter is a number that the instance holds, and nothing computes it."""
    return type(stored(algorithm, name)) in (int, float)


def _charges(algorithm: Episodes, arm: int, tariff: Tariff) -> tuple[Charge, Charge]:
    """Return what an arm's first and second episode charge; every other must do as the second."""
    count, rounds, found = 0, 1, list[Charge]()
    for _ in range(PROBES):
        episode = Rows(arm, count, count + rounds)
        first, stop, charge = released(algorithm, episode, tariff)
        if (first, stop) != (episode.first, episode.stop):
            raise Distrust(f"a release of {episode} reads the rows {first} to {stop}")
        found.append(charge)
        if len(found) > 2 and charge != found[1]:
            raise Distrust(f"a release of {episode} is charged {charge}, not {found[1]}")
        count = episode.stop
        rounds = algorithm.episode_length(count)
        if type(rounds) is not int or rounds < 1:
            raise BadDeclaration(f"episode_length at {count} is {rounds!r}.")
    if unchanged(algorithm, Local, ("release",)):
        if not unchanged(algorithm, PerStep, ("episode_length",)):
            released(algorithm, Rows(arm, 0, 2), tariff)  # one that has several rows some day
        for far in (Rows(arm, 2**k, 2**k + 1) for k in range(PROBES)):
            if released(algorithm, far, tariff)[2] != found[1]:
                raise Distrust(f"a release of {far} is not charged {found[1]}")
    if any(released(algorithm, Rows(arm, 0, 1), tariff)[2] != found[0] for _ in range(2)):
        raise Distrust("release answered differently when called again")
    return found[0], found[1]
