"""`dpaudit.lock`: the claims a project agreed on, what was found, and in which source.

Sorted JSON, one claim after the other. Every bound is a string that reads back as the same number.
A digest over everything else tells an edited file from a written one; it guards against accidents,
not against malice: whoever can change the lock can also run `lock`. The history keeps the written
reason for every change that weakened a claim or what its evidence rests on.
"""

from __future__ import annotations

import hashlib
import math
import os
from pathlib import Path
from typing import Any

import msgspec

from dpaudit import documents
from dpaudit.core.notions import read_notion, read_stated
from dpaudit.documents import SCHEMAS
from dpaudit.errors import DpauditError, InvalidArgument, require_positive
from dpaudit.gate.conforming import Conforming, asked, typed
from dpaudit.judging import Report
from dpaudit.options import Options
from dpaudit.output import write_text
from dpaudit.sources import Sources, versions
from dpaudit.verdict import Status


class LockError(DpauditError):
    """A lock that cannot be believed."""

    exit_code = 4

    def __init__(self, path: Path, rule: str) -> None:
        super().__init__(f"lock={path} {rule}")


class LockedFinding(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one check found."""

    check: str
    status: Status
    horizon: int
    lower: str
    upper: str
    certified: bool
    error: str | None


class Sizes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a claim, as plain data."""

    epsilon: str | None
    given: dict[str, int | str]
    horizon: int
    exact_horizon: int | None
    methods: list[str]
    seed: int
    budget: str
    runs: int | None
    stated: dict[str, str] | None = None
    """Where the claim is not pure epsilon for one reward: what was said of it."""


class LockedClaim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One locked claim."""

    claim: str
    target: str
    epsilon: str
    """Infinite where `notion` is claimed."""
    anytime: bool
    verdict: Status
    covered: int
    lower: str
    upper: str
    options: Sizes
    parameters: dict[str, str]
    findings: list[LockedFinding]
    sources: dict[str, str]
    packages: dict[str, str]
    versions: dict[str, str]
    notion: dict[str, str] | None = None
    """Another notion than pure epsilon for one reward; lower and upper are of its number."""


class Reason(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why a claim was allowed to become weaker."""

    claim: str
    change: str
    reason: str


class Lock(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a lock file."""

    claims: list[LockedClaim] = []
    history: list[Reason] = []
    conforming: list[Conforming] = []

    @property
    def everything(self) -> list[LockedClaim | Conforming]:
        """All that is locked, each under the name of its claim."""
        return [*self.claims, *self.conforming]

    def entry(self, claim: str) -> LockedClaim | None:
        """Return the entry of a claim, if it is locked."""
        return next((entry for entry in self.claims if entry.claim == claim), None)


def entry_of(
    claim: str, target: str, options: Options, report: Report, sources: Sources
) -> LockedClaim:
    """Return the entry that locks a report."""
    findings = [
        LockedFinding(
            it.check,
            it.status,
            it.horizon,
            repr(it.bracket.lower if it.bracket else it.epsilon_lower),
            repr(it.bracket.upper if it.bracket else it.epsilon_upper),
            it.certified,
            None if it.error is None else repr(it.error),
        )
        for it in report.findings
    ]
    inside, notion = report.bracket, report.claim.notion
    return LockedClaim(
        claim=claim,
        target=target,
        epsilon=repr(report.claim.epsilon),
        anytime=report.claim.anytime,
        verdict=report.verdict,
        covered=report.covered,
        lower=repr(inside.lower),
        upper=repr(inside.upper),
        options=sizes_of(options),
        parameters={name: repr(value) for name, value in report.claim.parameters.items()},
        findings=findings,
        sources=sources.files,
        packages=sources.packages,
        versions=versions(),
        notion=None if notion is None else notion.texts,
    )


def sizes_of(options: Options) -> Sizes:
    """Return options as plain data: what may be no integer is written out."""
    texts = {
        "epsilon": None if options.epsilon is None else repr(options.epsilon),
        "given": {k: v if isinstance(v, int) else repr(v) for k, v in options.given.items()},
        "methods": list(options.methods),
        "budget": repr(options.spend()),
        "stated": None if options.stated is None else options.stated.texts,
    }
    return msgspec.convert(vars(options) | texts, Sizes)


def options_of(entry: LockedClaim) -> Options:
    """Return the options that an entry was locked with."""
    sizes = entry.options
    numbers = {
        "epsilon": None if sizes.epsilon is None else float(sizes.epsilon),
        "given": {k: v if isinstance(v, int) else float(v) for k, v in sizes.given.items()},
        "methods": tuple(sizes.methods),
        "budget": float(sizes.budget),
        "stated": None if sizes.stated is None else read_stated(sizes.stated),
    }
    return Options(**msgspec.structs.asdict(sizes) | numbers)


def encode(lock: Lock) -> str:
    """Return the text of a lock file."""
    ordered = Lock(
        sorted(lock.claims, key=lambda entry: entry.claim),
        lock.history,
        sorted(lock.conforming, key=lambda item: item.claim),
    )
    body = msgspec.to_builtins(ordered) | {"dpaudit": "lock", "schema": SCHEMAS["lock"]}
    whole = body | {"digest": _digest(body)}
    text = msgspec.json.format(msgspec.json.encode(whole, order="sorted"), indent=2)
    return text.decode() + "\n"


def write(path: Path, lock: Lock) -> None:
    """Write a lock file, whole or not at all."""
    write_text(path, encode(lock), '"claims":')


def _digest(body: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(body, order="sorted")).hexdigest()


def read(path: Path) -> Lock:
    """Return the lock in a file; raise one line that says what is wrong and what to do."""
    data, edited = read_edited(path)
    if edited:
        rule = "was edited by hand (or merged); run `dpaudit lock --update --reason TEXT`."
        raise LockError(path, rule)
    return data


def read_edited(path: Path) -> tuple[Lock, bool]:
    """Return the lock in a file and whether it was edited since it was written."""
    if not os.path.lexists(path):
        rule = "does not exist; write it with `dpaudit lock TARGET...`."
        raise InvalidArgument("lock", path, rule)
    try:
        data = documents.read(path, "lock")
    except documents.Damaged as error:
        rule = f"{error.given[2].rstrip('.')}; restore it from version control."
        raise LockError(path, rule) from None
    stated = data.pop("digest", None) if isinstance(data, dict) else None
    edited = stated != _digest(data)
    try:  # the third schema also locks conformances, the fourth other notions: nothing to convert
        fields = documents.versioned(data, "lock", migrations={1: _second, 2: dict, 3: dict})
    except ValueError as error:
        raise LockError(path, str(error)) from None
    try:
        lock = msgspec.convert(fields, Lock)
        for entry in lock.claims:
            _require_numbers(entry)
        for item in lock.conforming:
            _require_sizes(item)
    except (msgspec.ValidationError, ValueError, OverflowError, DpauditError) as error:
        said = "was edited by hand and" if edited else "is damaged:"
        rule = f"{said} cannot be read ({error}); restore it from version control."
        raise LockError(path, rule) from None
    return lock, edited


def _second(fields: dict[str, Any]) -> dict[str, Any]:
    """Take the first schema to the second, with the rounds covered and versions of packages."""
    try:
        claims = [
            claim | {"packages": {}, "covered": max(map(_reach, claim["findings"]), default=0)}
            for claim in fields["claims"]
        ]
    except (KeyError, TypeError):
        return fields  # damaged; the reader says where
    return fields | {"claims": claims}


def _reach(found: dict[str, Any]) -> int:
    concluded = found["status"] in (Status.PROVED, Status.HOLDS)
    return int(found["horizon"]) if concluded else 0


def _require_numbers(entry: LockedClaim) -> None:
    """Raise ValueError unless every string that should be a number is one."""
    errors = [found.error for found in entry.findings if found.error is not None]
    for text in (entry.epsilon, entry.lower, entry.upper, *errors):
        if math.isnan(float(text)):
            raise ValueError("a bound is nan")
    if entry.notion is None:
        require_positive("epsilon", float(entry.epsilon))
    else:
        read_notion(entry.notion)
    options_of(entry)


def _require_sizes(item: Conforming) -> None:
    numbers = float(item.epsilon), float(item.budget)
    asked(item.target, item.declaration, item.arms, item.horizon, *numbers, typed(item))
