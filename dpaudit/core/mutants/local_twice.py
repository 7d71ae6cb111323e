"""ldp_ucb_b that asks every user twice and believes the sum."""

from dataclasses import dataclass
from typing import NamedTuple

from dpaudit.core.algorithm import Rows, State, Step
from dpaudit.core.algorithms.ldp_ucb_b import LDPUCBB
from dpaudit.core.episodes import Deciding, Releasing
from dpaudit.core.mutant import Exact

flaw = "Every reward is responded to twice, each time with the chances that cost epsilon alone."
refuted_by = (Exact(horizon=3),)


class OnceResponded(NamedTuple):
    """The first response to some rows has been given."""

    pulls: tuple[int, ...]
    rows: Rows


@dataclass(frozen=True, kw_only=True)
class AskedTwice(LDPUCBB):
    """Two responses of the same user, added to one register."""

    def step(self, state: State) -> Step:
        """Release a second time before going on."""
        match state:
            case OnceResponded(pulls, rows):
                return Step(self.release(rows), lambda _: Deciding(pulls))
            case Releasing(pulls, rows):
                return Step(self.release(rows), lambda _: OnceResponded(pulls, rows))
        return super().step(state)
