"""What a search for the largest loss found, and what exactly it covered."""

from __future__ import annotations

from dataclasses import dataclass

from dpaudit.exact.pairs import Streams
from dpaudit.verdict import Enclosure, Witness

DEFAULT_FLOOR = 1e-6
EXTREMAL = "extremal streams"


@dataclass(frozen=True)
class WorstLoss:
    """An enclosure of epsilon*(T), its witness, and what exactly was covered."""

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


def everything(streams: Streams) -> str:
    """Return the words for a complete search by extremal streams."""
    kind = "streams in [0,1]^T" if streams == "real" else "binary streams"
    return f"every action sequence and every pair of {kind} of length T"
