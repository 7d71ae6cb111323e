"""One mutant at a time in a copy of the repository: the tests that reach it, the quickest first.

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
from cover import Map
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
    "statsmodels.stats.proportion",
)
COMPILING = 90.0  # seconds: a mutant may reach compiled code that is not cached
ASLEEP = 20.0  # times the processor time allowed; only what waits for ever takes that long
FIRST_SECONDS = 6.0  # of tests in the first fork: most mutants die there
WARM = """
from dpaudit.core.algorithms import load
from dpaudit.exact import worst_loss
for name in ("adap_ucb", "adap_klucb", "dp_klucb", "lazy_dp_ucb"):
    worst_loss(load(name, arms=2), 8, engine="float", budget=60)
"""
OPTIONS = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--hypothesis-seed=0", "--tb=line"]


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: killed by a test, timed out, survived, or never built."""

    status: str
    by: str
    seconds: float
    tests: int


class Failures:
    """Writes the first failing test to a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.path.write_text(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.path.write_text(report.nodeid)


@dataclass
class Bench:
    """The copy, the map, and which tests have killed what."""

    root: Path
    work: Path
    map: Map
    cap: float
    killers: dict[str, Counter[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.copy = self.work / "copy"
        synchronise(self.root, self.copy)
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        os.environ["PYTHONPATH"] = str(self.copy)
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
        subprocess.run([sys.executable, "-m", "compileall", "-q", "dpaudit"], cwd=self.copy)
        # what the copy has compiled once is cached; no mutant is to be charged for it
        subprocess.run([sys.executable, "-c", WARM], cwd=self.copy, check=True)
        # a test that is gone since it was measured would look like one that fails
        words = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n", "0", "tests"]
        told = subprocess.run(words, cwd=self.copy, capture_output=True, text=True).stdout
        self.known = {line for line in told.splitlines() if "::" in line}
        for name in PRELOADED:
            importlib.import_module(name)

    def tests(self, mutant: Mutant) -> list[str]:
        """Return the tests to run, up to the cap: earlier killers of the module, then by time."""
        path = self.root / mutant.module
        found = self.map.tests(path, mutant.module, mutant.lines, mutant.function) & self.known
        lethal = self.killers.get(mutant.module, Counter())
        seconds = self.map.seconds
        ordered = sorted(found, key=lambda test: (seconds[test] / (1 + 4 * lethal[test]), test))
        chosen, spent = [], 0.0
        for test in ordered:
            if spent + seconds[test] > self.cap:
                break
            chosen.append(test)
            spent += seconds[test]
        return chosen

    def run(self, mutant: Mutant) -> Outcome:
        """Return what became of a mutant; the copy is as before afterwards."""
        begun = time.monotonic()
        tests = self.tests(mutant)
        try:
            compile(mutant.source, mutant.module, "exec")
        except SyntaxError:
            return Outcome("invalid", "", 0.0, 0)
        if not tests:
            return Outcome("survived", "", 0.0, 0)
        path = self.copy / mutant.module
        original, stamp = path.read_bytes(), path.stat()
        for cached in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            cached.unlink()
        path.write_text(mutant.source)
        try:
            status, by = self._stages(tests)
        finally:
            path.write_bytes(original)
            os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        if by:
            self.killers.setdefault(mutant.module, Counter())[by] += 1
        return Outcome(status, by, round(time.monotonic() - begun, 2), len(tests))

    def unreliable(self, tests: list[str]) -> list[str]:
        """Return the tests that fail without any mutant: what they killed does not count."""
        return [test for test in tests if self._forked([test])[0] != "survived"]

    def _stages(self, tests: list[str]) -> tuple[str, str]:
        spent, few = 0.0, 0
        while few < len(tests) and spent < FIRST_SECONDS:
            spent += self.map.seconds[tests[few]]
            few += 1
        for stage in (tests[:few], tests[few:]):
            if stage:
                status, by = self._forked(stage)
                if status != "survived":
                    return status, by
        return "survived", ""

    def _forked(self, tests: list[str]) -> tuple[str, str]:
        """Run tests in a fork of this process; one that computes far longer than usual is ended.

        The limit is on processor time, so that a busy machine makes no mutant look killed.
        """
        allowed = math.ceil(COMPILING + 4 * sum(self.map.seconds[test] for test in tests))
        said = self.work / "failed"
        said.unlink(missing_ok=True)
        shutil.rmtree(self.copy / ".hypothesis", ignore_errors=True)
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_CPU, (allowed, allowed))
            os._exit(self._child(tests, said))
        deadline = time.monotonic() + ASLEEP * allowed
        while time.monotonic() < deadline:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                code = os.waitstatus_to_exitcode(status)
                if code in (-signal.SIGXCPU, -signal.SIGKILL):
                    return "timeout", ""
                by = said.read_text() if said.exists() else f"exit code {code}" if code else ""
                return ("killed", by) if by else ("survived", "")
            time.sleep(0.02)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return "timeout", ""

    def _child(self, tests: list[str], said: Path) -> int:
        os.setsid()
        log = os.open(self.work / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.chdir(self.copy)
        sys.dont_write_bytecode = True
        sys.path[:] = [str(self.copy), *(it for it in sys.path if it not in _ours(self.root))]
        plugins: list[Any] = [Failures(said)]
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
