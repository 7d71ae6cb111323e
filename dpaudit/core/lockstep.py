"""The episode simulator: all runs of a block advance together, one episode per turn.

An arm's pull counts climb a fixed ladder, because the length of an episode depends on the arm's
pull count alone. So what an algorithm releases on each rung (divisor, noise, whether the register
is overwritten or added to) is asked of the declaration once per rung and kept in arrays. A turn is
then a few array operations over the runs: rule, one sum per episode, one noise draw. With doubling
a run takes O(K log T) turns, whatever the horizon is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.algorithm import Accumulate, Algorithm, Rows
from dpaudit.core.arithmetic import FLOAT
from dpaudit.core.environments import Environment
from dpaudit.core.episodes import Episodes
from dpaudit.core.noise import Noise
from dpaudit.core.outcome import Outcome

# A ladder with more rungs than this is not worth a table: the algorithm decides almost every round.
MOST_RUNGS = 2**14


@dataclass(frozen=True)
class Ladder:
    """Per rung: the episode's length; per (arm, rung): what is released after it."""

    lengths: NDArray[np.int64]
    divisor: NDArray[np.float64]
    spread: NDArray[np.float64]
    memory: NDArray[np.float64]
    unit: Noise


def ladder(algorithm: Algorithm, horizon: int) -> Ladder | None:
    """Return the ladder of an algorithm, or None if its runs cannot advance episode by episode.

    They can if every release covers exactly the episode before it and goes to the arm's one
    register, and if all noise is a multiple of one law.
    """
    if not isinstance(algorithm, Episodes):
        return None
    kind = type(algorithm)
    if kind.step is not Episodes.step or kind.choice is not Episodes.choice:
        return None
    edges = [0]
    while edges[-1] < horizon:
        edges.append(edges[-1] + (algorithm.episode_length(edges[-1]) if edges[-1] else 1))
        if len(edges) > MOST_RUNGS:
            return None
    shape = (algorithm.arms, len(edges) - 1)
    divisor, spread, memory = np.ones(shape), np.zeros(shape), np.zeros(shape)
    units: set[Noise] = set()
    for arm in range(shape[0]):
        for rung in range(shape[1]):
            rows = Rows(arm, edges[rung], edges[rung + 1])
            request = algorithm.release(rows)
            own = request.register == arm and algorithm.registers(arm, rows.stop) == (arm,)
            if not own or request.rows != rows:
                return None
            divisor[arm, rung] = float(request.divisor)
            spread[arm, rung] = request.noise.spread()
            memory[arm, rung] = isinstance(request, Accumulate)
            units.add(request.noise.unit())
    if len(units) != 1:
        return None
    lengths = np.minimum(np.diff(np.array(edges, dtype=object)), horizon).astype(np.int64)
    return Ladder(lengths, divisor, spread, memory, units.pop())


def run(
    algorithm: Episodes,
    climb: Ladder,
    environment: Environment,
    times: NDArray[np.int64],
    runs: int,
    rng: np.random.Generator,
) -> Outcome:
    """Simulate a block of runs up to the last of `times` and read their regret at all of them."""
    horizon, arms, gaps = int(times[-1]), algorithm.arms, environment.gaps
    register = np.zeros((runs, arms))
    pulls = np.zeros((runs, arms), dtype=np.int64)
    rung = np.zeros((runs, arms), dtype=np.int64)
    time = np.zeros(runs, dtype=np.int64)
    regret = np.zeros(runs)
    past_time, past_regret = [time.copy()], [regret.copy()]
    alive = np.arange(runs)
    turn = 0
    while len(alive):
        if turn < arms:
            arm = np.full(len(alive), turn)
        else:
            now = time[alive, None] + 1.0
            rule = algorithm.rule(pulls[alive].astype(float), now, FLOAT)
            arm = rule.winner(register[alive], rng)
        step = rung[alive, arm]
        rounds = np.minimum(climb.lengths[step], horizon - time[alive])
        time[alive] += rounds
        pulls[alive, arm] += rounds
        regret[alive] += rounds * gaps[arm]
        rung[alive, arm] += 1
        past_time.append(time.copy())
        past_regret.append(regret.copy())
        # an episode that ends at the horizon, cut or not, is never released
        going = time[alive] < horizon
        if not going.all():
            alive, arm, step, rounds = alive[going], arm[going], step[going], rounds[going]
        noise = climb.unit.draw(rng, len(alive)) * climb.spread[arm, step]
        shown = environment.totals(arm, rounds, rng) / climb.divisor[arm, step] + noise
        register[alive, arm] = climb.memory[arm, step] * register[alive, arm] + shown
        turn += 1
    at, value = np.array(past_time).T, np.array(past_regret).T
    curve = np.array([np.interp(times, at[i], value[i]) for i in range(runs)])
    return Outcome(pulls, curve, rung.sum(axis=1) - 1)
