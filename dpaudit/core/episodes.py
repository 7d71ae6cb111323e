"""Episodes around any rule, and Algorithm 1 of Azize and Basu (2022) written once.

Every arm is pulled once, in order. Then repeat: play the arm that is `due`, if any; otherwise let
the rule choose an arm (or, with the chances of `explored`, a public coin), play it for an episode,
release something about it. Episode ell begins at time t_ell = rounds played + 1; N_a is the pull
count of arm a before it. The last episode is cut at the horizon and never released. One noise draw
per (arm, episode) is reused at every later decision until that arm's next release.

`DoublingEpisodes` is Algorithm 1: an arm is played until its pull count doubles, the mean of that
episode alone is released, everything before is forgotten. `CumulativeBatches` adds up instead of
forgetting. A concrete algorithm gives its rule.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from dpaudit.core.algorithm import (
    Accumulate,
    Algorithm,
    Choose,
    Disclosure,
    Keep,
    Play,
    Question,
    Register,
    Release,
    Rows,
    State,
    Step,
    Stop,
    Toss,
)
from dpaudit.core.arithmetic import Arithmetic, exact
from dpaudit.core.noise import Laplace
from dpaudit.core.scores import Rule


class Deciding(NamedTuple):
    """Between episodes: the pull counts."""

    pulls: tuple[int, ...]


class Asking(NamedTuple):
    """The coin has left the decision to the rule."""

    pulls: tuple[int, ...]


class Thinking(NamedTuple):
    """Between the questions of `ask` before an episode: what has been answered so far."""

    pulls: tuple[int, ...]
    answers: tuple[Any, ...]


class Playing(NamedTuple):
    """An arm has been chosen and its episode begins."""

    pulls: tuple[int, ...]
    arm: int


class Releasing(NamedTuple):
    """An episode has ended and its rows are to be released."""

    pulls: tuple[int, ...]
    rows: Rows


@dataclass(frozen=True, kw_only=True)
class Episodes(Algorithm):
    """Choose an arm, play it for an episode, release, repeat."""

    @abstractmethod
    def rule(self, pulls: Any, time: Any, m: Arithmetic) -> Rule:
        """Return the rule at a decision: pull counts as an array over arms, time t_ell.

        `pulls` and `time` are numbers of the arithmetic `m`; wrap every parameter in `m.number`.
        """

    @abstractmethod
    def episode_length(self, pulls: Any) -> Any:
        """Return the rounds of an arm's next episode after `pulls` pulls (the first is 1)."""

    @abstractmethod
    def release(self, rows: Rows) -> Disclosure:
        """Return what is released when an episode of these rows has ended."""

    def registers(self, arm: int, pulls: int) -> tuple[Register, ...]:
        """Return the registers whose sum the rule sees for an arm."""
        return (arm,)

    def ask(self, pulls: tuple[int, ...], answers: tuple[Any, ...]) -> Question | int | None:
        """Return the next question before an episode, after some answers, or the arm to play.

        None leaves it to `due`, `explored` and `rule`, of which it is the general form.
        """
        return None

    def due(self, pulls: tuple[int, ...]) -> int | None:
        """Return the arm that is played without a decision once all were pulled; None for none."""
        return None

    def explored(self, pulls: tuple[int, ...]) -> tuple[Fraction, ...]:
        """Return the chance with which each arm is played whatever the rule says; () for never."""
        return ()

    def start(self) -> State:
        """Return the state before the first pull."""
        return Deciding((0,) * self.arms)

    def step(self, state: State) -> Step:
        """Pull every arm once, then choose, play and release in turn."""
        match state:
            case Releasing(pulls, rows):
                return Step(self.release(rows), lambda _: Deciding(pulls))
            case Playing(pulls, arm):
                rounds = self.episode_length(pulls[arm]) if pulls[arm] else 1
                after = (*pulls[:arm], pulls[arm] + rounds, *pulls[arm + 1 :])
                return Step(Play(arm, rounds), lambda rows: Releasing(after, rows))
            case Deciding(pulls) if 0 in pulls:
                return self.step(Playing(pulls, pulls.index(0)))
            case Deciding(pulls) if (asked := self.ask(pulls, ())) is not None:
                return self._asked(pulls, (), asked)
            case Thinking(pulls, answers):
                return self._asked(pulls, answers, self.ask(pulls, answers))
            case Deciding(pulls) if (due := self.due(pulls)) is not None:
                return self.step(Playing(pulls, due))
            case Deciding(pulls) if chances := self.explored(pulls):
                rule = len(chances)  # the side that leaves it to the rule
                return Step(
                    Toss((*chances, 1 - sum(chances))),
                    lambda side: Asking(pulls) if side == rule else Playing(pulls, side),
                )
            case Deciding(pulls) | Asking(pulls):
                return Step(self.choice(pulls), lambda arm: Playing(pulls, arm))
        raise TypeError(f"not a state of {self.name}: {state!r}")

    def _asked(
        self, pulls: tuple[int, ...], answers: tuple[Any, ...], asked: Question | int | None
    ) -> Step:
        if type(asked) is int:
            return self.step(Playing(pulls, asked))
        if type(asked) not in (Choose, Keep, Toss, Stop):
            raise TypeError(f"ask returned a {type(asked).__name__}, no question and no arm")
        return Step(asked, lambda answer: Thinking(pulls, (*answers, answer)))  # type: ignore[arg-type]

    def choice(self, pulls: tuple[int, ...]) -> Choose:
        """Return the decision between all arms at these pull counts."""
        arms = tuple(range(self.arms))

        def rule(m: Arithmetic) -> Rule:
            return self.rule(m.number(np.array(pulls)), m.number(sum(pulls) + 1), m)

        return Choose(arms, tuple(self.registers(arm, pulls[arm]) for arm in arms), rule)


