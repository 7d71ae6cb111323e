"""Where doubles are fine enough: noise that is neither tiny nor huge beside what is compared.

A register of size s is a double with an error of 2^-53 s, which moves a log-likelihood by that over
the noise scale. This is added to the error that the floating-point engines were measured to have;
where it is no longer small, they are silent.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dpaudit.core.algorithm import Choose, Keep
from dpaudit.core.arithmetic import FLOAT
from dpaudit.core.noise import Laplace
from dpaudit.core.scores import RULES, Affine
from dpaudit.errors import Unsupported
from dpaudit.exact.region import Region

SMALLEST, LARGEST = 1e-8, 1e6  # noise scales, and the smallest one beside the registers compared
_ROUNDING = 2.0**-52


def resolved(region: Region) -> float:
    """Return what rounded registers add to a log-likelihood's error; raise where it is large."""
    error = 0.0
    for decision in region.decisions:
        shown = [region.episodes[i] for group in decision.shown for i in group]
        scales = [float(e.noise.scale) for e in shown if isinstance(e.noise, Laplace)]
        error += require_fine(decision.request, scales, (len(e) / float(e.divisor) for e in shown))
    return error


def require_fine(
    request: Choose | Keep, scales: Iterable[float], centres: Iterable[float]
) -> float:
    """Return the error of one decision; raise `Unsupported` unless noise is fit for its registers.

    The registers have these noise scales and, at most, these centres.
    """
    noise = list(scales)
    size = max([*centres, _reach(request), 0.0])
    if any(not SMALLEST <= scale <= LARGEST for scale in noise):
        raise Unsupported(f"A noise scale lies outside {SMALLEST:g} to {LARGEST:g}: doubles end.")
    if any(scale < SMALLEST * size for scale in noise):
        raise Unsupported("Noise is too small for doubles beside the registers it is added to.")
    return _ROUNDING * size / min(noise, default=1.0)


def _reach(request: Choose | Keep) -> float:
    """Return how far from zero a decision looks at a register."""
    if isinstance(request, Keep):
        return float(request.width(FLOAT))
    rule = request.rule(FLOAT)
    if type(rule) not in RULES:
        return 1.0
    window = 0.0 if isinstance(rule, Affine) else 1.0
    shift = np.abs(np.asarray(getattr(rule, "shift", 0.0), dtype=float))
    scale = np.asarray(getattr(rule, "scale", 1.0), dtype=float)
    with np.errstate(over="ignore"):
        return float(np.max((window + shift) / scale))
