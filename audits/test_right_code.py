"""The control: the audits that refute mutants find nothing in the right code that they spoil.

Handwritten mutants differ from private code in one thing. The same plan (pairs, runs, seed, error)
must be silent on the code without the flaw; otherwise a refutation would not be the flaw's doing.
"""

from __future__ import annotations

import pytest

from dpaudit.core.handwritten import Elimination, HandwrittenDoubling, Tree
from dpaudit.core.mutants import find, names
from dpaudit.sample.audit import audit
from dpaudit.sample.boxes import PolicyBox
from dpaudit.sample.plan import AuditPlan
from dpaudit.trial import ERROR, pairs_of
from dpaudit.verdict import Status

QUICK = 2_000


def plans():
    """One mutant for each combination of right code, size, pair and epsilon."""
    found = {}
    for mutant in map(find, names()):
        if mutant.sample is not None and not mutant.declared:
            right = next(
                it
                for it in (HandwrittenDoubling, Tree, Elimination)
                if issubclass(mutant.source, it)
            )
            found.setdefault((right, mutant.sample, mutant.epsilon), (mutant, right))
    for mutant, right in found.values():
        slow = () if mutant.sample.runs <= QUICK else pytest.mark.slow
        yield pytest.param(mutant, right, id=f"{right.__name__}-{mutant.name}", marks=slow)


@pytest.mark.parametrize(("mutant", "right"), list(plans()))
def test_the_right_code_is_not_refuted(mutant, right):
    arms, horizon, epsilon = mutant.arms, mutant.sample.horizon, mutant.epsilon

    def build(rng):
        return right(arms=arms, horizon=horizon, epsilon=epsilon, rng=rng)

    box = PolicyBox(right.__name__, build, arms, horizon)
    pairs = pairs_of(mutant, horizon, seed=0)
    report = audit(AuditPlan(box, epsilon, ERROR, mutant.sample.runs, 0, pairs))
    assert report.status is Status.SILENT
    assert report.lower <= epsilon
