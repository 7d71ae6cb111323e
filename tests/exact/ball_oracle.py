"""An independent oracle for two-armed paths: nested Gauss-Legendre quadrature on doubles.

It shares only the declaration with the certified engine: scores are evaluated and inverted in
floating point by the score objects themselves, laws by their densities.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dpaudit.core.algorithm import Release
from dpaudit.core.arithmetic import FLOAT
from dpaudit.exact.conditions import require_extremal
from dpaudit.exact.paths import Decided, Path
from dpaudit.exact.region import region_of


def sums_of(path: Path, stream: list[Fraction]) -> dict:
    return {
        event.rows: sum((stream[i] for part in path.steps(event.rows) for i in part), Fraction(0))
        for event in path.events
        if isinstance(event, Release)
    }


def quadrature(path: Path, stream: list[Fraction]) -> float:
    """Probability of a path of at most two or three decisions between two arms."""
    require_extremal(region_of(path))
    sums = sums_of(path, stream)
    laws: dict = {}
    decisions = []
    for event in path.events:
        if isinstance(event, Release):
            centre = float(sums[event.rows] / event.divisor)
            laws[event.register] = (centre, event.noise)
        elif isinstance(event, Decided):
            decisions.append((event.request.rule(FLOAT), event.outcome, dict(laws)))

    nodes, weights = np.polynomial.legendre.leggauss(12)
    nodes, weights = (nodes + 1) / 2, weights / 2

    def breaks(number, arm, law):
        """Cuts at kinks and clip points, and often enough for twelve nodes each."""
        centre, scale = law[0], float(law[1].scale)
        found = {centre + k * scale for k in (*range(-40, 41, 2), -0.5, 0.5, 1, -1)}
        for rule, _, known in decisions[number:]:
            one = rule.at(arm)
            if hasattr(one, "level"):
                window = np.array([0, 1e-6, 1e-3, 0.03, 0.2, 0.5, 0.8, 0.97, 0.999, 1 - 1e-6, 1])
                found |= set((window - float(one.shift)).tolist())
            else:
                gap = float(rule.at(1 - arm).shift) - float(one.shift)
                # where the other register's own kinks pass through the cut
                later = decisions[number + 1 :] if arm == 0 and number == 0 else ()
                inner = {
                    then[arm][0] + float(rule2.at(arm).shift) - float(rule2.at(1 - arm).shift)
                    for rule2, _, then in later
                }
                found |= {kink + gap for kink in (known[1 - arm][0], *inner)}
        return sorted(found)

    def integrate(cuts, top, function):
        """Integrate from the first cut to `top` (an array): nodes of shape (len(top), 12)."""
        total = np.zeros(len(top))
        for a, b in zip(cuts[:-1], cuts[1:], strict=True):
            end = np.clip(top, a, b)
            live = end > a
            if live.any():
                y = a + (end[live] - a)[:, None] * nodes
                total[live] += (end[live] - a) * (function(y.ravel()).reshape(y.shape) @ weights)
        return total

    def suffix(number, held, x):
        """Probability of the decisions from `number` on, given the held arm's register."""
        if number == len(decisions):
            return np.ones(len(x))
        rule, winner, known = decisions[number]
        fresh = 1 - held
        law = known[fresh]
        value = rule.at(held).value(x)
        score = rule.at(fresh)
        # the fresh register wins above the cut; on a tie the lower arm does
        cut = np.asarray(score.inverse(value) if fresh < held else score.inverse_upper(value))
        below = law[1].cdf(cut - law[0])
        if winner == fresh:
            return (1 - below) * suffix(number + 1, held, x)
        if number == len(decisions) - 1:
            return below

        def inner(y):
            return np.exp(law[1].log_density(y - law[0])) * suffix(number + 1, fresh, y)

        return integrate(breaks(number + 1, fresh, law), cut, inner)

    law = decisions[0][2][0]

    def outer(x):
        return np.exp(law[1].log_density(x - law[0])) * suffix(0, 0, x)

    cuts = breaks(0, 0, law)
    return float(integrate(cuts, np.array([cuts[-1]]), outer)[0])
