"""Numbers that remember: rewards that no noise has touched, and noise that knows what it covers.

`Raw` is a reward, or a number computed from rewards: it behaves as a float until plain code asks
for its value (to compare it, to store it in an array), which the recorder notes with the source
line. `Noise` is a draw of an instrumented generator: adding it to anything is a release, which the
recorder notes with the value that it covers; the result is an ordinary float.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpaudit.sample.recorder import Recorder


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Raw | Noise) else value


class Raw:
    """A number computed from rewards alone; arithmetic keeps it raw, reading it is noted."""

    __array_ufunc__ = None
    __slots__ = ("recorder", "value")

    def __init__(self, value: float, recorder: Recorder) -> None:
        self.value = float(value)
        self.recorder = recorder

    def _with(self, other: Any, result: Any) -> Any:
        if isinstance(result, np.ndarray):
            self.recorder.use(self.value)
            return result
        return Raw(result, self.recorder)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Noise | NoiseArray):
            return other.__radd__(self)
        return self._with(other, self.value + _plain(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, Noise | NoiseArray):
            return other.__rsub__(self)
        return self._with(other, self.value - _plain(other))

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, _plain(other) - self.value)

    def __mul__(self, other: Any) -> Any:
        return self._with(other, self.value * _plain(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self._with(other, self.value / _plain(other))

    def __rtruediv__(self, other: Any) -> Any:
        return self._with(other, _plain(other) / self.value)

    def __pow__(self, other: Any) -> Any:
        return self._with(other, self.value ** _plain(other))

    def __neg__(self) -> Raw:
        return Raw(-self.value, self.recorder)

    def __abs__(self) -> Raw:
        return Raw(abs(self.value), self.recorder)

    def __float__(self) -> float:
        return self.recorder.use(self.value)

    def __int__(self) -> int:
        return int(self.recorder.use(self.value))

    def __round__(self, digits: int | None = None) -> float:
        return round(self.recorder.use(self.value), digits)

    def __bool__(self) -> bool:
        return bool(self.recorder.use(self.value))

    def __eq__(self, other: object) -> bool:
        return bool(self.recorder.use(self.value) == _plain(other))

    def __lt__(self, other: Any) -> Any:
        return self.recorder.use(self.value) < _plain(other)

    def __le__(self, other: Any) -> Any:
        return self.recorder.use(self.value) <= _plain(other)

    def __gt__(self, other: Any) -> Any:
        return self.recorder.use(self.value) > _plain(other)

    def __ge__(self, other: Any) -> Any:
        return self.recorder.use(self.value) >= _plain(other)

    def __hash__(self) -> int:
        return hash(self.recorder.use(self.value))


class Noise:
    """A draw that is a release once it is added to something.

    The sum of two draws hides at least as well as the wider of them: its law keeps that scale.
    """

    __array_ufunc__ = None
    __slots__ = ("law", "recorder", "scale", "value")

    def __init__(self, value: float, law: str, scale: float, recorder: Recorder) -> None:
        self.value = float(value)
        self.law = law
        self.scale = float(scale)
        self.recorder = recorder

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Noise):
            wide = self if self.scale >= other.scale else other
            return Noise(self.value + other.value, wide.law, wide.scale, self.recorder)
        if isinstance(other, np.ndarray):
            flat = [self._cover(x) for x in other.ravel()]
            return np.array(flat).reshape(other.shape)
        return self._cover(other)

    __radd__ = __add__

    def _cover(self, value: Any) -> float:
        return self.recorder.release(float(_plain(value)), self.value, self.law, self.scale)

    def __neg__(self) -> Noise:
        return Noise(-self.value, self.law, self.scale, self.recorder)

    def __sub__(self, other: Any) -> Any:
        return self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return (-self) + other

    def __mul__(self, other: Any) -> Noise:
        factor = float(_plain(other))
        return Noise(self.value * factor, self.law, self.scale * abs(factor), self.recorder)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Noise:
        return self * (1.0 / float(_plain(other)))

    def __float__(self) -> float:
        return self.value

    def __abs__(self) -> float:
        return abs(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __pow__(self, other: Any) -> Any:
        return self.value ** _plain(other)

    def __lt__(self, other: Any) -> Any:
        return self.value < _plain(other)

    def __le__(self, other: Any) -> Any:
        return self.value <= _plain(other)

    def __gt__(self, other: Any) -> Any:
        return self.value > _plain(other)

    def __ge__(self, other: Any) -> Any:
        return self.value >= _plain(other)


class NoiseArray:
    """Several draws at once."""

    __array_ufunc__ = None

    def __init__(self, draws: list[Noise]) -> None:
        self.draws = draws

    def __len__(self) -> int:
        return len(self.draws)

    def __getitem__(self, index: Any) -> Any:
        found = self.draws[index]
        return NoiseArray(found) if isinstance(found, list) else found

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array([draw.value for draw in self.draws], dtype=dtype)

    def __add__(self, other: Any) -> Any:
        covered = np.broadcast_to(np.asarray(other, dtype=object), (len(self),))
        return np.array([draw + value for draw, value in zip(self.draws, covered, strict=True)])

    __radd__ = __add__

    def __neg__(self) -> NoiseArray:
        return NoiseArray([-draw for draw in self.draws])

    def __rsub__(self, other: Any) -> Any:
        return (-self) + other

    def __mul__(self, other: Any) -> NoiseArray:
        factors = np.broadcast_to(np.asarray(other, dtype=float), (len(self),))
        return NoiseArray([draw * f for draw, f in zip(self.draws, factors, strict=True)])

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> NoiseArray:
        return self * (1.0 / np.asarray(other, dtype=float))


class TracingGenerator:
    """A generator whose Laplace and Gaussian draws know what they are added to.

    Every other method is that of the numpy generator inside.
    """

    def __init__(self, rng: np.random.Generator, recorder: Recorder) -> None:
        self._rng = rng
        self._recorder = recorder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rng, name)

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Draw Laplace noise; a location that is not zero is covered at once."""
        return self._draw("Laplace", self._rng.laplace, loc, scale, size)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Draw Gaussian noise; a location that is not zero is covered at once."""
        return self._draw("Gaussian", self._rng.normal, loc, scale, size)

    def standard_normal(self, size: Any = None) -> Any:
        """Draw standard Gaussian noise."""
        return self.normal(0.0, 1.0, size)

    def _draw(self, law: str, draw: Any, loc: Any, scale: Any, size: Any) -> Any:
        if size is None and np.ndim(_plain(scale)) == 0 and np.ndim(_plain(loc)) == 0:
            width = float(_plain(scale))
            noise = Noise(draw(0.0, width), law, width, self._recorder)
            return noise if isinstance(loc, int | float) and loc == 0 else noise + loc
        shape = np.broadcast_shapes(np.shape(loc), np.shape(scale)) if size is None else size
        count = math.prod(shape) if isinstance(shape, tuple) else int(shape)
        widths = np.broadcast_to(np.asarray(scale, dtype=float), (count,))
        noises = NoiseArray([Noise(draw(0.0, w), law, w, self._recorder) for w in widths.tolist()])
        return noises if isinstance(loc, int | float) and loc == 0 else noises + loc
