"""Tracked values: affine in rewards and draws with exact coefficients, or a function of such forms.

Arithmetic is that of the reals. A comparison asks the run at once and gives a plain truth value,
so a
tracked truth value does not exist. Whatever else is asked of a tracked value (text, hash, index,
float, an unknown attribute) ends the run in silence.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np

from dpaudit.symbolic.run import current

Weights = dict[int, Any]
TOKENS = count()
SIGNS = frozenset((-1, 0, 1))
APART = frozenset((-1, 1))
NONE: Weights = {}
NUMBERS = (int, float, Fraction, np.number, np.bool_)


def exact(value: Any) -> Any:
    """Return a finite number as the integer or fraction that it is."""
    if type(value) is int or type(value) is Fraction:
        return value
    if isinstance(value, int | np.integer | np.bool_):
        return int(value)
    number = float(value)
    if not math.isfinite(number):
        raise current().escape(f"arithmetic of {number} with rewards or noise")
    return int(number) if number.is_integer() else Fraction(number)


def is_number(value: Any) -> bool:
    """Tell whether a value is a public number."""
    return isinstance(value, NUMBERS)


def combined(a: Weights, b: Weights, factor: Any) -> Weights:
    """Return a + factor b."""
    total = dict(a)
    for name, weight in b.items():
        found = total.get(name, 0) + factor * weight
        if found:
            total[name] = found
        else:
            total.pop(name, None)
    return total


def _shadowed(function: Callable[..., Any], *values: Any) -> Any:
    """Return what the real program has in place of a result; None outside of guarded runs."""
    if not current().guarded:
        return None
    return function(*(shadow(value) for value in values))


def shadow(value: Any) -> Any:
    """Return the number that the real program has in place of a value."""
    return value.shadow if isinstance(value, Tracked) else value


def _no(what: str) -> Callable[..., Any]:
    def refuse(self: Any, *_: Any, **__: Any) -> Any:
        raise current().escape(
            f"{what} of a value that depends on rewards or noise",
            "keep it a number that is added, scaled and compared",
        )

    return refuse


class Tracked:
    """What `Linear` and `Opaque` share: the operators, and everything that is refused."""

    __slots__ = ("shadow",)
    __array_ufunc__ = None
    shadow: Any

    def forms(self) -> list[tuple[Weights, Weights]]:
        """Return the forms that the value is a function of."""
        raise NotImplementedError

    def __add__(self, other: Any) -> Any:
        return add(self, other, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return add(self, other, -1)

    def __rsub__(self, other: Any) -> Any:
        return add(-self, other, 1)

    def __mul__(self, other: Any) -> Any:
        return multiply(self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return divide(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return ratio(other, self) if _scalar(other) else NotImplemented

    def __neg__(self) -> Any:
        return multiply(self, -1)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return function(abs, self, lipschitz=1)

    def __pow__(self, other: Any) -> Any:
        if is_number(other) and other == 1:
            return self
        if not _scalar(other):
            return NotImplemented
        if not (isinstance(other, int) and 0 < other < 5):
            may_raise("a power of a value that depends on rewards or noise", self, other)
        return function(operator.pow, self, other)

    def __rpow__(self, other: Any) -> Any:
        if not _scalar(other):
            return NotImplemented
        may_raise("a power of a value that depends on rewards or noise", self, other)
        return function(lambda x, y: y**x, self, other)

    def __floordiv__(self, other: Any) -> Any:
        if not _scalar(other):
            return NotImplemented
        if not is_number(other) or other == 0:
            may_raise("a division by a value that depends on rewards or noise", self, other)
        return function(operator.floordiv, self, other)

    def __mod__(self, other: Any) -> Any:
        if not _scalar(other):
            return NotImplemented
        if not is_number(other) or other == 0:
            may_raise("a division by a value that depends on rewards or noise", self, other)
        return function(operator.mod, self, other)

    def __lt__(self, other: Any) -> Any:
        return compare(self, other, frozenset((-1,)))

    def __le__(self, other: Any) -> Any:
        return compare(self, other, frozenset((-1, 0)))

    def __gt__(self, other: Any) -> Any:
        return compare(self, other, frozenset((1,)))

    def __ge__(self, other: Any) -> Any:
        return compare(self, other, frozenset((0, 1)))

    def __eq__(self, other: Any) -> Any:
        if other is None or isinstance(other, str):
            return False
        return compare(self, other, frozenset((0,)))

    def __ne__(self, other: Any) -> Any:
        if other is None or isinstance(other, str):
            return True
        return compare(self, other, APART)

    def __bool__(self) -> bool:
        found = compare(self, 0, APART)
        return bool(found)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def item(self) -> Any:
        """Return the value itself, as numpy's scalars do."""
        return self

    copy = item
    conjugate = item

    __hash__ = _no("the hash")
    __repr__ = _no("the text")
    __str__ = _no("the text")
    __format__ = _no("the text")
    __float__ = _no("float() in code that is not followed")
    __int__ = _no("the whole part")
    __trunc__ = _no("the whole part")
    __index__ = _no("the use as an index")
    __complex__ = _no("complex()")
    __round__ = _no("rounding")
    __floor__ = _no("rounding")
    __ceil__ = _no("rounding")
    __reduce__ = _no("pickling")
    __reduce_ex__ = _no("pickling")
    __rfloordiv__ = _no("floor division by a value")
    __rmod__ = _no("the remainder")
    __divmod__ = _no("divmod")
    __rdivmod__ = _no("divmod")
    __matmul__ = _no("a matrix product")
    __rmatmul__ = _no("a matrix product")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        raise current().escape(f"the attribute {name} of a value that depends on rewards or noise")


