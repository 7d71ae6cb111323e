"""One decision per round: the frame of UCB, KL-UCB and tree-based DP-UCB.

Every episode is a single pull. After it something is released: by default the exact sum of all the
arm's rewards (no privacy), for the tree mechanism one node.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dpaudit.core.algorithm import Release, Rows
from dpaudit.core.episodes import Episodes
from dpaudit.core.noise import NoNoise


@dataclass(frozen=True, kw_only=True)
class PerStep(Episodes):
    """A rule consulted before every single pull."""

    private: ClassVar[bool] = False

    def episode_length(self, pulls: Any) -> Any:
        """Return 1."""
        return 1

    def release(self, rows: Rows) -> Release:
        """Return what is released after one pull: by default the exact sum so far."""
        return Release(rows.arm, Rows(rows.arm, 0, rows.stop), NoNoise())
