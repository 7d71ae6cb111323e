"""The learned classifier: exact, the same everywhere, worth its runs, and never a false alarm."""

import json
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.cli import run
from dpaudit.errors import DpauditError, InvalidArgument
from dpaudit.output import plain
from dpaudit.sample.audit import audit
from dpaudit.sample.boxes import file_box
from dpaudit.sample.codec import event_data, event_of
from dpaudit.sample.events import AtLeast
from dpaudit.sample.features import Features
from dpaudit.sample.learned import (
    Classifier,
    LearnedScore,
    Moments,
    discriminant,
    solve,
    whole_weights,
)
from dpaudit.sample.log import BlockLog
from dpaudit.sample.plan import AuditPlan
from dpaudit.sample.progress import Progress
from dpaudit.sample.report import AuditConclusion, conclude
from dpaudit.sample.runs import Runs
from dpaudit.sample.streams import Pair, Stream, candidates
from dpaudit.sample.workers import Workers
from dpaudit.verdict import Status

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "whispering_bandit.py")
STEPS = 100


def naive(actions: list[int], arms: int, position: int) -> list[int]:
    """The features of one short run, step by step."""
    kind, horizon = Features(arms, len(actions), position), len(actions)
    row = [int(actions[step] == arm) for step in kind.steps for arm in range(arms - 1)]
    switches = [t for t in range(1, horizon) if actions[t] != actions[t - 1]]
    for stop in kind.stops:
        row += [actions[:stop].count(arm) for arm in range(arms)]
        row.append(sum(t < stop for t in switches))
    for arm in range(arms):
        played = [t for t in range(horizon) if actions[t] == arm]
        row += [played[0], played[-1] + 1] if played else [horizon, 0]
    later = [t for t in switches if t > position]
    return row + [*later, horizon, horizon, horizon][:3]


@given(st.lists(st.integers(0, 2), min_size=3, max_size=20), st.data())
def test_features_are_functions_of_the_actions(actions: list[int], data: st.DataObject) -> None:
    horizon = len(actions)
    position = data.draw(st.integers(0, horizon - 1))
    cuts = data.draw(st.lists(st.integers(0, horizon - 1), max_size=4))
    starts = sorted({0, *cuts, *(np.flatnonzero(np.diff(actions)) + 1).tolist()})
    padded = [*starts, horizon, horizon]
    arms = [actions[s] if s < horizon else 0 for s in padded]
    plays = Runs(np.array([arms], dtype=np.int16), np.array([padded]), horizon)
    kind = Features(3, horizon, position)
    assert kind(plays)[0].tolist() == naive(actions, 3, position)
    assert kind(Runs.of_actions(np.array([actions])))[0].tolist() == naive(actions, 3, position)


