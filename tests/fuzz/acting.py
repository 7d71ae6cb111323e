"""Simulator, lockstep, kernels, stream runner and recorder act alike on the same noise.

The reference is the stream runner, one run at a time. Blocks of runs read a tape with one row per
run; where episodes differ in length runs drop out, so all rows are equal there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import betaincinv

from dpaudit.core import compiled, lockstep, sampled
from dpaudit.core.algorithm import Rows
from dpaudit.core.environments import Environment
from dpaudit.core.episodes import Episodes
from dpaudit.core.outcome import RunBlock
from dpaudit.core.stream import StreamRewards, interpret
from dpaudit.explain.record import RecordedPlay, Recorder, Stopped
from dpaudit.sample.lockstep import run_many
from dpaudit.sample.streams import Stream

RUNS = 3


class Tape:
    """A generator that reads units off `rows`, the same for every call of the same number."""

    def __init__(self, rows: Any) -> None:
        self.rows, self.place, self.drawn = rows, 0, 0

    def unit(self, size: int | None) -> Any:
        """Return the next column, cut to the runs that are left."""
        column = self.rows[:, self.place % self.rows.shape[1]]
        self.place += 1
        return column[0] if size is None else np.resize(column, size)

    def laplace(self, loc: float = 0.0, scale: float = 1.0, size: int | None = None) -> Any:
        """Return a unit as it stands, scaled."""
        return loc + scale * self.unit(size)

    normal = laplace

    def random(self, size: int | None = None) -> Any:
        """Return a number that depends on the number of the call alone."""
        self.drawn += 1
        uniform = np.modf(0.19 + self.drawn * 0.618)[0]
        return uniform if size is None else np.full(size, uniform)

    def beta(self, a: Any, b: Any) -> Any:
        """Return quantiles that depend on the number of the call and the arm alone."""
        a, b = np.broadcast_arrays(a, b)
        self.drawn += 1
        shares = np.modf(0.37 + self.drawn * 0.618 + np.arange(a.shape[-1]) * 0.414)[0]
        return betaincinv(a, b, shares)


class StreamTotals:
    """A stream as an environment, for runs that keep step; gaps that tell the arms apart."""

    def __init__(self, stream: Any, arms: int) -> None:
        self.stream, self.time = np.array(stream), 0
        self.gaps = 10.0 ** np.arange(arms)

    def totals(self, arm: Any, rounds: Any, rng: Any) -> Any:
        """Return the sum of the next rewards."""
        length = int(rounds[0]) if len(rounds) else 0
        part = self.stream[self.time : self.time + length]
        self.time += length
        return np.full(len(rounds), part.sum())


class Constant(Environment):
    """Every arm always pays its mean."""

    def __init__(self, means: tuple[float, ...]) -> None:
        self.means = means

    def rewards(self, arm: Any, rng: Any) -> Any:
        """Return means."""
        return np.array(self.means)[arm]

    def totals(self, arm: Any, rounds: Any, rng: Any) -> Any:
        """Return means times rounds."""
        return np.array(self.means)[arm] * rounds

    def bridge(self, arm: int, total: float, rounds: int, first: int, rng: Any) -> float:
        """Return the share of the first rewards."""
        return self.means[arm] * first


class ConstantRewards:
    """The same for the reference."""

    def __init__(self, means: tuple[float, ...]) -> None:
        self.means = means

    def play(self, arm: int, rounds: int) -> None:
        """Collect nothing."""

    def total(self, rows: Rows) -> float:
        """Return mean times rounds."""
        return self.means[rows.arm] * len(rows)


def compare_runs(exam: Any, rounds: int = 4) -> None:
    """Run everything that runs declarations on the same noise, some rounds beyond the horizon."""
    algorithm = exam.case.algorithm
    told = getattr(algorithm, "horizon", None)
    horizon = told or exam.case.horizon + rounds
    stream = np.resize(np.array(exam.case.stream), horizon)
    rng = np.random.default_rng(horizon)
    rows = rng.laplace(size=(RUNS, 4 * horizon + 8))
    steady = isinstance(algorithm, Episodes) and getattr(algorithm, "lengths", None) == (1,)
    if not steady:
        rows = np.resize(rows[0], rows.shape)
    wanted = exam.ask(
        "stream runner", lambda: [reference(algorithm, stream, row).tolist() for row in rows]
    )
    if wanted is None:
        return
    exam.tally.counts["runs compared"] += 1
    others = {
        "recorder": lambda: [recorded(algorithm, stream, row) for row in rows[:1]],
        "lockstep on a stream": lambda: many(algorithm, stream, rows),
        "lockstep simulator": lambda: simulated(algorithm, stream, rows),
        "kernel": lambda: kernel(algorithm, stream, rows[0]),
    }
    for who, run in others.items():
        got = exam.ask(who, run)
        if got is not None and got != wanted[: len(got)]:
            exam.disagree(f"{who} acts otherwise", f"{got} instead of {wanted} on {stream}")
    means = tuple((2 + arm) / 8 for arm in range(algorithm.arms))  # whose sums are exact
    plain = exam.ask(
        "reference", lambda: interpret(algorithm, horizon, ConstantRewards(means), Tape(rows))
    )
    times = np.arange(1, horizon + 1)
    drawn = exam.ask(
        "sampled", lambda: sampled.run(algorithm, RunBlock(Constant(means), times, 1, Tape(rows)))
    )
    if plain is not None and drawn is not None:
        counts = np.bincount(plain.actions, minlength=algorithm.arms)[: algorithm.arms]
        if counts.tolist() != drawn.pulls[0].tolist() or plain.releases != drawn.releases[0]:
            exam.disagree("sampled acts otherwise", f"{drawn.pulls[0]} instead of {counts}")


def reference(algorithm: Any, stream: Any, row: Any) -> Any:
    """Return the actions of the stream runner."""
    rewards = StreamRewards(stream, algorithm.arms)
    return interpret(algorithm, len(stream), rewards, Tape(row[None])).actions


def recorded(algorithm: Any, stream: Any, row: Any) -> list[int]:
    """Return the actions of the recorder."""
    rewards = StreamRewards(stream, algorithm.arms)
    events = Recorder(algorithm, len(stream), rewards, Tape(row[None])).run()
    found = [e.arm for e in events if isinstance(e, RecordedPlay) for _ in e.rounds]
    stops = [algorithm.arms + e.arm for e in events if isinstance(e, Stopped)]
    return [*found, *stops * (len(stream) - len(found))]


def many(algorithm: Any, stream: Any, rows: Any) -> list[list[int]] | None:
    """Return the actions of a block of the auditor's runs, if it has more than the reference."""
    if lockstep.decisions(algorithm, len(stream)) is None or compiled.supports(algorithm):
        return None
    runs = run_many(algorithm, Stream.of(stream), len(rows), Tape(rows))
    return [runs.actions(i).tolist() for i in range(len(rows))]


def simulated(algorithm: Any, stream: Any, rows: Any) -> list[list[int]] | None:
    """Return the actions of a block of the simulator's runs, where it advances episode by episode.

    The gaps are powers of ten, so the regret at every time tells the arms.
    """
    climbing = lockstep.decisions(algorithm, len(stream))
    if climbing is None:
        return None
    times = np.arange(1, len(stream) + 1)
    world: Any = StreamTotals(stream, algorithm.arms)
    outcome = lockstep.run(climbing, RunBlock(world, times, len(rows), Tape(rows)))
    steps = np.diff(outcome.curve, axis=1, prepend=0.0)
    return np.round(np.log10(steps)).astype(int).tolist()


def kernel(algorithm: Any, stream: Any, row: Any) -> list[list[int]] | None:
    """Return the actions of the compiled kernel, if there is one."""
    if not compiled.supports(algorithm):
        return None
    table = np.broadcast_to(stream[:, None], (len(stream), algorithm.arms))
    return [compiled.Machine(algorithm).advance(table, row[: len(stream)]).tolist()]
