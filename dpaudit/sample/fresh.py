"""Calls that are each made in a process of their own, which has run nothing before.

A helper process is started from nothing, with another hash seed; it imports dpaudit, never loads a
target by itself, and forks a child for every call. The child unpacks the call (this is where a
target is imported), makes it and ends. Systems that cannot fork make the calls one after the other
in the helper.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dpaudit.errors import DpauditError
from dpaudit.sample.guard import PolicyError
from dpaudit.target import said

ALONE = hasattr(os, "fork")
# -P: what lies in the working directory is the target's own affair
START = (
    "import sys; sys.path.insert(0, {!r}); from dpaudit.sample.fresh import serve; "
    "serve({!r}, {!r})"
)


class ProcessEnded(PolicyError):
    """A process ended without an answer, or had to be ended."""


class Unsendable(DpauditError):
    """A call that another process cannot make: what it needs is not to be found there."""


def packed(function: Callable[..., Any], *values: Any) -> bytes:
    """Return a call as bytes; what has no name elsewhere travels by value."""
    try:
        import cloudpickle  # what joblib needs
    except ImportError:
        from joblib.externals import cloudpickle  # or what its older versions bring along

    try:
        found: bytes = cloudpickle.dumps((function, values))
    except Exception as error:
        raise Unsendable(f"it cannot be sent to another process: {said(error)}") from None
    return found


class Helper:
    """The helper process, started when it is first asked."""

    def __init__(self, imports: Sequence[str]) -> None:
        self.imports = tuple(imports)
        self.process: subprocess.Popen[bytes] | None = None
        self.reader: threading.Thread | None = None

    def alone(self, calls: Sequence[bytes], seconds: float | None = None) -> list[Any]:
        """Make calls, each in a process of its own, and return their results in order.

        Raises what a call raises of `DpauditError`, and `ProcessEnded`.
        """
        return self._asked(list(calls), seconds)

    def here(self, call: bytes, seconds: float | None = None) -> None:
        """Make a call in the helper itself: whatever its children inherit should be harmless."""
        self._asked(call, seconds)

    def _asked(self, order: bytes | list[bytes], seconds: float | None) -> list[Any]:
        if self.process is None:
            self.process = _started(self.imports)
        to, back = self.process.stdin, self.process.stdout
        assert to is not None and back is not None
        answers: list[Any] = []

        def exchange() -> None:
            with contextlib.suppress(OSError, EOFError, ValueError, pickle.UnpicklingError):
                pickle.dump(order, to)
                to.flush()
                answers.append(pickle.load(back))

        # a pipe cannot be read with a time limit everywhere, but a thread can be left behind
        reader = self.reader = threading.Thread(target=exchange, daemon=True)
        reader.start()
        reader.join(seconds)
        if not answers:
            late = reader.is_alive()
            self.close()
            raise ProcessEnded(f"it did not end within {seconds:g} seconds." if late else ENDED)
        if isinstance(answers[0], DpauditError):
            raise answers[0]
        return list(answers[0])

    def close(self) -> None:
        """End the helper and all that it has started."""
        process, self.process = self.process, None
        if process is None:
            return
        with contextlib.suppress(OSError):
            if os.name == "posix":
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()
        if self.reader is not None:
            self.reader.join(1.0)
            if self.reader.is_alive():
                return  # somebody else holds the other end of the pipe
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()


ENDED = "it ended its process."


def _started(imports: tuple[str, ...]) -> subprocess.Popen[bytes]:
    package = str(Path(__file__).resolve().parents[2])
    path = [str(Path(entry).absolute()) for entry in sys.path]
    # what depends on the hash seed must not look like a function of the run's seed
    other = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    return subprocess.Popen(
        [sys.executable, "-P", "-c", START.format(package, imports, path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONHASHSEED": other},
        start_new_session=os.name == "posix",
    )


def serve(imports: Sequence[str], path: Sequence[str]) -> None:
    """Answer lists of calls on standard input until it ends; what a target prints goes nowhere."""
    orders, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "r+b") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    for name in imports:
        importlib.import_module(name)
    sys.path[:] = path
    while True:
        try:
            order = pickle.load(orders)
        except EOFError:
            return
        try:
            found: Any = []
            if isinstance(order, bytes):
                made(order)
            else:
                found = [_alone(call) for call in order]
        except DpauditError as error:
            found = error
        pickle.dump(found, answers)
        answers.flush()


def made(call: bytes) -> Any:
    """Unpack a call and make it; errors are results."""
    try:
        try:
            function, values = pickle.loads(call)
        except (Exception, SystemExit) as error:
            raise Unsendable(f"another process cannot load it: {said(error)}") from None
        return function(*values)
    except DpauditError as error:
        return error
    except (Exception, SystemExit) as error:
        return PolicyError(f"it raised {said(error)}")


def _alone(call: bytes) -> Any:
    """Return the result of a call in a process that ends with it."""
    if ALONE:
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.close(read)
                with os.fdopen(write, "wb") as pipe:
                    pickle.dump(made(call), pipe)
            finally:
                os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            data = pipe.read()
        os.waitpid(child, 0)
        result = pickle.loads(data) if data else ProcessEnded(ENDED)
    else:
        result = made(call)
    if isinstance(result, DpauditError):
        raise result
    return result
