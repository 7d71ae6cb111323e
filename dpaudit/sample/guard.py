"""What foreign code may not do, run for ever, and where its randomness comes from in a run.

A run that breaks a rule ends the audit with a `PolicyError` that names the policy and the rule;
work logged before it is kept.
"""

from __future__ import annotations

import ctypes
import random
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np

from dpaudit import noise
from dpaudit.errors import DpauditError
from dpaudit.inside import give_up
from dpaudit.target import said

CAUGHT = 3  # times that code may catch its alarm


class PolicyError(DpauditError):
    """Foreign code broke a rule of the audit; the message names the policy and the rule."""


class TimeUp(PolicyError):
    """Foreign code did not end in its time."""


class _TimeLimit(BaseException):
    """Raised inside a run that takes too long; not an `Exception`, so policies do not catch it."""


@contextmanager
def judged(name: str) -> Iterator[None]:
    """Turn whatever the judged code raises into a `PolicyError` of one line.

    An interruption by the user passes, and so does what dpaudit itself raises, such as limits.
    """
    try:
        yield
    except (DpauditError, KeyboardInterrupt):
        raise
    except BaseException as error:
        if type(error).__module__.partition(".")[0] == __name__.partition(".")[0]:
            raise
        raise PolicyError(f"{name} raised {said(error)}") from error


@contextmanager
def time_limit(seconds: float, name: str) -> Iterator[None]:
    """Stop the block after `seconds` with a `TimeUp`.

    In a main thread an alarm interrupts everything, again and again where it is caught; the process
    of a target that keeps catching it ends. In other threads an exception is raised at the next
    Python instruction, so a single call that blocks inside C is only stopped when it returns. An
    alarm that was set outside of the block stays: it goes first where it is due first, and comes
    back afterwards.
    """
    message = f"{name} did not finish a run within time limit={seconds:g} seconds."
    expired = 0
    if threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer"):
        outer, interval = signal.getitimer(signal.ITIMER_REAL)
        if 0 < outer < seconds:
            yield
            return
        start = time.monotonic()

        def expire(number: int, frame: FrameType | None) -> None:
            nonlocal expired
            expired += 1
            if expired > CAUGHT:
                give_up(message)
            raise _TimeLimit

        previous = signal.signal(signal.SIGALRM, expire)
        signal.setitimer(signal.ITIMER_REAL, seconds, min(seconds, 1.0))
        try:
            yield
        except _TimeLimit:
            raise TimeUp(message) from None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, previous)
            if outer:
                left = max(outer - (time.monotonic() - start), 1e-3)
                signal.setitimer(signal.ITIMER_REAL, left, interval)
        if expired:
            raise TimeUp(message)
        return
    ident = ctypes.c_ulong(threading.get_ident())
    timer = threading.Timer(
        seconds,
        lambda: ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(_TimeLimit)),
    )
    timer.daemon = True
    timer.start()
    try:
        yield
    except _TimeLimit:
        raise TimeUp(message) from None
    finally:
        timer.cancel()


# one run of foreign code at a time per process: the global generators are lent to it
_GLOBAL_STATE = threading.RLock()
_RNG, _STATE = np.random.default_rng, np.random.RandomState


class Generators:
    """Real generators in place of unseeded ones: a sequence that a seed fixes."""

    def __init__(self, seed: int) -> None:
        self.seed, self.number = seed, 0

    def next(self) -> list[int]:
        """Return the next seed."""
        self.number += 1
        return [self.seed, self.number]

    def __call__(self, kind: str) -> Any:
        """Return the next generator of a kind."""
        seed = self.next()
        if kind == "Random":
            return random.Random(seed[0] * 65_537 + seed[1])
        return _RNG(seed) if kind == "default_rng" else _STATE(seed)


def integer_bits(seed: int) -> Any:
    """Return the bits that `dpaudit.noise` draws with in a run of a seed."""
    return random.Random(f"dpaudit.noise {seed}").getrandbits


@contextmanager
def lent_randomness(seed: int) -> Iterator[None]:
    """Give the global generators, and unseeded ones of the block, a state that the seed fixes.

    Code that draws from numpy's or Python's global generator, from a `default_rng()` of its own, or
    with `dpaudit.noise`, then repeats itself; afterwards all is as before.
    """
    made = Generators(seed)

    def default_rng(given: Any = None) -> Any:
        return made("default_rng") if given is None else _RNG(given)

    class RandomState(_STATE):  # type: ignore[misc,valid-type]
        def __init__(self, given: Any = None) -> None:
            super().__init__(made.next() if given is None else given)

    numpy_random: Any = np.random
    with _GLOBAL_STATE:
        saved: Any = np.random.get_state()  # noqa: NPY002
        saved_python = random.getstate()
        before = numpy_random.default_rng, numpy_random.RandomState
        numpy_random.default_rng, numpy_random.RandomState = default_rng, RandomState
        np.random.seed(seed)  # noqa: NPY002
        random.seed(seed)
        system, noise.system = noise.system, integer_bits(seed)
        try:
            yield
        finally:
            numpy_random.default_rng, numpy_random.RandomState = before
            noise.system = system
            np.random.set_state(saved)  # noqa: NPY002
            random.setstate(saved_python)
