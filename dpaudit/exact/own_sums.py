"""Which steps of an odd episode's own sum are tried, and whether these are known to suffice.

With all other episodes at all-b, the loss of a step is phi(q) - phi(p) for b = 1, phi(p) - phi(q)
for b = 0, with 0 < q - p <= 1. Where the region is convex, phi is concave: the worst full step is
the first one for b = 1, the last one for b = 0. Otherwise all integer steps of short episodes are
tried, and a few of long ones.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpaudit.exact.pairs import Streams

_INWARD = 2.0**-20  # how far inside a full step the slope of phi is looked at
_SHORT = 16  # episodes up to this length have all their integer steps tried


@dataclass(frozen=True)
class Steps:
    """Which steps of an odd episode's own sum are tried, and whether these are known to suffice."""

    convex: bool
    streams: Streams

    def own_sums(self, length: int, background: int) -> list[float]:
        """Return the own sums to try, from the worst on; a step is between neighbours one apart.

        For real rewards and a convex region the third one, next to the second, tells whether a full
        step is best.
        """
        if self.convex:
            found = [0.0, 1.0, 1.0 - _INWARD] if self.shorter else [0.0, 1.0]
        elif length <= _SHORT:
            found = [float(s) for s in range(length + 1)]
        else:
            eighths = {k * length // 8 for k in range(8)} | {1, length - 2, length - 1}
            found = sorted({float(s + k) for s in eighths for k in (0, 1)})
        return found if background == 1 else [length - s for s in found]

    @property
    def shorter(self) -> bool:
        """Whether steps shorter than 1 can be worse than those tried."""
        return self.convex and self.streams == "real"

    def suffice(self, longest: int) -> bool:
        """Return whether the worst step is known to be among those tried, or bounded by them."""
        return self.convex or (self.streams == "binary" and longest <= _SHORT)
