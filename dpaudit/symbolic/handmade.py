"""Laplace noise made by hand: idioms whose draws are replaced by one Laplace draw.

With E, E' exponential draws of scale b and S a fair sign, all independent, E - E' and S E are
Laplace(b). With z uniform on [0, 1], -log z, -log(1 - z) and -log(1 - 2|z - 1/2|) are exponential,
the last one independent of sign(z - 1/2): the inverse distribution function

    -b sign(u) log(1 - 2|u|),    u = z - 1/2,

is the product of the two. The replacement is exact where the draws that it is made of are used in
it alone: they must be new, in no earlier branch, and whatever meets one of them later ends in
silence (`Run.depend`, and the walk for what is kept between rounds).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpaudit.symbolic.run import DrawLaw, Run

SIZE, SIGN, LOG, LOG_SIZE = "size", "sign", "log", "log of a size"
HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Made:
    """rest + factor X, where X is one of these of a uniform draw z (exponential: of scale 1).

    size: 1 - 2|z - 1/2|; sign: sign(z - 1/2); log: -log z or -log(1 - z); log of a size: -log of
    1 - 2|z - 1/2|.
    """

    kind: str
    draw: int
    rest: Any = 0
    factor: Any = 1

    def plus(self, number: Any) -> Made:
        """Return the shape of the sum with a public number."""
        return replace(self, rest=self.rest + number)

    def times(self, number: Any) -> Made:
        """Return the shape of a public multiple."""
        return replace(self, rest=self.rest * number, factor=self.factor * number)

    @property
    def exponential(self) -> bool:
        """Whether X is an exponential draw."""
        return self.kind in (LOG, LOG_SIZE)


def shape_of_function(run: Run, name: str, value: Any) -> Made | None:
    """Return the shape of abs, sign, log or log1p of a value; None if it is no part of an idiom."""
    known = _made(value)
    if isinstance(known, Made):
        shift = {"log": 0, "log1p": -1}.get(name)
        if known.kind == SIZE and shift == known.rest and known.factor == 1:
            return Made(LOG_SIZE, known.draw, 0, -1)
        return None
    found = _uniform(run, value)
    if found is None:
        return None
    draw, rest, weight = found
    if name in ("log", "log1p"):
        rest += name == "log1p"
        return Made(LOG, draw, 0, -1) if (rest, weight) in ((0, 1), (1, -1)) else None
    if rest != -weight * HALF:
        return None
    if name in ("abs", "absolute", "fabs"):  # |w| |z - 1/2| = |w|/2 - |w|/2 (1 - 2|z - 1/2|)
        half = abs(weight) * HALF
        return Made(SIZE, draw, half, -half)
    return Made(SIGN, draw, 0, 1 if weight > 0 else -1) if name == "sign" else None


def _made(value: Any) -> Made | None:
    return value.made if hasattr(type(value), "made") else None


def _uniform(run: Run, value: Any) -> tuple[int, Any, Any] | None:
    """Return draw, rest and weight of a value that is affine in one uniform draw alone."""
    draws = value.draws if hasattr(type(value), "draws") else None
    if not draws or len(draws) != 1 or value.rows or value.publics:
        return None
    [(draw, weight)] = draws.items()
    return (draw, value.rest, weight) if run.laws[draw].kind == "uniform" else None


def sum_of_shapes(run: Run, a: Any, b: Any, factor: int) -> tuple[Any, dict[int, Any]] | None:
    """Return the rest and the draw of a + factor b, if that is Laplace noise."""
    one, two = _made(a), _made(b)
    if not (isinstance(one, Made) and isinstance(two, Made)):
        return None
    if not (one.exponential and two.exponential) or one.draw == two.draw:
        return None
    if one.factor != -factor * two.factor:
        return None
    real = _real(run, a, b, lambda x, y: x + factor * y)
    rest = one.rest + factor * two.rest
    name = _laplace(run, {one.draw, two.draw}, real, rest, one.factor)
    return None if name is None else (rest, {name: one.factor})


def product(run: Run, a: Any, b: Any) -> dict[int, Any] | None:
    """Return a b as a Laplace draw with its weight, if it is a sign times an exponential draw."""
    for sign, size in ((a, b), (b, a)):
        one = _made(sign)
        if not isinstance(one, Made) or one.kind != SIGN or one.rest:
            continue
        two = _exponential(run, size)
        if two is None or (two.draw == one.draw and two.kind != LOG_SIZE):
            continue
        weight = one.factor * two.factor
        real = _real(run, a, b, lambda x, y: x * y)
        name = _laplace(run, {one.draw, two.draw}, real, 0, weight)
        return None if name is None else {name: weight}
    return None


def _exponential(run: Run, value: Any) -> Made | None:
    """Return a multiple of an exponential draw as a shape."""
    known = _made(value)
    if isinstance(known, Made):
        return known if known.exponential and not known.rest else None
    draws = value.draws if hasattr(type(value), "draws") else None
    if not draws or len(draws) != 1 or value.rows or value.publics or value.rest:
        return None
    [(draw, weight)] = draws.items()
    width = run.laws[draw].width
    return Made(LOG, draw, 0, weight * width) if width else None


def paired(run: Run, draws: dict[int, Any]) -> dict[int, Any]:
    """Return draws with the difference of two exponential draws of one scale as a Laplace draw."""
    mine = [name for name in draws if run.laws[name].width]
    for number, one in enumerate(mine):
        weight = draws[one] * run.laws[one].width
        for other in mine[number + 1 :]:
            if weight != -draws[other] * run.laws[other].width:
                continue
            real = None
            if run.guarded:
                parts = [float(draws[name]) * run.shadows[name] for name in (one, other)]
                real = sum(parts)
            name = _laplace(run, {one, other}, real, 0, weight)
            if name is not None:
                left = {n: w for n, w in draws.items() if n not in (one, other)}
                return paired(run, {**left, name: weight})
    return draws


def _real(run: Run, a: Any, b: Any, operation: Any) -> Any:
    return operation(a.shadow, b.shadow) if run.guarded else None


def _laplace(run: Run, parts: set[int], real: Any, rest: Any, weight: Any) -> int | None:
    """Return a Laplace draw of scale 1 in place of its parts; None if one may be used elsewhere."""
    if min(parts) <= run.first or parts & run.replaced:
        return None
    if any(parts & form.draws.keys() for form in run.forms):
        return None
    if any(coin.draw in parts for coin in run.coins):
        return None
    run.replaced |= parts
    number = None if real is None else (real - float(rest)) / float(weight)
    return run.draw(DrawLaw("laplace", Fraction(1), run.place()), number)
