"""A certificate of what was proved of code, as data: states, moves, forms, shifts, charges.

`dpaudit.verify` re-checks it in exact arithmetic with code of its own. It shows that the charges
follow
from the forms; that the forms are what the code does rests on the reading (the walk, and the
guard).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpaudit.symbolic.ledger import Ledger
from dpaudit.symbolic.walk import Move, State, WalkOutcome
from dpaudit.verify import SCHEMA


def _text(value: Any) -> str:
    return str(Fraction(value))


def _weights(weights: dict[int, Any]) -> dict[str, str]:
    return {str(name): _text(weight) for name, weight in weights.items()}


class MoveRecorder:
    """Collects the moves of a walk."""

    def __init__(self) -> None:
        self.moves: list[tuple[Move, dict[str, Any]]] = []
        self.numbers: dict[int, int] = {}
        self.states: list[State] = []

    def clear(self) -> None:
        """Forget a walk that did not prove anything."""
        self.__init__()  # type: ignore[misc]

    def _number(self, state: State) -> int:
        if id(state) not in self.numbers:
            self.numbers[id(state)] = len(self.states)
            self.states.append(state)
        return self.numbers[id(state)]

    def __call__(self, move: Move) -> None:
        """Take a move."""
        before, run = move.before, move.run
        own = dict(zip(move.after.order, move.into.order, strict=True))
        columns = {name: own[name] for name in move.after.order}
        columns |= {gone: own[kept] for gone, kept in move.after.twins.items()}
        known = before.ledger if before else Ledger()
        data = {
            "before": None if before is None else self._number(before),
            "after": self._number(move.into),
            "rounds": move.rounds,
            "trace": [list(step) for step in run.trace],
            "scales": {
                str(n): None if law.scale is None else _text(law.scale)
                for n, law in run.laws.items()
                if n not in known.laws
            },
            "columns": {
                str(n): [str(it.owner), _text(it.reach)]
                for n, it in run.columns.items()
                if n not in known.columns
            },
            "forms": [[_weights(f.draws), _weights(f.rows)] for f in run.forms],
            "coins": [[str(coin.row), _text(coin.charge)] for coin in run.coins],
            "shifts": {str(c): _weights(s) for c, s in move.fixed.shifts.items()},
            "ended": _weights(_ended(move, known, columns)),
            "rows_into": {str(a): str(b) for a, b in columns.items()},
            "draws_into": {
                str(a): str(b) for a, b in zip(move.after.draws, move.into.draws, strict=True)
            },
        }
        self.moves.append((move, data))

    def document(self, target: str, claim: dict[str, Any], found: WalkOutcome) -> dict[str, Any]:
        """Return the certificate of a finished walk."""
        return {
            "dpaudit": "certificate",
            "schema": SCHEMA,
            "kind": "code",
            "target": target,
            **claim,
            "horizon": found.horizon,
            "charge": _text(found.charge),
            "states": [_state(state) for state in self.states],
            "moves": [data for _, data in self.moves],
        }


def _ended(move: Move, known: Ledger, alive: dict[int, int]) -> dict[int, Fraction]:
    """Return what the rows have paid in all that no live value or constraint contains any more."""
    run, totals = move.run, dict(known.base)
    for name, column in run.columns.items():
        cost = known.spent.get(name, Fraction(0))
        for draw, shift in move.fixed.shifts.get(name, {}).items():
            scale = run.laws[draw].scale
            cost += abs(shift) / scale if scale is not None else Fraction(0)
        cost += sum((Fraction(c.charge) for c in run.coins if c.row == name), Fraction(0))
        totals[column.owner] = totals.get(column.owner, Fraction(0)) + column.reach * cost
    living = {run.columns[name].owner for name in alive}
    return {owner: paid for owner, paid in totals.items() if owner not in living and paid}


def _state(state: State) -> dict[str, Any]:
    ledger = state.ledger
    bound = {name for _, rows in ledger.constraints.values() for name in rows}
    return {
        "time": state.time,
        "constraints": [
            [str(pivot), _weights(draws), _weights(rows)]
            for pivot, (draws, rows) in ledger.constraints.items()
        ],
        "scales": {
            str(n): None if law.scale is None else _text(law.scale)
            for n, law in ledger.laws.items()
        },
        "columns": {str(n): [str(it.owner), _text(it.reach)] for n, it in ledger.columns.items()},
        "spent": _weights(ledger.spent),
        "base": _weights(ledger.base),
        "owed": {str(name): _weights(ledger.shift(name, ())) for name in bound},
    }
