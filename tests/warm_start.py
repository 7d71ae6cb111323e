"""Processes of targets for the tests, forked from one that has imported dpaudit and nothing else.

A process of its own costs two seconds of imports, and the tests start hundreds. Here a server per
hash seed is started once for a worker of the test run. At its first request it imports what the
process of a target imports before it becomes ready, and reads dpaudit's own files; it loads no
target itself, and forks a child for every request: what the child sees is what a fresh process
would see. Tests of the start itself use the real one (the fixture `cold`), and so does all that is
started as `python -m dpaudit`. A pytest that a test starts takes its processes from these servers,
too, where it loads this file as a plugin and is told their folder.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pickle
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

HERE = Path(__file__).resolve()
IMPORTS = (
    "dpaudit.examination",
    "dpaudit.exact.horizons",
    "dpaudit.exact.climb",
    "dpaudit.affine",
    "dpaudit.commands.audit",
    "dpaudit.commands.explain",
    "dpaudit.gate.conforming",
    "dpaudit.sample.audit",
    "dpaudit.sample.request",
    "dpaudit.simulation",
    "dpaudit.structure",
    "dpaudit.symbolic.conform",
    "dpaudit.symbolic.prove",
)
LEAN = ("dpaudit.sample.independence", "dpaudit.sample.lockstep")
"""What helpers with another hash seed import: they fork for every call, at a price by size."""
CLIENTS = ("dpaudit.process", "dpaudit.sample.fresh")
SIZE = struct.Struct("!q")
SEEDS = ("random", "1")
FOLDER = "WARM_START_FOLDER"


class Warm:
    """Stands in for the module `subprocess` where dpaudit starts processes for targets."""

    def __init__(self, folder: Path, seeds: tuple[str, ...]) -> None:
        self.folder, self.seeds = folder, seeds

    def __getattr__(self, name):
        return getattr(subprocess, name)

    def Popen(self, command, env=None, **streams):
        """Start a child of the server with the wanted hash seed; really start it without one."""
        seed = (env or os.environ).get("PYTHONHASHSEED", "random")
        if seed not in self.seeds or command[1:3] != ["-P", "-c"]:
            return subprocess.Popen(command, env=env, **streams)
        return Child(self.folder / seed, command[3], env, **streams)


class Child:
    """As much of a `Popen` as dpaudit uses."""

    def __init__(self, address, code, env, stdin, stdout, stderr, start_new_session):
        ends, mine = [], []
        for stream, mode in ((stdin, "wb"), (stdout, "rb"), (stderr, "rb")):
            if stream == subprocess.PIPE:
                read, write = os.pipe()
                theirs, own = (read, write) if mode == "wb" else (write, read)
                mine.append(os.fdopen(own, mode))
            else:
                theirs = os.open(os.devnull, os.O_RDWR)
                mine.append(None)
            ends.append(theirs)
        self.stdin, self.stdout, self.stderr = mine
        self.returncode = None
        self.line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.line.connect(str(address))
        asked = {"code": code, "cwd": os.getcwd(), "env": dict(env or os.environ)}
        data = pickle.dumps(asked | {"session": start_new_session})
        socket.send_fds(self.line, [SIZE.pack(len(data))], ends)
        self.line.sendall(data)
        for end in ends:
            os.close(end)
        self.pid = SIZE.unpack(received(self.line, SIZE.size))[0]

    def poll(self):
        return self._ended(0)

    def wait(self, timeout=None):
        if self._ended(timeout) is None:
            raise subprocess.TimeoutExpired("a child of the server", timeout)
        return self.returncode

    def _ended(self, seconds):
        if self.returncode is None and select.select([self.line], [], [], seconds)[0]:
            self.returncode = SIZE.unpack(received(self.line, SIZE.size))[0]
            self.line.close()
        return self.returncode

    def send_signal(self, number):
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)


def received(line, size):
    data = b""
    while len(data) < size:
        part = line.recv(size - len(data))
        if not part:
            raise EOFError("the server is gone")
        data += part
    return data


@contextlib.contextmanager
def servers():
    """Start the servers, put them where dpaudit looks for `subprocess`, and end them."""
    seeds = SEEDS if "PYTHONHASHSEED" not in os.environ else ()
    with tempfile.TemporaryDirectory() as name:
        folder, running = Path(name), []
        for seed in seeds:
            listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            listening.bind(str(folder / seed))
            listening.listen(64)
            environment = dict(os.environ)
            if seed != "random":
                environment["PYTHONHASHSEED"] = seed
            command = [sys.executable, "-P", str(HERE), str(HERE.parents[1]), name, *seeds]
            running.append(
                subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    env=environment,
                    pass_fds=(listening.fileno(),),
                    start_new_session=True,
                    stdout=subprocess.DEVNULL,
                )
            )
            running[-1].stdin.write(SIZE.pack(listening.fileno()))
            running[-1].stdin.flush()
            listening.close()
        put(Warm(folder, seeds))
        try:
            yield folder
        finally:
            put(subprocess)
            for server in running:
                server.stdin.close()
                server.wait()


def put(what):
    """Let dpaudit start processes by this."""
    for name in CLIENTS:
        importlib.import_module(name).subprocess = what


def serve(folder: Path, seeds: tuple[str, ...]) -> None:
    """Fork a child for every request until standard input ends."""
    number = SIZE.unpack(os.read(0, SIZE.size))[0]
    listening = socket.socket(fileno=number)
    warm = False  # a run of tests that starts no process need not pay for it
    while True:
        ready, _, _ = select.select([listening, 0], [], [], 1.0)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if 0 in ready:
            break
        if listening in ready:
            if not warm:
                lean = os.environ.get("PYTHONHASHSEED") == "1"
                for name in LEAN if lean else IMPORTS:
                    importlib.import_module(name)
                if not lean:
                    read_own_files()
                put(Warm(folder, seeds))
                gc.collect()
                gc.freeze()  # children share its pages as long as nobody looks through them
                warm = True
            line, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                minded(line)
                os._exit(0)
            line.close()
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()


def read_own_files() -> None:
    """Read once what every process would read again of files that do not change."""
    from dpaudit import sources

    for path in sources.CORE.rglob("*.py"):
        sources._of_core(path)
    sources._distributions()


def minded(line: socket.socket) -> None:
    """Fork the child that was asked for, tell its number, wait for it, tell how it ended."""
    head, ends, _, _ = socket.recv_fds(line, SIZE.size, 3)
    asked = pickle.loads(received(line, SIZE.unpack(head)[0]))
    pid = os.fork()
    if pid == 0:
        line.close()
        become(asked, ends)
    for end in ends:
        os.close(end)
    line.sendall(SIZE.pack(pid))
    _, status = os.waitpid(pid, 0)
    with contextlib.suppress(OSError):
        line.sendall(SIZE.pack(os.waitstatus_to_exitcode(status)))


def become(asked: dict, ends: list[int]) -> None:
    """Run the code as a fresh process would that has imported dpaudit."""
    import numpy as np

    code = 1
    try:
        if asked["session"]:
            os.setsid()
        for number, end in enumerate(ends):
            os.dup2(end, number)
            os.close(end)
        os.chdir(asked["cwd"])
        os.environ.clear()
        os.environ.update(asked["env"])
        np.random.seed()  # noqa: NPY002 - a fresh process has a state of its own
        sys.modules["__main__"].__dict__.pop("__file__", None)
        exec(asked["code"], {"__name__": "__main__"})
        code = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
        os._exit(code)


if FOLDER in os.environ and __name__ != "__main__":
    put(Warm(Path(os.environ[FOLDER]), SEEDS))
if __name__ == "__main__":
    sys.path[:] = [sys.argv[1], *(it for it in sys.path if it != str(HERE.parent))]
    serve(Path(sys.argv[2]), tuple(sys.argv[3:]))
