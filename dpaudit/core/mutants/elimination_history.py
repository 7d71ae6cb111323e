"""dp_se that averages over all epochs so far, with noise for a single release."""

from dataclasses import dataclass

from dpaudit.core.algorithm import Release, Rows, State, Step
from dpaudit.core.algorithms.dp_se import DPSE
from dpaudit.core.arithmetic import exact
from dpaudit.core.mutant import Changed, Sample
from dpaudit.core.noise import Laplace

flaw = "Means run over all epochs so far: a reward is released again in every epoch."
refuted_by = (
    Sample(
        horizon=20_000,
        runs=20_000,
        pair=Changed(((0.0, 1624), (1.0, 216), (0.0, 8609), (1.0, 353), (0.0, 1)), 0, 1.0),
    ),
)


@dataclass(frozen=True, kw_only=True)
class EpochsKept(DPSE):
    """DP-SE without forgetting."""

    epsilon: float = 2.0

    def step(self, state: State) -> Step:
        """Return the step; a release covers all rewards of the arm."""
        right = super().step(state)
        if not isinstance(right.request, Release):
            return right
        whole = Rows(right.request.rows.arm, 0, right.request.rows.stop)
        noise = Laplace(1 / (exact(self.epsilon) * len(whole)))
        return Step(Release(whole.arm, whole, noise, divisor=len(whole)), right.then)
