"""The budget of a search: asked at every step of a walk, it ends what takes too long."""

from __future__ import annotations

import time
from dataclasses import dataclass

from dpaudit.errors import DpauditError


class OutOfTime(DpauditError):
    """The budget ended a search."""

    def __init__(self) -> None:
        super().__init__("The budget ended.")


@dataclass(frozen=True)
class Clock:
    """A deadline on the monotonic clock; None is never."""

    deadline: float | None = None

    @classmethod
    def of(cls, budget: float | None) -> Clock:
        """Return the clock of a budget in seconds that begins now."""
        return cls(None if budget is None else time.monotonic() + budget)

    @property
    def late(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline is not None and time.monotonic() > self.deadline

    @property
    def left(self) -> float | None:
        """The seconds until the deadline, at least 0."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def allows(self, seconds: float) -> bool:
        """Return whether so much time is left."""
        return self.left is None or self.left >= seconds

    def later(self, seconds: float) -> Clock:
        """Return the clock of a deadline so many seconds later."""
        return Clock(None if self.deadline is None else self.deadline + seconds)

    def __call__(self) -> None:
        """Raise `OutOfTime` once the deadline has passed."""
        if self.late:
            raise OutOfTime


ENDLESS = Clock()
GRACE = 1.0  # seconds beyond a budget in which work that was begun may state what it found
