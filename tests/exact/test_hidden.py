"""Decisions that do not show in the actions: no search takes the loss of a path for theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from dpaudit.core.algorithm import Algorithm, Choose, Keep, Play, Release, Rows, Step
from dpaudit.core.noise import Laplace
from dpaudit.core.scores import Affine
from dpaudit.errors import DpauditError, Unsupported
from dpaudit.exact import profile, worst_loss
from dpaudit.exact.climb import climb
from dpaudit.exact.clock import Clock, OutOfTime
from dpaudit.exact.paths import all_paths, require_shown
from dpaudit.exact.worst import LossSearch, every_step


@dataclass(frozen=True, kw_only=True)
class Scripted(Algorithm):
    """Pulls every arm once and releases it; then decides, and acts by `script` on the answers.

    The state is all that happened: rows played, registers, answers.
    """

    epsilon: float = 1.0

    def start(self) -> Any:
        return ()

    def script(self, answers: tuple[Any, ...], since: tuple[Any, ...]) -> Any:
        """Return the next request after the last answer: an arm to play or to release, or "?"."""
        raise NotImplementedError

    def choice(self, answers: tuple[Any, ...]) -> Any:
        arms = tuple(range(self.arms))

        def rule(m: Any) -> Any:
            return Affine(m.number(np.full(self.arms, 0.25)))

        return Choose(arms, tuple((arm,) for arm in arms), rule)

    def step(self, state: Any) -> Step:
        if len(state) < 2 * self.arms:
            arm = len(state) // 2
            played = len(state) % 2
            return self._act(state, ("release", arm) if played else ("play", arm))
        answers = tuple(entry[1] for entry in state if entry[0] == "answer")
        places = [i for i, entry in enumerate(state) if entry[0] == "answer"]
        since = state[places[-1] + 1 :] if places else ("?",)
        return self._act(state, "?" if not places else self.script(answers, since))

    def _act(self, state: Any, what: Any) -> Step:
        if what == "?":
            answers = tuple(entry[1] for entry in state if entry[0] == "answer")
            return Step(self.choice(answers), lambda answer: (*state, ("answer", answer)))
        kind, arm = what
        if kind == "play":
            return Step(Play(arm, 1), lambda rows: (*state, (kind, arm)))
        stop = sum(1 for entry in state if entry == ("play", arm))
        release = Release(arm, Rows(arm, stop - 1, stop), Laplace(1))
        return Step(release, lambda _: (*state, (kind, arm)))


class Ignored(Scripted):
    """Plays arm 0 whatever is chosen, and releases the winner only if it is arm 0."""

    def script(self, answers: tuple[Any, ...], since: tuple[Any, ...]) -> Any:
        return [("play", 0), ("release", 0), "?"][len(since)]


class BothPlayed(Scripted):
    """Plays both arms in one order, and releases the winner alone: a lattice, nothing shown."""

    def script(self, answers: tuple[Any, ...], since: tuple[Any, ...]) -> Any:
        return [("play", 0), ("play", 1), ("release", answers[-1]), "?"][len(since)]


class Overruled(Scripted):
    """Asks twice in a row and acts on the second answer."""

    def script(self, answers: tuple[Any, ...], since: tuple[Any, ...]) -> Any:
        if len(answers) % 2:
            return "?"
        return [("play", answers[-1]), ("release", answers[-1]), "?"][len(since)]


class CutOff(Scripted):
    """Keeps arms, then plays arm 0 first in any case: the horizon cuts the rest off."""

    def choice(self, answers: tuple[Any, ...]) -> Any:
        arms = tuple(range(self.arms))
        return Keep(arms, tuple((arm,) for arm in arms), lambda m: m.number(0.5))

    def script(self, answers: tuple[Any, ...], since: tuple[Any, ...]) -> Any:
        return [("play", 0), ("play", 1), ("release", 0), ("release", 1), "?"][len(since)]


NOTHING_SHOWN = [Ignored, BothPlayed, CutOff]


@pytest.mark.parametrize("kind", NOTHING_SHOWN)
@pytest.mark.parametrize("streams", ["real", "binary"])
@pytest.mark.parametrize("budget", [None, 0.0])
def test_what_does_not_show_loses_nothing(
    kind: type[Algorithm], streams: Any, budget: float | None
) -> None:
    """The truth is 0: the actions are always the same. Path by path it looked like 0.6."""
    try:
        found = worst_loss(kind(arms=2), 4, streams=streams, budget=budget)
    except Unsupported:
        return
    assert found.loss.lower <= 1e-8


class Counted(Clock):
    """A clock that is late after so many looks at it."""

    def __init__(self, looks: int) -> None:
        object.__setattr__(self, "looks", looks)

    def __call__(self) -> None:
        object.__setattr__(self, "looks", self.looks - 1)  # type: ignore[attr-defined]
        if self.looks < 0:  # type: ignore[attr-defined]
            raise OutOfTime

    def later(self, seconds: float) -> Clock:
        return self


@pytest.mark.parametrize("looks", [0, 10, 20, 30, 40, 60, 100])
def test_a_budget_that_ends_early_keeps_nothing_false(looks: int) -> None:
    """The first path of several is not taken for the actions that it shares with the others."""
    asked = LossSearch(Ignored(arms=2), 4, "binary", Counted(looks))
    assert asked.answered().loss.lower <= 1e-8


@pytest.mark.parametrize("kind", [*NOTHING_SHOWN, Overruled])
def test_every_search_refuses_paths_that_share_their_actions(kind: type[Algorithm]) -> None:
    algorithm = kind(arms=2)
    with pytest.raises(Unsupported):
        LossSearch(algorithm, 6, "real", Clock()).certified()
    with pytest.raises(Unsupported, match="does not show|differ before"):
        list(every_step(algorithm, 5, "real"))
    with pytest.raises(DpauditError):
        climb(algorithm, 5)
    for path in all_paths(algorithm, 5):
        with pytest.raises(Unsupported, match="does not show"):
            require_shown(algorithm, path)


def test_climbs_of_three_arms_refuse_them() -> None:
    with pytest.raises(Unsupported, match="does not show"):
        climb(Ignored(arms=3), 6)


@pytest.mark.parametrize("kind", NOTHING_SHOWN)
def test_profiles_add_up_the_paths(kind: type[Algorithm]) -> None:
    found = profile(kind(arms=2), [1, 0, 1, 0], [1, 1, 1, 0])
    assert len(found.log_p) == 1
    assert abs(found.losses).max() < 1e-8
