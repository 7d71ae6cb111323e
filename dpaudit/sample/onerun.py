"""The one-run audit: many rewards flipped at once in a single long run, and guessed back.

Every reward of the stream is an independent fair bit. After one run a guesser that sees only the
actions names some of the bits. If the algorithm is epsilon-DP, the number of correct guesses among
r is at most Binomial(r, e^epsilon / (1 + e^epsilon)) in stochastic order, whatever the guesser does
and however it picks the r (Steinke, Nasr & Jagielski 2023, with delta = 0). So the
binomial tail is a p-value against epsilon, and the Clopper-Pearson bound on the success probability
gives a lower bound on epsilon.

The guesser is learned on training runs with bits of their own: how often the arm of a step is
played again in the next few steps, and which arms are played at the steps around it, tell about the
reward of that step. Every such feature has log-odds, drawn towards 0 by two standard deviations;
where none is left the guesser abstains, and from which odds on it guesses is chosen by the bound on
other training runs. Training shapes the guesses only; the bound uses one fresh run.
"""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import InvalidArgument, require_integer, require_positive
from dpaudit.sample.bets import require_error
from dpaudit.sample.boxes import Box
from dpaudit.sample.guard import judged
from dpaudit.sample.independence import Independence, Kept
from dpaudit.sample.lower import clopper_pearson
from dpaudit.sample.rounds import Slot, mark_of, seed_of
from dpaudit.sample.streams import Stream

WINDOWS = (1, 2, 4, 8, 16)
CONTEXTS = ((1,), (0, 1), (0, 1, 2), (1, 2, 3))  # steps from the reward's own on
SHOWN = 4  # arms that a context tells apart; the last one stands for all others
CAUTION = 2.0  # standard deviations
ALSO_AGAIN = 15  # training runs that are made again beside the fresh one
Bits = NDArray[np.int64]


@dataclass(frozen=True)
class OneRun:
    """What one run gave away: guesses made, guesses right, p-value against epsilon, lower bound."""

    canaries: int
    guesses: int
    correct: int
    epsilon: float
    p_value: float
    lower: float
    error: float
    independence: str

    @property
    def refuted(self) -> bool:
        """Whether the claim is refuted at the stated error."""
        return self.p_value <= self.error


def p_value(correct: int, guesses: int, epsilon: float) -> float:
    """Return P(Binomial(guesses, e^epsilon / (1 + e^epsilon)) >= correct)."""
    from scipy.stats import binom

    return float(binom.sf(correct - 1, guesses, 1 / (1 + math.exp(-epsilon))))


def lower_bound(correct: int, guesses: int, error: float) -> float:
    """Return the largest epsilon whose p-value is at most `error`; at least 0."""
    if guesses == 0:
        return 0.0
    rate = clopper_pearson(correct, guesses, error)[0]
    return max(0.0, math.log(rate / (1 - rate))) if 0 < rate < 1 else 0.0


def features(actions: Bits) -> Bits:
    """Return numbers per step: how often its arm came again within a window; arms around it.

    Shape (windows and contexts, steps); values identify (step's octave, count), or the arms.
    """
    horizon = len(actions)
    octave = np.log2(np.arange(1, horizon + 1)).astype(np.int64)
    rows = []
    for window in WINDOWS:
        count = np.zeros(horizon, dtype=np.int64)
        for ahead in range(1, window + 1):
            count[: horizon - ahead] += actions[ahead:] == actions[: horizon - ahead]
        rows.append(octave * (max(WINDOWS) + 1) + count)
    shown = np.concatenate((np.minimum(actions, SHOWN - 1), np.full(SHOWN, SHOWN)))
    for context in CONTEXTS:
        code = np.zeros(horizon, dtype=np.int64)
        for ahead in context:
            code = code * (SHOWN + 1) + shown[ahead : horizon + ahead]
        rows.append(code)
    return np.array(rows)


