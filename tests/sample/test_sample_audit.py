"""Audits end to end: silent where private, refuted where not, the same bytes however they run."""

import math
import subprocess
import sys
import time
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest

from dpaudit.core.algorithms import load
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.scores import Affine, Formula
from dpaudit.errors import DpauditError, InvalidArgument
from dpaudit.output import plain
from dpaudit.sample.audit import audit, short_audit
from dpaudit.sample.bets import Wealth, best_bets
from dpaudit.sample.boxes import DeclaredBox
from dpaudit.sample.guard import PolicyError
from dpaudit.sample.log import BlockLog
from dpaudit.sample.plan import AuditPlan
from dpaudit.sample.progress import Progress
from dpaudit.sample.report import _why_nothing
from dpaudit.sample.runs import Runs
from dpaudit.sample.streams import Pair, Stream, candidates
from dpaudit.sample.text import report_lines
from dpaudit.sample.workers import OutOfMemory, Workers
from dpaudit.verdict import Status


@dataclass(frozen=True)
class RandomisedResponse:
    """A bandit of two steps that plays at step 2 its first reward, flipped with some probability.

    Its true epsilon is log((1 - flip) / flip).
    """

    flip: float
    arms: int = 2
    horizon: int = 2

    def identity(self):
        return {"policy": "randomised response", "flip": self.flip}

    def run(self, stream, runs, seed):
        told = np.random.default_rng(seed).random(runs) < self.flip
        second = (stream.at(0) >= 0.5) ^ told
        return Runs.of_actions(np.stack((np.zeros(runs, dtype=int), second), axis=1))


PAIRS = (Pair("flip", Stream.of([0.0, 0.0]), 0, 1.0), Pair("late", Stream.of([0.0, 0.0]), 1, 1.0))


def response(epsilon, claimed, seed=0, runs=8000, error=1e-3, delta=0.0):
    flip = 1 / (1 + math.exp(epsilon))
    return AuditPlan(RandomisedResponse(flip), claimed, error, runs, seed, PAIRS, delta)


def encoded(report) -> bytes:
    return msgspec.json.encode(plain(report))


def test_a_violation_is_refuted_early_and_the_bound_is_below_the_truth():
    report = audit(response(2.0, 1.0))
    assert report.status is Status.REFUTED
    assert 1.0 <= report.lower <= 2.0
    assert report.runs < report.runs_planned
    assert report.witness is not None and report.witness["pair"]["name"] == "flip"


def test_an_exactly_tight_mechanism_is_not_refuted():
    """False alarms in 40 audits at error 0.05; more than 12 have probability below 1e-6."""
    reports = [audit(response(1.0, 1.0, seed, runs=600, error=0.05)) for seed in range(40)]
    assert sum(report.status is Status.REFUTED for report in reports) <= 12
    assert sum(report.lower >= 1.0 for report in reports) <= 12
    assert max(report.lower for report in reports) > 0.4


def test_delta_is_forgiven_up_to_delta():
    """With P(E|r) = 0.88 and P(E|r') = 0.12, delta = 0.6 covers epsilon = 1."""
    assert audit(response(2.0, 1.0, delta=0.6)).status is Status.SILENT
    assert audit(response(2.0, 1.0, delta=0.05)).status is Status.REFUTED


def test_epsilon_above_log_100_can_be_shown():
    report = audit(response(30.0, 6.0, runs=100_000))
    assert report.status is Status.REFUTED
    assert report.lower > math.log(100)


@pytest.fixture(scope="module")
def adap_plan():
    algorithm = load("adap_ucb", arms=2, epsilon=1.0)
    box = DeclaredBox(algorithm, 40)
    return AuditPlan(box, 1.0, 1e-3, 4000, 7, tuple(candidates(2, 40, [7, 2]))[:6])


@pytest.fixture(scope="module")
def adap_bytes(adap_plan):
    return encoded(audit(adap_plan))


def test_declared_private_algorithm_is_silent(adap_plan, adap_bytes):
    report = msgspec.json.decode(adap_bytes)
    assert report["status"] == "SILENT"
    assert "which is not a proof" in report["words"]
    assert report["runs"] <= adap_plan.runs


@pytest.mark.parametrize(("jobs", "backend"), [(2, "processes"), (4, "threads"), (2, "threads")])
def test_same_bytes_for_any_workers(adap_plan, adap_bytes, jobs, backend):
    assert encoded(audit(adap_plan, Workers(jobs, backend))) == adap_bytes


@pytest.mark.slow
def test_same_bytes_on_a_dask_cluster(adap_plan, adap_bytes):
    assert encoded(audit(adap_plan, Workers(2, "dask"))) == adap_bytes


