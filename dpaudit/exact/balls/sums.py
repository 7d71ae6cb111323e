"""Two arms whose registers add up several releases, certified, where their scores bend.

Between decisions the state is the joint density of two registers, a `Joint`. A decision cuts it
along the curve on which the two scores tie; then a register gets a fresh release on top of what it
holds, or in its place. Registers are counted from the centres of what they show, so every release
is Laplace noise around zero; the rewards move the curves.

The sheet covers a window of 30 noise scales. A register leaves it with a probability that Chernoff
bounds (E exp(t Z) = 1 / (1 - (t / rate)^2), t = 0.9 rate), which goes to the upper end. Widths are
of second order in the cells, absolute, not relative: a likelihood that is not well above them is
`Unsupported`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np
from flint import arb, ctx

from dpaudit.core.algorithm import Choose
from dpaudit.core.arithmetic import ball
from dpaudit.errors import Unsupported
from dpaudit.exact.balls.cells import FASTEST, SLOWEST
from dpaudit.exact.balls.compare import compared
from dpaudit.exact.balls.fibres import Axis, Cut, Joint, added, integrated, laplace, product
from dpaudit.exact.balls.interval import Interval
from dpaudit.exact.balls.roots import Theta
from dpaudit.exact.balls.threshold import Rivals
from dpaudit.exact.balls.weight import outward
from dpaudit.exact.region import Decision, Region, rate_of, seats

_REACH = 30  # noise scales
Group = tuple[int, ...]


def likelihood(region: Region, totals: Mapping[int, Fraction], cells: int) -> Interval:
    """Enclose the probability of a region of two arms by the sums of its releases.

    [0, 0] where a decision's outcome is impossible. Raise `Unsupported` where two registers do not
    describe the state between decisions.
    """
    rates = _rates(region)
    centres = [totals[i] / episode.divisor for i, episode in enumerate(region.episodes)]
    order = seats(region)
    seated = list(zip(region.decisions, order, strict=True))
    with ctx.workprec(256):
        scores = [_compared(decision, seat, centres) for decision, seat in seated]
    wins = [seat.index(d.request.arms.index(d.outcome)) for d, seat in seated]
    if any(
        s.always is not None and s.always != (w == 0) for s, w in zip(scores, wins, strict=True)
    ):
        return Interval(np.float64(0.0), np.float64(0.0))
    axes = (
        axis_of(min(rates), cells, [mark for pair in scores for mark in pair.marks(True)]),
        axis_of(min(rates), cells, [mark for pair in scores for mark in pair.marks(False)]),
    )
    shown = [(decision.shown[one], decision.shown[two]) for decision, (one, two) in seated]
    if any(len(group) != 1 for group in shown[0]):
        raise Unsupported("The first decision does not read one release of each arm.")
    (one,), (two,) = shown[0]
    sheet = product(axes, laplace(axes[0], rates[one]), laplace(axes[1], rates[two]))
    for place, (before, after) in enumerate(zip(shown[:-1], shown[1:], strict=True)):
        pair: Rivals | None = scores[place]
        for axis in (0, 1):
            release, kept = _fresh(before[axis], after[axis])
            if release is not None:
                sheet = _renewed(sheet, pair, wins[place], axis, rates[release], kept)
                pair = None
        if pair is not None:
            raise Unsupported("Two decisions in a row look at the same releases.")
    line = integrated(sheet, _cut(scores[-1], axes, wins[-1], 0))
    total = line.integral(axes[1])
    groups = {(axis, groups[axis]) for groups in shown for axis in (0, 1)}
    escaped = sum(_escape([rates[i] for i in group], min(rates)) for _, group in groups)
    return Interval(total.lo, min(1.0, float(np.nextafter(total.hi + escaped, np.inf))))


def _rates(region: Region) -> list[Fraction]:
    found = [rate_of(episode) for episode in region.episodes]
    if not all(SLOWEST <= rate <= FASTEST for rate in found):
        raise Unsupported("Noise of such a scale does not fit on the certified sheets.")
    return found


def _compared(decision: Decision, seat: tuple[int, int], centres: Sequence[Fraction]) -> Rivals:
    """Return a decision as a comparison of the two registers, in their order."""
    if not isinstance(decision.request, Choose) or len(decision.shown) != 2:
        raise Unsupported("Registers that add up releases are certified for choices of two arms.")
    a, b = (sum((centres[i] for i in group), Fraction(0)) for group in decision.shown)
    given = (a, b)
    return compared(decision.request.rule, seat, (given[seat[0]], given[seat[1]]))


def _fresh(before: Group, after: Group) -> tuple[int | None, bool]:
    """Return the release that a register gets, and whether it is added to what was there."""
    new = [index for index in after if index not in before]
    old = [index for index in after if index in before]
    if not new and len(old) == len(before):
        return None, True
    if len(new) != 1 or len(old) not in (0, len(before)):
        raise Unsupported("A decision reads part of a sum that another decision read.")
    return new[0], bool(old)


def _cut(pair: Rivals | None, axes: tuple[Axis, Axis], winner: int, axis: int) -> Cut:
    """Return the side of a decision's curve over the axis that is not integrated."""
    other = axes[1 - axis].x
    if pair is None:
        nothing = np.full(len(other), -np.inf)
        flat = Interval.of(np.zeros(len(other) - 1))
        return Cut(Theta(Interval(nothing, nothing), flat, flat), above=True)
    return Cut(pair.threshold(other, axis == 1), above=winner == axis)


def _renewed(
    sheet: Joint, pair: Rivals | None, winner: int, axis: int, rate: Fraction, kept: bool
) -> Joint:
    """Decide, then give one register a fresh release."""
    cut = _cut(pair, sheet.axes, winner, axis)
    turned = sheet if axis == 0 else sheet.turned
    if kept:
        turned = added(turned, cut, rate)
    else:
        fresh = laplace(turned.axes[0], rate)
        turned = product(turned.axes, fresh, integrated(turned, cut))
    return turned if axis == 0 else turned.turned


def axis_of(rate: Fraction, cells: int, marks: Iterable[Interval]) -> Axis:
    """Return nodes that thin out with the noise and crowd at the marks."""
    scale = 1 / float(rate)
    u = np.linspace(0.0, 1.0, cells + 1)
    half = -3 * scale * np.log1p(-u * -np.expm1(-_REACH / 3))
    coarse = np.linspace(-half[-1], half[-1], 4 * _REACH + 1)
    parts = [half, -half, coarse]
    powers = 0.5 ** np.arange(cells.bit_length() + 3)
    for mark in marks:
        low, high = float(mark.lo), float(mark.hi)
        edge = 16 * np.spacing(1 + abs(high)) + 2 * (high - low)
        step = 3 * scale / cells * np.exp(min(abs(low) / scale, _REACH) / 3)
        reach = np.append(edge, edge + step * powers)
        parts += [low - reach, high + reach]
    nodes = np.unique(np.concatenate(parts))
    return Axis(nodes[(nodes >= -half[-1]) & (nodes <= half[-1])] + 0.0)


def _escape(rates: Sequence[Fraction], least: Fraction) -> float:
    """Bound the probability that a sum of Laplace draws leaves the window."""
    with ctx.workprec(128):
        t = ball(Fraction(9, 10) * min(rates))
        reach = ball(Fraction(_REACH) / least * Fraction(999, 1000))
        bound = 2 * (-(t * reach)).exp()
        for rate in rates:
            bound = bound / (1 - (t / ball(rate)) ** 2)
        return float(outward(arb(bound.upper())).hi)
