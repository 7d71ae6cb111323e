"""Exact likelihoods of code whose decisions are affine: the declaration that it is, to `exact`.

The declaration is read off the code (`dpaudit.symbolic.declared`) for as many rounds as it goes,
once the side-by-side guard agrees. What `exact` refutes is then played by the real code: if its
actions do not come as often as the likelihoods say, in real arithmetic, nothing is concluded.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.core.algorithm import Algorithm
from dpaudit.errors import BadDeclaration, Unsupported
from dpaudit.verdict import Enclosure, Finding, Status, Witness

if TYPE_CHECKING:
    from dpaudit.symbolic.subject import CodeTarget

READ = (300, 24, 8, 5, 4, 3)  # rounds for which a declaration is read off, as far as it goes
LATE_SHARE = 0.75  # of the budget for a directed search on long runs, where they are to blame
CLOSE = 1e-9  # a loss must be above epsilon by more than what doubles in the code may amount to
RUNS = 400  # of the real code, on either stream
ERROR = 1e-9  # with which right likelihoods are doubted
SIDE_BY_SIDE = 48  # rounds that code and reading are compared for
MARGIN = math.sqrt(math.log(4 / ERROR) / (2 * RUNS))  # Hoeffding, two streams and two sides


def judged(target: CodeTarget, source: Any, budget: float, late: bool = False) -> Finding:
    """Return what exact likelihoods say of some code, or why they say nothing.

    Where a charge is too large only `late`, most of the budget goes to the search on long runs.
    """
    from dpaudit.exact.horizons import HUNT_SHARE, judge, sizes
    from dpaudit.symbolic.declared import read_off
    from dpaudit.symbolic.guard import side_by_side
    from dpaudit.symbolic.run import Escape

    start, why = time.monotonic(), f"{target.text} is not file.py:object"
    hunting = LATE_SHARE if late else HUNT_SHARE
    lengths = sorted({min(it, target.horizon) for it in READ}, reverse=True)
    try:
        if target.readable:
            side_by_side(target, horizon=SIDE_BY_SIDE)
        for rounds in lengths if target.readable else ():
            algorithm, reading = read_off(target, rounds)
            left = max(start + budget - time.monotonic(), 0.1)
            horizons = list(sizes(target.arms, rounds))
            try:
                found = judge(
                    _always(algorithm), algorithm, target.epsilon, horizons, left, hunting
                )
            except (BadDeclaration, Unsupported) as error:
                why = reading.stopped or str(error).rstrip(".")
                continue
            best = next((it for it in found if it.witness), found[0])
            return _of_code(best, target, source, time.monotonic() - start)
    except Escape as stop:
        why = str(stop)
    return _silent(target, f"No declaration was read off the code: {why}.", start)


def _always(algorithm: Algorithm) -> Callable[[int], Algorithm]:
    return lambda horizon: algorithm


def _silent(target: CodeTarget, reason: str, start: float) -> Finding:
    spent = time.monotonic() - start
    return Finding("exact", Status.SILENT, reason, arms=target.arms, seconds=spent)


def _of_code(found: Finding, target: CodeTarget, source: Any, spent: float) -> Finding:
    """Return a finding about the declaration as one about the code."""
    reason = f"{found.reason} Likelihoods of the declaration read off the code, in real arithmetic."
    witness = found.witness
    if witness is not None:
        start = time.monotonic() - spent
        if not witness.loss.lower > target.epsilon * (1 + CLOSE):
            return _silent(target, "The largest loss is epsilon, up to rounding.", start)
        hits = [_hits(target, source, witness, it) for it in (witness.stream, witness.neighbour)]
        shown = f"{hits[0]} and {hits[1]} of {RUNS} runs of the code on the two streams"
        both = (witness.likelihood, witness.likelihood_neighbour)
        if not all(_agrees(it, k) for it, k in zip(both, hits, strict=True)):
            return _silent(target, f"{shown} show these actions: not what was computed.", start)
        rare = max(it.upper for it in both) * RUNS < 1
        reason += " Too rare for runs to show." if rare else f" {shown} show these actions."
        given: dict[str, float | int | str] = {"arms": target.arms, "horizon": target.horizon}
        witness = replace(witness, target=target.text, parameters=given)
    return replace(found, reason=reason, witness=witness, seconds=spent)


def _agrees(likelihood: Enclosure, hits: int) -> bool:
    """Tell whether a likelihood is compatible with so many hits."""
    share = hits / RUNS
    return likelihood.lower - MARGIN <= share <= likelihood.upper + MARGIN


def _hits(target: CodeTarget, source: Any, witness: Witness, stream: Sequence[float]) -> int:
    """Return how many runs of the real code on a stream show the actions of a witness."""
    from dpaudit.sample.adapters import drive
    from dpaudit.sample.guard import judged as guarded
    from dpaudit.sample.guard import lent_randomness

    rewards, wanted, hits = np.array(stream, dtype=float), list(witness.actions), 0
    for seed in range(RUNS):
        with lent_randomness(seed), guarded(target.text):
            rng = np.random.default_rng([16, seed])
            policy = target.builder(source, rng)()
            hits += drive(policy, rewards, target.arms, rng, target.text).tolist() == wanted
    return hits
