"""The ledger: every claim of every file in `proofs/`, with its outcome.

The files are found beside the package in a checkout and inside the package in an installed wheel.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from dpaudit.claims.check import check
from dpaudit.claims.claim import OUTCOMES, Claim, ClaimOutcome, Result
from dpaudit.claims.theorem import Standing, Theorem, leaves_of, standing
from dpaudit.errors import DpauditError, InvalidArgument, UnknownName

_PACKAGE = "dpaudit_proofs"


def proofs_directory() -> Path:
    """Return the directory of the proof files, in an installed package or in a checkout."""
    package = Path(__file__).resolve().parent.parent
    for candidate in (package / "proofs", package.parent / "proofs"):
        if any(candidate.glob("*.py")):
            return candidate
    raise DpauditError(f"proofs={package / 'proofs'} does not exist; reinstall dpaudit.")


def load_results() -> dict[str, Result]:
    """Return every result by name, in the order of the paper.

    The files are the modules of one package; those whose name begins with _ serve the others.
    """
    results: dict[str, Result] = {}
    labels: set[str] = set()
    directory = proofs_directory()
    if _PACKAGE not in sys.modules:
        package = ModuleType(_PACKAGE)
        package.__path__ = [str(directory)]
        sys.modules[_PACKAGE] = package
    for path in sorted(directory.glob("*.py")):
        if path.stem.startswith("_"):
            continue
        result: Result = import_module(f"{_PACKAGE}.{path.stem}").RESULT
        results[result.name] = result
        for claim in result.claims:
            if claim.label in labels:
                raise InvalidArgument("label", claim.label, f"appears twice, again in {path.name}.")
            labels.add(claim.label)
    return dict(sorted(results.items(), key=lambda item: item[1].order))


@dataclass(frozen=True)
class Entry:
    """One line of the ledger."""

    result: Result
    claim: Claim
    outcome: ClaimOutcome
    seconds: float

    @property
    def expected(self) -> bool:
        """True when the outcome is the one that the proof file states."""
        return self.outcome.kind == self.claim.expect

    def record(self) -> dict[str, Any]:
        """Return the line as plain data; it holds no timing, so that reruns give the same bytes."""
        return {
            "result": self.result.name,
            "step": self.claim.label,
            "role": self.claim.role,
            "place": self.claim.place,
            "statement": self.claim.statement,
            "domain": domain_of(self.claim),
            "outcome": self.outcome.kind,
            "expected": self.claim.expect,
            "how": self.outcome.how,
            "counterexample": self.outcome.counterexample,
            "boundary": self.outcome.boundary,
            "correction": self.claim.correction,
            "survives": self.claim.survives,
        }


@dataclass(frozen=True)
class JudgedTheorem:
    """A theorem and what it is worth."""

    theorem: Theorem
    standing: Standing

    @property
    def expected(self) -> bool:
        """True when the standing is the one that the proof file states."""
        return self.standing.kind == self.theorem.expect

    def record(self) -> dict[str, Any]:
        """Return the theorem as plain data."""
        one = self.theorem
        return {
            "theorem": one.name,
            "form": one.form,
            "place": one.place,
            "statement": one.statement,
            "rules": list(one.rules),
            "uses": [*one.uses, *one.refuted_by, *one.broken_by],
            "coq": one.coq,
            "standing": self.standing.kind,
            "expected": one.expect,
            "because": list(self.standing.leaves),
        }


def domain_of(claim: Claim) -> str:
    """Return the domain of a claim in words."""
    if claim.granted:
        return "granted"
    return "small models" if claim.models is not None else claim.domain.describe()


def whole(entries: Sequence[Entry]) -> list[Result]:
    """Return the results with a verdict of which every step is among these entries."""
    steps = Counter(entry.result.name for entry in entries)
    found = {entry.result.name: entry.result for entry in entries if entry.result.verdict}
    return [
        it
        for it in load_results().values()
        if it.name in found and steps[it.name] == len(it.claims)
    ]


def select(results: dict[str, Result], only: Sequence[str]) -> list[Result]:
    """Return the named results, or all of them; a theorem stands for the result that states it.

    Of a result that only steps were named of, these steps. Unknown names raise with a suggestion.
    """
    homes = _homes(results)
    steps = {claim.label for result in results.values() for claim in result.claims}
    wanted = {homes.get(name, name) for name in only}
    for name in sorted(wanted - results.keys() - steps):
        raise UnknownName("result, theorem or step", name, {*results, *homes})
    chosen = []
    for name, result in results.items():
        named = tuple(claim for claim in result.claims if claim.label in wanted)
        if not only or name in wanted:
            chosen.append(result)
        elif named:
            chosen.append(replace(result, claims=named))
    return chosen


def _homes(results: dict[str, Result]) -> dict[str, str]:
    """Return the result that states each theorem, by the theorem's name and by its label."""
    return {
        word: name
        for name, result in results.items()
        for it in result.theorems
        for word in (it.name, it.label)
    }


