"""How a policy of each style is called, one round at a time, with a reward that is a symbol.

`begin` makes a policy ready, `turn` plays one round: it returns the arm, and the policy has then
taken the reward of the round. `memory` is what the driver keeps between rounds.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpaudit.symbolic.answers import Answer
from dpaudit.symbolic.run import current, named
from dpaudit.symbolic.values import Tracked

Reward = Callable[[int], Any]


def arm_of(value: Any, arms: int) -> int:
    """Return the arm that a policy has chosen; anything else ends in silence."""
    if isinstance(value, Tracked):
        raise current().escape("the arm is a value that depends on rewards or noise")
    try:
        arm = int(value) if isinstance(value, Answer) else operator.index(value)
    except TypeError:
        whole = isinstance(value, float) and value.is_integer()
        if not whole:
            raise current().escape(f"the arm is a {named(type(value))}, no integer") from None
        arm = int(value)
    if not 0 <= arm < arms:
        raise current().escape(f"the arm {arm} is none of 0..{arms - 1}")
    return arm


def actions_of(found: Any, horizon: int, arms: int) -> list[int]:
    """Return the arms that a function of the whole stream has chosen."""
    actions = [arm_of(arm, arms) for arm in found]
    if len(actions) != horizon:
        raise current().escape(f"{len(actions)} actions for a stream of {horizon} rewards")
    return actions


@dataclass(frozen=True)
class Driver:
    """A style: the methods that show it, and how it is played."""

    name: str
    methods: tuple[str, ...]
    begin: Callable[[Any, int], None]
    turn: Callable[[Any, dict[str, Any], int, int, Reward], int]
    """(policy, memory, arms, round, reward) -> arm"""


def _nothing(policy: Any, arms: int) -> None:
    return None


def _river(policy: Any, memory: dict[str, Any], arms: int, time: int, reward: Reward) -> int:
    arm = policy.pull(list(range(arms)))
    chosen = arm_of(arm, arms)
    policy.update(arm, reward(time))
    return chosen


def _mabwiser(policy: Any, memory: dict[str, Any], arms: int, time: int, reward: Reward) -> int:
    if time < arms:
        memory.setdefault("first", []).append(reward(time))
        if time == arms - 1:
            policy.fit(list(range(arms)), memory.pop("first"))
        return time
    arm = policy.predict()
    chosen = arm_of(arm, arms)
    policy.partial_fit([arm], [reward(time)])
    return chosen


def _smpybandits(policy: Any, memory: dict[str, Any], arms: int, time: int, reward: Reward) -> int:
    arm = policy.choice()
    chosen = arm_of(arm, arms)
    policy.getReward(arm, reward(time))
    return chosen


def _plain(policy: Any, memory: dict[str, Any], arms: int, time: int, reward: Reward) -> int:
    arm = policy.select()
    chosen = arm_of(arm, arms)
    policy.update(arm, reward(time))
    return chosen


def _step(policy: Any, memory: dict[str, Any], arms: int, time: int, reward: Reward) -> int:
    last = memory.pop("arm", None)
    arm = policy.step(None if last is None else memory.pop("reward"), last)
    chosen = arm_of(arm, arms)
    memory["arm"], memory["reward"] = arm, reward(time)
    return chosen


STYLES = (
    Driver("river", ("pull", "update"), _nothing, _river),
    Driver("mabwiser", ("fit", "partial_fit", "predict"), _nothing, _mabwiser),
    Driver(
        "SMPyBandits",
        ("startGame", "choice", "getReward"),
        lambda policy, arms: policy.startGame(),
        _smpybandits,
    ),
    Driver("plain", ("select", "update"), _nothing, _plain),
    Driver("step", ("step",), _nothing, _step),
)


def driver_of(policy: Any) -> Driver | None:
    """Return the style of a policy; None for a function of the whole stream, or none at all."""
    for driver in STYLES:
        if all(callable(getattr(policy, method, None)) for method in driver.methods):
            return driver
    return None
