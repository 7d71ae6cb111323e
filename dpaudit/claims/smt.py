"""A second opinion: a claim's negation as SMT-LIB text, decided by z3.

Nothing here is shared with the checker but the claim itself. Polynomials, quotients, square roots,
Abs, Max and Min are exact. What SMT-LIB cannot say is weakened to what is necessary: exp(u) becomes
a variable X > 0 with X >= 1 + u, log(u) a variable L with 1 - 1/u <= L <= u - 1, and constants are
enclosed by decimals. So an unsatisfiable text proves the claim; a satisfiable one contradicts it
only if nothing was weakened. Points where a side is undefined are left out, as in the claim.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from importlib import import_module
from typing import Any

import sympy

from dpaudit.claims.claim import Claim
from dpaudit.claims.domain import Expression
from dpaudit.errors import DpauditError, Unsupported

REPROVED, CONTRADICTED, UNDECIDED = "re-proved", "contradicted", "undecided"
INEXPRESSIBLE = "not expressible"
VERDICTS = (REPROVED, UNDECIDED, INEXPRESSIBLE, CONTRADICTED)
MARK = "; a step of dpaudit's ledger, negated: "
WORK = 4_000_000  # z3's own count of steps, so that the answer does not depend on the machine
DIGITS = 40


def _number(value: object) -> str:
    rational = sympy.Rational(value)
    p, q = abs(int(rational.p)), int(rational.q)
    text = f"{p}.0" if q == 1 else f"(/ {p}.0 {q}.0)"
    return f"(- {text})" if rational < 0 else text


@dataclass
class Text:
    """The declarations and facts that the terms of one claim need."""

    claim: Claim
    lines: list[str] = field(default_factory=list)
    known: dict[Expression, str] = field(default_factory=dict)
    weakened: bool = False

    def fresh(self, e: Expression) -> str:
        """Declare a variable that stands for an expression."""
        name = self.known[e] = f"a{len(self.known)}"
        self.lines.append(f"(declare-const {name} Real) ; {e}")
        return name

    def say(self, fact: str) -> None:
        """Add a fact."""
        self.lines.append(f"(assert {fact})")

    def term(self, e: Expression) -> str:
        """Return the SMT-LIB term of an expression."""
        if e.is_Rational:
            return _number(e)
        if e.is_Symbol:
            return f"|{e.name}|"
        if e in self.known:
            return self.known[e]
        if e.is_Add or e.is_Mul:
            sign = "+" if e.is_Add else "*"
            return f"({sign} {' '.join(map(self.term, e.args))})"
        if e.func is sympy.Abs:
            inner = self.term(e.args[0])
            return f"(ite (>= {inner} 0.0) {inner} (- {inner}))"
        if e.func in (sympy.Max, sympy.Min):
            return self._extreme(e)
        if e.is_Pow and e.args[0] is not sympy.E:
            return self._power(*e.args)
        return self._transcendental(e)

    def _extreme(self, e: Expression) -> str:
        first, *rest = e.args
        one = self.term(first)
        two = self.term(e.func(*rest)) if len(rest) > 1 else self.term(rest[0])
        return f"(ite ({'>=' if e.func is sympy.Max else '<='} {one} {two}) {one} {two})"

    def _power(self, base: Expression, exponent: Expression) -> str:
        if not exponent.is_Rational or exponent.q not in (1, 2):
            raise Unsupported(f"exponent={exponent} has no SMT-LIB term.")
        inner = self.term(base)
        if exponent.q == 2:
            root = self.known.get(sympy.sqrt(base)) or self.fresh(sympy.sqrt(base))
            self.say(f"(and (>= {root} 0.0) (= (* {root} {root}) {inner}))")
            inner = root
        size = abs(int(exponent.p))
        product = inner if size == 1 else f"(* {' '.join([inner] * size)})"
        if exponent > 0:
            return product
        self.say(f"(not (= {inner} 0.0))")
        return f"(/ 1.0 {product})"

    def _transcendental(self, e: Expression) -> str:
        self.weakened = True
        if not e.free_symbols and (e in (sympy.pi, sympy.E) or e.func in (sympy.exp, sympy.log)):
            return self._constant(e)
        if e.func is sympy.exp:
            inner = self.term(e.args[0])
            name = self.fresh(e)
            self.say(f"(and (> {name} 0.0) (>= {name} (+ 1.0 {inner})))")
            return name
        if e.func is sympy.log:
            inner = self.term(e.args[0])
            name = self.fresh(e)
            self.say(f"(and (> {inner} 0.0) (<= {name} (- {inner} 1.0)))")
            self.say(f"(>= {name} (- 1.0 (/ 1.0 {inner})))")
            return name
        raise Unsupported(f"expression={e.func.__name__} has no SMT-LIB term.")

    def _constant(self, e: Expression) -> str:
        low, high = enclosure(e)
        name = self.fresh(e)
        self.say(f"(and (<= {_number(low)} {name}) (<= {name} {_number(high)}))")
        return name


def enclosure(e: Expression) -> tuple[str, str]:
    """Return two decimals around pi, exp or log of a rational, by the decimal module."""
    with localcontext() as context:
        context.prec = DIGITS + 10
        if e is sympy.pi:
            value = _pi()
        else:
            inner = sympy.Integer(1) if e == sympy.E else e.args[0]
            if not inner.is_Rational:
                raise Unsupported(f"expression={e} has no decimal enclosure.")
            argument = Decimal(int(inner.p)) / Decimal(int(inner.q))
            value = argument.ln() if e.func is sympy.log else argument.exp()
        step = Decimal(10) ** (value.adjusted() - DIGITS)
        low = value.quantize(step, rounding=ROUND_FLOOR) - step
        high = value.quantize(step, rounding=ROUND_CEILING) + step
    return f"{low:f}", f"{high:f}"


def _pi() -> Decimal:
    """pi by Machin's formula, in the precision of the context."""

    def arctangent(n: int) -> Decimal:
        total, power, k = Decimal(0), Decimal(1) / n, 0
        while power > Decimal(10) ** (-DIGITS - 8):
            total += power / (2 * k + 1) * (-1) ** k
            power, k = power / (n * n), k + 1
        return total

    return 16 * arctangent(5) - 4 * arctangent(239)


