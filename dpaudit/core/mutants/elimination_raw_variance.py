"""dp_se whose width comes from the raw variance of the rewards."""

import math
from typing import Any

from numpy.typing import NDArray

from dpaudit.core.handwritten import Elimination
from dpaudit.core.mutant import Changed, Sample

flaw = "The width of the elimination test comes from the raw variance of the rewards."
refuted_by = (Sample(horizon=3_000, pair=Changed(((0.0, 1381), (0.0146, 1)), 0, 1.0)),)


class RawVariance(Elimination):
    """DP-SE with a Bernstein width in place of Hoeffding's."""

    def width(self, epoch: int, survivors: int, played: list[NDArray[Any]]) -> float:
        """Return the width with the largest raw deviation in place of 1 / 2."""
        spread = max(float(rewards.std()) for rewards in played)
        rounds, weight = self.rounds(epoch, survivors), self.weight(epoch, survivors)
        bernstein = 2 * spread * math.sqrt(2 * math.log(8 * weight) / rounds)
        return bernstein + 2 * math.log(4 * weight) / (self.epsilon * rounds)
