"""What a search for the largest loss found, and what exactly it covered."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from dpaudit.verdict import Enclosure, Witness

Streams = Literal["real", "binary"]
DEFAULT_FLOOR = 1e-6
EXTREMAL = "extremal streams"


@dataclass(frozen=True)
class WorstLoss:
    """An enclosure of epsilon*(T), its witness, and what exactly was covered.

    `charge` is the largest sum of charges of one reward, exact, where the structure of the noise
    was followed: no loss exceeds it, whatever was computed.
    """

    loss: Enclosure
    witness: Witness | None
    method: str
    covers: str
    streams: Streams
    paths: int
    horizon: int
    complete: bool
    floor: float
    loss_above_floor: float | None
    seconds: float
    proved: bool = True  # whether the cover is proved; if not, the upper end is only measured
    charge: Fraction | None = None


def everything(streams: Streams) -> str:
    """Return the words for a complete search by extremal streams."""
    kind = "streams in [0,1]^T" if streams == "real" else "binary streams"
    return f"every action sequence and every pair of {kind} of length T"
