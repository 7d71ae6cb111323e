"""Runs together with their registers: what training may look at and judging never sees.

A transcript is a run's plays and the value that the played arm's register had after each. From it
follows, for every decision, the register value at which another arm would have won: a score says it
by its inverse, and any other rule that is monotone in the register is asked, by bisection. Such
thresholds aim pairs and score events on training runs (`steer`, `conditional`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.algorithm import Algorithm
from dpaudit.core.episodes import Episodes
from dpaudit.core.lockstep import Decisions, Releases, Supposed, decisions
from dpaudit.core.noise import Noise
from dpaudit.core.scores import Score
from dpaudit.errors import Unsupported
from dpaudit.sample.lockstep import run_episodes
from dpaudit.sample.runs import Runs
from dpaudit.sample.streams import Stream

Numbers = NDArray[np.float64]
Counts = NDArray[np.int64]
HALVINGS = 30


@dataclass(frozen=True)
class Transcripts:
    """Runs of an episode algorithm; per play: the arm's register after it, the part of it that was
    kept from before, the noise's scale and the divisor of the release.

    A play that is cut at the horizon is never released: its entries are nan.
    """

    decisions: Decisions
    runs: Runs
    register: Numbers
    kept: Numbers
    spread: Numbers
    divisor: Numbers

    def __len__(self) -> int:
        return len(self.runs)

    @property
    def algorithm(self) -> Episodes:
        """The algorithm that ran."""
        return self.decisions.climb.algorithm

    @property
    def unit(self) -> Noise:
        """The law that all its noise is a multiple of."""
        return self.decisions.climb.unit

    @property
    def ends(self) -> Counts:
        """The step at which each play ends."""
        edge = np.full((len(self), 1), self.runs.horizon)
        return np.concatenate((self.runs.starts[:, 1:], edge), axis=1)

    def before(self, play: int, runs: Counts) -> tuple[Numbers, Counts]:
        """Return the registers and the pull counts of all arms before a play, for some runs."""
        arms = self.algorithm.arms
        registers = np.full((len(runs), arms), np.nan)
        pulls = np.zeros((len(runs), arms), dtype=np.int64)
        lengths = (self.ends - self.runs.starts)[runs, :play]
        rows = np.arange(len(runs))
        for earlier in range(play):
            arm = self.runs.arms[runs, earlier]
            registers[rows, arm] = self.register[runs, earlier]
            pulls[rows, arm] += lengths[:, earlier]
        return registers, pulls

    def threshold(
        self, play: int, arm: Counts, runs: Counts, low: Numbers, high: Numbers
    ) -> Numbers:
        """Return, per run, from which register value on `arm` would have won the decision.

        Sought between `low` and `high`; the answer is one of them where no value in between does.
        """
        registers, pulls = self.before(play, runs)
        rungs = self.decisions.climb.rungs(pulls)
        rows = np.arange(len(runs))
        rule = self.decisions.rule(rungs)
        if isinstance(rule, Score):
            edge = _edge(rule, registers, (rows, arm))
            return np.clip(np.where(np.isnan(edge), high, edge), low, high)
        rng = np.random.default_rng(0)
        low, high = low.copy(), high.copy()
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            registers[rows, arm] = middle
            wins = self.decisions.winners(rungs, registers, rng) == arm
            low, high = np.where(wins, low, middle), np.where(wins, middle, high)
        return 0.5 * (low + high)


def _edge(score: Score, registers: Numbers, own: tuple[Counts, Counts]) -> Numbers:
    """Return the register value of its own arm from which on each run would choose it, or nan."""
    others = np.array(score.compared(registers))
    others[own] = -np.inf
    best, first = others.max(axis=1), others.argmax(axis=1)
    found = np.full(len(best), np.nan)
    # ties go to the earliest
    for some, inverse in ((first < own[1], "inverse_upper"), (first > own[1], "inverse")):
        mine = score.at((own[0][some], own[1][some]))
        found[some] = getattr(mine, inverse)(best[some])
    return found


def transcripts(
    algorithm: Algorithm, stream: Stream, runs: int, rng: np.random.Generator
) -> Transcripts:
    """Return runs with their registers; the runs of the algorithm must be in lockstep."""
    climbing = decisions(algorithm, stream.horizon, Supposed)
    if climbing is None:
        raise Unsupported(f"{algorithm.name} has no runs in lockstep.")
    turns: list[Releases] = []
    found = run_episodes(climbing, stream, runs, rng, turns.append)
    columns = np.full((4, runs, found.arms.shape[1]), np.nan)
    for play, turn in enumerate(turns):
        columns[:, turn.runs, play] = turn.register, turn.kept, turn.spread, turn.divisor
    return Transcripts(climbing, found, *columns)
