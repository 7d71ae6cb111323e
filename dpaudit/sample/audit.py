"""The audit: seek a pair, learn and bet on fresh runs, until the wealth suffices or runs are out.

Every run is bet on by bets that earlier runs fixed, and then teaches later ones: there are no
separate training runs and no holdout (`bets` has the theorem). One wealth per level of epsilon
stands against all pairs, events and directions together, so one error covers a refutation and the
printed lower bound: with probability at least 1 - error a true claim is not refuted and the bound
is below the truth.

Blocks are counted in a fixed order and the decision to stop is taken between blocks. Whether runs
are independent is checked on the way (`independence`); evidence that is not shown to come from
independent runs refutes nothing.
"""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from dpaudit.core.algorithm import Algorithm
from dpaudit.core.lockstep import decisions
from dpaudit.core.perstep import PerStep
from dpaudit.sample.boxes import DeclaredBox
from dpaudit.sample.guard import TimeUp, judged, time_limit
from dpaudit.sample.independence import PATIENCE, Independence, is_foreign
from dpaudit.sample.log import BlockLog
from dpaudit.sample.plan import AuditPlan, in_lockstep
from dpaudit.sample.progress import Heard, Progress
from dpaudit.sample.report import AuditConclusion, conclude, no_run
from dpaudit.sample.steer import steered
from dpaudit.sample.streams import candidates
from dpaudit.sample.workers import Workers
from dpaudit.verdict import Finding, Status

SHORT_STEPS = 2000
SHORT_RUNS, LOCKSTEP_RUNS = 4_000, 16_000
SHORT_PAIRS = 8
SHORT_STEERED = 2
ALL_RUNS, FOREIGN_RUNS = 0.95, 0.75  # of the budget


class AuditInterrupted(KeyboardInterrupt):
    """Ctrl-C, with the report of the blocks that were finished: bets may end after any of them."""

    def __init__(self, report: AuditConclusion) -> None:
        super().__init__()
        self.report = report


def audit(
    plan: AuditPlan,
    workers: Workers | None = None,
    log: BlockLog | None = None,
    heard: Heard = lambda runs, lower, evidence: None,
    deadline: float | None = None,
) -> AuditConclusion:
    """Carry out a plan and report.

    `heard(runs, lower, evidence)` is called after every block with the state so far (evidence as a
    part of what is needed). A `deadline` (of `time.monotonic`) ends the audit
    early; a block that is not done by then does not count. What is concluded is as valid, but
    depends on the machine's speed. Whatever the judged code does is a `DpauditError`. Ctrl-C after
    the first block is `AuditInterrupted`, which holds the report so far.
    """
    workers, log = workers or Workers(), log or BlockLog.nowhere()
    independence = Independence(plan.box, plan.seed, deadline)
    progress = Progress(plan, workers, log, heard, deadline, independence)
    name = independence.name
    try:
        with _ended_at(deadline, name), judged(name):
            independence.begin(plan.pairs[0])
            with workers.open() as run:
                progress.perform(run)
    except TimeUp:
        if not progress.late:
            raise
    except KeyboardInterrupt:
        if not progress.runs:
            raise
        raise AuditInterrupted(conclude(progress)) from None
    finally:
        independence.close()
    return conclude(progress)


def _ended_at(deadline: float | None, name: str) -> AbstractContextManager[Any]:
    """Raise `TimeUp` in a block that does not look at the clock, a moment after the deadline."""
    if deadline is None:
        return nullcontext()
    return time_limit(max(deadline - time.monotonic(), 0.0) + PATIENCE, name)


def _quick(algorithm: Algorithm, horizon: int) -> bool:
    """Tell whether runs in lockstep decide by dpaudit's own rules, all of them at once."""
    climbing = decisions(algorithm, horizon)
    return climbing is None or climbing.rule(np.ones((1, algorithm.arms), dtype=int)) is not None


def short_audit(
    algorithm: Algorithm,
    epsilon: float,
    horizon: int,
    seed: int,
    budget: float,
    delta: float = 0.0,
) -> Finding:
    """Return the finding of an audit of a few seconds, ended after `budget` seconds at the latest.

    Its error is 1e-6: a check that is run every day must not cry wolf once a year. Of an algorithm
    that decides at every step only the first steps are run: they are post-processing of the whole
    run, so a violation in them is one of the whole. Steering may take a third of the time.
    Whatever the algorithm's own code does is a `DpauditError`.
    """
    start = time.monotonic()
    steps = min(horizon, SHORT_STEPS) if isinstance(algorithm, PerStep) else horizon
    box = DeclaredBox(algorithm, steps)
    # runs of foreign code are made again, and whoever gave the budget stops what is late
    deadline = start + budget * (FOREIGN_RUNS if is_foreign(box) else ALL_RUNS)
    try:
        with _ended_at(deadline, box.name), judged(box.name):
            quick = in_lockstep(box) and _quick(algorithm, steps)
            runs, third = LOCKSTEP_RUNS if quick else SHORT_RUNS, start + budget / 3
            aimed = steered(algorithm, steps, [seed, 5], runs // 5, SHORT_STEERED, deadline=third)
    except TimeUp:
        spent = time.monotonic() - start
        arms = algorithm.arms
        return Finding("sample", Status.SILENT, no_run(steps), arms=arms, seconds=spent)
    pairs = (*aimed, *candidates(algorithm.arms, steps, [seed, 2])[:SHORT_PAIRS])
    plan = AuditPlan(box, epsilon, 1e-6, runs, seed, pairs, delta, favoured=len(aimed))
    report = audit(plan, deadline=deadline)
    # of an algorithm that is told its horizon, the run is of the claimed instance
    return report.finding(horizon if algorithm.told() else steps, time.monotonic() - start)
