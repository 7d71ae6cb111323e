"""adap_ucb that draws the noise of every arm again at each decision."""

from dataclasses import dataclass
from typing import NamedTuple

from dpaudit.core.algorithm import Rows, State, Step
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.episodes import Deciding, Releasing
from dpaudit.core.mutant import Exact

flaw = "The noise is drawn again at every decision, so the same mean is released again and again."
refuted_by = (Exact(horizon=6),)


class Redrawing(NamedTuple):
    """Before a decision: how many arms have been released again."""

    pulls: tuple[int, ...]
    done: int


@dataclass(frozen=True, kw_only=True)
class Redrawn(AdapUCB):
    """AdaP-UCB that releases every arm's last episode anew before it chooses."""

    def step(self, state: State) -> Step:
        """Release all arms again, then choose as usual."""
        match state:
            case Releasing(pulls) if 0 not in pulls:
                return self.step(Redrawing(pulls, 0))
            case Redrawing(pulls, done) if done < self.arms:
                rows = Rows(done, pulls[done] // 2, pulls[done])
                return Step(self.release(rows), lambda _: Redrawing(pulls, done + 1))
            case Redrawing(pulls):
                return super().step(Deciding(pulls))
        return super().step(state)