def test_an_early_stop_does_not_depend_on_the_workers():
    plan = response(1.6, 1.0, seed=5)
    reference = audit(plan)
    assert reference.status is Status.REFUTED
    assert reference.runs < plan.runs
    assert encoded(audit(plan, Workers(4, "threads"))) == encoded(reference)


def test_a_log_cut_anywhere_resumes_to_the_same_bytes(adap_plan, adap_bytes, tmp_path):
    path = tmp_path / "audit.log"
    log = BlockLog.start(str(path), adap_plan.identity())
    assert encoded(audit(adap_plan, log=log)) == adap_bytes
    log.close()
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for cut in [0, 5, len(whole) - 1, *rng.integers(0, len(whole), 2).tolist()]:
        path.write_bytes(whole[:cut])
        log = BlockLog.resume(str(path), adap_plan.identity())
        assert encoded(audit(adap_plan, log=log)) == adap_bytes
        log.close()
        assert path.read_bytes() == whole


def test_logs_of_other_audits_are_refused(adap_plan, tmp_path):
    path = tmp_path / "audit.log"
    BlockLog.start(str(path), adap_plan.identity()).close()
    other = AuditPlan(adap_plan.box, 1.0, 1e-3, 4000, 8, adap_plan.pairs)
    with pytest.raises(InvalidArgument, match="log of another audit: its seed is different"):
        BlockLog.resume(str(path), other.identity())
    with pytest.raises(InvalidArgument, match="exists; continue it with --resume"):
        BlockLog.start(str(path), adap_plan.identity())
    with pytest.raises(InvalidArgument, match="cannot be read"):
        BlockLog.resume(str(tmp_path / "none"), adap_plan.identity())
    path.write_text("something else\n")
    with pytest.raises(InvalidArgument, match="is not a log of an audit"):
        BlockLog.resume(str(path), adap_plan.identity())


def test_the_memory_limit_keeps_the_log(adap_plan, adap_bytes, tmp_path):
    path = tmp_path / "audit.log"
    log = BlockLog.start(str(path), adap_plan.identity())
    with pytest.raises(OutOfMemory, match="max-memory=1 MB reached") as caught:
        audit(adap_plan, Workers(max_memory=1), log)
    assert caught.value.exit_code == 130
    log.close()
    log = BlockLog.resume(str(path), adap_plan.identity())
    assert log.done
    assert encoded(audit(adap_plan, log=log)) == adap_bytes


def test_short_audit_is_a_finding():
    refuted = short_audit(load("ucb", arms=2), 1.0, 200, 0, 20.0)
    assert refuted.status is Status.REFUTED and refuted.check == "sample"
    assert refuted.epsilon_lower >= 1.0 and refuted.error == 1e-6
    assert "Pair: " in refuted.reason
    cut = short_audit(load("adap_klucb", arms=2), 1.0, 1000, 0, 1e-9)
    assert cut.status is Status.SILENT and cut.epsilon_lower == 0.0
    assert cut.streams == "8 pairs tried"


def test_short_audit_steers():
    found = short_audit(load("adap_klucb", arms=2), 1.0, 1000, 0, 600.0)
    assert found.status is Status.SILENT and found.streams == "10 pairs tried"
    assert 0.3 < found.epsilon_lower < 1.0
    assert any("add up to" in course.hypothesis for course in found.courses)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epsilon": -1.0}, "epsilon=-1.0 must be positive"),
        ({"delta": 1.0}, "delta=1.0 must lie in"),
        ({"error": 0.0}, "error=0.0 must lie strictly between 0 and 1"),
        ({"error": 1}, "error=1 must lie strictly between 0 and 1"),
        ({"runs": 3}, "runs=3 must be at least"),
        ({"seed": -1}, "seed=-1 must be at least 0"),
        ({"pairs": ()}, "pairs=0 must be at least 1"),
        ({"pairs": (Pair("x", Stream.of([0.0, 0.0, 0.0]), 0, 1.0),)}, "must be the horizon, 2"),
    ],
)
def test_bad_plans_are_refused(change, message):
    values = {"epsilon": 1.0, "error": 0.1, "runs": 1000, "seed": 0, "pairs": PAIRS, **change}
    with pytest.raises(InvalidArgument, match=message):
        AuditPlan(RandomisedResponse(0.3), **values)


def test_bad_workers_are_refused():
    for values, message in [
        ({"jobs": 0}, "jobs=0 must be at least 1"),
        ({"backend": "threds"}, "Did you mean 'threads'"),
        ({"scheduler": "tcp://x"}, "needs --backend dask"),
    ]:
        with pytest.raises(DpauditError, match=message):
            Workers(**values)


