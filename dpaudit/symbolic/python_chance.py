"""Python's `random` on symbols: the same draws as numpy's, under its own names."""

from __future__ import annotations

import math
from collections import deque
from fractions import Fraction
from typing import Any

from dpaudit.symbolic.allowed import PYTHON_DRAWS
from dpaudit.symbolic.arrays import Array
from dpaudit.symbolic.beside import drawing
from dpaudit.symbolic.chance import Source, noisy_weights
from dpaudit.symbolic.run import current, named
from dpaudit.symbolic.values import Tracked, shadow
from dpaudit.symbolic.weights import exact


class PythonSource(Source):
    """Python's `random`, with its own names."""

    __slots__ = ()

    def __init__(self, fixed: bool, real: Any = None, kind: str = "Random") -> None:
        super().__init__(fixed, real, kind)

    def random(self, *_: Any) -> Any:
        """Return a uniform draw on [0, 1]."""
        return self.value("uniform", self.real.random() if current().guarded else None)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Return a uniform draw."""
        return exact(low) + (exact(high) - exact(low)) * self.random()

    def gauss(self, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
        """Return a normal draw."""
        real = self.real.gauss(0.0, shadow(sigma)) if current().guarded else None
        return mu + self.spread_by("normal", real, sigma)

    def normalvariate(self, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
        """Return a normal draw."""
        real = self.real.normalvariate(0.0, shadow(sigma)) if current().guarded else None
        return mu + self.spread_by("normal", real, sigma)

    def expovariate(self, lambd: Any = 1.0) -> Any:
        """Return an exponential draw."""
        real = self.real.expovariate(shadow(lambd)) if current().guarded else None
        return self.waiting(
            real, lambd if isinstance(lambd, Tracked) else Fraction(1) / exact(lambd)
        )

    def betavariate(self, alpha: Any, beta: Any) -> Any:
        """Return a Beta draw; the parameters are published."""
        real = self.real.betavariate(shadow(alpha), shadow(beta)) if current().guarded else None
        return self.spread_by("beta", real, alpha, beta)

    def choice(self, a: Any, *more: Any, **named: Any) -> Any:
        """Return one element: a public branch."""
        if more or named:
            raise current().escape("random.choice with more than one argument")
        options = _sequence(a)
        return options[self.outcome(len(options), lambda: self.real.choice(range(len(options))))]

    def choices(
        self, population: Any, weights: Any = None, *, cum_weights: Any = None, k: int = 1
    ) -> Any:
        """Return one element in a list: a public branch."""
        if k != 1 or cum_weights is not None:
            raise current().escape("random.choices of several elements, or of summed weights")
        options, given = _sequence(population), None if weights is None else list(weights)
        noisy = given is not None and noisy_weights(given)
        if given is not None and not noisy and not all(0 <= part < math.inf for part in given):
            raise current().escape("random.choices with weights that are no finite numbers")
        able = [n for n in range(len(options)) if given is None or noisy or given[n] > 0]

        def real() -> int:
            numbers = None if given is None else [shadow(part) for part in given]
            return able.index(self.real.choices(range(len(options)), numbers)[0])

        return [options[able[self.outcome(len(able), real, weights is None)]]]

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        """Return a whole number: a public branch."""
        options = range(start) if stop is None else range(start, stop, step)
        return options[self.outcome(len(options), lambda: options.index(self.real.choice(options)))]

    def randint(self, low: Any, high: Any = None, *_: Any, **__: Any) -> Any:
        """Return a whole number, both ends included."""
        real = lambda: self.real.randint(low, high) - low  # noqa: E731
        return low + self.outcome(high - low + 1, real)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise current().escape(f"the random function {name}")


def _sequence(value: Any) -> list[Any]:
    """Return what is chosen from; Python takes positions, and others have keys or no order."""
    if type(value) not in (list, tuple, range, str, deque, Array):
        raise current().escape(f"a random choice from a {named(type(value))}")
    return list(value)


drawing(PythonSource, PYTHON_DRAWS)