class Linear(Tracked):
    """rest + public numbers that are not known + rows + draws, all coefficients exact."""

    __slots__ = ("rest", "publics", "rows", "draws")

    def __init__(
        self, rest: Any, rows: Weights, draws: Weights, shadow: Any = None, publics: Weights = NONE
    ) -> None:
        self.rest, self.rows, self.draws, self.shadow = rest, rows, draws, shadow
        self.publics = publics

    def forms(self) -> list[tuple[Weights, Weights]]:
        """Return the one form; none for a public number."""
        return [(self.rows, self.draws)] if self.rows or self.draws else []


class Opaque(Tracked):
    """A function of some forms."""

    __slots__ = ("basis", "token")

    def __init__(self, basis: Sequence[tuple[Weights, Weights]], shadow: Any = None) -> None:
        self.basis, self.shadow = tuple(basis), shadow
        self.token = next(TOKENS)

    def forms(self) -> list[tuple[Weights, Weights]]:
        """Return the forms."""
        return list(self.basis)


def wild(public: int) -> bool:
    """Tell whether a public number may be infinite or nan: a function gave it."""
    return public > 0 or public % 2 == 0


def public_name(number: int, may_be_wild: bool) -> int:
    """Return the name of a public number of a settled state."""
    return -2 * number - (2 if may_be_wild else 1)


def finite(value: Any) -> bool:
    """Tell whether a tracked value is certainly a finite number."""
    return isinstance(value, Linear) and not any(map(wild, value.publics))


def unknown(real: Any = None) -> Linear:
    """Return a public number that is not known."""
    run = current()
    name = run.symbol()
    if real is not None:
        run.shadows[name] = real
    return Linear(0, NONE, NONE, real, {name: 1})


def _scalar(value: Any) -> bool:
    return isinstance(value, Tracked) or is_number(value)


def linear(rest: Any, rows: Weights, draws: Weights, real: Any, publics: Weights) -> Any:
    """Return a linear value; a plain number where nothing is left of it."""
    if rows or draws or publics:
        return Linear(rest, rows, draws, real, publics)
    return float(rest)


