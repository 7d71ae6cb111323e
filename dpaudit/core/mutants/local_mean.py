"""ldp_ucb_l with the noise on the arm's mean, drawn again after every reward."""

from dataclasses import dataclass

from dpaudit.core.algorithm import Release, Rows
from dpaudit.core.algorithms.ldp_ucb_l import LDPUCBL
from dpaudit.core.arithmetic import Arithmetic, exact
from dpaudit.core.mutant import Exact
from dpaudit.core.noise import Laplace
from dpaudit.core.scores import Affine, Score

flaw = "Local noise on the mean, not on the reward, which is released again with every later one."
refuted_by = (Exact(horizon=5),)


@dataclass(frozen=True, kw_only=True)
class NoisyMean(LDPUCBL):
    """UCB on the mean of all rewards of an arm, with noise for one of them."""

    def due(self, pulls: tuple[int, ...]) -> int | None:
        """Return no arm: the noise is small, it says."""
        return None

    def release(self, rows: Rows) -> Release:  # type: ignore[override]
        """Return the mean so far with Laplace noise of scale 1 / (epsilon n)."""
        noise = Laplace(1 / (exact(self.epsilon) * rows.stop))
        return Release(rows.arm, Rows(rows.arm, 0, rows.stop), noise, divisor=rows.stop)

    def rule(self, pulls: object, time: object, m: Arithmetic) -> Score:
        """Return the noisy mean with the bonus of UCB."""
        return Affine(m.sqrt(2 * m.log(time) / pulls))
