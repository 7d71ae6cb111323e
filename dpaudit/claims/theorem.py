"""A theorem is a claim with premises: the steps it uses, and the rule that composes them.

The ledger is a graph. Its leaves are claims, which a machine checks or which are granted from the
literature; a theorem is as good as the worst leaf below it. Where the composition is itself an
inequality, it is a claim too (`...assembly`: the premises are its hypotheses), so a machine checks
it; the other rules are named from the list below and argued in the heading of the theorem's file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dpaudit.claims.claim import (
    ENUMERATED,
    GRANTED,
    PROVED,
    REFUTED,
    RESTRICTED,
    SAMPLED,
    UNRESOLVED,
)
from dpaudit.errors import InvalidArgument, UnknownName

PRINTED, REPAIRED, OWN = FORMS = "as printed", "as repaired", "not in the paper"
FALSE, OPEN = "false", "open"
STANDINGS = {
    PROVED: "every step below it is proved, certified or an identity; rules compose them, as named",
    GRANTED: "as proved, but for theorems of the literature, which are named and not checked here",
    ENUMERATED: "rests on a step that holds in a finite family only",
    SAMPLED: "rests on a step that was only sampled",
    FALSE: "contradicted by a step that is refuted",
    OPEN: "neither: a step of the printed proof is false, and no proof of the whole is known here",
}
RULES = {
    "chain": "inequalities in a row, or a non-negative combination of them",
    "sum": "an inequality for each term, summed (over rounds, arms, outcomes or inputs)",
    "expectation": "an inequality at every point, averaged",
    "union bound": "the probability of a union is at most the sum",
    "Markov": "E X >= c P(X >= c)",
    "integral": "a primitive between its ends",
    "induction": "one input or round at a time",
    "cases": "the domain is the union of the premises' domains",
    "limit": "an explicit threshold for every tolerance, or a limit along a subsequence",
    "special case": "another theorem with some of its parameters fixed",
    "book": "taken from the literature",
}
_ORDER = (UNRESOLVED, REFUTED, RESTRICTED, SAMPLED, ENUMERATED, GRANTED)


@dataclass(frozen=True)
class Theorem:
    """A numbered statement of the paper, as printed or as repaired, or one that it lacks.

    `uses` names claims and theorems. `refuted_by` names the claims that contradict the statement;
    `broken_by` those that break its printed proof when no other is known. `coq` says where, and
    for which case, Coq has accepted the whole statement, composition and all.
    """

    name: str
    form: str
    place: str
    statement: str
    rules: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    refuted_by: tuple[str, ...] = ()
    broken_by: tuple[str, ...] = ()
    coq: str = ""
    expect: str = PROVED

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise InvalidArgument("form", self.form, f"must be one of {FORMS}.")
        if self.expect not in STANDINGS:
            raise InvalidArgument("expect", self.expect, f"must be one of {list(STANDINGS)}.")
        for rule in self.rules:
            if rule not in RULES:
                raise UnknownName("rule", rule, RULES)
        if sum(map(bool, (self.uses, self.refuted_by, self.broken_by))) != 1:
            rule = "needs premises, or what refutes it, or what breaks its proof."
            raise InvalidArgument("theorem", self.label, rule)

    @property
    def label(self) -> str:
        """The name by which another theorem uses this one."""
        return self.name if self.form == OWN else f"{self.name} {self.form}"


@dataclass(frozen=True)
class Standing:
    """What a theorem is worth, and the leaves that make it no better."""

    kind: str
    leaves: tuple[str, ...] = ()


def leaves_of(theorem: Theorem, theorems: Mapping[str, Theorem]) -> tuple[str, ...]:
    """Return every claim below a theorem; a circle of theorems is refused."""
    found: dict[str, None] = {}

    def walk(one: Theorem, path: tuple[str, ...]) -> None:
        if one.label in path:
            raise InvalidArgument("theorem", one.label, f"rests on itself through {path}.")
        for label in (*one.uses, *one.refuted_by, *one.broken_by):
            if label in theorems:
                walk(theorems[label], (*path, one.label))
            else:
                found[label] = None

    walk(theorem, ())
    return tuple(found)


def standing(
    theorem: Theorem, theorems: Mapping[str, Theorem], outcomes: Mapping[str, str]
) -> Standing:
    """Return the standing that the outcomes of the claims below justify."""
    leaves = leaves_of(theorem, theorems)
    for label in leaves:
        if label not in outcomes:
            raise UnknownName("premise", label, outcomes)
    bad = (REFUTED, RESTRICTED)
    if theorem.refuted_by or theorem.broken_by:
        false = all(outcomes[label] in bad for label in leaves)
        return Standing(FALSE if theorem.refuted_by and false else OPEN, leaves)
    for kind in _ORDER:
        worst = tuple(label for label in leaves if outcomes[label] == kind)
        if worst:
            return Standing(OPEN if kind in (*bad, UNRESOLVED) else kind, worst)
    return Standing(PROVED)
