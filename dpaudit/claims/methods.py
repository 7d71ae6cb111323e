"""Proof methods that a claim can name; each checks every premise it uses.

`Sign` reads the sign off the gap or its factors. `Rewrite` checks an identity with a form whose
sign can be read off (a certificate). `Monotone` compares with one end of an interval through the
derivative; `Concave` compares with both ends. `Split` cuts a domain in two. Methods nest, so that a
chain of derivatives is a chain of methods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import sympy
from sympy import oo

from dpaudit.claims.branch import BranchAndBound
from dpaudit.claims.domain import Domain, Expression, RealInterval
from dpaudit.claims.goal import Goal, Method, Proof
from dpaudit.claims.identity import is_zero
from dpaudit.claims.sign import (
    NEGATIVE,
    NONNEGATIVE,
    POSITIVE,
    ZERO,
    at_least_zero,
    sign_of,
)


def _reached(sign: str | None, strict: bool) -> bool:
    return sign == POSITIVE if strict else at_least_zero(sign)


def first_proof(goal: Goal, methods: Sequence[Method]) -> Proof | None:
    """Return the proof of the first method that succeeds; plain sign reading goes last.

    Every goal and every premise passes here, so nothing is proved of an expression that does not
    make sense on its whole domain.
    """
    sense = meaning(goal.gap, goal.domain)
    if sense is None:
        return None
    for method in (*methods, Sign()):
        proof = method.prove(goal)
        if proof is not None:
            return Proof(proof.how, proof.certified or sense.certified)
    return None


_SMOOTH = (sympy.Add, sympy.Mul, sympy.exp, sympy.sinh, sympy.cosh, sympy.tanh, sympy.erf)
_KINKED = (sympy.Abs, sympy.Max, sympy.Min)


def meaning(expression: Expression, domain: Domain, smooth: bool = False) -> Proof | None:
    """Prove that `expression` is a real number at every point of the domain, and continuous there.

    Functions are allowed by name, each with its real domain: sums, products, exp, sinh, cosh, tanh,
    erf, Abs, Max, Min everywhere, log of what is positive, powers where they are real. `smooth`
    asks for derivatives of every order too, so kinks and roots that touch 0 are refused.
    """
    certified = False
    needed: tuple[str, ...]
    for part in sympy.preorder_traversal(expression):
        if part.is_Rational or part in (sympy.pi, sympy.E) or part in domain.box:
            continue
        if isinstance(part, _SMOOTH) or (isinstance(part, _KINKED) and not smooth):
            continue
        if isinstance(part, sympy.log):
            base, needed = part.args[0], (POSITIVE,)
        elif part.is_Pow:
            base, needed = part.args[0], _base_signs(part.args[1], smooth)
        else:
            return None
        if not needed or sign_of(base, domain) in needed:
            continue
        strict = Goal(base, domain, strict=True)
        if not domain.compact or BranchAndBound(boxes=400).prove(strict) is None:
            return None
        certified = True
    return Proof("regular", certified)


def _base_signs(exponent: Expression, smooth: bool) -> tuple[str, ...]:
    """Return the signs of the base for which the power is real; none when every sign will do."""
    if exponent.is_Integer:
        return () if exponent >= 0 else (POSITIVE, NEGATIVE)
    if exponent.is_Rational and exponent > 0 and not smooth:
        return (POSITIVE, NONNEGATIVE, ZERO)
    return (POSITIVE,)


@dataclass(frozen=True)
class Sign:
    """The sign can be read off the gap, its expansion or its factors."""

    def prove(self, goal: Goal) -> Proof | None:
        """Return a proof when a sign rule applies."""
        for form in (goal.gap, sympy.expand(goal.gap)):
            if _reached(sign_of(form, goal.domain), goal.strict):
                return Proof("sign read off the expression")
        if not goal.strict and is_zero(goal.gap, goal.domain):
            return Proof("identity")
        return None


@dataclass(frozen=True)
class Rewrite:
    """The gap equals `form`, whose sign can be read off; `using` names non-negative atoms.

    Each value of `using` must be one of the domain's constraints, so that it is known to be
    non-negative there.
    """

    form: Expression
    using: Mapping[Expression, Expression] = field(default_factory=dict)

    def prove(self, goal: Goal) -> Proof | None:
        """Check the identity and read the sign."""
        if any(atom not in goal.domain.constraints for atom in self.using.values()):
            return None
        if any(name in goal.domain.box for name in self.using):
            return None
        plain = sympy.sympify(self.form).subs(dict(self.using))
        if not is_zero(goal.gap - plain, goal.domain):
            return None
        box = {**goal.domain.box, **{name: RealInterval(0, oo) for name in self.using}}
        proof = first_proof(Goal(sympy.sympify(self.form), Domain(box), goal.strict), ())
        return proof and Proof(f"rewritten as {self.form}", proof.certified)


@dataclass(frozen=True)
class Monotone:
    """The gap is monotone in `symbol`, and right at the end it is compared with.

    `end` is "low" (the derivative must be >= 0) or "high" (it must be <= 0). `slope` gives the
    methods for the derivative, `start` those for the value at the end.
    """

    symbol: Expression
    end: str = "low"
    slope: tuple[Method, ...] = ()
    start: tuple[Method, ...] = ()

    def prove(self, goal: Goal) -> Proof | None:
        """Prove the value at the end and the sign of the derivative."""
        side = goal.domain.box[self.symbol]
        end = side.low if self.end == "low" else side.high
        if end in (oo, -oo) or any(self.symbol in g.free_symbols for g in goal.domain.constraints):
            return None
        plain = _plain(self.symbol)
        gap = goal.gap.subs(self.symbol, plain)
        ends = (False, side.high_open) if self.end == "low" else (side.low_open, False)
        reached = RealInterval(side.low, side.high, *ends)
        smooth = meaning(gap, goal.domain.without(self.symbol).having(plain, reached), smooth=True)
        if smooth is None:
            return None
        value = gap.subs(plain, end)
        derivative = sympy.diff(goal.gap, self.symbol)
        derivative = derivative if self.end == "low" else -derivative
        start = first_proof(Goal(value, goal.domain.without(self.symbol)), self.start)
        if start is None:
            return None
        strict_start = goal.strict and self._strict_start(value, goal)
        inner = goal.domain.having(self.symbol, RealInterval(side.low, side.high, True, True))
        need = goal.strict and not strict_start
        excluded = side.low_open if self.end == "low" else side.high_open
        if need and not excluded:
            return None
        slope = first_proof(Goal(derivative, inner, strict=need), self.slope)
        if slope is None:
            return None
        return Proof(
            f"monotone in {self.symbol} from {self.symbol} = {end} ({slope.how})",
            any(part.certified for part in (start, slope, smooth)),
        )

    def _strict_start(self, value: Expression, goal: Goal) -> bool:
        strict = Goal(value, goal.domain.without(self.symbol), strict=True)
        return first_proof(strict, self.start) is not None


def _plain(symbol: Expression) -> Expression:
    """Return the symbol without sign assumptions, so that its closed end may be used."""
    return sympy.Symbol(symbol.name, real=True)


@dataclass(frozen=True)
class Concave:
    """The gap is concave in `symbol`, so it is at least the smaller of its two end values."""

    symbol: Expression
    second: tuple[Method, ...] = ()
    low: tuple[Method, ...] = ()
    high: tuple[Method, ...] = ()

    def prove(self, goal: Goal) -> Proof | None:
        """Prove the sign of the second derivative and both ends."""
        side = goal.domain.box[self.symbol]
        if not side.compact or any(self.symbol in g.free_symbols for g in goal.domain.constraints):
            return None
        plain = _plain(self.symbol)
        gap = goal.gap.subs(self.symbol, plain)
        rest = goal.domain.without(self.symbol)
        closure = rest.having(plain, side.closure)
        bend = -sympy.diff(gap, plain, 2)
        parts = [
            meaning(gap, closure, smooth=True),
            first_proof(Goal(bend, closure), self.second),
            first_proof(Goal(gap.subs(plain, side.low), rest, goal.strict), self.low),
            first_proof(Goal(gap.subs(plain, side.high), rest, goal.strict), self.high),
        ]
        if any(part is None for part in parts):
            return None
        certified = any(part.certified for part in parts if part is not None)
        return Proof(f"concave in {self.symbol} and right at both ends", certified)


@dataclass(frozen=True)
class Split:
    """The domain is cut at `symbol = at`; each half has its own methods."""

    symbol: Expression
    at: Expression
    below: tuple[Method, ...] = ()
    beyond: tuple[Method, ...] = ()

    def prove(self, goal: Goal) -> Proof | None:
        """Prove both halves."""
        side = goal.domain.box[self.symbol]
        lower = RealInterval(side.low, self.at, side.low_open, False)
        upper = RealInterval(self.at, side.high, False, side.high_open)
        left = first_proof(goal.on(goal.domain.having(self.symbol, lower)), self.below)
        right = first_proof(goal.on(goal.domain.having(self.symbol, upper)), self.beyond)
        if left is None or right is None:
            return None
        how = f"below {self.symbol} = {self.at}: {left.how}; beyond: {right.how}"
        return Proof(how, left.certified or right.certified)


__all__ = [
    "BranchAndBound",
    "Concave",
    "Monotone",
    "Rewrite",
    "Sign",
    "Split",
    "first_proof",
    "meaning",
]
