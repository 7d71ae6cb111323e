"""The trial of a mutant: each check at the size where the mutant's file says that it refutes.

`examined` is what `check` does with structure and exact, `sampled` is an audit with fixed seeds and
runs and without a time limit, so that both give the same answer on every machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpaudit.core.mutant import Mutant
from dpaudit.errors import InvalidArgument
from dpaudit.target import resolve

if TYPE_CHECKING:
    from dpaudit.judging import Report as Checked
    from dpaudit.sample.boxes import Box
    from dpaudit.sample.report import AuditConclusion as Audited
    from dpaudit.sample.streams import Pair

ERROR = 1e-6
PAIRS = 8
RUNS = 2_000
SHORT = 16
BUDGET = 120.0  # far more than any trial takes: a slow machine must not change the answer


def examined(mutant: Mutant) -> Checked:
    """Return what structure (at full size) and exact say of a declared mutant."""
    from dpaudit.judging import check
    from dpaudit.options import Options

    way = mutant.exact or mutant.sample
    options = Options(
        epsilon=mutant.epsilon,
        given={"arms": mutant.arms},
        exact_horizon=None if way is None else way.horizon,
        methods=("structure", "exact"),
        budget=BUDGET,
    )
    return check(resolve(mutant.target), options)


def sampled(mutant: Mutant, seed: int = 0) -> Audited:
    """Return what an audit says, at the mutant's own size and pair if its file names them.

    Otherwise it is a short audit, as long as the exact check needs at least.
    """
    from dpaudit.sample.audit import audit
    from dpaudit.sample.plan import AuditPlan

    way = mutant.sample
    least = SHORT if mutant.exact is None else max(SHORT, mutant.exact.horizon)
    horizon, runs = (least, RUNS) if way is None else (way.horizon, way.runs)
    pairs = pairs_of(mutant, horizon, seed)
    return audit(AuditPlan(box_of(mutant, horizon), mutant.epsilon, ERROR, runs, seed, pairs))


def box_of(mutant: Mutant, horizon: int) -> Box:
    """Return a mutant as something that can be run."""
    from dpaudit.sample.boxes import DeclaredBox, mutant_box

    if not mutant.declared:
        return mutant_box(mutant, mutant.arms, horizon, mutant.epsilon)
    given = {"arms": mutant.arms, "epsilon": mutant.epsilon}
    return DeclaredBox(resolve(mutant.target).build(horizon, given), horizon)


def pairs_of(mutant: Mutant, horizon: int, seed: int) -> tuple[Pair, ...]:
    """Return the mutant's own pair, its last piece drawn out to the horizon, or the usual ones."""
    from dpaudit.sample.streams import Pair, Stream, candidates

    if mutant.sample is None or mutant.sample.pair is None:
        return tuple(candidates(mutant.arms, horizon, [seed, 2]))[:PAIRS]
    own = mutant.sample.pair
    values, lengths = zip(*own.pieces, strict=True)
    rest = horizon - sum(lengths[:-1])
    if rest < 1:
        raise InvalidArgument("horizon", horizon, f"is too short for the pair of {mutant.name}.")
    stream = Stream(values, (*lengths[:-1], rest))
    return (Pair(f"the pair of {mutant.target}", stream, own.position, own.value),)