@pytest.mark.parametrize(("arms", "horizon"), [(2, 10**12), (50, 10**7), (2, 2), (300, 400)])
def test_features_are_few_and_small_at_any_size(arms: int, horizon: int) -> None:
    kind = Features(arms, horizon, 0)
    starts = np.array([[0, 1, horizon // 2, horizon]])
    rows = kind(Runs(np.array([[0, 1, 0, 0]], dtype=np.int16), starts, horizon))
    assert rows.shape[1] < 260
    assert rows.min() >= 0 and len(set(kind.steps)) == len(kind.steps)
    assert max(kind.steps) == horizon - 1 and kind.stops[-1] == horizon


def test_weights_are_those_of_the_textbook() -> None:
    rng = np.random.default_rng(0)
    mixing = rng.integers(0, 3, (4, 4))
    sides = [(rng.integers(0, 9, (200, 4)) @ mixing + shift).astype(np.int16) for shift in (0, 2)]
    moments = (Moments(), Moments())
    for each, rows in zip(moments, sides, strict=True):
        each.add(rows[:77])
        each.add(rows[77:])
    within = sum(np.cov(rows.T.astype(float), bias=True) for rows in sides) / 2
    deviation = np.sqrt(np.diag(within) + 1 / 200)
    ridge = np.diag(deviation**2) * 4 / 200
    expected = np.linalg.solve(within + ridge, sides[0].mean(0) - sides[1].mean(0))
    assert discriminant(*moments) == pytest.approx(expected, rel=1e-9)
    matrix = rng.normal(size=(30, 30))
    matrix = matrix @ matrix.T + np.eye(30)
    vector = rng.normal(size=30)
    assert solve(matrix, vector) == pytest.approx(np.linalg.solve(matrix, vector), rel=1e-9)


def test_scores_are_exact_whole_numbers() -> None:
    rng = np.random.default_rng(1)
    score = LearnedScore(2, 40, 3, ())
    actions = Runs.of_actions(rng.integers(0, 2, (50, 40)))
    rows = score.features(actions)
    weights = whole_weights(rng.normal(size=rows.shape[1]) * 10.0 ** rng.integers(-6, 6))
    score = LearnedScore(2, 40, 3, weights)
    by_hand = [sum(w * x for w, x in zip(weights, row, strict=True)) for row in rows.tolist()]
    assert [int(value) for value in score(actions)] == by_hand
    assert max(abs(value) for value in by_hand) < 2**50


def test_the_score_is_the_same_whatever_the_chunks() -> None:
    rng = np.random.default_rng(2)
    left, right = rng.integers(0, 2, (2, 21, 12))
    whole, cut = Classifier(2, 12, 0), Classifier(2, 12, 0)
    whole.watch(Runs.of_actions(left), Runs.of_actions(right))
    for part in (slice(0, 1), slice(1, 2), slice(2, 9), slice(9, 21)):
        cut.watch(Runs.of_actions(left[part]), Runs.of_actions(right[part]))
    score = whole.score()
    assert score is not None and score == cut.score()


def test_runs_that_look_alike_teach_nothing() -> None:
    same = Runs.of_actions(np.zeros((6, 5), dtype=int))
    classifier = Classifier(2, 5, 0)
    classifier.watch(same, same)
    assert classifier.score() is None


def test_events_survive_as_plain_data() -> None:
    event = AtLeast(LearnedScore(2, 3, 0, (5, -(2**45))), 7.0)
    assert event_of(msgspec.json.decode(msgspec.json.encode(event_data(event)))) == event
    with pytest.raises(InvalidArgument, match="number of weights=2 must be"):
        event(Runs.of_actions(np.zeros((1, 3), dtype=int)))
    data = event_data(event)
    for wrong in (None, ["a"], 3):
        data["of"]["weights"] = wrong
        with pytest.raises(InvalidArgument, match="is not an event"):
            event_of(data)


def whispers(events: str, pairs: tuple[Pair, ...] = (), runs: int = 5000) -> AuditPlan:
    box = file_box(f"{EXAMPLE}:Whispers", 2, STEPS, 2.0, 60.0)
    first = Pair("first reward", Stream.constant(0.0, STEPS), 0, 1.0)
    return AuditPlan(box, 2.0, 1e-3, runs, 3, pairs or (first,), events=events)


@pytest.fixture(scope="module")
def short_report():
    """As many runs as it takes to train, test and stop between blocks."""
    return audit(whispers("learned", runs=1200))


def encoded(report) -> bytes:
    return msgspec.json.encode(plain(report))


@pytest.mark.parametrize(("jobs", "backend"), [(2, "processes"), (4, "threads")])
def test_same_bytes_for_any_workers(short_report, jobs: int, backend: str) -> None:
    found = audit(whispers("learned", runs=1200), Workers(jobs, backend))
    assert encoded(found) == encoded(short_report)


@pytest.mark.slow
def test_same_bytes_on_a_dask_cluster(short_report) -> None:
    found = audit(whispers("learned", runs=1200), Workers(2, "dask"))
    assert encoded(found) == encoded(short_report)


def test_a_log_cut_anywhere_resumes_to_the_same_bytes(short_report, tmp_path) -> None:
    plan, path = whispers("learned", runs=1200), tmp_path / "audit.log"
    log = BlockLog.start(str(path), plan.identity())
    assert encoded(audit(plan, log=log)) == encoded(short_report)
    log.close()
    whole = path.read_bytes()
    for cut in (len(whole) // 3, len(whole) - 1):
        path.write_bytes(whole[:cut])
        log = BlockLog.resume(str(path), plan.identity())
        assert encoded(audit(plan, log=log)) == encoded(short_report)
        log.close()
        assert path.read_bytes() == whole
    with pytest.raises(InvalidArgument, match="log of another audit: its events is different"):
        BlockLog.resume(str(path), whispers("tables", runs=1200).identity())


class Coins:
    """Randomised response with eleven fair coins after it: epsilon is exactly 1."""

    arms, horizon = 2, 13

    def identity(self):
        return {"policy": "coins"}

    def run(self, stream, runs, seed):
        rng = np.random.default_rng(seed)
        actions = rng.integers(0, 2, (runs, self.horizon))
        flipped = rng.random(runs) < 1 / (1 + np.e)
        actions[:, 0], actions[:, 1] = 0, (stream.at(0) >= 0.5) ^ flipped
        return Runs.of_actions(actions)


def test_an_exactly_tight_mechanism_is_not_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """False alarms in 30 audits at error 0.05; more than 11 have probability below 1e-6."""
    betting: list[bool] = []

    def concluded(done: Progress) -> AuditConclusion:
        betting.append(any(type(it.statistic) is LearnedScore for it in done.suspects[0].bettors))
        return conclude(done)

    monkeypatch.setattr("dpaudit.sample.audit.conclude", concluded)
    pairs = (Pair("first", Stream.constant(0.0, 13), 0, 1.0),)
    reports = [
        audit(AuditPlan(Coins(), 1.0, 0.05, 600, seed, pairs, events="learned"))
        for seed in range(30)
    ]
    assert sum(betting) > 10
    assert sum(report.status is Status.REFUTED for report in reports) <= 11
    assert sum(report.lower >= 1.0 for report in reports) <= 11
    assert max(report.lower for report in reports) > 0.4


def test_half_of_the_runs_train() -> None:
    plan = whispers("learned", tuple(candidates(2, STEPS, [7, 2])), 30_000)
    assert 3 * 2 * plan.learning_rounds == plan.runs // 2  # of three finalists
    assert 2 * whispers("learned").learning_rounds == 2500
    assert whispers("tables").learning_rounds == 0
    with pytest.raises(DpauditError, match="Did you mean 'learned'"):
        whispers("learnt")


def test_a_leak_spread_over_many_rounds_is_found_by_the_classifier_alone(tmp_path, capsys) -> None:
    """The truth is 49: no step, no prefix and no pull count says much, all steps together do."""
    tables = audit(whispers("tables"))
    assert tables.status is Status.SILENT and tables.lower < 0.7
    report = str(tmp_path / "report.json")
    target = ["audit", f"{EXAMPLE}:Whispers", "--epsilon", "2"]
    pair = tmp_path / "pair.json"
    pair.write_text(f'{{"stream": [[0, {STEPS}]], "position": 0, "value": 1}}')
    given = ["--pair", str(pair), "--runs", "5000", "--events", "learned"]
    assert run([*target, *given, "--json", report]) == 1
    assert "learned score of" in capsys.readouterr().out
    found = json.loads(Path(report).read_text())
    assert found["status"] == "REFUTED" and found["lower"] >= 2.0
    assert all("learned score" in it["event"] for it in found["hypotheses"] if it["refuted"])
    assert run([*target, "--replay", report, "--seed", "4", "--runs", "4000"]) == 1
    assert "REFUTED again" in capsys.readouterr().out
