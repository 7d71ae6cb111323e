"""`dpaudit.noise` and `fractions` as judged code meets them.

`on_grid` of a reward is an integer that this reward alone moves, `laplace` an integer draw that
hides nothing by itself. Sums and multiples of integers are integers (`values.Linear.whole`); where
such a sum of rewards meets one draw of its own, it is published at once, and the code goes on with
a public number. So the draw is moved by whole steps only, which is what an integer law can be moved
by, and no double meets it before it is public. Added after a division, as a double, or to rewards
that are no integers, it hides nothing. `noisy_sum` is such a sum; a `gaussian` draw hides nothing
under pure epsilon.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from types import ModuleType
from typing import Any

from dpaudit import noise
from dpaudit.errors import InvalidArgument
from dpaudit.symbolic.poison import StandIn
from dpaudit.symbolic.run import DrawLaw, current
from dpaudit.symbolic.stand_ins import TypeStandIn
from dpaudit.symbolic.values import Linear, Tracked, published


def noise_module(lent: Callable[[], noise.Bits]) -> ModuleType:
    """Return what `import dpaudit.noise` gives; the bits that are lent are those of a guarded run.

    The functions take what the real ones take, under the same names.
    """

    def noisy_sum(rewards: Any, grid: Any, scale: Any, bits: Any = None) -> Any:
        total = sum([on_grid(reward, grid) for reward in list(rewards)])
        return published(laplace(scale, bits) + total)  # without rewards, too

    def bare(sampler: Callable[..., int], whole: bool) -> Callable[..., Any]:
        def draw(scale: Any, bits: Any = None) -> Any:
            run = current()
            _require_system(bits)
            price = _require(noise.positive, "scale", scale)
            drawn = sampler(scale, lent()) if run.guarded else None
            law = DrawLaw(f"{sampler.__name__} of dpaudit.noise by hand", None, run.place(), False)
            found = Linear(0, {}, {run.draw(replace(law, steps=price), drawn): 1}, drawn)
            found.whole = whole
            return found

        return draw

    def on_grid(reward: Any, grid: Any) -> Any:
        if not isinstance(reward, Tracked):
            return _require(noise.on_grid, reward, grid)
        run = current()
        _require(noise.on_grid, 0.0, grid)
        raw = isinstance(reward, Linear) and len(reward.rows) == 1
        if not raw or reward.draws or reward.publics:
            raise run.escape(
                "dpaudit.noise.on_grid of something else than a reward",
                "give it the reward itself",
            )
        [row] = reward.rows
        step = noise.on_grid(reward.shadow, grid) if run.guarded else None
        found = Linear(0, {run.moved(row, grid, step, (0, grid)): 1}, {}, step)
        found.whole = True
        return found

    laplace = bare(noise.laplace, whole=True)
    module = StandIn("dpaudit.noise")
    vars(module).update(noisy_sum=noisy_sum, on_grid=on_grid)
    vars(module).update(laplace=laplace, gaussian=bare(noise.gaussian, whole=False))
    return module


class Ratio(metaclass=TypeStandIn):
    """`Fraction` of public numbers."""

    real_type = Fraction

    @staticmethod
    def convert(*given: Any, **named: Any) -> Fraction:
        """Return a fraction."""
        if any(isinstance(value, Tracked) for value in (*given, *named.values())):
            raise current().escape("a Fraction of a value that depends on rewards or noise")
        return Fraction(*given, **named)


def fractions_module() -> ModuleType:
    """Return what `import fractions` gives."""
    module = StandIn("fractions")
    vars(module).update(Fraction=Ratio)
    return module


def _require(check: Callable[..., Any], *given: Any) -> Any:
    """Return what a check of dpaudit.noise's returns; what it refuses ends in silence."""
    if any(isinstance(value, Tracked) for value in given):
        raise current().escape("a grid or a scale that depends on rewards or noise")
    try:
        return check(*given)
    except InvalidArgument as error:
        raise current().escape(f"dpaudit.noise with {error}".rstrip(".")) from None


def _require_system(bits: Any) -> None:
    if bits is not None:
        raise current().escape(
            "dpaudit.noise with bits of one's own", "leave them to the operating system"
        )
