"""The privacy profile and the trade-off curve of one pair of streams."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from dpaudit.core.algorithm import Algorithm
from dpaudit.errors import DpauditError
from dpaudit.exact import Profile, profile
from dpaudit.exact.paths import all_paths
from dpaudit.particulars import PairProfile
from dpaudit.verdict import Witness

MOST_PATHS = 200
CORNERS = 100
STEPS = 24
WITNESS = "the witness"
EVENT = "the witness, from its actions alone (at least)"


def of_worst_pair(
    candidates: Sequence[tuple[Algorithm, Witness]], epsilon: float, deadline: float
) -> tuple[PairProfile | None, str]:
    """Return the profile of the last pair whose action sequences can all be enumerated in time."""
    best: PairProfile | None = None
    reason = "No pair of streams with a loss is known."
    spent = 0.0
    for algorithm, witness in candidates:
        start = time.monotonic()
        if best is not None and deadline - start < 2 * spent:
            break
        horizon = len(witness.stream)
        if len(list(islice(all_paths(algorithm, horizon), MOST_PATHS + 1))) > MOST_PATHS:
            reason = f"More than {MOST_PATHS:,} action sequences at T = {horizon:,}."
            continue
        try:
            found = profile(algorithm, witness.stream, witness.neighbour)
        except DpauditError as error:
            reason = str(error)
            break
        best = shown(found, witness, epsilon)
        spent = time.monotonic() - start
    return best, "" if best else reason


def of_witness(
    algorithm: Algorithm, witness: Witness, epsilon: float, deadline: float
) -> tuple[PairProfile | None, str]:
    """Return the profile of a counterexample's pair: over all actions, or over its own alone."""
    found, _ = of_worst_pair([(algorithm, witness)], epsilon, deadline)
    if found is not None and found.loss > epsilon:
        return replace(found, of=WITNESS), ""
    likely, unlikely = witness.likelihood.lower, witness.likelihood_neighbour.upper
    if witness.likelihood.upper < witness.likelihood_neighbour.lower:
        likely, unlikely = witness.likelihood.upper, witness.likelihood_neighbour.lower
    with np.errstate(divide="ignore"):
        logs = [np.log(np.array([p, 1 - p])) for p in (likely, unlikely)]
    return replace(shown(Profile(*logs), witness, epsilon), of=EVENT), ""


def shown(found: Profile, witness: Witness, epsilon: float) -> PairProfile:
    """Return a profile as the numbers that a page draws."""
    back = Profile(found.log_q, found.log_p)
    losses = np.abs(found.losses)
    largest = float(losses.max())
    top = max(epsilon, min(largest, 4 * epsilon)) * 1.1
    grid = {round(float(e), 6) for e in np.linspace(0.0, top, STEPS + 1)}
    epsilons = tuple(sorted(grid | {epsilon}))
    alpha, beta = found.trade_off()
    kept = sorted({round(k) for k in np.linspace(0, len(alpha) - 1, min(len(alpha), CORNERS))})
    return PairProfile(
        stream=witness.stream,
        neighbour=witness.neighbour,
        actions=witness.actions,
        position=witness.position,
        sequences=len(found.log_p),
        loss=largest,
        total_variation=found.total_variation,
        relative_entropy=found.kl if math.isfinite(largest) else math.inf,
        epsilons=epsilons,
        delta=tuple(found.delta(e) for e in epsilons),
        delta_neighbour=tuple(back.delta(e) for e in epsilons),
        alpha=tuple(float(alpha[k]) for k in kept),
        beta=tuple(float(beta[k]) for k in kept),
    )
