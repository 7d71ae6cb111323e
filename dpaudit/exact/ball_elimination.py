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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from flint import arb

from dpaudit.core.algorithm import Accumulate, Keep, Release, Rows
from dpaudit.core.arithmetic import BALL, ball, exact
from dpaudit.core.noise import Laplace as LaplaceNoise
from dpaudit.errors import Unsupported
from dpaudit.exact.ball_affine import unit_of
from dpaudit.exact.ball_concave import Step, concave_step
from dpaudit.exact.ball_exponential import Laplace, Piecewise
from dpaudit.exact.paths import Decided, Path


@dataclass(frozen=True)
class Epoch:
    """One elimination: the releases of its arms in order, its request, and who is kept."""

    releases: tuple[Release, ...]
    request: Keep
    kept: tuple[bool, ...]


def epochs_of(path: Path) -> list[Epoch]:
    """Return a path's eliminations, or raise `Unsupported` if it is not made of them alone."""
    current: dict[object, Release] = {}
    found = []
    for event in path.events:
        if isinstance(event, Release):
            if not isinstance(event.noise, LaplaceNoise):
                raise Unsupported(f"{type(event.noise).__name__} noise is not in this engine.")
            current[event.register] = event
        elif isinstance(event, Accumulate):
            raise Unsupported("A register that adds up releases is not in this engine.")
        elif isinstance(event, Decided):
            request = event.request
            if not isinstance(request, Keep) or any(len(group) != 1 for group in request.registers):
                raise Unsupported("The elimination engine answers `Keep` on single registers.")
            if any(group[0] not in current for group in request.registers):
                raise Unsupported("An elimination looks at a register for the second time.")
            if len(set(request.registers)) < len(request.registers):
                raise Unsupported("Two arms show the same release: it is no fresh draw on both.")
            releases = tuple(current.pop(group[0]) for group in request.registers)
            kept = tuple(arm in event.outcome for arm in request.arms)
            found.append(Epoch(releases, request, kept))
    return found


def outcome(epoch: Epoch, centres: Sequence[Fraction]) -> arb:
    """Enclose the probability of an epoch's outcome."""
    rates = [1 / exact(release.noise.scale) for release in epoch.releases]  # type: ignore[attr-defined]
    unit = unit_of(rates)
    width = ball(epoch.request.width(BALL))
    laws = [Laplace(rate, ball(c), unit) for rate, c in zip(rates, centres, strict=True)]
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


def likelihood(epochs: Sequence[Epoch], sums: Mapping[Rows, Fraction]) -> arb:
    """Enclose the probability of all the outcomes."""
    total = arb(1)
    for epoch in epochs:
        centres = [sums[release.rows] / exact(release.divisor) for release in epoch.releases]
        total *= outcome(epoch, centres)
    return total


def epoch_steps(union: Sequence[Epoch], binary: bool) -> list[Step]:
    """Enclose the largest loss of each of two releases over the union of outcomes."""
    releases = union[0].releases
    if len(releases) != 2:
        raise Unsupported("The worst loss of an elimination is certified for two arms.")
    kept = {epoch.kept for epoch in union}
    if kept == {(True, False), (False, True)}:
        raise Unsupported("The outcomes of the same actions are not an interval.")
    found = []
    for own, background in product((0, 1), (1, 0)):
        other = releases[1 - own]
        fixed = Fraction(background * len(other.rows)) / exact(other.divisor)

        def log(total: Fraction, own: int = own, fixed: Fraction = fixed) -> arb:
            centre = total / exact(releases[own].divisor)
            centres = (centre, fixed) if own == 0 else (fixed, centre)
            return sum((outcome(epoch, centres) for epoch in union), arb(0)).log()

        found.append(concave_step(log, releases[own], background, whole=binary))
    return found
