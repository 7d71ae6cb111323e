"""Runs that advance together are those of the reference interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from charted import one_chart
from scipy.stats import chi2_contingency

from dpaudit.core import algorithms, mutants
from dpaudit.core.algorithm import Algorithm
from dpaudit.core.canonical import Distrust
from dpaudit.core.stream import interpret
from dpaudit.sample.lockstep import CumulativeRewards, run_many
from dpaudit.sample.runs import Runs
from dpaudit.sample.streams import Pair, Stream
from dpaudit.sample.together import run_together
from dpaudit.target import resolve

DECLARED = [f"mutants/{name}" for name in mutants.names() if mutants.find(name).declared]


class Still:
    """Noise of one size, always; draws at their means; coins that show their last side."""

    def laplace(self, loc: float = 0.0, scale: float = 1.0, size: Any = None) -> Any:
        return np.full(() if size is None else size, loc + 0.375 * scale)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return loc + 0.25 * scale if size is None else np.full(size, loc + 0.25 * scale)

    def beta(self, a: Any, b: Any) -> Any:
        return a / (a + b)

    def random(self, size: Any = None) -> Any:
        last = np.nextafter(1.0, 0.0)
        return last if size is None else np.full(size, last)

    def integers(self, high: int, size: Any = None) -> Any:
        return np.zeros(size, dtype=np.int64)


def built(name: str, horizon: int) -> Algorithm:
    target = resolve(name)
    offered = {"arms": 3, "epsilon": 1.0, "rho": 0.5}
    return target.build(horizon, {k: v for k, v in offered.items() if k in target.accepts})


@pytest.mark.parametrize("name", [*sorted(algorithms.names()), *DECLARED])
def test_without_chance_they_play_what_the_reference_plays(name: str) -> None:
    """Every declaration, on streams of several pieces; sums of old rows and of parts included."""
    horizon = 90
    algorithm, rng = built(name, horizon), np.random.default_rng(3)
    for _ in range(4):
        stream = Stream.of(rng.choice([0.0, 0.25, 1.0], horizon, p=[0.3, 0.2, 0.5]))
        still: Any = Still()
        alone = interpret(algorithm, horizon, CumulativeRewards(stream, algorithm.arms), still)
        found = run_together(algorithm, stream, 5, still)
        for run in range(5):
            assert found.actions(run).tolist() == alone.actions.tolist()


@pytest.mark.parametrize("name", ["adap_tt", "dp_se", "mutants/forgetting_overlap", "ldp_ucb_b"])
def test_with_chance_they_play_as_often_what_the_reference_plays(name: str) -> None:
    """The law of whole sequences, of two large samples: p-values are of fixed seeds."""
    algorithm, stream = built(name, 300), Stream.of([1.0, 0.0, 0.0] * 100)
    stream = stream.first(12 if name != "dp_se" else 300)
    together = run_together(algorithm, stream, 3000, np.random.default_rng(1))
    rewards = [CumulativeRewards(stream, algorithm.arms) for _ in range(3000)]
    rng = np.random.default_rng(2)
    with one_chart(algorithm):
        alone = [interpret(algorithm, stream.horizon, it, rng).actions for it in rewards]
    rows = [np.array([together.actions(n) for n in range(3000)]), np.array(alone)]
    _, inverse = np.unique(np.concatenate(rows), axis=0, return_inverse=True)
    counts = np.stack(
        [np.bincount(it, minlength=inverse.max() + 1) for it in np.split(inverse.ravel(), 2)]
    )
    common = counts.sum(axis=0) >= 20
    table = np.column_stack((counts[:, common], counts[:, ~common].sum(axis=1)))
    table = table[:, table.sum(axis=0) > 0]
    assert table.shape[1] == 1 or chi2_contingency(table).pvalue > 1e-3


def test_what_it_cannot_do_is_done_run_by_run() -> None:
    algorithm = resolve("adap_tt").build(64, {"arms": 2, "epsilon": 1.0, "grid": 8})
    stream = Stream.constant(1.0, 64)
    with pytest.raises(Distrust):
        run_together(algorithm, stream, 3, np.random.default_rng(0))
    assert isinstance(run_many(algorithm, stream, 3, np.random.default_rng(0)), Runs)


def test_a_pair_of_first_steps_is_the_pair_cut() -> None:
    pair = Pair("all 0", Stream.constant(0.0, 1000), 7, 1.0)
    cut = pair.first(20)
    assert cut.name == "all 0 (first 20 rounds)"
    assert cut.stream == Stream.constant(0.0, 20) and cut.neighbour.at(7) == 1.0
    assert pair.first(1000) is pair
