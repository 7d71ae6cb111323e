"""The report on a policy, which is no declaration: an audit of real runs and nothing else."""

from __future__ import annotations

import time

from dpaudit.judging import Claim, Report
from dpaudit.page.gallery import Policy
from dpaudit.particulars import Details
from dpaudit.sample.audit import audit
from dpaudit.sample.boxes import file_box
from dpaudit.sample.plan import AuditPlan
from dpaudit.sample.streams import candidates
from dpaudit.verdict import Finding

ERROR = 1e-6
RUN_SECONDS = 60.0
ONLY_RUNS = "not a declaration: only real runs can judge it."


def audited(subject: Policy, budget: float, seed: int) -> Report:
    """Return the report of an audit that ends after `budget` seconds at the latest."""
    start = time.monotonic()
    epsilon = 1.0 if subject.epsilon is None else subject.epsilon
    box = file_box(subject.target, subject.arms, subject.horizon, epsilon, RUN_SECONDS)
    pairs = tuple(candidates(subject.arms, subject.horizon, [seed, 2]))
    runs = max(subject.runs, 16 * len(pairs))
    found = audit(AuditPlan(box, epsilon, ERROR, runs, seed, pairs), deadline=start + budget)
    claim = Claim(
        target=f"mutants/{subject.name}",
        algorithm=subject.name,
        parameters={},
        epsilon=epsilon,
        arms=subject.arms,
        horizon=subject.horizon,
        anytime=False,
        neighbours="one reward of the stream",
        own=True,
    )
    finding = Finding(
        "sample",
        found.status,
        f"{found.words[:1].upper()}{found.words[1:]} {found.runs} runs.",
        epsilon_lower=found.lower,
        arms=subject.arms,
        horizon=subject.horizon,
        streams=f"{len(pairs)} pairs tried",
        error=ERROR,
        seconds=time.monotonic() - start,
        courses=tuple(judged.course for judged in found.hypotheses),
    )
    command = (
        f"python -m dpaudit audit {claim.target} --epsilon {epsilon:g} --arms {subject.arms} "
        f"--horizon {subject.horizon} --runs {runs} --error {ERROR:g} --seed {seed}"
    )
    missing = {"losses": ONLY_RUNS, "profile": ONLY_RUNS, "positions": ONLY_RUNS}
    parts = Details(command, subject.flaw, missing=missing)
    return Report(finding.status, claim, (finding,), details=parts)
