"""Runs in plays: statistics see the actions only; the fast runners are the reference runner."""

import numpy as np
import pytest
from charted import runs_of
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.core.algorithms import find, load, names, parameters
from dpaudit.core.stream import run_stream
from dpaudit.sample import lockstep
from dpaudit.sample.cells import NumberCells
from dpaudit.sample.events import AtMost, OneOf, in_words
from dpaudit.sample.runs import History, PullCounts, Pulls, Runs
from dpaudit.sample.streams import Stream


def in_plays(actions: list[int], cuts: list[int]) -> Runs:
    """The same actions in plays that are cut at some more places."""
    starts = sorted({0, *cuts, *(np.flatnonzero(np.diff(actions)) + 1).tolist()})
    padded = [*starts, len(actions), len(actions)]
    arms = [actions[s] if s < len(actions) else 0 for s in padded]
    return Runs(np.array([arms], dtype=np.int16), np.array([padded], dtype=np.int64), len(actions))


@given(st.lists(st.integers(0, 2), min_size=2, max_size=25), st.data())
def test_statistics_are_functions_of_the_actions(actions: list[int], data: st.DataObject) -> None:
    horizon = len(actions)
    runs = in_plays(actions, data.draw(st.lists(st.integers(0, horizon - 1), max_size=4)))
    dense = Runs.of_actions(np.array([actions]))
    start = data.draw(st.integers(0, horizon - 1))
    stop = data.draw(st.integers(start + 1, horizon))
    assert runs.actions(0).tolist() == actions
    assert runs.actions(0, stop).tolist() == actions[:stop]
    assert History(start, stop)(runs) == History(start, stop)(dense)
    assert PullCounts(3, stop)(runs) == PullCounts(3, stop)(dense)
    for arm in range(3):
        assert Pulls(arm, stop)(runs) == actions[:stop].count(arm) == Pulls(arm, stop)(dense)


@given(
    st.lists(st.integers(0, 2), min_size=8, max_size=8),
    st.lists(st.integers(0, 2), min_size=8, max_size=8),
    st.integers(0, 6),
    st.integers(1, 8),
)
def test_histories_tell_different_actions_apart(
    left: list[int], right: list[int], start: int, size: int
) -> None:
    stop = min(8, start + size)
    key = History(start, stop)
    same = key(Runs.of_actions(np.array([left]))) == key(Runs.of_actions(np.array([right])))
    assert bool(same[0]) == (left[start:stop] == right[start:stop])


def build(name: str, arms: int, horizon: int) -> object:
    known = parameters(find(name))
    values = {"arms": arms, "horizon": horizon, "epsilon": 0.7}
    return load(name, **{key: value for key, value in values.items() if key in known})


@pytest.mark.parametrize("name", names())
def test_one_run_in_lockstep_is_the_reference_run(name: str) -> None:
    """Same generator, same draws, same actions: the fast paths are the declaration."""
    for seed in range(4):
        horizon = 300
        rewards = np.random.default_rng(seed).integers(0, 2, horizon).astype(float)
        algorithm = build(name, 3, horizon)
        expected = run_stream(algorithm, rewards, np.random.default_rng(seed + 50)).actions
        runs = lockstep.run_many(algorithm, Stream.of(rewards), 1, np.random.default_rng(seed + 50))
        assert runs.actions(0).tolist() == expected.tolist()


