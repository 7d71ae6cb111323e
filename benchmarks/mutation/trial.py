"""One mutant at a time in a copy of the repository: the tests that speak of it, the closest first.

The parent has imported what the tests need of other packages and nothing of dpaudit; a trial is a
fork of it that imports the changed copy and runs pytest. So a trial costs about a second, and
nothing of one reaches the next. Compiled code is cached in the copy.
"""

from __future__ import annotations

import importlib
import math
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from choice import files, words
from operators import Mutant

PRELOADED = (
    "numpy",
    "scipy.special",
    "scipy.optimize",
    "scipy.stats",
    "numba",
    "flint",
    "hypothesis",
    "_hypothesis_pytestplugin",
    "joblib",
    "msgspec",
    "rich.console",
)
PATIENCE = 6.0  # seconds of the processor for one test, which is left out after that
KILLERS = 12  # tests that have killed a mutant of the module, which come first
QUICK = 2.0  # a test that is left out, and takes less without the mutant, hangs by it
HANGING = 90.0  # seconds of the processor beyond the cap: one test that takes so long hangs
ASLEEP = 40.0  # times the processor time allowed; only what waits for ever takes that long
OPTIONS = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--hypothesis-seed=0", "--tb=line"]


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: killed by a test, timed out, survived, or never built."""

    status: str
    by: str
    seconds: float
    tests: int


class Late(BaseException):
    """A test has taken too long; no `except Exception` goes on with it."""


def _end(*_: Any) -> None:
    raise Late


@dataclass(eq=False)
class Guide:
    """A plugin: lethal tests first, then those that name the function; long ones are left out."""

    said: Path
    names: list[str]
    lethal: Counter[str]
    cap: float
    patience: float = PATIENCE
    ran: int = 0
    late: list[str] = field(default_factory=list)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        def rank(item: pytest.Item) -> tuple[int, bool, int]:
            function = getattr(item, "function", None)
            long = getattr(function, "is_hypothesis_test", False)
            code = getattr(function, "__code__", None)
            said = [] if code is None else [*code.co_names, *code.co_freevars]
            return -self.lethal[item.nodeid], long, -sum(name in said for name in self.names)

        items.sort(key=rank)

    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        if time.process_time() > self.cap:
            item.session.shouldstop = "the cap"
            return True
        self.ran += 1
        return None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Any:
        signal.signal(signal.SIGVTALRM, _end)
        signal.setitimer(signal.ITIMER_VIRTUAL, self.patience)
        try:
            return (yield)
        except Late:
            self.late.append(item.nodeid)
            pytest.skip("it takes too long")
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.said.write_text(f"{self.ran} {report.nodeid}")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.said.write_text(f"{self.ran} {report.nodeid}")

    def pytest_sessionfinish(self) -> None:
        self.said.with_name("late").write_text("\n".join(self.late))
        if not self.said.exists():
            self.said.write_text(f"{self.ran} ")


@dataclass
class Bench:
    """The copy, the tests, and which of them have killed what."""

    root: Path
    work: Path
    cap: float
    killers: dict[str, Counter[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.copy = self.work / "copy"
        synchronise(self.root, self.copy)
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        os.environ["PYTHONPATH"] = str(self.copy)
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
        subprocess.run([sys.executable, "-m", "compileall", "-q", "dpaudit"], cwd=self.copy)
        for name in PRELOADED:
            importlib.import_module(name)

    def run(self, mutant: Mutant) -> Outcome:
        """Return what became of a mutant; the copy is as before afterwards."""
        begun = time.monotonic()
        guards, others = files(self.copy, mutant)
        try:
            compile(mutant.source, mutant.module, "exec")
        except SyntaxError:
            return Outcome("invalid", "", 0.0, 0)
        path = self.copy / mutant.module
        original, stamp = path.read_bytes(), path.stat()
        for cached in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            cached.unlink()
        path.write_text(mutant.source)
        lethal = self.killers.setdefault(mutant.module, Counter())
        ran = 0
        late: list[str] = []
        try:
            first = [test for test, _ in lethal.most_common(KILLERS)]
            for tests, cap in ((first, self.cap), (guards, self.cap), (others, self.cap / 4)):
                if not tests:
                    continue
                status, by, more = self._forked(tests, words(mutant), lethal, cap)
                ran += more
                late += self._late()
                if status != "survived":
                    break
        finally:
            path.write_bytes(original)
            os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        if status == "survived" and self._hangs(late[:2]):
            status, by = "timeout", late[0]
        self.remember(mutant.module, by)
        return Outcome(status, by, round(time.monotonic() - begun, 2), ran)

    def remember(self, module: str, test: str) -> None:
        """Take note of a test that killed a mutant of a module: it is the first for the next."""
        if test:
            self.killers.setdefault(module, Counter())[test] += 1

    def _late(self) -> list[str]:
        return (self.work / "late").read_text().splitlines()

    def _hangs(self, late: list[str]) -> bool:
        """Tell whether one of the tests that took too long is quick without the mutant."""
        if not late or self._forked(late, [], Counter(), math.inf, QUICK)[0] != "survived":
            return False
        return len(self._late()) < len(late)

    def unreliable(self, tests: list[str]) -> list[str]:
        """Return the tests that fail without any mutant: what they killed does not count."""
        failing: list[str] = []
        left = tests
        while left:
            status, by, _ = self._forked(left, [], Counter(), math.inf)
            if status == "survived" or by not in left:
                break
            failing.append(by)
            left = [it for it in left if it != by]
        return failing

    def _forked(
        self,
        tests: list[str],
        names: list[str],
        lethal: Counter[str],
        cap: float,
        patience: float = PATIENCE,
    ) -> tuple[str, str, int]:
        """Run tests in a fork of this process; one that computes far longer than usual is ended.

        The limit is on processor time, so that a busy machine makes no mutant look killed.
        """
        said = self.work / "failed"
        said.unlink(missing_ok=True)
        said.with_name("late").write_text("")
        shutil.rmtree(self.copy / ".hypothesis", ignore_errors=True)
        allowed = math.ceil(HANGING + min(cap, 3600.0))
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_CPU, (allowed, allowed))
            os._exit(self._child(tests, Guide(said, names, lethal, cap, patience)))
        deadline = time.monotonic() + ASLEEP * allowed
        while time.monotonic() < deadline:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                code = os.waitstatus_to_exitcode(status)
                ran, _, by = said.read_text().partition(" ") if said.exists() else ("0", "", "")
                if code in (-signal.SIGXCPU, -signal.SIGKILL):
                    return "timeout", "", int(ran)
                if not by and code not in (
                    0,
                    2,
                    4,
                    5,
                ):  # 4: a test that is gone; else pytest failed
                    raise RuntimeError((self.work / "log").read_text()[-2000:])
                return ("killed" if by else "survived"), by, int(ran)
            time.sleep(0.02)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return "timeout", "", 0

    def _child(self, tests: list[str], guide: Guide) -> int:
        os.setsid()
        log = os.open(self.work / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.chdir(self.copy)
        sys.dont_write_bytecode = True
        sys.path[:] = [str(self.copy), *(it for it in sys.path if it not in _ours(self.root))]
        plugins: list[Any] = [guide]
        try:
            return int(pytest.main([*tests, *OPTIONS], plugins=plugins))
        except BaseException:
            return 70


def _ours(root: Path) -> set[str]:
    return {str(root), str(Path(__file__).parent), ""}


def synchronise(root: Path, copy: Path) -> None:
    """Make the copy equal to the files of the repository; equal files keep their stamps."""
    words = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(words, cwd=root, capture_output=True, text=True, check=True).stdout
    wanted = {name for name in listed.splitlines() if (root / name).is_file()}
    for name in sorted(wanted):
        target = copy / name
        content = (root / name).read_bytes()
        if not target.is_file() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    for path in copy.rglob("*.py"):
        if str(path.relative_to(copy)) not in wanted:
            path.unlink()
