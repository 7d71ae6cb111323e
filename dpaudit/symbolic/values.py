"""Tracked values: affine in rewards and draws with exact coefficients, or a function of such forms.

Arithmetic is that of the reals. A comparison asks the run at once and gives a plain truth value,
so a
tracked truth value does not exist. Whatever else is asked of a tracked value (text, hash, index,
float, an unknown attribute) ends the run in silence.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np

from dpaudit.symbolic import doubles, handmade
from dpaudit.symbolic.answers import Answer
from dpaudit.symbolic.handmade import Made
from dpaudit.symbolic.run import LATTICE, DrawLaw, current
from dpaudit.symbolic.weights import HUGE, Weights, combined, exact, is_number, scaled

TOKENS = count()
SIGNS = frozenset((-1, 0, 1))
APART = frozenset((-1, 1))
NONE: Weights = {}
EVEN = ("exp", "cos", "cosh")  # 1 at 0.0 and at -0.0
FEW = 16  # rows of a sum that are looked at whenever a number is added
LARGEST_WHOLE, HEAVIEST = 2**53, 10**10  # beside rewards, and of one: 64 bits hold their sums
TAME = 10**30  # the fourth power of sums of such numbers is far from what doubles hold
ANYWHERE = -math.inf, math.inf


def _shadowed(function: Callable[..., Any], *values: Any) -> Any:
    """Return what the real program has in place of a result; None outside of guarded runs."""
    if not current().guarded:
        return None
    return function(*(shadow(value) for value in values))


def shadow(value: Any) -> Any:
    """Return the number that the real program has in place of a value."""
    return value.shadow if isinstance(value, Tracked) else value


def _computed(found: Any, rule: Callable[..., doubles.Known], *given: Any) -> Any:
    """Return a result of the judged code's own arithmetic, with how its double is computed."""
    run = current()
    if run.tally is not None and isinstance(found, Tracked):
        found.computed = rule(run, *given)
    return found


def _in_integers(found: Any, *given: Any) -> Any:
    """Return a result that is an integer where all that it is made of are.

    Integers that rewards move and a new integer draw of the code's own make a public number: the
    draw hides them, moved by whole steps, and is used for nothing else (`Run.replaced`).
    """
    whole = all(type(it) is int or (isinstance(it, Linear) and it.whole) for it in given)
    if not whole:
        _round(*given)
    if not whole or not isinstance(found, Linear):
        return found
    found.whole = True
    if not found.rows or not found.draws:
        return found
    run, draw = current(), next(iter(found.draws))
    law = run.laws[draw]
    alone = len(found.draws) == 1 and abs(found.draws[draw]) == 1 and draw > run.first
    if not alone or draw in run.replaced or law.steps is None:
        found.whole = False
        return found
    run.laws[draw] = replace(law, kind=LATTICE, scale=law.steps)
    run.depend(found.forms())
    run.replaced.add(draw)
    return unknown(found.shadow)


def _round(*given: Any) -> None:
    """Take note that rewards meet arithmetic of doubles, if they do."""
    run = current()
    run.rounded = run.rounded or any(
        bool(it.rows) if isinstance(it, Linear) else isinstance(it, Opaque) for it in given
    )


def _no(what: str) -> Callable[..., Any]:
    def refuse(self: Any, *_: Any, **__: Any) -> Any:
        raise current().escape(
            f"{what} of a value that depends on rewards or noise",
            "keep it a number that is added, scaled and compared",
        )

    return refuse


def _answered(found: Any) -> Any:
    return found if found is NotImplemented else Answer(found)


def _require_real(other: Any) -> None:
    if isinstance(other, complex | np.complexfloating | list | tuple):
        kind = type(other).__name__
        raise current().escape(f"a comparison of rewards or noise with a {kind}")


def unlike(other: Any) -> Any:
    """Return NotImplemented for an array; what else is no number ends in silence."""
    if type(other).__name__ == "Array":
        return NotImplemented
    raise current().escape(f"an operation of rewards or noise and a {type(other).__name__}")


