"""Where the private KL bound changes its form: all places, however close to the ends."""

from __future__ import annotations

import numpy as np
import pytest

from dpaudit.core.divergence import private_upper_bound
from dpaudit.core.scores import PrivateKLBound

LOGITS = np.linspace(-70, 30, 400_001)


def changes_seen(level: float, epsilon: float) -> np.ndarray:
    """Scan means m by log(m / (1 - m)): the bound q is tilted where e^-epsilon q / (1 - q) > m."""
    mean = 1 / (1 + np.exp(-LOGITS))
    v = private_upper_bound(mean, level, epsilon)
    finite = np.isfinite(v) & (mean < 1)
    tilted = v[finite] > np.logaddexp(0.0, LOGITS[finite] + epsilon)
    return LOGITS[finite][1:][tilted[1:] != tilted[:-1]]


@pytest.mark.parametrize("epsilon", [0.25, 1.0, 4.0, 10.0, 16.0, 40.0])
@pytest.mark.parametrize("share", [1e-3, 0.05, 0.4, 0.95, 1.5])
def test_every_change_of_form_is_a_breakpoint(epsilon: float, share: float) -> None:
    """Levels up to and above the largest at which the forms meet, near epsilon^2 / 8 or epsilon."""
    means = np.linspace(0, 1, 100_001)[1:-1]
    level = share * float(np.max(np.log1p(means * np.expm1(epsilon)) - epsilon * means))
    found = sorted(PrivateKLBound(level, epsilon).kinks())
    inner = [m for m in found if m not in (0.0, 1.0)]
    seen = changes_seen(level, epsilon)
    expected = {1e-3: 2, 0.05: 2, 0.4: 2, 0.95: 2, 1.5: 0}[share]
    assert len(seen) == expected
    ends = [1 - level / epsilon] if level < epsilon else []
    assert inner[expected:] == ends
    logits = np.log(inner[:expected]) - np.log1p(-np.array(inner[:expected]))
    np.testing.assert_allclose(logits, seen, atol=2 * (LOGITS[1] - LOGITS[0]))


@pytest.mark.parametrize("epsilon", [1e-6, 800.0])
def test_extreme_epsilon_has_breakpoints_in_order(epsilon: float) -> None:
    for level in (epsilon / 1e6, epsilon / 2, 2 * epsilon):
        found = PrivateKLBound(level, epsilon).kinks()
        assert all(0 <= m <= 1 for m in found)
