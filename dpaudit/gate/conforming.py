"""Conformance of code to a declaration, asked for by a command or locked for the gate.

The code is compared in a process of its own (`dpaudit.symbolic.conform`), for every number of arms.
A locked conformance names both, the sizes and what was compared; the gate compares again and fails
with the first round that differs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from dpaudit.errors import DpauditError, InvalidArgument, require_integer, require_positive
from dpaudit.formats.result import ClaimResult, Problem, ProblemRule
from dpaudit.parsing import assignment
from dpaudit.process import Call, call
from dpaudit.report import runs
from dpaudit.subject.places import place_of
from dpaudit.symbolic.run import CodeLine

BUDGET = 20.0  # seconds for each number of arms
HORIZON = 200
GRACE = 15.0  # seconds beyond, for shrinking and the guard


class Conforming(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A locked conformance: the code, the declaration, the sizes, and what was compared."""

    claim: str
    target: str
    declaration: str
    arms: list[int]
    horizon: int
    epsilon: str
    budget: str
    decisions: int = 0
    sources: dict[str, str] = {}
    given: dict[str, str] = {}
    """Other parameters of the declaration, as they are typed."""


@dataclass(frozen=True)
class Conformity:
    """What came out for one number of arms; `round` is the first that differs."""

    word: str
    arms: int
    what: str
    paths: int = 0
    decisions: int = 0
    round: int | None = None
    path: str = ""
    place: CodeLine | None = None
    sources: dict[str, str] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """0 if it conforms, 1 if it differs, 3 if the two cannot be compared."""
        return {"CONFORMS": 0, "DIFFERS": 1, "SILENT": 3}[self.word]


def asked(
    target: str,
    declaration: str,
    arms: Sequence[int],
    horizon: int,
    epsilon: float,
    budget: float,
    given: Sequence[str] = (),
) -> Conforming:
    """Return a conformance to be compared, once its numbers are possible.

    `given` are other parameters of the declaration, as NAME=VALUE.
    """
    for name, _ in map(assignment, given):
        if name in ("arms", "epsilon", "horizon"):
            raise InvalidArgument("param", name, f"has an option of its own: --{name}.")
    for number in arms:
        require_integer("arms", number, 2)
    require_integer("horizon", horizon, 1)
    require_positive("epsilon", epsilon)
    require_positive("budget", budget)
    shown = ",".join(map(str, arms))
    words = [f"arms={shown}", f"epsilon={epsilon!r}", f"horizon={horizon}", *given]
    claim = f"{target} conforms to {declaration} {' '.join(words)}"
    about = claim, target, declaration, list(arms), horizon, repr(epsilon), repr(budget)
    return Conforming(*about, given=dict(text.split("=", 1) for text in given))


def typed(item: Conforming) -> list[str]:
    """Return the other parameters of its declaration as NAME=VALUE."""
    return [f"{name}={value}" for name, value in item.given.items()]


def compare(item: Conforming, arms: int, root: Path) -> Conformity:
    """Compare for one number of arms, in a process of the code's own."""
    given = {"target": item.target, "declaration": item.declaration, "arms": arms}
    given |= {"epsilon": float(item.epsilon), "horizon": item.horizon, "root": str(root)}
    given |= {"budget": float(item.budget), "other": typed(item)}
    seconds = 2 * float(item.budget) + GRACE
    data = call(Call(item.target, f"{__name__}:inside", given, seconds=seconds))
    return msgspec.convert(data, Conformity, strict=False)


