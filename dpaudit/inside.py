"""The inside of a target's process: reads one request, answers it, and is gone.

Standard output belongs to the messages until the first line of foreign code runs: it is moved away
and what the target prints goes where the parent remembers the last lines of it. The process ends
with its parent, and it ends at once when it has answered, whatever threads are left.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from dpaudit.errors import DpauditError
from dpaudit.output import plain

CANCELLED = threading.Event()
ENDING: list[Callable[[str], None]] = []  # how the process of a target says why it ends
INSTALLED = {"site-packages", "dist-packages"}
YOUNG = 10_000  # objects between collections: nearly all are states and numbers without cycles


def main() -> NoReturn:
    """Answer the request on standard input with messages on standard output."""
    import msgspec

    signal.signal(signal.SIGINT, _cancel)
    requests, messages = os.dup(0), os.dup(1)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    sys.path.pop(0)
    with open(requests, "rb", buffering=0, closefd=False) as file:
        request = msgspec.json.decode(_line(file))
    threading.Thread(target=_outlive_nobody, args=(requests,), daemon=True).start()
    _limit_memory(request["memory"])
    if hasattr(os, "register_at_fork"):  # what the target forks has nothing to say
        os.register_at_fork(after_in_child=lambda: os.close(messages))
    lock = threading.RLock()

    def tell(kind: str, data: Any) -> None:
        line = msgspec.json.encode([kind, plain(data)]) + b"\n"
        with lock:
            while line:
                line = line[os.write(messages, line) :]

    ENDING.append(lambda message: tell("error", _error("", message)))
    code = 0
    try:
        module, _, name = request["function"].partition(":")
        function = getattr(importlib.import_module(module), name)
        for needed in request["imports"]:
            importlib.import_module(needed)
        gc.freeze()  # what was imported stays: looking through it took an eighth of a proof
        gc.set_threshold(YOUNG)
        # importing is over: from here on the target's own files come first
        sys.path[:] = request["path"]
        tell("ready", None)
        tell("answer", function(tell, **request["arguments"]))
    except DpauditError as error:
        tell("error", _error(type(error).__name__, str(error), error.exit_code))
    except BaseException as error:
        code = _unexpected(error, request, tell)
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    os._exit(code)


def _unexpected(error: BaseException, request: Any, tell: Callable[[str, Any], None]) -> int:
    from dpaudit.checks import place_of
    from dpaudit.target import said

    if isinstance(error, KeyboardInterrupt) and CANCELLED.is_set():
        return 130
    target = request["arguments"].get("target", "")
    text = f"TARGET={target} cannot be judged: {said(error)}{place_of(error)}"
    tell("error", _error("", text))
    return 0


def _error(kind: str, message: str, exit_code: int = 2) -> dict[str, Any]:
    return {"kind": kind, "message": message, "exit_code": exit_code}


def give_up(message: str) -> None:
    """End the process of a target that will not be stopped otherwise; elsewhere do nothing."""
    for say in ENDING:
        say(message)
        os._exit(2)


def cancelled() -> bool:
    """Tell whether Ctrl-C was handed to this process: foreign code may raise the same exception."""
    return CANCELLED.is_set()


def imported_files() -> list[Path]:
    """Return the files that are loaded here and belong to neither Python, a package nor dpaudit."""
    import sysconfig

    python = {Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib")}
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    paths = {Path(it).resolve() for it in files if isinstance(it, str) and Path(it).is_file()}
    own = Path(__file__).resolve().parent
    return sorted(
        path
        for path in paths
        if not INSTALLED & set(path.parts)
        and not any(path.is_relative_to(place) for place in (own, *python))
    )


def _line(file: Any) -> bytes:
    """Read up to the end of a line and not beyond: what follows is for the watching thread."""
    read = bytearray()
    while not read.endswith(b"\n"):
        part = file.read(1 << 16)
        if not part:
            os._exit(2)
        read += part
    return bytes(read)


def _outlive_nobody(requests: int) -> None:
    while os.read(requests, 1):
        pass
    os._exit(2)


def _cancel(number: int, frame: FrameType | None) -> None:
    CANCELLED.set()
    raise KeyboardInterrupt


def _limit_memory(size: int) -> None:
    """Limit the address space, where the system can: not on Windows, without effect on macOS."""
    try:
        import resource
    except ImportError:
        return
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    soft = size if hard == resource.RLIM_INFINITY else min(size, hard)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
