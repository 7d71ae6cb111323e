"""A claim, its outcome, and the result (lemma, theorem, table) that it belongs to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dpaudit.claims.boundary import Boundary
from dpaudit.claims.domain import Domain, Expression
from dpaudit.claims.goal import Method
from dpaudit.errors import InvalidArgument

PROVED = "proved"
CERTIFIED = "certified"
RESTRICTED = "restricted"
REFUTED = "refuted"
HELD = "held"
UNRESOLVED = "unresolved"
OUTCOMES = {
    PROVED: "proved by checked symbolic steps",
    CERTIFIED: "certified on its compact domain in ball arithmetic",
    RESTRICTED: "holds only on a subdomain, with a sharp boundary",
    REFUTED: "false, with a confirmed counterexample",
    HELD: "held on every small model tried, which is evidence and not a proof",
    UNRESOLVED: "neither proved nor refuted",
}
RELATIONS = ("<=", "<", "==")


@dataclass(frozen=True)
class Tally:
    """What a model check saw: how many models, and the first that broke the statement."""

    models: int
    counterexample: str = ""


@dataclass(frozen=True)
class Claim:
    """One displayed step: a relation on a domain, or a statement checked on small models.

    `by` names the proof methods. `hints` are points to try first as counterexamples. `expect` is
    the outcome that the file's author has understood; any other outcome is a surprise. A claim
    that is not expected to be true states its `correction` and what `survives`.
    """

    label: str
    place: str
    statement: str
    left: Expression = None
    relation: str = "<="
    right: Expression = None
    domain: Domain = field(default_factory=Domain)
    by: tuple[Method, ...] = ()
    models: Callable[[Any], Tally] | None = None
    boundary: Boundary | None = None
    hints: tuple[Mapping[Expression, Fraction], ...] = ()
    role: str = "step"
    expect: str = PROVED
    correction: str = ""
    survives: str = ""

    def __post_init__(self) -> None:
        if self.relation not in RELATIONS:
            raise InvalidArgument("relation", self.relation, f"must be one of {RELATIONS}.")
        if (self.models is None) == (self.left is None):
            raise InvalidArgument("label", self.label, "needs either two sides or a model check.")
        if self.expect not in OUTCOMES:
            raise InvalidArgument("expect", self.expect, f"must be one of {list(OUTCOMES)}.")
        if self.expect in (REFUTED, RESTRICTED) and not self.correction:
            raise InvalidArgument("label", self.label, "is expected to fail: state a correction.")


@dataclass(frozen=True)
class Outcome:
    """What the checker may say of a claim, and why."""

    kind: str
    how: str
    counterexample: str = ""
    boundary: str = ""


@dataclass(frozen=True)
class Result:
    """One lemma, theorem, table or remark: its claims and what is left of it."""

    name: str
    title: str
    place: str
    claims: tuple[Claim, ...]
    verdict: str
    misprints: tuple[str, ...] = ()
    order: int = 0
    in_paper: bool = True
