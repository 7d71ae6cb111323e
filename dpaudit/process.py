"""One process per target: code that is not dpaudit's own is loaded and judged in a fresh one.

`call` starts it, hands over one request and hears messages until the answer. All of them are JSON:
nothing that comes back is executed. What the target prints is caught, what it imports stays there,
and its end is survived, whichever it is: an error, an exit, a crash, too much time or memory. The
time counts from when dpaudit's own modules are imported, and what was heard until then is kept.

This guards against accidents. It is no sandbox: the process has its user's rights (docs/limits.md).
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from dpaudit.errors import Contradiction, DpauditError
from dpaudit.output import plain
from dpaudit.target import foreign

START_SECONDS = 60.0  # Python and dpaudit itself, on a machine that is busy with other things
ENDING = 2.0  # for an interrupted process to say what it has found
MEMORY = 4 << 30  # bytes of address space, where the system can limit it
TAIL = 20  # lines of what the process prints that are remembered
PACKAGE = Path(__file__).resolve().parent
# -P keeps the working directory off the path until dpaudit is imported: a random.py there is the
# target's own affair.
START = "import sys; sys.path.insert(0, {!r}); from dpaudit.inside import main; main()"
Hear = Callable[[str, Any], Any]
Answer = TypeVar("Answer")
Item = TypeVar("Item")


class Died(DpauditError):
    """The process of a target ended without an answer, or was `late` and had to be stopped."""

    def __init__(self, message: str, late: bool = False) -> None:
        super().__init__(message)
        self.late = late


class Failed(DpauditError):
    """What the process of a target said went wrong."""

    def __init__(self, message: str, exit_code: int = 2) -> None:
        super().__init__(message)
        self.exit_code = exit_code


@dataclass(frozen=True)
class Call:
    """A function of dpaudit (`module:function`), its arguments as plain data, and whose code runs.

    It is called as `function(tell, **arguments)` once `imports` are there, from when on it has so
    many `seconds`. `tell(kind, data)` sends a message; the kind `limit` sets the seconds anew.
    """

    target: str
    function: str
    arguments: Mapping[str, Any]
    imports: Sequence[str] = ()
    seconds: float = float("inf")


def call(work: Call, hear: Hear = lambda kind, data: None) -> Any:
    """Return the answer of a call in a process of its own; `hear` is told every message before it.

    Raises `Died` if there is no answer, and what the call raises of `DpauditError`. Ctrl-C is
    handed on; an answer that follows it within two seconds counts.
    """
    with _Child.started(work) as child:
        try:
            return child.answer(hear)
        except KeyboardInterrupt:
            child.interrupt()
            with contextlib.suppress(Died):
                return child.answer(hear)
            raise


def answer(
    target: str,
    function: Callable[..., Answer],
    arguments: Mapping[str, Any],
    seconds: float = float("inf"),
    hear: Hear = lambda kind, data: None,
) -> Answer:
    """Return `function(hear, **arguments)`: here for dpaudit's own code, else in its own process.

    Arguments and answer are plain data. An error that foreign code raises is one line.
    """
    if not foreign(target):
        return function(hear, **arguments)
    name = f"{function.__module__}:{function.__name__}"
    found: Answer = call(Call(target, name, arguments, seconds=seconds), hear)
    return found


def side_by_side(
    function: Callable[[Item], Answer],
    items: Sequence[Item],
    jobs: int,
    begun: Callable[[Item], Any] = lambda item: None,
) -> Iterator[Answer]:
    """Yield the results in the order of the items, with up to `jobs` of them under way.

    `function` runs in threads: it should do its work in processes of its own (`call`), which end
    with this. `begun` is told which result is waited for.
    """
    threads: set[int] = set()
    with ThreadPoolExecutor(jobs, initializer=lambda: threads.add(threading.get_ident())) as pool:
        waiting = [pool.submit(function, item) for item in items] if jobs > 1 else []
        try:
            for number, item in enumerate(items):
                begun(item)
                yield waiting[number].result() if waiting else function(item)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for thread, child in list(RUNNING.items()):
                if thread in threads:
                    child.process.kill()
            raise


@dataclass
class _Child:
    work: Call
    process: subprocess.Popen[bytes]
    messages: queue.SimpleQueue[bytes | None] = field(default_factory=queue.SimpleQueue)
    printed: deque[bytes] = field(default_factory=lambda: deque(maxlen=TAIL))
    readers: list[threading.Thread] = field(default_factory=list)
    until: float = 0.0
    ready: bool = False

    @classmethod
    @contextlib.contextmanager
    def started(cls, work: Call) -> Iterator[_Child]:
        """Start the process, hand over the request, and end all that it has started."""
        import msgspec

        command = [sys.executable, "-P", "-c", START.format(str(PACKAGE.parent))]
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=os.name == "posix",
        )
        child = RUNNING[threading.get_ident()] = cls(work, process)
        child.until = time.monotonic() + START_SECONDS
        for read in (child._listen, child._drain):
            child.readers.append(threading.Thread(target=read, daemon=True))
            child.readers[-1].start()
        request = {
            "function": work.function,
            "arguments": dict(work.arguments),
            "imports": list(work.imports),
            "path": [str(Path(it).absolute()) if it else "" for it in sys.path],
            "memory": MEMORY,
        }
        assert process.stdin is not None
        try:
            with contextlib.suppress(OSError):  # a dead process is noticed when it does not answer
                process.stdin.write(msgspec.json.encode(plain(request)) + b"\n")
                process.stdin.flush()
            yield child
        finally:
            RUNNING.pop(threading.get_ident())
            child.end()
            streams = process.stdout, process.stderr
            for reader, stream in zip(child.readers, streams, strict=True):
                reader.join(1.0)
                # a process that has left the group may hold the other end: then it stays open
                if stream is not None and not reader.is_alive():
                    stream.close()
            with contextlib.suppress(OSError):
                process.stdin.close()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with contextlib.suppress(ValueError, OSError):
            for line in self.process.stdout:
                self.messages.put(line)
        self.messages.put(None)

    def _drain(self) -> None:
        assert self.process.stderr is not None
        with contextlib.suppress(ValueError, OSError):
            while line := self.process.stderr.readline(1000):
                self.printed.append(line)

    def answer(self, hear: Hear) -> Any:
        """Hear messages until the answer comes, the process ends or its time is over."""
        import msgspec

        while True:
            try:
                line = self.messages.get(timeout=_wait(self.until - time.monotonic()))
            except queue.Empty:
                if time.monotonic() < self.until:
                    continue
                raise self._late() from None
            if line is None:
                raise self._dead()
            try:
                kind, data = msgspec.json.decode(line)
            except (msgspec.DecodeError, ValueError):
                raise Died(self._said("wrote into the connection of its process")) from None
            if kind == "ready":
                self.ready, self.until = True, time.monotonic() + self.work.seconds
            elif kind == "limit":
                self.until = time.monotonic() + data
            elif kind == "answer":
                return data
            elif kind == "error":
                if data["kind"] == Contradiction.__name__:
                    raise Contradiction(data["message"])
                raise Failed(data["message"], data["exit_code"])
            else:
                hear(kind, data)

    def interrupt(self) -> None:
        """Hand Ctrl-C on and leave a moment for the answer."""
        self.until = time.monotonic() + ENDING
        with contextlib.suppress(OSError, ValueError):
            self.process.send_signal(signal.SIGINT)

    def end(self) -> None:
        """End the process and, where there are process groups, all that it has started."""
        if os.name != "posix":
            self.process.kill()
            self.process.wait()
            return
        group = self.process.pid
        with contextlib.suppress(OSError):
            os.killpg(group, signal.SIGTERM)  # what cleans up after others may do so
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        with contextlib.suppress(OSError):
            for _ in range(10):
                os.killpg(group, 0)
                time.sleep(0.05)
            os.killpg(group, signal.SIGKILL)

    def _late(self) -> Died:
        if not self.ready:
            return Died(self._said(f"could not be started within {START_SECONDS:g} s"))
        return Died(self._said("did not end in its time and was stopped"), late=True)

    def _dead(self) -> Died:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(1.0)
        self.readers[-1].join(1.0)  # what it printed may be on its way
        code = self.process.poll()
        if not self.ready and self.printed:
            last = self.printed[-1].decode(errors="replace").strip()
            return Died(self._said(f"could not be started: {last}"))
        if code is None:
            return Died(self._said("closed the connection of its process"))
        if code < 0:
            name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
            return Died(self._said(f"crashed its process ({name})"))
        return Died(self._said(f"ended its process with exit code {code}"))

    def _said(self, what: str) -> str:
        return f"TARGET={self.work.target} {what}; nothing more is concluded."


RUNNING: dict[int, _Child] = {}  # by the thread that waits for it


def _wait(seconds: float) -> float:
    """Return how long to wait at once: short enough for Ctrl-C where a lock cannot be interrupted.

    An infinite time is no argument for a lock either.
    """
    return min(max(seconds, 0.0), 1.0)
