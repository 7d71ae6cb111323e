"""Every bound names theorems and steps of the ledger; an established one rests on proofs alone."""

import pytest

from dpaudit.claims import ledger
from dpaudit.claims.claim import CERTIFIED, GRANTED, IDENTITY, PROVED, REFUTED
from dpaudit.core.environments import NAMED
from dpaudit.regret_bounds.bound import BoundStanding, Scope, bernoulli
from dpaudit.regret_bounds.linear import LinearInstance
from dpaudit.regret_bounds.linear_table import linear_bounds
from dpaudit.regret_bounds.other_notions import local_bounds, zcdp_bounds
from dpaudit.regret_bounds.table import ALGORITHMS, Setting, stochastic

RESULTS = ledger.load_results()
WORTH = {claim.label: claim.expect for result in RESULTS.values() for claim in result.claims}
WORTH |= {label: theorem.expect for label, theorem in ledger.theorems(RESULTS).items()}
SETTING = Setting(0.05, 10**6)
NARROW = LinearInstance(((1.0, 0.0), (0.99, 0.02), (0.0, 1.0)), (1.0, 0.1))
SQUARE = LinearInstance(((1.0, 0.0), (0.0, 1.0)), (1.0, 0.1))


def bounds():
    instance = bernoulli(NAMED["C2"])
    yield from stochastic(instance, SETTING, ALGORITHMS)
    yield from local_bounds(instance, SETTING.epsilon, SETTING.horizon)
    yield from zcdp_bounds(instance, 0.5, SETTING.horizon)
    for linear in (NARROW, SQUARE):
        yield from linear_bounds(linear, SETTING)[0]


@pytest.mark.parametrize("bound", list(bounds()), ids=lambda b: f"{b.algorithm} {b.name} {b.form}")
def test_claims_exist_and_support_the_standing(bound):
    labels = [label for label in bound.claims if not label.startswith("arXiv ")]
    assert labels and set(labels) <= set(WORTH)
    if bound.standing is BoundStanding.ESTABLISHED:  # what was sampled or enumerated is no support
        assert {WORTH[label] for label in labels} <= {PROVED, CERTIFIED, IDENTITY, GRANTED}
    if bound.standing is BoundStanding.NOT_ESTABLISHED:
        assert any(WORTH[label] == REFUTED for label in labels)
    assert (bound.standing is BoundStanding.ORDER_ONLY) == (bound.scope is Scope.ORDER)