@pytest.mark.parametrize("name", ["adap_klucb", "dp_klucb", "lazy_dp_ts", "dp_ucb"])
def test_lockstep_has_the_law_of_the_reference(name: str) -> None:
    """Pull counts of 400 + 400 runs; a difference of 0.2 in distribution has p < 1e-6."""
    horizon, count = 40, 400
    algorithm = build(name, 2, horizon)
    stream = Stream.of([1.0, 0.0] * (horizon // 2))
    runs = lockstep.run_many(algorithm, stream, count, np.random.default_rng(5))
    rng = np.random.default_rng(6)
    slow = np.array([run.actions for run in runs_of(algorithm, stream.array(), count, rng)])
    fast_pulls = np.sort(Pulls(0, horizon)(runs))
    slow_pulls = np.sort(Pulls(0, horizon)(Runs.of_actions(slow)))
    grid = np.arange(horizon + 1)
    gap = np.searchsorted(fast_pulls, grid, "right") - np.searchsorted(slow_pulls, grid, "right")
    assert np.abs(gap).max() / count < 0.2


def test_deterministic_algorithms_run_once() -> None:
    runs = lockstep.run_many(
        load("ucb", arms=2), Stream.constant(1.0, 50), 1000, np.random.default_rng(0)
    )
    assert len(runs) == 1000
    assert runs.arms.strides[0] == 0


def test_full_size_runs_are_cheap_in_memory() -> None:
    runs = lockstep.run_many(
        load("adap_klucb", arms=3), Stream.constant(0.0, 10**7), 50, np.random.default_rng(0)
    )
    assert runs.arms.shape[1] < 100
    assert (Pulls(0, 10**7)(runs) + Pulls(1, 10**7)(runs) + Pulls(2, 10**7)(runs) == 10**7).all()


def test_events_in_words_name_the_actions_that_their_keys_stand_for():
    """Every sequence and every vector of counts is spelled as itself, by trying runs of its own."""
    rng = np.random.default_rng(0)
    for arms, horizon in ((2, 9), (3, 6)):
        actions = rng.integers(0, arms, (40, horizon))
        runs = Runs.of_actions(actions)
        for statistic in (History(0, horizon), History(2, 5), PullCounts(arms, horizon)):
            for row, key in zip(actions, statistic(runs).tolist(), strict=True):
                said = in_words(OneOf(statistic, (key,)), arms)
                shown = (
                    row[statistic.start : statistic.stop]
                    if isinstance(statistic, History)
                    else np.bincount(row, minlength=arms)
                )
                assert said.endswith(f"are {' '.join(map(str, shown.tolist()))}")
    assert in_words(OneOf(History(0, 60), (1, 2)), 2).endswith("one of 2 that were learned")
    assert in_words(AtMost(Pulls(1, 2000), 50.0), 2) == (
        "the pulls of arm 1 after 2,000 rounds are 50 or fewer"
    )


def test_numbers_in_words_are_those_of_the_event():
    """What a cell of numbers below an edge says in words holds where the event does."""
    cells = NumberCells(Pulls(1, 2_000_000), (5.0, 9.0, 1_234_567.0))
    for chosen, words in (
        ([0], "are 4 or fewer"),
        ([0, 1], "are 8 or fewer"),
        ([2, 3], "are 9 or more"),
        ([3], "are 1,234,567 or more"),
        ([0, 1, 2], "are 1,234,566 or fewer"),
    ):
        event, _ = cells.event(chosen)
        assert str(event).endswith(words)
        number = int(words.split()[1].replace(",", ""))
        inside = event.holds(np.array([number - 1.0, number, number + 1.0])).tolist()
        assert inside == ([False, True, True] if "more" in words else [True, True, False])


def test_keys_that_no_words_stand_for_are_counted_as_others():
    """A run that stopped shows numbers beyond the arms; an event with such runs says so."""
    runs = Runs.of_actions(np.array([[0, 1, 0, 2], [0, 1, 1, 1], [0, 1, 3, 3]]))
    for statistic, shown in ((History(0, 4), "0 1 1 1"), (PullCounts(2, 4), "1 3")):
        keys = tuple(statistic(runs).tolist())
        assert in_words(OneOf(statistic, keys), 2).endswith(f"are {shown} or 2 others")
        assert in_words(OneOf(statistic, keys[:2]), 2).endswith(f"are {shown} or 1 other")
        assert in_words(OneOf(statistic, keys[::2]), 2).endswith("one of 2 that were learned")
