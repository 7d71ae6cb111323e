"""Which declared indices code compares: rows, divisors, noise and bonuses, up to a positive factor.

A comparison of the code is an affine form. It is that of two declared indices where it has the same
rows with the same divisors, fresh Laplace noise of the same scales, one draw per register as long
as the register stands, and bonuses equal up to rounding. Draws in another order, or vectorised,
are the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.core.algorithm import Choose
from dpaudit.core.scores import Affine, Rule
from dpaudit.errors import Unsupported
from dpaudit.symbolic.run import Run
from dpaudit.symbolic.values import Linear

CLOSE = 1e-9


class Differs(Exception):
    """Code and declaration part at a round (from 1)."""

    def __init__(self, round: int, what: str) -> None:
        super().__init__(what)
        self.round = round


@dataclass
class Register:
    """What a register holds by the declaration: rounds, divisor, scale; and the code's draw."""

    rounds: tuple[int, ...]
    divisor: Fraction
    scale: float
    draw: int | None = None


def decided(
    request: Choose,
    rule: Rule,
    registers: dict[Any, Register],
    met: list[Any],
    run: Run,
    at: int,
    arm: int,
    taken: set[int],
) -> int:
    """Return the arm of a decision in which code and declaration agree, or raise `Differs`."""
    if not isinstance(rule, Affine):
        raise Unsupported(f"a {type(rule).__name__} rule is not compared with code.")
    shifts = np.broadcast_to(np.asarray(rule.shift, dtype=float), len(request.arms))
    slopes = np.broadcast_to(np.asarray(rule.scale, dtype=float), len(request.arms))
    if not met:
        raise Differs(at + 1, "the declaration decides here, the code compares nothing")
    order: set[tuple[int, int]] = set()
    for difference, signs in met:
        if not isinstance(difference, Linear):
            raise Unsupported("the code compares values that are not affine in rewards and noise.")
        pair = _pair(request, registers, shifts, slopes, difference, run, taken)
        if pair is None:
            raise Differs(
                at + 1,
                "the code compares values that are no declared indices: "
                + _shown(difference, run, request, registers),
            )
        first, second = pair
        if signs <= {0, 1}:
            order.add((first, second))
        elif signs <= {0, -1}:
            order.add((second, first))
    if not all(_above(order, arm, other) for other in request.arms if other != arm):
        raise Differs(at + 1, f"the code plays arm {arm}, which is not the largest index")
    return arm


def _above(order: set[tuple[int, int]], one: int, other: int) -> bool:
    reached, pending = {one}, [one]
    while pending:
        here = pending.pop()
        for a, b in order:
            if a == here and b not in reached:
                reached.add(b)
                pending.append(b)
    return other in reached


def _pair(
    request: Choose,
    registers: dict[Any, Register],
    shifts: Any,
    slopes: Any,
    difference: Linear,
    run: Run,
    taken: set[int],
) -> tuple[int, int] | None:
    """Return the arms whose declared indices a comparison compares, up to a positive factor."""
    for i, one in enumerate(request.arms):
        for j, other in enumerate(request.arms):
            if i == j:
                continue
            wanted: dict[int, float] = {}
            known = [registers.get(request.registers[k][0]) for k in (i, j)]
            if any(len(request.registers[k]) != 1 for k in (i, j)) or None in known:
                raise Unsupported("an index over several registers is not compared with code.")
            for sign, slope, register in ((1, slopes[i], known[0]), (-1, slopes[j], known[1])):
                assert register is not None
                for when in register.rounds:
                    wanted[when] = wanted.get(when, 0.0) + sign * slope / float(register.divisor)
            if _same(difference, run, wanted, shifts[i] - shifts[j], known, taken, slopes[[i, j]]):
                return one, other
    return None


def _same(
    difference: Linear,
    run: Run,
    wanted: dict[int, float],
    shift: float,
    known: list[Any],
    taken: set[int],
    slopes: Any,
) -> bool:
    if any(run.columns[name].owner != name for name in difference.rows):
        raise Unsupported("the code compares functions of rewards, not rewards.")
    rows = {run.columns[name].round: float(w) for name, w in difference.rows.items()}
    if rows.keys() != wanted.keys() or difference.publics or len(difference.draws) != 2:
        return False
    when = next(iter(wanted))
    factor = rows[when] / wanted[when]
    if factor <= 0 or any(not _close(rows[k], factor * w) for k, w in wanted.items()):
        return False
    if abs(float(difference.rest) / factor - shift) > CLOSE * (1 + abs(shift)):
        return False
    draws = sorted(difference.draws.items(), key=lambda it: -it[1])
    for register, (name, weight), sign, slope in zip(known, draws, (1, -1), slopes, strict=True):
        scale = run.laws[name].scale
        if scale is None or sign * weight <= 0:
            return False
        if not _close(abs(float(weight)) * float(scale), factor * slope * register.scale):
            return False
        if register.draw not in (None, name) or (register.draw is None and name in taken):
            return False
    for register, (name, _) in zip(known, draws, strict=True):
        register.draw = name
        taken.add(name)
    return True


def _close(a: float, b: float) -> bool:
    return abs(a - b) <= CLOSE * (abs(a) + abs(b))


def _shown(difference: Linear, run: Run, request: Choose, registers: dict[Any, Any]) -> str:
    """Say in words what the code compares and what is declared."""
    rounds = sorted(run.columns[name].round + 1 for name in difference.rows)
    scales = sorted(
        abs(float(w)) * float(run.laws[n].scale or 0) for n, w in difference.draws.items()
    )
    held = {arm: registers.get(request.registers[i][0]) for i, arm in enumerate(request.arms)}
    declared = "; ".join(
        f"arm {arm}: {_rewards(len(it.rounds))}, scale {it.scale:.6g}"
        for arm, it in held.items()
        if it
    )
    noise = ", ".join(f"{scale:.6g}" for scale in scales) or "none"
    return f"{_rewards(len(rounds))}, noise of scale {noise} (declared {declared})"


def _rewards(count: int) -> str:
    return f"{count} reward{'s' * (count != 1)}"
