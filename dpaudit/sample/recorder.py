"""What a traced run did: every release with what it covered, every raw reward that was read.

In a replay the recorder returns the first run's released values instead of new ones, so that
whatever still differs does not come through the noise.
"""

from __future__ import annotations

import linecache
import os
import sys
from dataclasses import dataclass


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

    def release(self, value: float, drawn: float, law: str, scale: float) -> float:
        """Note a release and return the released value: the first run's in a replay."""
        released, place, number = value + drawn, self.place(), len(self.covered)
        if number < len(self.frozen) and self.frozen[number].place == place:
            released = self.frozen[number].released
        self.covered.append(Covered(place, value, law, scale, released))
        return released

    def use(self, value: float) -> float:
        """Note that plain code reads a number computed from rewards."""
        self.seen.append(Seen(self.place(), value))
        return value
