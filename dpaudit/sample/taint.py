"""Numbers that remember: rewards that no noise has touched, and noise that knows what it covers.

`Raw` is a reward, or a number computed from rewards: it behaves as a float until plain code asks
for its value (to compare it, to store it in an array), which the recorder notes with the source
line. `Noise` is a draw of an instrumented generator: adding it to anything is a release, which the
recorder notes with the value that it covers; the result is an ordinary float. In a replay the
recorder returns the first run's released values instead, so that whatever still differs does not
come through the noise.
"""

from __future__ import annotations

import linecache
import math
import os
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Place:
    """A line of source code."""

    file: str
    line: int

    @property
    def text(self) -> str:
        """The code on that line."""
        return linecache.getline(self.file, self.line).strip()

    def __str__(self) -> str:
        return f"{os.path.relpath(self.file)}:{self.line}: {self.text}"


@dataclass(frozen=True)
class Covered:
    """One release: where it happened, what it covered, and the noise it got."""

    place: Place
    value: float
    law: str
    scale: float
    released: float


@dataclass(frozen=True)
class Seen:
    """A number computed from rewards became an ordinary number, without noise."""

    place: Place
    value: float


class Recorder:
    """Notes releases and uses of raw rewards; `frozen` are released values to repeat."""

    def __init__(self, file: str, frozen: tuple[Covered, ...] = ()) -> None:
        self.file = file
        self.frozen = frozen
        self.covered: list[Covered] = []
        self.seen: list[Seen] = []
        self.marks: list[tuple[int, int]] = []

    def chosen(self) -> None:
        """Note how many releases and uses came before an action."""
        self.marks.append((len(self.covered), len(self.seen)))

    def before(self, step: int | None) -> tuple[list[Covered], list[Seen]]:
        """Return the releases and uses before an action, all of them for None.

        Of a run whose actions came all at once nothing is known to come before one.
        """
        if step is None:
            return self.covered, self.seen
        if not self.marks:
            return [], self.seen
        releases, uses = self.marks[step]
        return self.covered[:releases], self.seen[:uses]

    def place(self) -> Place:
        """Return the innermost line of the audited file that is being executed."""
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename != self.file:
            frame = frame.f_back
        return Place(frame.f_code.co_filename, frame.f_lineno)

    def release(self, value: float, noise: Noise) -> float:
        """Note a release and return the released value: the first run's in a replay."""
        released, place, number = value + noise.value, self.place(), len(self.covered)
        if number < len(self.frozen) and self.frozen[number].place == place:
            released = self.frozen[number].released
        self.covered.append(Covered(place, value, noise.law, noise.scale, released))
        return released

    def use(self, value: float) -> float:
        """Note that plain code reads a number computed from rewards."""
        self.seen.append(Seen(self.place(), value))
        return value


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
            flat = [self.recorder.release(float(_plain(x)), self) for x in other.ravel()]
            return np.array(flat).reshape(other.shape)
        return self.recorder.release(float(_plain(other)), self)

    __radd__ = __add__

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

    def __lt__(self, other: Any) -> Any:
        return self.value < _plain(other)

    def __gt__(self, other: Any) -> Any:
        return self.value > _plain(other)


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
