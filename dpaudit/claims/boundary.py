"""Sharp boundaries: where a claim stops to hold, enclosed to many digits.

A boundary says that the claim holds exactly where `inside(symbol) >= 0`. The root is enclosed by
bisection with exact end points and ball signs. That it is the only one is shown from the shape of
`inside`: decreasing, or concave and non-negative at the low end of its interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import sympy

from dpaudit.claims.balls import Ball, evaluate
from dpaudit.claims.domain import Domain, Expression
from dpaudit.claims.goal import Goal, Method
from dpaudit.claims.methods import first_proof


@dataclass(frozen=True)
class Boundary:
    """The claim holds exactly where `inside >= 0`; `bracket` holds the sign change.

    `shape` is "concave" or "decreasing" in `symbol`; `because` gives the methods that show it.
    """

    symbol: Expression
    inside: Expression
    bracket: tuple[int | Fraction, int | Fraction]
    shape: str = "concave"
    because: tuple[Method, ...] = ()

    def root(self) -> tuple[Fraction, Fraction] | None:
        """Return two exact numbers, 1e-14 apart, with the sign change between them."""
        low, high = (Fraction(end) for end in self.bracket)
        if not (self._at(low) > 0 and self._at(high) < 0):
            return None
        while high - low > Fraction(1, 10**14):
            middle = (low + high) / 2
            value = self._at(middle)
            if value > 0:
                low = middle
            elif value < 0:
                high = middle
            else:
                return None
        return low, high

    def unique(self, domain: Domain) -> bool:
        """True when the shape of `inside` is proved on the symbol's whole interval."""
        side = domain.box[self.symbol]
        line = Domain({self.symbol: side})
        order = 1 if self.shape == "decreasing" else 2
        bend = -sympy.diff(self.inside, self.symbol, order)
        if first_proof(Goal(bend, line, strict=False), self.because) is None:
            return False
        if self.shape == "decreasing":
            return True
        plain = sympy.Symbol(self.symbol.name, real=True)
        start = self.inside.subs(self.symbol, plain).subs(plain, side.low)
        return first_proof(Goal(start, Domain()), ()) is not None

    def digits(self, root: tuple[Fraction, Fraction], count: int = 11) -> str:
        """Return the digits that both ends of the enclosure share."""
        shown = [str(sympy.Float(sympy.Rational(end), 30)) for end in root]
        shared = ""
        for one, other in zip(*shown, strict=False):
            if one != other or len(shared) > count:
                break
            shared += one
        return shared

    def _at(self, value: Fraction) -> Ball:
        return evaluate(self.inside, {self.symbol: value})
