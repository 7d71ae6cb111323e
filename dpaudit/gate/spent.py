"""Fresh runs and what they cost: every run with a new seed may be wrong with a stated error.

A locked seed gives the same answer each time, so it can be wrong only once. A run with a fresh seed
is a new test of every sampled claim: it refutes a true one with probability at most the error of
its sampled checks, added up. The record keeps seed and error of each run; the sum over all of them
bounds the probability that any of them was wrong, and a run that would exceed the total is refused.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import msgspec

from dpaudit.documents import read
from dpaudit.errors import InvalidArgument
from dpaudit.gate.lock import LockedClaim
from dpaudit.output import write_json


class FreshRun(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One fresh run."""

    when: str
    seed: int
    claims: int
    error: str


@dataclass(frozen=True)
class Fresh:
    """The seed of this run, its error, and the sum of all errors recorded so far."""

    seed: int
    error: str
    total: str
    runs: int
    record: str


def begin(path: Path, entries: Sequence[LockedClaim], allowed: float) -> Fresh:
    """Draw a seed and record what this run spends before it begins; raise if it is too much."""
    if not 0 < allowed < 1:
        raise InvalidArgument("error", allowed, "must lie in (0, 1).")
    runs = _read(path)
    errors = [Decimal(f.error) for entry in entries for f in entry.findings if f.error is not None]
    error = sum(errors, Decimal(0))
    total = error + sum((Decimal(run.error) for run in runs), Decimal(0))
    if total > Decimal(repr(allowed)):
        rule = (
            f"is spent: {len(runs)} fresh runs recorded in {path}, this one would make it {total}; "
            "raise --error, or start a new record."
        )
        raise InvalidArgument("error", f"{allowed:g}", rule)
    seed = secrets.randbits(32)
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    write_json([*runs, FreshRun(now, seed, len(errors), str(error))], str(path), mark='"when":')
    return Fresh(seed, str(error), str(total), len(runs) + 1, str(path))


def _read(path: Path) -> list[FreshRun]:
    if not os.path.lexists(path):
        return []
    data = read(path, "spent")
    try:
        runs = msgspec.convert(data, list[FreshRun])
        if not all(0 <= Decimal(run.error) < 1 for run in runs):
            raise ValueError
    except (msgspec.ValidationError, ArithmeticError, ValueError):
        raise InvalidArgument("spent", path, "is not a record of fresh runs.") from None
    return runs
