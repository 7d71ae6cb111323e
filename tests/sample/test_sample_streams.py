"""Streams in pieces behave like their arrays; pairs are neighbouring."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.errors import InvalidArgument
from dpaudit.sample.codec import pair_data, pair_of
from dpaudit.sample.streams import Pair, Stream, candidates

REWARDS = st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=1, max_size=40)


@given(REWARDS, st.data())
def test_stream_is_its_array(rewards: list[float], data: st.DataObject) -> None:
    stream = Stream.of(rewards)
    assert stream.array().tolist() == rewards
    steps = np.arange(len(rewards) + 1)
    assert stream.cumulative(steps).tolist() == np.cumsum([0.0, *rewards]).tolist()
    position = data.draw(st.integers(0, len(rewards) - 1))
    assert stream.at(position) == rewards[position]
    changed = stream.replaced(position, 0.75)
    expected = [*rewards]
    expected[position] = 0.75
    assert changed.array().tolist() == expected
    pair = Pair("x", stream, position, 0.75)
    assert Pair.between(pair.stream, pair.neighbour, "x") == Pair("x", stream, position, 0.75)
    assert pair_of(pair_data(pair)) == pair


def test_long_streams_cost_their_pieces() -> None:
    stream = Stream.constant(1.0, 10**12).replaced(5 * 10**11, 0.0)
    assert len(stream.values) == 3
    assert stream.cumulative(np.array([10**12])).tolist() == [10**12 - 1]


@pytest.mark.parametrize(
    ("stream", "neighbour", "match"),
    [
        ([0, 1], [0, 1], "differing positions=0 must be 1"),
        ([0, 1], [1, 0], "differing positions=2 must be 1"),
        ([0, 1], [0, 1, 1], "neighbour length=3"),
        ([0, 1], [0, 1.5], "reward=1.5 must lie in"),
        ([0, float("nan")], [0, 1], "reward=nan must lie in"),
        ([], [], "must be one row of rewards"),
    ],
)
def test_bad_pairs_are_named(stream: list[float], neighbour: list[float], match: str) -> None:
    with pytest.raises(InvalidArgument, match=match):
        pair_of({"stream": stream, "neighbour": neighbour})


def test_a_table_is_no_stream() -> None:
    with pytest.raises(InvalidArgument, match=r"stream=\[2, 2\] must be one row of rewards"):
        Stream.of(np.zeros((2, 2)))


def test_data_that_is_no_pair_is_refused() -> None:
    for data in ({}, [], {"stream": [0, 1]}, {"stream": 3, "neighbour": 4}, None):
        with pytest.raises(InvalidArgument, match="^pair="):
            pair_of(data)


@given(st.integers(2, 6), st.integers(2, 400), st.integers(0, 99))
def test_candidates_are_distinct_neighbours(arms: int, extra: int, seed: int) -> None:
    horizon = arms + extra
    pairs = candidates(arms, horizon, seed)
    assert pairs == candidates(arms, horizon, seed)
    assert len({(p.stream, p.position, p.value) for p in pairs}) == len(pairs) > 6
    for pair in pairs:
        assert pair.stream.horizon == horizon
        difference = pair.stream.array() - pair.neighbour.array()
        assert np.count_nonzero(difference) == 1


def test_binary_candidates_stay_binary() -> None:
    for pair in candidates(2, 50, 0, (0.0, 1.0)):
        assert set(pair.stream.values) | {pair.value} <= {0.0, 1.0}


def test_splicing_replaces_the_steps_and_nothing_else():
    stream = Stream.of([0.0, 0.0, 1.0, 1.0, 0.5, 0.0])
    spliced = stream.spliced(1, [(0.25, 2), (1.0, 0), (0.75, 1)])
    assert spliced.array().tolist() == [0.0, 0.25, 0.25, 0.75, 0.5, 0.0]
    assert stream.spliced(0, [(1.0, 6)]).array().tolist() == [1.0] * 6
    assert stream.between(1, 5) == [(0.0, 1), (1.0, 2), (0.5, 1)]


def test_a_stream_that_is_too_long_names_the_horizon():
    with pytest.raises(InvalidArgument, match=r"^horizon=\S+ must be at most 2\^53 for runs\.$"):
        Stream.constant(0.0, 10**19)
    with pytest.raises(InvalidArgument, match=r"^horizon=1,000,000,000 must be at most 100,000,0"):
        Stream.constant(0.0, 10**9).array()
