"""Local privacy: every reward leaves the user as one release of its own, before anything is done.

One decision per round. `release` is written here, once: the arm's register adds up what the `law`
makes of every single reward, its noisy value or its randomised response, and each reward is told
once. A law is not told which reward it serves, so every reward pays the same.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from dpaudit.core.algorithm import Accumulate, Respond, Rows
from dpaudit.core.noise import Noise
from dpaudit.core.notions import Kind
from dpaudit.core.perstep import PerStep
from dpaudit.core.response import Response


@dataclass(frozen=True, kw_only=True)
class Local(PerStep):
    """Registers that add up the local releases of an arm's rewards."""

    epsilon: float = 1.0

    private: ClassVar[bool] = True
    notion: ClassVar[Kind] = Kind.LOCAL

    @abstractmethod
    def law(self) -> Noise | Response:
        """Return the noise on every reward, or the randomised response to it."""

    def release(self, rows: Rows) -> Accumulate | Respond:  # type: ignore[override]
        """Return what is told of the reward just seen."""
        law = self.law()
        if isinstance(law, Response):
            return Respond(rows.arm, rows, law.one, law.zero)
        return Accumulate(rows.arm, rows, law)