FRAME = ("start", "step", "choice", "_asked")


def framed(algorithm: Algorithm) -> TypeGuard[Episodes]:
    """Tell whether an algorithm runs in the frame of `Episodes`, unchanged.

    The frame is recognised by the identity of its functions, never by a declaration's own word.
    """
    from dpaudit.core.unchanged import unchanged  # the code check reads this module, not that one

    return isinstance(algorithm, Episodes) and unchanged(algorithm, Episodes, FRAME)


@dataclass(frozen=True, kw_only=True)
class Doubling(Episodes):
    """Episodes in which the pull count doubles; what is released stands for the last one alone.

    The paper's n is N / 2 throughout, so it is 1/2 after the first pull.
    """

    def episode_length(self, pulls: Any) -> Any:
        """Return the pull count: playing that often doubles it."""
        return pulls

    def released_length(self, pulls: int) -> Fraction:
        """Return n, the number of rewards that the last release stands for."""
        return Fraction(pulls, 2)


@dataclass(frozen=True, kw_only=True)
class DoublingEpisodes(Doubling):
    """Algorithm 1: the pull count doubles, the last episode's mean is released, the rest forgotten.

    Laplace noise of scale 1 / (epsilon n) makes it epsilon-DP.
    """

    epsilon: float = 1.0

    def release(self, rows: Rows) -> Release | Accumulate:
        """Return the mean of the episode with Laplace noise of scale 1 / (epsilon n)."""
        scale = 1 / (exact(self.epsilon) * self.released_length(rows.stop))
        return Release(rows.arm, rows, Laplace(scale), divisor=len(rows))


@dataclass(frozen=True, kw_only=True)
class CumulativeBatches(DoublingEpisodes):
    """Doubling batches without forgetting: each adds its noisy sum to the arm's register.

    A reward still enters one fresh noisy batch, so Laplace noise of scale 1 / epsilon per batch sum
    gives epsilon-DP; the register after b batches carries b independent draws.
    """

    def release(self, rows: Rows) -> Release | Accumulate:
        """Return the addition of the batch's sum with Laplace noise of scale 1 / epsilon."""
        return Accumulate(rows.arm, rows, Laplace(1 / exact(self.epsilon)))
