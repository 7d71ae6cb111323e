"""A deadline for code that does not look at the clock: an exception that arrives by itself.

The loops of dpaudit look at the clock and end by themselves, with what they have found. This is for
the rest: a step of foreign code that never returns, a single call that is far larger than expected.
An alarm needs the main thread and a system that has it (not Windows); elsewhere, and inside one
call of compiled code, nothing is raised, and only a process of its own can be stopped from outside.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

AGAIN = 0.25  # seconds until the alarm comes again, for code that catches everything


class Expired(BaseException):
    """The time is over; not an `Exception`, so that foreign code does not catch it by accident."""


@contextmanager
def deadline(moment: float) -> Iterator[None]:
    """Raise `Expired` in the block once `time.monotonic()` has passed a moment.

    Alarms that were set outside of it come back afterwards.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(
        signal, "setitimer"
    ):
        yield
        return

    armed = True

    def expire(number: int, frame: FrameType | None) -> None:
        if armed:
            raise Expired

    previous = signal.signal(signal.SIGALRM, expire)
    left, interval = signal.setitimer(
        signal.ITIMER_REAL, max(moment - time.monotonic(), 1e-3), AGAIN
    )
    start = time.monotonic()
    try:
        yield
    finally:
        try:
            armed = False  # the alarm may come on this very line
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, previous)
            if left:
                rest = max(left - time.monotonic() + start, 1e-3)
                signal.setitimer(signal.ITIMER_REAL, rest, interval)
