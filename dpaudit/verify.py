"""Re-checks a certificate of a proof of code, in fractions, with nothing of the prover.

A certificate holds states (constraints B s = A e_i on live draws, what each column has spent) and
moves between them (new draws and rows, the forms that the path came to depend on, the shifts that
were fixed). Checked: every outcome of every branch of every state before the horizon has a move;
after the fixed shifts what is left of old constraints and new forms follows from the constraints
of the next state; every charge is sum |s| / scale, spent is the largest over the moves that lead
to a
state, and no row pays more than epsilon. Not checked: that the forms are what the code does.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

SLACK = Fraction(1, 10**12)
ZERO = Fraction(0)
Vector = dict[tuple[str, str], Fraction]


class Rejected(ValueError):
    """A certificate that does not hold, and where."""


def _number(text: Any) -> Fraction:
    if not isinstance(text, str):
        raise Rejected(f"{text!r} is no fraction")
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise Rejected(f"{text!r} is no fraction") from None


def _weights(data: Any) -> dict[str, Fraction]:
    if not isinstance(data, dict):
        raise Rejected("weights are missing")
    return {str(name): _number(value) for name, value in data.items()}


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise Rejected(what)


def _scales(data: Any) -> dict[str, Fraction | None]:
    found = {name: None if value is None else _number(value) for name, value in data.items()}
    _require(all(it is None or it > 0 for it in found.values()), "a scale is not positive")
    return found


class State:
    """A state of the certificate."""

    def __init__(self, data: Any) -> None:
        self.time = int(data["time"])
        self.scales = _scales(data["scales"])
        self.constraints = [(_weights(d), _weights(r)) for d, r in data["constraints"]]
        self.columns = {n: (str(o), _number(reach)) for n, (o, reach) in data["columns"].items()}
        self.spent, self.base = _weights(data["spent"]), _weights(data["base"])
        self.owed = {name: _weights(shift) for name, shift in data["owed"].items()}
        self.basis = reduced([_vector(d, r) for d, r in self.constraints])
        self.reached: dict[str, Fraction] = {}
        self.paid: dict[str, Fraction] = {}
        self.arrivals = 0
        self.traces: list[tuple[tuple[int, int], ...]] = []

    def owes(self) -> Fraction:
        """Return the largest total of a row if the run ended here."""
        for name, shift in self.owed.items():
            for draws, rows in self.constraints:
                left = sum((w * shift.get(d, ZERO) for d, w in draws.items()), ZERO)
                _require(left == rows.get(name, ZERO), "an owed shift solves no constraint")
        bound = {name for _, rows in self.constraints for name in rows}
        _require(bound <= self.owed.keys(), "a bound row has no shift")
        totals = dict(self.base)
        for name, (owner, reach) in self.columns.items():
            cost = sum((abs(s) / self.scale(d) for d, s in self.owed.get(name, {}).items()), ZERO)
            cost += self.spent.get(name, ZERO)
            totals[owner] = totals.get(owner, ZERO) + reach * cost
        return max(totals.values(), default=ZERO)

    def scale(self, draw: str) -> Fraction:
        """Return the scale of a draw that may be shifted."""
        found = self.scales.get(draw)
        if found is None:
            raise Rejected(f"draw {draw} cannot be shifted")
        return found


def _vector(draws: dict[str, Fraction], rows: dict[str, Fraction]) -> Vector:
    found = {("d", name): weight for name, weight in draws.items() if weight}
    return found | {("r", name): weight for name, weight in rows.items() if weight}


def reduced(vectors: list[Vector]) -> dict[tuple[str, str], Vector]:
    """Return a basis of the span, by pivot."""
    basis: dict[tuple[str, str], Vector] = {}
    for vector in vectors:
        left = remainder(vector, basis)
        if left:
            pivot = min(left)
            factor = left[pivot]
            basis[pivot] = {key: value / factor for key, value in left.items()}
    return basis


def remainder(vector: Vector, basis: dict[tuple[str, str], Vector]) -> Vector:
    """Return what is left of a vector modulo a span; nothing iff it lies in it."""
    left = dict(vector)
    while True:
        pivot = next((key for key in sorted(left) if key in basis), None)
        if pivot is None:
            return left
        factor = left[pivot]
        for key, value in basis[pivot].items():
            new = left.get(key, ZERO) - factor * value
            if new:
                left[key] = new
            else:
                left.pop(key, None)


class Checker:
    """One certificate."""

    def __init__(self, data: Any) -> None:
        _require(isinstance(data, dict) and data.get("dpaudit") == "certificate", "no certificate")
        _require(data.get("schema") == 1, "of an unknown schema")
        self.epsilon, self.charge = _number(data["epsilon"]), _number(data["charge"])
        self.horizon = int(data["horizon"])
        self.states = [State(state) for state in data["states"]]
        self.moves = data["moves"]
        self.worst = ZERO

    def check(self) -> None:
        """Raise `Rejected` unless the certificate holds."""
        first: list[tuple[tuple[int, int], ...]] = []
        for number, move in enumerate(self.moves):
            try:
                self._move(move, first)
            except Rejected as error:
                raise Rejected(f"move {number}: {error}") from None
        _complete(first, "the beginning")
        for number, state in enumerate(self.states):
            where = f"state {number}"
            _require(state.arrivals > 0, f"{where}: no move leads there")
            if state.time < self.horizon:
                _complete(state.traces, where)
            _require(_same(state.spent, state.reached), f"{where}: spent is not what was paid")
            _require(_same(state.base, state.paid), f"{where}: base is not what was paid")
            self.worst = max(self.worst, state.owes())
        _require(self.worst == self.charge, f"the charge is {self.worst}, not {self.charge}")
        _require(self.charge <= self.epsilon * (1 + SLACK), "the charge is above epsilon")

    def _move(self, move: Any, first: list[tuple[tuple[int, int], ...]]) -> None:
        after = self.states[int(move["after"])]
        trace = tuple((int(choice), int(among)) for choice, among in move["trace"])
        before = State(EMPTY) if move["before"] is None else self.states[int(move["before"])]
        (first if move["before"] is None else before.traces).append(trace)
        rounds = int(move["rounds"])
        _require(rounds >= (0 if move["before"] is None else 1), "it takes no round")
        _require(before.time + rounds == after.time, "its rounds do not add up")
        after.arrivals += 1
        scales = before.scales | _scales(move["scales"])
        columns = dict(before.columns)
        for name, (owner, reach) in move["columns"].items():
            _require(name not in columns and _number(reach) >= 0, f"row {name} is not new")
            columns[name] = (str(owner), _number(reach))
        shifts = {name: _weights(shift) for name, shift in move["shifts"].items()}
        rows_into, draws_into = dict(move["rows_into"]), dict(move["draws_into"])
        for old, new in draws_into.items():
            _require(old in scales, f"draw {old} is unknown")
            _require(scales[old] == after.scales.get(new), f"draw {old} changes its scale")
        for old, new in rows_into.items():
            _require(old in columns and new in after.columns, f"row {old} is unknown")
            _require(columns[old][1] == after.columns[new][1], f"row {old} changes its reach")
        forms = [(_weights(d), _weights(r)) for d, r in move["forms"]]
        for draws, rows in (*before.constraints, *forms):
            free = {d: w for d, w in draws.items() if _known(scales, d) is not None}
            self._follows(free, rows, shifts, rows_into, draws_into, after)
        self._pay(move, before, after, scales, columns, shifts, rows_into, draws_into)

    def _follows(
        self,
        draws: dict[str, Fraction],
        rows: dict[str, Fraction],
        shifts: dict[str, dict[str, Fraction]],
        rows_into: dict[str, str],
        draws_into: dict[str, str],
        after: State,
    ) -> None:
        """Check what is left of a constraint once the shifts of draws that leave are fixed."""
        right: dict[str, Fraction] = {}
        gone = [d for d in draws if d not in draws_into]
        for name in rows.keys() | shifts.keys() | rows_into.keys():
            shift = shifts.get(name, {})
            value = rows.get(name, ZERO) - sum((draws[d] * shift.get(d, ZERO) for d in gone), ZERO)
            if name not in rows_into:
                _require(value == 0, f"row {name} leaves unpaid")
                continue
            new = rows_into[name]
            _require(right.setdefault(new, value) == value, f"row {name} has no twin")
        left: dict[str, Fraction] = {}
        for name, weight in draws.items():
            if name in draws_into:
                new = draws_into[name]
                left[new] = left.get(new, ZERO) + weight
        _require(not remainder(_vector(left, right), after.basis), "a constraint is lost")

    def _pay(
        self,
        move: Any,
        before: State,
        after: State,
        scales: dict[str, Fraction | None],
        columns: dict[str, tuple[str, Fraction]],
        shifts: dict[str, dict[str, Fraction]],
        rows_into: dict[str, str],
        draws_into: dict[str, str],
    ) -> None:
        """Add up what columns have spent, and compare rows that end with epsilon."""
        spent = {name: before.spent.get(name, ZERO) for name in columns}
        for name, shift in shifts.items():
            for draw, s in shift.items():
                _require(draw not in draws_into, f"draw {draw} is fixed and stays")
                scale = _known(scales, draw)
                if scale is None:
                    raise Rejected(f"draw {draw} cannot be shifted")
                spent[name] += abs(s) / scale
        for row, charge in move["coins"]:
            _require(row in columns and _number(charge) >= 0, f"row {row} is unknown")
            spent[row] += _number(charge)
        live: dict[str, list[str]] = {}
        base = dict(before.base)
        for name, (owner, reach) in columns.items():
            if name in rows_into:
                live.setdefault(owner, []).append(name)
            else:
                base[owner] = base.get(owner, ZERO) + reach * spent[name]
        ended = {owner: paid for owner, paid in base.items() if owner not in live}
        _require(_same(ended, _weights(move["ended"])), "a row ends with another charge")
        self.worst = max([self.worst, *ended.values()])
        for owner, names in live.items():
            for name in names:
                new, reach = rows_into[name], columns[name][1]
                total = spent[name]
                if len(names) == 1 and reach:
                    total += base.get(owner, ZERO) / reach
                elif base.get(owner, ZERO):
                    to = after.columns[new][0]
                    after.paid[to] = max(after.paid.get(to, ZERO), base[owner])
                after.reached[new] = max(after.reached.get(new, ZERO), total)


EMPTY: dict[str, Any] = {"time": 0, "constraints": []}
EMPTY |= {name: {} for name in ("scales", "columns", "spent", "base", "owed")}


def _known(scales: dict[str, Fraction | None], draw: str) -> Fraction | None:
    if draw not in scales:
        raise Rejected(f"draw {draw} is unknown")
    return scales[draw]


def _same(one: dict[str, Fraction], other: dict[str, Fraction]) -> bool:
    return all(one.get(k, ZERO) == other.get(k, ZERO) for k in one.keys() | other.keys())


def _complete(traces: list[tuple[tuple[int, int], ...]], where: str) -> None:
    """Check that the outcomes of all branches are there: the traces are the leaves of a tree."""
    _require(bool(traces), f"{where}: no move")
    _require(len(set(traces)) == len(traces), f"{where}: an outcome twice")
    groups: dict[tuple[int, ...], set[tuple[int, int]]] = {}
    for trace in traces:
        for position, step in enumerate(trace):
            groups.setdefault(tuple(c for c, _ in trace[:position]), set()).add(step)
    leaves = {tuple(c for c, _ in trace) for trace in traces}
    _require(not leaves & groups.keys(), f"{where}: an outcome that goes on")
    for steps in groups.values():
        among = {n for _, n in steps}
        _require(len(among) == 1, f"{where}: branches disagree")
        _require(
            {c for c, _ in steps} == set(range(among.pop())), f"{where}: an outcome is missing"
        )


def verify(data: Any) -> Checker:
    """Return the checked certificate, or raise `Rejected`."""
    try:
        checker = Checker(data)
        checker.check()
    except Rejected:
        raise
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise Rejected(f"it is malformed ({type(error).__name__}: {error})") from None
    return checker