def _shared_exponentials(e: Expression) -> Expression:
    """Write hyperbolic functions by exp, and exp(a + b) and exp(k u) by powers of fewer exps."""
    hyperbolic = (sympy.tanh, sympy.sinh, sympy.cosh)
    e = sympy.sympify(e).replace(lambda p: p.func in hyperbolic, lambda p: p.rewrite(sympy.exp))
    e = sympy.expand_power_exp(e)
    parts: dict[Expression, set[sympy.Rational]] = {}
    for part in e.atoms(sympy.exp):
        scale, rest = part.args[0].as_coeff_Mul()
        parts.setdefault(rest, set()).add(scale)
    for rest, scales in parts.items():
        if rest == 1:
            continue
        unit = sympy.Rational(1, math.lcm(*(int(scale.q) for scale in scales)))
        base = sympy.exp(unit * rest)
        pairs = {sympy.exp(s * rest): sympy.Pow(base, s / unit, evaluate=False) for s in scales}
        e = e.xreplace(pairs)
    return e


def negation(claim: Claim) -> tuple[str, bool]:
    """Return the SMT-LIB text that a counterexample would satisfy, and whether it was weakened."""
    text = Text(claim)
    for symbol, side in claim.domain.box.items():
        name = text.term(symbol)
        text.lines.append(f"(declare-const {name} Real)")
        if side.low.is_finite:
            text.say(f"({'<' if side.low_open else '<='} {_number(side.low)} {name})")
        if side.high.is_finite:
            text.say(f"({'<' if side.high_open else '<='} {name} {_number(side.high)})")
    for g in claim.domain.constraints:
        text.say(f"(>= {text.term(_shared_exponentials(g))} 0.0)")
    left, right = (text.term(_shared_exponentials(s)) for s in (claim.left, claim.right))
    wrong = {"<=": f"(> {left} {right})", "<": f"(>= {left} {right})"}
    text.say(wrong.get(claim.relation, f"(not (= {left} {right}))"))
    lines = [f"{MARK}{claim.label}", f"; {claim.statement}", *text.lines, "(check-sat)"]
    return "\n".join(lines) + "\n", text.weakened


def recheck(claims: list[Claim]) -> Iterator[tuple[Claim, str, str]]:
    """Yield each claim with z3's verdict and the text it was asked."""
    try:
        z3: Any = import_module("z3")
    except ImportError:
        rule = "is not installed; run: pip install 'dpaudit[recheck]'."
        raise DpauditError(f"recheck=z3 {rule}") from None
    for claim in claims:
        try:
            text, weakened = negation(claim)
        except Unsupported:
            yield claim, INEXPRESSIBLE, ""
            continue
        solver = z3.Solver()
        solver.set("rlimit", WORK)
        solver.from_string(text)
        answer = str(solver.check())
        verdict = UNDECIDED
        if answer == "unsat":
            verdict = REPROVED
        elif answer == "sat" and not weakened:
            verdict = CONTRADICTED
        yield claim, verdict, text
