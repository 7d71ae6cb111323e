"""What a proof method receives and returns: `gap >= 0` (or `> 0`) on a domain."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from dpaudit.claims.domain import Domain, Expression


@dataclass(frozen=True)
class Goal:
    """Show that `gap` is non-negative (positive when `strict`) everywhere on `domain`."""

    gap: Expression
    domain: Domain
    strict: bool = False

    def on(self, domain: Domain) -> Goal:
        """The same goal on another domain."""
        return replace(self, domain=domain)


@dataclass(frozen=True)
class Proof:
    """A finished argument. `certified` means that ball arithmetic over a grid was needed."""

    how: str
    certified: bool = False


class Method(Protocol):
    """A named, machine-checked way to reach a goal; None when it does not apply."""

    def prove(self, goal: Goal) -> Proof | None:
        """Return a proof of the goal, or None."""
        ...
