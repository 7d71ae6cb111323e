"""The likelihood of an action sequence on a reward stream, as an enclosure.

The sum over the decision paths that show as these actions of the probability of each path's
region. The certified technologies are asked first; engine "ball" makes them as fine as they get,
"float" is the quick look, only as fine as a loss needs. What is left is computed in doubles, with a
measured error, and says so: draws, and scores of one's own.

A register of size s is a double with an error of 2^-53 s, which moves a log-likelihood by that over
the noise scale. This is added to the error that was measured; where it is no longer small, doubles
are silent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from dpaudit.core.algorithm import Algorithm, Choose, Keep, require_algorithm
from dpaudit.core.arithmetic import FLOAT, ball, exact
from dpaudit.core.noise import Laplace
from dpaudit.core.scores import RULES, Affine
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import algebra, finite, lattice_sums
from dpaudit.exact.balls import certified, gaussians
from dpaudit.exact.balls.interval import above, below
from dpaudit.exact.clock import ENDLESS, Clock
from dpaudit.exact.floats.draws import DRAWS_ERROR, Draws, drawn
from dpaudit.exact.floats.own import MeasuredDuels
from dpaudit.exact.known import OWN_ERROR, OWN_RATE, rule_in
from dpaudit.exact.paths import Path, paths_of
from dpaudit.exact.region import Region, region_of, require_rewards

WORKING_BITS = 160  # of sums and logarithms, whatever precision others have left behind
Engine = Literal["ball", "float"]
ENGINES = ("ball", "float")

WIDTHS = {"ball": certified.CELL_WIDTH, "float": 1e-6}  # of a logarithm, to be narrowed no further
RELATIVE_ERROR = 1e-12  # of a logarithm in doubles, beside the measured error


@dataclass(frozen=True)
class Likelihood:
    """An interval around a likelihood, also in logarithms, which do not underflow."""

    log_lower: float
    log_upper: float
    certified: bool

    @property
    def lower(self) -> float:
        """The lower end, rounded down."""
        return max(0.0, below(arb(self.log_lower).exp()))

    @property
    def upper(self) -> float:
        """The upper end, rounded up."""
        return min(1.0, above(arb(self.log_upper).exp()))

    @property
    def middle(self) -> float:
        """A value inside."""
        return 0.5 * (self.lower + self.upper)


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
    require_algorithm(algorithm)
    require_engine(engine)
    paths = paths_of(algorithm, actions)
    stream = require_rewards(rewards, len(np.asarray(actions)))
    if not paths:
        return Likelihood(-math.inf, -math.inf, True)
    return of_paths(paths, stream, engine, clock)


def of_paths(
    paths: Sequence[Path], stream: NDArray[np.float64], engine: Engine, clock: Clock = ENDLESS
) -> Likelihood:
    """Return an enclosure of the probability that a run takes one of these paths, coins and all."""
    parts = [_decided(path, stream, engine, clock) for path in paths]
    if len(parts) == 1 and paths[0].chance == 1:
        return parts[0]
    with ctx.workprec(WORKING_BITS):
        coins = [ball(path.chance) for path in paths]
        low = (coin * arb(part.log_lower).exp() for coin, part in zip(coins, parts, strict=True))
        high = (coin * arb(part.log_upper).exp() for coin, part in zip(coins, parts, strict=True))
        return between(sum(low, arb(0)), sum(high, arb(0)), all(it.certified for it in parts))


def between(lower: arb, upper: arb, certified: bool = True) -> Likelihood:
    """Return the enclosure of a probability between two balls."""
    with ctx.workprec(WORKING_BITS):
        least, most = lower.lower(), upper.upper()
        low = below(least.log()) if least > 0 else -math.inf
        high = -math.inf if most <= 0 else above(most.log())
    return Likelihood(low, min(high, 0.0), certified)


def _decided(path: Path, stream: NDArray[np.float64], engine: Engine, clock: Clock) -> Likelihood:
    """Return an enclosure of the probability that the decisions come out as on a path."""
    if not path.reads:
        return Likelihood(0.0, 0.0, True)
    if finite.applies(path):
        with ctx.workprec(WORKING_BITS):
            chance = ball(finite.probability(path, [exact(float(reward)) for reward in stream]))
        return between(chance, chance)
    if lattice_sums.applies(path):
        part = lattice_sums.probability(path, stream)
        return between(arb(part.lower), arb(part.upper), part.certified)
    region = region_of(path)
    sums = {i: exact_sum(stream, episode.steps) for i, episode in enumerate(region.episodes)}
    return enclosed(region, sums, engine, clock)


def enclosed(
    region: Region, sums: Mapping[int, Fraction], engine: Engine, clock: Clock = ENDLESS
) -> Likelihood:
    """Return an enclosure of a region's probability by the sums of its episodes.

    Raise `Unsupported` where there is none.
    """
    found = _certified(region, sums, clock, WIDTHS[engine])
    if found is not None:
        return found
    low, high = _in_doubles(region, sums, clock)
    return Likelihood(low, min(high, 0.0), False)


def _certified(
    region: Region, sums: Mapping[int, Fraction], clock: Clock, width: float
) -> Likelihood | None:
    """Ask the certified technologies; None where they do not cover the region.

    Raise `Unsupported` where doubles would take the same way.
    """
    try:
        found = certified.log_likelihood(region, sums, clock, width)
    except Unsupported as refusal:
        tree = region.prepared(certified.as_forest) is not None
        known = isinstance(refusal, certified.Wide) or gaussians.applies(region)
        if known or (certified.closed(region) and not tree):
            raise
        return None
    if found.is_finite():
        return Likelihood(below(found), min(above(found), 0.0), True)
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


def _in_doubles(region: Region, sums: Mapping[int, Fraction], clock: Clock) -> tuple[float, float]:
    """Return a log-likelihood less and plus its measured error; raise `Unsupported` without one."""
    clock()
    rounding = region.prepared(resolved)
    if region.prepared(drawn):
        tree = region.prepared(certified.as_forest)
        if tree is None or any(len(it.arms) != 2 for it in region.decisions):
            kind = type(rule_in(FLOAT, region.decisions[0].request)).__name__  # type: ignore[arg-type]
            raise Unsupported(f"{kind} is integrated between two arms, a release each.")
        doubles = {i: float(centre) for i, centre in region.centres(sums).items()}
        value = float(algebra.log_likelihood(Draws(tree, doubles), tree, doubles))
        slack = DRAWS_ERROR + rounding + RELATIVE_ERROR * abs(value)
        return (value - slack, value + slack) if value > -math.inf else (value, value)
    found = certified.bending(region, sums, MeasuredDuels, clock, WIDTHS["float"])
    slack = region.prepared(own_error) if found.hi > -math.inf else 0.0
    return float(found.lo) - slack, float(found.hi) + slack


def require_engine(engine: str) -> None:
    """Raise unless the engine is known."""
    if engine not in ENGINES:
        raise InvalidArgument("engine", engine, f"must be one of {', '.join(ENGINES)}.")


SMALLEST, LARGEST = 1e-8, 1e6  # noise scales, and the smallest one beside the registers compared
_ROUNDING = 2.0**-52


def resolved(region: Region) -> float:
    """Return what rounded registers add to a log-likelihood's error; raise where it is large."""
    error = 0.0
    for decision in region.decisions:
        shown = [region.episodes[i] for group in decision.shown for i in group]
        noise = [float(1 / e.kind.rate) for e in shown if isinstance(e.kind.noise, Laplace)]
        size = max(_reach(decision.request), *(len(e) / float(e.kind.divisor) for e in shown))
        if any(not SMALLEST <= scale <= LARGEST for scale in noise):
            rule = f"{SMALLEST:g} to {LARGEST:g}: doubles end."
            raise Unsupported(f"A noise scale lies outside {rule}")
        if any(scale < SMALLEST * size for scale in noise):
            raise Unsupported("Noise is too small for doubles beside the registers it is added to.")
        error += _ROUNDING * size / min(noise, default=1.0)
    return error


def own_error(region: Region) -> float:
    """Return what scores that nobody has proved add to a log-likelihood's error."""
    rates = [float(it.kind.rate) for it in region.episodes if isinstance(it.kind.noise, Laplace)]
    return OWN_ERROR * max([1.0, *(rate / OWN_RATE for rate in rates)]) + resolved(region)


def _reach(request: Choose | Keep) -> float:
    """Return how far from zero a decision looks at a register."""
    if isinstance(request, Keep):
        return float(np.max(request.width(FLOAT)))
    rule = request.rule(FLOAT)
    if type(rule) not in RULES:
        return 1.0
    window = 0.0 if isinstance(rule, Affine) else 1.0
    shift = np.abs(np.asarray(getattr(rule, "shift", 0.0), dtype=float))
    scale = np.asarray(getattr(rule, "scale", 1.0), dtype=float)
    with np.errstate(over="ignore"):
        return float(np.max((window + shift) / scale))
