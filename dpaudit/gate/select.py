"""Which of the locked claims are meant."""

from __future__ import annotations

from collections.abc import Sequence

from dpaudit.errors import UnknownName
from dpaudit.gate.conforming import Conforming
from dpaudit.gate.lock import Lock, LockedClaim


def select(lock: Lock, wanted: Sequence[str]) -> list[LockedClaim | Conforming]:
    """Return the claims of these names or targets, all if there are none; unknown names raise."""
    everything = lock.everything
    if not wanted:
        return everything
    known = {name for entry in everything for name in (entry.claim, entry.target)}
    for name in wanted:
        if name not in known:
            raise UnknownName("locked claim", name, known or ["(none)"])
    return [entry for entry in everything if {entry.claim, entry.target} & set(wanted)]
