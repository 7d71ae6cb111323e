r"""Bets against a privacy claim: one wealth for every level, whoever earns it.

Fix a level c = e^epsilon and neighbouring streams r, r'. A round draws one fresh run on each, X
and Y, independent. The level's null hypothesis H is that the target is (epsilon, delta)-private:
for every pair and every function 0 <= h <= m of a run, E h(X) <= c E h(Y) + delta m, and the same
with X and Y exchanged. A bet is a function t - s of a run, of which t, s >= 0 are the parts, and a
number 0 < l < 2. With k = 1 / (1 + delta (max t + max s) / 2) let

    f = k (l + t - c s),    g = k (2 - l - c t + s),    S = f(X) g(Y),    where f, g >= 0.

**Theorem.** E S <= 1 under H, for whatever bet that is chosen before the round.

Proof. X and Y are independent, so E S = E f(X) E g(Y), which is at most the square of
(E f(X) + E g(Y)) / 2, both being nonnegative. Under H, E t(X) - c E t(Y) <= delta max t and
E s(Y) - c E s(X) <= delta max s, so the sum is at most k (2 + delta max t + delta max s) = 2. QED

So wealth that starts at 1 and is multiplied, round by round, by S, or by any average of such S
with weights chosen before, is a nonnegative supermartingale under H. It does not matter on which
pair the round was played, which statistic of the actions the bet looks at or how it was learned,
as long as all of that was fixed by earlier rounds, be they of the same block. By Ville's inequality
wealth ever reaches 1 / error with probability at most `error` under H: one may look and stop at any
time.

Money may also be put aside: (wealth + what is aside) is one of these averages, with a bet that does
nothing. So a search among pairs of which next to nothing is known can lose only what it stakes.

**Many levels, one error.** Nulls are nested: what is private at a level is so at every higher one.
Levels are refuted from below, a level only if all lower ones are. Let e be the lowest level at
which the target is private. If a level at or above e is refuted, e is; so with probability at
least 1 - error the highest refuted level is below the truth, and the claim, itself a level, is
refuted only if it is false. Evidence and bound cost one error together, and nothing is split among
pairs, events or looks. The levels are of epsilon, with delta = 0; where a delta is claimed they
are of delta, at the claimed epsilon, and the bound is one on delta.

**The best bet.** A run falls into one of a few cells, with believed probabilities p and q on the
two streams. Given l and delta = 0, growth E log S is a sum over cells, and the best t in a cell
with p (2 - l) > c q l gives f = p h / (c (p + q)), g = q h / (p + q) with h = 2 - l + c l; for s
exchange everything; in the other cells f = l and g = 2 - l. The derivative by l of what remains is
monotone: bisection. Its growth is the least relative entropy from (p, q) to the null (it is the
dual problem), so no other e-variable grows faster for this belief (Turner & Grunwald 2023, for two
cells). A belief is pulled towards the null by half a standard deviation in every cell, and by more
where its pair was chosen among many (`suspects`). It only costs growth if wrong.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import InvalidArgument

CAUTION, HOPE = 0.5, 1.5  # standard deviations
APART = 0.2  # the most that hope changes a probability by, in parts of it
COARSE = 4  # levels of which one is looked at for plans
FEW = 10  # runs in a cell, below which there is no hope
HALVINGS = 26
STEPS = 50  # levels up to the claim, or up to 1 and then for every factor e
BEYOND = 1.25  # claims up to which they are as near to one another; then their distances grow
WIDER = 1.25
EARLY = 0.25  # of the runs that are left: if these refute from nothing, wealth should grow
SHARP = 3.0  # how quickly the money of a level follows what bettors expect
BELOW = 0.7  # of the lowest open level
SURE = 4.0  # parts of all rounds of which bets have their full size
ASIDE = 0.75  # of the money is not staked while a pair is sought
SAFE = 0.05  # the least factor of a bet that is bolder than growth asks for
LARGEST = 600.0
HIGHEST = 14.0  # above the claim: no affordable number of runs shows more
ROUNDING = 2.0**-48  # more than all that a round's factors are off by
SLACK = 1e-6  # nats: more than the sum of logarithms is off by

Row = NDArray[np.float64]


def require_error(error: Any) -> None:
    """Raise unless this is a probability of error."""
    if not isinstance(error, int | float) or isinstance(error, bool):
        raise InvalidArgument("error", error, "must be a number.")
    if not 0 < error < 1:
        raise InvalidArgument("error", error, "must lie strictly between 0 and 1.")


def levels_for(claim: float) -> Row:
    """Return the levels of an audit, decimals of six digits: the claim is one of them, exactly."""
    step = min(claim, 1.0) / STEPS
    found = [step]
    while found[-1] < claim - step / 2:
        found.append(found[-1] + max(step, found[-1] / STEPS))
    found[-1] = claim
    while found[-1] < min(claim + HIGHEST, LARGEST):
        step *= 1.0 if found[-1] < BEYOND * claim else WIDER
        found.append(found[-1] + step)
    return np.array([it if it == claim else float(f"{it:.6g}") for it in found])


def ratios_of(levels: Row) -> Row:
    """Return e^level, rounded up: a larger null is harder to refute.

    So is the level before: a decimal stands for what it writes, which may be above its double.
    """
    with np.errstate(over="ignore"):
        above = np.exp(np.nextafter(levels, np.inf)) * (1 + 2.0**-50)
    return np.nextafter(np.minimum(above, 1e300), np.inf)


class Bets(NamedTuple):
    """The factors f and g of every cell, and the growth per round that is expected of them."""

    stream: Row
    neighbour: Row
    growth: Row

    def scaled(self, boldness: Row) -> Bets:
        """Return bets with f - 1 and g - 1 multiplied, as far as f, g > 0 allow.

        E f + E g - 2 is multiplied too and stays at most 0 under the null.
        """
        worst = np.minimum(self.stream, self.neighbour).min(axis=-1, keepdims=True)
        most = (1 - SAFE) / np.maximum(1 - worst, 1e-12)
        bold = np.minimum(boldness, most) * (1 - ROUNDING)
        # never closer to 0 than asked, nor than the bet was
        f, g = (1 + bold * (each - 1) - ROUNDING for each in (self.stream, self.neighbour))
        return Bets(np.maximum(f, 0.0), np.maximum(g, 0.0), self.growth)

    def log_gain(self, counts: Any, counts_neighbour: Any) -> Row:
        """Return the log of the product of S over rounds with these counts in the cells."""
        with np.errstate(divide="ignore", invalid="ignore"):
            left = np.where(counts > 0, counts * np.log(self.stream), 0.0)
            right = np.where(counts_neighbour > 0, counts_neighbour * np.log(self.neighbour), 0.0)
        return np.asarray((left + right).sum(axis=-1))


def best_bets(ratio: Any, p: Row, q: Row, delta: Any = 0.0) -> Bets:
    """Return the bets of largest growth for beliefs p, q over cells (the last axis), vectorised.

    `ratio`, and `delta` if it is an array, have one axis for cells, of length 1. Where a belief is
    inside of the null, f = g = 1. With delta the cells that tell are chosen as if they had delta
    less: a plan, not the best one.
    """
    c, truth = np.asarray(ratio, dtype=float), (p, q)
    if np.any(delta):
        p, q = _less(p, c * q, delta), _less(q, c * p, delta)
    both, shape = p + q, np.broadcast_shapes(c.shape, (*p.shape[:-1], 1))
    low, high = np.full(shape, 1e-6), np.full(shape, 2 - 1e-6)
    # a cell tells the streams apart where the base is below `below`, or above `above`
    cp, cq, gain = c * p, c * q, both * (c - 1)
    below, above = 2 * p / np.maximum(p + cq, 1e-300), 2 * cp / np.maximum(cp + q, 1e-300)
    for _ in range(HALVINGS):
        base = 0.5 * (low + high)
        other = 2 - base
        slopes = p / base - q / other
        np.copyto(slopes, gain / (other + c * base), where=base < below)
        np.copyto(slopes, gain / -(base + c * other), where=base > above)
        rising = slopes.sum(axis=-1, keepdims=True) > 0
        np.copyto(low, base, where=rising)
        np.copyto(high, base, where=~rising)
    base = 0.5 * (low + high)
    other = 2 - base
    more, less = p * other > c * q * base, q * base > c * p * other
    idle = ~(more | less).any(axis=-1, keepdims=True)
    base, other = np.where(idle, 1.0, base), np.where(idle, 1.0, other)
    total = np.maximum(both, 1e-300)
    t = np.where(more, (p * other - c * q * base) / (c * total), 0.0)
    s = np.where(less, (q * base - c * p * other) / (c * total), 0.0)
    # f and g are doubles: what either was rounded by is taken off the other
    off = c * ROUNDING
    f = np.where(less, np.maximum(base - c * s - off, 0.0), base + t)
    g = np.where(more, np.maximum(other - c * t - off, 0.0), other + s)
    width = t.max(axis=-1, keepdims=True) + s.max(axis=-1, keepdims=True)
    scale = np.where(idle, 1.0, (1 - ROUNDING) / (1 + delta * width / 2))
    f, g, (p, q) = f * scale, g * scale, truth
    with np.errstate(divide="ignore", invalid="ignore"):
        growth = np.where(p > 0, p * np.log(f), 0.0) + np.where(q > 0, q * np.log(g), 0.0)
    return Bets(f, g, growth.sum(axis=-1))


def _less(p: Row, most: Row, delta: Any) -> Row:
    """Return p with delta taken off the cells where it is above `most`, in proportion."""
    above = np.where(p > most, p, 0.0).sum(axis=-1, keepdims=True)
    part = np.maximum(1 - delta / np.maximum(above, 1e-300), 0.0)
    return np.where(p > most, p * part, p)


def believed(
    counts: NDArray[Any], sizes: NDArray[Any], caution: float = CAUTION
) -> tuple[Row, Row]:
    """Return probabilities of cells on both streams from counts (bettors, 2, cells).

    They are drawn together by standard deviations of caution, or apart if it is negative, though
    never far and not where next to nothing is known. Bettor k has `sizes[k]` cells; the rest of its
    row is empty.
    """
    real = np.arange(counts.shape[2]) < sizes[:, None]
    rounds = counts.sum(axis=2)[:, :, None] + 0.5 * sizes[:, None, None]
    share = (counts + 0.5) / rounds
    p, q = share[:, 0], share[:, 1]
    doubt = caution * np.sqrt((1 - share) / (share * rounds))
    none = np.zeros(p.shape, dtype=bool)
    if caution < 0:
        doubt, none = np.maximum(doubt, -APART), counts.sum(axis=1) < FEW
    doubt *= np.where(p > q, 1.0, -1.0)[:, None]
    near_p, near_q = p * np.maximum(1 - doubt[:, 0], 0.1), q * np.maximum(1 + doubt[:, 1], 0.1)
    # what is drawn together does not pass one another
    none |= (p > q) != (near_p > near_q)
    middle = 0.5 * (p + q)
    p, q = (np.where(real, np.where(none, middle, near), 0.0) for near in (near_p, near_q))
    return p / p.sum(axis=1, keepdims=True), q / q.sum(axis=1, keepdims=True)


class Prospect(NamedTuple):
    """Bets of several bettors at the levels where somebody bets, and the weights of these.

    `careful` ones are for growth, `hopeful` ones to be scaled: by `sure`, and by what is left.
    """

    alive: NDArray[np.int64]
    careful: Bets
    hopeful: Bets
    sure: Row
    log_weights: Row


class Wealth:
    """The log-wealth at every level of an audit, and which levels it refutes."""

    def __init__(self, claim: float, error: float, delta: float = 0.0) -> None:
        require_error(error)
        self.levels = levels_for(delta or claim)
        if delta:
            self.levels = self.levels[self.levels < 1]
        self.ratios = ratios_of(np.full(len(self.levels), claim) if delta else self.levels)
        self.deltas = np.nextafter(self.levels, 1.0) if delta else np.zeros(len(self.levels))
        self.claim = int(np.flatnonzero(self.levels == (delta or claim))[0])
        self.needed = math.log(1 / error) + SLACK
        self.staked = np.zeros(len(self.levels))
        self.aside = np.full(len(self.levels), -np.inf)
        self.peak = np.zeros(len(self.levels))

    @property
    def log(self) -> Row:
        """The log-wealth at every level: what is staked and what is aside."""
        return np.asarray(np.logaddexp(self.staked, self.aside))

    def put_aside(self, part: float) -> None:
        """Stake what is left when a part of the money is put aside, or 0: all of it is staked."""
        with np.errstate(divide="ignore"):
            self.staked, self.aside = self.log + math.log(1 - part), self.log + np.log(part)

    @property
    def refuted(self) -> int:
        """How many levels are refuted, from below."""
        short = np.flatnonzero(self.peak < self.needed)
        return int(short[0]) if len(short) else len(self.levels)

    @property
    def lower(self) -> float:
        """A lower bound on epsilon, or on delta, wrong with probability at most the error."""
        return float(self.levels[self.refuted - 1]) if self.refuted else 0.0

    @property
    def claim_refuted(self) -> bool:
        """Whether the claim is refuted."""
        return self.refuted > self.claim

    def prospect(
        self, counts: NDArray[Any], sizes: NDArray[Any], left: int, caution: float = CAUTION
    ) -> Prospect | None:
        """Return the bets for beliefs (see `believed`); None where nobody bets at any open level.

        All money of a level is on bettors that expect to win, more on those of whom more runs say
        so, at this level or else at the highest one below at which anybody does.
        """
        p, q = believed(counts, sizes, caution)
        bold_p, bold_q = believed(counts, sizes, -HOPE)
        widest = self._widest(bold_p, bold_q)
        alive = np.flatnonzero((self.peak < self.needed) & (self.levels < widest))
        if not len(alive):
            return None
        # a level below all open ones tells bettors apart where none is sure to win at any of these
        lowest, delta = BELOW * self.levels[alive[0]], self.deltas[alive]
        below = (self.ratios[0], lowest) if delta.any() else (math.exp(lowest), 0.0)
        ratio = np.concatenate((below[:1], self.ratios[alive]))[:, None, None]
        delta = np.concatenate((below[1:], delta))[:, None, None]
        # both beliefs at once: half the steps in Python
        both = best_bets(
            ratio, np.stack((p, bold_p))[:, None], np.stack((q, bold_q))[:, None], delta
        )
        careful, hopeful = (Bets(*(each[number] for each in both)) for number in (0, 1))
        score = np.where(careful.growth > 0, careful.growth * counts[:, 0].sum(axis=1), -np.inf)
        top = score.max(axis=1, keepdims=True)
        expecting = np.flatnonzero(top[:, 0] > 0)
        if not len(expecting):
            return None
        last = np.searchsorted(expecting, np.arange(len(ratio)), side="right") - 1
        like = expecting[np.maximum(last, 0)][1:]
        weights = np.exp(SHARP * (score[like] - top[like]))
        with np.errstate(divide="ignore"):
            log_weights = np.log(weights / weights.sum(axis=1, keepdims=True))
        careful, hopeful = (Bets(*(each[1:] for each in it)) for it in (careful, hopeful))
        # a bettor that has seen little does not know yet which cells to bet on
        seen = counts[:, 0].sum(axis=1)
        sure = np.minimum(SURE * seen / (seen + left), 1.0)
        return Prospect(alive, careful, hopeful, sure, log_weights)

    def _widest(self, p: Row, q: Row) -> float:
        """Return the highest level that beliefs could show."""
        if self.deltas.any():
            excess = p - self.ratios[0] * q, q - self.ratios[0] * p
            return float(max(np.maximum(each, 0.0).sum(axis=1).max() for each in excess))
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.max(np.where(p > 0, np.abs(np.log(p / q)), 0.0)))

    def _placed(self, prospect: Prospect, left: int) -> Bets:
        """Return the bets on the next piece, if so many rounds are left.

        Growth is the best aim where it refutes long before runs are out, even from nothing.
        Elsewhere the aim is to reach 1 / error by the end: the wealth of the most powerful test of
        that size is the conditional probability that it rejects, which varies in a round by
        phi(u) / Phi(u) / sqrt(left) with Phi(u) = wealth times error (in the normal limit; it only
        costs power if that is wrong). Such a test does not stop to bet when it is behind, so its
        bets are for a hopeful belief. What it stakes changes with every round: pieces are small.
        """
        _, careful, hopeful, sure, _ = prospect
        part, u = self._far(prospect.alive)
        exposure = np.exp(-0.5 * u**2 - part) / math.sqrt(2 * math.pi * max(left, 1))
        far = np.maximum(-part, self.needed)
        late = far[:, None, None] >= EARLY * left * careful.growth.max(axis=1)[:, None, None]
        bold = exposure[:, None] * sure / np.sqrt(2 * np.maximum(hopeful.growth, 1e-12))
        bets = hopeful.scaled(bold[:, :, None])
        f = np.where(late, bets.stream, careful.stream)
        g = np.where(late, bets.neighbour, careful.neighbour)
        return Bets(f, g, careful.growth)

    def _far(self, alive: NDArray[np.int64]) -> tuple[Row, Row]:
        """Return the log of wealth times error at levels, and its normal quantile."""
        from scipy.special import ndtri_exp

        part = np.minimum(self.log[alive] - self.needed, -1e-9)
        return part, np.asarray(ndtri_exp(part))

    def reach(self, counts: NDArray[Any], sizes: NDArray[Any], rounds: int, caution: float) -> Row:
        """Return, per bettor, the level to expect after so many rounds: a plan, not an inference.

        The claim is the highest: what refutes it ends the audit. Bettors that reach as high are in
        the order of their growth there, and so are all where no level is within reach.
        """
        p, q = believed(counts, sizes, caution)
        alive = np.flatnonzero(self.peak[: self.claim + 1] < self.needed)[::-COARSE]
        if not len(alive):
            return np.zeros(len(sizes))
        ratio, delta = self.ratios[alive][:, None, None], self.deltas[alive][:, None, None]
        growth = np.maximum(best_bets(ratio, p[None], q[None], delta).growth, 0.0)
        expected = np.sqrt(2 * rounds * growth) + self._far(alive)[1][:, None]
        levels = self.levels[alive][:, None]
        won = np.where(expected >= 0, levels + 1e-3 * np.tanh(expected / 4), 0.0).max(axis=0)
        hope = np.tanh(growth.max(axis=0)) * 1e-3 * self.levels[0]
        return np.asarray(np.maximum(won, hope))

    def rounds_to_exclude(self, counts: NDArray[Any], sizes: NDArray[Any], caution: float) -> float:
        """Return after how many rounds of the best bettor the lowest open level may be refuted.

        Half of the time, beginning anew (see `_placed`): a plan, not an inference.
        """
        from scipy.special import ndtri_exp

        p, q = believed(counts, sizes, caution)
        growth = best_bets(self.ratios[self.refuted], p, q, self.deltas[self.refuted]).growth.max()
        return float(ndtri_exp(-self.needed)) ** 2 / (2 * growth) if growth > 0 else math.inf

    def update(self, prospect: Prospect | None, pieces: NDArray[Any], left: int) -> None:
        """Multiply by what a block gives, piece by piece (pieces: piece, bettors, 2, cells).

        `left` are the rounds that were left before it.
        """
        if prospect is None:
            return
        for counts in pieces:
            gains = self._placed(prospect, left).log_gain(counts[None, :, 0], counts[None, :, 1])
            gains = prospect.log_weights + gains
            top = np.maximum(gains.max(axis=1), -1e300)
            with np.errstate(divide="ignore"):
                gain = top + np.log(np.exp(gains - top[:, None]).sum(axis=1))
            self.staked[prospect.alive] += gain
            self.peak = np.maximum(self.peak, self.log)
            left -= int(counts[0, 0].sum())
