"""Random generators on symbols: every draw is a new symbol with its law.

numpy's global functions, its generators and Python's `random` are the same here. A generator with a
fixed seed draws public numbers: their noise hides nothing. In a guarded run a real generator stands
behind each of them and gives the doubles. Draws from a finite set are public branches.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np

from dpaudit.symbolic import doubles
from dpaudit.symbolic.allowed import DRAWS
from dpaudit.symbolic.arrays import Array, array, concrete, storage
from dpaudit.symbolic.beside import drawing
from dpaudit.symbolic.elementwise import lifted
from dpaudit.symbolic.run import DrawLaw, current
from dpaudit.symbolic.values import Linear, Tracked, doubt, finite, may_raise, shadow, union
from dpaudit.symbolic.weights import HUGE, exact, is_number

MOST_OUTCOMES = 64
FIXED = "a constant seed"


def publish_parameters(kind: str, real: Any, *parameters: Any) -> dict[int, Any]:
    """Publish the parameters of a law, which may raise; return the doubt that a draw inherits."""
    tracked = [part for part in parameters if isinstance(part, Tracked)]
    if tracked:
        may_raise(f"a {kind} draw whose law depends on rewards or noise", *tracked)
    return {} if all(map(finite, tracked)) else doubt(real)


class Source:
    """A generator: unseeded (its draws are noise) or seeded with a constant (they are not)."""

    __slots__ = ("fixed", "real", "kind", "origin", "drawn")

    def __init__(self, fixed: bool, real: Any = None, kind: str = "Generator") -> None:
        values = {"fixed": fixed, "real": real, "kind": kind, "origin": object(), "drawn": 0}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def position(self) -> tuple[Any, int]:
        """Return which seeded generator this is, and a mark of all that it has drawn."""
        return self.origin, self.drawn

    def again(self) -> Source:
        """Return the same seeded generator at the same position."""
        found = type(self)(self.fixed, self.real, self.kind)
        object.__setattr__(found, "origin", self.origin)
        object.__setattr__(found, "drawn", self.drawn)
        return found

    def advance(self, what: Any = None) -> None:
        """Take note of a draw."""
        object.__setattr__(self, "drawn", hash((self.drawn, what)))

    def __setattr__(self, name: str, value: Any) -> None:
        raise current().escape(f"an attribute {name} put on a random generator")

    def law(
        self, kind: str, scale: Fraction | None = None, width: Fraction | None = None
    ) -> DrawLaw:
        """Return the law of a draw of this generator."""
        place = current().place()
        self.advance()
        if self.fixed:
            return DrawLaw(
                FIXED, None, place, continuous=False, given=(*self.position(), kind, scale, width)
            )
        return DrawLaw(kind, scale, place, width=width)

    def waiting(self, real: Any, scale: Any) -> Any:
        """Return an exponential draw; of a public scale it may be a part of Laplace noise."""
        if not isinstance(scale, Tracked):
            if not 0 <= scale < HUGE:
                raise current().escape(f"an exponential draw of scale {scale}")
            if scale == 0:
                self.advance()
                return 0.0
        public = None if isinstance(scale, Tracked) else Fraction(exact(scale))
        unsure = publish_parameters("exponential", real, scale)
        law = self.law("exponential", None, public)
        if public is None:
            law = replace(law, continuous=False, given=(*law.given, None))
        name = current().draw(law, real)
        return Linear(0, {}, {name: 1}, real, unsure)

    def value(self, kind: str, real: Any, scale: Any = None) -> Any:
        """Return a fresh draw; with a scale, one of a shiftable law."""
        run = current()
        if isinstance(scale, Tracked):
            raise run.escape(
                "a noise scale that depends on rewards or noise", "use a scale that is public"
            )
        price = None
        if scale is not None:
            number = float(scale)
            if math.isnan(number) or number < 0 or math.isinf(number):
                raise run.escape(f"noise of scale {number:g}")
            if number == 0:
                self.advance()
                return 0.0
            price = Fraction(exact(scale))
        name = run.draw(self.law(kind, price), real)
        found = Linear(0, {}, {name: 1}, real)
        if run.tally is not None and not self.fixed and kind in ("laplace", "uniform"):
            found.computed = doubles.noise(scale, name) if kind == "laplace" else doubles.COIN
        return found

    def spread_by(self, kind: str, real: Any, *parameters: Any) -> Any:
        """Return a draw whose parameters are published; where one is 0, it may be a constant."""
        for part in parameters:
            public = not isinstance(part, Tracked)
            if public and not (0 <= part < HUGE and (part or kind != "beta")):
                raise current().escape(f"a {kind} draw with the parameter {part}")
        unsure = publish_parameters(kind, real, *parameters)
        law, known = (
            self.law(kind),
            [None if isinstance(p, Tracked) else exact(p) for p in parameters],
        )
        law = replace(law, continuous=law.continuous and all(known), given=(*law.given, *known))
        name = current().draw(law, real)
        return Linear(0, {}, {name: 1}, real, unsure)

    def spread(
        self, size: Any, parameters: Sequence[Any], make: Callable[..., Any], real: Any
    ) -> Any:
        """Return draws for broadcast parameters and a size, as numpy does."""
        parts = [lifted(part) for part in parameters]
        run = current()
        numbers = None
        if run.guarded:
            numbers = real(*(_numbers(part) for part in parts))
        shape = None
        if size is not None:
            shape = (int(size),) if not isinstance(size, tuple | list) else tuple(map(int, size))
        elif any(isinstance(part, Array) for part in parts):
            shape = np.broadcast_shapes(*(p.shape for p in parts if isinstance(p, Array)))
        if shape is None:
            return make(*parts, None if numbers is None else float(numbers))
        stores = [np.broadcast_to(storage(part), shape) for part in parts]
        found = []
        for index in np.ndindex(shape):
            one = None if numbers is None else float(numbers[index])
            found.append(make(*(store[index] for store in stores), one))
        return array(found).reshape(shape)

    def outcome(self, count: int, real: Callable[[], int], fair: bool = True) -> int:
        """Return which of finitely many outcomes happens: a public branch, fair or not."""
        run = current()
        self.advance()
        if not run.drawing:
            run.draw(DrawLaw("choice"))
        if not 1 <= count <= MOST_OUTCOMES:
            raise run.escape(f"a random choice among {count} outcomes")
        if fair and count == 2 and not self.fixed:
            run.fork(None, len(run.forms))
        if run.tally is not None:
            run.tally.branches += 1  # a public one
        return run.branch(count, real)

    # -- continuous laws ------------------------------------------------------------------------

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Return Laplace noise around `loc`."""

        def make(centre: Any, width: Any, real: Any) -> Any:
            noise = None if real is None else real - shadow(centre)
            return centre + self.value("laplace", noise, width)

        return self.spread(
            size, (loc, scale), make, lambda a, b: self.real.laplace(a, b, size=size)
        )

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Return normal noise around `loc`."""
        return self._shifted("normal", loc, scale, size)

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Return logistic noise around `loc`."""
        return self._shifted("logistic", loc, scale, size)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Return Gumbel noise around `loc`."""
        return self._shifted("gumbel", loc, scale, size)

    def _shifted(self, kind: str, loc: Any, scale: Any, size: Any) -> Any:
        def make(centre: Any, width: Any, real: Any) -> Any:
            noise = None if real is None else real - shadow(centre)
            return centre + self.spread_by(kind, noise, width)

        method = lambda a, b: getattr(self.real, kind)(a, b, size=size)  # noqa: E731
        return self.spread(size, (loc, scale), make, method)

    def standard_normal(self, size: Any = None) -> Any:
        """Return standard normal noise."""
        method = lambda: self.real.standard_normal(size=size)  # noqa: E731
        return self.spread(size, (), lambda real: self.value("normal", real), method)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Return uniform draws on public intervals."""

        def make(a: Any, b: Any, real: Any) -> Any:
            if isinstance(a, Tracked) or isinstance(b, Tracked):
                raise current().escape("a uniform draw between values that depend on rewards")
            width = exact(b) - exact(a)
            if width < 0:
                raise current().escape("a uniform draw from an interval of no length")
            part = None if real is None else (real - float(a)) / float(width)
            return exact(a) + width * self.value("uniform", part)

        return self.spread(size, (low, high), make, lambda a, b: self.real.uniform(a, b, size=size))

    def random(self, size: Any = None) -> Any:
        """Return uniform draws on [0, 1]."""
        method = lambda: self.real.random(size)  # noqa: E731
        return self.spread(size, (), lambda real: self.value("uniform", real), method)

    random_sample = random

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        """Return exponential draws; nothing hides behind a single one in both directions."""

        def make(width: Any, real: Any) -> Any:
            return self.waiting(real, width)

        return self.spread(size, (scale,), make, lambda a: self.real.exponential(a, size=size))

    def _public_law(self, kind: str, parameters: Sequence[Any], size: Any) -> Any:
        def make(*given: Any) -> Any:
            return self.spread_by(kind, given[-1], *given[:-1])

        method = lambda *a: getattr(self.real, kind)(*a, size=size)  # noqa: E731
        return self.spread(size, parameters, make, method)

    def beta(self, a: Any, b: Any, size: Any = None) -> Any:
        """Return Beta draws; the parameters are published."""
        return self._public_law("beta", (a, b), size)

    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
        """Return Gamma draws; the parameters are published."""
        return self._public_law("gamma", (shape, scale), size)

    # -- finite laws ----------------------------------------------------------------------------

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """Return one Bernoulli draw, a coin."""
        if size is not None or isinstance(n, Tracked | Array) or n != 1 or isinstance(p, Array):
            raise current().escape("a binomial draw other than one coin")
        if not isinstance(p, Tracked):
            if not 0 <= p <= 1:
                raise current().escape(f"a binomial draw with probability {p}")
            if not 0 < p < 1 and not current().guarded:
                self.advance()
                return int(p >= 1)  # the real generator may draw for it all the same
            return self.outcome(2, lambda: int(self.real.binomial(1, p)), p == 0.5)
        if current().guarded:
            return int(self.real.binomial(1, shadow(p)))
        may_raise("a binomial draw whose chance depends on rewards or noise", p)
        coin = self.value("uniform", None)
        return int(coin < p)

    def integers(self, low: Any, high: Any = None, size: Any = None, **more: Any) -> Any:
        """Return uniform integers: public branches."""
        return self._whole("integers", low, high, size, more, 1 if more.get("endpoint") else 0)

    def randint(self, low: Any, high: Any = None, size: Any = None, **more: Any) -> Any:
        """Return uniform integers, as numpy's older generator does."""
        return self._whole("randint", low, high, size, more, 0)

    def _whole(self, name: str, low: Any, high: Any, size: Any, more: Any, end: int) -> Any:
        if size is not None or isinstance(low, Array) or isinstance(high, Array):
            raise current().escape("an array of random integers")
        if more.keys() - {"endpoint"}:
            raise current().escape(f"random integers with {', '.join(more)}")
        start, stop = (0, int(low)) if high is None else (int(low), int(high))
        stop += end
        real = lambda: int(getattr(self.real, name)(low, high, **more)) - start  # noqa: E731
        found = start + self.outcome(stop - start, real)
        return np.int64(found) if name == "integers" else found

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, **more: Any
    ) -> Any:
        """Return one element: a public branch."""
        if more or (size is not None and size != 1):
            raise current().escape("random.choice of several elements, or along an axis")
        if isinstance(lifted(a), Array) and lifted(a).ndim != 1:
            raise current().escape("a random choice among rows")
        options = list(range(int(a))) if is_number(a) else list(a)
        weights, places = None, list(range(len(options)))
        if p is not None:
            given = lifted(p)
            if noisy_weights(given.store.flat):
                weights = _numbers(given) if current().guarded else None
            else:
                weights = np.asarray(concrete(given), dtype=float)
                able = weights.shape == (len(options),) and (weights >= 0).all()
                if not able or abs(sum(weights) - 1) > 1e-9:
                    raise current().escape("a random choice whose weights are no probabilities")
                places = [k for k, weight in enumerate(weights) if weight > 0]
        if not options:
            raise ValueError("a must be a positive integer unless no samples are taken")

        def real() -> int:
            found = int(self.real.choice(len(options), replace=replace, p=weights))
            return places.index(found)

        place = places[self.outcome(len(places), real, p is None)]
        if size is not None:
            return array([options[place]])
        if is_number(a):
            return type(np.random.default_rng(0).choice(2))(options[place])
        return array(options)[place]  # numpy makes an array of them first

    def permutation(self, x: Any) -> Any:
        """Return a random order: a public branch."""
        items = list(range(int(x))) if is_number(x) else list(lifted(x))
        return array([items[k] for k in self._order(len(items))])

    def _order(self, count: int) -> tuple[int, ...]:
        if count > 4:
            raise current().escape(f"a random order of {count} elements")
        orders = list(permutations(range(count)))

        def real() -> int:
            return orders.index(tuple(int(k) for k in self.real.permutation(count)))

        return orders[self.outcome(len(orders), real)]

    def shuffle(self, x: Any) -> None:
        """Bring a list into a random order: a public branch."""
        if current().guarded or type(x) is not list:
            raise current().escape("random.shuffle")
        x[:] = [x[k] for k in self._order(len(x))]

    def spawn(self, n_children: int) -> list[Source]:
        """Return generators of their own, as independent as this one is."""
        count = operator.index(n_children)
        reals = self.real.spawn(count) if current().guarded else [None] * count
        self.advance()
        children = [type(self)(self.fixed, real, self.kind) for real in reals]
        for number, child in enumerate(children):
            object.__setattr__(child, "origin", (*self.position(), number))
        return children

    def seed(self, *_: Any) -> None:
        """Refuse: the draws that follow are known."""
        raise current().escape(
            "the global generator is seeded by the code: its noise is a public constant",
            "leave seeding to the caller",
        )

    def rand(self, *shape: int) -> Any:
        """Return uniform draws, as numpy's older function does."""
        return self.random(tuple(shape) or None)

    def randn(self, *shape: int) -> Any:
        """Return normal draws, as numpy's older function does."""
        return self.standard_normal(tuple(shape) or None)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise current().escape(f"the random function {name}")

    def __copy__(self) -> Source:
        raise current().escape("a copy of a random generator", "two generators then draw the same")

    def __repr__(self) -> str:
        raise current().escape("the text of a random generator")

    def __deepcopy__(self, memo: Any) -> Source:
        raise current().escape("a copy of a random generator", "two generators then draw the same")


def noisy_weights(weights: Iterable[Any]) -> bool:
    """Tell whether weights of a choice are functions of noisy values, which are then public.

    Of weights that depend on rewards without noise (the exponential mechanism) nothing is known.
    """
    tracked = [part for part in weights if isinstance(part, Tracked)]
    run = current()
    for rows, draws in union(*tracked):
        if rows and all(run.laws[name].scale is None for name in draws):
            raise run.escape("a random choice whose weights depend on rewards without noise")
    if tracked:
        may_raise("a random choice whose weights depend on rewards or noise", *tracked)
    return bool(tracked)


def _numbers(value: Any) -> Any:
    """Return what the real program has in place of a parameter."""
    if isinstance(value, Array):
        return np.array([shadow(part) for part in value.store.flat], dtype=float).reshape(
            value.shape
        )
    return shadow(value)


drawing(Source, DRAWS)
