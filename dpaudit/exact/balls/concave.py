"""The largest loss where paths are polytopes: likelihoods are concave in every centre.

Choices are convex regions, and so is an elimination of two arms, or a union of its outcomes that
show as the same actions, if it is x_0 - x_1 in an interval. For three or more arms an outcome with
two survivors and a dropped arm is no lattice: `Unsupported`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from flint import arb

from dpaudit.core.algorithm import Keep
from dpaudit.errors import Unsupported
from dpaudit.exact import conditions
from dpaudit.exact.algebra import Bounds
from dpaudit.exact.balls.exponentials import bounds
from dpaudit.exact.balls.polytopes import Part, parts_of, probability, releases_of
from dpaudit.exact.region import Region

PAST = Fraction(1, 1024)


@dataclass(frozen=True)
class ByEvaluation:
    """A concave log-likelihood by own sum; where it is monotone, whole steps suffice.

    With the others at 1 the steepest step leaves own sum 0 upwards, with the others at 0 it leaves
    n downwards. A concave function is also concave beyond the sums that rewards can reach, so one
    more evaluation just past the full step tells its slope there: if it still gains, no shorter
    step does better; if not, the line through the two points bounds what shorter steps can gain.
    """

    log: Callable[[Fraction], arb]
    rows: int
    monotone: bool

    def largest(self, rising: bool, whole: bool) -> Bounds:
        """Enclose the largest gain of a step of at most 1."""
        start, sign = (Fraction(0), 1) if rising else (Fraction(self.rows), -1)
        base, end = self.log(start), self.log(start + sign)
        upper = arb.max(end - base, arb(0))
        if not (whole or self.monotone):
            falls = (end - self.log(start + sign * (1 + PAST))) * PAST.denominator
            upper += arb.max(arb(0), falls)
        return bounds(end - base, upper, start, start + sign, end)


class Polytopes:
    """Groups of paths that show as the same actions: they differ in their last part alone."""

    def __init__(self, groups: Sequence[Sequence[Region]]) -> None:
        self.groups = [(group[0], [parts_of(region) for region in group]) for group in groups]
        for _, runs in self.groups:
            if any(run[:-1] != runs[0][:-1] or len(run) != len(runs[0]) for run in runs):
                raise Unsupported("Paths of the same actions differ before their last elimination.")

    def curves(self, number: int, background: int) -> Iterator[tuple[int, ByEvaluation]]:
        """Yield the releases of every part, over the union of its outcomes."""
        region, runs = self.groups[number]
        sums = {i: Fraction(background * len(e)) for i, e in enumerate(region.episodes)}
        last = len(runs[0]) - 1
        unions = [
            [run[place] for run in (runs if place == last else runs[:1])]
            for place in range(len(runs[0]))
        ]
        for union in unions:
            _require_convex(union)
            if all(probability(region, part, sums).is_zero() for part in union):
                return  # an elimination of no width that keeps two arms: nobody takes these paths
        for union in unions:
            for index in releases_of(union[0]):
                log = partial(_log, region, union, sums, index)
                rows, monotone = len(region.episodes[index]), conditions.monotone(region, index)
                yield index, ByEvaluation(log, rows, monotone)


def _require_convex(union: Sequence[Part]) -> None:
    """Raise unless the union of some outcomes of a part is known to be convex."""
    if len(union) == 1 and not any(isinstance(d.request, Keep) for d in union[0]):
        return
    decisions = [d for part in union for d in part]
    if any(len(part) != 1 for part in union) or not all(
        isinstance(d.request, Keep) and len(d.arms) == 2 for d in decisions
    ):
        raise Unsupported("The worst loss of an elimination is certified for two arms.")
    one, two = decisions[0].arms
    if {tuple(d.outcome) for d in decisions} == {(one,), (two,)}:
        raise Unsupported("The outcomes of the same actions are not an interval.")


def _log(
    region: Region, union: Sequence[Part], sums: Mapping[int, Fraction], index: int, total: Fraction
) -> arb:
    """Enclose the log-probability of a union of outcomes by the own sum of one release."""
    given = {**sums, index: total}
    return sum((probability(region, part, given) for part in union), arb(0)).log()
