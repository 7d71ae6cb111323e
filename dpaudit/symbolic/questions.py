"""Questions about tracked values: comparisons, and which of several values is the largest.

What an answer depends on is recorded (`Run.depend`), every outcome that is possible is explored. A
tie has probability 0 where the difference has a continuous draw; a raw reward lies in [0, 1]; what
was answered before is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from dpaudit.symbolic import doubles
from dpaudit.symbolic.coins import fair_draw
from dpaudit.symbolic.run import Coin, current
from dpaudit.symbolic.values import (
    APART,
    SIGNS,
    Linear,
    Opaque,
    Tracked,
    add,
    finite,
    is_scalar,
    shadow,
    union,
)
from dpaudit.symbolic.weights import exact, is_number, sign_of

Signs = frozenset[int]
FIRST: Signs = frozenset((0, 1))
LATER: Signs = frozenset((-1,))


def compare(a: Tracked, b: Any, wanted: Signs) -> Any:
    """Return whether the sign of a - b is among the wanted ones, by asking the run."""
    if not is_scalar(b):
        return NotImplemented
    run = current()
    if is_number(b) and isinstance(b, float | np.floating) and not math.isfinite(b):
        if math.isnan(b) or not finite(a):
            return asked(lambda: sign_of(shadow(a) - b) in wanted, a)
        if run.tally is not None:
            doubles.required(run, a)  # it is finite in doubles too
        return sign_of(-b) in wanted
    difference = add(a, b, -1)
    if not finite(difference):
        return _guessed(a, b, difference, wanted)
    assert isinstance(difference, Linear)
    possible = _known(difference)
    inside = possible & wanted
    if not inside or inside == possible:
        doubles.implied(run, a, b)
        return bool(inside)
    coin = _coin(difference)

    def real() -> int:
        _agree(difference)
        return 0 if sign_of(shadow(a) - shadow(b)) in wanted else 1

    start = len(run.forms)
    if coin is None:
        _record(a, b, difference)
    _fork(difference, coin, start)
    chosen = run.branch(2, real)
    run.decided.append((difference, inside if chosen == 0 else possible - wanted))
    _followed(a, b, wanted, chosen == 0, start)
    return chosen == 0


def _followed(a: Any, b: Any, wanted: Signs, yes: bool, start: int) -> None:
    """Take note of a comparison for what the program does in doubles."""
    run = current()
    if run.tally is None:
        return
    if wanted in (APART, frozenset((0,))):
        raise run.escape("it asks whether two values are equal")
    larger, other = (a, b) if (1 in wanted) == yes else (b, a)
    doubles.followed(run, start, larger, [other])


def _fork(difference: Linear, coin: Coin | None, start: int) -> None:
    """Take note of a branch that can join again: on a reward without noise, or on a fair coin."""
    run = current()
    if difference.publics or len(difference.rows) > 1:
        return
    if not difference.rows:
        draw = fair_draw(run, difference)
        if draw is not None:
            run.fork(None, start, draw)
    elif math.isinf(coin.charge) if coin is not None else not difference.draws:
        [row] = difference.rows
        column = run.columns[row]
        if column.single and column.owner == row:
            run.fork(row, start, None if coin is None else coin.draw)


def asked(real: Callable[[], bool], *values: Any) -> bool:
    """Return the answer to a question about values that depends on all of their forms."""
    run = current()
    run.depend(union(*values))
    return run.branch(2, lambda: 0 if real() else 1) == 0


def _guessed(a: Tracked, b: Any, difference: Tracked, wanted: frozenset[int]) -> bool:
    """Ask about values that may be nan: an answer implies no other one, only itself."""
    run = current()
    run.decided.append((difference, SIGNS))
    parts = [_name(part) for part in (a, b)]
    flipped = repr(parts[0]) > repr(parts[1])
    signs = frozenset(-sign for sign in wanted) if flipped else wanted
    key = ("guess", *(parts[::-1] if flipped else parts), signs)
    if key in run.signs:
        doubles.implied(run, a, b)
        return bool(run.signs[key])
    start = len(run.forms)
    _record(a, b, difference)
    yes = run.branch(2, lambda: 0 if _truth(shadow(a), shadow(b), wanted) else 1) == 0
    run.signs[key] = APART if yes else frozenset()
    _followed(a, b, wanted, yes, start)
    return yes


def _truth(a: Any, b: Any, wanted: frozenset[int]) -> bool:
    if a != a or b != b:
        return wanted == APART  # of nan only `!=` is true
    return int(a > b) - int(a < b) in wanted


def _agree(value: Linear) -> None:
    parts = {**value.rows, **value.draws, **value.publics}
    run = current()
    run.agree(parts, value.rest, value.shadow)
    run.differences.append(value)


def _record(a: Any, b: Any, difference: Tracked) -> None:
    run = current()
    apart = run.apart or not isinstance(difference, Linear)
    run.depend(union(a, b) if apart else difference.forms())


def _possible(difference: Linear) -> Signs:
    """Return the signs that a finite difference can have, whatever was answered before."""
    current().require_whole(difference.draws)
    if difference.publics:
        return SIGNS
    if not difference.rows and not difference.draws:
        return frozenset((sign_of(difference.rest),))
    laws = current().laws
    if any(laws[name].continuous for name in difference.draws):
        return APART  # a tie has probability 0
    return SIGNS if difference.draws else _ranged(difference)


def may_be_equal(a: Any, b: Any) -> bool:
    """Tell whether two finite values may be the same number."""
    if not isinstance(a, Tracked) and not isinstance(b, Tracked):
        return bool(a == b)
    difference = a - b
    return not (isinstance(difference, Linear) and 0 not in _possible(difference))


def _known(difference: Linear) -> Signs:
    """Return the signs that a finite difference can still have, after all that was answered."""
    run = current()
    possible = _possible(difference)
    while run.filed < len(run.decided):
        before, left = run.decided[run.filed]
        run.filed += 1
        if isinstance(before, Linear) and finite(before) and (before.forms() or before.publics):
            key, signs = _normal(before), left if _lead(before) > 0 else _turned(left)
            run.signs[key] = run.signs.get(key, SIGNS) & signs
    if not run.signs or len(possible) == 1:
        return possible
    signs = run.signs.get(_normal(difference), SIGNS)
    return possible & (signs if _lead(difference) > 0 else _turned(signs))


def _turned(signs: Signs) -> Signs:
    return frozenset(-sign for sign in signs)


def _ranged(difference: Linear) -> Signs:
    """Return the signs that an affine function of raw rewards can have, each within its ends."""
    low = high = difference.rest
    for name, weight in difference.rows.items():
        column = current().columns[name]
        if not column.single or column.owner != name or column.ends is None:
            return SIGNS
        ends = [weight * end for end in column.ends]
        low, high = low + min(ends), high + max(ends)
    return frozenset(s for s in SIGNS if sign_of(low) <= s <= sign_of(high))


def _name(value: Any) -> Any:
    if isinstance(value, Opaque):
        return "function", value.token  # a number is another name
    if isinstance(value, Linear):
        part = value.forms() or value.publics
        return (*_normal(value), _lead(value)) if part else value.rest
    return exact(value)


def _lead(value: Linear) -> Any:
    part = value.draws or value.rows or value.publics
    return part[min(part)]


def _normal(value: Linear) -> tuple[Any, ...]:
    lead = Fraction(_lead(value))
    rows = tuple(sorted((name, weight / lead) for name, weight in value.rows.items()))
    draws = tuple(sorted((name, weight / lead) for name, weight in value.draws.items()))
    publics = tuple(sorted((name, weight / lead) for name, weight in value.publics.items()))
    return rows, draws, publics, value.rest / lead


def _coin(difference: Linear) -> Coin | None:
    """Return the charge of a uniform draw against one row, recorded; None if it is not that."""
    from dpaudit.symbolic.coins import coin_of

    run = current()
    found = coin_of(run, difference)
    if found is not None:
        run.coins.append(found)
    return found


def largest(values: Sequence[Any], sign: int = 1) -> int:
    """Return the position of the largest value (the first of them), in one branch.

    With `sign` -1 the smallest.
    """
    best: int | None = None
    for position, value in enumerate(values):
        if isinstance(value, Tracked):
            continue
        if value != value:
            raise current().escape("the largest of values, one of which is nan")
        if best is None or sign * value > sign * values[best]:
            best = position
    tracked = [position for position, value in enumerate(values) if isinstance(value, Tracked)]
    tame = all(finite(values[position]) for position in tracked)
    for position in tracked:
        if current().tally is not None:
            doubles.required(current(), values[position])  # finite in doubles too
    if not tracked or (tame and best is not None and values[best] == sign * math.inf):
        return best or 0
    if tame and best is not None and values[best] == -sign * math.inf:
        best = None
    return _winner(values, sorted(tracked if best is None else [*tracked, best]), sign)


def _winner(values: Sequence[Any], among: list[int], sign: int) -> int:
    """Ask the run which of the candidates wins; what is known of them is not asked."""
    run = current()
    pairs = {(j, k): _difference(values[j], values[k], sign) for j, k in combinations(among, 2)}
    beaten = {loser for loser in map(_loser, pairs, pairs.values()) if loser is not None}
    # on a path that cannot be, answers may contradict each other, and all be beaten
    able = [position for position in among if position not in beaten] or among
    if beaten:
        doubles.implied(run, *(values[position] for position in among))
    if len(able) == 1:
        return able[0]
    start = len(run.forms)
    for position in able[1:]:
        _record_pair(values[position], values[able[0]], pairs[able[0], position])

    def real() -> int:
        numbers = [sign * shadow(values[position]) for position in able]
        return int(np.argmax(np.array(numbers, dtype=float)))

    chosen = able[run.branch(len(able), real)]
    if not all(finite(value) or is_number(value) for value in values):
        run.decided.append((None, SIGNS))
    for other in able:
        if other != chosen:
            difference = pairs[min(other, chosen), max(other, chosen)]
            if isinstance(difference, Linear) and finite(difference):
                # of equal values the first one wins
                run.decided.append((difference, FIRST if chosen < other else LATER))
    if run.tally is not None:
        shown = {position: values[position] * sign for position in able}
        larger = shown.pop(chosen)
        doubles.followed(run, start, larger, list(shown.values()))
    return chosen


def _difference(a: Any, b: Any, sign: int) -> Any:
    """Return sign (a - b); None where an infinite number is among them."""
    if any(is_number(value) and math.isinf(value) for value in (a, b)):
        return None
    found = add(a, b, -1) if isinstance(a, Tracked) else add(-b, a, 1)
    return found if sign > 0 else -found


def _loser(pair: tuple[int, int], difference: Any) -> int | None:
    """Return which of a pair is known to lose; of equal values the first one wins."""
    if isinstance(difference, Linear) and finite(difference):
        signs = _known(difference)
    else:
        return None
    if signs <= FIRST:
        return pair[1]
    return pair[0] if signs <= LATER else None


def _record_pair(a: Any, b: Any, difference: Any) -> None:
    if not isinstance(difference, Linear):
        current().depend(union(a, b))
    else:
        _record(a, b, difference)
        if current().guarded:
            _agree(a - b if isinstance(a, Tracked) else b - a)
