"""Runs that are not independent: private policies that drift are refused, never refuted."""

import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest

from dpaudit.cli import run
from dpaudit.core.algorithms import load
from dpaudit.sample import independence
from dpaudit.sample.audit import audit
from dpaudit.sample.block import judge
from dpaudit.sample.boxes import DeclaredBox, PolicyBox, file_box
from dpaudit.sample.events import AtLeast
from dpaudit.sample.independence import Independence, NotIndependent
from dpaudit.sample.onerun import one_run_audit
from dpaudit.sample.plan import AuditPlan
from dpaudit.sample.runs import Pulls
from dpaudit.sample.streams import Pair, Stream, candidates
from dpaudit.sample.workers import Workers
from dpaudit.verdict import Status

FILE = str(Path(__file__).parent / "drifting.py")
DRIFTING = ["clock", "counter", "cache", "ClassAttribute", "module_draw"]
PAIR = Pair("flip", Stream.of([0.0] * 6), 0, 1.0)
PAIRS = tuple(candidates(2, 6, [0, 2]))[:4]
SMALL = ["--arms", "2", "--horizon", "6", "--runs", "3000"]


def plan(name, seed=0, runs=3000, error=0.05):
    box = file_box(f"{FILE}:{name}", 2, 6, 1.0, 5.0)
    return AuditPlan(box, 1.0, error, runs, seed, PAIRS)


