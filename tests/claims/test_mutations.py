"""A true, sharp claim with its constant moved by 1% the wrong way is never proved or certified.

Every mutant comes with a point where it fails. That it does fail there is checked first, in plain
floating point and with a margin, so that the test does not trust the checker it tests.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
import sympy

from dpaudit.claims.check import check
from dpaudit.claims.claim import CERTIFIED, PROVED, REFUTED, UNRESOLVED, Claim
from dpaudit.claims.domain import UNIT, Domain
from dpaudit.claims.ledger import find_claim, load_results
from dpaudit.claims.mutation import GOOD, TIGHTENED, fates

RESULTS = load_results()

# label: a point (by symbol name) where left <= 0.99 right, or 1.01 left <= right, is false.
SHARP = {
    "kv.log-ratio-sharp": {"epsilon": 1, "p": "1/1000"},
    "kv.delta-linear-fixed": {"y": "1/1000"},
    "kv.delta-union": {"x": "1/2", "y": 0},
    "kv.delta-growth": {"x": "1/1000", "y": 0},
    "kv.delta-four": {"epsilon": "1/1000", "s": 1, "delta": 1},
    "kv.sharp-growth": {"epsilon": 1, "p": 0},
    "bg.laplace-mechanism": {"x": 5, "u": 1, "v": 0},
    "bg.log": {"q": "1001/1000"},
    "bg.pinsker-bernoulli": {"p": "1/2", "t": "1/50"},
    "bg.overlap": {"m": "1/1000"},
    "bg.bretagnolle-huber-sharper": {"p": "1/1000"},
    "kl.tanh": {"E": 3, "u": "3/4", "v": "1/4"},
    "kl.tanh-linear": {"epsilon": "1/100"},
    "mm.gaussian-tv-sharp": {"Delta": "1/100"},
    "mm.least-played": {"N": 0, "x": 1, "w": 1, "z": 1},
    "mm.regret-first": {"z": 2, "N": 1, "w": 1},
    "mm.regret-second": {"z": 2, "N": 1, "x": 0},
    "mm.optimal-gap": {"y": 1},
    "mm.constant-131": {},
    "mm.two-maxima": {"x": 1, "w": 1},
    "mm.sharper-optimum": {"c": 1, "Delta": "1/2"},
    "mm.sharper-linear": {"epsilon": "1/100"},
    "pd.smaller-gap": {"Delta": 1, "g": 1, "u": 1, "v": 1},
    "pd.bernoulli-order-fixed": {"x": 1, "y": 1, "r": 1},
    "lin.sign-counting": {"a": 0},
    "lin.markov-fixed": {"z": 2, "n": 1, "w": 1},
    "lin.box": {"a": 1},
    "lin.sharper-kl": {"y": 1},
    "lin.sharper-tv": {"y": "1/100"},
    "lin.sharper-optimum": {"c": "5/4"},
    "lpd.regret": {"T": 1, "alpha": 1, "Delta": 1},
    "co.union": {"x": 1, "y": 1, "u": 1, "v": 1},
    "gr.sum-even": {"m": 2},
    "gr.sum-exponent": {"alpha": 4, "x": 1},
    "gr.two-arms": {"alpha": 4, "K": 2},
    "ucb.gamma-square": {"y": "1/1000"},
    "ucb.as-printed": {"v": 1},
    "ucb.weaker-min": {"Delta": 1, "epsilon": "1/2"},
    "ucb.repaired-b": {"alpha": "301/100"},
    "ucb.expected-small": {"v": "1/2"},
    "klu.bijection": {"w": "999/1000", "q": "1/2"},
    "klu.clip": {"z": 1, "u": 1},
    "klu.lower-match": {"x": 6, "w": 1},
    "gf.min-sum": {"u": 1, "v": 0},
    "gf.large-gaps": {"g": 1, "Delta": 1},
    "gf.tuning-best": {"T": 1, "c": 1, "Delta": 1},
    "gf.rate": {"K": 2},
    "gf.klucb": {"u": "1/2", "y": 1, "z": 1},
    "pr.scale": {"n": 1, "epsilon": 1, "k": 1},
    "bg.cauchy": {"u": 1, "v": 1, "b": 1},
    "ucb.too-small": {"v": "1/2"},
    "tb.dp-se": {"u": 1, "v": 0},
    "tb.dp-se-two": {"u": 1, "v": 1},
    "ex.tp2": {"a": 1, "h": 1, "k": 1},
    "ex.tp2-gaussian": {"a": 1, "h": 0, "k": 0},
    "ex.sublattice-join": {"p": 1, "q": 1, "r": 1, "s": 1},
    "ex.sublattice-meet": {"p": 1, "q": 1, "r": 1, "s": 1},
}


def mutant(label):
    """The claim with the larger side shrunk by 1%."""
    _, claim = find_claim(RESULTS, label)
    assert claim.expect in (PROVED, CERTIFIED) and claim.relation in ("<=", "<")
    smaller = sympy.Rational(99, 100) * sympy.sympify(claim.right)
    return replace(claim, label=f"{label}-mutant", right=smaller)


def test_there_are_enough_mutants():
    assert len(SHARP) >= 30


@pytest.mark.parametrize("label", SHARP)
def test_a_claim_off_by_one_percent_is_never_proved(label):
    claim = mutant(label)
    names = {str(symbol): symbol for symbol in claim.domain.box}
    point = {names[name]: sympy.Rational(str(value)) for name, value in SHARP[label].items()}
    assert set(point) == set(names.values())
    left, right = (
        float(sympy.N(sympy.sympify(side).subs(point), 30)) for side in (claim.left, claim.right)
    )
    assert left > right + 1e-12 * (1 + abs(right)), "the mutant must really be false"
    outcome = check(claim)
    assert outcome.kind in (REFUTED, UNRESOLVED), outcome
    if outcome.kind == REFUTED:
        assert outcome.counterexample


PROVABLE = [
    claim
    for result in RESULTS.values()
    for claim in result.claims
    if claim.expect in GOOD and claim.models is None
]


def judge(claims):
    """No mutant but a loose tightening may be proved, and no claim may outlive all its mutants."""
    for claim in claims:
        found = list(fates(claim))
        assert not [f for f in found if f.survived and f.kind != TIGHTENED], claim.label
        assert not all(fate.survived for fate in found), claim.label


def test_mutants_of_a_share_of_the_ledger_are_killed():
    judge(PROVABLE[::11])


@pytest.mark.slow
def test_mutants_of_the_whole_ledger_are_killed():
    judge(PROVABLE)


def test_no_conclusion_is_its_own_hypothesis():
    """A gap that is a fixed positive multiple of a constraint would assume what it proves."""
    for claim in PROVABLE:
        gap = sympy.sympify(claim.right) - sympy.sympify(claim.left)
        for wall in claim.domain.constraints:
            ratio = sympy.cancel(gap / wall) if gap.is_polynomial() else None
            assert ratio is None or not ratio.is_number, claim.label


def test_a_claim_that_cannot_fail_is_found():
    x = sympy.Symbol("x", real=True)
    idle = Claim("idle", "", "", 0, "<=", 0 * x, Domain({x: UNIT}))
    assert all(fate.survived for fate in fates(idle) if fate.kind != "negated")
    always = replace(idle, left=sympy.Integer(0), right=x**2, domain=Domain({x: UNIT}, (1 - x,)))
    assert [f.survived for f in fates(always) if f.kind == "dropped"] == [True]


@pytest.mark.parametrize("label", ["kv.log-ratio", "kv.lemma", "kv.delta-exponential"])
def test_a_restricted_claim_with_a_wrong_constant_keeps_no_subdomain(label):
    """With 5.94 for 6 (or 1.98 for 2) the stated boundary is no longer the right one."""
    _, claim = find_claim(RESULTS, label)
    if label == "kv.delta-exponential":
        left = claim.left.subs(sympy.Symbol("x", real=True), 0) * sympy.exp(
            -sympy.Rational(198, 100) * sympy.Symbol("x", real=True)
        )
        changed = replace(claim, left=left)
    else:
        changed = replace(claim, right=sympy.Rational(99, 100) * claim.right)
    assert check(changed).kind in (REFUTED, UNRESOLVED)


def test_search_alone_finds_the_stated_counterexamples():
    """Without its hints, a refuted claim is still refuted by search or left unresolved."""
    found = 0
    for result in RESULTS.values():
        for claim in result.claims:
            if claim.models is None and claim.expect == REFUTED:
                outcome = check(replace(claim, hints=()))
                assert outcome.kind in (REFUTED, UNRESOLVED)
                found += outcome.kind == REFUTED
    assert found >= 15


def test_hints_are_exact():
    for result in RESULTS.values():
        for claim in result.claims:
            for hint in claim.hints:
                assert all(isinstance(value, Fraction) for value in hint.values()), claim.label
