"""Which of the locked claims are meant."""

from __future__ import annotations

from collections.abc import Sequence

from dpaudit.errors import UnknownName
from dpaudit.gate.lock import Entry, Lock


def select(lock: Lock, wanted: Sequence[str]) -> list[Entry]:
    """Return the claims of these names or targets, all if there are none; unknown names raise."""
    if not wanted:
        return list(lock.claims)
    known = {name for entry in lock.claims for name in (entry.claim, entry.target)}
    for name in wanted:
        if name not in known:
            raise UnknownName("locked claim", name, known or ["(none)"])
    return [entry for entry in lock.claims if {entry.claim, entry.target} & set(wanted)]