def test_stream_and_neighbour_run_in_random_order_run_by_run():
    calls = []

    def phases(stream, rng):
        calls.append(float(stream[0]))
        return [(len(calls) - 1) // 50 % 2] * len(stream)

    box = PolicyBox("phases", lambda rng: phases, 2, 6)
    found = judge(box, PAIR, (AtLeast(Pulls(1, 6), 1.0),), 50, (1, 0, 0, 0), 0)
    # one run of every round on each stream; 50 of the runs are of the second phase
    assert [sum(calls[i : i + 2]) for i in range(0, 100, 2)] == [1.0] * 50
    assert calls != [0.0] * 50 + [1.0] * 50 and 10 < sum(calls[::2]) < 40
    # a fair split of 50 among the streams: below 10 or above 40 has probability 3e-6
    [[[[_, hits], [_, hits_neighbour]]]] = found.counts
    assert hits + hits_neighbour == 50 and 10 <= hits <= 40


def outcome(name, seed):
    try:
        return audit(plan(name, seed)).status
    except NotIndependent as error:
        assert "does not repeat itself: run " in str(error) and "\n" not in str(error)
        return None


@pytest.mark.parametrize("name", DRIFTING)
def test_private_policies_that_drift_are_not_refuted(name):
    assert outcome(name, 0) is not Status.REFUTED


@pytest.mark.slow
@pytest.mark.parametrize("name", [*DRIFTING, "import_draw", "entropy", "string_hash", "parity"])
def test_private_policies_that_drift_are_not_refuted_in_20_seeds(name):
    assert not [seed for seed in range(20) if outcome(name, seed) is Status.REFUTED]


def test_what_differed_is_named_and_nothing_is_concluded(tmp_path, capsys):
    assert run(["audit", f"{FILE}:parity", *SMALL]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "parity does not repeat itself: run " in error
    assert "in round 2, and arm" in error and "draw from `rng` alone" in error


def test_state_that_shows_late_is_found_and_earlier_blocks_are_kept(tmp_path, capsys):
    log = tmp_path / "audit.log"
    late = ["audit", f"{FILE}:late_counter", *SMALL, "--log", str(log)]
    assert run(late) == 2
    assert "late_counter does not repeat itself" in capsys.readouterr().err
    assert sum(b'["block ' in line for line in log.read_bytes().splitlines()) > 10


def test_evidence_that_cannot_be_made_again_refutes_nothing():
    lock = threading.Lock()

    def tells(stream, rng):
        with lock:
            return [0] + [int(stream[0])] * (len(stream) - 1)

    box = PolicyBox("tells", lambda rng: tells, 2, 6)
    report = audit(AuditPlan(box, 1.0, 0.05, 600, 0, (PAIR,)))
    assert report.status is Status.SILENT and report.witness is None and report.lower == 0.0
    assert "evidence against epsilon = 1 was found" in report.words
    assert "cannot be sent to another process" in report.words


def test_evidence_of_a_leak_is_made_again_and_the_report_says_so():
    def tells(stream, rng):
        return [0] + [int(stream[0])] * (len(stream) - 1)

    box = PolicyBox("tells", lambda rng: tells, 2, 6)
    report = audit(AuditPlan(box, 1.0, 0.05, 600, 0, (PAIR,)))
    assert report.status is Status.REFUTED
    assert "random order, run by run" in report.independence
    assert "made again alone" in report.independence and "came out the same" in report.independence


def test_declarations_say_why_their_runs_are_independent():
    box = DeclaredBox(load("ucb", arms=2), 40)
    report = audit(AuditPlan(box, 1.0, 1e-3, 600, 0, tuple(candidates(2, 40, [0, 2]))[:2]))
    assert report.status is Status.REFUTED
    assert "a declaration keeps nothing between runs" in report.independence


IMPURE = """
from dataclasses import dataclass
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.scores import Affine
CALLS = [0]

@dataclass(frozen=True, kw_only=True)
class Impure(AdapUCB):
    def rule(self, pulls, time, m):
        CALLS[0] += 1
        return Affine(0.0 * pulls + (CALLS[0] // 4 % 2) * (pulls == pulls.max()))
"""


def test_a_declaration_with_state_is_refused_before_it_is_refuted(tmp_path):
    path = tmp_path / "impure.py"
    path.write_text(IMPURE)
    from dpaudit.sample.boxes import load_object

    algorithm = load_object(str(path), "Impure")(arms=2, epsilon=1.0)
    box = DeclaredBox(algorithm, 60, str(path))
    pairs = tuple(candidates(2, 60, [0, 2]))[:2]
    try:
        report = audit(AuditPlan(box, 1.0, 1e-3, 4000, 0, pairs))
    except NotIndependent as error:
        assert "does not repeat itself" in str(error)
    else:
        assert report.status is Status.SILENT


AGAIN = """
from dataclasses import dataclass
from fractions import Fraction
import numpy as np
from dpaudit.core.algorithm import Algorithm, Choose, Play, Release, Respond, Rows, Step
from dpaudit.core.noise import Laplace, Noise
from dpaudit.core.scores import Affine
LEFT = []

@dataclass(frozen=True)
class Again(Noise):
    log_concave, full_support = True, True
    def sample(self, rng):
        if not LEFT:
            one = float(rng.laplace())
            LEFT.extend([MORE])
        return LEFT.pop()
    def charge(self, sensitivity):
        return sensitivity
    def log_density(self, x):
        return Laplace(1).log_density(x)
    def cdf(self, x):
        return Laplace(1).cdf(x)

@dataclass(frozen=True, kw_only=True)
class Twice(Algorithm):
    epsilon: float = 1.0
    def start(self):
        return (0,)
    def step(self, state):
        after = lambda _: (state[0] + 1,)
        rule = lambda m: Affine(m.number(np.array([0.0, 2.0])))
        half = Fraction(1, 2)
        return (
            Step(Play(0, 1), after),
            Step(Play(1, 1), after),
            Step(Release(0, Rows(0, 0, 1), Again()), after),
            Step(Respond(1, Rows(1, 0, 1), half, half), after),
            Step(Choose((0, 1), ((0,), (1,)), rule), lambda arm: (5, arm)),
            Step(Play(state[-1], 1), lambda _: state),
        )[state[0]]
"""


@pytest.mark.parametrize("more", ["one, -one", "one, one", "*[one] * 20"])
def test_noise_that_serves_several_runs_is_found(tmp_path, more):
    """Each run by itself is private, and a block comes out the same when it is made again.

    The order in which runs are asked is random; an audit misses twenty alike one time in seven (4
    of 30), so that eight of them miss with a probability below 1e-6.
    """
    path = tmp_path / "again.py"
    path.write_text(AGAIN.replace("MORE", more))
    from dpaudit.sample.boxes import load_object

    box = DeclaredBox(load_object(str(path), "Twice")(arms=2), 8, str(path))
    pairs = (Pair("first", Stream.constant(1.0, 8), 0, 0.0),)
    with pytest.raises(NotIndependent, match="does not repeat itself"):
        for seed in range(8):
            audit(AuditPlan(box, 1.0, 0.05, 2000, seed, pairs))


def test_one_run_and_replay_are_checked_too(tmp_path, capsys):
    box = file_box(f"{FILE}:parity", 2, 20, 1.0, 5.0)
    with pytest.raises(NotIndependent, match="does not repeat itself"):
        one_run_audit(box, 1.0, 1e-3, 0, training=4)
    report = tmp_path / "report.json"
    leak = tmp_path / "leak.py"
    leak.write_text("def tells(s, rng):\n    return [0] + [int(s[0])] * (len(s) - 1)\n")
    assert run(["audit", f"{leak}:tells", *SMALL, "--json", str(report)]) == 1
    data = msgspec.json.decode(report.read_bytes())
    drifts = leak.with_name("drifts.py")
    drifts.write_text(Path(FILE).read_text())
    box = file_box(f"{drifts}:parity", 2, 6, 1.0, 5.0)
    data["witness"]["target"] = box.identity()
    report.write_bytes(msgspec.json.encode(data))
    assert run(["audit", f"{drifts}:parity", "--replay", str(report)]) == 2
    assert "does not repeat itself" in capsys.readouterr().err


def test_isolated_blocks_give_the_same_bytes():
    leak = file_box(f"{Path(__file__).parent / 'policies.py'}:at_once", 2, 12, 1.0, 5.0)
    pairs = tuple(candidates(2, 12, [0, 2]))[:1]
    small = AuditPlan(leak, 1.0, 1e-3, 40, 0, pairs)
    assert audit(small, Workers(isolate=True)) == audit(small)


def test_a_target_that_ends_the_second_process_is_named(tmp_path):
    path = tmp_path / "leaves.py"
    path.write_text(
        "import os\nHOME = os.environ.setdefault('HOME_OF_LEAVES', str(os.getpid()))\n"
        "def policy(stream, rng):\n"
        "    if str(os.getpid()) != HOME:\n        os._exit(0)\n"
        "    return [0] * len(stream)\n"
    )
    independence = Independence(file_box(f"{path}:policy", 2, 6, 1.0, 5.0), 0)
    try:
        with pytest.raises(NotIndependent, match="ended its process"):
            independence.begin(PAIR)
    finally:
        independence.close()


def test_marks_tell_sequences_apart():
    box = file_box(f"{Path(__file__).parent / 'policies.py'}:at_once", 2, 12, 1.0, 5.0)
    pair = candidates(2, 12, [0, 2])[0]
    event = AtLeast(Pulls(1, 12), 6.0)
    one, other = (judge(box, pair, (event,), 20, (1, 0, 0, 0), seed) for seed in (0, 1))
    assert one.marks == judge(box, pair, (event,), 20, (1, 0, 0, 0), 0).marks != other.marks
    hits = {n for n, side in one.shown if (one.shown[n, side] == 1).sum() >= 6}
    assert len(one.marks) <= 16 and len(hits) >= 8
    assert np.array_equal(one.shown[0, 0], np.array(one.shown[0, 0]))


def test_what_children_need_not_import_anew_is_all_but_the_judged_files(tmp_path, monkeypatch):
    """Modules of packages and of dpaudit, in a checkout too, come with the second process."""
    files = {"dpaudit.unseen": independence.__file__, "unseen": np.__file__, "mine": str(tmp_path)}

    def again(sent, seed, slot):
        for name, file in files.items():
            monkeypatch.setitem(sys.modules, name, SimpleNamespace(__file__=file))

    monkeypatch.setattr(independence, "again", again)
    assert independence.packages(b"", 0, None) == ["dpaudit.unseen", "unseen"]
