"""Variants in the frame of `Episodes`, with rules written as carelessly as people write them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from declarations import noise_of

from dpaudit.core.algorithm import Accumulate, Release, Rows, State
from dpaudit.core.arithmetic import Arithmetic
from dpaudit.core.episodes import Deciding, Episodes, Playing
from dpaudit.core.scores import Affine, Imed, KLBound, Rule


@dataclass(frozen=True, kw_only=True)
class Framed(Episodes):
    """Episodes by data: lengths, what is released, which registers show, how the rule is written.

    `lengths` is "doubling" or a tuple that repeats; `window` as in a script; `shows` is "own",
    "crossed" (the register of the next arm) or "both" (the sum of two registers); `begins` is the
    arm pulled first. `style` names a way of writing a rule.
    """

    style: str
    lengths: Any = "doubling"
    noise: tuple[Any, ...] = ("Laplace", 1)
    divisor: int | Fraction | str = "length"
    window: str = "episode"
    adds: bool = False
    shows: str = "own"
    begins: int = 0
    explores: tuple[Fraction, ...] = ()
    epsilon: float = 1.0

    def start(self) -> State:
        """Return the state before the first pull."""
        nothing = (0,) * self.arms
        return Playing(nothing, self.begins) if self.begins else Deciding(nothing)

    def explored(self, pulls: tuple[int, ...]) -> tuple[Fraction, ...]:
        """Return the coin's chances for the first arms."""
        return self.explores

    def episode_length(self, pulls: Any) -> Any:
        """Return the rounds of an arm's next episode."""
        return pulls if self.lengths == "doubling" else self.lengths[pulls % len(self.lengths)]

    def registers(self, arm: int, pulls: int) -> tuple[Any, ...]:
        """Return the registers that an arm shows."""
        shift = 1 if self.shows == "crossed" else 0
        name = (arm + shift) % self.arms
        return (name, (name + 1) % self.arms) if self.shows == "both" else (name,)

    def release(self, rows: Rows) -> Release | Accumulate:
        """Return what is released after an episode."""
        shown = Rows(rows.arm, 0, rows.stop) if self.window == "all" else rows
        over = len(shown) if self.divisor == "length" else self.divisor
        kind = Accumulate if self.adds else Release
        return kind(rows.arm, shown, noise_of(self.noise), over)  # type: ignore[arg-type]

    def rule(self, pulls: Any, time: Any, m: Arithmetic) -> Rule:
        """Return the rule in some style."""
        return STYLES[self.style](pulls, time, m)


def _late(pulls: Any, time: Any, m: Arithmetic) -> Rule:
    if time > 3:
        return Affine(m.number(1) / pulls)
    return Affine(0 * pulls)


STYLES: dict[str, Any] = {
    "plain": lambda pulls, time, m: Affine(m.sqrt(m.log(time) / pulls)),
    "constant": lambda pulls, time, m: Affine(m.number(0)),
    "python sum": lambda pulls, time, m: Affine(m.sqrt(m.log(sum(pulls) + 1) / pulls)),
    "array sum": lambda pulls, time, m: Affine(m.log(1 + pulls.sum()) / pulls),
    "numpy sum": lambda pulls, time, m: Affine(m.log(1 + np.sum(pulls)) / pulls),
    "first arm": lambda pulls, time, m: Affine(pulls / pulls[0]),
    "last arm": lambda pulls, time, m: Affine(m.number(1) / pulls[-1] + 0 * pulls),
    "length": lambda pulls, time, m: Affine(m.number(1) / len(pulls) * pulls),
    "shape": lambda pulls, time, m: Affine(m.number(1) / pulls.shape[0] * pulls),
    "largest": lambda pulls, time, m: Affine(max(pulls) / pulls),
    "loop": lambda pulls, time, m: Affine(np.array([m.number(1) / n for n in pulls])),
    "late": _late,
    "reshaped": lambda pulls, time, m: Affine((pulls[::-1] / pulls) * m.number(1)),
    "kl": lambda pulls, time, m: KLBound(m.log(time) / pulls, m.number(0)),
    "kl careless": lambda pulls, time, m: KLBound(m.log(sum(pulls)) / pulls, 0 * pulls),
    "kl default": lambda pulls, time, m: KLBound(m.log(time) / pulls),
    "imed": lambda pulls, time, m: Imed(pulls, m.number(0)),
    "imed careless": lambda pulls, time, m: Imed(pulls + sum(pulls)),
}
