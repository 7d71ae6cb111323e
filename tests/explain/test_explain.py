"""`explain`: the recorded run is the real one, and reads well in 80 columns."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.cli import run
from dpaudit.core.algorithm import Rows
from dpaudit.core.algorithms import find, load, names, parameters
from dpaudit.core.stream import StreamRewards, run_stream
from dpaudit.explain.draw import charges, rewards
from dpaudit.explain.record import RecordedDecision, RecordedPlay, RecordedRelease, Recorder
from dpaudit.structure.ledger import add, charge_of


def built(name: str, horizon: int, arms: int = 2):
    needs = {"horizon": horizon} if "horizon" in parameters(find(name)) else {}
    return load(name, arms=arms, **needs)


@pytest.mark.parametrize("name", names())
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6), horizon=st.integers(6, 40), arms=st.integers(2, 3))
def test_recorded_run_is_the_stream_runners(name, seed, horizon, arms):
    algorithm = built(name, horizon, arms)
    stream = np.random.default_rng(seed).integers(0, 2, horizon).astype(float)
    expected = run_stream(algorithm, stream, np.random.default_rng(seed + 1))
    rng = np.random.default_rng(seed + 1)
    events = Recorder(algorithm, horizon, StreamRewards(stream, arms), rng).run()
    plays = [event for event in events if isinstance(event, RecordedPlay)]
    assert [play.arm for play in plays] == list(expected.arms)
    assert [len(play.rounds) for play in plays] == list(expected.rounds)
    assert sum(isinstance(event, RecordedRelease) for event in events) == expected.releases
    for event in events:
        if isinstance(event, RecordedDecision):
            assert set(event.outcome) <= {one.arm for one in event.weighed}
            assert all(t < event.time for one in event.weighed for span in one.spans for t in span)


@pytest.mark.parametrize("name", ["adap_klucb", "dp_klucb", "dp_ucb", "lazy_dp_ucb"])
def test_charges_are_those_of_the_ledger(name):
    """The runs of equal charge agree with the ledger's own bookkeeping, row by row."""
    horizon, arms = 40, 2
    algorithm = built(name, horizon, arms)
    stream = np.zeros(horizon)
    events = Recorder(
        algorithm, horizon, StreamRewards(stream, arms), np.random.default_rng(3)
    ).run()
    owner = [e.arm for e in events if isinstance(e, RecordedPlay) for _ in e.rounds]
    shown = {t: charge for rounds, charge in charges(events, horizon) for t in rounds}
    assert sorted(shown) == list(range(1, horizon + 1))
    # the other method: replay the declaration and let the structure check's ledger add up
    state, pulls, books = algorithm.start(), [0] * arms, [()] * arms
    plays = iter([e for e in events if isinstance(e, RecordedPlay)])
    choices = iter([e.outcome for e in events if isinstance(e, RecordedDecision)])
    while True:
        step = algorithm.step(state)
        kind, answer = type(step.request).__name__, None
        if kind == "Play":
            play = next(plays)
            if play.rounds.stop > horizon:
                break
            answer = Rows(play.arm, pulls[play.arm], pulls[play.arm] + len(play.rounds))
            pulls[play.arm] += len(play.rounds)
        elif kind in ("Release", "Accumulate"):
            rows, charge = step.request.rows, charge_of(step.request)
            books[rows.arm] = add(books[rows.arm], rows, charge)[0]
        else:
            answer = next(choices)[0]
        state = step.then(answer)
    count = [0] * arms
    for t, arm in enumerate(owner, 1):
        row = count[arm]
        count[arm] += 1
        paid = next((c for stop, c in books[arm] if row < stop), Fraction(0))
        assert shown[t] == paid, t


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("options", [[], ["--arms", "5", "--epsilon", "0.3", "--seed", "2"]])
def test_every_algorithm_fits_into_eighty_columns(name, options, capsys):
    if options and "epsilon" not in parameters(find(name)):
        options = ["--arms", "5"]
    assert run(["explain", name, *options]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert max(len(line) for line in out.splitlines()) <= 80
    assert "What each reward is charged" in out and "|t=" in out


def test_the_papers_figure(capsys):
    """The picture of the default run, whose first six rounds are the paper's Figure 1."""
    assert run(["explain", "adap_klucb"]) == 0
    out = capsys.readouterr().out
    assert (
        "                   |t=3  |t=4     |t=6  |t=7     |t=9\n"
        "  arm 0  [r1]      |[r3] |[r4 r5] |     |        |[r9..r12]\n"
        "  arm 1       [r2] |     |        |[r6] |[r7 r8] |\n"
    ) in out
    assert "releases mean of r4 r5 + Laplace(0.5)" in out
    assert re.search(r"r9\.\.r12 +never released +0", out)


def test_elimination_shows_gaps_and_survivors(capsys):
    assert run(["explain", "dp_se"]) == 0
    out = capsys.readouterr().out
    assert "an arm stays whose gap to the best is at most" in out
    assert "<- stays" in out


def test_a_terminal_gets_colours_and_its_width(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["explain", "adap_ucb"]) == 0
    out = capsys.readouterr().out
    assert "\x1b[" in out
    plain = re.sub(r"\x1b\[[0-9;]*m", "", out)
    assert max(len(line) for line in plain.splitlines()) <= 80


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["adap_klcub"], "Did you mean 'adap_klucb'?"),
        (["ucb", "--horizon", "100000"], "horizon=100,000 takes more than 500 plays"),
        (["adap_ucb", "--horizon", "1e9"], "horizon=1,000,000,000 must be at most"),
        (["adap_ucb", "--horizon", "0"], "horizon=0 must be at least 1."),
        (["adap_ucb", "--epsilon", "-1"], "epsilon=-1.0 must be positive."),
        (["adap_ucb", "--arms", "one"], "arms=one must be a whole number"),
        (["ucb", "--epsilon", "1"], "is not a parameter of ucb"),
        (["adap_ucb", "--seed", "-1"], "seed=-1 must be at least 0."),
    ],
)
def test_bad_input_costs_one_line(arguments, words, capsys):
    assert run(["explain", *arguments]) == 2
    captured = capsys.readouterr()
    assert words in captured.err and captured.err.count("\n") == 1


def test_names_of_rewards():
    assert rewards((range(4, 6),)) == "r4 r5"
    assert rewards((range(1, 2), range(7, 11))) == "r1, r7..r10"
    assert rewards(()) == "nothing"


def test_no_noise_is_an_infinite_charge():
    algorithm = built("ucb", 6)
    events = Recorder(algorithm, 6, StreamRewards(np.zeros(6), 2), np.random.default_rng(0)).run()
    assert charges(events, 6)[0][1] == math.inf


def test_a_broken_declaration_costs_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken_one.py").write_text(
        "from dataclasses import dataclass\n"
        "from dpaudit.core.episodes import DoublingEpisodes\n"
        "@dataclass(frozen=True, kw_only=True)\n"
        "class Broken(DoublingEpisodes):\n"
        "    def rule(self, pulls, time, m):\n"
        "        raise ZeroDivisionError('no index')\n"
    )
    assert run(["explain", "broken_one.py:Broken"]) == 2
    err = capsys.readouterr().err
    assert (
        "Broken at Deciding(pulls=(1, 1)): its rule raised ZeroDivisionError: no index." in err
        and err.count("\n") == 1
    )