def inside(
    tell: Callable[[str, Any], None],
    target: str,
    declaration: str,
    arms: int,
    epsilon: float,
    horizon: int,
    budget: float,
    root: str,
    other: list[str],
) -> Conformity:
    """Compare in the process of the code."""
    from dpaudit.errors import Unsupported
    from dpaudit.inside import imported_files
    from dpaudit.sources import covering, sources_of
    from dpaudit.subject.naming import subject_of
    from dpaudit.symbolic import subject as symbolic
    from dpaudit.symbolic.conform import conform
    from dpaudit.symbolic.guard import Unreached, side_by_side
    from dpaudit.symbolic.run import Escape
    from dpaudit.target import resolve

    found = subject_of(target, Path(root))  # the errors of a file that is missing or broken
    symbolic.located(found.text)
    place, _, name = declaration.rpartition(":")
    if place.endswith(".py"):
        declaration = f"{os.path.relpath(Path(root) / place)}:{name}"
    try:
        known = resolve(declaration)
    except InvalidArgument as error:
        raise InvalidArgument("DECLARATION", *error.given[1:]) from None
    given = {"arms": arms} | ({"epsilon": epsilon} if "epsilon" in known.accepts else {})
    given |= dict(map(assignment, other))
    algorithm = known.build(horizon, given)
    wanted = symbolic.CodeTarget(found.text, arms, horizon, epsilon)
    try:
        got = conform(algorithm, wanted, budget)
        if got.difference is None:
            side_by_side(wanted, got.reached)
    except (Unsupported, Unreached, Escape) as stop:
        return Conformity("SILENT", arms, str(stop).rstrip("."))
    sources = covering(
        sources_of(found.text, found.source, Path(root)), imported_files(), Path(root)
    )
    here = place_of(found.text, found.source)
    made = Conformity("CONFORMS", arms, "", got.paths, got.decisions, None, "", here, sources.files)
    if (gap := got.difference) is None:
        return made
    path = runs([str(arm) for arm in gap.path])
    return replace(made, word="DIFFERS", what=gap.what, round=gap.round, path=path)


def lines(item: Conforming, got: Conformity) -> list[str]:
    """Return what a person reads of one comparison."""
    words = [f"{got.arms} arms", f"epsilon = {float(item.epsilon):g}"]
    words += [f"{name} = {value}" for name, value in item.given.items()]
    sizes = f"({', '.join(words)})"
    head = f"{got.word:<9} {item.target} and {item.declaration} {sizes}"
    if got.word == "SILENT":
        return [f"{head}: {got.what}."]
    if got.round is None:
        seen = f"  {got.paths:,} paths of {item.horizon:,} rounds, {got.decisions:,} decisions "
        return [head, seen + "compared: plays, rows, divisors, noise, indices, arms"]
    return [head, f"  round {got.round}: {got.what}", f"  on the path {got.path}"]


def locked(item: Conforming, root: Path, heard: Callable[[list[str]], Any]) -> Conforming:
    """Compare for every number of arms and return what to lock; raise unless all conform."""
    decisions, sources = 0, dict[str, str]()
    for arms in item.arms:
        got = compare(item, arms, root)
        heard(lines(item, got))
        if got.exit_code:
            raise NotLocked(item, got)
        decisions += got.decisions
        sources |= got.sources
    return msgspec.structs.replace(item, decisions=decisions, sources=sources)


class NotLocked(DpauditError):
    """A conformance that does not hold, so that nothing is written."""

    def __init__(self, item: Conforming, got: Conformity) -> None:
        where = "" if got.round is None else f" at round {got.round} with {got.arms} arms"
        what = "differs" if got.round is not None else f"cannot be compared ({got.what})"
        super().__init__(f"TARGET={item.target} {what}{where}; nothing is locked.")
        self.exit_code = got.exit_code


def result(item: Conforming, root: Path, lock_place: CodeLine | None) -> ClaimResult:
    """Compare a locked conformance again: what the gate has to say of it."""
    from dpaudit.gate.compare import changed_sources

    start = time.monotonic()
    problems: list[Problem] = []
    notes: list[str] = []
    sources, decisions, word = dict[str, str](), 0, "CONFORMS"
    place, details = lock_place, ""
    for arms in item.arms:
        try:
            got = compare(item, arms, root)
        except DpauditError as error:
            text = f"cannot be compared any more: {error}"
            problems.append(Problem(ProblemRule.VANISHED, text))
            word = "NOT JUDGED"
            break
        place = got.place or place
        decisions += got.decisions
        sources |= got.sources
        if got.word != "CONFORMS":
            where = "" if got.round is None else f"round {got.round} with {arms} arms: "
            problems.append(Problem(ProblemRule.CONFORMS, f"{got.word}: {where}{got.what}."))
            details = f"on the path {got.path}" if got.path else ""
            word = got.word
            break
    else:
        if changed := changed_sources(item.sources, sources):
            message = f"source changed since it was locked: {', '.join(changed)}. Still conforms: "
            message += "accept it with `dpaudit lock --update`."
            problems.append(Problem(ProblemRule.SOURCE, message))
        if decisions < item.decisions:
            notes.append(f"{decisions:,} decisions compared, locked were {item.decisions:,}")
    spent = time.monotonic() - start
    return ClaimResult(
        item.claim,
        item.target,
        None,
        tuple(problems),
        notes=tuple(notes),
        details=details,
        place=place,
        seconds=spent,
        word=word,
    )
