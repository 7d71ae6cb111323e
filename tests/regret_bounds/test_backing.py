"""Every bound names claims of the ledger, and an established one rests on no false claim."""

import pytest

from dpaudit.claims import ledger
from dpaudit.claims.claim import REFUTED, UNRESOLVED
from dpaudit.core.environments import NAMED
from dpaudit.regret_bounds.bound import BoundStanding, Scope, bernoulli
from dpaudit.regret_bounds.linear import LinearInstance
from dpaudit.regret_bounds.linear_table import linear_bounds
from dpaudit.regret_bounds.table import ALGORITHMS, Setting, stochastic

CLAIMS = {
    claim.label: claim for result in ledger.load_results().values() for claim in result.claims
}
SETTING = Setting(0.05, 10**6)
NARROW = LinearInstance(((1.0, 0.0), (0.99, 0.02), (0.0, 1.0)), (1.0, 0.1))
SQUARE = LinearInstance(((1.0, 0.0), (0.0, 1.0)), (1.0, 0.1))


def bounds():
    yield from stochastic(bernoulli(NAMED["C2"]), SETTING, ALGORITHMS)
    for instance in (NARROW, SQUARE):
        yield from linear_bounds(instance, SETTING)[0]


@pytest.mark.parametrize("bound", list(bounds()), ids=lambda b: f"{b.algorithm} {b.name} {b.form}")
def test_claims_exist_and_support_the_standing(bound):
    labels = [label for label in bound.claims if not label.startswith("arXiv ")]
    assert labels
    for label in labels:
        assert label in CLAIMS
        if bound.standing is BoundStanding.ESTABLISHED:
            assert CLAIMS[label].expect not in (REFUTED, UNRESOLVED)
    if bound.standing is BoundStanding.NOT_ESTABLISHED:
        assert any(CLAIMS[label].expect == REFUTED for label in labels)
    assert (bound.standing is BoundStanding.ORDER_ONLY) == (bound.scope is Scope.ORDER)