def find_claim(results: dict[str, Result], label: str) -> tuple[Result, Claim]:
    """Return the claim with this label; an unknown one raises with a suggestion."""
    if label in _homes(results):
        rule = f"is a theorem, not a step: `--only '{label}'` shows it and its steps."
        raise InvalidArgument("counterexample", label, rule)
    for result in results.values():
        for claim in result.claims:
            if claim.label == label:
                return result, claim
    known = [claim.label for result in results.values() for claim in result.claims]
    raise UnknownName("step", label, known)


def run(
    results: Sequence[Result], advance: Callable[[Claim], None] = lambda claim: None
) -> Iterator[Entry]:
    """Check every claim in order and yield its line."""
    for result in results:
        for claim in result.claims:
            advance(claim)
            start = time.perf_counter()
            outcome = check(claim)
            yield Entry(result, claim, outcome, time.perf_counter() - start)


def theorems(results: dict[str, Result]) -> dict[str, Theorem]:
    """Return every theorem by label; two of one label, or one that rests on itself, raise."""
    known: dict[str, Theorem] = {}
    for result in results.values():
        for theorem in result.theorems:
            if theorem.label in known:
                raise InvalidArgument("theorem", theorem.label, "appears twice; rename one.")
            known[theorem.label] = theorem
    return known


def stated(results: dict[str, Result], chosen: Sequence[Result]) -> list[Theorem]:
    """Return the theorems of those chosen results of which every step was chosen."""
    return [it for one in chosen if one is results[one.name] for it in one.theorems]


def below(results: dict[str, Result], chosen: Sequence[Result]) -> list[Result]:
    """Return what the theorems of the chosen results rest on beside the chosen steps."""
    known = theorems(results)
    need = {leaf for one in stated(results, chosen) for leaf in leaves_of(one, known)}
    need -= {claim.label for one in chosen for claim in one.claims}
    parts = [
        replace(one, claims=tuple(claim for claim in one.claims if claim.label in need))
        for one in results.values()
    ]
    return [one for one in parts if one.claims]


def standings(
    results: dict[str, Result], entries: Sequence[Entry], judged: Sequence[Theorem] | None = None
) -> list[JudgedTheorem]:
    """Judge these theorems, or every one, by the outcomes of the claims below them."""
    known = theorems(results)
    outcomes = {entry.claim.label: entry.outcome.kind for entry in entries}
    judged = list(known.values()) if judged is None else judged
    return [JudgedTheorem(one, standing(one, known, outcomes)) for one in judged]


def counts(entries: Sequence[Entry]) -> dict[str, int]:
    """Return how many claims ended in each outcome."""
    seen = Counter(entry.outcome.kind for entry in entries)
    return {kind: seen.get(kind, 0) for kind in OUTCOMES}
