"""A claim, its outcome, and the result (lemma, theorem, table) that it belongs to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpaudit.claims.boundary import Boundary
from dpaudit.claims.domain import Domain, Expression
from dpaudit.claims.goal import Method
from dpaudit.errors import InvalidArgument

if TYPE_CHECKING:
    from dpaudit.claims.theorem import Theorem

PROVED = "proved"
CERTIFIED = "certified"
IDENTITY = "identity"
RESTRICTED = "restricted"
REFUTED = "refuted"
ENUMERATED = "enumerated"
SAMPLED = "sampled"
GRANTED = "granted"
UNRESOLVED = "unresolved"
OUTCOMES = {
    PROVED: "an inequality, proved by checked symbolic steps",
    CERTIFIED: "an inequality, certified on its compact domain in ball arithmetic",
    IDENTITY: "two forms of one thing: a checked identity or definition, which proves no bound",
    RESTRICTED: "holds only on a subdomain, with a boundary certified within 1e-9 from both sides",
    REFUTED: "false, with a confirmed counterexample",
    ENUMERATED: "holds in every model of the stated finite family, which proves it for no other",
    SAMPLED: "held in every model that was drawn at random, which is evidence and not a proof",
    GRANTED: "a theorem of the literature, taken from its reference and not checked here",
    UNRESOLVED: "neither proved nor refuted",
}
RELATIONS = ("<=", "<", "==")


@dataclass(frozen=True)
class Tally:
    """What a model check saw: how many models, and the first that broke the statement.

    `family` names the finite family of which these were all; without it they were drawn at random.
    """

    models: int
    counterexample: str = ""
    family: str = ""


@dataclass(frozen=True)
class Claim:
    """One step: a relation on a domain, a statement checked on models, or a granted theorem.

    `granted` is the reference of a theorem that is used and not checked. `by` names the proof
    methods. `hints` are points to try first as counterexamples. `expect` is the outcome that the
    file's author has understood (proved, or identity for ==, unless stated); any other outcome is a
    surprise. A claim that is not expected to be true states its `correction` and what `survives`.
    `theorem` is the label of a theorem that says of every case what was checked on models.
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
    granted: str = ""
    boundary: Boundary | None = None
    hints: tuple[Mapping[Expression, Fraction], ...] = ()
    role: str = "step"
    expect: str = ""
    correction: str = ""
    survives: str = ""
    theorem: str = ""

    def __post_init__(self) -> None:
        if self.relation not in RELATIONS:
            raise InvalidArgument("relation", self.relation, f"must be one of {RELATIONS}.")
        given = (self.models is not None, self.left is not None, bool(self.granted))
        if sum(given) != 1:
            rule = "needs either two sides or a model check or a reference."
            raise InvalidArgument("label", self.label, rule)
        if not self.expect:
            usual = GRANTED if self.granted else IDENTITY if self.relation == "==" else PROVED
            object.__setattr__(self, "expect", usual)
        if self.expect not in OUTCOMES:
            raise InvalidArgument("expect", self.expect, f"must be one of {list(OUTCOMES)}.")
        if self.expect in (REFUTED, RESTRICTED) and not self.correction:
            raise InvalidArgument("label", self.label, "is expected to fail: state a correction.")


@dataclass(frozen=True)
class ClaimOutcome:
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
    theorems: tuple[Theorem, ...] = ()
    order: int = 0
    in_paper: bool = True
