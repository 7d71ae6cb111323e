"""States of a walk: what is left of a path after settling, under names that equal states share.

Dead columns are forgotten, equal columns are one. The key of a state is its data with symbols named
by their first use, the live constraints, the laws and the columns: equal keys go on alike, so that
of two such states the one with the larger charges stands for both.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from dpaudit.symbolic.doubles import DrawTally
from dpaudit.symbolic.ledger import Fixed, Ledger, Row, resolved
from dpaudit.symbolic.run import NOWHERE, DrawLaw, Form
from dpaudit.symbolic.snapshot import Copier
from dpaudit.symbolic.values import Linear, Opaque, Tracked, public_name, wild
from dpaudit.symbolic.weights import Weights


@dataclass
class State:
    """Where a path stands after some rounds: nothing of it is ever run, only copies."""

    time: int
    body: Any
    """The data as the run left it; `replaced` says what its tracked values are from here on."""
    replaced: dict[int, Tracked]
    ledger: Ledger
    next_symbol: int
    order: list[int] = field(default_factory=list)
    draws: list[int] = field(default_factory=list)
    twins: dict[int, int] = field(default_factory=dict)
    """Rows that were left out, and the one that stands for each."""
    tally: DrawTally | None = None
    compared: list[int] = field(default_factory=list)
    """The draws that its values were computed from, in doubles."""
    trail: Any = None
    """The arms of one path that leads here: (trail before, arms)."""
    key: Any = None


def path_of(trail: Any) -> tuple[int, ...]:
    """Return the arms of a trail."""
    parts: list[tuple[int, ...]] = []
    while trail is not None:
        trail, arms = trail
        parts.append(arms)
    return tuple(arm for part in reversed(parts) for arm in part)


class Names:
    """Canonical names: symbols by their first use."""

    def __init__(self) -> None:
        self.rows: dict[int, int] = {}
        self.draws: dict[int, int] = {}
        self.publics: dict[int, int] = {}
        self.compared: dict[int, int] = {}
        self.tokens: dict[int, int] = {}

    def mark(self, value: Tracked) -> Any:
        """Return a tracked value as the key has it."""
        if (how := value.computed) is None:
            return self._form(value)
        if isinstance(how, str):
            return how, self._form(value)
        named = [(self.compared.setdefault(n, len(self.compared)), w) for n, w in how.moves]
        return replace(how, moves=tuple(named)), self._form(value)

    def _form(self, value: Tracked) -> Any:
        if isinstance(value, Linear):
            return (
                "whole" if value.whole else "l",
                value.rest,
                self._named(value.publics, self.publics),
                tuple(sorted(self.publics[name] for name in value.publics if wild(name))),
                self._named(value.rows, self.rows),
                self._named(value.draws, self.draws),
            )
        assert isinstance(value, Opaque)
        which = self.tokens.setdefault(value.token, len(self.tokens))
        return ("o", which, tuple(self.form(rows, draws) for rows, draws in value.basis))

    def form(self, rows: dict[int, Any], draws: dict[int, Any]) -> Any:
        """Return a form as the key has it."""
        return self._named(rows, self.rows), self._named(draws, self.draws)

    @staticmethod
    def _named(weights: dict[int, Any], names: dict[int, int]) -> Any:
        """Return what is weighted, in the order of the new names: it is a sum, in any order."""
        found = ((names.setdefault(name, len(names)), weights[name]) for name in sorted(weights))
        return tuple(sorted(found, key=lambda pair: pair[0]))


def replaced_values(
    tracked: dict[int, Tracked], fixed: Fixed, dropped: set[int]
) -> tuple[dict[int, Tracked], list[Row]]:
    """Return the live values after settling, and their forms."""
    names: dict[Any, int] = {}
    replaced = {key: rewritten(value, fixed, dropped, names) for key, value in tracked.items()}
    for key, value in tracked.items():
        new = replaced[key]
        new.computed = value.computed
        if isinstance(value, Linear) and isinstance(new, Linear):
            new.whole = value.whole and not new.publics
    rows = [(draws, rows) for value in replaced.values() for rows, draws in value.forms()]
    return replaced, rows


def forget(ledger: Ledger, live: list[Row]) -> dict[int, int]:
    """Drop dead columns and all but one of equal ones; return those that are to leave values."""
    marks: dict[int, list[Any]] = {}
    for number, (_, rows) in enumerate((*live, *ledger.constraints.values())):
        for name, weight in rows.items():
            marks.setdefault(name, []).append((number, weight))
    owners: dict[int, list[int]] = {}
    for name in marks:
        owners.setdefault(ledger.columns[name].owner, []).append(name)
    for name in [name for name in ledger.spent if name not in marks]:
        known = ledger.columns[name]
        if known.owner in owners:
            paid = known.reach * ledger.spent[name]
            ledger.base[known.owner] = ledger.base.get(known.owner, Fraction(0)) + paid
        del ledger.spent[name]
        ledger.parts.pop(name, None)
    ledger.base = {owner: paid for owner, paid in ledger.base.items() if owner in owners}
    dropped: dict[int, int] = {}
    best: dict[Any, int] = {}
    for name in sorted(marks):
        known = ledger.columns[name]
        if len(owners[known.owner]) > 1:
            continue
        if known.reach:
            spent = (
                ledger.spent.get(name, Fraction(0))
                + ledger.base.pop(known.owner, Fraction(0)) / known.reach
            )
            if spent:
                ledger.spent[name] = spent
        other = best.setdefault((known.reach, known.ends, tuple(marks[name])), name)
        if other != name:
            dropped[name] = other
            ledger.columns[other] = replace(ledger.columns[other], single=False)
            if ledger.spent.get(name, 0) > ledger.spent.get(other, 0):
                ledger.spent[other] = ledger.spent[name]
                ledger.parts[other] = ledger.parts.get(name, {})
            ledger.spent.pop(name, None)
            ledger.parts.pop(name, None)
    kept = marks.keys() - dropped.keys()
    ledger.columns = {name: it for name, it in ledger.columns.items() if name in kept}
    if dropped:
        ledger.constraints = {
            pivot: (draws, {n: w for n, w in rows.items() if n not in dropped})
            for pivot, (draws, rows) in ledger.constraints.items()
        }
    draws = {name for draws, _ in (*live, *ledger.constraints.values()) for name in draws}
    ledger.laws = {name: law for name, law in ledger.laws.items() if name in draws}
    return dropped


def key_of(state: State, copier: Copier) -> Any:
    """Return the canonical key of a state: its data, constraints, laws and columns."""
    names, ledger = Names(), state.ledger
    marks = tuple([names.mark(state.replaced[id(value)]) for value in copier.met])
    constraints = _canonical(ledger, names)
    state.order, state.draws = list(names.rows), list(names.draws)
    state.compared = list(names.compared)
    laws = tuple(
        (law.kind, law.scale, law.continuous) for law in (ledger.laws[name] for name in names.draws)
    )
    owners: dict[int, int] = {}
    columns = []
    for name in names.rows:
        known = ledger.columns[name]
        first = owners.setdefault(known.owner, len(owners))
        paid = ledger.base.get(known.owner, 0)
        raw = known.owner == name  # and not a function of the reward
        columns.append((known.reach, known.ends, known.single, first, raw, paid))
    return tuple(copier.key or ()), marks, constraints, laws, tuple(columns)


def _canonical(ledger: Ledger, names: Any) -> Any:
    """Return the constraints in canonical names, reduced in their order."""
    if not ledger.constraints:
        return ()
    order = sorted(ledger.laws, key=lambda name: names.draws.get(name, len(names.draws) + name))
    place = {name: number for number, name in enumerate(order)}
    own = Ledger({place[n]: law for n, law in ledger.laws.items()}, ledger.columns)
    for draws, rows in ledger.constraints.values():
        own.require(Form(rows, {place[n]: w for n, w in draws.items()}, NOWHERE))
    for name in order:
        names.draws.setdefault(name, len(names.draws))
    found = []
    for pivot in sorted(own.constraints):
        draws, rows = own.constraints[pivot]
        found.append((tuple(sorted(draws.items())), names._named(rows, names.rows)))
    return tuple(found)


def rewritten(value: Tracked, fixed: Fixed, dropped: set[int], names: dict[Any, int]) -> Tracked:
    """Return a live value after publishing: known draws are replaced, twins left out.

    What is public of it and not known becomes one symbol, the same for the same combination.
    """
    if isinstance(value, Linear):
        rows, draws, lost = resolved(value.rows, value.draws, fixed, dropped)
        if not lost and not value.publics:
            if rows is value.rows and draws is value.draws:
                return value
            return Linear(value.rest, rows, draws, value.shadow)
        key = (value.rest, frozenset(value.publics.items()), frozenset(lost.items()))
        grown = sum(map(abs, value.publics.values())) > 1  # again and again, it may overflow
        unsure = grown or any(map(wild, value.publics))
        name = public_name(names.setdefault(key, len(names)), unsure)
        return Linear(0, rows, draws, value.shadow, {name: 1})
    assert isinstance(value, Opaque)
    basis: list[tuple[Weights, Weights]] = []
    for rows, draws in value.basis:
        new_rows, new_draws, _ = resolved(rows, draws, fixed, dropped)
        if (new_rows or new_draws) and (new_rows, new_draws) not in basis:
            basis.append((new_rows, new_draws))
    if not basis:
        name = public_name(names.setdefault(value.token, len(names)), True)
        return Linear(0, {}, {}, value.shadow, {name: 1})
    changed = len(basis) != len(value.basis) or any(
        a is not c or b is not d for (a, b), (c, d) in zip(basis, value.basis, strict=True)
    )
    return Opaque(basis, value.shadow) if changed else value


def twins(
    forms: Iterable[Row], constraints: Iterable[Row], laws: dict[int, DrawLaw]
) -> dict[int, int]:
    """Return the draws that equal another one in every form; the one of largest scale stays."""
    marks: dict[int, list[Any]] = {}
    for number, (draws, _) in enumerate((*forms, *constraints)):
        for name, weight in draws.items():
            marks.setdefault(name, []).append((number, weight))
    best: dict[Any, int] = {}
    found: dict[int, int] = {}
    for name, mark in sorted(marks.items()):
        law = laws[name]
        if law.kind == "uniform":
            continue  # a coin asks for its very own law
        key = (law.kind, law.continuous, law.scale is None, tuple(mark))
        other = best.setdefault(key, name)
        if other == name:
            continue
        kept, gone = other, name
        if law.scale is not None and law.scale > (laws[other].scale or 0):
            kept, gone = name, other
            best[key] = name
        found[gone] = kept
    return found