def opaque(forms: Sequence[tuple[Weights, Weights]], real: Any) -> Tracked:
    """Return a function of forms; a public number if there are none."""
    return Opaque(forms, real) if forms else unknown(real)


def _scaled(a: Linear, factor: Any, real: Any) -> Linear:
    parts = [{n: w * factor for n, w in part.items()} for part in (a.rows, a.draws, a.publics)]
    return Linear(a.rest * factor, parts[0], parts[1], real, parts[2])


def add(a: Tracked, b: Any, factor: int) -> Any:
    """Return a + factor b."""
    if not _scalar(b):
        return NotImplemented
    real = _shadowed(lambda x, y: x + factor * y, a, b)
    if is_number(b) and isinstance(b, float | np.floating) and math.isinf(b):
        return factor * float(b) if finite(a) else opaque(a.forms(), real)
    if isinstance(a, Linear):
        if is_number(b):
            return Linear(a.rest + factor * exact(b), a.rows, a.draws, real, a.publics)
        if isinstance(b, Linear):
            rows, draws = combined(a.rows, b.rows, factor), combined(a.draws, b.draws, factor)
            publics = combined(a.publics, b.publics, factor) if b.publics else a.publics
            return linear(a.rest + factor * b.rest, rows, draws, real, publics)
    return opaque(_union(a, b), real)


def multiply(a: Tracked, b: Any) -> Any:
    """Return a b."""
    if not _scalar(b):
        return NotImplemented
    real = _shadowed(operator.mul, a, b)
    if is_number(b):
        factor = exact(b)
        if factor == 0:
            return 0.0 if finite(a) else opaque(a.forms(), real)
        if isinstance(a, Linear):
            return _scaled(a, factor, real)
    return opaque(_union(a, b), real)


def divide(a: Tracked, b: Any) -> Any:
    """Return a / b."""
    if not _scalar(b):
        return NotImplemented
    if is_number(b):
        if isinstance(b, float | np.floating) and math.isinf(b):
            return 0.0 if finite(a) else opaque(a.forms(), _shadowed(operator.truediv, a, b))
        divisor = exact(b)
        if divisor == 0:
            raise current().escape("division of a reward or of noise by zero")
        if isinstance(a, Linear):
            return _scaled(a, Fraction(1) / divisor, _shadowed(operator.truediv, a, b))
    return ratio(a, b)


def ratio(a: Any, b: Any) -> Any:
    """Return a / b for a tracked b; dividing by zero may raise, which shows b."""
    may_raise("a division by a value that depends on rewards or noise", b)
    return opaque(_union(a, b), _shadowed(operator.truediv, a, b))


def may_raise(what: str, *values: Any) -> None:
    """Take note that an operation may raise: whether it does depends on the values' forms.

    Code that catches nothing ends there, which is one more outcome of the same forms. Code that
    catches goes on in another way, which is not followed.
    """
    run = current()
    if run.catching and not run.guarded:
        raise run.escape(f"{what}, in code that catches exceptions", "it may raise")
    run.depend(_union(*values))


def _union(*values: Any) -> list[tuple[Weights, Weights]]:
    found: list[tuple[Weights, Weights]] = []
    for value in values:
        if isinstance(value, Tracked):
            found += [form for form in value.forms() if form not in found]
    return found


def function(
    real: Callable[..., Any], *values: Any, lipschitz: Any = None, reach: Any = None
) -> Any:
    """Return a deterministic function of values: opaque in their forms.

    Of a single raw reward it is a new symbol where it moves by at most `lipschitz` times as much,
    or
    lies in an interval of length `reach`.
    """
    run = current()
    numbers = _shadowed(real, *values)
    tracked = [value for value in values if isinstance(value, Tracked)]
    first = tracked[0] if len(tracked) == 1 else None
    if isinstance(first, Linear) and not first.draws and not first.publics and len(first.rows) == 1:
        [(row, weight)] = first.rows.items()
        limits = [] if reach is None else [Fraction(reach)]
        if lipschitz is not None:
            limits.append(lipschitz * abs(weight) * run.columns[row].reach)
        if limits:
            name = run.moved(row, Fraction(min(limits)), numbers)
            return Linear(0, {name: 1}, {}, numbers)
    return opaque(_union(*values), numbers)


