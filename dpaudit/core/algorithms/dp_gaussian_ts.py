"""Thompson sampling with Gaussian draws (Agrawal & Goyal 2013) on released means.

The doubling episodes of Algorithm 1 of Azize & Basu (2022): the private mean of an arm's last
episode of n = N / 2 rewards has Laplace(1 / (epsilon n)). Before every episode each arm draws from
N(private mean, log t (1 / n + 2 / (epsilon n)^2)): the variances of the posterior and of the noise,
widened by log t because there are no more than O(log t) draws per arm. The largest draw is played.
The draws come after the release and know nothing but it.
"""

from dataclasses import dataclass
from typing import Any

from dpaudit.core.arithmetic import Arithmetic
from dpaudit.core.episodes import DoublingEpisodes
from dpaudit.core.scores import GaussianDraw


@dataclass(frozen=True, kw_only=True)
class DPGaussianTS(DoublingEpisodes):
    """Doubling episodes with a Gaussian draw around every private mean."""

    def rule(self, pulls: Any, time: Any, m: Arithmetic) -> GaussianDraw:
        """Return Thompson's rule on the private means."""
        n = pulls / 2
        noise = m.number(self.epsilon) * n
        return GaussianDraw(m.sqrt(m.log(time) * (1 / n + 2 / (noise * noise))))
