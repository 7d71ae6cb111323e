"""Known-wrong variants of the doubling framework, as small declarations."""

from dataclasses import dataclass

from dpaudit.core.algorithm import Release, Rows, State, Step
from dpaudit.core.algorithms.adap_klucb import AdapKLUCB
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.arithmetic import exact
from dpaudit.core.episodes import Deciding, Releasing
from dpaudit.core.noise import Laplace


class HalvedNoise:
    """Noise of half the scale."""

    def release(self, rows: Rows) -> Release:
        right = super().release(rows)  # type: ignore[misc]
        return Release(rows.arm, rows, Laplace(right.noise.scale / 2), divisor=right.divisor)


class HalvedLate:
    """Noise of half the scale in episodes of 128 pulls or more."""

    def release(self, rows: Rows) -> Release:
        right = super().release(rows)  # type: ignore[misc]
        scale = right.noise.scale / (2 if len(rows) >= 128 else 1)
        return Release(rows.arm, rows, Laplace(scale), divisor=right.divisor)


class MeanOfAll:
    """The mean over all of the arm's rewards so far, with noise 1 / (epsilon N)."""

    def release(self, rows: Rows) -> Release:
        scale = 1 / (exact(self.epsilon) * rows.stop)  # type: ignore[attr-defined]
        return Release(rows.arm, Rows(rows.arm, 0, rows.stop), Laplace(scale), divisor=rows.stop)


class DrawnAgain:
    """Noise drawn again at every decision: both arms' last episodes are released anew."""

    def step(self, state: State) -> Step:
        if isinstance(state, Releasing):
            return Step(self.release(state.rows), lambda _: Deciding(state.pulls))
        if isinstance(state, Deciding) and 0 not in state.pulls:
            return self._again(state.pulls, 0)
        if isinstance(state, tuple) and state and state[0] == "again":
            if state[2] < 2:
                return self._again(state[1], state[2])
            return super().step(Deciding(state[1]))  # type: ignore[misc]
        return super().step(state)  # type: ignore[misc]

    def _again(self, pulls: tuple[int, ...], arm: int) -> Step:
        first = pulls[arm] // 2
        rows = Rows(arm, first, pulls[arm])
        return Step(self.release(rows), lambda _: ("again", pulls, arm + 1))  # type: ignore[attr-defined]


def variants() -> list[type]:
    made = []
    for flaw in (HalvedNoise, MeanOfAll, DrawnAgain):
        for right in (AdapUCB, AdapKLUCB):
            name = f"{flaw.__name__}{right.__name__}"
            made.append(dataclass(frozen=True, kw_only=True)(type(name, (flaw, right), {})))
    return made


@dataclass(frozen=True, kw_only=True)
class LateUCB(HalvedLate, AdapUCB):
    pass