class Tracked(doubles.Value):
    """What `Linear` and `Opaque` share: the operators, and everything that is refused."""

    __slots__ = ("shadow",)
    __array_ufunc__ = None
    shadow: Any

    def forms(self) -> list[tuple[Weights, Weights]]:
        """Return the forms that the value is a function of."""
        raise NotImplementedError

    def __add__(self, other: Any) -> Any:
        found = _computed(add(self, other, 1), doubles.added, self, other, 1)
        return _in_integers(found, self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        found = _computed(add(self, other, -1), doubles.added, self, other, -1)
        return _in_integers(found, self, other)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        found = _computed(multiply(self, other), doubles.multiplied, self, other)
        return _in_integers(found, self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        _round(self, other)
        return _computed(divide(self, other), doubles.divided, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        _round(self)
        return ratio(other, self) if is_scalar(other) else NotImplemented

    def __neg__(self) -> Any:
        return self * -1

    def __pos__(self) -> Any:
        return self.renewed()

    def renewed(self) -> Any:
        """Return the same number as an object of its own: nan is found by identity alone."""
        raise NotImplementedError

    def __abs__(self) -> Any:
        return function(abs, self, lipschitz=1)

    def __pow__(self, other: Any) -> Any:
        if not is_scalar(other):
            return NotImplemented
        if not isinstance(other, int | np.integer):
            raise current().escape(
                "a broken power of a value that depends on rewards or noise", "it may be complex"
            )
        if other == 1:
            return self.renewed()
        if not 0 < other < 5 or not is_tame(self):
            may_raise("a power of a value that depends on rewards or noise", self, other)
        return function(operator.pow, self, other)

    def __rpow__(self, other: Any) -> Any:
        if not is_scalar(other):
            return NotImplemented
        may_raise("a power of a value that depends on rewards or noise", self, other)
        return function(lambda x, y: y**x, self, other)

    def __floordiv__(self, other: Any) -> Any:
        if not is_scalar(other):
            return NotImplemented
        if not is_number(other) or other == 0:
            may_raise("a division by a value that depends on rewards or noise", self, other)
        return function(operator.floordiv, self, other)

    def __mod__(self, other: Any) -> Any:
        if not is_scalar(other):
            return NotImplemented
        if not is_number(other) or other == 0:
            may_raise("a division by a value that depends on rewards or noise", self, other)
        return function(operator.mod, self, other)

    def __lt__(self, other: Any) -> Any:
        return _answered(questions.compare(self, other, frozenset((-1,))))

    def __le__(self, other: Any) -> Any:
        return _answered(questions.compare(self, other, frozenset((-1, 0))))

    def __gt__(self, other: Any) -> Any:
        return _answered(questions.compare(self, other, frozenset((1,))))

    def __ge__(self, other: Any) -> Any:
        return _answered(questions.compare(self, other, frozenset((0, 1))))

    def __eq__(self, other: Any) -> Any:
        if other is None or isinstance(other, str):
            return False
        _require_real(other)
        return _answered(questions.compare(self, other, frozenset((0,))))

    def __ne__(self, other: Any) -> Any:
        if other is None or isinstance(other, str):
            return True
        _require_real(other)
        return _answered(questions.compare(self, other, APART))

    def __bool__(self) -> bool:
        found = questions.compare(self, 0, APART)
        return bool(found)

    def __copy__(self) -> Any:
        return self.renewed()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.renewed()

    __hash__ = _no("the hash")
    __repr__ = _no("the text")
    __str__ = _no("the text")
    __format__ = _no("the text")
    __float__ = _no("float() in code that is not followed")
    __array__ = _no("an array that numpy makes by itself")
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
    __and__ = __or__ = __xor__ = __lshift__ = __rshift__ = __invert__ = _no("the bits")
    __rand__ = __ror__ = __rxor__ = __rlshift__ = __rrshift__ = _no("the bits")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        raise current().escape(f"the attribute {name} of a value that depends on rewards or noise")


class Linear(Tracked):
    """rest + public numbers that are not known + rows + draws, all coefficients exact.

    `whole` where the program has Python's integer, made of integers alone.
    """

    __slots__ = ("rest", "publics", "rows", "draws", "whole")

    def __init__(
        self, rest: Any, rows: Weights, draws: Weights, shadow: Any = None, publics: Weights = NONE
    ) -> None:
        self.rest, self.rows, self.draws, self.shadow = rest, rows, draws, shadow
        self.publics, self.computed, self.whole = publics, None, False

    def renewed(self) -> Linear:
        """Return the same number as an object of its own."""
        found = Linear(self.rest, self.rows, self.draws, self.shadow, self.publics)
        found.computed = self.computed
        return found

    def forms(self) -> list[tuple[Weights, Weights]]:
        """Return the one form; none for a public number."""
        return [(self.rows, self.draws)] if self.rows or self.draws else []


class Opaque(Tracked):
    """A function of some forms."""

    __slots__ = ("basis", "token", "made")

    def __init__(
        self,
        basis: Sequence[tuple[Weights, Weights]],
        shadow: Any = None,
        made: Made | None = None,
    ) -> None:
        self.basis, self.shadow, self.made = tuple(basis), shadow, made
        self.token, self.computed = next(TOKENS), None

    def renewed(self) -> Opaque:
        """Return the same number as an object of its own."""
        found = Opaque(self.basis, self.shadow, self.made)
        found.computed, found.token = self.computed, self.token
        return found

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


def is_zero(value: Any) -> bool:
    """Tell whether a value is zero, of a sign that no form tells."""
    plain = isinstance(value, Linear) and not (value.rows or value.draws or value.publics)
    return plain and value.rest == 0


def is_tame(value: Tracked) -> bool:
    """Tell whether a value is so small that its fourth power is no overflow."""
    if not finite(value):
        return False
    assert isinstance(value, Linear)
    if value.publics:
        return False  # of any size
    laws, parts = current().laws, (value.rows, value.draws)
    wide = any(not _narrow(laws[name]) for name in value.draws)
    return not wide and all(abs(it) < TAME for it in (value.rest, *_all(parts)))


def _narrow(law: DrawLaw) -> bool:
    """Tell whether a draw is known to be far from what doubles cannot hold."""
    spread = law.width if law.scale is None else law.scale
    return law.kind == "uniform" if spread is None else spread <= TAME


def _all(parts: Sequence[Weights]) -> list[Any]:
    return [weight for part in parts for weight in part.values()]


def unknown(real: Any = None) -> Linear:
    """Return a public number that is not known."""
    run = current()
    name = run.symbol()
    if real is not None:
        run.shadows[name] = real
    return Linear(0, NONE, NONE, real, {name: 1})


def doubt(real: Any = None) -> Weights:
    """Return what is 0, unless a result is nan or infinite, as a public part of it."""
    sound = real is None or math.isfinite(real)
    return unknown(None if real is None else 0.0 if sound else real).publics


def is_scalar(value: Any) -> bool:
    """Tell whether a value is a number, public or tracked."""
    return isinstance(value, Tracked) or is_number(value)


def opaque(
    forms: Sequence[tuple[Weights, Weights]], real: Any, made: Made | None = None
) -> Tracked:
    """Return a function of forms; a public number if there are none."""
    return Opaque(forms, real, made) if forms else unknown(real)


def _affine(a: Tracked, rest: Any, factor: Any, real: Any) -> Tracked:
    """Return rest + factor a of an opaque value, with its shape."""
    made = a.made.times(factor).plus(rest) if isinstance(a, Opaque) and a.made else None
    return opaque(a.forms(), real, made)


def _scaled(a: Linear, factor: Any, real: Any) -> Linear:
    parts = [scaled(part, factor) for part in (a.rows, a.draws, a.publics)]
    if abs(factor) > 1 and any(abs(it) > HUGE for it in _all(parts)):
        raise current().escape("a multiple of rewards or noise that doubles cannot hold")
    rest = a.rest * factor
    if abs(factor) > 1:
        _require_held(rest, parts[0])
    return Linear(rest, parts[0], parts[1], real, parts[2])


def _require_held(rest: Any, rows: Weights, new: Iterable[int] | None = None) -> None:
    """Raise where a whole number may be too large: numpy's integers wrap around, silently.

    A weight stands for all rows that are alike, which are fewer than 10^8: sums stay below 2^60.
    Where only some rows are `new`, the others have been looked at before.
    """
    columns = current().columns
    looked = rows if new is None else [name for name in new if name in rows]
    heavy = any(abs(rows[name]) * columns[name].reach > HEAVIEST for name in looked)
    if heavy or abs(rest) > LARGEST_WHOLE:
        limits = f"a weight of rewards above {HEAVIEST:,}, or a number beside them above 2^53"
        raise current().escape(limits, "numpy's integers may wrap around")


def add(a: Tracked, b: Any, factor: int) -> Any:
    """Return a + factor b."""
    b = int(b) if isinstance(b, Answer) else b
    if not is_scalar(b):
        return unlike(b)
    real = _shadowed(lambda x, y: x + factor * y, a, b)
    if is_number(b) and isinstance(b, float | np.floating) and math.isinf(b):
        raise current().escape("rewards or noise beside infinity", "compare with it instead")
    if isinstance(a, Linear):
        if is_number(b):
            rest = a.rest + factor * exact(b)
            _require_held(rest, a.rows, None if len(a.rows) < FEW else ())
            return Linear(rest, a.rows, a.draws, real, a.publics)
        if isinstance(b, Linear):
            rows, draws = combined(a.rows, b.rows, factor), combined(a.draws, b.draws, factor)
            met = ((rows, b.rows), (draws, b.draws))
            if any(abs(new.get(name, 0)) > HUGE for new, old in met for name in old):
                raise current().escape("a sum of rewards or noise that doubles cannot hold")
            publics = combined(a.publics, b.publics, factor) if b.publics else a.publics
            if any(wild(name) and name not in publics for name in (*a.publics, *b.publics)):
                publics = publics | doubt(real)  # what may be nan or infinite does not cancel
            if len(b.draws) == 1 and len(draws) > 1:
                draws = handmade.paired(current(), draws)
            rest = a.rest + factor * b.rest
            _require_held(rest, rows, min(a.rows, b.rows, key=len))
            return Linear(rest, rows, draws, real, publics)
    if is_number(b):
        return _affine(a, factor * exact(b), 1, real)
    if found := handmade.sum_of_shapes(current(), a, b, factor):
        return Linear(found[0], {}, found[1], real)
    return opaque(union(a, b), real)


def multiply(a: Tracked, b: Any) -> Any:
    """Return a b."""
    b = int(b) if isinstance(b, Answer) else b
    if not is_scalar(b):
        return unlike(b)
    real = _shadowed(operator.mul, a, b)
    if is_number(b):
        factor = exact(b)
        if factor == 0:
            return _vanished(a, real)
        return _scaled(a, factor, real) if isinstance(a, Linear) else _affine(a, 0, factor, real)
    if noise := handmade.product(current(), a, b):
        return Linear(0, {}, noise, real)
    return opaque(union(a, b), real)


def _vanished(a: Tracked, real: Any) -> Any:
    """Return zero times a value; where that may be negative, the sign of zero is a function of it.

    What may be infinite gives nan.
    """
    plain = isinstance(a, Linear) and not (a.draws or a.publics) and a.rest >= 0
    if plain and all(
        weight >= 0 and (ends := current().columns[name].ends) is not None and ends[0] >= 0
        for name, weight in a.rows.items()
    ):
        return Linear(0, NONE, NONE, real)
    return opaque(a.forms(), real)


def divide(a: Tracked, b: Any) -> Any:
    """Return a / b."""
    if not is_scalar(b):
        return unlike(b)
    if is_number(b):
        if isinstance(b, float | np.floating) and math.isinf(b):
            return _vanished(a, _shadowed(operator.truediv, a, b))
        divisor = exact(b)
        if divisor == 0:
            raise current().escape("division of a reward or of noise by zero")
        real, inverse = _shadowed(operator.truediv, a, b), Fraction(1) / divisor
        return _scaled(a, inverse, real) if isinstance(a, Linear) else _affine(a, 0, inverse, real)
    return ratio(a, b)


def ratio(a: Any, b: Any) -> Any:
    """Return a / b for a tracked b; dividing by zero may raise, which shows b."""
    if isinstance(b, Linear) and not (b.rows or b.draws or b.publics):
        if b.rest == 0:
            raise current().escape("a division by zero, of Python's type or numpy's")
        return (
            divide(a, b.rest) if isinstance(a, Tracked) else Linear(exact(a) / b.rest, NONE, NONE)
        )
    may_raise("a division by a value that depends on rewards or noise", b)
    return opaque(union(a, b), _shadowed(operator.truediv, a, b))


def may_raise(what: str, *values: Any) -> None:
    """Take note that an operation may raise: whether it does depends on the values' forms.

    Code that catches nothing ends there, which is one more outcome of the same forms. Code that
    catches goes on in another way, which is not followed.
    """
    run = current()
    if run.caught and not run.guarded:
        raise run.escape(f"{what}, within reach of a handler", "it may raise")
    if run.tally is not None:
        raise run.escape(f"{what}, which shows in more than comparisons")
    run.depend(union(*values))


def union(*values: Any) -> list[tuple[Weights, Weights]]:
    """Return the forms that some values are functions of."""
    found: list[tuple[Weights, Weights]] = []
    for value in values:
        if isinstance(value, Tracked):
            found += [form for form in value.forms() if form not in found]
    return found


def function(
    real: Callable[..., Any],
    *values: Any,
    lipschitz: Any = None,
    moves: Callable[[Any], Any] | None = None,
) -> Any:
    """Return a deterministic function of values: opaque in their forms.

    Of a single raw reward it is a new symbol where it moves by at most `lipschitz` times as much;
    `moves` gives the exact values of a monotone function at the ends of where the reward lies.
    """
    run = current()
    if moves is None:
        _round(*values)
    numbers = _shadowed(real, *values)
    tracked = [value for value in values if isinstance(value, Tracked)]
    if any(is_zero(value) for value in tracked):
        if len(values) == 1 and getattr(real, "__name__", "") in EVEN:
            return Linear(1, NONE, NONE, numbers)
        why = "whether it is 0.0 or -0.0 shows what it was made of"
        raise run.escape("a function of a reward or noise minus itself, or times zero", why)
    first = tracked[0] if len(tracked) == 1 else None
    if lipschitz is not None and isinstance(first, Linear) and _is_raw(first):
        [(row, weight)] = first.rows.items()
        known = run.columns[row]
        reach, ends = lipschitz * abs(weight) * known.reach, None
        if moves is not None:
            before = known.ends if known.ends is not None and known.single else ANYWHERE
            low, high = sorted(moves(first.rest + weight * end) for end in before)
            if not math.isinf(high - low):
                reach, ends = min(reach, high - low), (low, high)
        found: Tracked = Linear(0, {run.moved(row, reach, numbers, ends): 1}, {}, numbers)
    else:
        made = None
        if len(values) == 1:
            made = handmade.shape_of_function(run, str(getattr(real, "__name__", "")), first)
        found = opaque(union(*values), numbers, made)
    return _computed(found, doubles.clipped, first, moves) if moves is not None else found


def _is_raw(value: Linear) -> bool:
    """Tell whether a value is affine in one reward alone."""
    return len(value.rows) == 1 and not value.draws and not value.publics


def published(value: Any) -> Any:
    """Return a value as a public number; the path depends on it from here on."""
    if not isinstance(value, Tracked):
        return value
    run = current()
    if run.tally is not None:
        raise run.escape("a draw whose law depends on rewards or noise")
    run.depend(value.forms())
    return unknown(value.shadow)


from dpaudit.symbolic import questions  # noqa: E402  it needs the classes above, which ask it
