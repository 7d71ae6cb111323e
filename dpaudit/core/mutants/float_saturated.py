"""adap_klucb whose index is computed in doubles, where it saturates at 1."""

import math

from dpaudit.core.handwritten import HandwrittenDoubling

flaw = "The KL index saturates at 1.0 in doubles: false ties, which the lowest arm wins."
why_not = (
    "Ties that the lowest arm wins depend on noisy means alone, so the claim stands. "
    "The flaw costs regret, and the code no longer plays what its declaration says."
)


def _divergence(p: float, q: float) -> float:
    """Return the Bernoulli relative entropy d(p, q)."""
    head = p * math.log(p / q) if p > 0 else 0.0
    if p == 1:
        return head
    return head + (1 - p) * math.log((1 - p) / (1 - q)) if q < 1 else math.inf


class Saturated(HandwrittenDoubling):
    """AdaP-KLUCB that compares q itself, not -log(1 - q)."""

    def index(self, arm: int) -> float:
        """Return the largest double q with d(mean, q) <= level, by bisection."""
        level = self.alpha * math.log(self.time + 1) / (self.pulls[arm] / 2)
        mean = min(1.0, max(0.0, self.means[arm] + level / self.epsilon))
        low, high = mean, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if _divergence(mean, middle) <= level else (low, middle)
        return low
