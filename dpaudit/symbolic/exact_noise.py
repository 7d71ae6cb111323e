"""`dpaudit.noise` and `fractions` as judged code meets them.

`noisy_sum` is one release: each reward becomes an integer of 0..grid that this reward alone moves,
their sum and one integer draw are published at once, and the code goes on with a public number. So
the draw is moved by whole steps only, which is what an integer law can be moved by, and no double
meets it before it is public. A bare `laplace` or `gaussian` draw hides nothing here: added by hand
it may be added after a division, or as a double.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from types import ModuleType
from typing import Any

from dpaudit import noise
from dpaudit.errors import InvalidArgument
from dpaudit.symbolic.poison import StandIn
from dpaudit.symbolic.run import Law, current
from dpaudit.symbolic.stand_ins import Kind
from dpaudit.symbolic.values import Linear, Tracked, shadow, unknown

LATTICE = "lattice"


def noise_module(lent: Callable[[], noise.Bits]) -> ModuleType:
    """Return what `import dpaudit.noise` gives; the bits that are lent are those of a guarded run.

    The functions take what the real ones take, under the same names.
    """

    def noisy_sum(rewards: Any, grid: Any, scale: Any, bits: Any = None) -> Any:
        run = current()
        _require_system(bits)
        _require(noise.on_grid, 0.0, grid)
        price = _require(noise.positive, "scale", scale)
        values = list(rewards)
        rows: dict[int, Any] = {}
        for value in values:
            if not isinstance(value, Tracked):
                continue
            raw = isinstance(value, Linear) and len(value.rows) == 1
            if not raw or value.draws or value.publics:
                raise run.escape(
                    "dpaudit.noise.noisy_sum of something else than rewards",
                    "give it the rewards themselves",
                )
            [row] = value.rows
            rows[run.moved(row, grid, _on_grid(value, grid), (0, grid))] = 1
        drawn = total = None
        if run.guarded:
            drawn = noise.laplace(scale, lent())
            total = drawn + sum(noise.on_grid(shadow(value), grid) for value in values)
        name = run.draw(Law(LATTICE, price, run.place(), continuous=False), drawn)
        run.depend([(rows, {name: 1})])
        return unknown(total)

    def bare(kind: str, sampler: Callable[..., int]) -> Callable[..., Any]:
        def draw(scale: Any, bits: Any = None) -> Any:
            run = current()
            _require_system(bits)
            _require(noise.positive, "scale", scale)
            drawn = sampler(scale, lent()) if run.guarded else None
            law = Law(f"{kind} of dpaudit.noise by hand", None, run.place(), continuous=False)
            return Linear(0, {}, {run.draw(law, drawn): 1}, drawn)

        return draw

    def on_grid(reward: Any, grid: Any) -> Any:
        if isinstance(reward, Tracked):
            raise current().escape("dpaudit.noise.on_grid of a reward", "use noisy_sum")
        return noise.on_grid(reward, grid)

    module = StandIn("dpaudit.noise")
    vars(module).update(noisy_sum=noisy_sum, on_grid=on_grid)
    vars(module).update(laplace=bare("laplace", noise.laplace))
    vars(module).update(gaussian=bare("gaussian", noise.gaussian))
    return module


class Ratio(metaclass=Kind):
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


def _on_grid(value: Any, grid: int) -> int | None:
    return noise.on_grid(value.shadow, grid) if current().guarded else None


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
