"""The likelihood of an action sequence on a reward stream, as an enclosure.

The sum over the decision paths that show as these actions of the probability of each path's
region. The certified engine answers where it can; the floating-point engine has a measured error,
stated in `MEASURED_ERROR`, and never claims to be certified. An algorithm without noise is decided
in exact arithmetic, so its 0 or 1 is certified by either engine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpaudit.core.algorithm import Accumulate, Algorithm, Choose, Keep, Release
from dpaudit.core.arithmetic import FLOAT, exact
from dpaudit.core.scores import RULES
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import accumulate, chain, epochs, fast, noiseless, plane, rounding
from dpaudit.exact.clock import ENDLESS, Clock
from dpaudit.exact.own_score import OWN_ERROR
from dpaudit.exact.paths import Path, paths_of
from dpaudit.exact.region import Region, region_of, require_rewards
from dpaudit.exact.resolution import resolved

Engine = Literal["ball", "float"]
ENGINES = ("ball", "float")

# For two arms, measured against certified values on random paths with random sums: adap_ucb at
# T = 64, 1024 and 10^5 (log-likelihoods down to -15,000) is off by at most 8e-14 of the logarithm,
# adap_klucb up to T = 32 by less than the radius of the balls, 5e-9. tests/exact repeat this on
# other paths; benchmarks/exact.py prints it.
MEASURED_ERROR = 1e-10
RELATIVE_ERROR = 1e-12  # further, of the logarithm
COMPILING = 120.0  # seconds that the first floating-point search of two arms may take to compile
_SHORT = 6  # decisions of a single path that are not worth loading compiled code for
_FEW = 40  # that take less long without it than it takes to compile


@dataclass(frozen=True)
class Likelihood:
    """An interval around a likelihood, also in logarithms, which do not underflow."""

    log_lower: float
    log_upper: float
    certified: bool

    @property
    def lower(self) -> float:
        """The lower end, rounded down."""
        return max(0.0, _exponential(self.log_lower)[0])

    @property
    def upper(self) -> float:
        """The upper end, rounded up."""
        return min(1.0, _exponential(self.log_upper)[1])

    @property
    def middle(self) -> float:
        """A value inside."""
        return 0.5 * (self.lower + self.upper)


def _exponential(log_value: float) -> tuple[float, float]:
    """Return doubles below and above exp(log_value)."""
    if log_value == -math.inf:
        return 0.0, 0.0
    found = rounding.enclose(arb(log_value).exp())
    return found.lower, found.upper


def likelihood(
    algorithm: Algorithm,
    actions: Sequence[int] | NDArray[Any],
    rewards: Sequence[float] | NDArray[Any],
    engine: Engine = "ball",
    clock: Clock = ENDLESS,
) -> Likelihood:
    """Return an enclosure of the probability of `actions` on the stream `rewards`.

    A clock may keep a certified enclosure from being refined; doubles end with `OutOfTime`.
    """
    require_engine(engine)
    paths = paths_of(algorithm, actions)
    stream = require_rewards(rewards, len(np.asarray(actions)))
    if not paths:
        return Likelihood(-math.inf, -math.inf, True)
    parts = [path_likelihood(path, stream, engine, clock) for path in paths]
    return total(parts)


def total(parts: Sequence[Likelihood]) -> Likelihood:
    """Return the enclosure of a sum of likelihoods."""
    if len(parts) == 1:
        return parts[0]
    lows = [arb(part.log_lower).exp() for part in parts if part.log_lower > -math.inf]
    highs = [arb(part.log_upper).exp() for part in parts if part.log_upper > -math.inf]
    low = rounding.below(sum(lows, arb(0)).log()) if lows else -math.inf
    high = rounding.above(sum(highs, arb(0)).log()) if highs else -math.inf
    return Likelihood(low, min(high, 0.0), all(part.certified for part in parts))


def path_likelihood(
    path: Path, stream: NDArray[np.float64], engine: Engine, clock: Clock = ENDLESS
) -> Likelihood:
    """Return an enclosure of the probability of one decision path."""
    region = region_of(path)
    if not region.decisions:
        return Likelihood(0.0, 0.0, True)
    if noiseless.applies(region):
        totals = [exact_sum(stream, episode.steps) for episode in region.episodes]
        log_value = 0.0 if noiseless.happens(region, totals) else -math.inf
        return Likelihood(log_value, log_value, True)
    sums = region.sums(stream)
    if engine == "ball":
        found = _certified(path, stream, clock)
        if found is not None:
            return found
    value, error = _once(region, region.means(sums), clock)
    error += RELATIVE_ERROR * abs(value) if value > -math.inf else 0.0
    return Likelihood(value - error, min(value + error, 0.0), False)


def _certified(path: Path, stream: NDArray[np.float64], clock: Clock) -> Likelihood | None:
    """Ask the certified engine; None where it does not cover the path."""
    from dpaudit.exact import ball

    releases = [event for event in path.events if isinstance(event, Release | Accumulate)]
    try:
        sums = {event.rows: exact_sum(stream, path.steps(event.rows)) for event in releases}
        found = ball.path_log_likelihood(path, sums, clock)
    except Unsupported:
        return None
    if found.is_finite():
        return Likelihood(rounding.below(found), min(rounding.above(found), 0.0), True)
    # only the ball that is -inf itself says impossible; a ball that is merely wide says nothing
    return Likelihood(-math.inf, -math.inf, True) if found == arb("-inf") else None


def exact_sum(stream: NDArray[np.float64], steps: Sequence[range]) -> Fraction:
    """Return the exact sum of some rewards, each standing for the decimal that it prints."""
    parts = [stream[part.start : part.stop] for part in steps]
    if all(np.all((part == 0) | (part == 1)) for part in parts):
        return Fraction(sum(int(part.sum()) for part in parts))
    counted = (np.unique(part, return_counts=True) for part in parts)
    return sum(
        (exact(float(v)) * int(c) for pair in counted for v, c in zip(*pair, strict=True)),
        Fraction(0),
    )


def _once(
    region: Region, means: NDArray[np.float64], clock: Clock = ENDLESS
) -> tuple[float, float]:
    """Return what `estimate` does; a single path need not wait for code to be compiled."""
    region.prepared(resolved)
    if _chained(region) and len(region.decisions) <= _FEW:
        links = region.prepared(chain.chain_of)
        return chain.log_likelihood(links, means, clock), measured_error(region)
    return estimate(region, means, clock)


def estimate(
    region: Region, means: NDArray[np.float64], clock: Clock = ENDLESS
) -> tuple[float, float]:
    """Return a floating-point log-likelihood and its error, larger where three arms cancel."""
    region.prepared(resolved)
    if _three_arms(region):
        value, error = plane.estimate(region, means, clock)
        return value, max(error, measured_error(region))
    return log_likelihood(region, means, clock), measured_error(region)


def log_likelihood(region: Region, means: NDArray[np.float64], clock: Clock = ENDLESS) -> float:
    """Return the floating-point log-likelihood of a region; raise `Unsupported` if it has none."""
    if not region.decisions:
        return 0.0
    region.prepared(resolved)
    if all(isinstance(decision.request, Keep) for decision in region.decisions):
        return epochs.log_likelihood(region, means)
    if _three_arms(region):
        return plane.log_likelihood(region, means, clock)
    if _sums(region):
        return accumulate.log_likelihood(region.prepared(accumulate.program_of), means, clock)
    return float(region.prepared(_two_arms)(means)[0])


def log_likelihoods(
    region: Region, means: NDArray[np.float64], hurried: bool = False, clock: Clock = ENDLESS
) -> NDArray[np.float64]:
    """Return the floating-point log-likelihoods of one path for many rows of episode means.

    Where scores have a compiled form the path is prepared once, so that a row costs little; whoever
    is hurried has no time to compile.
    """
    region.prepared(resolved)
    rows = np.atleast_2d(means)
    if _chained(region) and hurried:
        return np.array([_once(region, row, clock)[0] for row in rows])
    if _chained(region):
        return region.prepared(_two_arms)(rows)
    return np.array([log_likelihood(region, row, clock) for row in rows])


def measured_error(region: Region) -> float:
    """Return the error of a floating-point log-likelihood, as measured for the engine it takes."""
    rounding_error = region.prepared(resolved)
    if region.prepared(_own_scores):
        return OWN_ERROR + rounding_error
    if _three_arms(region):
        return plane.PLANE_ERROR + rounding_error
    return (accumulate.SUMS_ERROR if _sums(region) else MEASURED_ERROR) + rounding_error


def _own_scores(region: Region) -> bool:
    """Return whether some decision uses a rule that is not shipped."""
    choices = (d.request for d in region.decisions if isinstance(d.request, Choose))
    return any(type(choice.rule(FLOAT)) not in RULES for choice in choices)


def _chained(region: Region) -> bool:
    """Return whether all decisions are choices between two arms' single releases."""
    two = all(
        len(decision.shown) == 2 and not isinstance(decision.request, Keep)
        for decision in region.decisions
    )
    return bool(region.decisions) and two and not _sums(region)


def _three_arms(region: Region) -> bool:
    """Return whether some decision is a choice between three arms."""
    return any(len(d.shown) == 3 and not isinstance(d.request, Keep) for d in region.decisions)


def _sums(region: Region) -> bool:
    """Return whether some decision reads the sum of several releases."""
    return any(len(group) > 1 for decision in region.decisions for group in decision.shown)


def _two_arms(region: Region) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """Return the engine of a two-arm region: compiled, or general where scores are not."""
    links = region.prepared(chain.chain_of)

    def general(means: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.array([chain.log_likelihood(links, row) for row in np.atleast_2d(means)])

    try:
        plan = fast.plan_of(links)
    except Unsupported:
        return general

    def compiled(means: NDArray[np.float64]) -> NDArray[np.float64]:
        if len(np.atleast_2d(means)) == 1 and len(links.meetings) <= _SHORT:
            return general(means)
        try:
            return fast.log_likelihoods(plan, means)
        except Unsupported:
            return general(means)

    return compiled


def require_engine(engine: str) -> None:
    """Raise unless the engine is known."""
    if engine not in ENGINES:
        raise InvalidArgument("engine", engine, f"must be one of {', '.join(ENGINES)}.")
