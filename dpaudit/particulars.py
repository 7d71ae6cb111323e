"""The details of a run as data: what `check --details` writes and a page draws.

Losses and likelihoods are floating point with a measured error, unless they say certified.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class LossAt:
    """The largest loss at one horizon, over the pairs and actions that `covers` names."""

    horizon: int
    lower: float
    upper: float
    certified: bool
    covers: str


@dataclass(frozen=True)
class PairProfile:
    """One pair of streams: what an observer of the actions can tell apart.

    `of` says which pair it is; with the actions of a witness alone, deltas are lower bounds.

    `delta[i]` is the smallest delta at `epsilons[i]` for the stream against its neighbour,
    `delta_neighbour[i]` the other way round. (`alpha[j]`, `beta[j]`) are corners of the trade-off
    curve: the errors of the best tests of the stream against its neighbour.
    """

    stream: tuple[float, ...]
    neighbour: tuple[float, ...]
    actions: tuple[int, ...]
    position: int
    sequences: int
    loss: float
    total_variation: float
    relative_entropy: float
    epsilons: tuple[float, ...]
    delta: tuple[float, ...]
    delta_neighbour: tuple[float, ...]
    alpha: tuple[float, ...]
    beta: tuple[float, ...]
    of: str = "the worst pair"


@dataclass(frozen=True)
class PositionLosses:
    """The largest loss that changing each reward can cause, in the order of the rounds."""

    losses: tuple[float, ...]
    covers: str


@dataclass(frozen=True)
class Regret:
    """Simulated regret over time in one environment, and the bounds it may be held against.

    `upper` is the algorithm's own sharpest bound at the same times (at the horizon alone where the
    algorithm is told its horizon), empty where none is known. `coefficient` times log T is the
    lower bound that any private algorithm meets in the limit.
    """

    means: tuple[float, ...]
    horizon: int
    runs: int
    seed: int
    times: tuple[int, ...]
    mean: tuple[float, ...]
    deviation: tuple[float, ...]
    standard_error: float
    upper_times: tuple[int, ...]
    upper: tuple[float, ...]
    finite_lower: float | None
    coefficient: float


@dataclass(frozen=True)
class Details:
    """Everything beside the verdict; `missing` says why a part is not there."""

    command: str = ""
    flaw: str = ""
    losses: tuple[LossAt, ...] = ()
    profile: PairProfile | None = None
    positions: PositionLosses | None = None
    regret: Regret | None = None
    missing: dict[str, str] = field(default_factory=dict)
    about: str = ""
    """What the algorithm is, in one sentence."""
    seed: int = 0
    version: str = ""
    date: str = ""
    digest: str = ""
    """A digest of the source that was judged and of all that it imports of its own."""