def test_short_audit_is_importable_before_anything_else():
    code = "import dpaudit.sample as s; print(s.short_audit.__name__, hasattr(s, 'nothing'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == ["short_audit", "False"], done.stderr


@pytest.mark.parametrize("runs", [400, 4_000, 60_000])
@pytest.mark.parametrize("favoured", [0, 3, 6])
def test_the_search_for_a_pair_keeps_to_its_share(runs, favoured):
    box = DeclaredBox(load("adap_ucb", arms=2, epsilon=1.0), 40)
    pairs = tuple(candidates(2, 40, [7, 2]))
    plan = AuditPlan(box, 1.0, 1e-3, runs, 7, pairs, favoured=favoured)
    sizes = [size for size, _ in plan.stages]
    if runs == 60_000:
        # however many leads there are, the best of the other pairs are looked at beside them
        assert sizes == [len(pairs) - favoured, max(6, favoured + 3), 3]
        assert all(rounds >= 32 for _, rounds in plan.stages)
    else:
        assert sizes == [len(pairs)]
    assert all(rounds >= 4 for _, rounds in plan.stages)
    assert sum(2 * size * rounds for size, rounds in plan.stages) <= max(runs // 3, 8 * len(pairs))
    single = AuditPlan(box, 1.0, 1e-3, runs, 7, pairs[:1])
    assert single.stages == []


def test_the_pair_is_found_among_many():
    idle = tuple(Pair(f"late {n}", Stream.of([0.0, n / 20]), 1, 1.0) for n in range(15))
    plan = AuditPlan(RandomisedResponse(0.1), 1.0, 1e-3, 8000, 3, (*idle, PAIRS[0]))
    report = audit(plan)
    assert report.status is Status.REFUTED and report.hypotheses[0].pair == "flip"
    assert 0.8 < report.hypotheses[0].hits / report.hypotheses[0].rounds < 1.0


@dataclass(frozen=True, kw_only=True)
class Broken(AdapUCB):
    """A declaration whose rule does what it is told, once the first pulls are made."""

    what: str = "raise"

    def rule(self, pulls, time, m):
        if self.what == "raise":
            raise KeyError("no rule")
        if self.what == "exit":
            sys.exit(0)
        if self.what == "spin":
            while True:
                pass
        return {"none": None, "text": "rule", "nan": Affine(float("nan") * pulls)}[self.what]


@pytest.mark.parametrize("what", ["raise", "exit", "none", "text"])
def test_whatever_a_declaration_does_is_an_error_of_one_line(what):
    broken = Broken(arms=2, epsilon=1.0, what=what)
    with pytest.raises(DpauditError) as caught:
        short_audit(broken, 1.0, 100, 0, 0.2)
    assert "Broken" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(("what", "budget"), [("spin", 0.2), ("nan", 1e-9)])
def test_a_short_audit_without_a_run_says_so_in_one_way(what, budget):
    found = short_audit(Broken(arms=2, epsilon=1.0, what=what), 1.0, 100, 0, budget)
    assert found.status is Status.SILENT and found.epsilon_lower == 0.0
    assert found.reason.startswith("Not one run of 100 rounds was bet on in its time: ")
    assert found.error is None  # a page said "Error probability at most 1e-06" of it


@dataclass(frozen=True)
class Raised(Formula):
    """A score of one's own."""

    bonus: Any

    def formula(self, x, m):
        return x + self.bonus


class OwnRule(AdapUCB):
    def rule(self, pulls, time, m):
        return Raised(m.sqrt(m.log(time) / pulls))


def test_a_short_audit_of_rules_that_are_asked_run_by_run_has_fewer_runs():
    """The looks at pairs grow with the runs: all of the time went into them."""
    found = short_audit(OwnRule(arms=2, epsilon=1.0), 1.0, 60, 0, 600.0)
    assert found.epsilon_lower > 0.2 and "4,000 runs" in found.reason
    assert "16,000 runs" in short_audit(load("adap_ucb", arms=2), 1.0, 60, 0, 600.0).reason


def test_an_audit_is_heard_of_while_it_chooses_a_pair():
    heard = []
    pairs = tuple(candidates(2, 20, [0, 2])[:3])
    plan = AuditPlan(DeclaredBox(OwnRule(arms=2, epsilon=1.0), 20), 1.0, 0.1, 100, 0, pairs)
    audit(plan, heard=lambda *said: heard.append(said))
    before = [said for said in heard if not said[0]]
    assert len(before) >= 3 and set(before) == {(0, 0.0, 0.0)} and heard[-1][0] == 100


def test_a_declaration_that_plays_by_nan_concludes_nothing():
    found = short_audit(Broken(arms=2, epsilon=1.0, what="nan"), 1.0, 100, 0, 20.0)
    assert found.status is Status.SILENT


@dataclass(frozen=True)
class Slow(RandomisedResponse):
    """Blocks that take longer than anybody waits."""

    def run(self, stream, runs, seed):
        while True:
            pass


def test_a_deadline_ends_a_block_that_does_not_end():
    plan = AuditPlan(Slow(0.3), 1.0, 0.1, 1000, 0, PAIRS)
    report = audit(plan, deadline=time.monotonic() + 0.1)
    assert report.status is Status.SILENT and report.runs == 0 and report.lower == 0.0


@dataclass(frozen=True)
class Raises(RandomisedResponse):
    """A box of the caller's own that fails."""

    def run(self, stream, runs, seed):
        raise SystemExit(0)


def test_what_a_box_raises_is_named():
    plan = AuditPlan(Raises(0.3), 1.0, 0.1, 1000, 0, PAIRS)
    with pytest.raises(PolicyError, match="randomised response raised SystemExit: 0"):
        audit(plan)


def test_runs_of_the_pair_that_paid_most_are_made_again_first():
    """Gains of two pairs refute together: the one that earned more is confirmed by more runs."""
    asked = []
    confirming = SimpleNamespace(confirm=lambda pairs: asked.extend(pairs) or "")
    log = BlockLog.nowhere()
    progress = Progress(response(1, 1), Workers(1), log, lambda *_: None, None, confirming)
    progress.wealth = SimpleNamespace(claim_refuted=True)
    progress.gains = {0: 1.0, 1: 5.0}
    progress.perform(lambda tasks: [])
    assert [pair.name for pair in asked] == ["late", "flip"] and progress.doubt == ""


def test_a_report_without_a_bound_says_why():
    """Next to nothing leaks: the lowest level would take many more runs, or all is chance."""
    report = audit(response(0.05, 1.0, runs=600))
    assert report.lower == 0.0 and "Why no more: " in report.words
    assert "of 600 runs." in report.words
    told = audit(response(2.0, 4.0, runs=600))
    assert told.lower > 0 and "Why" not in told.words


def test_runs_that_a_level_may_still_take_are_further_ones():
    """The pair may have had more by then than the estimate says: it begins anew."""
    table = SimpleNamespace(values=[0, 1])
    pair = SimpleNamespace(name="late", stream=SimpleNamespace(horizon=4))
    one = SimpleNamespace(rounds=298, pair=pair, tables={"": table}, outlook=lambda wealth: 160.0)
    done = SimpleNamespace(suspects=[one], runs=4510, wealth=SimpleNamespace(levels=[0.02]))
    assert "may take about 320 further runs to exclude epsilon 0.02" in _why_nothing(
        done, "epsilon"
    )


def test_the_runs_that_may_exclude_a_level_are_those_of_the_normal_limit():
    """Events of 0.2 and 0.1 against the lowest level: z^2 / (2 growth) rounds."""
    wealth = Wealth(1.0, 0.05)
    counts = np.array([[[80_000, 20_000], [90_000, 10_000]]])
    p, q = counts[0] / 100_000
    growth = float(best_bets(wealth.ratios[:1], p, q).growth)
    found = wealth.rounds_to_exclude(counts, np.array([2]), 0.0)
    assert found == pytest.approx(1.6449**2 / (2 * growth), rel=0.01)
    assert wealth.rounds_to_exclude(counts[:, [0, 0]], np.array([2]), 0.0) == math.inf


def test_a_silent_audit_says_that_nothing_happened():
    class Idle(RandomisedResponse):
        def run(self, stream, runs, seed):
            return Runs.of_actions(np.tile([0, 1], (runs, 1)))

    report = audit(AuditPlan(Idle(0.3), 1.0, 1e-3, 400, 0, PAIRS))
    why = "on every pair that was run, all played the same actions for 2 rounds."
    assert report.words.endswith(why)
    assert "  excluded      nothing" in report_lines(report)
    assert (
        "same actions"
        not in audit(AuditPlan(RandomisedResponse(0.5), 1.0, 1e-3, 400, 0, PAIRS)).words
    )


def test_a_printed_bound_is_at_most_the_bound():
    """Neither a claim nor a bound gains by its rounding."""
    box = DeclaredBox(load("ucb", arms=2), 40)
    pairs = tuple(candidates(2, 40, [0, 2]))[:2]
    for claim in (math.log(3), 0.999999999):
        report = audit(AuditPlan(box, claim, 1e-3, 600, 0, pairs))
        assert report.status is Status.REFUTED and repr(claim) in report.words
        said = next(line for line in report_lines(report) if "excluded" in line)
        assert report.lower - 1e-3 < float(said.split("below ")[1].split()[0]) <= report.lower