@dataclass(frozen=True)
class Guesser:
    """Log-odds of a bit being 1 per feature and its value, and the odds from which it guesses."""

    odds: NDArray[np.float64]
    least: float

    def guess(self, actions: Bits) -> tuple[Bits, Bits]:
        """Return the steps whose bits are guessed, and the guesses."""
        found = features(actions)
        odds = np.stack([row[cell] for row, cell in zip(self.odds, found, strict=True)])
        strongest = np.abs(odds).argmax(axis=0)
        chosen = odds[strongest, np.arange(len(actions))]
        steps = np.flatnonzero(np.abs(chosen) >= self.least)
        return steps, (chosen[steps] > 0).astype(np.int64)


def learn(runs: list[tuple[Bits, Bits]], error: float) -> Guesser:
    """Return a guesser from training runs (actions, bits): odds from half, threshold from half."""
    octaves = int(math.log2(max(len(actions) for actions, _ in runs))) + 2
    size = max(octaves * (max(WINDOWS) + 1), (SHOWN + 1) ** max(map(len, CONTEXTS)))
    counts = np.zeros((2, len(WINDOWS) + len(CONTEXTS), size))
    half = max(1, len(runs) // 2)
    for actions, bits in runs[:half]:
        for row, cells in enumerate(features(actions)):
            for value in (0, 1):
                counts[value, row] += np.bincount(cells[bits == value], minlength=size)
    odds = np.log((counts[1] + 0.5) / (counts[0] + 0.5))
    doubt = CAUTION * np.sqrt(1 / (counts[0] + 0.5) + 1 / (counts[1] + 0.5))
    odds = np.sign(odds) * np.maximum(np.abs(odds) - doubt, 0.0)
    best, least = -1.0, 0.5
    for threshold in np.linspace(0.05, 3.0, 60):
        guesser = Guesser(odds, float(threshold))
        made = right = 0
        for actions, bits in runs[half:] or runs:
            steps, guesses = guesser.guess(actions)
            made += len(steps)
            right += int((bits[steps] == guesses).sum())
        each = len(runs[half:] or runs)
        bound = lower_bound(right // each, made // each, error)
        if bound > best:
            best, least = bound, float(threshold)
    return Guesser(odds, least)


def one_run_audit(box: Box, epsilon: float, error: float, seed: int, training: int = 40) -> OneRun:
    """Audit a target by one fresh run with every reward a canary, after some training runs."""
    require_positive("epsilon", epsilon)
    require_integer("training", training, 2)
    require_error(error)
    if box.horizon < 16:
        raise InvalidArgument("horizon", box.horizon, "must be at least 16 for a one-run audit.")

    independence = Independence(box, seed)

    def run(number: int) -> tuple[Any, Any, Kept]:
        rng = np.random.default_rng(seed_of(seed, 6, number, 0))
        bits = rng.integers(0, 2, box.horizon)
        stream = Stream.of(bits.astype(float))
        runs = box.run(stream, 1, seed_of(seed, 6, number, 1))
        name = f"training run {number}" if number else "the fresh run"
        return runs.actions(0), bits, Kept(Slot(stream, (6, number, 1), 1, 0, name), mark_of(runs))

    with closing(independence), judged(independence.name):
        trained = [run(number) for number in range(1, training + 1)]
        guesser = learn([(actions, bits) for actions, bits, _ in trained], error)
        actions, bits, fresh = run(0)
        # the fresh run must owe nothing to those that taught the guesser
        doubt = independence.shown([fresh, *(kept for _, _, kept in trained[:ALSO_AGAIN])])
    steps, guesses = guesser.guess(actions)
    correct = int((bits[steps] == guesses).sum())
    return OneRun(
        box.horizon,
        len(steps),
        correct,
        epsilon,
        1.0 if doubt else p_value(correct, len(steps), epsilon),
        0.0 if doubt else lower_bound(correct, len(steps), error),
        error,
        independence.resting_on("every run had rewards and a seed of its own"),
    )