def published(value: Any) -> Any:
    """Return a value as a public number; the path depends on it from here on."""
    if not isinstance(value, Tracked):
        return value
    current().depend(value.forms())
    return unknown(value.shadow)


def sign_of(number: Any) -> int:
    """Return -1, 0 or 1."""
    return int(number > 0) - int(number < 0)


def compare(a: Tracked, b: Any, wanted: frozenset[int]) -> Any:
    """Return whether the sign of a - b is among the wanted ones, by asking the run."""
    if not _scalar(b):
        return NotImplemented
    if is_number(b) and isinstance(b, float | np.floating) and not math.isfinite(b):
        if math.isnan(b) or not finite(a):
            return asked(lambda: sign_of(shadow(a) - b) in wanted, a)
        return sign_of(-b) in wanted
    difference = add(a, b, -1)
    if not isinstance(difference, Tracked):
        return sign_of(difference) in wanted
    if not finite(difference):
        return _guessed(a, b, difference, wanted)
    run = current()
    assert isinstance(difference, Linear)
    key, flipped, possible = _question(difference)
    if flipped:
        wanted = frozenset(-sign for sign in wanted)
    possible = run.signs.get(key, possible)
    inside = possible & wanted
    if not inside or inside == possible:
        return bool(inside)
    coin = _coin(difference)

    def real() -> int:
        found = sign_of(shadow(a) - shadow(b))
        _agree(difference)
        return 0 if (-found if flipped else found) in wanted else 1

    if coin is None:
        _record(a, b, difference)
    chosen = run.branch(2, real)
    left = inside if chosen == 0 else possible - wanted
    run.signs[key] = left
    run.decided.append((difference, frozenset(-s for s in left) if flipped else left))
    return chosen == 0


def asked(real: Callable[[], bool], *values: Any) -> bool:
    """Return the answer to a question about values that depends on all of their forms."""
    run = current()
    run.depend(_union(*values))
    return run.branch(2, lambda: 0 if real() else 1) == 0


def _guessed(a: Tracked, b: Any, difference: Tracked, wanted: frozenset[int]) -> bool:
    """Ask about values that may be nan: an answer implies no other one, only itself."""
    run = current()
    run.decided.append((difference, SIGNS))
    parts = [_name(part) for part in (a, b)]
    flipped = repr(parts[0]) > repr(parts[1])
    signs = frozenset(-sign for sign in wanted) if flipped else wanted
    key = ("guess", *(parts[::-1] if flipped else parts), signs)
    if key not in run.signs:
        _record(a, b, difference)
        yes = run.branch(2, lambda: 0 if _truth(shadow(a), shadow(b), wanted) else 1) == 0
        run.signs[key] = APART if yes else frozenset()
    return bool(run.signs[key])


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
    run.depend(_union(a, b) if apart else difference.forms())


def _question(difference: Linear) -> tuple[Any, bool, frozenset[int]]:
    """Return what a comparison asks, whether with the sign flipped, and the possible signs."""
    run = current()
    lead = _lead(difference)
    possible = SIGNS
    if not difference.publics:
        if any(run.laws[name].continuous for name in difference.draws):
            possible = APART  # a tie has probability 0
        elif not difference.draws:
            possible = _ranged(difference)
    if lead < 0:
        possible = frozenset(-sign for sign in possible)
    return _normal(difference), lead < 0, possible


def _ranged(difference: Linear) -> frozenset[int]:
    """Return the signs that an affine function of raw rewards in [0, 1] can have."""
    columns = current().columns
    if not all(columns[name].single and columns[name].owner == name for name in difference.rows):
        return SIGNS
    low = difference.rest + sum(min(weight, 0) for weight in difference.rows.values())
    high = difference.rest + sum(max(weight, 0) for weight in difference.rows.values())
    return frozenset(s for s in SIGNS if sign_of(low) <= s <= sign_of(high))


