"""Two methods for the places that a grid cannot reach: points of contact and infinity.

`Series` proves a gap near a point where it vanishes, by Taylor's theorem: if the gap and its first
derivatives are exactly 0 there and the next derivative has the right sign on the whole interval, so
has the gap. `Compactify` maps [a, infinity) onto [0, 1) and removes a positive factor, so that ball
arithmetic can cover the image together with its end.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy
from sympy import oo

from dpaudit.claims.domain import UNIT, Domain, Expression
from dpaudit.claims.goal import Goal, Method, Proof
from dpaudit.claims.identity import is_zero
from dpaudit.claims.methods import first_proof, meaning


@dataclass(frozen=True)
class Series:
    """The gap vanishes to order `order` at `symbol = at`; the next derivative decides its sign.

    `at` must lie in the closed interval of the symbol. An interior point needs an even order, and
    at the high end the sign of an odd order is reversed. Strict goals are refused: the gap is 0 at
    the point.
    """

    symbol: Expression
    at: Expression
    order: int
    then: tuple[Method, ...] = ()

    def prove(self, goal: Goal) -> Proof | None:
        """Check the vanishing derivatives exactly, then prove the sign of the next one."""
        side = goal.domain.box[self.symbol]
        at = sympy.sympify(self.at)
        if goal.strict or not side.compact or not side.closure.contains(at):
            return None
        if any(self.symbol in g.free_symbols for g in goal.domain.constraints):
            return None
        if at not in (side.low, side.high) and self.order % 2:
            return None
        plain = sympy.Symbol(self.symbol.name, real=True)
        gap = goal.gap.subs(self.symbol, plain)
        rest = goal.domain.without(self.symbol)
        closure = rest.having(plain, side.closure)
        smooth = meaning(gap, closure, smooth=True)
        if smooth is None:
            return None
        for order in range(self.order):
            if not is_zero(sympy.diff(gap, plain, order).subs(plain, at), rest):
                return None
        way = -1 if at == side.high and self.order % 2 else 1
        decisive = way * sympy.diff(gap, plain, self.order)
        proof = first_proof(Goal(decisive, closure), self.then)
        if proof is None:
            return None
        how = f"Taylor at {self.symbol} = {at} to order {self.order} ({proof.how})"
        return Proof(how, smooth.certified or proof.certified)


@dataclass(frozen=True)
class Compactify:
    """Prove a gap on [a, infinity) after x = a + t/(1-t) and multiplication by (1-t)^power.

    The tidied product is compared with the original as an identity on 0 < t < 1 and must make sense
    on all of [0, 1]; there it is handed to `then`.
    """

    symbol: Expression
    power: int
    then: tuple[Method, ...] = ()

    def prove(self, goal: Goal) -> Proof | None:
        """Check the change of variable and prove the image."""
        side = goal.domain.box[self.symbol]
        if side.high != oo or side.low == -oo:
            return None
        if any(self.symbol in g.free_symbols for g in goal.domain.constraints):
            return None
        share = sympy.Symbol(f"t_{self.symbol.name}", positive=True)
        if share in goal.domain.box:
            return None
        moved = goal.gap.subs(self.symbol, side.low + share / (1 - share))
        image = moved * (1 - share) ** self.power
        tidy = sympy.cancel(sympy.together(image))
        rest = goal.domain.without(self.symbol)
        inside = Domain({**rest.box, share: type(side)(0, 1, True, True)}, rest.constraints)
        if not is_zero(tidy - image, inside):
            return None
        plain = sympy.Symbol(share.name, real=True)
        closed = Domain({**rest.box, plain: UNIT}, rest.constraints)
        proof = first_proof(Goal(tidy.subs(share, plain), closed, goal.strict), self.then)
        if proof is None:
            return None
        return Proof(f"{self.symbol} = {side.low} + t/(1-t): {proof.how}", proof.certified)
