"""The likelihood of an action sequence on a reward stream, as an enclosure.

The sum over the decision paths that show as these actions of the probability of each path's
region. The certified engine answers where it can; the floating-point engine has a measured error,
stated in `MEASURED_ERROR`, and never claims to be certified. An algorithm without noise is decided
in exact arithmetic, so its 0 or 1 is certified by either engine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.algorithm import Accumulate, Algorithm, Keep, Release
from dpaudit.core.arithmetic import exact
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import chain, epochs, noiseless, plane
from dpaudit.exact.paths import Path, paths_of
from dpaudit.exact.region import Region, region_of, require_rewards

Engine = Literal["ball", "float"]
ENGINES = ("ball", "float")

# For two arms. Sums over all sequences at T = 12 were off by at most 2e-12, and four likelihoods
# agree with 30-digit quadrature within this; it has not been compared with certified values yet.
MEASURED_ERROR = 1e-10


@dataclass(frozen=True)
class Likelihood:
    """An interval around a likelihood, also in logarithms, which do not underflow."""

    log_lower: float
    log_upper: float
    certified: bool

    @property
    def lower(self) -> float:
        """The lower end, rounded down."""
        return max(0.0, _step(self.log_lower, -math.inf))

    @property
    def upper(self) -> float:
        """The upper end, rounded up."""
        return min(1.0, _step(self.log_upper, math.inf))

    @property
    def middle(self) -> float:
        """A value inside."""
        return 0.5 * (self.lower + self.upper)


def _step(log_value: float, direction: float) -> float:
    if log_value == -math.inf or log_value >= 0:
        return 0.0 if log_value < 0 else 1.0
    value = math.exp(log_value)
    for _ in range(4):
        value = math.nextafter(value, direction)
    return value


def likelihood(
    algorithm: Algorithm,
    actions: Sequence[int] | NDArray[Any],
    rewards: Sequence[float] | NDArray[Any],
    engine: Engine = "ball",
) -> Likelihood:
    """Return an enclosure of the probability of `actions` on the stream `rewards`."""
    require_engine(engine)
    paths = paths_of(algorithm, actions)
    stream = require_rewards(rewards, len(np.asarray(actions)))
    if not paths:
        return Likelihood(-math.inf, -math.inf, True)
    parts = [path_likelihood(path, stream, engine) for path in paths]
    return total(parts)


def total(parts: Sequence[Likelihood]) -> Likelihood:
    """Return the enclosure of a sum of likelihoods."""
    if len(parts) == 1:
        return parts[0]
    slack = 1e-15 * len(parts)
    low = float(np.logaddexp.reduce([part.log_lower for part in parts])) - slack
    high = float(np.logaddexp.reduce([part.log_upper for part in parts])) + slack
    return Likelihood(low, min(high, 0.0), all(part.certified for part in parts))


def path_likelihood(path: Path, stream: NDArray[np.float64], engine: Engine) -> Likelihood:
    """Return an enclosure of the probability of one decision path."""
    region = region_of(path)
    if not region.decisions:
        return Likelihood(0.0, 0.0, True)
    if noiseless.applies(region):
        log_value = 0.0 if noiseless.happens(region, stream.tolist()) else -math.inf
        return Likelihood(log_value, log_value, True)
    sums = region.sums(stream)
    if engine == "ball":
        found = _certified(path, stream)
        if found is not None:
            return found
    value, error = log_likelihood(region, region.means(sums)), measured_error(region)
    return Likelihood(value - error, min(value + error, 0.0), False)


def certified_engine() -> Any:
    """Return the certified engine, or None where it is not installed."""
    try:
        return import_module("dpaudit.exact.ball")
    except ImportError:
        return None


def _certified(path: Path, stream: NDArray[np.float64]) -> Likelihood | None:
    """Ask the certified engine; None where it does not cover the path."""
    ball = certified_engine()
    if ball is None:
        return None
    sums = {
        event.rows: sum(
            (exact(float(stream[t])) for part in path.steps(event.rows) for t in part), Fraction(0)
        )
        for event in path.events
        if isinstance(event, Release | Accumulate)
    }
    try:
        found = ball.path_log_likelihood(path, sums)
    except Unsupported:
        return None
    lower = math.nextafter(float(found.lower()), -math.inf)
    upper = math.nextafter(float(found.upper()), math.inf)
    return Likelihood(lower, min(upper, 0.0), True)


def log_likelihood(region: Region, means: NDArray[np.float64]) -> float:
    """Return the floating-point log-likelihood of a region; raise `Unsupported` if it has none."""
    if not region.decisions:
        return 0.0
    if all(isinstance(decision.request, Keep) for decision in region.decisions):
        return epochs.log_likelihood(region, means)
    if len(region.decisions[0].shown) == 3:
        return plane.log_likelihood(region, means)
    return chain.log_likelihood(_chain(region), means)


def measured_error(region: Region) -> float:
    """Return the error of a floating-point log-likelihood, as measured for the engine it takes."""
    wide = any(len(d.shown) == 3 and not isinstance(d.request, Keep) for d in region.decisions)
    return plane.PLANE_ERROR if wide else MEASURED_ERROR


@lru_cache(maxsize=1024)
def _chain(region: Region) -> chain.Chain:
    return chain.chain_of(region)


def require_engine(engine: str) -> None:
    """Raise unless the engine is known."""
    if engine not in ENGINES:
        raise InvalidArgument("engine", engine, f"must be one of {', '.join(ENGINES)}.")
