"""Per-step algorithms at compiled speed: which declaration has which kernel, and how it is fed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.algorithm import Algorithm, Rows
from dpaudit.core.algorithms.dp_ucb import DPUCB
from dpaudit.core.algorithms.kl_ucb import KLUCB
from dpaudit.core.algorithms.ldp_ucb_b import LDPUCBB
from dpaudit.core.algorithms.ldp_ucb_l import LDPUCBL
from dpaudit.core.algorithms.ucb import UCB
from dpaudit.core.arithmetic import FLOAT
from dpaudit.core.noise import Noise
from dpaudit.core.outcome import Outcome, RunBlock
from dpaudit.core.response import Uniform

COMPILED: tuple[type[Algorithm], ...] = (UCB, KLUCB, DPUCB, LDPUCBB, LDPUCBL)

# Small enough for the tables of a chunk to stay in the processor's cache.
CHUNK = 2**14


def supports(algorithm: Algorithm) -> bool:
    """Whether a kernel exists; a subclass may change anything, so it has none."""
    return type(algorithm) in COMPILED and algorithm.grid is None


class Machine:
    """One run of a per-step algorithm: rewards[t, arm] and unit noise in, actions out."""

    def __init__(self, algorithm: Algorithm) -> None:
        from dpaudit.core import kernels

        self.pulls = np.zeros(algorithm.arms, dtype=np.int64)
        self.shown = np.zeros(algorithm.arms)
        self.time = 0
        self.unit: Noise | Uniform | None = None
        self._kernel = kernels.KERNELS[algorithm.name]
        self._rest: tuple[Any, ...] = ()
        if isinstance(algorithm, DPUCB):
            noise = algorithm.release(Rows(0, 0, 1)).noise
            # at N = t = 1 nothing but Gamma is left of the bonus
            bonus = algorithm.rule(np.ones(1), 1.0, FLOAT).value(np.zeros(1))[0]
            shape = (algorithm.arms, algorithm.horizon.bit_length() + 1)
            self.unit = noise.unit()
            self._rest = (np.zeros(shape), np.zeros(shape), noise.spread(), float(bonus))
        elif isinstance(algorithm, LDPUCBB):
            law = algorithm.law()
            self.unit, self._rest = Uniform(), (float(law.one), float(law.zero))
        elif isinstance(algorithm, LDPUCBL):
            added = algorithm.law()
            self.unit, self._rest = added.unit(), (added.spread(), algorithm.epsilon)

    def advance(
        self, rewards: NDArray[np.float64], noise: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Play len(rewards) more rounds and return their actions."""
        out = np.empty(len(rewards), dtype=np.int64)
        self._kernel(rewards, noise, self.time, self.pulls, self.shown, out, *self._rest)
        self.time += len(rewards)
        return out


def run(algorithm: Algorithm, block: RunBlock) -> Outcome:
    """Simulate runs one after the other."""
    times, runs, rng = block.times, block.runs, block.rng
    gaps, none = block.environment.gaps, np.zeros(CHUNK)
    curve, pulls = np.zeros((runs, len(times))), np.zeros((runs, algorithm.arms), dtype=np.int64)
    for i in range(runs):
        machine = Machine(algorithm)
        for j, stop in enumerate(times):
            while machine.time < stop:
                rounds = min(CHUNK, int(stop) - machine.time)
                noise = none if machine.unit is None else machine.unit.draw(rng, rounds)
                machine.advance(block.environment.table(rounds, rng), noise)
            curve[i, j] = machine.pulls @ gaps
        pulls[i] = machine.pulls
    return Outcome(pulls, curve, np.full(runs, times[-1] - 1, dtype=np.int64))
