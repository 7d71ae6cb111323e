"""Branch and bound in ball arithmetic: `gap > 0` on a compact box, box by box.

Each box is enclosed twice, directly and by the mean value form, and cut along its widest side
until the enclosure is positive. The test is strict, so a gap that touches zero anywhere on the
closed box is never certified: the search runs out of boxes and says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import sympy

from dpaudit.claims.balls import Ball, Evaluate, ball, compile_ball, hull
from dpaudit.claims.domain import Expression
from dpaudit.claims.goal import Goal, Proof
from dpaudit.errors import Unsupported

Box = tuple[tuple[Fraction, Fraction], ...]


@dataclass(frozen=True)
class BranchAndBound:
    """Certify a strict inequality on a compact domain with at most `boxes` boxes."""

    boxes: int = 4000

    def prove(self, goal: Goal) -> Proof | None:
        """Return a certificate, or None when a box cannot be decided within the budget."""
        domain = goal.domain
        if not domain.box:
            return self._constant(goal.gap)
        if not domain.compact:
            return None
        symbols = list(domain.box)
        try:
            value = compile_ball(goal.gap, symbols)
            slopes = [compile_ball(sympy.diff(goal.gap, s), symbols) for s in symbols]
        except Unsupported:
            try:
                value, slopes = compile_ball(goal.gap, symbols), []
            except Unsupported:
                return None
        walls = [compile_ball(g, symbols) for g in domain.constraints]
        sides_of = domain.box.values()
        todo: list[Box] = [tuple((_fraction(s.low), _fraction(s.high)) for s in sides_of)]
        seen = 0
        while todo:
            if seen >= self.boxes:
                return None
            box = todo.pop()
            seen += 1
            sides = [hull(low, high) for low, high in box]
            if any(wall(sides) < 0 for wall in walls):
                continue
            if value(sides) > 0 or _mean_value(value, slopes, box, sides) > 0:
                continue
            middle = [ball((low + high) / 2) for low, high in box]
            if value(middle) < 0 and not walls:
                return None
            todo.extend(_halves(box))
        return Proof(f"ball arithmetic over {seen} boxes", certified=True)

    def _constant(self, gap: Expression) -> Proof | None:
        try:
            positive = compile_ball(gap, [])([]) > 0
        except Unsupported:
            return None
        return Proof("ball arithmetic at a point", certified=True) if positive else None


def _fraction(number: Expression) -> Fraction:
    return Fraction(int(number.p), int(number.q))


def _mean_value(value: Evaluate, slopes: Sequence[Evaluate], box: Box, sides: list[Ball]) -> Ball:
    if not slopes:
        return ball(-1)
    middle = [(low + high) / 2 for low, high in box]
    total = value([ball(m) for m in middle])
    for slope, (low, high) in zip(slopes, box, strict=True):
        half = (high - low) / 2
        total = total + slope(sides) * hull(-half, half)
    return total


def _halves(box: Box) -> list[Box]:
    widths = [high - low for low, high in box]
    axis = widths.index(max(widths))
    low, high = box[axis]
    middle = (low + high) / 2
    return [
        (*box[:axis], (low, middle), *box[axis + 1 :]),
        (*box[:axis], (middle, high), *box[axis + 1 :]),
    ]
