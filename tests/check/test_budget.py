"""Budgets: shared between checks, kept where nobody looks at the clock, and no reason to forget."""

from __future__ import annotations

import itertools
import signal
import sys
import time

import pytest

from dpaudit.core.algorithms.dp_se import DPSE
from dpaudit.deadline import COMPILER, Expired, Work, deadline
from dpaudit.judging import Case, Listener, check
from dpaudit.options import Options
from dpaudit.structure import prove
from dpaudit.target import resolve
from dpaudit.verdict import Finding, Status


def judged(kept=None, **options):
    asked = Options(horizon=50, exact_horizon=3, **options)
    return check(resolve("adap_ucb"), asked, Listener(kept=kept))


def for_ever(self, budget):
    for _ in itertools.count():
        pass


def test_no_check_takes_what_the_others_need(monkeypatch):
    shares = {}

    def spend(name):
        def method(self, budget):
            shares[name] = budget
            return [Finding(name, Status.SILENT, "")]

        return method

    for name in ("structure", "exact", "sample"):
        monkeypatch.setattr(Case, name, spend(name))
    judged(budget=100.0)
    # each may take a part of what is left: nothing was spent here
    assert shares["structure"] <= 50 < shares["exact"] <= 65 < shares["sample"] <= 100
    judged(budget=100.0, methods=("structure",))
    assert 65 < shares["structure"] <= 100


def test_a_check_that_never_ends_is_stopped_and_the_others_are_heard(monkeypatch):
    monkeypatch.setattr(Case, "exact", for_ever)
    report = judged(budget=1.0, methods=("structure", "exact"))
    assert report.verdict is Status.PROVED
    assert [it.status for it in report.findings] == [Status.PROVED, Status.SILENT]
    assert report.findings[1].reason == "The budget ended before it had an answer."
    assert not report.failure


def test_a_check_that_fails_leaves_the_proof_alone(monkeypatch):
    def fail(self, budget):
        raise LookupError("gone")

    kept = []
    monkeypatch.setattr(Case, "sample", fail)
    report = judged(methods=("structure", "sample"), kept=kept.append)
    assert report.verdict is Status.PROVED
    assert report.failure.startswith("TARGET=adap_ucb failed in sample: LookupError: gone (")
    assert [it.check for it in report.findings] == ["structure", "sample"]
    assert [it.verdict for it in kept] == [Status.PROVED, Status.PROVED]


class Outside(DPSE):
    """The same algorithm outside of the frame of phases: every history of survivors is walked."""

    def step(self, state):
        return super().step(state)


def test_eliminations_of_many_arms_end_with_the_budget():
    found = prove(Outside(arms=24, horizon=10**7), 10**7, budget=0.5)
    assert "budget ended" in found.reason
    assert found.horizon < 10**7 or found.status is Status.SILENT


def test_a_horizon_out_of_reach_ends_with_the_budget():
    size = 10**9
    options = Options(horizon=size, exact_horizon=size, methods=("exact",), budget=1.0)
    report = check(resolve("adap_ucb"), options)
    assert report.verdict is Status.SILENT
    assert not report.failure


def test_no_alarm_is_raised_where_llvm_calls_back():
    """What is raised there is printed by ctypes, and lost."""
    place = {"time": time}
    text = "def notified():\n    end = time.monotonic() + 0.4\n"
    text += "    while time.monotonic() < end:\n        pass\n    return True"
    exec(compile(text, f"{COMPILER[-1]}/binding/executionengine.py", "exec"), place)
    done = False
    with pytest.raises(Expired), deadline(time.monotonic() + 0.05):
        done = place["notified"]()
        time.sleep(10)
    assert done


def test_a_deadline_passes_through_code_that_catches_errors_and_gives_the_alarm_back():
    def stubborn():
        while True:
            try:
                time.sleep(10)
            except Exception:
                continue

    before = signal.getsignal(signal.SIGALRM)
    with deadline(time.monotonic() + 100):
        with pytest.raises(Expired), deadline(time.monotonic() + 0.01):
            stubborn()
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 100
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is before


def test_work_is_of_the_processor_and_at_least_a_part_of_the_wall(monkeypatch):
    wall, processor = [100.0], [7.0]
    monkeypatch.setattr(time, "monotonic", lambda: wall[0])
    monkeypatch.setattr(time, "process_time", lambda: processor[0])
    work = Work()
    wall[0], processor[0] = 102.0, 9.0
    assert work() == work.elapsed == 2.0  # alone on the machine
    wall[0], processor[0] = 106.0, 10.0
    assert work() == 3.0 and work.before(3.5)  # beside others
    wall[0] = 130.0
    assert work() == 10.0 and not work.before(3.5)  # it only waits


def test_an_alarm_that_comes_before_its_time_is_not_heard():
    now = [0.0]
    with deadline(0.05, clock=lambda: now[0]):
        start = time.monotonic()
        while time.monotonic() < start + 0.4:
            pass
    with pytest.raises(Expired), deadline(0.05, clock=lambda: now[0]):
        now[0] = 1.0
        while time.monotonic() < start + 10:
            pass


def test_a_package_is_loaded_whole_or_not_at_all(tmp_path, monkeypatch):
    """Half of one would stay behind, without the parts that are loaded already."""
    (tmp_path / "halved").mkdir()
    (tmp_path / "halved" / "__init__.py").write_text("import halved.part\nimport halved.spins\n")
    (tmp_path / "halved" / "part.py").write_text("")
    (tmp_path / "halved" / "spins.py").write_text(
        "import time\nend = time.monotonic() + 0.1\nwhile time.monotonic() < end:\n    pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    for installed in ((), (str(tmp_path),)):
        monkeypatch.setattr("dpaudit.deadline.INSTALLED", installed)
        with pytest.raises(Expired), deadline(time.monotonic() + 0.02):
            import halved

            for_ever(None, 0)
        whole = hasattr(sys.modules.get("halved"), "part")
        assert whole is bool(installed)
        for name in [name for name in sys.modules if name.partition(".")[0] == "halved"]:
            del sys.modules[name]
    assert halved.part
