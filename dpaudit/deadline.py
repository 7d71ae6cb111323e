"""A deadline for code that does not look at the clock: an exception that arrives by itself.

The loops of dpaudit look at the clock and end by themselves, with what they have found. This is for
the rest: a step of foreign code that never returns, a single call that is far larger than expected.
An alarm needs the main thread and a system that has it (not Windows); elsewhere, and inside one
call of compiled code, nothing is raised, and only a process of its own can be stopped from outside.
Nor is it while a module of dpaudit or of an installed package is being loaded (half of a package
would stay behind, and could not be loaded again), or while LLVM calls back: what is raised there is
printed and lost. The alarm comes again a moment later.
"""

from __future__ import annotations

import signal
import sysconfig
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

PATIENT = 3  # seconds on the wall that count as one of work, at least
AGAIN = 0.25  # seconds until the alarm comes again, for code that catches everything
INSTALLED = (
    str(Path(__file__).parent),
    *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
)
COMPILER = tuple(str(Path(place) / "llvmlite") for place in INSTALLED)


class Expired(BaseException):
    """The time is over; not an `Exception`, so that foreign code does not catch it by accident."""


class Work:
    """Seconds of work since it was made: the processor's, so that a busy machine does not count.

    A part of those on the wall counts in any case, so that what only waits ends too.
    """

    def __init__(self) -> None:
        self.processor, self.wall = time.process_time(), time.monotonic()

    @property
    def elapsed(self) -> float:
        """The seconds on the wall."""
        return time.monotonic() - self.wall

    def before(self, moment: float) -> bool:
        """Tell whether a moment is still to come."""
        return self() < moment

    def __call__(self) -> float:
        return max(time.process_time() - self.processor, self.elapsed / PATIENT)


def _loading(frame: FrameType | None) -> bool:
    """Tell whether a module that is not the user's is being loaded, or LLVM compiles."""
    while frame is not None:
        code, caller = frame.f_code, frame.f_back
        if code.co_filename.startswith(COMPILER):
            return True
        # a text that somebody executes is no module
        loads = caller is not None and caller.f_code.co_filename.startswith("<frozen importlib")
        if loads and code.co_name == "<module>" and code.co_filename.startswith(INSTALLED):
            return True
        frame = caller
    return False


@contextmanager
def deadline(moment: float, clock: Callable[[], float] = time.monotonic) -> Iterator[None]:
    """Raise `Expired` in the block once a clock has passed a moment.

    Alarms that were set outside of it come back afterwards.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(
        signal, "setitimer"
    ):
        yield
        return

    armed = True

    def expire(number: int, frame: FrameType | None) -> None:
        if armed and clock() >= moment and not _loading(frame):
            raise Expired

    previous = signal.signal(signal.SIGALRM, expire)
    left, interval = signal.setitimer(signal.ITIMER_REAL, max(moment - clock(), 1e-3), AGAIN)
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
