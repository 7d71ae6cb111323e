"""The pair of streams behind a step of one episode's own sum, every other reward fixed."""

from __future__ import annotations

import math

from dpaudit.exact.paths import Path
from dpaudit.exact.region import Region

Stream = list[float]


def pair_of_step(
    path: Path, region: Region, episode: int, background: int, better: float, worse: float
) -> tuple[Stream, Stream]:
    """Return the stream of the better sum and its neighbour: one reward of the episode differs."""
    low, high = sorted((better, worse))
    rows = [t for part in region.episodes[episode].steps for t in part]
    stream = [float(background)] * path.horizon
    whole = math.floor(low)
    for place, t in enumerate(rows):
        stream[t] = 1.0 if place < whole else 0.0
    rest = low - whole
    # the moving reward is the one after the whole ones; raise it as far as it goes, and let the
    # next one hold the fraction where a step crosses an integer
    moving = rows[min(whole, len(rows) - 1)]
    if whole < len(rows):
        stream[moving] = rest
    if rest + (high - low) > 1.0 and whole + 1 < len(rows):
        stream[rows[whole + 1]], stream[moving] = rest, 0.0
    neighbour = list(stream)
    neighbour[moving] = min(1.0, stream[moving] + (high - low))
    return (neighbour, stream) if better > worse else (stream, neighbour)
