"""Foreign bandit interfaces, each driven step by step on a reward stream.

| style       | methods                                     | who                            |
|-------------|---------------------------------------------|--------------------------------|
| river       | `pull(arm_ids)`, `update(arm, reward)`      | river.bandit                   |
| mabwiser    | `fit`, `partial_fit`, `predict`             | mabwiser.mab.MAB               |
| SMPyBandits | `startGame`, `choice`, `getReward`          | SMPyBandits.Policies           |
| plain       | `select()`, `update(arm, reward)`           | a class of one's own           |
| step        | `step(reward, arm) -> arm`                  | the last reward, the last arm  |
| function    | `policy(stream, rng) -> actions`            | a whole run at once            |

Arms are numbered from 0. mabwiser cannot choose before it has been fitted, so its first K steps
pull every arm once. `step` is first called with two None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.sample.guard import PolicyError

Choice = Iterator[Any]


def _river(policy: Any, rewards: list[Any], arms: int) -> Choice:
    labels = list(range(arms))
    for reward in rewards:
        arm = policy.pull(labels)
        yield arm
        policy.update(arm, reward)


def _mabwiser(policy: Any, rewards: list[Any], arms: int) -> Choice:
    first = min(arms, len(rewards))
    yield from range(first)
    policy.fit(list(range(first)), rewards[:first])
    for reward in rewards[first:]:
        arm = policy.predict()
        yield arm
        policy.partial_fit([arm], [reward])


def _smpybandits(policy: Any, rewards: list[Any], arms: int) -> Choice:
    policy.startGame()
    for reward in rewards:
        arm = policy.choice()
        yield arm
        policy.getReward(arm, reward)


def _plain(policy: Any, rewards: list[Any], arms: int) -> Choice:
    for reward in rewards:
        arm = policy.select()
        yield arm
        policy.update(arm, reward)


def _step(policy: Any, rewards: list[Any], arms: int) -> Choice:
    last, arm = None, None
    for reward in rewards:
        arm = policy.step(last, arm)
        yield arm
        last = reward


STYLES: tuple[tuple[tuple[str, ...], Callable[[Any, list[Any], int], Choice]], ...] = (
    (("pull", "update"), _river),
    (("fit", "partial_fit", "predict"), _mabwiser),
    (("startGame", "choice", "getReward"), _smpybandits),
    (("select", "update"), _plain),
    (("step",), _step),
)


def drive(
    policy: Any,
    rewards: NDArray[Any],
    arms: int,
    rng: np.random.Generator,
    name: str,
) -> NDArray[np.int64]:
    """Run a policy of any known style on a stream and return its actions, checked."""
    for methods, driver in STYLES:
        # the first one by itself: it is most often missing, and every run is asked
        if callable(getattr(policy, methods[0], None)) and all(
            callable(getattr(policy, method, None)) for method in methods
        ):
            choices = driver(policy, rewards.tolist(), arms)  # plain floats
            actions = [_arm(arm, arms, step, name) for step, arm in enumerate(choices)]
            return np.array(actions, dtype=np.int64)
    if callable(policy):
        return _whole(policy(rewards, rng), len(rewards), arms, name)
    styles = ", ".join("/".join(methods) for methods, _ in STYLES)
    raise PolicyError(
        f"{name} built an object of type {type(policy).__name__}, which is no policy. "
        f"It needs {styles}, or to be a function (stream, rng) -> actions."
    )


def _arm(arm: Any, arms: int, step: int, name: str) -> int:
    try:
        whole = int(arm)
    except (TypeError, ValueError):
        raise PolicyError(
            f"{name} played arm={arm!r} in round {step + 1:,}; it is no integer."
        ) from None
    if whole != arm or not 0 <= whole < arms:
        raise PolicyError(
            f"{name} played arm={arm!r} in round {step + 1:,}; arms are 0..{arms - 1}."
        )
    return whole


def _whole(actions: Any, horizon: int, arms: int, name: str) -> NDArray[np.int64]:
    try:
        row = np.asarray(actions)
    except (TypeError, ValueError):
        row = np.array(None)
    if row.ndim != 1 or row.dtype.kind not in "iuf":
        raise PolicyError(f"{name} must return a row of arms, not {type(actions).__name__}.")
    if len(row) != horizon:
        raise PolicyError(
            f"{name} returned {len(row):,} actions; the stream has {horizon:,} rewards."
        )
    if row.dtype.kind != "f" and row.min() >= 0 and row.max() < arms:
        return row.astype(np.int64)
    wrong = np.flatnonzero((row < 0) | (row >= arms) | (row != np.floor(row)))
    if len(wrong):
        step = int(wrong[0])
        raise PolicyError(
            f"{name} played arm={row[step]} in round {step + 1:,}; arms are 0..{arms - 1}."
        )
    return row.astype(np.int64)
