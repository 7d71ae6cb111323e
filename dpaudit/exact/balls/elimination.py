"""Successive elimination in balls: each epoch has fresh registers, so the likelihood is a product.

With x the largest register of an epoch, a its arm, w the width, A the kept arms, the outcome has
probability  sum over a in A of  integral f_a(x) prod_{k in A, k != a} (F_k(x) - F_k(x - w))
prod_{j not in A} F_j(x - w) dx.  Expanding the differences leaves products of Laplace densities and
tails, which are piecewise exponential polynomials: exact in balls, whatever cancels.

The worst loss is enclosed for two arms. Then an outcome, or a union of outcomes that show as the
same actions, is x_0 - x_1 in an interval: a convex sublattice, so extremal streams apply and the
log-likelihood is concave in each centre. Epochs share no reward, so each is looked at alone. A step
is largest from 0 (the other arm at 1) or from n (the other arm at 0). For three or more arms an
outcome with two survivors and a dropped arm is no lattice: `Unsupported`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product

from flint import arb

from dpaudit.core.algorithm import Keep
from dpaudit.core.arithmetic import BALL, ball
from dpaudit.errors import Unsupported
from dpaudit.exact.balls.evaluated import ByEvaluation
from dpaudit.exact.balls.exponentials import unit_of
from dpaudit.exact.balls.order import rate_of
from dpaudit.exact.balls.piecewise import Laplace, Piecewise
from dpaudit.exact.region import Region


@dataclass(frozen=True)
class Epoch:
    """One elimination: its releases with their rates, its request, and who is kept."""

    releases: tuple[int, ...]
    rates: tuple[Fraction, ...]
    request: Keep
    kept: tuple[bool, ...]


def epochs_of(region: Region) -> list[Epoch]:
    """Return a region's eliminations, or raise `Unsupported` if it is not made of them alone."""
    seen: set[int] = set()
    found = []
    for decision in region.decisions:
        request = decision.request
        if not isinstance(request, Keep) or any(len(group) != 1 for group in decision.shown):
            raise Unsupported("The elimination engine answers `Keep` on single registers.")
        shown = tuple(group[0] for group in decision.shown)
        if len(set(shown)) < len(shown):
            raise Unsupported("Two arms show the same release: it is no fresh draw on both.")
        if seen & set(shown):
            raise Unsupported("An elimination looks at a register for the second time.")
        seen |= set(shown)
        kept = tuple(arm in decision.outcome for arm in request.arms)
        found.append(Epoch(shown, tuple(rate_of(region, i) for i in shown), request, kept))
    return found


def outcome(epoch: Epoch, centres: Sequence[Fraction]) -> arb:
    """Enclose the probability of an epoch's outcome."""
    unit = unit_of(epoch.rates)
    width = ball(epoch.request.width(BALL))
    laws = [Laplace(rate, ball(c), unit) for rate, c in zip(epoch.rates, centres, strict=True)]
    total, zero = arb(0), arb(0)
    for best, law in enumerate(laws):
        if not epoch.kept[best]:
            continue
        base = Piecewise.one(unit).times(law.density(zero))
        near = []
        for arm, other in enumerate(laws):
            if arm == best:
                continue
            if epoch.kept[arm]:
                near.append((other.below(zero), other.below(-width)))
            else:
                base = base.times(other.below(-width))
        for picks in product((0, 1), repeat=len(near)):
            term = base
            for pair, pick in zip(near, picks, strict=True):
                term = term.times(pair[pick])
            mass = term.integral()
            total += -mass if sum(picks) % 2 else mass
    return total


def likelihood(region: Region, epochs: Sequence[Epoch], sums: Mapping[int, Fraction]) -> arb:
    """Enclose the probability of all the outcomes."""
    total = arb(1)
    for epoch in epochs:
        total *= outcome(epoch, [sums[i] / region.episodes[i].divisor for i in epoch.releases])
    return total


class Eliminations:
    """Groups of paths that show as the same actions: they differ in the last outcome alone."""

    def __init__(self, groups: Sequence[Sequence[Region]]) -> None:
        self.groups = [(group[0], [epochs_of(region) for region in group]) for group in groups]
        for _, runs in self.groups:
            if len({len(run) for run in runs}) > 1 or any(run[:-1] != runs[0][:-1] for run in runs):
                raise Unsupported("Paths of the same actions differ before their last elimination.")

    def curves(self, number: int, background: int) -> Iterator[tuple[int, ByEvaluation]]:
        """Yield both releases of every epoch, over the union of its outcomes."""
        region, runs = self.groups[number]
        for place, epoch in enumerate(runs[0]):
            last = place == len(runs[0]) - 1
            union = [run[place] for run in (runs if last else runs[:1])]
            if len(epoch.releases) != 2:
                raise Unsupported("The worst loss of an elimination is certified for two arms.")
            if {run.kept for run in union} == {(True, False), (False, True)}:
                raise Unsupported("The outcomes of the same actions are not an interval.")
            for own, release in enumerate(epoch.releases):
                log = partial(_log, region, union, background, own)
                yield release, ByEvaluation(log, len(region.episodes[release]), False)


def _log(region: Region, union: Sequence[Epoch], background: int, own: int, total: Fraction) -> arb:
    """Enclose the log-probability of a union of outcomes by the own sum of one release."""
    episodes = [region.episodes[i] for i in union[0].releases]
    centres = [Fraction(background * len(e)) / e.divisor for e in episodes]
    centres[own] = total / episodes[own].divisor
    return sum((outcome(epoch, centres) for epoch in union), arb(0)).log()
