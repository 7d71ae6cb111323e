"""What foreign code may not do: run for ever, or draw from a global random state.

A run that breaks a rule ends the audit with a `PolicyError` that names the policy and the rule;
work logged before it is kept.
"""

from __future__ import annotations

import ctypes
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np

from dpaudit.errors import DpauditError
from dpaudit.inside import give_up
from dpaudit.target import said

CAUGHT = 3  # times that code may catch its alarm


class PolicyError(DpauditError):
    """Foreign code broke a rule of the audit; the message names the policy and the rule."""


class GlobalRandomness(PolicyError):
    """Foreign code moved a global random state."""


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


# one run of foreign code at a time per process: who moved the state must be certain
_GLOBAL_STATE = threading.RLock()


def _numpy_state() -> tuple[bytes, int, int, float]:
    _, words, position, has_gauss, gauss = np.random.get_state()  # noqa: NPY002
    return np.asarray(words).tobytes(), int(position), int(has_gauss), float(gauss)


@contextmanager
def no_global_randomness(name: str) -> Iterator[Callable[[], None]]:
    """Yield a check that raises a `PolicyError` if numpy's or Python's global random state moved.

    It is called after every run of the block, inside of which nothing else runs. What was moved is
    put back: a policy that sets the state to the same value in every run must not look as if it
    had left it alone.
    """
    with _GLOBAL_STATE:
        saved: Any = np.random.get_state()  # noqa: NPY002
        before, before_python = _numpy_state(), random.getstate()

        def unmoved() -> None:
            for module, moved in (
                ("numpy.random", _numpy_state() != before),
                ("random", random.getstate() != before_python),
            ):
                if moved:
                    np.random.set_state(saved)  # noqa: NPY002
                    random.setstate(before_python)
                    raise GlobalRandomness(
                        f"{name} touches the global random state of {module}; "
                        "its runs cannot be replayed. Draw from the `rng` argument instead."
                    )

        yield unmoved


@contextmanager
def lent_global_randomness(rng: np.random.Generator) -> Iterator[None]:
    """Seed the global random states from `rng` for a library that knows no other, then restore."""
    with _GLOBAL_STATE:
        saved: Any = np.random.get_state()  # noqa: NPY002
        saved_python = random.getstate()
        np.random.seed(int(rng.integers(2**32)))  # noqa: NPY002
        random.seed(int(rng.integers(2**32)))
        try:
            yield
        finally:
            np.random.set_state(saved)  # noqa: NPY002
            random.setstate(saved_python)
