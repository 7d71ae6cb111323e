"""From charges to a finding: PROVED with an exact bound, or silence with the reason.

The model checker walks every public state. Where there are too many and the declaration runs in the
frame of `Episodes`, the charges are added up arm by arm instead; in that of `Phases`, phase by
phase; in that of `LinearPhases` every release has one law. Where none covers every transcript
within the budget, the check is silent and says how far it got.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from dpaudit.core.algorithm import Algorithm, require_algorithm
from dpaudit.core.arithmetic import exact
from dpaudit.core.blind import noted
from dpaudit.core.canonical import Distrust
from dpaudit.core.conversions import double_above
from dpaudit.core.episodes import Episodes, framed
from dpaudit.core.linear import LinearPhases, in_linear_phases
from dpaudit.core.notions import PURE, Kind, Tariff
from dpaudit.core.phases import Phases, in_phases
from dpaudit.errors import InvalidArgument, require_integer, require_positive
from dpaudit.structure.always import at_every_horizon
from dpaudit.structure.certificate import of_chains, of_tree, of_walk
from dpaudit.structure.chain import Entangled, is_long, longest_chains, probe_longest
from dpaudit.structure.ledger import Charge, Row, show
from dpaudit.structure.linear import charge_of_law, compare
from dpaudit.structure.phases import largest_charge
from dpaudit.structure.program import real_program
from dpaudit.structure.tree import deepest_row, is_tree
from dpaudit.structure.walk import OutOfBudget, Walk
from dpaudit.verdict import Finding, Status

STREAMS = "every pair of neighbouring streams in [0, 1]^T, every transcript"
FEW_STATES = 5_000
FEW_ARMS = 8  # an elimination has 2^arms outcomes
WALK_SHARE = 0.45  # of the budget; the rest is for asking every step again
OVERCHARGED_SECONDS = 2.0
EVERY = "each reward enters one release, whose charge does not depend on its size"


@dataclass(frozen=True)
class Bound:
    """What the ledger found: the row that is charged most, and how long runs it has looked at."""

    row: Row
    horizon: int
    covered: int
    """Every transcript of up to so many rounds has been counted."""
    how: str
    evidence: Callable[[], dict[str, Any] | None] = lambda: None
    """What was counted, as data for a certificate, where a proof rests on it."""
    always: Charge | None = None
    """What no reward is charged more than at any horizon, where a theorem tells (`always`)."""

    @property
    def complete(self) -> bool:
        """Whether every transcript up to the horizon has been counted."""
        return self.covered >= self.horizon

    @property
    def charge(self) -> Charge:
        """The largest sum of charges on one row that was met."""
        return self.row.charge


def bound(
    algorithm: Algorithm,
    horizon: int,
    budget: float = math.inf,
    claimed: Charge = math.inf,
    tariff: Tariff = PURE,
) -> Bound:
    """Return the largest charge on one row over every transcript of `horizon` rounds, or of fewer.

    Once a row is charged more than `claimed` nothing can be proved, and only a few more seconds go
    into a complete bound. Charges are of pure epsilon unless another tariff is given; for a person
    of several rewards they are of those together. Raises `Distrust` for a declaration outside the
    model of the proof.
    """
    before = noted(type(algorithm))
    found = _bounded(algorithm, horizon, budget, claimed, tariff)
    always = at_every_horizon(algorithm, tariff)
    after = noted(type(algorithm))
    if changed := [name for name in before if before[name] != after.get(name)]:
        raise Distrust(f"it writes to {changed[0][1]} while it is asked")
    if always is not None and always < found.charge:
        raise Distrust(f"at every horizon {show(always)} is charged; on a path, {found.row}")
    return replace(found, always=always)


_UNBOUNDED = {
    Kind.PURE: "a release without noise of bounded loss",
    Kind.ZCDP: "a release whose noise has no rho",
    Kind.GDP: "a release whose noise is not shown to have a mu (discrete Gaussian noise is not)",
    Kind.APPROXIMATE: "a release without noise",
    Kind.LOCAL: "a release of several rewards, or without noise of bounded loss",
}


def _bounded(
    algorithm: Algorithm, horizon: int, budget: float, claimed: Charge, tariff: Tariff
) -> Bound:
    start = time.monotonic()
    deadline, enough = start + budget, start + WALK_SHARE * budget
    walk = Walk(algorithm, horizon, tariff)
    if in_linear_phases(algorithm):
        return _by_law(algorithm, walk, deadline)
    if in_phases(algorithm) and algorithm.arms > FEW_ARMS:
        return _phase_by_phase(algorithm, walk, deadline)
    try:
        walk.run(FEW_STATES, enough)
        walk.visit_again(deadline)
        how = f"all {len(walk.seen):,} reachable public states walked"
        return Bound(walk.worst, horizon, horizon, how, partial(of_walk, walk, horizon))
    except OutOfBudget:
        if walk.worst.charge == math.inf:
            return Bound(walk.worst, horizon, 0, _UNBOUNDED[tariff.kind])
        if walk.worst.charge > claimed and at_every_horizon(algorithm, tariff) is None:
            deadline = min(deadline, time.monotonic() + OVERCHARGED_SECONDS)
            enough = min(enough, deadline)
    try:
        if in_phases(algorithm):
            walk.visit_again(deadline)
            return _phase_by_phase(algorithm, walk, deadline)
        if framed(algorithm):
            walk.visit_again(deadline)
            with suppress(Entangled):
                return _arm_by_arm(algorithm, walk, deadline)
        with suppress(OutOfBudget):
            walk.run(math.inf, enough)
        walk.visit_again(deadline)
        how = f"all {len(walk.seen):,} reachable public states walked"
        if walk.covered < horizon:
            how = (
                f"the budget ended after {len(walk.seen):,} public states, "
                f"which cover every transcript of up to {walk.covered:,} of {horizon:,} rounds"
            )
        evidence = partial(of_walk, walk, walk.covered)
        return Bound(walk.worst, horizon, walk.covered, how, evidence)
    except OutOfBudget:
        how = f"the budget ended before {len(walk.seen):,} public states were walked a second time"
        return Bound(walk.worst, horizon, 0, how)


def _together(row: Row, unit: int) -> Row:
    """Return what a person pays whose every reward may be charged as much as this row."""
    return row if row.unit == unit else Row(unit * row.charge, row.arm, row.number, unit)


def _by_law(algorithm: LinearPhases, walk: Walk, deadline: float) -> Bound:
    horizon, tariff = walk.horizon, walk.tariff
    row = charge_of_law(algorithm, tariff)
    paths = compare(algorithm, horizon, row, tariff, deadline)
    how = f"each reward enters one release, by one law whoever survives; {paths} paths walked"
    return Bound(_together(row, tariff.unit), horizon, horizon, how)


def _phase_by_phase(algorithm: Phases, walk: Walk, deadline: float) -> Bound:
    horizon, walked = walk.horizon, walk.worst
    row, covered = largest_charge(algorithm, horizon, deadline, walk.tariff)
    row = _together(row, walk.tariff.unit)
    if row.charge < walked.charge:
        raise Distrust(f"phase by phase, {row}; on a path, {walked}")
    how = "every phase with every number of survivors"
    if covered < horizon:
        how = f"the budget ended after {how} of up to {covered:,} of {horizon:,} rounds"
    return Bound(row, horizon, covered, how)


def _arm_by_arm(algorithm: Episodes, walk: Walk, deadline: float) -> Bound:
    horizon, walked, tariff = walk.horizon, walk.worst, walk.tariff
    evidence: Callable[[], dict[str, Any] | None]
    always = at_every_horizon(algorithm, tariff)
    if always is not None and is_long(algorithm, horizon):
        probe_longest(algorithm, horizon)
        row, how = Row(always, 0, 0), f"{EVERY}; {len(walk.seen):,} public states walked"
        evidence = partial(of_chains, algorithm, horizon)
    elif is_tree(algorithm, horizon):
        row, how = deepest_row(algorithm, horizon, tariff), "every node of every arm's tree"
        evidence = partial(of_tree, algorithm, horizon)
    else:
        row = longest_chains(algorithm, horizon, deadline, tariff)
        how = "every release of every arm's chain of episodes"
        evidence = partial(of_chains, algorithm, horizon)
    row = _together(row, tariff.unit)
    if row.charge < walked.charge:
        raise Distrust(f"arm by arm, {row}; on a path, {walked}")
    return Bound(row, horizon, horizon, how, evidence)


def prove(
    algorithm: Algorithm,
    horizon: int,
    epsilon: float | None = None,
    budget: float = math.inf,
    heard: Callable[[Bound], Any] = lambda bound: None,
) -> Finding:
    """Prove that every transcript of `horizon` rounds costs at most epsilon, or stay silent.

    Where the budget ends first, the finding's horizon says how long runs are proved. `heard` is
    told the bound that a proof rests on.

    `epsilon` is the algorithm's own claim unless given. PROVED means bound <= epsilon in exact
    rational arithmetic, a decimal standing for the rational it writes. Real-valued noise is the
    model, unless it is drawn on a lattice; what that says of a program that runs stands in
    `program`, and where it says nothing, `rounding` says why.
    """
    require_algorithm(algorithm)
    require_integer("horizon", horizon, 1)
    claimed = algorithm.claim.epsilon if epsilon is None else epsilon
    if claimed is None:
        raise InvalidArgument("epsilon", None, f"is required: {algorithm.name} claims nothing.")
    require_positive("epsilon", claimed)
    start = time.monotonic()
    upper, status, over, covered = math.inf, Status.SILENT, False, 0
    program, rounding, endless = None, "", False
    try:
        found = bound(algorithm, horizon, budget, exact(claimed))
    except Distrust as distrust:
        reason = f"Not covered by the proof: {distrust}."
    else:
        over = found.charge > exact(claimed)
        covered = found.covered
        endless = found.always is not None and found.always <= exact(claimed)
        if covered and (found.complete or not over):
            upper = double_above(found.charge)
            status = Status.SILENT if over else Status.PROVED
            if not over:
                heard(found)
                program, rounding = real_program(algorithm, covered, found.charge)
        reason = _reason(found, exact(claimed), over, endless)
    return Finding(
        check="structure",
        status=status,
        reason=reason,
        epsilon_upper=upper,
        certified=upper < math.inf,
        arms=algorithm.arms,
        horizon=covered if status is Status.PROVED else horizon,
        streams=STREAMS,
        seconds=time.monotonic() - start,
        program=program,
        rounding=rounding,
        always=endless and status is Status.PROVED,
    )


def _reason(found: Bound, claimed: Fraction, over: bool, endless: bool) -> str:
    if over:
        reason = f"{found.row}, more than {show(claimed)}; that is no violation by itself"
        reason = reason[0].upper() + reason[1:]
    elif not found.covered:  # what was walked so far may be charged less than what comes later
        return f"No bound was reached: {found.how}."
    else:
        reason = f"No reward is charged more than {show(found.charge)}"
        if endless and found.always is not None:
            at = "" if found.always == found.charge else f" more than {show(found.always)}"
            return f"{reason}, at any horizon{at} ({said_once(found.how)})."
    return f"{reason} ({found.how})."


def said_once(how: str) -> str:
    """Return how a bound was found, with why it holds at every horizon."""
    return how if how.startswith(EVERY) else f"{EVERY}; {how}"
