"""Generators whose draws go astray, so that real runs reach what chance seldom reaches.

Both programs of the guard draw from them in the same order. That their laws are others than their
names say does not matter there: it is asked what the code computes of a draw, not how likely it is.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from dpaudit.sample.guard import Generators, lent_randomness
from dpaudit.symbolic.allowed import DRAWS, PYTHON_DRAWS

_RNG, _STATE = np.random.default_rng, np.random.RandomState
FAR = (1.0, 1.0, 10.0, 1000.0)
STEEP = 8


class _Wild:
    """Draws of one of numpy's generators, moved away from their centre or into a corner."""

    plain: Any

    def _moved(self, name: str, loc: Any, scale: Any, size: Any) -> Any:
        far = FAR[int(self.plain.random() * len(FAR))]
        return loc + (getattr(self.plain, name)(loc, scale, size) - loc) * far

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._moved("laplace", loc, scale, size)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._moved("normal", loc, scale, size)

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._moved("logistic", loc, scale, size)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._moved("gumbel", loc, scale, size)

    def random(self, size: Any = None) -> Any:
        far = self.plain.random()
        return _cornered(self.plain.random(size), far)

    random_sample = random

    def rand(self, *shape: int) -> Any:
        return self.random(shape or None)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        return low + (high - low) * self.random(size)


def _cornered(uniform: Any, far: float) -> Any:
    """Return a number of [0, 1), often close to an end."""
    if far < 0.5:
        return uniform
    return uniform**STEEP if far < 0.75 else (1 - 1e-9) * (1 - uniform**STEEP)


class WildGenerator(_Wild, np.random.Generator):  # type: ignore[misc]
    """numpy's generator, gone astray."""

    def __init__(self, seed: Any) -> None:
        super().__init__(np.random.PCG64(seed))
        self.plain = _RNG(seed)

    def spawn(self, n_children: int) -> Any:
        """Return generators of its own, gone astray too."""
        return [WildGenerator(int(it.integers(2**62))) for it in self.plain.spawn(n_children)]


class WildState(_Wild, np.random.RandomState):
    """numpy's older generator, gone astray."""

    def __init__(self, seed: Any) -> None:
        super().__init__(seed)
        self.plain = _STATE(seed)


class WildRandom(random.Random):
    """Python's generator, gone astray."""

    def random(self) -> float:
        far = super().random()
        return float(_cornered(super().random(), far))


class WildGenerators(Generators):
    """Generators in place of unseeded ones."""

    def __call__(self, kind: str) -> Any:
        """Return the next generator of a kind."""
        seed = self.next()
        if kind == "Random":
            return WildRandom(seed[0] * 65_537 + seed[1])
        return WildGenerator(seed) if kind == "default_rng" else WildState(seed)


@contextmanager
def wild_randomness(seed: int) -> Iterator[None]:
    """Give the global generators, and unseeded ones of the block, draws that go astray."""
    made = WildGenerators(seed)
    state, python = WildState(seed), WildRandom(seed)
    places: list[tuple[Any, str, Any]] = [
        *((np.random, name, getattr(state, name)) for name in DRAWS if hasattr(state, name)),
        *((random, name, getattr(python, name)) for name in PYTHON_DRAWS),
    ]
    real: Any = np.random
    before = [(module, name, getattr(module, name)) for module, name, _ in places]
    with lent_randomness(seed):
        plain, older = real.default_rng, real.RandomState

        def default_rng(given: Any = None) -> Any:
            return made("default_rng") if given is None else plain(given)

        class StrayState(_STATE):  # type: ignore[misc,valid-type]
            def __new__(cls, given: Any = None) -> Any:
                return made("RandomState") if given is None else older(given)

        StrayState.__name__ = "RandomState"

        for module, name, value in places:
            setattr(module, name, value)
        real.default_rng, real.RandomState = default_rng, StrayState
        try:
            yield
        finally:
            for module, name, value in before:
                setattr(module, name, value)
