"""dp_se with noise of half the scale."""

from dataclasses import dataclass
from fractions import Fraction

from dpaudit.core.algorithm import Release, State, Step
from dpaudit.core.algorithms.dp_se import DPSE
from dpaudit.core.mutant import Exact, scaled

flaw = "Noise of half the scale on the epoch means that decide who is eliminated."
refuted_by = (Exact(horizon=3_000),)


@dataclass(frozen=True, kw_only=True)
class HalvedElimination(DPSE):
    """DP-SE with too little noise."""

    def step(self, state: State) -> Step:
        """Return the step, with half the noise if it is a release."""
        right = super().step(state)
        if not isinstance(right.request, Release):
            return right
        return Step(scaled(right.request, Fraction(1, 2)), right.then)
