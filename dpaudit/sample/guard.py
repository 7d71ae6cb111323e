"""What foreign code may not do, run for ever, and where its randomness comes from in a run.

A run that breaks a rule ends the audit with a `PolicyError` that names the policy and the rule;
work logged before it is kept.
"""

from __future__ import annotations

import ctypes
import math
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISpawnableSeedSequence
from numpy.typing import NDArray

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
def time_limit(seconds: float, name: str) -> Iterator[Callable[[], None]]:
    """Stop the block after `seconds` with a `TimeUp`; the yielded function starts the time anew.

    In a main thread an alarm interrupts everything, again and again where it is caught; the process
    of a target that keeps catching it ends. In other threads an exception is raised at the next
    Python instruction, so a single call that blocks inside C is only stopped when it returns. An
    alarm that was set outside of the block stays: it goes first where it is due first, and comes
    back afterwards.
    """
    message = f"{name} did not finish a run within time limit={seconds:g} seconds."
    alarmed = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
    limit = _Alarm(seconds, message) if alarmed else _Timer(seconds)
    limit.start()
    try:
        yield limit.start
    except _TimeLimit:
        raise TimeUp(message) from None
    finally:
        limit.end()
    if limit.expired:
        raise TimeUp(message)


class _Alarm:
    """An alarm of the process, within the one that was set before."""

    def __init__(self, seconds: float, message: str) -> None:
        self.seconds, self.message, self.expired = seconds, message, 0
        left, self.interval = signal.getitimer(signal.ITIMER_REAL)
        self.due = time.monotonic() + left if left else math.inf
        self.previous = signal.getsignal(signal.SIGALRM)
        self.ours = False
        self.until = math.inf

    def start(self) -> None:
        self._look()
        if self.expired:
            raise TimeUp(self.message)
        if self.due - time.monotonic() < self.seconds:
            self.end()
            return
        if not self.ours:
            signal.signal(signal.SIGALRM, self._expire)
            self.ours = True
        signal.setitimer(signal.ITIMER_REAL, self.seconds, min(self.seconds, 1.0))
        self.until = time.monotonic() + self.seconds

    def _look(self) -> None:
        """Look at the clock as well: the block may have taken the alarm away, or ignored it."""
        self.expired += time.monotonic() > self.until
        self.until = math.inf

    def end(self) -> None:
        if not self.ours:
            return
        self._look()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.previous)
        self.ours = False
        if self.due < math.inf:
            left = max(self.due - time.monotonic(), 1e-3)
            signal.setitimer(signal.ITIMER_REAL, left, self.interval)

    def _expire(self, number: int, frame: FrameType | None) -> None:
        self.expired += 1
        if self.expired > CAUGHT:
            give_up(self.message)
        raise _TimeLimit


class _Timer:
    """An exception for this thread, from another one."""

    expired = 0

    def __init__(self, seconds: float) -> None:
        self.seconds, self.ident = seconds, ctypes.c_ulong(threading.get_ident())
        self.timer: threading.Timer | None = None

    def start(self) -> None:
        self.end()
        self.timer = threading.Timer(self.seconds, self._expire)
        self.timer.daemon = True
        self.timer.start()

    def end(self) -> None:
        if self.timer is not None:
            self.timer.cancel()

    def _expire(self) -> None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(self.ident, ctypes.py_object(_TimeLimit))


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


class RunSeed(ISpawnableSeedSequence):
    """The seed of one run: what its generator starts from, and what global ones are lent.

    It is a digest of its place in an audit, which foreign code could else read off its generator.
    """

    def __init__(self, words: NDArray[np.uint64], lent: int) -> None:
        self.words, self.lent = words, lent
        self.made: np.random.SeedSequence | None = None

    @property
    def whole(self) -> np.random.SeedSequence:
        """A sequence of numpy's own, for runs that ask for more than a generator."""
        if self.made is None:
            self.made = np.random.SeedSequence(self.words.tolist())
        return self.made

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> NDArray[Any]:
        """Return the words that a generator starts from."""
        if n_words == len(self.words) and dtype is np.uint64:
            return self.words
        return self.whole.generate_state(n_words, dtype)

    def spawn(self, n_children: int) -> list[Any]:
        """Return seeds for generators of the run's own."""
        return self.whole.spawn(n_children)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.whole, name)


def run_seeds(seed: np.random.SeedSequence, runs: int) -> list[RunSeed]:
    """Return the seeds of runs in their order: of more runs the first ones are the same."""
    words = np.random.Philox(seed).random_raw(5 * runs).reshape(runs, 5)
    return [RunSeed(row[:4], int(row[4] >> 32)) for row in words]


def integer_bits(seed: int) -> Any:
    """Return the bits that `dpaudit.noise` draws with in a run of a seed."""
    source: list[random.Random] = []  # made when it is needed: most runs do not

    def bits(size: int) -> int:
        if not source:
            source.append(random.Random(f"dpaudit.noise {seed}"))
        return source[0].getrandbits(size)

    return bits


@contextmanager
def lent_randomness(seed: int) -> Iterator[Callable[[int], None]]:
    """Give the global generators, and unseeded ones of the block, a state that the seed fixes.

    Code that draws from numpy's or Python's global generator, from a `default_rng()` of its own, or
    with `dpaudit.noise`, then repeats itself; the yielded function lends them anew, with another
    seed. Afterwards all is as before.
    """
    made = Generators(seed)

    def default_rng(given: Any = None) -> Any:
        return made("default_rng") if given is None else _RNG(given)

    class LentState(_STATE):  # type: ignore[misc,valid-type]
        def __init__(self, given: Any = None) -> None:
            super().__init__(made.next() if given is None else given)

    LentState.__name__ = "RandomState"
    numpy_random: Any = np.random

    def lend(seed: int) -> None:
        made.seed, made.number = seed, 0
        numpy_random.default_rng, numpy_random.RandomState = default_rng, LentState
        np.random.seed(seed)  # noqa: NPY002
        random.seed(seed)
        noise.system = integer_bits(seed)

    with _GLOBAL_STATE:
        saved: Any = np.random.get_state()  # noqa: NPY002
        saved_python = random.getstate()
        before = numpy_random.default_rng, numpy_random.RandomState, noise.system
        lend(seed)
        try:
            yield lend
        finally:
            numpy_random.default_rng, numpy_random.RandomState, noise.system = before
            np.random.set_state(saved)  # noqa: NPY002
            random.setstate(saved_python)