def _name(value: Any) -> Any:
    if isinstance(value, Opaque):
        return value.token
    return (*_normal(value), _lead(value)) if isinstance(value, Linear) else exact(value)


def _lead(value: Linear) -> Any:
    part = value.draws or value.rows or value.publics
    return part[min(part)]


def _normal(value: Linear) -> tuple[Any, ...]:
    lead = Fraction(_lead(value))
    rows = tuple(sorted((name, weight / lead) for name, weight in value.rows.items()))
    draws = tuple(sorted((name, weight / lead) for name, weight in value.draws.items()))
    publics = tuple(sorted((name, weight / lead) for name, weight in value.publics.items()))
    return rows, draws, publics, value.rest / lead


def _coin(difference: Linear) -> Any:
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
    if not tracked or (tame and best is not None and values[best] == sign * math.inf):
        return best or 0
    if tame and best is not None and values[best] == -sign * math.inf:
        best = None
    return _winner(values, sorted(tracked if best is None else [*tracked, best]), sign)


def _winner(values: Sequence[Any], among: list[int], sign: int) -> int:
    """Ask the run which of the candidates wins; public differences are not asked."""
    run = current()
    able = [k for k in among if not any(_beats(values, j, k, sign) for j in among if j != k)]
    if len(able) == 1:
        return able[0]
    for position in able[1:]:
        _record_pair(values[position], values[able[0]])

    def real() -> int:
        numbers = [sign * shadow(values[position]) for position in able]
        return int(np.argmax(np.array(numbers, dtype=float)))

    chosen = able[run.branch(len(able), real)]
    if not all(finite(value) or is_number(value) for value in values):
        run.decided.append((None, SIGNS))
    for other in able:
        if other != chosen:
            _remember(values[chosen], values[other], sign, strict=other < chosen)
    return chosen


def _difference(a: Any, b: Any) -> tuple[Any, int]:
    """Return a - b (or b - a where only b is tracked) and the sign of that choice."""
    return (add(a, b, -1), 1) if isinstance(a, Tracked) else (add(b, a, -1), -1)


def _infinite(*values: Any) -> bool:
    return any(is_number(value) and math.isinf(value) for value in values)


def _record_pair(a: Any, b: Any) -> None:
    difference, _ = _difference(a, b)
    if _infinite(a, b) or not isinstance(difference, Linear):
        current().depend(_union(a, b))
    else:
        _record(a, b, difference)
        if current().guarded:
            _agree(difference)


def _beats(values: Sequence[Any], j: int, k: int, sign: int) -> bool:
    """Tell whether candidate j is known to win against candidate k."""
    a, b = values[j], values[k]
    if not (isinstance(a, Tracked) or isinstance(b, Tracked)) or _infinite(a, b):
        return False
    difference, side = _difference(a, b)
    if not isinstance(difference, Tracked):
        signs = frozenset((side * sign_of(difference),))
    elif isinstance(difference, Linear) and finite(difference):
        key, flipped, possible = _question(difference)
        known = current().signs.get(key, possible)
        signs = frozenset(side * (-s if flipped else s) for s in known)
    else:
        return False
    return signs <= {sign} or (signs <= {0, sign} and j < k)


def _remember(winner: Any, loser: Any, sign: int, strict: bool) -> None:
    if _infinite(winner, loser):
        return
    difference, side = _difference(winner, loser)
    if not isinstance(difference, Linear) or not finite(difference):
        return
    key, flipped, possible = _question(difference)
    allowed = {sign} if strict else {sign, 0}
    turned = {side * (-s if flipped else s) for s in allowed}
    run = current()
    run.signs[key] = run.signs.get(key, possible) & frozenset(turned)
    run.decided.append((difference, frozenset(side * s for s in allowed)))
