"""z3, which shares no code with the checker, contradicts no step and proves no negation."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import mpmath
import pytest
import sympy

from dpaudit.claims import ledger
from dpaudit.claims.claim import Claim
from dpaudit.claims.domain import POSITIVE, UNIT, Domain
from dpaudit.claims.mutation import GOOD, NEGATED, mutants
from dpaudit.claims.smt import (
    CONTRADICTED,
    INEXPRESSIBLE,
    REPROVED,
    UNDECIDED,
    enclosure,
    negation,
    recheck,
)
from dpaudit.cli import run
from dpaudit.errors import DpauditError

PROVED = [
    claim
    for result in ledger.load_results().values()
    for claim in result.claims
    if claim.expect in GOOD and claim.models is None
]
x = sympy.Symbol("x", real=True)
p = sympy.Symbol("p", positive=True)


def verdicts(claims):
    pytest.importorskip("z3", reason="z3 is not installed: the second opinion is skipped")
    return [verdict for _, verdict, _ in recheck(claims)]


def judge(claims, share):
    """Nothing is contradicted, a share is proved again, and no negation is.

    Facts that contradict each other would prove anything, a claim's negation too.
    """
    found = verdicts(claims)
    assert CONTRADICTED not in found
    assert found.count(REPROVED) >= share * len(claims)
    negated = [m for claim in claims for kind, m in mutants(claim) if kind == NEGATED]
    assert negated and REPROVED not in verdicts(negated)


def test_a_part_of_the_ledger_is_proved_again():
    judge(PROVED[::12], 0.6)


@pytest.mark.slow
def test_most_of_the_ledger_is_proved_again():
    judge(PROVED, 0.75)


def test_each_verdict_has_its_reason():
    square = Claim("s", "", "", 2 * x, "<=", x**2 + 1, Domain({x: UNIT}))
    false = replace(square, left=3 * x)
    weak = Claim("w", "", "", sympy.exp(x), "<=", 3, Domain({x: UNIT}))
    foreign = Claim("f", "", "", sympy.erf(x), "<=", 1, Domain({x: UNIT}))
    expected = [REPROVED, CONTRADICTED, UNDECIDED, INEXPRESSIBLE]
    assert verdicts([square, false, weak, foreign]) == expected


def test_the_text_says_what_the_claim_says():
    claim = Claim("s", "", "", 1 / p, "<", sympy.sqrt(p), Domain({p: POSITIVE}, (p - 2,)))
    text, weakened = negation(claim)
    assert not weakened
    for line in ("(assert (< 0.0 |p|))", "(assert (not (= |p| 0.0)))", "(>= (/ 1.0 |p|)"):
        assert line in text


@pytest.mark.parametrize("constant", [sympy.pi, sympy.E, sympy.exp(-6), sympy.log(2)])
def test_decimal_enclosures_hold(constant):
    with mpmath.workdps(60):
        low, high = (mpmath.mpf(end) for end in enclosure(constant))
        value = mpmath.mpf(str(sympy.N(constant, 58)))
        assert low < value < high and (high - low) / abs(value) < mpmath.mpf("1e-37")
    assert Decimal(enclosure(constant)[0]) < Decimal(enclosure(constant)[1])


def test_the_command_counts_and_keeps_the_files(tmp_path, capsys):
    pytest.importorskip("z3", reason="z3 is not installed: the second opinion is skipped")
    folder = tmp_path / "smt"
    assert run(["prove", "--only", "gap_free", "--recheck", "z3", "--smt", str(folder)]) == 0
    assert "contradicted: none" in capsys.readouterr().out
    assert "(check-sat)" in (folder / "gf.tuning-best.smt2").read_text()


def test_without_z3_one_line_says_so(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr("dpaudit.claims.smt.import_module", missing)
    with pytest.raises(DpauditError, match="pip install"):
        list(recheck([]))
